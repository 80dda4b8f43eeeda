//! Which request on VMs is which, and the preconditions of their writes.

use serde_json::json;

use super::{action, create, update, view};
use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::{Answer, Method},
    json::{same, text},
    routes::{
        common::{self, not_served},
        compute::{self, extension, scale_set, skus},
    },
    store::{entry::Resource, world::World},
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    match (call.method(), kind.as_str(), call.path.is_open()) {
        (Method::Get, "virtualmachines", true) => list(world, call, row),
        (Method::Get, "virtualmachines", false) => {
            common::resource(world, call).map(|vm| get(world, call, vm))
        }
        (Method::Get, "virtualmachines/instanceview", true) => {
            common::resource(world, call).map(|vm| Answer::json(200, instance(world, vm)))
        }
        (Method::Get, "virtualmachines/vmsizes", true) => sizes(world, call),
        (Method::Put, "virtualmachines", false) => create::put(world, call, row),
        (Method::Patch, "virtualmachines", false) => update::patch(world, call, row),
        (Method::Delete, "virtualmachines", false) => action::delete(world, call),
        (Method::Post, _, true) => action::post(world, call),
        _ => Err(not_served(call)),
    }
}

/// The instance view of a VM, with what the guest says of its extensions.
fn instance(world: &World, vm: &Resource) -> serde_json::Value {
    let mut shown = view::instance(vm);
    extension::add_views(world, vm, &mut shown);
    shown
}

fn get(world: &World, call: &Call<'_>, vm: &Resource) -> Answer {
    let expand = call
        .query()
        .get("$expand")
        .unwrap_or_default()
        .to_lowercase();
    let mut shown = view::show(call, vm);
    extension::add(world, vm, &mut shown);
    if expand.contains("instanceview") {
        crate::json::set(&mut shown, "/properties/instanceView", instance(world, vm));
        // Recorded: no `ETag` header with the instance view.
        return Answer::json(200, shown);
    }
    if expand.contains("userdata")
        && let Some(machine) = &vm.hidden.machine
        && let Some(data) = &machine.user_data
    {
        crate::json::set(&mut shown, "/properties/userData", json!(data));
    }
    let etag = text(&shown, "/etag").map(str::to_owned);
    let answer = Answer::json(200, shown);
    match etag {
        Some(etag) => answer.with_header("ETag", etag),
        None => answer,
    }
}

fn list(world: &World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let query = call.query();
    let after = common::skip(call);
    let members = match query.get("$filter") {
        Some(filter) => Some(members_of(world, filter, after.as_deref())?),
        None => None,
    };
    let status = query
        .get("statusOnly")
        .is_some_and(|flag| same(flag, "true"));
    let expand = query.get("$expand").unwrap_or_default().to_lowercase();
    let views = expand.contains("instanceview");
    if views && members.is_none() {
        return Err(ArmError::invalid_parameter(
            "$expand",
            "The expand expression is supported only with a filter for a scale set. Use \
             statusOnly=true for the status of all virtual machines.",
        ));
    }
    let size = call.setup.pages.virtual_machines;
    let show = |vm: &Resource| {
        if status {
            let mut shown = view::status(call, vm);
            if let Some(view) = shown.pointer_mut("/properties/instanceView") {
                extension::add_views(world, vm, view);
            }
            return shown;
        }
        let mut shown = view::show(call, vm);
        extension::add_ids(world, vm, &mut shown);
        if views {
            crate::json::set(&mut shown, "/properties/instanceView", instance(world, vm));
        }
        shown
    };
    let Some(members) = members else {
        return Ok(compute::list(world, call, row, size, show));
    };
    let group = call.path.group.as_deref();
    let items = members
        .filter(|vm| group.is_none_or(|group| vm.id.group().is_some_and(|own| same(own, group))))
        .map(|vm| (vm.id.key().to_owned(), show(vm)));
    Ok(common::page(call, items, size))
}

/// The VMs of the scale set that a filter names, from behind one of them; clients quote the field
/// or the id, or both.
fn members_of<'a>(
    world: &'a World,
    filter: &str,
    after: Option<&str>,
) -> Result<impl Iterator<Item = &'a Resource> + use<'a>, ArmError> {
    let mut parts = filter.splitn(2, " eq ");
    let bare = |part: Option<&str>| {
        part.unwrap_or_default()
            .trim()
            .trim_matches('\'')
            .to_owned()
    };
    let (field, id) = (bare(parts.next()), bare(parts.next()));
    if !same(&field, "virtualMachineScaleSet/id") || id.is_empty() {
        return Err(ArmError::invalid_parameter(
            "$filter",
            format!(
                "The filter '{filter}' is not supported. Only 'virtualMachineScaleSet/id' eq is."
            ),
        ));
    }
    let set = world.resource_by_key(&id.trim_end_matches('/').to_lowercase());
    let after = after.map(ToOwned::to_owned);
    Ok(set
        .into_iter()
        .flat_map(move |set| scale_set::flexible::machines_after(world, set, after.as_deref())))
}

/// Sizes that a VM can change to: of its family while it holds hardware, else all of the region.
fn sizes(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let vm = common::resource(world, call)?;
    let current = text(&vm.body, "/properties/hardwareProfile/vmSize").and_then(catalogue::size);
    let allocated = vm
        .hidden
        .machine
        .as_ref()
        .is_some_and(crate::store::entry::Machine::is_allocated);
    let value: Vec<serde_json::Value> = catalogue::offers(&vm.location)
        .into_iter()
        .flat_map(model::catalog::RegionOffers::iter)
        .filter_map(|offer| catalogue::size(offer.size.as_str()))
        .filter(|size| !allocated || current.is_some_and(|current| current.family == size.family))
        .map(skus::legacy)
        .collect();
    Ok(Answer::json(200, json!({"value": value})))
}

/// Whether the preconditions of a write hold.
pub(crate) fn preconditions(call: &Call<'_>, old: Option<&Resource>) -> Result<(), ArmError> {
    let failed = |name: &str| {
        ArmError::new(
            412,
            "PreconditionFailed",
            format!(
                "The precondition given in the request header '{name}' evaluated to false: the \
                 resource {} or has changed.",
                if old.is_some() {
                    "exists"
                } else {
                    "does not exist"
                }
            ),
        )
    };
    if call
        .incoming
        .header("if-none-match")
        .is_some_and(|tag| tag.trim() == "*")
        && old.is_some()
    {
        return Err(failed("If-None-Match"));
    }
    if let Some(wanted) = call.incoming.header("if-match") {
        let current = old.map(|old| format!("\"{}\"", old.etag));
        let holds = match (&current, wanted.trim()) {
            (Some(_), "*") => true,
            (Some(current), wanted) => wanted.trim_start_matches("W/") == current,
            (None, _) => false,
        };
        if !holds {
            return Err(failed("If-Match"));
        }
    }
    Ok(())
}

/// Refuses a change of what is being deleted.
pub(crate) fn not_deleting(vm: &Resource) -> Result<(), ArmError> {
    if vm.state() != "Deleting" {
        return Ok(());
    }
    Err(ArmError::not_allowed(format!(
        "Operation is not allowed on VM '{}' since the VM is marked for deletion. You can only \
         retry the Delete operation (or wait for an ongoing one to complete).",
        vm.name()
    )))
}
