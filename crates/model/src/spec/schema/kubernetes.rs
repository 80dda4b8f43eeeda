//! The tables of Azure Kubernetes Service.

use super::{
    forms::{azure, kubernetes, places},
    kind::{Block, Key, Kind, List, Map, Presence, Support},
    pool::MOST_NODES,
    stack::keys,
    words,
};

const NOW: Support = Support::Now;
const OPTIONAL: Presence = Presence::Optional;

const fn default(value: &'static str) -> Presence {
    Presence::Default(value)
}

/// The stack's cluster.
pub(super) const CLUSTER: Block = Block {
    name: "aks_cluster",
    doc: "The stack's cluster of Azure Kubernetes Service, which all pools with `orchestrator: aks` share.",
    keys: keys! {
        "tier": Kind::words(words::CLUSTER_TIER), default("free"), NOW, "standard",
            "Tier of the control plane: `standard` costs by the hour and has an agreement on its uptime.";
        "system": Kind::block(&SYSTEM), OPTIONAL, NOW, "{size: Standard_D4s_v5, count: 2}",
            "The pool that runs the cluster's own work. It has no GPUs.";
        "api_from": Kind::list(&API_BLOCKS), default("[]"), NOW, "[203.0.113.0/24]",
            "Blocks from which the API server may be reached, in CIDR form. Without it the API server answers everybody who signs in.";
    },
};

const SYSTEM: Block = Block {
    name: "aks_system",
    doc: "The system pool of the cluster.",
    keys: keys! {
        "size": Kind::text(&azure::SIZE).or_words(words::AUTO), default("auto"), NOW, "Standard_D4s_v5",
            "VM size; `auto` takes a general one of four vCPUs that the region offers. It cannot be changed later.";
        "count": Kind::integer(1, MOST_NODES), default("2"), NOW, "2",
            "Number of nodes.";
    },
};

const API_BLOCKS: List = List {
    nouns: "IPv4 blocks",
    item: Kind::text(&places::SSH_SOURCE),
    not_empty: false,
    distinct: true,
};

/// An agent pool.
pub(super) const AGENT_POOL: Block = Block {
    name: "aks",
    doc: "Settings of an agent pool of Azure Kubernetes Service. The stack gets one cluster, and each of its AKS pools an agent pool in it.",
    keys: keys! {
        "gpu_driver": Kind::words(words::GPU_DRIVER).not(&[
                ("operator", "write `none`: the GPU operator installs the driver then"),
                ("auto_install", "write `install`")]),
            default("auto"), NOW, "none",
            "Who installs the driver of GPUs: AKS (`install`), or whoever does it in the cluster (`none`). `auto` is `install` for NVIDIA and `none` for AMD. Another value makes the pool anew.";
        "mig": Kind::words(words::MIG), OPTIONAL, NOW, "1g",
            "Cuts each GPU into instances of so many of its seven parts; on A100, H100 and H200. Another value makes the pool anew.";
        "autoscale": Kind::block(&AUTOSCALE), OPTIONAL, NOW, "{min: 0}",
            "Lets the cluster decide how many nodes there are; `count` is then the most that there may be, and what budgets count.";
        "labels": Kind::map(&LABELS), OPTIONAL, NOW, "{team: vision}",
            "Labels of the nodes.";
        "taints": Kind::list(&TAINTS), OPTIONAL, NOW, "[\"sku=gpu:NoSchedule\"]",
            "Taints of the nodes; `sku=gpu:NoSchedule` on nodes with GPUs unless given.";
    },
};

const AUTOSCALE: Block = Block {
    name: "aks_autoscale",
    doc: "What decides how many nodes there are, between `min` and the pool's `count`.",
    keys: keys! {
        "min": Kind::integer(0, MOST_NODES), default("0"), NOW, "0",
            "Fewest nodes.";
    },
};

const LABELS: Map = Map {
    noun: "label",
    key: &kubernetes::LABEL,
    value: Kind::text(&kubernetes::LABEL_VALUE),
    not_empty: false,
    most: 40,
    too_many: "use fewer labels",
};

const TAINTS: List = List {
    nouns: "taints",
    item: Kind::text(&kubernetes::TAINT),
    not_empty: false,
    distinct: true,
};
