//! What the nodes of agent pools have, which decides what is installed in their cluster.

use std::collections::BTreeMap;

use model::{
    catalog::Catalog,
    in_cluster::{GpuVendor, InCluster, NodeGpus, NodePool, Ports},
    spec::{
        Orchestrator, Pool, SizeChoice, Spec, Stage, Workload,
        kubernetes::{AgentPoolSettings, GpuDriver, Mig},
    },
};
use tensorform_planner::in_cluster;

use crate::{
    aks::rich,
    support::{empty, good_plan, pool, spec},
};

fn agents(stage: Stage, size: &str) -> Pool {
    let mut pool = pool(stage, Workload::Generative);
    pool.orchestrator = Orchestrator::Aks;
    pool.size = SizeChoice::Named(size.into());
    pool.count = Some(2);
    pool
}

fn made(spec: &Spec) -> InCluster {
    let plan = good_plan(spec, &empty());
    in_cluster(spec, &plan, Catalog::embedded()).expect("a cluster")
}

fn only(pool: Pool) -> NodePool {
    let mut cluster = made(&spec(pool));
    assert_eq!(cluster.pools.len(), 1, "{cluster:?}");
    cluster.pools.remove(0)
}

fn taints(pool: &NodePool) -> Vec<String> {
    let taints = pool.taints.iter();
    taints
        .map(|taint| format!("{} {:?} {}", taint.key, taint.value, taint.effect))
        .collect()
}

#[test]
fn gpus_fabric_and_taints_are_those_of_the_plan() {
    let train = only(agents(Stage::Training, "Standard_ND96isr_H100_v5"));
    let gpus = NodeGpus {
        vendor: GpuVendor::Nvidia,
        count: 8,
        instances: None,
        driver_by_aks: true,
    };
    assert_eq!(train.gpus, Some(gpus));
    assert_eq!(train.infiniband, Some(Ports::Known(8)));
    assert_eq!(taints(&train), ["sku Some(\"gpu\") NoSchedule"]);
    assert_eq!((train.nodes, train.scales), (2, false));
    let serve = only(agents(Stage::Inference, "Standard_ND96isr_H100_v5"));
    assert_eq!(serve.infiniband, None, "nodes that serve share no fabric");
    let plain = only(agents(Stage::Inference, "Standard_NC4as_T4_v3"));
    assert_eq!(plain.gpus.map(|gpus| gpus.count), Some(1));
}

#[test]
fn gpus_that_are_cut_are_as_many_as_their_instances() {
    for (mig, instances) in [
        (Mig::One, 7),
        (Mig::Two, 3),
        (Mig::Three, 2),
        (Mig::Four, 1),
        (Mig::Seven, 1),
    ] {
        let mut pool = agents(Stage::Inference, "Standard_NC48ads_A100_v4");
        pool.aks = Some(AgentPoolSettings {
            mig: Some(mig),
            ..AgentPoolSettings::default()
        });
        let gpus = only(pool).gpus.expect("GPUs");
        assert_eq!((gpus.count, gpus.instances), (2, Some(instances)));
        assert_eq!(gpus.schedulable(), 2 * instances);
    }
}

#[test]
fn spot_nodes_have_the_taint_of_aks_too() {
    let pool = only(rich());
    assert!(pool.scales);
    assert_eq!(
        taints(&pool),
        [
            "sku Some(\"gpu\") NoSchedule",
            "kubernetes.azure.com/scalesetpriority Some(\"spot\") NoSchedule"
        ]
    );
}

#[test]
fn an_operator_that_would_meet_the_driver_of_aks_is_named() {
    let mut stack = spec(agents(Stage::Inference, "Standard_NC4as_T4_v3"));
    assert_eq!(made(&stack).notes, []);
    let mut own = agents(Stage::Inference, "Standard_NC4as_T4_v3");
    own.aks = Some(AgentPoolSettings {
        gpu_driver: GpuDriver::None,
        ..AgentPoolSettings::default()
    });
    stack.pools.insert("own".to_owned(), own);
    let notes = made(&stack).notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].pool, "train");
    assert!(notes[0].text.contains("pool `own`"), "{notes:?}");
    let kept_off = AgentPoolSettings {
        labels: BTreeMap::from([(
            "nvidia.com/gpu.deploy.operands".to_owned(),
            "false".to_owned(),
        )]),
        ..AgentPoolSettings::default()
    };
    stack.pools.get_mut("train").expect("the pool").aks = Some(kept_off);
    assert_eq!(made(&stack).notes, []);
}

#[test]
fn who_cuts_gpus_without_the_driver_of_aks_is_said() {
    let mut pool = agents(Stage::Inference, "Standard_NC24ads_A100_v4");
    let settings = AgentPoolSettings {
        gpu_driver: GpuDriver::None,
        mig: Some(Mig::One),
        ..AgentPoolSettings::default()
    };
    pool.aks = Some(settings.clone());
    let notes = made(&spec(pool.clone())).notes;
    assert!(notes[0].text.contains("nvidia.com/mig.config"), "{notes:?}");
    pool.aks = Some(AgentPoolSettings {
        labels: BTreeMap::from([("nvidia.com/mig.config".to_owned(), "all-1g.10gb".to_owned())]),
        ..settings
    });
    assert_eq!(made(&spec(pool)).notes, []);
}

#[test]
fn a_stack_without_agent_pools_has_no_cluster() {
    let mut pool = agents(Stage::Inference, "Standard_NC4as_T4_v3");
    pool.orchestrator = Orchestrator::Manual;
    let spec = spec(pool);
    let plan = good_plan(&spec, &empty());
    assert_eq!(in_cluster(&spec, &plan, Catalog::embedded()), None);
}
