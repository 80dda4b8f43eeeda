//! What is installed by Helm charts, as a shell script: operators, and objects of the kinds that
//! they bring.

use std::fmt::Write as _;

use model::in_cluster::{InCluster, NodePool};
use serde_json::{Value, json};

use super::{
    has_infiniband, is_amd, is_nvidia, named,
    pods::{namespace, node_affinity, tolerations},
    pools,
    software::{Pinned, pinned},
    yaml,
};

const NETWORK: &str = "network-operator";
const NVIDIA: &str = "gpu-operator";
const AMD: &str = "amd-gpu-operator";

/// Charts that pools need, in the order in which they are installed.
pub(super) fn charts(cluster: &InCluster) -> Vec<(&'static str, Vec<&NodePool>)> {
    let all = [
        (NETWORK, pools(cluster, has_infiniband)),
        (NVIDIA, pools(cluster, |pool| is_nvidia(pool, false))),
        (AMD, pools(cluster, is_amd)),
    ];
    let needed = all.into_iter().filter(|(_, pools)| !pools.is_empty());
    needed.collect()
}

/// As a shell script.
pub fn operators(cluster: &InCluster) -> String {
    let InCluster {
        stack,
        group,
        cluster: name,
        ..
    } = cluster;
    let mut text = format!("#!/bin/sh\n# {stack}: operators of the cluster {name}\n");
    let charts = charts(cluster);
    if charts.is_empty() {
        text.push_str("# None is needed: `tensorform export --kubernetes` is all.\n");
        return text;
    }
    let _ = writeln!(
        text,
        "# az aks get-credentials --resource-group {group} --name {name}\n# tensorform export --kubernetes=operators | sh\nset -eu"
    );
    let has_network = charts.iter().any(|(chart, _)| *chart == NETWORK);
    for (chart, of) in charts {
        let _ = writeln!(text, "\n# For {}.", named(&of));
        match chart {
            NETWORK => network(&mut text, &of),
            NVIDIA => nvidia(&mut text, &of, has_network),
            _ => amd(&mut text, &of, has_network),
        }
    }
    text
}

/// The driver of InfiniBand.
fn network(text: &mut String, of: &[&NodePool]) {
    apply(text, &namespace(NETWORK));
    let values = json!({"node-feature-discovery": discovery(of)});
    install(
        text,
        (NETWORK, NETWORK, NETWORK),
        &pinned("network-operator"),
        "",
        &values,
    );
    let driver = pinned("doca-driver");
    let policy = json!({
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy"},
        "spec": {
            "nodeAffinity": node_affinity(of),
            "tolerations": tolerations(of),
            "ofedDriver": {
                "repository": driver.reference,
                "image": "doca-driver",
                "version": driver.version,
                // Without it a module of the node may load before the driver's.
                "env": [{
                    "name": "OFED_BLACKLIST_MODULES_FILE",
                    "value": "/host/etc/modprobe.d/blacklist-ofed-modules.conf",
                }],
            },
        },
    });
    apply(text, &policy);
}

/// Driver, device plugin and what else NVIDIA's GPUs take.
fn nvidia(text: &mut String, of: &[&NodePool], has_discovery: bool) {
    apply(text, &namespace(NVIDIA));
    let mut values = json!({"daemonsets": {"tolerations": tolerations(of)}});
    with_discovery(&mut values, of, has_discovery, "nfd");
    if of.iter().any(|pool| has_infiniband(pool)) {
        values["driver"] = json!({"rdma": {"enabled": true}});
    }
    let is_cut = |pool: &&NodePool| pool.gpus.is_some_and(|gpus| gpus.instances.is_some());
    if of.iter().any(is_cut) {
        values["mig"] = json!({"strategy": "single"});
    }
    install(
        text,
        (NVIDIA, NVIDIA, NVIDIA),
        &pinned("gpu-operator"),
        "",
        &values,
    );
}

/// Driver and device plugin of AMD's GPUs. The operator builds the driver in the cluster, and wants
/// a repository to push it to.
fn amd(text: &mut String, of: &[&NodePool], has_discovery: bool) {
    const PLACE: &str = "kube-amd-gpu";
    text.push_str(": \"${DRIVER_IMAGE:?a repository for the driver that the operator builds, such as REGISTRY.azurecr.io/amdgpu-driver}\"\n");
    let values = json!({"crds": {"enabled": true}});
    let manager = pinned("cert-manager");
    let place = ("cert-manager", "cert-manager", "cert-manager");
    install(text, place, &manager, " --create-namespace", &values);
    apply(text, &namespace(PLACE));
    let tolerations = tolerations(of);
    let mut values = json!({
        "deviceConfig": {"spec": {
            "driver": {"enable": true, "blacklist": true, "tolerations": tolerations},
            "devicePlugin": {
                "devicePluginTolerations": tolerations,
                "nodeLabellerTolerations": tolerations,
            },
            "metricsExporter": {"enable": false},
            // Nodes of Azure are machines of their own to the GPU, not its host.
            "selector": {"feature.node.kubernetes.io/amd-vgpu": "true"},
        }},
    });
    with_discovery(&mut values, of, has_discovery, "node-feature-discovery");
    let place = (AMD, "gpu-operator-charts", PLACE);
    let image = " --set deviceConfig.spec.driver.image=\"$DRIVER_IMAGE\"";
    install(text, place, &pinned("amd-gpu-operator"), image, &values);
}

/// Node Feature Discovery comes once, with the first operator.
fn with_discovery(values: &mut Value, of: &[&NodePool], is_there: bool, switch: &str) {
    if is_there {
        values[switch]["enabled"] = json!(false);
    } else {
        values["node-feature-discovery"] = discovery(of);
    }
}

fn discovery(of: &[&NodePool]) -> Value {
    json!({"worker": {"tolerations": tolerations(of)}})
}

/// A chart: the name of what is installed, that of the chart, and its namespace.
fn install(
    text: &mut String,
    (release, chart, place): (&str, &str, &str),
    pinned: &Pinned,
    options: &str,
    values: &Value,
) {
    let Pinned { reference, version } = pinned;
    let _ = write!(
        text,
        "helm upgrade --install {release} {chart} --repo {reference} --version {version} \\\n  --namespace {place}{options} --wait --values - <<'END'\n{}END\n",
        yaml::document(values)
    );
}

fn apply(text: &mut String, object: &Value) {
    let _ = write!(
        text,
        "kubectl apply -f - <<'END'\n{}END\n",
        yaml::document(object)
    );
}
