//! Load balancers. Their backend pools are resources of their own, since interfaces and scale sets
//! name them; their other parts stand in the balancer alone.

use std::collections::BTreeSet;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{
    interface::configurations_naming, referenced, renew, show, subnet, write, write::Draft,
};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::Answer,
    json::{default, items, items_mut, remove, same, set, text},
    lro::{self, Twin},
    routes::common::{self, check_name},
    store::{
        entry::{Resource, Work, resource_key},
        world::World,
    },
    types::{self, Type},
};

const POOL: &str = "Microsoft.Network/loadBalancers/backendAddressPools";

/// The parts of a balancer that are no resources.
const PARTS: [&str; 6] = [
    "frontendIPConfigurations",
    "loadBalancingRules",
    "probes",
    "inboundNatRules",
    "outboundRules",
    "inboundNatPools",
];

/// The body of a balancer, without its pools.
pub(crate) fn build(world: &World, draft: &Draft) -> Result<Value, ArmError> {
    let mut body = draft.given.clone();
    crate::json::remove(&mut body, "/properties/backendAddressPools");
    default(&mut body, "/sku/name", "Basic");
    default(&mut body, "/sku/tier", "Regional");
    let mut taken = BTreeSet::new();
    for part in PARTS {
        let place = format!("/properties/{part}");
        default(&mut body, &place, json!([]));
        let mut list = items(&body, &place).to_vec();
        for item in &mut list {
            let name = text(item, "/name").unwrap_or_default().to_owned();
            set(item, "/id", json!(format!("{}/{part}/{name}", draft.id)));
            set(
                item,
                "/type",
                json!(format!("Microsoft.Network/loadBalancers/{part}")),
            );
            set(item, "/properties/provisioningState", json!("Succeeded"));
            if part == "frontendIPConfigurations" {
                front(world, draft, item, &mut taken)?;
            } else {
                fill(part, item);
            }
        }
        set(&mut body, &place, json!(list));
    }
    own_references(draft, &body)?;
    Ok(body)
}

/// Completes a frontend: its address in a subnet, or the public one that it names.
fn front(
    world: &World,
    draft: &Draft,
    front: &mut Value,
    taken: &mut BTreeSet<u32>,
) -> Result<(), ArmError> {
    default(front, "/properties/privateIPAllocationMethod", "Dynamic");
    for member in ["publicIPAddress", "subnet"] {
        let place = format!("/properties/{member}");
        let Some(id) = text(front, &format!("{place}/id")).map(str::to_owned) else {
            continue;
        };
        let found = referenced(world, &id, &draft.id, &draft.location)?;
        set(front, &place, json!({"id": id}));
        if member == "subnet" {
            let name = text(front, "/name").unwrap_or_default();
            let kept = draft.old.as_ref().and_then(|old| {
                items(&old.body, "/properties/frontendIPConfigurations")
                    .iter()
                    .find(|old| text(old, "/name").is_some_and(|old| same(old, name)))
                    .and_then(|old| text(old, "/properties/privateIPAddress"))
                    .map(str::to_owned)
            });
            let address = if let Some(kept) = kept {
                kept
            } else {
                let wanted = text(front, "/properties/privateIPAddress");
                let address = subnet::address(world, found, wanted, taken)?;
                taken.insert(u32::from(address));
                address.to_string()
            };
            set(front, "/properties/privateIPAddress", json!(address));
        }
    }
    Ok(())
}

/// What a rule, probe or pool of ports has that was not given, as far as it was recorded.
fn fill(part: &str, item: &mut Value) {
    let flags: &[&str] = match part {
        "inboundNatPools" | "inboundNatRules" => &[
            "enableFloatingIP",
            "enableDestinationServiceEndpoint",
            "enableTcpReset",
            "allowBackendPortConflict",
        ],
        "loadBalancingRules" => &["enableFloatingIP", "enableTcpReset", "disableOutboundSnat"],
        _ => &[],
    };
    for flag in flags {
        default(item, &format!("/properties/{flag}"), false);
    }
    if !flags.is_empty() {
        default(item, "/properties/idleTimeoutInMinutes", 4);
        spell(item);
    }
    if part == "loadBalancingRules" {
        default(item, "/properties/loadDistribution", "Default");
    }
    if part == "probes" {
        default(item, "/properties/intervalInSeconds", 15);
        default(item, "/properties/numberOfProbes", 2);
    }
}

/// Ports that came as texts become numbers, and the protocol is written as the service does.
fn spell(item: &mut Value) {
    for port in [
        "frontendPort",
        "backendPort",
        "frontendPortRangeStart",
        "frontendPortRangeEnd",
    ] {
        let place = format!("/properties/{port}");
        let number = text(item, &place).and_then(|port| port.parse::<u16>().ok());
        if let Some(number) = number {
            set(item, &place, json!(number));
        }
    }
    let protocol = text(item, "/properties/protocol").and_then(|given| {
        ["All", "Tcp", "Udp"]
            .into_iter()
            .find(|protocol| same(protocol, given))
    });
    if let Some(protocol) = protocol {
        set(item, "/properties/protocol", json!(protocol));
    }
}

/// What rules name must be parts of the same balancer.
fn own_references(draft: &Draft, body: &Value) -> Result<(), ArmError> {
    let mut own: Vec<String> = PARTS
        .iter()
        .flat_map(|part| items(body, &format!("/properties/{part}")))
        .filter_map(|item| text(item, "/id").map(str::to_lowercase))
        .collect();
    for pool in items(&draft.given, "/properties/backendAddressPools") {
        let name = text(pool, "/name").unwrap_or_default();
        own.push(draft.id.child("backendAddressPools", name).key().to_owned());
    }
    for part in PARTS {
        for item in items(body, &format!("/properties/{part}")) {
            for member in ["frontendIPConfiguration", "backendAddressPool", "probe"] {
                let id = text(item, &format!("/properties/{member}/id"));
                if let Some(id) = id
                    && !own.contains(&id.to_lowercase())
                {
                    let by = text(item, "/id").unwrap_or_default();
                    return Err(ArmError::network(
                        "InvalidResourceReference",
                        format!(
                            "Resource {id} referenced by resource {by} was not found. Please make \
                             sure that the referenced resource exists, and that both resources \
                             are in the same region."
                        ),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Writes the pools of a balancer's body and removes those that it leaves out; answers whether
/// anything changed.
pub(crate) fn put_pools(
    world: &mut World,
    balancer: &ArmId,
    given: &Value,
) -> Result<bool, ArmError> {
    let pools = items(given, "/properties/backendAddressPools").to_vec();
    let ids: Vec<ArmId> = pools
        .iter()
        .map(|pool| {
            balancer.child(
                "backendAddressPools",
                text(pool, "/name").unwrap_or_default(),
            )
        })
        .collect();
    let gone: Vec<Resource> = world
        .below(&format!("{balancer}/backendAddressPools/"))
        .filter(|pool| !ids.contains(&pool.id))
        .cloned()
        .collect();
    let mut changed = !gone.is_empty();
    for pool in gone {
        check_free(world, &pool)?;
        world.remove(&resource_key(pool.id.key()));
    }
    for (id, pool) in ids.iter().zip(&pools) {
        changed |= store(world, id, pool, "Succeeded");
    }
    Ok(changed)
}

/// Stores a pool; answers whether it changed.
fn store(world: &mut World, id: &ArmId, given: &Value, state: &str) -> bool {
    let Some(row) = types::named(POOL) else {
        return false;
    };
    let mut body = json!({"properties": given.get("properties").cloned().unwrap_or(json!({}))});
    let old = world.resource(id).cloned();
    set(
        &mut body,
        "/properties/provisioningState",
        json!("Succeeded"),
    );
    if old.as_ref().is_some_and(|old| old.body == body) {
        return false;
    }
    let mut pool = old.unwrap_or_else(|| common::new(world, id.clone(), row, "", Value::Null));
    pool.body = body;
    pool.set_state(state);
    world.put_resource(pool);
    true
}

/// A PUT of a pool alone.
pub(crate) fn put_pool(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| common::not_served(call))?;
    let new = world.resource(&id).is_none();
    let place = id
        .parent()
        .and_then(|parent| world.resource(&parent))
        .map(|balancer| balancer.location.clone())
        .unwrap_or_default();
    store(world, &id, &given, "Updating");
    let timing = durations::network(POOL, Work::Settle);
    let operation = write::begin(world, call, &id, &place, row, Work::Settle, timing);
    renew(world, &id);
    let shown = world
        .resource(&id)
        .map(|pool| show(world, call, pool))
        .unwrap_or_default();
    Ok(lro::announce(
        Answer::json(if new { 201 } else { 200 }, shown),
        call,
        &operation,
        Twin::No,
        timing.retry_after,
    ))
}

/// Adds what a balancer's GET shows beside its own body: its pools, and who names its parts.
pub(crate) fn complete(world: &World, call: &Call<'_>, resource: &Resource, shown: &mut Value) {
    let pools: Vec<Value> = world
        .below(&format!("{}/backendAddressPools/", resource.id))
        .map(|pool| show(world, call, pool))
        .collect();
    set(shown, "/properties/backendAddressPools", json!(pools));
    let etag = shown.get("etag").cloned().unwrap_or_default();
    for part in PARTS {
        for item in items_mut(shown, &format!("/properties/{part}")) {
            set(item, "/etag", etag.clone());
            // Not in the schema; recorded at versions before this one.
            if call.since("2024-03-01") {
                remove(item, "/properties/enableDestinationServiceEndpoint");
                remove(item, "/properties/allowBackendPortConflict");
            }
        }
    }
    // A frontend names the parts that name it.
    let named: Vec<(String, &str, String)> = PARTS
        .iter()
        .flat_map(|part| {
            items(&resource.body, &format!("/properties/{part}"))
                .iter()
                .filter_map(|item| {
                    let front = text(item, "/properties/frontendIPConfiguration/id")?;
                    Some((front.to_lowercase(), *part, text(item, "/id")?.to_owned()))
                })
        })
        .collect();
    for front in items_mut(shown, "/properties/frontendIPConfigurations") {
        let id = text(front, "/id").unwrap_or_default().to_lowercase();
        for part in PARTS {
            let users: Vec<Value> = named
                .iter()
                .filter(|(front, kind, _)| *front == id && *kind == part)
                .map(|(_, _, id)| json!({"id": id}))
                .collect();
            if !users.is_empty() {
                set(front, &format!("/properties/{part}"), json!(users));
            }
        }
    }
}

/// Adds what a pool's GET shows beside its own body: the interfaces in it.
pub(crate) fn complete_pool(world: &World, resource: &Resource, shown: &mut Value) {
    let members: Vec<Value> = world
        .users(resource.id.key())
        .flat_map(|user| configurations_naming(user, &resource.id))
        .map(|id| json!({"id": id}))
        .collect();
    if !members.is_empty() {
        set(shown, "/properties/backendIPConfigurations", json!(members));
    }
}

/// Refuses to delete a balancer or a pool that interfaces or scale sets name. Quoted in public
/// issues for scale sets; made after it for interfaces.
pub(crate) fn check_free(world: &World, resource: &Resource) -> Result<(), ArmError> {
    let pools: Vec<&Resource> = if resource.is(POOL) {
        vec![resource]
    } else {
        world
            .below(&format!("{}/backendAddressPools/", resource.id))
            .collect()
    };
    let user = pools.into_iter().find_map(|pool| {
        let user = world
            .users(pool.id.key())
            .find(|user| !user.id.key().starts_with(resource.id.key()))?;
        Some((pool.name().to_owned(), user))
    });
    let Some((pool, user)) = user else {
        return Ok(());
    };
    let (code, kind) = if user.is("Microsoft.Compute/virtualMachineScaleSets") {
        (
            "LoadBalancerInUseByVirtualMachineScaleSet",
            "virtual machine scale set",
        )
    } else {
        ("LoadBalancerInUse", "resource")
    };
    Err(ArmError::network(
        code,
        format!(
            "Cannot delete load balancer {} since its child resources {pool} are in use by {kind} \
             {}.",
            resource.id, user.id
        ),
    ))
}
