//! Snapshots of disks.

use serde_json::{Value, json};

use super::{disk, write};
use crate::{
    call::Call,
    durations::{SNAPSHOT, SNAPSHOT_DELETE},
    error::ArmError,
    http::{Answer, Method},
    json::{default, merge, number, same, set, text},
    lro::{self, Plan, Twin},
    routes::common::{self, check_name, location, not_served, put_tags, tags},
    store::{
        entry::{Resource, Style, Work},
        world::World,
    },
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if call.path.kind() != "snapshots" {
        return Err(not_served(call));
    }
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => {
            let size = call.setup.pages.others;
            Ok(super::list(world, call, row, size, |found| {
                disk::show(world, found)
            }))
        }
        (Method::Get, false) => {
            common::resource(world, call).map(|found| Answer::json(200, disk::show(world, found)))
        }
        (Method::Put, false) => put(world, call, row),
        (Method::Patch, false) => patch(world, call, row),
        (Method::Delete, false) => Ok(match super::existing(world, call) {
            Some(found) => {
                write::begin_delete_as(world, call, &found, (SNAPSHOT_DELETE, Style::Disk))
            }
            None => Answer::empty(204),
        }),
        _ => Err(not_served(call)),
    }
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    let place = location(&given, row, old.as_ref())?;
    let tags = tags(&given)?;
    let option = "/properties/creationData/createOption";
    if let Some(old) = &old
        && text(&given, option)
            .is_some_and(|new| !text(&old.body, option).is_some_and(|had| same(had, new)))
    {
        return Err(ArmError::property_change("creationData.createOption"));
    }
    let mut given = given;
    set(&mut given, "/location", json!(place));
    put_tags(&mut given, tags);
    let mut body = old.as_ref().map(|old| old.body.clone()).unwrap_or_default();
    merge(&mut body, &given);
    if old.is_none() {
        source(world, &mut body)?;
    }
    let mut made = old
        .clone()
        .unwrap_or_else(|| common::new(world, id, row, &place, Value::Null));
    made.body = given;
    made.set_state("Updating");
    let shown = common::base(&made);
    made.body = body;
    complete(world, &mut made, old.as_ref());
    Ok(store(world, call, made, shown))
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let mut made = common::resource(world, call)?.clone();
    merge(&mut made.body, &given);
    if let Some(tags) = tags(&given)? {
        put_tags(&mut made.body, Some(tags));
    }
    made.set_state("Updating");
    let shown = common::base(&made);
    Ok(store(world, call, made, shown))
}

/// What a snapshot is made from, and what it takes over.
fn source(world: &World, body: &mut Value) -> Result<(), ArmError> {
    let creation = "/properties/creationData";
    let option = text(body, &format!("{creation}/createOption"))
        .unwrap_or_default()
        .to_lowercase();
    match option.as_str() {
        "empty" => {
            if number(body, "/properties/diskSizeGB").is_none() {
                return Err(ArmError::missing_parameter("snapshot.diskSizeGB"));
            }
            Ok(())
        }
        "copy" => {
            let id = text(body, &format!("{creation}/sourceResourceId"))
                .ok_or_else(|| ArmError::missing_parameter("creationData.sourceResourceId"))?
                .to_owned();
            inherit(world, body, &id)
        }
        "" => Err(ArmError::missing_parameter("creationData.createOption")),
        other => Err(ArmError::new(
            501,
            "NotServedBySandbox",
            format!("The sandbox makes no snapshots with the create option '{other}'."),
        )),
    }
}

/// Takes over what a copy has of its source: a disk or a snapshot.
pub(crate) fn inherit(world: &World, body: &mut Value, id: &str) -> Result<(), ArmError> {
    let found = world.resource_by_key(&id.to_lowercase()).filter(|found| {
        found.is("Microsoft.Compute/disks") || found.is("Microsoft.Compute/snapshots")
    });
    let Some(found) = found else {
        return Err(ArmError::new(
            404,
            "NotFound",
            format!("The source '{id}' is not found."),
        ));
    };
    for member in [
        "diskSizeGB",
        "osType",
        "hyperVGeneration",
        "supportedCapabilities",
        "purchasePlan",
    ] {
        let place = format!("/properties/{member}");
        if let Some(value) = found.body.pointer(&place) {
            default(body, &place, value.clone());
        }
    }
    Ok(())
}

/// Gives a snapshot the members that Azure adds.
fn complete(world: &mut World, made: &mut Resource, old: Option<&Resource>) {
    let unique = old
        .and_then(|old| text(&old.body, "/properties/uniqueId").map(str::to_owned))
        .unwrap_or_else(|| world.mint());
    let created = made.created.precise();
    let body = &mut made.body;
    default(body, "/sku/name", "Standard_LRS");
    let tier = if text(body, "/sku/name").is_some_and(|sku| sku.starts_with("Premium")) {
        "Premium"
    } else {
        "Standard"
    };
    set(body, "/sku/tier", json!(tier));
    let size = number(body, "/properties/diskSizeGB").unwrap_or(0);
    for (member, value) in [
        ("timeCreated", json!(created)),
        ("uniqueId", json!(unique)),
        ("diskSizeBytes", json!(size.saturating_mul(1_073_741_824))),
    ] {
        set(body, &format!("/properties/{member}"), value);
    }
    default(body, "/properties/incremental", false);
    default(
        body,
        "/properties/encryption/type",
        "EncryptionAtRestWithPlatformKey",
    );
    default(body, "/properties/networkAccessPolicy", "AllowAll");
    default(body, "/properties/publicNetworkAccess", "Enabled");
}

fn store(world: &mut World, call: &Call<'_>, made: Resource, shown: Value) -> Answer {
    let mut made = made;
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &made.id,
            location: &made.location,
            style: Style::Disk,
            work: Work::Settle,
            title: "SnapshotOperation",
            timing: SNAPSHOT,
        },
    );
    made.set_state("Updating");
    made.operation = Some(operation.id.clone());
    made.changed = world.now();
    world.put_resource(made);
    lro::announce(
        Answer::json(202, shown),
        call,
        &operation,
        Twin::Yes,
        SNAPSHOT.retry_after,
    )
}
