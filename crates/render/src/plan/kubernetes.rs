//! Clusters and agent pools in a few words.

use model::resource::{AgentPool, KubernetesCluster, SystemPool, VmPriority};

use crate::words;

pub(super) fn cluster(cluster: &KubernetesCluster) -> String {
    let tier = cluster.tier.as_str();
    format!("Kubernetes cluster, {tier} tier")
}

/// What a cluster comes with, and from where its API server answers.
pub(super) fn of_cluster(cluster: &KubernetesCluster) -> Vec<String> {
    let SystemPool {
        size,
        count,
        zones: _,
        subnet: _,
        os_disk_gb,
        os_disk_ephemeral,
    } = &cluster.system;
    let system = format!(
        "system pool of {} × {size}, each with {}",
        words::count(*count),
        os_disk(*os_disk_gb, *os_disk_ephemeral)
    );
    let access = if cluster.api_from.is_empty() {
        "API server answers everybody who signs in, from everywhere".to_owned()
    } else {
        let blocks: Vec<&str> = cluster.api_from.iter().map(String::as_str).collect();
        format!("API server answers from {}", blocks.join(", "))
    };
    vec![system, access]
}

pub(super) fn agent_pool(pool: &AgentPool) -> String {
    let spot = match &pool.priority {
        VmPriority::Regular => "",
        VmPriority::Spot { .. } => "spot ",
    };
    let count = words::count(pool.nodes);
    let count = match pool.autoscale_min {
        Some(least) => format!("{} to {count}", words::count(least)),
        None => count,
    };
    format!("agent pool of {count} × {spot}{}", pool.size)
}

/// What its nodes are.
pub(super) fn of_nodes(pool: &AgentPool) -> Vec<String> {
    let driver = if pool.gpu_driver.key() == "install" {
        "driver of GPUs by AKS"
    } else {
        "no driver of GPUs by AKS"
    };
    let mig = pool
        .mig
        .as_ref()
        .map_or_else(String::new, |mig| format!(", GPUs cut by {mig}"));
    let mut lines = vec![format!(
        "{driver}{mig}; each with {}",
        os_disk(pool.os_disk_gb, pool.os_disk_ephemeral)
    )];
    if !pool.taints.is_empty() {
        let taints: Vec<&str> = pool.taints.iter().map(String::as_str).collect();
        lines.push(format!("tainted {}", taints.join(", ")));
    }
    lines
}

fn os_disk(size_gb: u32, is_ephemeral: bool) -> String {
    let kind = if is_ephemeral {
        "on the node"
    } else {
        "Premium SSD"
    };
    format!("OS disk {} GiB {kind}", words::count(size_gb))
}
