//! The pools of nodes of an AKS cluster.

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{
    cluster::{idle, invalid, refusal, running},
    serve::{Draft, quiet_id},
};
use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    json::{default, items, merge, number, remove, same, set, text},
    routes::{
        common,
        compute::quota::{self, Short},
    },
    store::{entry::Resource, world::World},
    types,
};

const KIND: &str = "Microsoft.ContainerService/managedClusters/agentPools";

/// The image that nodes boot: the newest one recorded.
const IMAGE: &str = "AKSUbuntu-2204gen2containerd-202405.27.0";

/// The pools of a cluster.
pub(super) fn of<'a>(
    world: &'a World,
    cluster: &ArmId,
) -> impl Iterator<Item = &'a Resource> + use<'a> {
    world
        .below(&format!("{}/agentPools/", cluster.key()))
        .filter(|pool| pool.is(KIND))
}

/// What a pool is made from.
struct Plan<'a> {
    id: &'a ArmId,
    cluster: &'a Value,
    location: &'a str,
    old: Option<&'a Resource>,
}

/// The body of a pool that is written alone.
pub(super) fn build(
    world: &mut World,
    call: &Call<'_>,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    if let Some(old) = &draft.old {
        idle(world, old, "agent pool")?;
    }
    let cluster = draft
        .id
        .parent()
        .and_then(|id| world.resource(&id).cloned())
        .ok_or_else(|| missing(call, &draft.id))?;
    // Pools are added side by side, but not to a cluster that is itself changing.
    idle(world, &cluster, "managed cluster")?;
    let given = json!({"properties": draft.given.get("properties").cloned().unwrap_or_default()});
    let plan = Plan {
        id: &draft.id,
        cluster: &cluster.body,
        location: &draft.place,
        old: draft.old.as_ref(),
    };
    let body = complete(world, call, &plan, &given)?;
    draft.quota = uses(&body);
    draft.state = Some(state(draft.old.as_ref(), &body));
    Ok(body)
}

/// A pool that is written with its cluster.
pub(super) fn inline(
    world: &World,
    call: &Call<'_>,
    draft: &Draft,
    cluster: &Value,
    profile: Value,
) -> Result<Resource, ArmError> {
    let mut profile = profile;
    let name = remove(&mut profile, "/name");
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    let row = types::named(KIND).ok_or_else(|| common::not_served(call))?;
    if let Some(rule) = row.names {
        rule.check(name)?;
    }
    let id = draft.id.child("agentPools", name);
    let old = world.resource(&id).cloned();
    let plan = Plan {
        id: &id,
        cluster,
        location: &draft.place,
        old: old.as_ref(),
    };
    let body = complete(world, call, &plan, &json!({"properties": profile}))?;
    let changed = old.as_ref().is_none_or(|old| {
        let without = |body: &Value| {
            let mut body = body.clone();
            remove(&mut body, "/properties/provisioningState");
            body
        };
        without(&old.body) != without(&body)
    });
    let state = match (&old, changed) {
        (None, _) => "Creating",
        (Some(_), false) => "Succeeded",
        (Some(_), true) => state(old.as_ref(), &body),
    };
    let mut pool = old.unwrap_or_else(|| common::new(world, id, row, &draft.place, Value::Null));
    pool.hidden.quota = uses(&body);
    pool.body = body;
    pool.set_state(state);
    Ok(pool)
}

/// What a changed pool says while it changes.
fn state(old: Option<&Resource>, body: &Value) -> &'static str {
    let differs = |member: &str| {
        let place = format!("/properties/{member}");
        old.is_some_and(|old| old.body.pointer(&place) != body.pointer(&place))
    };
    if differs("orchestratorVersion") {
        "Upgrading"
    } else if differs("count") {
        "Scaling"
    } else {
        "Updating"
    }
}

/// Checks a pool and fills in what was not given, as recorded.
fn complete(
    world: &World,
    call: &Call<'_>,
    plan: &Plan<'_>,
    given: &Value,
) -> Result<Value, ArmError> {
    let mut body = given.clone();
    clean(&mut body);
    if let Some(old) = plan.old {
        let mut merged = old.body.clone();
        for list in ["nodeLabels", "nodeTaints", "tags"] {
            remove(&mut merged, &format!("/properties/{list}"));
        }
        merge(&mut merged, &body);
        fixed(&old.body, &merged)?;
        body = merged;
    }
    let size = text(&body, "/properties/vmSize")
        .ok_or_else(|| invalid("vmSize", "Required parameter vmSize is missing (null)."))?
        .to_owned();
    check_size(world, call, plan, &body, &size)?;
    spot(&mut body);
    let kubenet = text(plan.cluster, "/properties/networkProfile/networkPlugin")
        .is_some_and(|plugin| same(plugin, "kubenet"));
    let version = text(plan.cluster, "/properties/kubernetesVersion").unwrap_or_default();
    for (member, value) in [
        ("count", json!(1)),
        ("osDiskSizeGB", json!(128)),
        ("osDiskType", json!(disk_type(&size))),
        ("kubeletDiskType", json!("OS")),
        ("maxPods", json!(if kubenet { 110 } else { 30 })),
        ("type", json!("VirtualMachineScaleSets")),
        ("scaleDownMode", json!("Delete")),
        ("powerState/code", json!("Running")),
        ("orchestratorVersion", json!(version)),
        ("mode", json!("User")),
        ("osType", json!("Linux")),
        ("enableFIPS", json!(false)),
    ] {
        default(&mut body, &format!("/properties/{member}"), value);
    }
    let windows = text(&body, "/properties/osType").is_some_and(|os| same(os, "Windows"));
    if windows && plan.id.name().len() > 6 {
        return Err(invalid(
            "agentPoolProfile.name",
            "Windows agent pool name can not be longer than 6 characters.",
        ));
    }
    if !windows {
        default(&mut body, "/properties/osSKU", "Ubuntu");
        default(&mut body, "/properties/nodeImageVersion", IMAGE);
    }
    let version = running(text(&body, "/properties/orchestratorVersion").unwrap_or_default());
    set(
        &mut body,
        "/properties/currentOrchestratorVersion",
        json!(version),
    );
    check_counts(&body)?;
    let none = BTreeMap::new();
    let had = plan.old.map_or(&none, |old| &old.hidden.quota);
    enough(world, call, plan.location, had, &uses(&body))?;
    Ok(body)
}

/// Empty values are not kept.
fn clean(body: &mut Value) {
    for member in ["nodeLabels", "nodeTaints", "tags", "orchestratorVersion"] {
        let place = format!("/properties/{member}");
        let empty = body
            .pointer(&place)
            .is_some_and(|value| [json!({}), json!([]), json!("")].contains(value));
        if empty {
            remove(body, &place);
        }
    }
    if number(body, "/properties/osDiskSizeGB") == Some(0) {
        remove(body, "/properties/osDiskSizeGB");
    }
}

/// Properties that a pool keeps.
fn fixed(old: &Value, new: &Value) -> Result<(), ArmError> {
    for member in [
        "vmSize",
        "osDiskSizeGB",
        "osDiskType",
        "osType",
        "maxPods",
        "scaleSetPriority",
        "vnetSubnetID",
        "availabilityZones",
        "gpuInstanceProfile",
        "gpuProfile",
    ] {
        let place = format!("/properties/{member}");
        let (had, wanted) = (old.pointer(&place), new.pointer(&place));
        let equal = match (had, wanted) {
            (Some(Value::String(had)), Some(Value::String(wanted))) => same(had, wanted),
            (None, Some(Value::String(wanted))) => same(wanted, "Regular"),
            (had, wanted) => had == wanted,
        };
        if !equal {
            return Err(refusal(
                400,
                "PropertyChangeNotAllowed",
                format!("Changing property 'properties.{member}' is not allowed."),
            )
            .with_target(format!("properties.{member}")));
        }
    }
    Ok(())
}

fn check_size(
    world: &World,
    call: &Call<'_>,
    plan: &Plan<'_>,
    body: &Value,
    size: &str,
) -> Result<(), ArmError> {
    let location = plan.location;
    let zones: Vec<&str> = items(body, "/properties/availabilityZones")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let known = catalogue::offers(location).is_some();
    let offer = catalogue::offer(location, size);
    let missing = offer.is_some_and(|offer| zones.iter().any(|zone| !offer.zones.contains(*zone)));
    let restricted = world
        .restriction(call.subscription(), location, size)
        .is_some_and(|restriction| {
            restriction.zones.is_empty()
                || zones.iter().any(|zone| restriction.zones.contains(*zone))
        });
    if missing && !restricted {
        return Err(refusal(
            400,
            "AvailabilityZoneNotSupported",
            format!(
                "Preflight validation check for resource(s) for container service failed. The \
                 zone(s) '{}' for size {size} is not supported in location '{location}'.",
                zones.join(",")
            ),
        ));
    }
    if catalogue::size(size).is_none() || (known && offer.is_none()) || restricted {
        return Err(refusal(
            400,
            "BadRequest",
            format!(
                "The VM size of {size} is not allowed in your subscription in location \
                 '{location}'."
            ),
        ));
    }
    match text(body, "/properties/vnetSubnetID") {
        Some(subnet) if world.resource_by_key(&subnet.to_lowercase()).is_none() => {
            // Recorded with this code and status.
            Err(refusal(
                500,
                "GetVnetError",
                format!("The subnet '{subnet}' of the agent pool was not found."),
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// Recorded: what says that a pool is not Spot is not shown; a Spot pool gets a label and a taint.
fn spot(body: &mut Value) {
    let priority = "/properties/scaleSetPriority";
    if !text(body, priority).is_some_and(|priority| same(priority, "Spot")) {
        for member in ["scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice"] {
            remove(body, &format!("/properties/{member}"));
        }
        return;
    }
    default(body, "/properties/scaleSetEvictionPolicy", "Delete");
    default(body, "/properties/spotMaxPrice", json!(-1.0));
    let mut labels = body
        .pointer("/properties/nodeLabels")
        .cloned()
        .unwrap_or_else(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(
            "kubernetes.azure.com/scalesetpriority".to_owned(),
            json!("spot"),
        );
    }
    set(body, "/properties/nodeLabels", labels);
    let taint = json!("kubernetes.azure.com/scalesetpriority=spot:NoSchedule");
    let mut taints = items(body, "/properties/nodeTaints").to_vec();
    if !taints.contains(&taint) {
        taints.push(taint);
    }
    set(body, "/properties/nodeTaints", json!(taints));
}

/// Which OS disk a size gets. Recorded: a large GPU size gets an ephemeral one, a small one with a
/// small cache a managed one; the catalogue does not know how large caches are.
fn disk_type(size: &str) -> &'static str {
    let found = catalogue::size(size);
    let large = found.is_some_and(|size| size.ephemeral_os_disk == Some(true) && size.vcpus >= 8);
    if large { "Ephemeral" } else { "Managed" }
}

fn check_counts(body: &Value) -> Result<(), ArmError> {
    let of = |member: &str| number(body, &format!("/properties/{member}"));
    let system = text(body, "/properties/mode").is_some_and(|mode| same(mode, "System"));
    let count = of("count").unwrap_or(0);
    if count > 1_000 || (system && count == 0) {
        return Err(invalid(
            "agentPoolProfile.count",
            format!(
                "The value of parameter agentPoolProfile.count is invalid. A pool has {} to 1000 \
                 nodes, found {count}.",
                u8::from(system)
            ),
        ));
    }
    if body.pointer("/properties/enableAutoScaling") != Some(&json!(true)) {
        return Ok(());
    }
    match (of("minCount"), of("maxCount")) {
        (Some(low), Some(high)) if low <= high => Ok(()),
        _ => Err(invalid(
            "agentPoolProfile.minCount",
            "A pool that scales by itself needs 'minCount' and 'maxCount', in this order.",
        )),
    }
}

/// What a pool uses of the counters of its region.
fn uses(body: &Value) -> BTreeMap<String, u64> {
    let count = number(body, "/properties/count").unwrap_or(0);
    let spot = text(body, "/properties/scaleSetPriority").is_some();
    let machine = json!({"properties": {
        "hardwareProfile": {"vmSize": text(body, "/properties/vmSize")},
        "priority": if spot { "Spot" } else { "Regular" },
    }});
    quota::of_machine(&machine)
        .into_iter()
        // Nodes are instances of scale sets, which count no VMs.
        .filter(|(name, _)| name != "virtualMachines")
        .map(|(name, amount)| (name, amount.saturating_mul(count)))
        .collect()
}

/// Refuses nodes that a quota has no room for; the code is quoted in public issues.
fn enough(
    world: &World,
    call: &Call<'_>,
    location: &str,
    old: &BTreeMap<String, u64>,
    new: &BTreeMap<String, u64>,
) -> Result<(), ArmError> {
    let short = quota::short(world, call.subscription(), location, old, new);
    match short {
        None => Ok(()),
        Some(Short {
            name,
            limit,
            used,
            more,
        }) => Err(refusal(
            400,
            "ErrCode_InsufficientVCPUQuota",
            format!(
                "Insufficient vcpu quota requested {more}, remaining {} for family {name} for \
                 region {location}.",
                limit.saturating_sub(used)
            ),
        )),
    }
}

/// The pool as its GET shows it.
pub(super) fn show(_: &World, call: &Call<'_>, pool: &Resource) -> Value {
    let mut shown = common::base(pool);
    set(&mut shown, "/id", quiet_id(call, pool));
    if call.since("2024-09-01") {
        set(&mut shown, "/properties/eTag", json!(pool.etag));
    }
    shown
}

/// The pool as its cluster shows it.
pub(super) fn profile(call: &Call<'_>, pool: &Resource) -> Value {
    let mut shown = pool.body.get("properties").cloned().unwrap_or_default();
    set(&mut shown, "/name", json!(pool.name()));
    if call.since("2024-09-01") {
        set(&mut shown, "/eTag", json!(pool.etag));
    }
    shown
}

/// The refusal of a pool that is not there, as recorded.
pub(super) fn missing(call: &Call<'_>, id: &ArmId) -> ArmError {
    ArmError::new(
        404,
        "NotFound",
        format!(
            "Could not find the agentpool: {} in subscription: {}, resourceGroup: {}, \
             resourceName: {}.",
            id.name(),
            call.subscription(),
            id.group().unwrap_or_default(),
            id.parent().as_ref().map_or("", ArmId::name)
        ),
    )
    .with_details(vec![json!({
        "code": "Unspecified",
        "message": "rpc error: code = NotFound desc = Agent Pool not found",
    })])
    .with_member("subcode", json!("GetAgentPool_NotFound"))
    .bare()
}

/// Refuses to delete the last pool for the cluster's own work.
pub(super) fn free(world: &World, pool: &Resource) -> Result<(), ArmError> {
    let system = |pool: &Resource| {
        text(&pool.body, "/properties/mode").is_some_and(|mode| same(mode, "System"))
    };
    let cluster = pool.id.parent();
    let others = cluster.is_some_and(|cluster| {
        of(world, &cluster).any(|other| other.id != pool.id && system(other))
    });
    if system(pool) && !others {
        return Err(refusal(
            400,
            "OperationNotAllowed",
            "There has to be at least one system agent pool.",
        ));
    }
    idle(world, pool, "agent pool")
}
