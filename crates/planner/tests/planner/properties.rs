//! What holds for every spec and every world.

use std::sync::LazyLock;

use model::{
    plan::Action,
    resource::{Resource, ResourceKind, attributes},
    spec::{
        DataDisk, DiskType, Eviction, Network, Outbound, Pool, Priority, SizeChoice, Spec, Spot,
        Stage, Via, Workload, Zones,
    },
    units::{CaseInsensitive, Region},
};
use proptest::prelude::*;
use tensorform_planner::diff::classify;

use crate::support::{applied, empty, good_plan, planned, pool, spec};

fn any_pool() -> impl Strategy<Value = Pool> {
    let stages = prop_oneof![Just(Stage::Training), Just(Stage::Inference)];
    let parts = (
        stages,
        1u32..5,
        0u32..3,
        any::<bool>(),
        any::<bool>(),
        0u8..3,
        any::<bool>(),
    );
    parts.prop_map(|(stage, count, disks, spot, protect, zones, allow_stop)| {
        let mut one = pool(stage, Workload::Small);
        one.count = Some(count);
        // Named sizes: the choice among all has its own tests and takes its time.
        let size = if stage == Stage::Training {
            "Standard_E8as_v5"
        } else {
            "Standard_F4als_v6"
        };
        one.size = SizeChoice::Named(size.into());
        let disk = |lun: u32| DataDisk {
            size_gb: 64u32 << lun,
            disk_type: DiskType::Premium,
            lun,
        };
        one.disks.data = (0..disks).map(disk).collect();
        if spot && stage == Stage::Inference {
            one.priority = spot_priority(Eviction::Delete);
        }
        one.protect = protect;
        one.allow_stop = allow_stop;
        if zones > 0 {
            one.zones = Zones::Listed((1..=zones).collect());
        }
        one
    })
}

fn spot_priority(eviction: Eviction) -> Priority {
    Priority::Spot(Spot {
        max_price: None,
        eviction,
        fallback_to_regular: false,
    })
}

fn any_spec() -> impl Strategy<Value = Spec> {
    let tags = proptest::collection::vec("[a-z]{1,6}", 0..3);
    (
        proptest::collection::vec(any_pool(), 1..3),
        any::<bool>(),
        prop_oneof![Just(Via::None), Just(Via::PublicIp), Just(Via::Bastion)],
        tags,
    )
        .prop_map(|(pools, nat, via, tags)| {
            let mut all = spec(pool(Stage::Training, Workload::Small));
            all.pools = pools
                .into_iter()
                .enumerate()
                .map(|(index, pool)| (format!("p{index}"), pool))
                .collect();
            if let Network::Own { outbound, .. } = &mut all.network {
                *outbound = if nat { Outbound::Nat } else { Outbound::None };
            }
            all.access.via = via;
            if via == Via::PublicIp {
                all.access.ssh_from = vec!["203.0.113.0/24".parse().expect("a block")];
            }
            all.tags = tags
                .into_iter()
                .map(|name| (CaseInsensitive::new(name), "v".to_owned()))
                .collect();
            all
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// What is desired, made live, needs nothing more.
    #[test]
    fn planning_what_is_live_gives_only_no_ops(spec in any_spec()) {
        let live = empty();
        let first = good_plan(&spec, &live);
        prop_assert!(first.changes().all(|step| step.action == Action::Create));
        let second = good_plan(&spec, &applied(&first, &live));
        prop_assert!(!second.has_changes, "{:?}", second.changes().collect::<Vec<_>>());
        prop_assert_eq!(second.cost.delta, model::plan::Total::default());
    }

    /// The same input gives the same bytes, whatever the order of live lists.
    #[test]
    fn the_order_of_live_lists_does_not_matter(one in any_spec(), other in any_spec(), seed in any::<u64>()) {
        let live = empty();
        let mut live = applied(&good_plan(&one, &live), &live);
        let ordered = planned(&other, &live);
        live.resources.sort_by_key(|resource| model::digest::of_text(&format!("{seed}{}", resource.id.key())));
        let shuffled = planned(&other, &live);
        prop_assert_eq!(serde_json::to_string(&ordered.plan).ok(), serde_json::to_string(&shuffled.plan).ok());
        prop_assert_eq!(ordered.diagnostics, shuffled.diagnostics);
    }

    /// Whatever the change from one spec to another: the plan is sound, and applying it leaves
    /// nothing to do but what was refused.
    #[test]
    fn every_change_of_spec_converges(one in any_spec(), other in any_spec()) {
        let live = empty();
        let live = applied(&good_plan(&one, &live), &live);
        let planned = planned(&other, &live);
        let plan = planned.plan.expect("a plan");
        prop_assert_eq!(plan.breaches(), Vec::<String>::new());
        if !planned.diagnostics.has_errors() {
            let after = applied(&plan, &live);
            let second = crate::support::planned(&other, &after).plan.expect("a plan");
            prop_assert!(!second.has_changes, "{:?}", second.changes().collect::<Vec<_>>());
        }
    }

    /// A plan document reads back as the same plan.
    #[test]
    fn plans_read_back(spec in any_spec()) {
        let mut plan = good_plan(&spec, &empty());
        plan.digest = plan.computed_digest();
        let text = serde_json::to_string_pretty(&plan).expect("plans serialise");
        // What was decided for `auto` stands in the memo, not in the plan.
        for pool in plan.pools.values_mut() {
            pool.choices.clear();
        }
        prop_assert_eq!(model::plan::read_plan(&text).expect("plans read back"), plan);
    }
}

/// The text of a sealed plan, made once.
static SAVED_PLAN: LazyLock<String> = LazyLock::new(|| {
    let mut plan = good_plan(&spec(pool(Stage::Training, Workload::Small)), &empty());
    plan.digest = plan.computed_digest();
    serde_json::to_string_pretty(&plan).expect("plans serialise")
});

proptest! {
    /// Whatever bytes a plan file has: it is refused with a reason, never misread, no panic.
    #[test]
    fn damaged_plans_are_refused(
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        cut in proptest::option::of(any::<proptest::sample::Index>()),
    ) {
        let text = SAVED_PLAN.as_str();
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let damaged = String::from_utf8_lossy(&bytes).into_owned();
        let same = serde_json::from_str::<serde_json::Value>(&damaged).ok() == serde_json::from_str(text).ok();
        match model::plan::read_plan(&damaged) {
            // Blanks between members mean nothing, and `run` is not part of what is done.
            Ok(plan) => prop_assert!(same || plan.digest == plan.computed_digest()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// Text that is no plan at all.
    #[test]
    fn texts_that_are_no_plans_are_refused(text in ".*") {
        prop_assert!(model::plan::read_plan(&text).is_err());
    }
}

/// Terms are a step only where an image has a purchase plan.
fn terms() -> Resource {
    Resource {
        tags: model::resource::Tags::default(),
        properties: model::resource::Properties::MarketplaceTerms(
            model::resource::MarketplaceTerms {
                plan: crate::own_images::purchase(),
                accepted: true,
            },
        ),
    }
}

/// A spec whose plans, by each way in, make resources of every kind that a spec can want.
fn rich_spec() -> Spec {
    let mut rich = spec(pool(Stage::Inference, Workload::Small));
    rich.tags
        .insert(CaseInsensitive::from("team"), "ml".to_owned());
    let mut spot = pool(Stage::Inference, Workload::Small);
    spot.priority = spot_priority(Eviction::Deallocate);
    spot.security = model::spec::SecurityChoice::TrustedLaunch;
    spot.zones = Zones::Listed(vec![1]);
    spot.disks.data = vec![DataDisk {
        size_gb: 64,
        disk_type: DiskType::Premium,
        lun: 0,
    }];
    rich.pools.insert("spot".to_owned(), spot);
    let near = rich.pools.get_mut("spot").expect("a pool");
    near.proximity_placement_group = Some(model::spec::ProximityGroup::Own);
    near.checkpoint = Some(crate::checkpoints::in_container(true));
    let mut set = rich.pools["spot"].clone();
    set.grouping = model::spec::Grouping::ScaleSet;
    rich.pools.insert("set".to_owned(), set);
    let mut batch = pool(Stage::Inference, Workload::Small);
    batch.orchestrator = model::spec::Orchestrator::Batch;
    batch.batch = Some(crate::batch::scaling(None));
    batch.count = Some(4);
    batch.disks = rich.pools["spot"].disks.clone();
    rich.identity = model::spec::Identity::User(
        model::ids::ArmId::resource_group("s", "rg")
            .in_group("Microsoft.ManagedIdentity/userAssignedIdentities", "u"),
    );
    rich.pools.insert("batch".to_owned(), batch);
    rich.pools.insert("aks".to_owned(), crate::aks::rich());
    let mut array = crate::node_arrays::array("Standard_F4s_v2", 4);
    array.stage = Stage::Inference;
    array.workload = Workload::Small;
    array.disks = rich.pools["spot"].disks.clone();
    rich.cyclecloud = crate::node_arrays::stack(array.clone()).cyclecloud;
    rich.pools.insert("array".to_owned(), array);
    rich.aks = Some(model::spec::kubernetes::Cluster {
        api_from: vec!["203.0.113.0/24".parse().expect("a block")],
        ..model::spec::kubernetes::Cluster::default()
    });
    rich
}

/// Every attribute that a resource of any kind can have is in the table of classes.
#[test]
fn every_attribute_has_a_class() {
    let mut rich = rich_spec();
    rich.access.via = Via::Bastion;
    let mut plans = vec![good_plan(&rich, &empty())];
    rich.access.via = Via::PublicIp;
    rich.access.ssh_from = vec!["203.0.113.0/24".parse().expect("a block")];
    plans.push(good_plan(&rich, &empty()));
    let terms = terms();
    let mut kinds = std::collections::BTreeSet::new();
    let steps = plans.iter().flat_map(|plan| &plan.steps);
    let desired = steps.filter_map(|step| step.after.as_ref());
    // Interfaces are never desired: they are only left behind.
    let interface = Resource {
        tags: model::resource::Tags::default(),
        properties: model::resource::Properties::NetworkInterface(
            model::resource::LooseInterface {
                location: Region::new("eastus"),
            },
        ),
    };
    for resource in desired.chain([&terms, &interface]) {
        kinds.insert(resource.kind());
        for path in resource.attributes().keys() {
            assert!(
                classify::class(resource.kind(), path).is_some(),
                "{} has no class for `{path}`",
                resource.kind()
            );
        }
    }
    assert_eq!(
        kinds.len(),
        ResourceKind::ALL.len(),
        "the spec makes every kind"
    );
    let rule = serde_json::json!({"rules": {"ssh": {"priority": 100}}});
    for path in attributes::flatten(rule).keys() {
        assert!(
            classify::class(ResourceKind::NetworkSecurityGroup, path).is_some(),
            "{path}"
        );
    }
}

/// Documents of resources read back, so that a saved plan loses nothing.
#[test]
fn resources_read_back() {
    let plan = good_plan(&spec(pool(Stage::Training, Workload::Small)), &empty());
    for resource in plan.steps.iter().filter_map(|step| step.after.as_ref()) {
        let read = Resource::from_document(resource.kind(), resource.document())
            .expect("documents read back");
        assert_eq!(&read, resource);
    }
}
