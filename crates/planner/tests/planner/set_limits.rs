//! What a scale set cannot be: how many nodes, and what it excludes.

use model::{
    ids::ArmId,
    spec::{
        Eviction, Grouping, Identity, Priority, SizeChoice, SizeConstraints, Spot, Stage, Workload,
        Zones,
    },
};

use crate::{
    scale_sets::{INFINIBAND, ethernet, fabric, messages, set},
    support::{empty, good_plan, planned, pool, spec},
};

#[test]
fn a_hundred_infiniband_nodes_are_one_write_and_one_more_is_refused() {
    let plan = good_plan(&spec(fabric(100)), &empty());
    let pools = plan
        .changes()
        .filter(|step| step.address.pool_name().is_some());
    assert_eq!(pools.count(), 1);
    assert_eq!(set(&plan).capacity, 100);
    let cores = plan.quota.iter().find(|line| line.name == "cores");
    assert_eq!(cores.map(|line| line.needed), Some(9_600));
    let machines = plan
        .quota
        .iter()
        .find(|line| line.name == "virtualMachines");
    assert_eq!(machines.map(|line| line.needed), Some(100));
    let refused = planned(&spec(fabric(101)), &empty());
    assert!(refused.plan.is_none());
    assert_eq!(
        messages(&spec(fabric(101)), &empty()),
        [
            "POOL001: 101 InfiniBand nodes do not fit into one placement group, which holds 100 at most"
        ]
    );
    let finding = refused.diagnostics.iter().next().expect("a finding");
    assert!(finding.help[0].contains("several pools of at most 100 nodes"));
}

#[test]
fn what_a_placement_group_excludes_is_refused_by_both_names() {
    let mut reserved = fabric(2);
    reserved.capacity_reservation = Some(
        ArmId::resource_group("s", "rg")
            .in_group("Microsoft.Compute/capacityReservationGroups", "r"),
    );
    assert_eq!(
        messages(&spec(reserved), &empty()),
        [format!(
            "POOL001: `capacity_reservation` cannot be used with `count: 2` of the InfiniBand size `{INFINIBAND}`: reservations exclude a single placement group"
        )]
    );
    let mut spot = pool(Stage::Inference, Workload::Generative);
    spot.count = Some(2);
    spot.size = SizeChoice::Constrained(SizeConstraints {
        rdma: Some(true),
        ..SizeConstraints::default()
    });
    spot.priority = Priority::Spot(Spot {
        max_price: None,
        eviction: Eviction::Delete,
        fallback_to_regular: false,
    });
    let found = messages(&spec(spot), &empty());
    assert!(
        found[0].starts_with(
            "POOL001: `priority: spot` cannot be used with `count: 2` of the InfiniBand size"
        ),
        "{found:?}"
    );
    let mut zoned = fabric(2);
    (zoned.zones, zoned.grouping) = (Zones::Listed(vec![1, 2]), Grouping::ScaleSet);
    let found = messages(&spec(zoned), &empty());
    assert!(
        found[0].starts_with(
            "POOL001: `zones` lists 2 zones, and `grouping: scale_set` with the InfiniBand size"
        ),
        "{found:?}"
    );
}

#[test]
fn flexible_sets_give_no_identity_of_their_own() {
    let mut spec = spec(ethernet(11));
    spec.identity = Identity::System;
    assert_eq!(
        messages(&spec, &empty())[0],
        "POOL001: `identity: system` cannot be used with `count: 11`: Flexible scale sets give their nodes no identity of their own"
    );
}
