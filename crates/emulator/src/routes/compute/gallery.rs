//! Galleries, the images that they define, and versions of those.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::write::{self, Wanted, wanted};
use crate::{
    call::Call,
    catalogue,
    durations::{GALLERY, GALLERY_VERSION, GALLERY_VERSION_DELETE, Timing},
    error::ArmError,
    http::{Answer, Method},
    json::{default, flag, items, merge, number, same, set, text},
    routes::common::{self, not_served, put_tags, tags},
    store::{
        entry::{Resource, Style},
        world::World,
    },
    types::Type,
};

const IMAGE: &str = "Microsoft.Compute/galleries/images";
const VERSION: &str = "Microsoft.Compute/galleries/images/versions";

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if call.path.kind() != row.path.to_lowercase() {
        return Err(not_served(call));
    }
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => list(world, call, row),
        (Method::Get, false) => {
            common::resource(world, call).map(|found| Answer::json(200, show(call, found)))
        }
        (Method::Put, false) => put(world, call, row),
        (Method::Patch, false) => patch(world, call, row),
        (Method::Delete, false) => delete(world, call),
        _ => Err(not_served(call)),
    }
}

fn list(world: &World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if row.path == "galleries" {
        let size = call.setup.pages.others;
        return Ok(super::list(world, call, row, size, |found| {
            show(call, found)
        }));
    }
    let gallery = write::parent(world, call, "Microsoft.Compute/galleries")?;
    let mut above = gallery.id.clone();
    if row.path == "galleries/images/versions" {
        above = above.child("images", call.path.name(1));
        if world.resource(&above).is_none() {
            return Err(crate::gateway::not_found(
                IMAGE,
                call.path.name(1),
                call.group(),
            ));
        }
    }
    let kind = row.name();
    let value: Vec<Value> = world
        .below(&format!("{}/", above.key()))
        .filter(|found| found.is(&kind) && found.id.parent().as_ref() == Some(&above))
        .map(|found| show(call, found))
        .collect();
    Ok(Answer::json(200, json!({"value": value})))
}

fn show(call: &Call<'_>, resource: &Resource) -> Value {
    let mut shown = common::base(resource);
    let wants_status = call
        .query()
        .get("$expand")
        .is_some_and(|expand| same(expand, "ReplicationStatus"));
    if wants_status && resource.is(VERSION) {
        let done = resource.state() == "Succeeded";
        let summary: Vec<Value> = regions(&resource.body)
            .into_iter()
            .map(|region| {
                json!({
                    "region": region,
                    "state": if done { "Completed" } else { "Replicating" },
                    "details": "",
                    "progress": if done { 100 } else { 0 },
                })
            })
            .collect();
        set(
            &mut shown,
            "/properties/replicationStatus",
            json!({
                "aggregatedState": if done { "Completed" } else { "InProgress" },
                "summary": summary,
            }),
        );
    }
    shown
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let Wanted { old, mut made } = wanted(world, call, row, fixed)?;
    complete(world, &mut made, old.is_none())?;
    Ok(begin(world, call, made, old.is_none()))
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let mut made = common::resource(world, call)?.clone();
    fixed(&made, &given)?;
    merge(&mut made.body, &given);
    if let Some(tags) = tags(&given)? {
        put_tags(&mut made.body, Some(tags));
    }
    Ok(begin(world, call, made, false))
}

fn timing(resource: &Resource) -> Timing {
    if resource.is(VERSION) {
        GALLERY_VERSION
    } else {
        GALLERY
    }
}

fn begin(world: &mut World, call: &Call<'_>, made: Resource, new: bool) -> Answer {
    let how = (timing(&made), Style::Gallery);
    write::begin_as(world, call, made, new, how)
}

/// What a definition or a version is can never change.
fn fixed(old: &Resource, given: &Value) -> Result<(), ArmError> {
    for (place, name) in [
        ("/properties/osType", "galleryImage.properties.osType"),
        ("/properties/osState", "galleryImage.properties.osState"),
        (
            "/properties/hyperVGeneration",
            "galleryImage.properties.hyperVGeneration",
        ),
        (
            "/properties/architecture",
            "galleryImage.properties.architecture",
        ),
        (
            "/properties/identifier/publisher",
            "galleryImage.properties.identifier",
        ),
        (
            "/properties/identifier/offer",
            "galleryImage.properties.identifier",
        ),
        (
            "/properties/identifier/sku",
            "galleryImage.properties.identifier",
        ),
        (
            "/properties/storageProfile/source/id",
            "galleryImageVersion.properties.storageProfile.source",
        ),
    ] {
        let (wanted, had) = (text(given, place), text(&old.body, place));
        if wanted.is_some_and(|wanted| !had.is_some_and(|had| same(had, wanted))) {
            return Err(ArmError::property_change(name));
        }
    }
    Ok(())
}

/// Checks and fills in what Azure fills in.
fn complete(world: &World, made: &mut Resource, new: bool) -> Result<(), ArmError> {
    if made.is(VERSION) {
        return if new {
            complete_version(world, made)
        } else {
            Ok(())
        };
    }
    if made.is(IMAGE) {
        for (member, known) in [
            ("osType", ["Linux", "Windows"]),
            ("osState", ["Generalized", "Specialized"]),
        ] {
            let place = format!("/properties/{member}");
            if !text(&made.body, &place)
                .is_some_and(|value| known.iter().any(|one| same(one, value)))
            {
                return Err(ArmError::invalid_parameter(
                    &format!("galleryImage.properties.{member}"),
                    format!("The value of parameter galleryImage.properties.{member} is invalid."),
                ));
            }
        }
        default(&mut made.body, "/properties/hyperVGeneration", "V1");
        default(&mut made.body, "/properties/architecture", "x64");
        return check_identifier(world, made);
    }
    let subscription = made.id.subscription().unwrap_or_default().to_lowercase();
    let unique = format!("{subscription}-{}", made.name().to_uppercase());
    set(
        &mut made.body,
        "/properties/identifier/uniqueName",
        json!(unique),
    );
    Ok(())
}

/// Two definitions of a gallery never have the same publisher, offer and SKU.
fn check_identifier(world: &World, made: &Resource) -> Result<(), ArmError> {
    let identity = |body: &Value| {
        ["publisher", "offer", "sku"].map(|member| {
            text(body, &format!("/properties/identifier/{member}"))
                .unwrap_or_default()
                .to_lowercase()
        })
    };
    let own = identity(&made.body);
    if own.iter().any(String::is_empty) {
        return Err(ArmError::missing_parameter(
            "galleryImage.properties.identifier",
        ));
    }
    let gallery = made.id.parent();
    let other = gallery
        .iter()
        .flat_map(|gallery| world.below(&format!("{}/images/", gallery.key())))
        .find(|other| other.is(IMAGE) && other.id != made.id && identity(&other.body) == own);
    match other {
        None => Ok(()),
        Some(other) => Err(ArmError::new(
            409,
            "Conflict",
            format!(
                "Gallery image identifier is already in use by gallery image '{}'.",
                other.id
            ),
        )),
    }
}

fn complete_version(world: &World, made: &mut Resource) -> Result<(), ArmError> {
    let profile = "/properties/storageProfile";
    let source = text(&made.body, &format!("{profile}/source/id"))
        .or_else(|| text(&made.body, &format!("{profile}/source/virtualMachineId")))
        .or_else(|| text(&made.body, &format!("{profile}/osDiskImage/source/id")))
        .ok_or_else(|| {
            ArmError::missing_parameter("galleryImageVersion.properties.storageProfile.source.id")
        })?
        .to_owned();
    let found = world
        .resource_by_key(&source.to_lowercase())
        .ok_or_else(|| {
            ArmError::new(
                404,
                "NotFound",
                format!("The source '{source}' of the gallery image version is not found."),
            )
        })?;
    let definition = made.id.parent();
    let definition = definition.and_then(|id| world.resource(&id));
    let generation = |body: &Value| text(body, "/properties/hyperVGeneration").map(str::to_owned);
    let of = definition.and_then(|definition| generation(&definition.body));
    let is = match &found.hidden.machine {
        Some(machine) => Some(format!("V{}", machine.image.generation)),
        None => generation(&found.body),
    };
    if let (Some(of), Some(is)) = (&of, &is)
        && of != is
    {
        return Err(ArmError::invalid_parameter(
            "galleryImageVersion.properties.storageProfile.source.id",
            format!(
                "The resource '{source}' has Hypervisor generation '{is}', which does not match \
                 the generation '{of}' of the gallery image."
            ),
        ));
    }
    let size = number(&found.body, "/properties/diskSizeGB")
        .or_else(|| number(&found.body, "/properties/storageProfile/osDisk/diskSizeGB"));
    let body = &mut made.body;
    if let Some(size) = size {
        set(
            body,
            &format!("{profile}/osDiskImage/sizeInGB"),
            json!(size),
        );
    }
    default(
        body,
        &format!("{profile}/osDiskImage/hostCaching"),
        "ReadWrite",
    );
    publish(made);
    Ok(())
}

/// Where and how a version is published; its own region is always among its regions.
fn publish(made: &mut Resource) {
    let created = made.created.precise();
    let place = "/properties/publishingProfile";
    let body = &mut made.body;
    default(body, &format!("{place}/replicaCount"), 1);
    default(body, &format!("{place}/excludeFromLatest"), false);
    default(body, &format!("{place}/storageAccountType"), "Standard_LRS");
    set(body, &format!("{place}/publishedDate"), json!(created));
    let mut targets = items(body, &format!("{place}/targetRegions")).to_vec();
    if targets.is_empty() {
        let name = catalogue::region(&made.location).map_or(made.location.as_str(), |region| {
            region.display_name.as_str()
        });
        targets.push(json!({"name": name}));
    }
    for target in &mut targets {
        default(target, "/regionalReplicaCount", 1);
        default(target, "/storageAccountType", "Standard_LRS");
    }
    set(
        &mut made.body,
        &format!("{place}/targetRegions"),
        json!(targets),
    );
}

fn regions(body: &Value) -> Vec<String> {
    items(body, "/properties/publishingProfile/targetRegions")
        .iter()
        .filter_map(|target| text(target, "/name").map(str::to_owned))
        .collect()
}

fn delete(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let Some(found) = super::existing(world, call) else {
        return Ok(Answer::empty(204));
    };
    let nested: Vec<&str> = world
        .below(&format!("{}/", found.id.key()))
        .map(|child| child.id.as_str())
        .collect();
    if !nested.is_empty() {
        return Err(ArmError::gateway(
            409,
            "CannotDeleteResource",
            format!(
                "Cannot delete resource while nested resources exist. Some existing nested \
                 resource IDs include: '{}'. Please delete all nested resources before deleting \
                 this resource.",
                nested.join(",")
            ),
        ));
    }
    let takes = if found.is(VERSION) {
        GALLERY_VERSION_DELETE
    } else {
        GALLERY
    };
    Ok(write::begin_delete_as(
        world,
        call,
        &found,
        (takes, Style::Gallery),
    ))
}

/// A version of a definition that is there in a region: the named one, or the newest that is
/// not left out of the newest.
pub(crate) fn version<'a>(
    world: &'a World,
    definition: &ArmId,
    name: Option<&str>,
    location: &str,
) -> Option<&'a Resource> {
    let here = |found: &&Resource| {
        let short =
            |name: &str| catalogue::region(name).map(|region| region.name.as_str().to_owned());
        let wanted = short(location);
        found.state() == "Succeeded"
            && (location.is_empty()
                || regions(&found.body)
                    .iter()
                    .any(|region| short(region) == wanted))
    };
    let versions = world
        .below(&format!("{}/versions/", definition.key()))
        .filter(|found| found.is(VERSION))
        .filter(here);
    let excluded = "/properties/publishingProfile/excludeFromLatest";
    match name {
        Some(name) => {
            let mut versions = versions;
            versions.find(|found| same(found.name(), name))
        }
        None => versions
            .filter(|found| flag(&found.body, excluded) != Some(true))
            .max_by_key(|found| {
                let numbers: Vec<u32> = found
                    .name()
                    .split('.')
                    .filter_map(|part| part.parse().ok())
                    .collect();
                numbers
            }),
    }
}
