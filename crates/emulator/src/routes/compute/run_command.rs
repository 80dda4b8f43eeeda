//! Run commands as resources of a VM. There is no guest, so nothing is run.

use serde_json::{Value, json};

use super::write;
use crate::{
    call::Call,
    durations::RUN_COMMAND,
    error::ArmError,
    http::{Answer, Method},
    json::{default, merge, remove, same, set},
    routes::common::{self, check_name, location, not_served, put_tags, tags},
    store::{entry::Resource, world::World},
    types::Type,
};

const MACHINE: &str = "Microsoft.Compute/virtualMachines";

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if call.path.kind() != "virtualmachines/runcommands" {
        return Err(not_served(call));
    }
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => {
            let vm = write::parent(world, call, MACHINE)?;
            let value: Vec<Value> = world
                .below(&format!("{}/runcommands/", vm.id.key()))
                .map(|found| show(call, found))
                .collect();
            Ok(Answer::json(200, json!({"value": value})))
        }
        (Method::Get, false) => {
            common::resource(world, call).map(|found| Answer::json(200, show(call, found)))
        }
        (Method::Put | Method::Patch, false) => write_command(world, call, row),
        (Method::Delete, false) => Ok(match super::existing(world, call) {
            Some(found) => write::begin_delete(world, call, &found, RUN_COMMAND),
            None => Answer::empty(204),
        }),
        _ => Err(not_served(call)),
    }
}

fn show(call: &Call<'_>, found: &Resource) -> Value {
    let mut shown = common::base(found);
    let views = call
        .query()
        .get("$expand")
        .is_some_and(|expand| same(expand, "instanceView"));
    if views {
        set(
            &mut shown,
            "/properties/instanceView",
            json!({
                "executionState": "Unknown",
                "executionMessage": "The sandbox has no guest to run it in.",
                "exitCode": 0,
                "output": "",
                "error": "",
                "statuses": [],
            }),
        );
    }
    shown
}

fn write_command(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    let vm = write::parent(world, call, MACHINE)?.clone();
    super::machine::not_deleting(&vm)?;
    let mut body = if call.method() == Method::Patch {
        let old = common::resource(world, call)?;
        old.body.clone()
    } else {
        let place = location(&given, row, old.as_ref())?;
        json!({"location": place})
    };
    let new_tags = tags(&given)?;
    let mut given = given;
    remove(&mut given, "/location");
    merge(&mut body, &given);
    if call.method() == Method::Put || new_tags.is_some() {
        put_tags(&mut body, new_tags);
    }
    if body.pointer("/properties/source").is_none() {
        return Err(ArmError::missing_parameter("runCommand.source"));
    }
    for secret in ["protectedParameters", "runAsPassword"] {
        remove(&mut body, &format!("/properties/{secret}"));
    }
    default(&mut body, "/properties/asyncExecution", false);
    default(&mut body, "/properties/timeoutInSeconds", 0);
    let mut made = old
        .clone()
        .unwrap_or_else(|| common::new(world, id, row, &vm.location, Value::Null));
    made.body = body;
    Ok(write::begin(world, call, made, old.is_none(), RUN_COMMAND))
}
