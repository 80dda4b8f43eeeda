//! Extensions of a scale set's profile, as resources of their own.

use serde_json::{Value, json};

use super::{profile, scale, serve};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::{Answer, Method},
    json::{items, merge, remove, same, set, text},
    lro::{self, Plan, Twin},
    routes::common::{check_name, not_served},
    store::{
        entry::{Entry, Resource, Style, Work},
        world::World,
    },
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let set_ = serve::set_of(world, call)?.clone();
    if call.method() == Method::Get && call.path.is_open() {
        let all: Vec<Value> = extensions(&set_)
            .iter()
            .map(|extension| show(&set_, extension))
            .collect();
        return Ok(Answer::json(200, json!({"value": all})));
    }
    let name = call.path.name(1).to_owned();
    let found = extensions(&set_)
        .into_iter()
        .find(|one| text(one, "/name").is_some_and(|own| same(own, &name)));
    match (call.method(), call.path.is_open()) {
        (Method::Get, false) => found
            .map(|extension| Answer::json(200, show(&set_, &extension)))
            .ok_or_else(|| missing(&set_, &name)),
        (Method::Put | Method::Patch, false) => write(world, call, row, &set_, found.as_ref()),
        (Method::Delete, false) if found.is_none() => Ok(Answer::empty(204)),
        (Method::Delete, false) => {
            let kept = without(&set_, &name);
            Ok(store(
                world,
                call,
                &set_,
                &kept,
                Answer::empty(202),
                Twin::Yes,
            ))
        }
        _ => Err(not_served(call)),
    }
}

fn place() -> String {
    format!("{}/extensionProfile/extensions", profile::PLACE)
}

fn extensions(set: &Resource) -> Vec<Value> {
    items(&set.body, &place()).to_vec()
}

fn without(set: &Resource, name: &str) -> Vec<Value> {
    let mut kept = extensions(set);
    kept.retain(|one| !text(one, "/name").is_some_and(|own| same(own, name)));
    kept
}

fn missing(set: &Resource, name: &str) -> ArmError {
    ArmError::new(
        404,
        "NotFound",
        format!(
            "The VM scale set extension '{name}' was not found in VM scale set '{}'.",
            set.name()
        ),
    )
}

fn show(of: &Resource, extension: &Value) -> Value {
    let name = text(extension, "/name").unwrap_or_default();
    let mut shown = json!({
        "name": name,
        "id": of.id.child("extensions", name).as_str(),
        "type": "Microsoft.Compute/virtualMachineScaleSets/extensions",
        "properties": extension.get("properties"),
    });
    set(
        &mut shown,
        "/properties/provisioningState",
        json!(if of.state() == "Updating" {
            "Updating"
        } else {
            "Succeeded"
        }),
    );
    shown
}

fn write(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    set_: &Resource,
    old: Option<&Value>,
) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let mut given = call.body(row)?;
    let name = call.path.name(1).to_owned();
    remove(&mut given, "/properties/protectedSettings");
    let mut extension = match (old, call.method()) {
        (Some(old), Method::Patch) => old.clone(),
        (None, Method::Patch) => return Err(missing(set_, &name)),
        _ => json!({}),
    };
    merge(&mut extension, &given);
    set(&mut extension, "/name", json!(name));
    crate::routes::compute::extension::check(&extension)?;
    crate::json::default(&mut extension, "/properties/autoUpgradeMinorVersion", false);
    let mut all = without(set_, &name);
    all.push(extension.clone());
    let mut shown = show(set_, &extension);
    let (status, state) = if old.is_some() {
        (200, "Updating")
    } else {
        (201, "Creating")
    };
    set(&mut shown, "/properties/provisioningState", json!(state));
    let answer = Answer::json(status, shown);
    Ok(store(world, call, set_, &all, answer, Twin::No))
}

/// Stores the extensions of a set's profile and begins an operation.
fn store(
    world: &mut World,
    call: &Call<'_>,
    set_: &Resource,
    extensions: &[Value],
    answer: Answer,
    twin: Twin,
) -> Answer {
    let timing = durations::scale_set("extension");
    let unfinished = scale::unfinished(world, set_, set_.operation.as_ref());
    if let Some(running) = &set_.operation {
        lro::preempt(world, running);
    }
    let mut operation = lro::begin(
        world,
        call,
        &Plan {
            target: &set_.id,
            location: &set_.location,
            style: Style::Compute,
            work: Work::CreateMachine,
            title: "UpdateVMScaleSet",
            timing,
        },
    );
    operation.instances.clone_from(&unfinished);
    world.put(Entry::Operation(Box::new(operation.clone())));
    world.change(&set_.id, |set_| {
        scale::mark(set_, &unfinished, operation.number);
        set(&mut set_.body, &place(), json!(extensions));
        set_.set_state("Updating");
        set_.operation = Some(operation.id.clone());
        let shown = set_.body.pointer(profile::PLACE).cloned();
        if let (Some(hidden), Some(shown)) = (&mut set_.hidden.scale_set, shown)
            && let Some(mut model) = hidden.latest().cloned()
        {
            model.profile = shown;
            remove(&mut model.profile, "/timeCreated");
            hidden.renew(model);
        }
        crate::work::count(set_, 1);
    });
    lro::announce(answer, call, &operation, twin, timing.retry_after)
}
