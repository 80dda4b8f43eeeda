//! Changing a VM, by PUT and by PATCH.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    action, create, network, not_deleting, preconditions, profile, size, source, spot, storage,
    view,
};
use crate::{
    call::Call,
    catalogue, durations,
    error::ArmError,
    http::{Answer, Method},
    json::{items, same, set, text},
    lro::{self, Twin},
    routes::{
        common::{self, put_tags, tags},
        compute::{members, quota, reservation},
    },
    store::{
        entry::{Resource, Work},
        world::World,
    },
    types::Type,
    work,
};

/// Properties that are fixed when a VM is made: where they stand, and what refusals call them.
const FIXED: [(&str, &str); 16] = [
    ("/zones", "zones"),
    ("/plan", "plan"),
    (
        "/properties/storageProfile/imageReference/publisher",
        "imageReference",
    ),
    (
        "/properties/storageProfile/imageReference/offer",
        "imageReference",
    ),
    (
        "/properties/storageProfile/imageReference/sku",
        "imageReference",
    ),
    (
        "/properties/storageProfile/imageReference/id",
        "imageReference",
    ),
    (
        "/properties/storageProfile/osDisk/createOption",
        "osDisk.createOption",
    ),
    ("/properties/storageProfile/osDisk/osType", "osDisk.osType"),
    ("/properties/storageProfile/osDisk/name", "osDisk.name"),
    (
        "/properties/storageProfile/osDisk/managedDisk/storageAccountType",
        "osDisk.managedDisk.storageAccountType",
    ),
    (
        "/properties/storageProfile/osDisk/diffDiskSettings/option",
        "osDisk.diffDiskSettings",
    ),
    ("/properties/osProfile/adminUsername", "adminUsername"),
    ("/properties/osProfile/computerName", "computerName"),
    ("/properties/availabilitySet/id", "availabilitySet"),
    ("/properties/evictionPolicy", "evictionPolicy"),
    (
        "/properties/securityProfile/securityType",
        "securityProfile.securityType",
    ),
];

pub(crate) fn put(
    world: &mut World,
    call: &Call<'_>,
    old: Resource,
    given: &Value,
    tags: Option<BTreeMap<String, String>>,
) -> Result<Answer, ArmError> {
    let mut given = given.clone();
    // A PUT without data disks asks for none.
    crate::json::default(
        &mut given,
        "/properties/storageProfile/dataDisks",
        json!([]),
    );
    change(world, call, old, &given, NewTags::Replace(tags))
}

pub(crate) fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let old = common::resource(world, call)?.clone();
    preconditions(call, Some(&old))?;
    not_deleting(&old)?;
    let tags = match tags(&given)? {
        Some(tags) => NewTags::Replace(Some(tags)),
        None => NewTags::Keep,
    };
    change(world, call, old, &given, tags)
}

/// What becomes of a VM's tags.
enum NewTags {
    Keep,
    /// All of them are replaced; by none where there are none.
    Replace(Option<BTreeMap<String, String>>),
}

fn change(
    world: &mut World,
    call: &Call<'_>,
    old: Resource,
    given: &Value,
    tags: NewTags,
) -> Result<Answer, ArmError> {
    fixed(&old, given)?;
    let mut body = merged(&old.body, given);
    if let NewTags::Replace(tags) = tags {
        put_tags(&mut body, tags);
    }
    members::check_references(world, &body, old.name())?;
    placed(&old, &body)?;
    reserved(world, call, &old, &body)?;
    let resized = resize(world, call, &old, &mut body)?;
    controller(&old, &body)?;
    spot_rules(&old, &mut body, given)?;
    let place = "/properties/networkProfile/networkInterfaces";
    if given.pointer("/properties/networkProfile").is_some() {
        interfaces(world, call, &old, &mut body)?;
    } else {
        set(&mut body, place, json!(items(&old.body, place)));
    }
    let size = text(&body, "/properties/hardwareProfile/vmSize").and_then(catalogue::size);
    if let Some(size) = size {
        let owner = storage::Owner {
            id: &old.id,
            location: &old.location,
            size,
        };
        storage::data_disks(world, owner, &mut body, Some(&old))?;
    }
    if given.get("identity").is_some() {
        profile::identify(world, &old.id, &mut body, Some(&old.body))?;
    }
    store(world, call, old, body, resized)
}

/// The old body with what was given laid over it; lists are replaced.
fn merged(old: &Value, given: &Value) -> Value {
    let mut body = old.clone();
    let mut given = given.clone();
    for place in [
        "/location",
        "/tags",
        "/properties/storageProfile/imageReference",
        "/plan",
    ] {
        crate::json::remove(&mut given, place);
    }
    // A reference without an id takes the VM out of its group.
    let group = "/properties/proximityPlacementGroup";
    if given
        .pointer(group)
        .is_some_and(|group| group.get("id").is_none())
    {
        crate::json::remove(&mut given, group);
        crate::json::remove(&mut body, group);
    }
    // Identities are merged by the identity rules, where null removes one.
    crate::json::merge(&mut body, &given);
    body
}

fn fixed(old: &Resource, given: &Value) -> Result<(), ArmError> {
    for (place, name) in FIXED {
        let Some(wanted) = given.pointer(place).filter(|wanted| !wanted.is_null()) else {
            continue;
        };
        if !equal(old.body.pointer(place), wanted) {
            return Err(ArmError::property_change(name));
        }
    }
    let size = "/properties/storageProfile/osDisk/diskSizeGB";
    if let (Some(wanted), Some(had)) = (
        crate::json::number(given, size),
        crate::json::number(&old.body, size),
    ) && wanted != had
    {
        return Err(ArmError::new(
            409,
            "ResizeDiskError",
            "The OS disk is resized through its own resource while the VM is deallocated.",
        )
        .with_target("osDisk.diskSizeGB"));
    }
    let version = "/properties/storageProfile/imageReference/version";
    if let (Some(wanted), Some(exact)) = (
        text(given, version),
        text(
            &old.body,
            "/properties/storageProfile/imageReference/exactVersion",
        ),
    ) && text(&old.body, version) != Some(wanted)
        && wanted != exact
    {
        return Err(ArmError::property_change("imageReference"));
    }
    let keys = "/properties/osProfile/linuxConfiguration/ssh/publicKeys";
    if !items(given, keys).is_empty() && key_data(given) != key_data(&old.body) {
        return Err(ArmError::property_change(
            "linuxConfiguration.ssh.publicKeys",
        ));
    }
    let data = create::custom_data_digest(given);
    let had = old
        .hidden
        .machine
        .as_ref()
        .and_then(|machine| machine.custom_data.clone());
    if data.is_some() && data != had {
        return Err(ArmError::property_change("customData"));
    }
    let spot = text(given, "/properties/priority").map(|_| quota::is_spot(given));
    if spot.is_some_and(|spot| spot != quota::is_spot(&old.body)) {
        return Err(ArmError::property_change("priority"));
    }
    Ok(())
}

fn key_data(body: &Value) -> Vec<String> {
    items(
        body,
        "/properties/osProfile/linuxConfiguration/ssh/publicKeys",
    )
    .iter()
    .filter_map(|key| text(key, "/keyData").map(|key| key.trim().to_owned()))
    .collect()
}

/// Whether a value is what was there before; texts compare without case.
fn equal(had: Option<&Value>, wanted: &Value) -> bool {
    match (had, wanted) {
        (Some(Value::String(had)), Value::String(wanted)) => same(had, wanted),
        (Some(had), wanted) => had == wanted,
        (None, Value::Array(wanted)) => wanted.is_empty(),
        (None, Value::String(wanted)) => wanted.is_empty() || same(wanted, "Standard"),
        (None, _) => false,
    }
}

/// Documented: a VM on its hardware stays in its placement group. The text follows similar
/// refusals.
fn placed(old: &Resource, body: &Value) -> Result<(), ArmError> {
    let group = "/properties/proximityPlacementGroup/id";
    let (had, wanted) = (text(&old.body, group), text(body, group));
    let stays = match (had, wanted) {
        (Some(had), Some(wanted)) => same(had, wanted),
        (had, wanted) => had.is_some() == wanted.is_some(),
    };
    if stays || !is_allocated(old) {
        return Ok(());
    }
    Err(ArmError::not_allowed(
        "Updating proximity placement group of VM is not allowed while the VM is running. Please \
         stop/deallocate the VM and retry the operation.",
    )
    .with_target("proximityPlacementGroup"))
}

/// Documented: a VM on its hardware leaves its capacity reservation group only without it, and
/// joins one only where both are in a zone. The text follows similar refusals.
fn reserved(world: &World, call: &Call<'_>, old: &Resource, body: &Value) -> Result<(), ArmError> {
    let group = "/properties/capacityReservation/capacityReservationGroup/id";
    let (had, wanted) = (text(&old.body, group), text(body, group));
    let stays = match (had, wanted) {
        (Some(had), Some(wanted)) => same(had, wanted),
        (had, wanted) => had.is_some() == wanted.is_some(),
    };
    if stays {
        return Ok(());
    }
    let zonal = !items(&old.body, "/zones").is_empty();
    if is_allocated(old) && (had.is_some() || !zonal) {
        return Err(ArmError::not_allowed(format!(
            "The capacity reservation group of VM '{}' cannot be changed while the VM is \
             allocated. Please deallocate the VM and try again.",
            old.name()
        ))
        .with_target("capacityReservationGroup"));
    }
    check_quota(world, call, old, body)
}

/// Checks what it draws of each quota after a change against what it draws now.
fn check_quota(
    world: &World,
    call: &Call<'_>,
    old: &Resource,
    body: &Value,
) -> Result<(), ArmError> {
    let needed = reservation::of_machine(world, &old.id, body)?;
    quota::check(
        world,
        call.subscription(),
        &old.location,
        &old.hidden.quota,
        &needed,
    )
}

/// Checks a change of size; answers the old size if there is one.
fn resize(
    world: &World,
    call: &Call<'_>,
    old: &Resource,
    body: &mut Value,
) -> Result<Option<String>, ArmError> {
    let place = "/properties/hardwareProfile/vmSize";
    let before = text(&old.body, place).unwrap_or_default();
    let after = text(body, place).unwrap_or_default();
    if same(before, after) {
        return Ok(None);
    }
    let new = size::check(
        world,
        size::Place {
            subscription: call.subscription(),
            location: &old.location,
            name: old.name(),
            spot: quota::is_spot(body),
        },
        body,
    )?;
    let allocated = is_allocated(old);
    if let Some(had) = catalogue::size(before) {
        size::check_resize(old.name(), had, new, allocated, &old.location)?;
    }
    if let Some(machine) = &old.hidden.machine {
        size::check_image(new, &machine.image)?;
    }
    profile::check_security_size(body, new)?;
    check_quota(world, call, old, body)?;
    Ok(Some(before.to_owned()))
}

/// Documented: the disk controller changes while the VM is deallocated. The text follows similar
/// refusals.
fn controller(old: &Resource, body: &Value) -> Result<(), ArmError> {
    let size = |body: &Value| {
        let name = text(body, "/properties/hardwareProfile/vmSize");
        name.and_then(catalogue::size)
    };
    let (Some(before), Some(after)) = (size(&old.body), size(body)) else {
        return Ok(());
    };
    let had = source::controller(&old.body, before);
    let wanted = text(body, source::CONTROLLER).unwrap_or(had);
    if same(had, wanted) && before.name == after.name {
        return Ok(());
    }
    if !same(had, wanted) && is_allocated(old) {
        return Err(ArmError::not_allowed(format!(
            "The disk controller type of VM '{}' cannot be changed while the VM is allocated. \
             Please deallocate the VM and try again.",
            old.name()
        ))
        .with_target("diskControllerType"));
    }
    match &old.hidden.machine {
        Some(machine) => source::check_controller(wanted, after, &machine.image),
        None => Ok(()),
    }
}

fn is_allocated(vm: &Resource) -> bool {
    vm.hidden
        .machine
        .as_ref()
        .is_some_and(crate::store::entry::Machine::is_allocated)
}

fn spot_rules(old: &Resource, body: &mut Value, given: &Value) -> Result<(), ArmError> {
    let new = spot::max_price(given);
    let had = spot::max_price(&old.body);
    if let Some(new) = new
        && had != Some(new)
        && quota::is_spot(body)
        && is_allocated(old)
    {
        return Err(ArmError::not_allowed(format!(
            "Max price change is not allowed when the VM '{}' is currently allocated. Please \
             deallocate and try again.",
            old.name()
        ))
        .with_target("billingProfile.maxPrice"));
    }
    let size = text(body, "/properties/hardwareProfile/vmSize").and_then(catalogue::size);
    match size {
        Some(size) => spot::check(body, size, &old.location),
        None => Ok(()),
    }
}

fn interfaces(
    world: &mut World,
    call: &Call<'_>,
    old: &Resource,
    body: &mut Value,
) -> Result<(), ArmError> {
    let place = "/properties/networkProfile/networkInterfaces";
    let ids = |body: &Value| -> Vec<String> {
        let mut ids: Vec<String> = items(body, place)
            .iter()
            .filter_map(|nic| text(nic, "/id").map(str::to_lowercase))
            .collect();
        ids.sort();
        ids
    };
    let described = !items(
        body,
        "/properties/networkProfile/networkInterfaceConfigurations",
    )
    .is_empty();
    if (described || ids(body) != ids(&old.body)) && is_allocated(old) {
        return Err(ArmError::new(
            409,
            "AddingOrDeletingNetworkInterfacesOnARunningVirtualMachineNotSupported",
            format!(
                "Secondary network interfaces cannot be added or deleted from a running virtual \
                 machine. To do so, first stop and deallocate the virtual machine {}.",
                old.name()
            ),
        ));
    }
    let size = text(body, "/properties/hardwareProfile/vmSize").and_then(catalogue::size);
    match size {
        Some(size) => network::connect(
            world,
            call,
            network::Owner {
                id: &old.id,
                location: &old.location,
                size,
            },
            body,
        ),
        None => Ok(()),
    }
}

fn store(
    world: &mut World,
    call: &Call<'_>,
    old: Resource,
    body: Value,
    old_size: Option<String>,
) -> Result<Answer, ArmError> {
    let mut body = body;
    let user_data = profile::hide(&mut body);
    let never = old
        .hidden
        .machine
        .as_ref()
        .is_none_or(|machine| machine.power.is_none());
    let (name, doing) = match (call.method(), never) {
        (_, true) => ("create", Work::CreateMachine),
        (Method::Patch, false) => ("patch", Work::UpdateMachine),
        (_, false) => ("update", Work::UpdateMachine),
    };
    let timing = durations::machine(name);
    let operation = action::begin(world, call, &old, doing, "UpdateVirtualMachine", timing);
    if old_size.is_some() {
        let mut resizing = operation.clone();
        resizing.old_size = old_size;
        world.put(crate::store::entry::Entry::Operation(Box::new(resizing)));
    }
    let mut vm = old;
    vm.body = body;
    vm.set_state("Updating");
    vm.operation = Some(operation.id.clone());
    vm.changed = world.now();
    vm.hidden.quota = reservation::of_machine(world, &vm.id, &vm.body)?;
    if let (Some(machine), Some(data)) = (&mut vm.hidden.machine, user_data) {
        machine.user_data = Some(data);
    }
    work::count(&mut vm, 1);
    let answer = with_etag(Answer::json(200, view::show(call, &vm)));
    world.put_resource(vm);
    // Seven of 159 recorded updates came without the header: such a client polls the resource.
    if call.setup.quirks && operation.number % 23 == 7 {
        return Ok(answer);
    }
    Ok(lro::announce(answer, call, &operation, Twin::No, None))
}

/// Adds the `ETag` header that answers to writes carry where the body has one.
pub(crate) fn with_etag(answer: Answer) -> Answer {
    let etag = match &answer.body {
        crate::http::Body::Json(body) => text(body, "/etag").map(str::to_owned),
        crate::http::Body::Text(_) | crate::http::Body::Empty => None,
    };
    match etag {
        Some(etag) => answer.with_header("ETag", etag),
        None => answer,
    }
}
