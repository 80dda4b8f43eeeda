//! Reading members of a body by their place, such as `/properties/priority`.

use std::collections::BTreeSet;

use model::{ids::ArmId, spec::DiskType, units::Region};
use serde_json::Value;

use super::DecodeError;

/// The member's name in messages: `properties.priority`.
fn name(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

/// A value that we cannot express.
pub(super) fn unsupported(pointer: &str, found: &(impl ToString + ?Sized)) -> DecodeError {
    DecodeError::Unsupported {
        member: name(pointer),
        found: found.to_string(),
    }
}

/// The member at a place. Unlike `Value::pointer` it knows no escapes: no name of ours needs one,
/// and looking for them costs more than finding the member.
pub(super) fn member<'a>(body: &'a Value, pointer: &str) -> Option<&'a Value> {
    let mut names = pointer.split('/').skip(1);
    names.try_fold(body, |value, name| match value.as_array() {
        Some(items) => items.get(name.parse::<usize>().ok()?),
        None => value.get(name),
    })
}

/// Text, where there is any.
pub(super) fn text<'a>(body: &'a Value, pointer: &str) -> Option<&'a str> {
    member(body, pointer).and_then(Value::as_str)
}

/// Text that must be there.
pub(super) fn required<'a>(body: &'a Value, pointer: &str) -> Result<&'a str, DecodeError> {
    text(body, pointer).ok_or_else(|| DecodeError::Missing(name(pointer)))
}

/// A whole number; numbers that came as text count too.
pub(super) fn number(body: &Value, pointer: &str) -> Option<u32> {
    let value = member(body, pointer)?;
    value
        .as_u64()
        .or_else(|| value.as_str()?.trim().parse().ok())
        .and_then(|number| u32::try_from(number).ok())
}

/// A whole number that must be there.
pub(super) fn required_number(body: &Value, pointer: &str) -> Result<u32, DecodeError> {
    number(body, pointer).ok_or_else(|| DecodeError::Missing(name(pointer)))
}

/// Where a resource is.
pub(super) fn location(body: &Value) -> Result<Region, DecodeError> {
    required(body, "/location").map(Region::new)
}

/// An id, where there is one.
pub(super) fn id(body: &Value, pointer: &str) -> Result<Option<ArmId>, DecodeError> {
    text(body, pointer)
        .map(|text| text.parse().map_err(|_| unsupported(pointer, text)))
        .transpose()
}

/// An id that must be there.
pub(super) fn required_id(body: &Value, pointer: &str) -> Result<ArmId, DecodeError> {
    id(body, pointer)?.ok_or_else(|| DecodeError::Missing(name(pointer)))
}

/// The items of a list; none where it is absent or `null`.
pub(super) fn items<'a>(
    body: &'a Value,
    pointer: &str,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    member(body, pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// The texts of a list.
pub(super) fn texts(body: &Value, pointer: &str) -> BTreeSet<String> {
    items(body, pointer)
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}

/// The zones of a resource, in order.
pub(super) fn zones(body: &Value) -> Vec<String> {
    texts(body, "/zones").into_iter().collect()
}

/// What happens to a part when its VM is deleted; without a word it stays.
pub(super) fn goes_with_vm(body: &Value, pointer: &str) -> bool {
    text(body, pointer).is_some_and(|option| option.eq_ignore_ascii_case("Delete"))
}

/// ARM's name of a disk type.
pub(super) fn disk_type_name(disk_type: DiskType) -> &'static str {
    match disk_type {
        DiskType::Premium => "Premium_LRS",
        DiskType::PremiumV2 => "PremiumV2_LRS",
        DiskType::StandardSsd => "StandardSSD_LRS",
        DiskType::StandardHdd => "Standard_LRS",
        DiskType::Ultra => "UltraSSD_LRS",
    }
}

/// The disk type with this name.
pub(super) fn disk_type(name: &str, pointer: &str) -> Result<DiskType, DecodeError> {
    [
        DiskType::Premium,
        DiskType::PremiumV2,
        DiskType::StandardSsd,
        DiskType::StandardHdd,
        DiskType::Ultra,
    ]
    .into_iter()
    .find(|disk_type| disk_type_name(*disk_type).eq_ignore_ascii_case(name))
    .ok_or_else(|| unsupported(pointer, name))
}

/// A public key without its comment, in one line.
pub(super) fn without_comment(key: &str) -> String {
    let mut words = key.split_whitespace();
    match (words.next(), words.next()) {
        (Some(algorithm), Some(data)) if !algorithm.starts_with('-') => {
            format!("{algorithm} {data}")
        }
        _ => key.trim().to_owned(),
    }
}
