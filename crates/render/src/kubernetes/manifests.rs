//! What is installed by manifests alone: device plugins, and what loads a module of the driver.

use model::in_cluster::{InCluster, NodePool};
use serde_json::{Value, json};

use super::{
    has_infiniband, is_amd, is_nvidia, named,
    pods::{Container, NAMESPACE, daemon_set, namespace},
    pools,
    software::pinned,
    stream,
};

/// Where kubelet waits for device plugins.
const PLUGINS: (&str, &str, &str) = (
    "device-plugins",
    "/var/lib/kubelet/device-plugins",
    "/var/lib/kubelet/device-plugins",
);

/// Pods of a node that may have its InfiniBand at once.
const SHARERS: u32 = 63;

/// Makes GPUs write to InfiniBand by themselves. AKS installs the module with the driver and does
/// not load it; it wants the driver of the network first.
const LOAD_PEER_MEMORY: &str =
    "until chroot /host modprobe nvidia-peermem; do sleep 10; done; exec sleep infinity";

/// As documents for `kubectl apply`.
pub fn manifests(cluster: &InCluster) -> String {
    stream(&head(cluster), &documents(cluster))
}

fn head(cluster: &InCluster) -> Vec<String> {
    let InCluster {
        stack,
        group,
        cluster: name,
        ..
    } = cluster;
    let mut lines = vec![format!(
        "{stack}: what the cluster {name} needs, so that pods can use what its nodes have"
    )];
    if documents(cluster).is_empty() {
        lines.push("No manifest is needed.".to_owned());
    } else {
        lines.push(format!(
            "az aks get-credentials --resource-group {group} --name {name}"
        ));
        lines.push("tensorform export --kubernetes | kubectl apply -f -".to_owned());
    }
    for (chart, of) in super::operators::charts(cluster) {
        lines.push(format!(
            "{} needs {chart} {}, a Helm chart: `tensorform export --kubernetes=operators` prints the commands",
            named(&of),
            pinned_version(chart),
        ));
    }
    lines
}

fn pinned_version(chart: &str) -> String {
    pinned(chart).version
}

/// Each object.
pub(super) fn documents(cluster: &InCluster) -> Vec<Value> {
    let mut all = Vec::new();
    all.extend(device_plugins(cluster));
    all.extend(fabric(cluster));
    if !all.is_empty() {
        all.insert(0, namespace(NAMESPACE));
    }
    all
}

/// The device plugin of NVIDIA where AKS installs the driver. Only where GPUs are cut may it do
/// what reading that takes.
fn device_plugins(cluster: &InCluster) -> Vec<Value> {
    let is_cut = |pool: &NodePool| pool.gpus.is_some_and(|gpus| gpus.instances.is_some());
    let whole = pools(cluster, |pool| is_nvidia(pool, true) && !is_cut(pool));
    let cut = pools(cluster, |pool| is_nvidia(pool, true) && is_cut(pool));
    let plugin = |name: &str, of: &[&NodePool], mut environment: Vec<Value>, rights: Value| {
        // The driver may come later than this pod.
        environment.insert(0, json!({"name": "FAIL_ON_INIT_ERROR", "value": "false"}));
        let program = json!({
            "image": pinned("nvidia-device-plugin").image(),
            "env": environment,
            "securityContext": rights,
        });
        let container = Container {
            program,
            folders: &[PLUGINS],
            host_network: false,
            configuration: None,
        };
        daemon_set(name, of, &container)
    };
    let mut all = Vec::new();
    if !whole.is_empty() {
        let rights = json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
        all.push(plugin("nvidia-device-plugin", &whole, Vec::new(), rights));
    }
    if !cut.is_empty() {
        // All GPUs of a pool are cut alike, so that each instance is a GPU to pods.
        let environment = vec![
            json!({"name": "MIG_STRATEGY", "value": "single"}),
            json!({"name": "NVIDIA_MIG_MONITOR_DEVICES", "value": "all"}),
        ];
        let rights = json!({"capabilities": {"add": ["SYS_ADMIN"]}});
        all.push(plugin(
            "nvidia-device-plugin-mig",
            &cut,
            environment,
            rights,
        ));
    }
    all
}

/// What shows pods the InfiniBand of their node.
fn fabric(cluster: &InCluster) -> Vec<Value> {
    let connected = pools(cluster, has_infiniband);
    if connected.is_empty() {
        return Vec::new();
    }
    let settings = json!({
        "periodicUpdateInterval": 300,
        "configList": [{
            "resourceName": "shared_ib",
            "rdmaHcaMax": SHARERS,
            // A node's interface to its Ethernet is of the same vendor.
            "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]},
        }],
    });
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rdma-devices", "namespace": NAMESPACE},
        "data": {"config.json": format!("{settings:#}\n")},
    });
    let program = json!({
        "image": pinned("rdma-shared-device-plugin").image(),
        "securityContext": {"privileged": true},
    });
    let registry = "/var/lib/kubelet/plugins_registry";
    let container = Container {
        program,
        folders: &[
            PLUGINS,
            ("plugins-registry", registry, registry),
            ("devices", "/dev", "/dev"),
        ],
        host_network: true,
        configuration: Some(("rdma-devices", "/k8s-rdma-shared-dev-plugin")),
    };
    let mut all = vec![
        map,
        daemon_set("rdma-shared-device-plugin", &connected, &container),
    ];
    let direct = pools(cluster, |pool| {
        has_infiniband(pool) && is_nvidia(pool, true) && !is_amd(pool)
    });
    if !direct.is_empty() {
        let program = json!({
            "image": pinned("ubuntu").image(),
            "command": ["/bin/sh", "-c", LOAD_PEER_MEMORY],
            "securityContext": {"privileged": true},
        });
        let container = Container {
            program,
            folders: &[("host", "/", "/host")],
            host_network: false,
            configuration: None,
        };
        all.push(daemon_set("nvidia-peer-memory", &direct, &container));
    }
    all
}
