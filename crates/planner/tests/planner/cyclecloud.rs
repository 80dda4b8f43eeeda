//! Pools as node arrays of CycleCloud.

use model::{
    catalog::Catalog,
    cyclecloud::{Cluster, NodeArray},
    ids::ArmId,
    resource::Security,
    spec::{
        Bootstrap, EphemeralOs, EphemeralPlacement, Eviction, OnBootstrapChange, Pool, Priority,
        Scheduler, SecurityChoice, SizeChoice, Spec, Spot, Stage, Workload, Zones,
    },
};
use rust_decimal::Decimal;
use tensorform_planner::cluster;

use crate::support::{empty, good_plan, pool, spec};

fn on(size: &str) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named(size.into());
    pool.count = Some(3);
    pool
}

fn made(spec: &Spec, scheduler: Scheduler) -> Cluster {
    cluster(
        spec,
        &good_plan(spec, &empty()),
        Catalog::embedded(),
        scheduler,
    )
}

fn only(cluster: &Cluster) -> &NodeArray {
    assert_eq!(cluster.arrays.len(), 1, "{cluster:?}");
    &cluster.arrays[0]
}

fn spot(max_price: Option<Decimal>) -> Priority {
    Priority::Spot(Spot {
        max_price,
        eviction: Eviction::Delete,
        fallback_to_regular: false,
    })
}

#[test]
fn gpus_of_a_node_array_are_those_of_the_catalogue() {
    let mut train = pool(Stage::Training, Workload::Generative);
    train.size = SizeChoice::Named("Standard_ND96isr_H100_v5".into());
    train.count = Some(8);
    let cluster = made(&spec(train), Scheduler::Slurm);
    let array = only(&cluster);
    assert_eq!(
        (array.gpus, array.vcpus, array.most, array.coupled),
        (Some(8), Some(96), 8, true)
    );
    assert_eq!(array.security, Security::Standard);
    assert_eq!(cluster.subnet.as_ref().map(ArmId::name), Some("nodes"));
    let small = made(&spec(on("Standard_F4s_v2")), Scheduler::Slurm);
    assert_eq!((only(&small).gpus, only(&small).coupled), (Some(0), false));
}

#[test]
fn a_node_array_has_what_the_nodes_of_its_pool_have() {
    let mut serve = on("Standard_F4s_v2");
    serve.zones = Zones::Listed(vec![2, 3]);
    serve.security = SecurityChoice::TrustedLaunch;
    serve.priority = spot(Some("0.07".parse().expect("a price")));
    let cluster = made(&spec(serve), Scheduler::Slurm);
    let array = only(&cluster);
    assert_eq!(array.zones, ["2", "3"]);
    assert!(matches!(array.security, Security::TrustedLaunch { .. }));
    let limit = array.spot.expect("spare capacity").max_price;
    assert_eq!(
        limit.map(|price| price.to_string()).as_deref(),
        Some("0.07")
    );
    let mut serve = on("Standard_F4s_v2");
    serve.priority = spot(None);
    let cluster = made(&spec(serve), Scheduler::Slurm);
    assert_eq!(only(&cluster).spot.expect("spare capacity").max_price, None);
    let mut local = on("Standard_D16ds_v5");
    local.disks.os_ephemeral = EphemeralOs::At(EphemeralPlacement::CacheDisk);
    let cluster = made(&spec(local), Scheduler::Slurm);
    assert!(only(&cluster).os_disk.ephemeral.is_some());
}

#[test]
fn what_no_template_says_is_named() {
    let texts = |pool: Pool, scheduler| -> String {
        let notes = made(&spec(pool), scheduler).notes;
        notes.into_iter().map(|note| note.text + "\n").collect()
    };
    assert_eq!(texts(on("Standard_F4s_v2"), Scheduler::Slurm), "");
    let mut with_all = on("Standard_F4s_v2");
    with_all.fallback = vec!["Standard_F8s_v2".into()];
    with_all.bootstrap = Some(Bootstrap {
        script: "setup.sh".to_owned(),
        on_change: OnBootstrapChange::Warn,
        text: Some(model::spec::ScriptText("#!/bin/sh\n".to_owned())),
    });
    let said = texts(with_all, Scheduler::Slurm);
    assert!(
        said.contains("`fallback`") && said.contains("tensorform bootstrap"),
        "{said}"
    );
    let said = texts(on("Standard_F4s_v2"), Scheduler::Pbs);
    assert!(said.contains("Enterprise Linux 8"), "{said}");
}
