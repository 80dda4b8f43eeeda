//! Which part of Compute a request is about, and what its lists share.

use serde_json::json;

use super::{
    disk, extension, gallery, images, machine, own_image, placement, placement_score, quota,
    reservation, run_command, scale_set, skus, snapshot, ssh_key,
};
use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::{Answer, Method},
    lro,
    routes::common::{id, not_served, page, skip},
    store::{entry::Resource, world::World},
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    let reads = call.method() == Method::Get;
    match kind.as_str() {
        "skus" if reads && call.path.is_open() => skus::list(world, call),
        "locations/operations" | "locations/diskoperations" | "locations/capsoperations"
            if reads && !call.path.is_open() =>
        {
            lro::poll(world, call)
        }
        "locations/usages" if reads && call.path.is_open() => {
            let region = region_of(call)?;
            let value = quota::list(world, call.subscription(), region);
            Ok(Answer::json(200, json!({"value": value})))
        }
        "locations/vmsizes" if reads && call.path.is_open() => {
            let value = skus::sizes(region_of(call)?);
            Ok(Answer::json(200, json!({"value": value})))
        }
        "locations/placementscores/generate"
            if call.method() == Method::Post && call.path.name(1).eq_ignore_ascii_case("spot") =>
        {
            placement_score::generate(world, call)
        }
        _ if kind.starts_with("locations/publishers") && reads => images::answer(call),
        _ if row.path == "virtualMachines" => machine::answer(world, call, row),
        "disks" => disk::answer(world, call, row),
        _ if row.path == "sshPublicKeys" => ssh_key::answer(world, call, row),
        _ => of_type(world, call, row),
    }
}

fn of_type(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    match row.path {
        "virtualMachines/extensions" => extension::answer(world, call, row),
        "virtualMachines/runCommands" => run_command::answer(world, call, row),
        "availabilitySets" | "proximityPlacementGroups" => placement::answer(world, call, row),
        "capacityReservationGroups" | "capacityReservationGroups/capacityReservations" => {
            reservation::answer(world, call, row)
        }
        "images" => own_image::answer(world, call, row),
        "snapshots" => snapshot::answer(world, call, row),
        "galleries" | "galleries/images" | "galleries/images/versions" => {
            gallery::answer(world, call, row)
        }
        path if path.starts_with("virtualMachineScaleSets") => scale_set::answer(world, call, row),
        _ => Err(not_served(call)),
    }
}

/// The short name of the region that a path names.
pub(crate) fn region_of(call: &Call<'_>) -> Result<&'static str, ArmError> {
    let given = call.path.name(0);
    catalogue::region(given)
        .map(|region| region.name.as_str())
        .ok_or_else(|| {
            ArmError::gateway(
                400,
                "NoRegisteredProviderFound",
                format!(
                    "No registered resource provider found for location '{given}' and API version \
                     '{}' for type '{}'. The supported locations are '{}'.",
                    call.version,
                    call.path.kinds.join("/"),
                    catalogue::region_list().replace(',', ", ")
                ),
            )
        })
}

/// A list of resources of one type, of a group or of the whole subscription.
pub(crate) fn list(
    world: &World,
    call: &Call<'_>,
    row: &Type,
    size: usize,
    render: impl Fn(&Resource) -> serde_json::Value,
) -> Answer {
    let name = row.name();
    let after = skip(call);
    let found: Box<dyn Iterator<Item = &Resource>> = match &call.path.group {
        Some(group) => Box::new(
            world
                .below(&format!(
                    "/subscriptions/{}/resourcegroups/{group}/providers/{}/{}/",
                    call.subscription(),
                    row.namespace,
                    row.path
                ))
                .filter(|resource| resource.is(&name)),
        ),
        None => Box::new(world.of_kind(call.subscription(), &name, after.as_deref())),
    };
    let items = found
        .filter(|resource| {
            after
                .as_ref()
                .is_none_or(|after| resource.id.key() > after.as_str())
        })
        .map(|resource| (resource.id.key().to_owned(), render(resource)));
    page(call, items, size)
}

/// The resource that a DELETE names, if it is there.
pub(crate) fn existing(world: &World, call: &Call<'_>) -> Option<Resource> {
    world.resource(&id(world, call)?).cloned()
}
