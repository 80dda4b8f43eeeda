//! What the routes of all providers share.

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Map, Value, json};

use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::{Answer, Query},
    json::text,
    store::{
        entry::{Hidden, Resource},
        world::World,
    },
    text::{base64_decode, base64_url, encode_query},
    types::{self, Type},
};

/// The id of the resource that a path names, without an action behind it, in the usual case.
pub(crate) fn id(world: &World, call: &Call<'_>) -> Option<ArmId> {
    let path = &call.path;
    let namespace = path.namespace.as_deref()?;
    let row = types::find(namespace, &path.kinds)?;
    let depth = row.path.split('/').count();
    if path.names.len() < depth {
        return None;
    }
    if row.scoped {
        let scope = &path.scope;
        let name = path.name(0);
        return format!("{scope}/providers/{}/{}/{name}", row.namespace, row.path)
            .parse()
            .ok();
    }
    let group = world
        .group(call.subscription(), call.group())
        .map_or(call.group(), |group| &group.name);
    let mut parts = vec![
        String::new(),
        "subscriptions".to_owned(),
        call.subscription().to_owned(),
        "resourceGroups".to_owned(),
        group.to_owned(),
        "providers".to_owned(),
        row.namespace.to_owned(),
    ];
    for (kind, name) in row.path.split('/').zip(&path.names) {
        parts.extend([kind.to_owned(), name.clone()]);
    }
    parts.join("/").parse().ok()
}

/// The resource that a path names; the gateway has checked that it is there, except for children.
pub(crate) fn resource<'a>(world: &'a World, call: &Call<'_>) -> Result<&'a Resource, ArmError> {
    let found = id(world, call);
    found
        .as_ref()
        .and_then(|id| world.resource(id))
        .ok_or_else(|| {
            let id = found.map(|id| id.to_string()).unwrap_or_default();
            ArmError::new(404, "NotFound", format!("Resource {id} not found."))
                .with_details(Vec::new())
        })
}

/// A new resource of this type.
pub(crate) fn new(world: &World, id: ArmId, row: &Type, location: &str, body: Value) -> Resource {
    Resource {
        id,
        kind: row.name(),
        location: location.to_owned(),
        body,
        etag: String::new(),
        operation: None,
        created: world.now(),
        changed: world.now(),
        hidden: Hidden::default(),
    }
}

/// Name, id and type, and what is kept of a resource.
pub(crate) fn base(resource: &Resource) -> Value {
    let mut shown = resource.body.clone();
    let members = json!({
        "name": resource.name(),
        "id": resource.id.as_str(),
        "type": resource.kind,
    });
    if let (Some(shown), Value::Object(members)) = (shown.as_object_mut(), members) {
        shown.extend(members);
    }
    shown
}

/// The short form of a new resource's location, or the refusal of a wrong one.
pub(crate) fn location(
    body: &Value,
    row: &Type,
    existing: Option<&Resource>,
) -> Result<String, ArmError> {
    let Some(given) = text(body, "/location") else {
        return existing.map(|found| found.location.clone()).ok_or_else(|| {
            ArmError::gateway(
                400,
                "LocationRequired",
                "The location property is required for this definition.",
            )
        });
    };
    let Some(region) = catalogue::region(given) else {
        return Err(ArmError::gateway(
            400,
            "LocationNotAvailableForResourceType",
            format!(
                "The provided location '{given}' is not available for resource type '{}'. List \
                 of available regions for the resource type is '{}'.",
                row.name(),
                catalogue::region_list()
            ),
        ));
    };
    let short = region.name.as_str();
    match existing {
        Some(found) if !found.location.eq_ignore_ascii_case(short) => Err(ArmError::gateway(
            409,
            "InvalidResourceLocation",
            format!(
                "The resource '{}' already exists in location '{}' in resource group '{}'. A \
                 resource with the same name cannot be created in location '{short}'. Please \
                 select a new resource name.",
                found.name(),
                found.location,
                found.id.group().unwrap_or_default()
            ),
        )),
        Some(_) | None => Ok(short.to_owned()),
    }
}

/// Checks the tags of a body against ARM's rules; absent tags stay absent.
pub(crate) fn tags(body: &Value) -> Result<Option<BTreeMap<String, String>>, ArmError> {
    let Some(given) = body.get("tags").and_then(Value::as_object) else {
        return Ok(None);
    };
    let tags: BTreeMap<String, String> = given
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect();
    check_tags(&tags)?;
    Ok(Some(tags))
}

/// The rules for tags: names, values, number, and no two names that differ by case alone.
pub(crate) fn check_tags(tags: &BTreeMap<String, String>) -> Result<(), ArmError> {
    if tags.len() > 50 {
        return Err(ArmError::gateway(
            400,
            "TagLimitExceeded",
            format!(
                "The number of tags '{}' exceeds the limit of '50' per resource.",
                tags.len()
            ),
        ));
    }
    let mut folded: Vec<String> = tags.keys().map(|name| name.to_lowercase()).collect();
    folded.sort();
    folded.dedup();
    if folded.len() != tags.len() {
        return Err(ArmError::gateway(
            400,
            "DuplicateTagNames",
            "Tag names that differ only in case are the same tag; each may stand once.",
        ));
    }
    for (name, value) in tags {
        let wrong = name
            .chars()
            .any(|c| "<>%&\\?/".contains(c) || c.is_control());
        if wrong || name.is_empty() {
            return Err(ArmError::gateway(
                400,
                "InvalidTagNameCharacters",
                format!(
                    "The tag names '{name}' have reserved characters '<,>,%,&,\\,?,/' or control \
                     characters."
                ),
            ));
        }
        if name.chars().count() > 512 || value.chars().count() > 256 {
            return Err(ArmError::gateway(
                400,
                "InvalidTagLength",
                format!(
                    "The tag '{name}' is too long: names have at most 512 characters, values 256."
                ),
            ));
        }
    }
    Ok(())
}

/// Puts tags into a body, or takes them out.
pub(crate) fn put_tags(body: &mut Value, tags: Option<BTreeMap<String, String>>) {
    let Some(members) = body.as_object_mut() else {
        return;
    };
    match tags {
        Some(tags) => {
            members.insert("tags".to_owned(), json!(tags));
        }
        None => {
            members.remove("tags");
        }
    }
}

/// The tags of a body as a map.
pub(crate) fn tags_of(body: &Value) -> BTreeMap<String, String> {
    body.get("tags")
        .and_then(Value::as_object)
        .map(|tags: &Map<String, Value>| {
            tags.iter()
                .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect()
        })
        .unwrap_or_default()
}

/// Where a page starts: after the item with this key.
pub(crate) fn skip(call: &Call<'_>) -> Option<String> {
    token(call.query()).map(|(_, key)| key)
}

/// The number of the page that a request asks for, from 1.
pub(crate) fn page_number(query: &Query) -> u64 {
    token(query).map_or(1, |(page, _)| page)
}

/// The page that a link leads to, and the key before it.
fn token(query: &Query) -> Option<(u64, String)> {
    let bytes = base64_decode(query.get("$skiptoken")?)?;
    let text = String::from_utf8(bytes).ok()?;
    let (page, key) = text.split_once(' ')?;
    Some((page.parse().ok()?, key.to_owned()))
}

/// One page of a list with the link to the next; items come with their keys, in order.
pub(crate) fn page(
    call: &Call<'_>,
    items: impl Iterator<Item = (String, Value)>,
    size: usize,
) -> Answer {
    let top: usize = call
        .query()
        .get("$top")
        .and_then(|top| top.parse().ok())
        .unwrap_or(usize::MAX);
    let limit = size.min(top).max(1);
    let mut items = items.peekable();
    let mut value = Vec::new();
    let mut last = String::new();
    while value.len() < limit
        && let Some((key, item)) = items.next()
    {
        value.push(item);
        last = key;
    }
    let mut body = json!({"value": value});
    // A client that asked for fewer gets no link to the rest, as Compute and ARM do it with `$top`.
    if items.peek().is_some() && top > value_len(&body) {
        crate::json::set(&mut body, "/nextLink", json!(next_link(call, &last)));
    }
    Answer::json(200, body)
}

fn value_len(body: &Value) -> usize {
    crate::json::items(body, "/value").len()
}

fn next_link(call: &Call<'_>, last: &str) -> String {
    let mut query: Vec<String> = call
        .query()
        .pairs()
        .filter(|(key, _)| !key.eq_ignore_ascii_case("$skiptoken"))
        .map(|(key, value)| format!("{}={}", encode_query(key), encode_query(value)))
        .collect();
    let next = format!("{} {last}", page_number(call.query()) + 1);
    query.push(format!("%24skiptoken={}", base64_url(next.as_bytes())));
    format!("{}{}?{}", call.base(), call.incoming.path, query.join("&"))
}

/// Checks the name of the resource that a request makes.
pub(crate) fn check_name(call: &Call<'_>, row: &Type) -> Result<(), ArmError> {
    match row.names {
        Some(rule) => rule.check(call.path.last_name()),
        None => Ok(()),
    }
}

/// The answer for a method that a path does not have.
pub(crate) fn not_served(call: &Call<'_>) -> ArmError {
    ArmError::gateway(
        501,
        "NotServedBySandbox",
        format!(
            "The sandbox does not serve {} on '{}'.",
            call.method(),
            call.path.kinds.join("/")
        ),
    )
    .with_header("x-tensorform-sandbox", "operation not served")
}
