//! Clusters of Azure Kubernetes Service and their agent pools, by raw bodies.
//!
//! A pool tells no place of its own: whoever reads it puts that of its cluster in. Its tags are
//! among its properties. There is no PATCH: what is live is written back with what changes.

use std::collections::BTreeMap;

use model::{
    resource::{AgentPool, ClusterNetwork, KubernetesCluster, SYSTEM_POOL, SystemPool, VmPriority},
    spec::Eviction,
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::{Value, json};

use super::{
    DecodeError, EncodeError,
    fields::{
        id, items, location, member, number, required, required_number, text, texts, unsupported,
    },
    identity,
    patch::Change,
};

/// What AKS keeps for itself among labels and taints.
const OWN: &str = "kubernetes.azure.com/";

/// What AKS tells of a pool and takes from nobody.
const TOLD_OF_POOLS: [&str; 7] = [
    "provisioningState",
    "powerState",
    "currentOrchestratorVersion",
    "nodeImageVersion",
    "eTag",
    "status",
    "virtualMachineNodesStatus",
];

/// The same of a cluster.
const TOLD_OF_CLUSTERS: [&str; 11] = [
    "provisioningState",
    "powerState",
    "maxAgentPools",
    "currentKubernetesVersion",
    "fqdn",
    "privateFQDN",
    "azurePortalFQDN",
    "resourceUID",
    "status",
    "privateLinkResources",
    "identityProfile",
];

/// Whether a body is that of an agent pool, by what others do not have.
pub(super) fn is_agent_pool(body: &Value) -> bool {
    text(body, "/properties/mode").is_some() && text(body, "/properties/vmSize").is_some()
}

/// The nodes that a pool has; nothing for what is no agent pool.
pub(crate) fn nodes(body: &Value) -> Option<u32> {
    let is_told = is_agent_pool(body);
    is_told.then(|| number(body, "/properties/count")).flatten()
}

pub(super) fn encode_cluster(cluster: &KubernetesCluster) -> Value {
    let KubernetesCluster {
        location,
        tier,
        dns_prefix,
        node_group,
        identities,
        network,
        api_from,
        system,
    } = cluster;
    // Without one that is given the control plane has one of its own.
    let own = || json!({"type": "SystemAssigned"});
    let identity = identity::encode(identities).unwrap_or_else(own);
    let mut body = json!({
        "location": location,
        "sku": {"name": "Base", "tier": tier},
        "identity": identity,
        "properties": {
            "dnsPrefix": dns_prefix,
            "nodeResourceGroup": node_group,
            "enableRBAC": true,
            "networkProfile": encode_network(network),
            "agentPoolProfiles": [encode_system(system)],
        },
    });
    if !api_from.is_empty() {
        body["properties"]["apiServerAccessProfile"] = json!({"authorizedIPRanges": api_from});
    }
    body
}

fn encode_network(network: &ClusterNetwork) -> Value {
    let ClusterNetwork {
        plugin,
        mode,
        outbound,
        pods,
        services,
    } = network;
    let mut body = json!({
        "networkPlugin": plugin,
        "outboundType": outbound,
        "loadBalancerSku": "standard",
        "serviceCidr": services,
    });
    if let Some(address) = dns_address(services) {
        body["dnsServiceIP"] = json!(address);
    }
    if let Some(mode) = mode {
        body["networkPluginMode"] = json!(mode);
    }
    if let Some(pods) = pods {
        body["podCidr"] = json!(pods);
    }
    body
}

/// The address of the cluster's name server: the tenth of the block of services, as AKS has it.
fn dns_address(services: &str) -> Option<String> {
    let (address, _) = services.split_once('/')?;
    let beginning = address.strip_suffix(".0")?;
    Some(format!("{beginning}.10"))
}

fn encode_system(system: &SystemPool) -> Value {
    let SystemPool {
        size,
        count,
        zones,
        subnet,
        os_disk_gb,
        os_disk_ephemeral,
    } = system;
    let mut pool = json!({
        "name": SYSTEM_POOL,
        "mode": "System",
        "count": count,
        "vmSize": size,
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "osDiskSizeGB": os_disk_gb,
        "osDiskType": disk_word(*os_disk_ephemeral),
    });
    if !zones.is_empty() {
        pool["availabilityZones"] = json!(zones);
    }
    if let Some(subnet) = subnet {
        pool["vnetSubnetID"] = json!(subnet);
    }
    pool
}

fn disk_word(is_ephemeral: bool) -> &'static str {
    if is_ephemeral { "Ephemeral" } else { "Managed" }
}

pub(super) fn decode_cluster(body: &Value) -> Result<KubernetesCluster, DecodeError> {
    let is_system =
        |pool: &&Value| text(pool, "/mode").is_some_and(|mode| mode.eq_ignore_ascii_case("System"));
    let pools = || items(body, "/properties/agentPoolProfiles").filter(is_system);
    let named = pools().find(|pool| text(pool, "/name") == Some(SYSTEM_POOL));
    let system = named.or_else(|| pools().next()).ok_or_else(|| {
        DecodeError::Missing("properties.agentPoolProfiles with mode `System`".to_owned())
    })?;
    let ranges = "/properties/apiServerAccessProfile/authorizedIPRanges";
    let network = "/properties/networkProfile";
    let of_network = |name: &str| text(body, &format!("{network}/{name}"));
    Ok(KubernetesCluster {
        location: location(body)?,
        tier: text(body, "/sku/tier").unwrap_or("Free").into(),
        dns_prefix: text(body, "/properties/dnsPrefix")
            .unwrap_or_default()
            .to_owned(),
        node_group: required(body, "/properties/nodeResourceGroup")?.into(),
        identities: identity::decode(body)?,
        network: ClusterNetwork {
            plugin: of_network("networkPlugin").unwrap_or("kubenet").into(),
            mode: of_network("networkPluginMode").map(Into::into),
            outbound: of_network("outboundType").unwrap_or("loadBalancer").into(),
            pods: of_network("podCidr").map(ToOwned::to_owned),
            services: of_network("serviceCidr").unwrap_or_default().to_owned(),
        },
        api_from: texts(body, ranges),
        system: SystemPool {
            size: required(system, "/vmSize")?.into(),
            count: required_number(system, "/count")?,
            zones: sorted_zones(system, "/availabilityZones"),
            subnet: id(system, "/vnetSubnetID")?,
            os_disk_gb: required_number(system, "/osDiskSizeGB")?,
            os_disk_ephemeral: is_ephemeral(system, "/osDiskType"),
        },
    })
}

fn sorted_zones(body: &Value, pointer: &str) -> Vec<String> {
    texts(body, pointer).into_iter().collect()
}

fn is_ephemeral(body: &Value, pointer: &str) -> bool {
    text(body, pointer).is_some_and(|word| word.eq_ignore_ascii_case("Ephemeral"))
}

/// The live cluster as a request may have it, with what the tool decides as `after` has it.
pub(super) fn cluster_over_live(after: &KubernetesCluster, live: &Value) -> Value {
    let mut body = json!({});
    for member in ["location", "tags", "sku", "identity", "properties"] {
        if let Some(value) = live.get(member).filter(|value| !value.is_null()) {
            body[member] = value.clone();
        }
    }
    body["sku"]["tier"] = json!(after.tier);
    if let Some(identity) = identity::over_live(&after.identities, live) {
        body["identity"] = identity;
    }
    drop_told(&mut body["properties"], &TOLD_OF_CLUSTERS);
    let access = "apiServerAccessProfile";
    if after.api_from.is_empty() {
        if member(&body, "/properties/apiServerAccessProfile").is_some() {
            body["properties"][access]["authorizedIPRanges"] = json!([]);
        }
    } else {
        body["properties"][access]["authorizedIPRanges"] = json!(after.api_from);
    }
    if let Some(balancer) = body.pointer_mut("/properties/networkProfile/loadBalancerProfile") {
        drop_told(balancer, &["effectiveOutboundIPs"]);
    }
    let pools = body
        .pointer_mut("/properties/agentPoolProfiles")
        .and_then(Value::as_array_mut);
    for pool in pools.into_iter().flatten() {
        drop_told(pool, &TOLD_OF_POOLS);
        if text(pool, "/name") == Some(SYSTEM_POOL) {
            pool["count"] = json!(after.system.count);
        }
    }
    body
}

fn drop_told(value: &mut Value, told: &[&str]) {
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| !told.contains(&name.as_str()));
    }
}

/// The write that changes these attributes of a live cluster.
pub(super) fn cluster_changes(
    after: &KubernetesCluster,
    attributes: &[String],
    live: &Value,
) -> Result<Vec<Change>, EncodeError> {
    let is_open = |path: &&String| !matches!(path.as_str(), "tier" | "api_from" | "system.count");
    match attributes.iter().find(is_open) {
        Some(path) => Err(EncodeError::Unchangeable(path.clone())),
        None => Ok(vec![Change::Put(cluster_over_live(after, live))]),
    }
}

pub(super) fn encode_pool(pool: &AgentPool) -> Result<Value, EncodeError> {
    let AgentPool {
        location: _,
        size,
        nodes,
        autoscale_min,
        priority,
        zones,
        subnet,
        os_disk_gb,
        os_disk_ephemeral,
        gpu_driver,
        mig,
        labels,
        taints,
    } = pool;
    let mut properties = json!({
        "mode": "User",
        "vmSize": size,
        "count": autoscale_min.unwrap_or(*nodes),
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": os_disk_gb,
        "osDiskType": disk_word(*os_disk_ephemeral),
        "enableAutoScaling": autoscale_min.is_some(),
    });
    if let Some(least) = autoscale_min {
        properties["minCount"] = json!(least);
        properties["maxCount"] = json!(nodes);
    }
    set_priority(&mut properties, priority)?;
    if !zones.is_empty() {
        properties["availabilityZones"] = json!(zones);
    }
    if let Some(subnet) = subnet {
        properties["vnetSubnetID"] = json!(subnet);
    }
    // AKS installs the driver unless it is told otherwise.
    if gpu_driver.key() != "install" {
        properties["gpuProfile"] = json!({"driver": gpu_driver});
    }
    if let Some(mig) = mig {
        properties["gpuInstanceProfile"] = json!(mig);
    }
    if !labels.is_empty() {
        properties["nodeLabels"] = json!(labels);
    }
    if !taints.is_empty() {
        properties["nodeTaints"] = json!(taints);
    }
    Ok(json!({"properties": properties}))
}

/// Regular capacity is what a pool has that says nothing.
fn set_priority(properties: &mut Value, priority: &VmPriority) -> Result<(), EncodeError> {
    let VmPriority::Spot {
        eviction,
        max_price,
    } = priority
    else {
        return Ok(());
    };
    let price = max_price.to_f64().ok_or_else(|| EncodeError::Invalid {
        member: "priority.max_price",
        found: max_price.to_string(),
    })?;
    properties["scaleSetPriority"] = json!("Spot");
    properties["scaleSetEvictionPolicy"] = json!(match eviction {
        Eviction::Delete => "Delete",
        Eviction::Deallocate => "Deallocate",
    });
    properties["spotMaxPrice"] = json!(price);
    Ok(())
}

pub(super) fn decode_pool(body: &Value) -> Result<AgentPool, DecodeError> {
    let flag = |name: &str| {
        member(body, &format!("/properties/{name}")).and_then(Value::as_bool) == Some(true)
    };
    let scales = flag("enableAutoScaling");
    let most = if scales { "maxCount" } else { "count" };
    let labels = member(body, "/properties/nodeLabels").and_then(Value::as_object);
    let labels: BTreeMap<String, String> = labels
        .into_iter()
        .flatten()
        .filter(|(name, _)| !name.contains(OWN))
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let mut taints = texts(body, "/properties/nodeTaints");
    taints.retain(|taint| !taint.starts_with(OWN));
    Ok(AgentPool {
        location: location(body)?,
        size: required(body, "/properties/vmSize")?.into(),
        nodes: required_number(body, &format!("/properties/{most}"))?,
        autoscale_min: if scales {
            Some(required_number(body, "/properties/minCount")?)
        } else {
            None
        },
        priority: decode_priority(body)?,
        zones: sorted_zones(body, "/properties/availabilityZones"),
        subnet: id(body, "/properties/vnetSubnetID")?,
        os_disk_gb: required_number(body, "/properties/osDiskSizeGB")?,
        os_disk_ephemeral: is_ephemeral(body, "/properties/osDiskType"),
        gpu_driver: text(body, "/properties/gpuProfile/driver")
            .unwrap_or("Install")
            .into(),
        mig: text(body, "/properties/gpuInstanceProfile").map(Into::into),
        labels,
        taints,
    })
}

fn decode_priority(body: &Value) -> Result<VmPriority, DecodeError> {
    const PRICE: &str = "/properties/spotMaxPrice";
    const EVICTION: &str = "/properties/scaleSetEvictionPolicy";
    let is_spot = text(body, "/properties/scaleSetPriority")
        .is_some_and(|word| word.eq_ignore_ascii_case("Spot"));
    if !is_spot {
        return Ok(VmPriority::Regular);
    }
    let eviction = text(body, EVICTION).unwrap_or("Delete");
    let eviction = if eviction.eq_ignore_ascii_case("Deallocate") {
        Eviction::Deallocate
    } else {
        Eviction::Delete
    };
    let max_price = match member(body, PRICE) {
        None => Decimal::NEGATIVE_ONE,
        Some(price) => {
            let number = price.to_string();
            let decimal: Decimal = number.parse().map_err(|_| unsupported(PRICE, price))?;
            decimal.normalize()
        }
    };
    Ok(VmPriority::Spot {
        eviction,
        max_price,
    })
}

/// The live pool as a request may have it.
pub(crate) fn pool_as_request(live: &Value) -> Value {
    let mut properties = live.get("properties").cloned().unwrap_or_else(|| json!({}));
    drop_told(&mut properties, &TOLD_OF_POOLS);
    json!({"properties": properties})
}

/// The live pool with the attributes that can change as `after` has them.
pub(super) fn pool_over_live(after: &AgentPool, live: &Value) -> Result<Value, EncodeError> {
    let wanted = encode_pool(after)?;
    let mut body = pool_as_request(live);
    let count = match after.autoscale_min {
        Some(least) => {
            let there = number(live, "/properties/count").unwrap_or(least);
            there.clamp(least, after.nodes.max(least))
        }
        None => after.nodes,
    };
    if let Some(properties) = body["properties"].as_object_mut() {
        for name in [
            "enableAutoScaling",
            "minCount",
            "maxCount",
            "nodeLabels",
            "nodeTaints",
        ] {
            properties.remove(name);
            if let Some(value) = wanted["properties"].get(name) {
                properties.insert(name.to_owned(), value.clone());
            }
        }
        properties.insert("count".to_owned(), json!(count));
    }
    Ok(body)
}

/// The write that changes these attributes of a live pool.
pub(super) fn pool_changes(
    after: &AgentPool,
    attributes: &[String],
    live: &Value,
) -> Result<Vec<Change>, EncodeError> {
    let is_fixed = |path: &&String| {
        !matches!(
            path.as_str(),
            "nodes" | "autoscale_min" | "taints" | "labels"
        ) && !path.starts_with("labels.")
    };
    match attributes.iter().find(is_fixed) {
        Some(path) => Err(EncodeError::Unchangeable(path.clone())),
        None => Ok(vec![Change::Put(pool_over_live(after, live)?)]),
    }
}
