//! Instances of Uniform sets come and go.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{create::overprovisions, network};
use crate::{
    error::ArmError,
    json::{flag, items, same, text},
    store::{
        entry::Resource,
        scale_set::{Instance, Provisioning, ScaleSet},
        world::World,
    },
};

/// Gives a set so many instances, and upgrades those that its policy upgrades; answers the ids
/// of all that change.
pub(crate) fn resize(world: &World, set: &mut Resource, wanted: u64) -> Result<Vec<u64>, ArmError> {
    let Some(mut hidden) = set.hidden.scale_set.take() else {
        return Ok(Vec::new());
    };
    let living = u64::try_from(hidden.living().count()).unwrap_or(u64::MAX);
    let mut touched = upgrade(set, &mut hidden);
    if wanted > living {
        touched.extend(grow(world, set, &mut hidden, wanted - living)?);
    }
    if wanted < living {
        touched.extend(shrink(set, &mut hidden, living - wanted));
    }
    hidden.forget_models();
    set.hidden.scale_set = Some(hidden);
    Ok(touched)
}

/// Automatic and rolling policies bring every instance to the newest model.
fn upgrade(set: &Resource, hidden: &mut ScaleSet) -> Vec<u64> {
    let mode = text(&set.body, "/properties/upgradePolicy/mode").unwrap_or("Manual");
    if same(mode, "Manual") {
        return Vec::new();
    }
    let newest = hidden.model;
    let mut touched = Vec::new();
    for (id, instance) in &mut hidden.instances {
        if instance.model != newest && instance.state != Provisioning::Deleting {
            instance.model = newest;
            instance.state = Provisioning::Updating;
            touched.push(*id);
        }
    }
    touched
}

fn zone_counts(set: &Resource, hidden: &ScaleSet) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = items(&set.body, "/zones")
        .iter()
        .filter_map(Value::as_str)
        .map(|zone| (zone.to_owned(), 0))
        .collect();
    for (_, instance) in hidden.living() {
        if let Some(count) = instance.zone.as_ref().and_then(|zone| counts.get_mut(zone)) {
            *count += 1;
        }
    }
    counts
}

fn grow(
    world: &World,
    set: &Resource,
    hidden: &mut ScaleSet,
    count: u64,
) -> Result<Vec<u64>, ArmError> {
    let Some(model) = hidden.latest() else {
        return Ok(Vec::new());
    };
    let number = usize::try_from(count).unwrap_or(usize::MAX);
    let addresses = network::addresses(world, &model.profile, number)?;
    // Recorded: an overprovisioning set of 5 ended with the ids 0, 1, 4, 5 and 6.
    let spare = if overprovisions(&set.body) {
        count / 5 + 1
    } else {
        0
    };
    let mut zones = zone_counts(set, hidden);
    let now = world.now();
    let mut made = Vec::new();
    for (at, addresses) in (0u64..).zip(addresses) {
        let gap = if at < 2 { 0 } else { spare };
        let id = hidden.next + at + gap;
        let zone = zones
            .iter_mut()
            .min_by_key(|(_, count)| **count)
            .map(|(zone, count)| {
                *count += 1;
                zone.clone()
            });
        let instance = Instance {
            model: hidden.model,
            state: Provisioning::Creating,
            power: None,
            created: now,
            since: now,
            etag: 1,
            zone,
            addresses,
            reimaged: 0,
            operation: None,
            failure: None,
            own: None,
        };
        hidden.instances.insert(id, instance);
        made.push(id);
    }
    hidden.next += count + spare;
    Ok(made)
}

/// Documented: instances go from the fullest zone, those with the highest ids first, unless the
/// policy says otherwise or they are protected.
fn shrink(set: &Resource, hidden: &mut ScaleSet, count: u64) -> Vec<u64> {
    let rule = items(&set.body, "/properties/scaleInPolicy/rules")
        .first()
        .and_then(Value::as_str)
        .unwrap_or("Default")
        .to_owned();
    let mut gone = Vec::new();
    for _ in 0..count {
        let zones = zone_counts(set, hidden);
        let fullest = |instance: &Instance| {
            let zone = instance.zone.as_ref().and_then(|zone| zones.get(zone));
            zone.copied().unwrap_or(0)
        };
        let candidates = hidden.living().filter(|(_, one)| !is_protected(one));
        let victim = if same(&rule, "OldestVM") {
            candidates.min_by_key(|(id, one)| (u64::MAX - fullest(one), one.created, *id))
        } else {
            candidates.max_by_key(|(id, one)| (fullest(one), *id))
        };
        let Some(id) = victim.map(|(id, _)| id) else {
            break;
        };
        if let Some(instance) = hidden.instances.get_mut(&id) {
            instance.state = Provisioning::Deleting;
        }
        gone.push(id);
    }
    gone
}

fn is_protected(instance: &Instance) -> bool {
    instance.own.as_ref().is_some_and(|own| {
        flag(own, "/properties/protectionPolicy/protectFromScaleIn") == Some(true)
    })
}

/// The instances that an operation which is being preempted has not ended: its successor does.
pub(crate) fn unfinished(world: &World, set: &Resource, running: Option<&String>) -> Vec<u64> {
    let number = running
        .and_then(|id| world.operation(id))
        .map(|operation| operation.number);
    let hidden = set.hidden.scale_set.as_deref();
    hidden
        .into_iter()
        .flat_map(|hidden| &hidden.instances)
        .filter(|(_, instance)| instance.operation.is_some() && instance.operation == number)
        .map(|(id, _)| *id)
        .collect()
}

/// Notes on instances which operation changes them.
pub(crate) fn mark(set: &mut Resource, ids: &[u64], operation: u64) {
    let Some(hidden) = &mut set.hidden.scale_set else {
        return;
    };
    for id in ids {
        if let Some(instance) = hidden.instances.get_mut(id) {
            instance.operation = Some(operation);
            instance.failure = None;
        }
    }
}
