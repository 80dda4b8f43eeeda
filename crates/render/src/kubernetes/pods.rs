//! Where pods go: to nodes of which pools, and past which taints.

use std::collections::BTreeSet;

use model::in_cluster::{NodePool, Taint};
use serde_json::{Value, json};

/// The label that AKS gives the nodes of an agent pool.
pub(super) const POOL_LABEL: &str = "kubernetes.azure.com/agentpool";

/// The namespace of what is installed.
pub(super) const NAMESPACE: &str = "gpu-resources";

/// A namespace whose pods may do what drivers and device plugins do.
pub(super) fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
        },
    })
}

/// What lets pods onto the nodes of these pools.
pub(super) fn tolerations(pools: &[&NodePool]) -> Vec<Value> {
    let taints: BTreeSet<&Taint> = pools.iter().flat_map(|pool| &pool.taints).collect();
    taints.into_iter().map(toleration).collect()
}

fn toleration(taint: &Taint) -> Value {
    let Taint { key, value, effect } = taint;
    match value {
        Some(value) => json!({"key": key, "operator": "Equal", "value": value, "effect": effect}),
        None => json!({"key": key, "operator": "Exists", "effect": effect}),
    }
}

/// Lets a pod onto the nodes of these pools.
pub(super) fn tolerate(pod: &mut Value, pools: &[&NodePool]) {
    let tolerations = tolerations(pools);
    if !tolerations.is_empty() {
        pod["tolerations"] = json!(tolerations);
    }
}

/// What keeps pods on the nodes of these pools.
pub(super) fn node_affinity(pools: &[&NodePool]) -> Value {
    let names: Vec<&str> = pools.iter().map(|pool| pool.agent_pool.as_str()).collect();
    json!({
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{
                "matchExpressions": [{"key": POOL_LABEL, "operator": "In", "values": names}],
            }],
        },
    })
}

/// One container, with the folders of its node that it sees.
pub(super) struct Container<'a> {
    /// The program: image, command, environment, rights.
    pub(super) program: Value,
    /// Names of folders, where they are on the node, and where in the container.
    pub(super) folders: &'a [(&'a str, &'a str, &'a str)],
    /// Whether it stands in the node's own network.
    pub(super) host_network: bool,
    /// A configuration that it reads: the name of a `ConfigMap`, and where it is.
    pub(super) configuration: Option<(&'a str, &'a str)>,
}

/// A pod on each node of these pools.
pub(super) fn daemon_set(name: &str, pools: &[&NodePool], container: &Container<'_>) -> Value {
    let Container {
        program,
        folders,
        host_network,
        configuration,
    } = container;
    let mount = |name: &str, inside: &str| json!({"name": name, "mountPath": inside});
    let mut mounts: Vec<Value> = folders
        .iter()
        .map(|(name, _, inside)| mount(name, inside))
        .collect();
    let mut volumes: Vec<Value> = folders
        .iter()
        .map(|(name, outside, _)| json!({"name": name, "hostPath": {"path": outside}}))
        .collect();
    if let Some((map, inside)) = configuration {
        mounts.push(mount("configuration", inside));
        volumes.push(json!({"name": "configuration", "configMap": {"name": map}}));
    }
    let mut program = program.clone();
    program["name"] = json!(name);
    program["volumeMounts"] = json!(mounts);
    let mut pod = json!({
        "affinity": {"nodeAffinity": node_affinity(pools)},
        "automountServiceAccountToken": false,
        "containers": [program],
        "priorityClassName": "system-node-critical",
        "volumes": volumes,
    });
    tolerate(&mut pod, pools);
    if *host_network {
        pod["hostNetwork"] = json!(true);
    }
    let labels = json!({"app.kubernetes.io/name": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    })
}
