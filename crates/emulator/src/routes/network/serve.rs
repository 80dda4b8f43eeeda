//! Which network resource a request is about, and what all of them share.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{
    interface, load_balancer, nat_gateway, nat_rule, public_ip, security_group, subnet, usages,
    virtual_network, write,
};
use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    lro,
    routes::common::{self, not_served, page, skip},
    store::{entry::Resource, world::World},
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    let served = kind == row.path.to_lowercase();
    match kind.as_str() {
        "locations/operations" | "locations/operationresults"
            if call.method() == Method::Get && !call.path.is_open() =>
        {
            lro::poll(world, call)
        }
        "locations/usages" if call.method() == Method::Get => usages::list(world, call),
        _ if !served || row.path.starts_with("locations") => Err(not_served(call)),
        "loadbalancers/inboundnatrules" => nat_rule::answer(world, call, row),
        _ if call.path.is_open() => match call.method() {
            Method::Get => Ok(list(world, call, row)),
            Method::Head
            | Method::Put
            | Method::Patch
            | Method::Post
            | Method::Delete
            | Method::Other => Err(not_served(call)),
        },
        _ => match call.method() {
            Method::Get | Method::Head => get(world, call),
            Method::Put => write::put(world, call, row),
            Method::Patch => write::patch(world, call, row),
            Method::Delete => write::delete(world, call, row),
            Method::Post | Method::Other => Err(not_served(call)),
        },
    }
}

fn get(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    if call.path.kind().ends_with("defaultsecurityrules") {
        return security_group::default_rule(world, call);
    }
    let resource = common::resource(world, call)?;
    let shown = show(world, call, resource);
    let etag = crate::json::text(&shown, "/etag")
        .unwrap_or_default()
        .to_owned();
    Ok(Answer::json(200, shown).with_header("ETag", etag))
}

fn list(world: &World, call: &Call<'_>, row: &Type) -> Answer {
    let after = skip(call);
    let name = row.name();
    let parent = row.path.contains('/').then(|| {
        // A list of children: everything below the parent's collection.
        let segments: Vec<&str> = row.path.split('/').collect();
        let names: Vec<&str> = segments
            .iter()
            .zip(&call.path.names)
            .flat_map(|(kind, name)| [*kind, name.as_str()])
            .chain(segments.last().copied())
            .collect();
        format!(
            "/subscriptions/{}/resourcegroups/{}/providers/{}/{}/",
            call.subscription(),
            call.group(),
            row.namespace,
            names.join("/")
        )
    });
    let prefix = parent.or_else(|| {
        call.path.group.as_ref().map(|group| {
            format!(
                "/subscriptions/{}/resourcegroups/{group}/providers/{}/{}/",
                call.subscription(),
                row.namespace,
                row.path
            )
        })
    });
    let found: Box<dyn Iterator<Item = &Resource>> = match prefix {
        Some(prefix) => Box::new(
            world
                .below(&prefix)
                .filter(move |resource| resource.is(&name)),
        ),
        None => Box::new(world.of_kind(call.subscription(), &name, after.as_deref())),
    };
    let items = found
        .filter(|resource| {
            after
                .as_ref()
                .is_none_or(|after| resource.id.key() > after.as_str())
        })
        .map(|resource| (resource.id.key().to_owned(), show(world, call, resource)));
    page(call, items, call.setup.pages.others)
}

/// A network resource as its GET shows it.
pub(crate) fn show(world: &World, call: &Call<'_>, resource: &Resource) -> Value {
    let mut shown = common::base(resource);
    let owner = resource
        .id
        .parent()
        .and_then(|parent| world.resource(&parent));
    let etag = format!("W/\"{}\"", owner.unwrap_or(resource).etag);
    crate::json::set(&mut shown, "/etag", json!(etag));
    // Parts that are no resources show the etag of theirs.
    for part in ["delegations", "ipConfigurations"] {
        for item in crate::json::items_mut(&mut shown, &format!("/properties/{part}")) {
            crate::json::set(item, "/etag", json!(etag));
        }
    }
    match resource.kind.as_str() {
        "Microsoft.Network/virtualNetworks" => {
            virtual_network::complete(world, call, resource, &mut shown);
        }
        "Microsoft.Network/virtualNetworks/subnets" => {
            subnet::complete(world, call, resource, &mut shown);
        }
        "Microsoft.Network/networkSecurityGroups" => {
            security_group::complete(world, call, resource, &mut shown);
        }
        "Microsoft.Network/publicIPAddresses" => {
            public_ip::complete(world, call, resource, &mut shown);
        }
        "Microsoft.Network/natGateways" => {
            nat_gateway::complete(world, call, resource, &mut shown);
        }
        "Microsoft.Network/networkInterfaces" => {
            interface::complete(world, call, resource, &mut shown);
        }
        "Microsoft.Network/loadBalancers" => {
            load_balancer::complete(world, call, resource, &mut shown);
        }
        "Microsoft.Network/loadBalancers/backendAddressPools" => {
            load_balancer::complete_pool(world, resource, &mut shown);
        }
        _ => {}
    }
    shown
}

/// Gives a network resource, or the parent of a child, a new etag.
pub(crate) fn renew(world: &mut World, id: &ArmId) {
    let owner = id.parent().unwrap_or_else(|| id.clone());
    let etag = world.mint();
    let now = world.now();
    world.change(&owner, |resource| {
        if resource.kind.starts_with("Microsoft.Network/") {
            resource.etag = etag;
            resource.changed = now;
        }
    });
}

/// The refusal for a reference to something that is not there or lies elsewhere, or the resource.
pub(crate) fn referenced<'a>(
    world: &'a World,
    id: &str,
    by: &ArmId,
    location: &str,
) -> Result<&'a Resource, ArmError> {
    let found = world.resource_by_key(&id.trim_end_matches('/').to_lowercase());
    let here = found.filter(|found| {
        let home = found
            .id
            .parent()
            .and_then(|parent| world.resource(&parent))
            .unwrap_or(found);
        home.location.eq_ignore_ascii_case(location)
    });
    let Some(resource) = here else {
        return Err(ArmError::network(
            "InvalidResourceReference",
            format!(
                "Resource {id} referenced by resource {by} was not found. Please make sure that \
                 the referenced resource exists, and that both resources are in the same region."
            ),
        ));
    };
    if resource.state() == "Updating" {
        return Err(not_provisioned(world, resource, by));
    }
    Ok(resource)
}

fn not_provisioned(world: &World, resource: &Resource, by: &ArmId) -> ArmError {
    let operation = resource
        .operation
        .as_ref()
        .or_else(|| {
            let parent = resource.id.parent()?;
            world.resource(&parent)?.operation.as_ref()
        })
        .and_then(|id| world.operation(id))
        .map_or("PutResourceOperation", |operation| operation.title.as_str());
    ArmError::new(429, "RetryableError", "A retryable error occurred.").with_details(vec![json!({
        "code": "ReferencedResourceNotProvisioned",
        "message": format!(
            "Cannot proceed with operation because resource {} used by resource {by} is not in \
             Succeeded state. Resource is in {} state and the last operation that updated/is \
             updating the resource is {operation}.",
            resource.id,
            resource.state()
        ),
    })])
}
