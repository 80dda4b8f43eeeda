//! Making and changing a scale set.

use serde_json::{Value, json};

use super::{flexible, is_flexible, limits, profile, scale, view};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::{Answer, Method},
    json::{default, flag, items, merge, number, same, set, text},
    lro::{self, Plan, Twin},
    routes::{
        common::{self, check_name, location, not_served, put_tags, tags},
        compute::{
            machine::{self, preconditions, update},
            members, reservation,
        },
    },
    store::{
        entry::{Entry, Resource, Style, Work},
        scale_set::{Model, ScaleSet},
        world::World,
    },
    types::Type,
};

/// Properties that are fixed when a set is made: where they stand, and what refusals call them.
const FIXED: [(&str, &str); 10] = [
    ("/zones", "zones"),
    ("/plan", "plan"),
    ("/properties/orchestrationMode", "orchestrationMode"),
    (
        "/properties/platformFaultDomainCount",
        "platformFaultDomainCount",
    ),
    (
        "/properties/virtualMachineProfile/osProfile/computerNamePrefix",
        "computerNamePrefix",
    ),
    (
        "/properties/virtualMachineProfile/osProfile/adminUsername",
        "adminUsername",
    ),
    (
        "/properties/virtualMachineProfile/storageProfile/osDisk/createOption",
        "osDisk.createOption",
    ),
    (
        "/properties/virtualMachineProfile/storageProfile/imageReference/publisher",
        "imageReference.publisher",
    ),
    (
        "/properties/virtualMachineProfile/storageProfile/imageReference/offer",
        "imageReference.offer",
    ),
    ("/properties/virtualMachineProfile/priority", "priority"),
];

pub(crate) fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    preconditions(call, old.as_ref())?;
    let place = location(&given, row, old.as_ref())?;
    let mut body = given;
    set(&mut body, "/location", json!(place));
    if let Some(old) = old {
        return change(world, call, &old, &body);
    }
    let tags = tags(&body)?;
    put_tags(&mut body, tags);
    defaults(&mut body, id.name());
    let unique = world.mint();
    set(&mut body, "/properties/uniqueId", json!(unique));
    let now = world.now().precise();
    set(&mut body, "/properties/timeCreated", json!(now));
    let mut made = common::new(world, id, row, &place, body);
    "0".clone_into(&mut made.etag);
    write(world, call, made, None)
}

pub(crate) fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let old = common::resource(world, call)?.clone();
    preconditions(call, Some(&old))?;
    change(world, call, &old, &given)
}

/// What Azure fills in at first.
fn defaults(body: &mut Value, name: &str) {
    default(body, "/properties/orchestrationMode", "Uniform");
    let flexible = is_flexible(body);
    default(body, "/properties/singlePlacementGroup", !flexible);
    if flexible {
        default(body, "/properties/upgradePolicy", json!({"mode": "Manual"}));
        default(body, "/properties/constrainedMaximumCapacity", false);
    } else {
        default(body, "/properties/overprovision", true);
        default(
            body,
            "/properties/doNotRunExtensionsOnOverprovisionedVMs",
            false,
        );
        // Documented: zonal sets spread as far as they can, others over five domains.
        let domains = if items(body, "/zones").is_empty() {
            5
        } else {
            1
        };
        default(body, "/properties/platformFaultDomainCount", domains);
        if body.pointer("/sku/name").is_some() {
            default(body, "/sku/capacity", 1);
        }
        let prefix = "/properties/virtualMachineProfile/osProfile";
        if body.pointer(prefix).is_some() {
            default(body, &format!("{prefix}/computerNamePrefix"), name);
        }
    }
    if body.pointer("/sku/name").is_some() {
        default(body, "/sku/tier", "Standard");
    }
}

/// Lays what was given over a set that is there.
fn change(
    world: &mut World,
    call: &Call<'_>,
    old: &Resource,
    given: &Value,
) -> Result<Answer, ArmError> {
    if old.state() == "Deleting" {
        return Err(ArmError::not_allowed(format!(
            "Operation is not allowed on VM scale set '{}' since it is marked for deletion. You \
             can only retry the Delete operation (or wait for an ongoing one to complete).",
            old.name()
        )));
    }
    for (place, name) in FIXED {
        let wanted = given.pointer(place).filter(|wanted| !wanted.is_null());
        let had = old.body.pointer(place);
        if wanted.is_some_and(|wanted| !equal(had, wanted)) {
            return Err(ArmError::property_change(name));
        }
    }
    let mut new = old.clone();
    let kept_tags = old.body.get("tags").cloned();
    merge(&mut new.body, given);
    match tags(given)? {
        Some(tags) => put_tags(&mut new.body, Some(tags)),
        // Recorded: a PUT without tags leaves them.
        None => {
            if let Some(tags) = kept_tags {
                set(&mut new.body, "/tags", tags);
            }
        }
    }
    let reference = "/properties/virtualMachineProfile/storageProfile/imageReference";
    if let Some(image) = given.pointer(reference) {
        set(&mut new.body, reference, image.clone());
    }
    write(world, call, new, Some(old))
}

fn equal(had: Option<&Value>, wanted: &Value) -> bool {
    match (had, wanted) {
        (Some(Value::String(had)), Value::String(wanted)) => same(had, wanted),
        (Some(had), wanted) => had == wanted,
        (None, Value::Array(wanted)) => wanted.is_empty(),
        // A set without a priority has the regular one.
        (None, Value::String(wanted)) => wanted.is_empty() || same(wanted, "Regular"),
        (None, _) => false,
    }
}

/// Checks a set as it is going to be, stores it, and begins its operation.
fn write(
    world: &mut World,
    call: &Call<'_>,
    new: Resource,
    old: Option<&Resource>,
) -> Result<Answer, ArmError> {
    let mut new = new;
    let name = new.name().to_owned();
    members::check_references(world, &new.body, &name)?;
    let before = old
        .and_then(|old| old.hidden.scale_set.as_deref())
        .and_then(ScaleSet::latest)
        .cloned();
    let id = new.id.clone();
    let owner = profile::Owner {
        id: &id,
        location: &new.location.clone(),
        old: before.as_ref(),
    };
    let sized = text(&new.body, "/sku/name").and_then(crate::catalogue::size);
    limits::check(&name, &new.body, sized, old)?;
    let made = profile::complete(world, call, owner, &mut new.body)?;
    let flexible = is_flexible(&new.body);
    if new.body.get("identity").is_some() {
        let had = old.map(|old| &old.body);
        machine::profile::identify(world, &id, &mut new.body, had)?;
    }
    let mut hidden = new.hidden.scale_set.take().unwrap_or_else(|| {
        Box::new(ScaleSet {
            model: 0,
            models: std::collections::BTreeMap::new(),
            next: 0,
            instances: std::collections::BTreeMap::new(),
        })
    });
    if let Some((model, _)) = made {
        stamp(world, &mut new.body, before.as_ref());
        hidden.renew(model);
    }
    new.hidden.scale_set = Some(hidden);
    let wanted = limits::capacity(&new.body)?;
    let mut touched = Vec::new();
    if !flexible {
        touched = scale::resize(world, &mut new, wanted.unwrap_or(0))?;
    }
    let machines = if flexible {
        flexible::plan(world, &new, wanted)
    } else {
        flexible::Change::default()
    };
    quota(world, call, &mut new, old, machines.more)?;
    let answer = begin(world, call, new, old, touched);
    flexible::apply(world, call, &id, machines)?;
    Ok(answer)
}

/// The profile tells when it was made.
fn stamp(world: &World, body: &mut Value, before: Option<&Model>) {
    let place = format!("{}/timeCreated", profile::PLACE);
    if before.is_none() {
        let now = world.now().precise();
        set(body, &place, json!(now));
    }
}

fn quota(
    world: &World,
    call: &Call<'_>,
    new: &mut Resource,
    old: Option<&Resource>,
    grows: u64,
) -> Result<(), ArmError> {
    let uses = reservation::of_set(world, new)?;
    let mut needed = uses.clone();
    if grows > 0 {
        for (name, amount) in flexible::needs(world, new, grows) {
            *needed.entry(name).or_default() += amount;
        }
    }
    let none = std::collections::BTreeMap::new();
    let had = old.map_or(&none, |old| &old.hidden.quota);
    crate::routes::compute::quota::check(world, call.subscription(), &new.location, had, &needed)?;
    new.hidden.quota = uses;
    Ok(())
}

/// Stores a set, begins its operation and answers.
fn begin(
    world: &mut World,
    call: &Call<'_>,
    new: Resource,
    old: Option<&Resource>,
    touched: Vec<u64>,
) -> Answer {
    let mut new = new;
    let capacity = |set: &Resource| number(&set.body, "/sku/capacity");
    let scales = old.is_some_and(|old| capacity(old) != capacity(&new));
    let timing = durations::scale_set(match (old, call.method()) {
        (None, _) => "create",
        (Some(_), _) if scales || !touched.is_empty() => "scale",
        (Some(_), Method::Patch) => "patch",
        (Some(_), _) => "update",
    });
    let running = old.and_then(|old| old.operation.as_ref());
    let mut touched = touched;
    touched.extend(scale::unfinished(world, &new, running));
    if let Some(running) = running {
        lro::preempt(world, running);
    }
    let mut operation = lro::begin(
        world,
        call,
        &Plan {
            target: &new.id,
            location: &new.location,
            style: Style::Compute,
            work: Work::CreateMachine,
            title: if old.is_none() {
                "CreateVMScaleSet"
            } else {
                "UpdateVMScaleSet"
            },
            timing,
        },
    );
    scale::mark(&mut new, &touched, operation.number);
    operation.instances = touched;
    world.put(Entry::Operation(Box::new(operation.clone())));
    new.set_state(if old.is_none() {
        "Creating"
    } else {
        "Updating"
    });
    new.operation = Some(operation.id.clone());
    new.changed = world.now();
    crate::work::count(&mut new, 1);
    let status = if old.is_none() { 201 } else { 200 };
    let answer = update::with_etag(Answer::json(status, view::show(call, &new)));
    world.put_resource(new);
    lro::announce(answer, call, &operation, Twin::No, timing.retry_after)
}

/// Whether a set makes more instances at first than it keeps.
pub(crate) fn overprovisions(body: &Value) -> bool {
    !is_flexible(body) && flag(body, "/properties/overprovision") != Some(false)
}
