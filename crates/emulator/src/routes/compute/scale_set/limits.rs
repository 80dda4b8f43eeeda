//! How large a scale set can be, and what cannot stand together in one.

use model::catalog::Size;
use serde_json::Value;

use super::is_flexible;
use crate::{
    error::ArmError,
    json::{flag, number, same, text},
    store::entry::Resource,
};

/// Documented: instances of a placement group, unless support has raised it.
const PLACEMENT_GROUP: u64 = 100;

/// Documented: instances of a set that spans placement groups.
const LARGE: u64 = 1_000;

/// Documented: the same of a managed image.
const LARGE_OF_IMAGE: u64 = 600;

/// Documented: sizes with GPUs in a Flexible set of more than one fault domain.
const SPREAD: u64 = 200;

/// How many instances a body asks for; none where it does not say.
pub(crate) fn capacity(body: &Value) -> Result<Option<u64>, ArmError> {
    match body
        .pointer("/sku/capacity")
        .filter(|given| !given.is_null())
    {
        None => Ok(None),
        Some(_) => number(body, "/sku/capacity").map(Some).ok_or_else(|| {
            ArmError::invalid_parameter(
                "sku.capacity",
                "The value of parameter sku.capacity is invalid.",
            )
        }),
    }
}

/// Checks what a set asks for, as far as no instance is needed for it.
pub(crate) fn check(
    name: &str,
    body: &Value,
    size: Option<&Size>,
    old: Option<&Resource>,
) -> Result<(), ArmError> {
    let flexible = is_flexible(body);
    let single = flag(body, "/properties/singlePlacementGroup").unwrap_or(!flexible);
    let domains = number(body, "/properties/platformFaultDomainCount");
    if flexible && domains.is_none() {
        return Err(ArmError::missing_parameter("platformFaultDomainCount"));
    }
    if domains.is_some_and(|domains| ![1, 2, 3, 5].contains(&domains)) {
        return Err(ArmError::invalid_parameter(
            "platformFaultDomainCount",
            "The value of parameter platformFaultDomainCount is invalid.",
        ));
    }
    let was_single = old.and_then(|old| flag(&old.body, "/properties/singlePlacementGroup"));
    if single && was_single == Some(false) {
        return Err(ArmError::property_change("singlePlacementGroup"));
    }
    let most = most(body, single, flexible, domains, size);
    if capacity(body)?.is_some_and(|wanted| wanted > most) {
        return Err(ArmError::not_allowed(format!(
            "Unable to create or update VirtualMachineScaleSet '{name}' as it exceeds the total \
             limit of '{most}' Virtual Machine instances."
        )));
    }
    if let Some(size) = size
        && single
        && spans_racks(size)
    {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "Vertical Connect Feature is not available for VM size {} in a Virtual Machine \
                 Scale Set with a single placement group.",
                size.name.as_str()
            ),
        ));
    }
    together(body, single, flexible)
}

fn most(
    body: &Value,
    single: bool,
    flexible: bool,
    domains: Option<u64>,
    size: Option<&Size>,
) -> u64 {
    let image = "/properties/virtualMachineProfile/storageProfile/imageReference/id";
    let managed = text(body, image).is_some_and(|id| {
        let id = id.to_lowercase();
        id.contains("/images/") && !id.contains("/galleries/")
    });
    if single {
        PLACEMENT_GROUP
    } else if flexible
        && domains.is_some_and(|domains| domains > 1)
        && size.is_some_and(|size| size.gpu.is_some())
    {
        SPREAD
    } else if managed {
        LARGE_OF_IMAGE
    } else {
        LARGE
    }
}

/// Sizes whose NVLink reaches over a rack of 18 VMs, which a placement group cannot hold.
fn spans_racks(size: &Size) -> bool {
    let name = size.name.as_str().to_uppercase();
    name.contains("_GB200_") || name.contains("_GB300_")
}

/// What excludes each other. That it does is documented; the texts follow similar refusals.
fn together(body: &Value, single: bool, flexible: bool) -> Result<(), ArmError> {
    let profile = "/properties/virtualMachineProfile";
    let spot = text(body, &format!("{profile}/priority"))
        .is_some_and(|priority| same(priority, "Spot") || same(priority, "Low"));
    let placed = body
        .pointer("/properties/proximityPlacementGroup")
        .is_some();
    let reserved = text(
        body,
        &format!("{profile}/capacityReservation/capacityReservationGroup/id"),
    )
    .is_some();
    let with = [
        (spot, "Spot priority"),
        (placed, "a proximity placement group"),
        (single && !flexible, "a single placement group"),
    ];
    if let Some((_, what)) = with.into_iter().find(|(there, _)| reserved && *there) {
        return Err(ArmError::not_allowed(format!(
            "Capacity Reservation is not supported for a Virtual Machine Scale Set with {what}."
        ))
        .with_target("capacityReservationGroup"));
    }
    for member in ["singlePlacementGroup", "overprovision"] {
        if flexible && flag(body, &format!("/properties/{member}")) == Some(true) {
            return Err(ArmError::invalid_parameter(
                member,
                format!(
                    "The parameter {member} is not supported for a Virtual Machine Scale Set with \
                     Flexible orchestration mode."
                ),
            ));
        }
    }
    let mixed = body.pointer("/properties/priorityMixPolicy").is_some();
    if mixed && (!flexible || single) {
        return Err(ArmError::invalid_parameter(
            "priorityMixPolicy",
            "The parameter priorityMixPolicy is supported only for Virtual Machine Scale Sets \
             with Flexible orchestration mode and without a single placement group.",
        ));
    }
    if !flexible && body.pointer("/properties/upgradePolicy/mode").is_none() {
        return Err(ArmError::missing_parameter("upgradePolicy.mode"));
    }
    Ok(())
}
