//! Making a VM.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{network, not_deleting, preconditions, profile, size, spot, storage, update, view};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::Answer,
    json::{set, text},
    lro::{self, Plan, Twin},
    routes::{
        common::{self, check_name, location, not_served, put_tags, tags},
        compute::quota,
    },
    store::{
        entry::{Image, Machine, Resource, Style, Work},
        world::World,
    },
    text::fnv,
    types::Type,
};

pub(crate) fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    preconditions(call, old.as_ref())?;
    let place = location(&given, row, old.as_ref())?;
    let tags = tags(&given)?;
    if let Some(old) = old {
        not_deleting(&old)?;
        return update::put(world, call, old, &given, tags);
    }
    let mut body = given;
    set(&mut body, "/location", json!(place));
    put_tags(&mut body, tags);
    let image = compose(world, call, &id, &place, &mut body)?;
    finish(world, call, row, id, &place, body, image)
}

/// Checks a new VM and makes what it brings along; the body comes out as answers show it.
fn compose(
    world: &mut World,
    call: &Call<'_>,
    id: &ArmId,
    place: &str,
    body: &mut Value,
) -> Result<Image, ArmError> {
    let subscription = call.subscription();
    let spot = quota::is_spot(body);
    let size = size::check(
        world,
        size::Place {
            subscription,
            location: place,
            name: id.name(),
            spot,
        },
        body,
    )?;
    references(world, body)?;
    let (image, image_gb) = storage::image(world, call, body)?;
    size::check_image(size, &image)?;
    if text(body, "/properties/storageProfile/osDisk/createOption") != Some("Attach") {
        profile::check(body, id.name(), &image)?;
    }
    profile::check_security(body, &image)?;
    spot::check(body, size, place)?;
    let needed = quota::of_machine(body);
    quota::check(
        world,
        subscription,
        place,
        &std::collections::BTreeMap::new(),
        &needed,
    )?;
    network::connect(
        world,
        call,
        network::Owner {
            id,
            location: place,
            size,
        },
        body,
    )?;
    let owner = storage::Owner {
        id,
        location: place,
        size,
    };
    storage::os_disk(world, owner, body, &image, image_gb)?;
    storage::data_disks(world, owner, body, None)?;
    profile::identify(world, body, None);
    Ok(image)
}

/// Things that a VM can belong to must be there.
fn references(world: &World, body: &Value) -> Result<(), ArmError> {
    for member in [
        "availabilitySet",
        "virtualMachineScaleSet",
        "proximityPlacementGroup",
        "host",
        "hostGroup",
        "capacityReservation/capacityReservationGroup",
    ] {
        let id = text(body, &format!("/properties/{member}/id"));
        if let Some(id) = id
            && world.resource_by_key(&id.to_lowercase()).is_none()
        {
            return Err(ArmError::new(
                404,
                "NotFound",
                format!("The resource '{id}' that the VM names is not found."),
            )
            .with_target(member.split('/').next_back().unwrap_or(member)));
        }
    }
    Ok(())
}

/// A digest that tells whether custom data is the same, without keeping it.
pub(crate) fn custom_data_digest(body: &Value) -> Option<String> {
    text(body, "/properties/osProfile/customData")
        .map(|data| format!("{:016x}", fnv(data.as_bytes())))
}

/// Stores a new VM, begins its operation, and answers.
fn finish(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    id: ArmId,
    place: &str,
    body: Value,
    image: Image,
) -> Result<Answer, ArmError> {
    let mut body = body;
    let custom_data = custom_data_digest(&body);
    let spelled = spelled_location(call)?.unwrap_or_else(|| place.to_owned());
    let user_data = profile::hide(&mut body);
    let vm_id = world.mint();
    set(&mut body, "/properties/vmId", json!(vm_id));
    set(
        &mut body,
        "/properties/timeCreated",
        json!(world.now().precise()),
    );
    set(
        &mut body,
        "/properties/provisioningState",
        json!("Creating"),
    );
    let timing = durations::machine("create");
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &id,
            location: &spelled,
            style: Style::Compute,
            work: Work::CreateMachine,
            title: "CreateVirtualMachine",
            timing,
        },
    );
    let mut vm = common::new(world, id, row, place, body);
    "1".clone_into(&mut vm.etag);
    vm.operation = Some(operation.id.clone());
    vm.hidden.quota = quota::of_machine(&vm.body);
    vm.hidden.machine = Some(Machine {
        power: None,
        since: world.now(),
        image,
        user_data,
        custom_data,
        failure: None,
    });
    let shown = first_view(call, row, &vm)?;
    world.put_resource(vm);
    let answer = update::with_etag(Answer::json(201, shown));
    Ok(lro::announce(
        answer,
        call,
        &operation,
        Twin::No,
        timing.retry_after,
    ))
}

/// The location as the client spelt it, which operation URLs keep.
fn spelled_location(call: &Call<'_>) -> Result<Option<String>, ArmError> {
    let body = crate::body::read(&call.incoming.text())?;
    Ok(text(&body, "/location").map(str::to_owned))
}

/// The first answer does not yet know the name and id of a disk that is being made.
fn first_view(call: &Call<'_>, row: &Type, vm: &Resource) -> Result<Value, ArmError> {
    let mut shown = view::show(call, vm);
    let given = call.body(row)?;
    let disk = "/properties/storageProfile/osDisk";
    for member in ["/name", "/managedDisk/id"] {
        let place = format!("{disk}{member}");
        if given.pointer(&place).is_none() {
            crate::json::remove(&mut shown, &place);
        }
    }
    Ok(shown)
}
