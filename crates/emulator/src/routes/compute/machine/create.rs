//! Making a VM.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{
    network, not_deleting, preconditions, profile, size, source, spot, storage, update, view,
};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::Answer,
    json::{set, text},
    lro::{self, Plan, Twin},
    routes::{
        common::{self, check_name, location, not_served, put_tags, tags},
        compute::{members, placement, quota, reservation, scale_set},
    },
    store::{
        entry::{Image, Machine, Operation, Resource, Style, Work},
        world::World,
    },
    text::fnv,
    types::{self, Type},
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
    members::check_references(world, body, id.name())?;
    together(world, body, id.name())?;
    let (image, image_gb) = source::image(world, call, body)?;
    size::check_image(size, &image)?;
    source::set_controller(body, size, &image)?;
    let attached = text(body, "/properties/storageProfile/osDisk/createOption") == Some("Attach");
    if !attached && !image.specialized {
        profile::check(body, id.name(), &image)?;
    }
    profile::check_security(body, &image)?;
    profile::check_security_size(body, size)?;
    spot::check(body, size, place)?;
    let needed = reservation::of_machine(world, id, body)?;
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
    profile::identify(world, id, body, None)?;
    Ok(image)
}

/// What cannot stand together with what a VM belongs to. Documented; the texts follow similar
/// refusals.
fn together(world: &World, body: &Value, name: &str) -> Result<(), ArmError> {
    let reserved = text(
        body,
        "/properties/capacityReservation/capacityReservationGroup/id",
    )
    .is_some();
    let there = |member: &str| body.pointer(&format!("/properties/{member}/id")).is_some();
    let with = [
        (quota::is_spot(body), "Spot priority"),
        (
            there("proximityPlacementGroup"),
            "a proximity placement group",
        ),
        (there("availabilitySet"), "an availability set"),
    ];
    if let Some((_, what)) = with.into_iter().find(|(with, _)| reserved && *with) {
        return Err(ArmError::not_allowed(format!(
            "Capacity Reservation is not supported for the VM '{name}' with {what}."
        ))
        .with_target("capacityReservationGroup"));
    }
    let zonal = body.get("zones").and_then(Value::as_array);
    if there("availabilitySet") && zonal.is_some_and(|zones| !zones.is_empty()) {
        return Err(ArmError::new(
            400,
            "BadRequest",
            "Virtual Machine cannot be created because both Availability Zone and Availability \
             Set were specified. Deploying an Availability Set to an Availability Zone isn't \
             supported.",
        ));
    }
    let set = text(body, "/properties/virtualMachineScaleSet/id")
        .and_then(|id| world.resource_by_key(&id.to_lowercase()));
    if set.is_some_and(|set| !scale_set::is_flexible(&set.body)) {
        return Err(ArmError::invalid_parameter(
            "virtualMachineScaleSet",
            "A virtual machine can be made in a Virtual Machine Scale Set with Flexible \
             orchestration mode alone.",
        ));
    }
    placement::check_intent(world, body)?;
    members::check_room(world, body)
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
    let custom_data = custom_data_digest(&body);
    let spelled = spelled_location(call)?.unwrap_or_else(|| place.to_owned());
    let draft = Draft {
        id,
        place,
        spelled: &spelled,
        image,
        custom_data,
        style: Style::Compute,
    };
    let (vm, operation) = store(world, call, row, draft, body)?;
    scale_set::flexible::recount(world, &vm.body);
    let answer = update::with_etag(Answer::json(201, first_view(call, row, &vm)?));
    Ok(lro::announce(
        answer,
        call,
        &operation,
        Twin::No,
        durations::machine("create").retry_after,
    ))
}

/// What a new VM is made from, beside its body.
struct Draft<'a> {
    id: ArmId,
    place: &'a str,
    spelled: &'a str,
    image: Image,
    custom_data: Option<String>,
    style: Style,
}

/// Makes a VM of a Flexible scale set, with an operation that nobody polls.
pub(crate) fn member(
    world: &mut World,
    call: &Call<'_>,
    id: &ArmId,
    body: Value,
    custom_data: Option<String>,
) -> Result<(), ArmError> {
    let row = types::named("Microsoft.Compute/virtualMachines").ok_or_else(|| not_served(call))?;
    let mut body = body;
    let place = text(&body, "/location").unwrap_or_default().to_owned();
    let image = compose(world, call, id, &place, &mut body)?;
    let draft = Draft {
        id: id.clone(),
        place: &place,
        spelled: &place,
        image,
        custom_data,
        style: Style::Hidden,
    };
    store(world, call, row, draft, body).map(|_| ())
}

/// Stores a new VM and begins its operation.
fn store(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    draft: Draft<'_>,
    body: Value,
) -> Result<(Resource, Operation), ArmError> {
    let Draft {
        id,
        place,
        spelled,
        image,
        custom_data,
        style,
    } = draft;
    let mut body = body;
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
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &id,
            location: spelled,
            style,
            work: Work::CreateMachine,
            title: "CreateVirtualMachine",
            timing: durations::machine("create"),
        },
    );
    let uses = reservation::of_machine(world, &id, &body)?;
    let mut vm = common::new(world, id, row, place, body);
    "1".clone_into(&mut vm.etag);
    vm.operation = Some(operation.id.clone());
    vm.hidden.quota = uses;
    vm.hidden.machine = Some(Machine {
        power: None,
        since: world.now(),
        image,
        user_data,
        custom_data,
        failure: None,
        generalized: false,
    });
    world.put_resource(vm.clone());
    Ok((vm, operation))
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
