//! Which provider answers a request.

use super::{
    compute, deployments, groups, network, providers, resources, services, subscriptions, tags,
};
use crate::{
    call::Call,
    error::ArmError,
    gateway::Admitted,
    http::{Answer, Method},
    lro,
    store::{entry::Resource, world::World},
};

/// Answers a request that the gateway let through.
pub(crate) fn answer(world: &mut World, admitted: &Admitted<'_>) -> Result<Answer, ArmError> {
    let call = &admitted.call;
    services::locks::check(world, call, admitted.row)?;
    match admitted.row {
        Some(row) if row.namespace == "Microsoft.Compute" => compute::answer(world, call, row),
        Some(row) if row.namespace == "Microsoft.Network" => network::answer(world, call, row),
        Some(row) if row.path == "tags" => tags::answer(world, call),
        Some(row) if row.path.starts_with("deployments") => deployments::answer(world, call, row),
        Some(row) => services::answer(world, call, row),
        None => own(world, call),
    }
}

/// ARM's own paths.
fn own(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    let scoped = call.path.subscription.is_some();
    if call.path.namespace.is_some() || (kind == "providers" && scoped) {
        return providers::answer(world, call);
    }
    match (kind.as_str(), scoped, call.path.group.is_some()) {
        ("", true, true) | ("resourcegroups", true, false) => groups::answer(world, call),
        ("resources", true, _) => resources::answer(world, call),
        // The older path of a list that clients still use.
        ("deployments/operations", true, true) if call.method() == Method::Get => {
            deployments::operations(world, call)
        }
        ("operationresults", true, false) if call.method() == Method::Get => {
            lro::poll_group(world, call)
        }
        ("" | "locations", true, false) | ("subscriptions" | "tenants", false, false) => {
            subscriptions::answer(world, call)
        }
        _ => Err(ArmError::gateway(
            404,
            "NotFound",
            format!("No path '{}' is known.", call.incoming.path),
        )),
    }
}

/// The id of a resource as answers show it.
pub(crate) fn shown_id(call: &Call<'_>, resource: &Resource) -> String {
    if call.setup.quirks && resource.is("Microsoft.Compute/sshPublicKeys") {
        compute::ssh_key::loud(resource)
    } else {
        resource.id.to_string()
    }
}
