//! The settings of Azure Kubernetes Service.

use super::reader::{Reader, scalar};
use crate::{
    spec::{
        kubernetes::{AgentPoolSettings, Cluster, ClusterTier, GpuDriver},
        schema::words,
    },
    units::SizeName,
};

pub(super) fn cluster(block: Reader<'_>) -> Option<Cluster> {
    let system = block.inner("system");
    block.is_there().then(|| Cluster {
        tier: block
            .word("tier", words::CLUSTER_TIERS)
            .unwrap_or(ClusterTier::Free),
        system_size: system
            .text("size")
            .filter(|size| *size != "auto")
            .map(SizeName::new),
        system_count: system.integer("count"),
        api_from: block
            .texts("api_from")
            .into_iter()
            .filter_map(|text| text.parse().ok())
            .collect(),
    })
}

pub(super) fn agent_pool(block: Reader<'_>) -> Option<AgentPoolSettings> {
    let autoscale = block.inner("autoscale");
    let labels = block
        .given("labels")
        .map(crate::spec::yaml::node::Node::entries)
        .unwrap_or_default();
    block.is_there().then(|| AgentPoolSettings {
        gpu_driver: block
            .word("gpu_driver", words::GPU_DRIVERS)
            .unwrap_or(GpuDriver::Auto),
        mig: block.word("mig", words::MIGS),
        autoscale_min: autoscale
            .is_there()
            .then(|| autoscale.integer("min").unwrap_or(0)),
        labels: labels
            .iter()
            .filter_map(|label| Some((label.key.clone(), scalar(&label.value)?.text.clone())))
            .collect(),
        taints: block.given("taints").map(|_| {
            let taints = block.texts("taints").into_iter();
            taints.map(str::to_owned).collect()
        }),
    })
}
