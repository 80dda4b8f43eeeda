//! Scale sets: when a pool is one, what it is then, and how it grows, shrinks and is put right.

use model::{
    live::{Instance, Live, Power, Provisioning, State},
    plan::{Action, Operation, Plan, ReasonCode, Step},
    resource::{Orchestration, Resource, ScaleSet},
    spec::{Grouping, Pool, SizeChoice, Spec, Stage, Workload, Zones},
};

use crate::support::{
    actions, applied, codes, empty, good_plan, instance, live_stack, planned, pool, running, spec,
};

pub(crate) const INFINIBAND: &str = "Standard_ND96isr_H100_v5";

/// A pool of InfiniBand nodes.
pub(crate) fn fabric(count: u32) -> Pool {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Named(INFINIBAND.into());
    pool.count = Some(count);
    pool
}

/// A pool of nodes without InfiniBand.
pub(crate) fn ethernet(count: u32) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named("Standard_F4s_v2".into());
    pool.count = Some(count);
    pool
}

pub(crate) fn step(plan: &Plan) -> &Step {
    let mut steps = plan.steps.iter();
    steps
        .find(|step| step.address.to_string() == "pool.train.scale_set")
        .expect("a step for the set")
}

pub(crate) fn set(plan: &Plan) -> &ScaleSet {
    let after = step(plan).after.as_ref();
    after.and_then(Resource::scale_set).expect("a scale set")
}

pub(crate) fn with_count(spec: &Spec, count: u32) -> Spec {
    let mut spec = spec.clone();
    let pool = spec.pools.get_mut("train").expect("the pool");
    pool.count = Some(count);
    spec
}

/// The live set of the stack, to change it.
pub(crate) fn live_set(live: &mut Live) -> (&mut Provisioning, &mut ScaleSet, &mut Vec<Instance>) {
    let resource = live
        .resources
        .iter_mut()
        .find(|one| {
            one.address()
                .is_some_and(|address| address.leaf() == "scale_set")
        })
        .expect("the set");
    let instances = live.instances.get_mut(&resource.id).expect("its instances");
    let set = resource.resource.as_mut().and_then(Resource::scale_set_mut);
    (
        &mut resource.state.provisioning,
        set.expect("a scale set"),
        instances,
    )
}

pub(crate) fn messages(spec: &Spec, live: &Live) -> Vec<String> {
    let planned = planned(spec, live);
    let findings = planned.diagnostics.iter();
    findings
        .map(|finding| format!("{}: {}", finding.code, finding.message))
        .collect()
}

fn never_made() -> State {
    State {
        provisioning: Provisioning::Failed,
        message: Some("AllocationFailed: no capacity".to_owned()),
        ..State::default()
    }
}

pub(crate) fn away() -> State {
    State {
        power: Some(Power::Deallocated),
        ..State::default()
    }
}

#[test]
fn several_infiniband_nodes_are_one_uniform_set_in_one_placement_group() {
    let plan = good_plan(&spec(fabric(2)), &empty());
    let set = set(&plan);
    assert_eq!(set.orchestration, Orchestration::Uniform);
    assert!(set.single_placement_group && !set.overprovision);
    assert_eq!(
        (set.capacity, set.fault_domains, set.zones.len()),
        (2, 1, 0)
    );
    assert_eq!(set.upgrade_policy, Some("Manual".into()));
    let image = set.image.marketplace().expect("of the marketplace");
    assert_eq!(image.offer, "ubuntu-hpc".into());
    assert_eq!(set.computer_name_prefix, "demo-train");
    assert!(step(&plan).id.to_string().ends_with("/demo-train"));
    let pool = &plan.pools["train"];
    assert_eq!(
        (pool.grouping.as_str(), pool.placement.as_str()),
        ("scale_set", "single_placement_group")
    );
}

#[test]
fn one_infiniband_node_is_a_vm() {
    let plan = good_plan(&spec(fabric(1)), &empty());
    assert_eq!(plan.pools["train"].grouping, "vms");
}

#[test]
fn a_pool_of_model_size_is_a_cluster_over_infiniband() {
    let mut pool = fabric(1);
    (pool.size, pool.count) = (SizeChoice::Auto, Some(4));
    let plan = good_plan(&spec(pool), &empty());
    assert!(
        set(&plan).size.as_str().contains('r'),
        "{}",
        set(&plan).size
    );
    assert_eq!(set(&plan).orchestration, Orchestration::Uniform);
}

#[test]
fn more_than_ten_nodes_are_a_flexible_set() {
    assert_eq!(
        good_plan(&spec(ethernet(10)), &empty()).pools["train"].grouping,
        "vms"
    );
    let plan = good_plan(&spec(ethernet(11)), &empty());
    let set = set(&plan);
    assert_eq!(set.orchestration, Orchestration::Flexible);
    assert_eq!(
        (
            set.single_placement_group,
            set.fault_domains,
            &set.upgrade_policy
        ),
        (false, 1, &None)
    );
}

#[test]
fn a_set_can_be_asked_for_and_excluded() {
    let mut wanted = ethernet(2);
    wanted.grouping = Grouping::ScaleSet;
    assert_eq!(set(&good_plan(&spec(wanted), &empty())).capacity, 2);
    let mut single = ethernet(30);
    single.grouping = Grouping::Vms;
    let plan = good_plan(&spec(single), &empty());
    assert_eq!(plan.pools["train"].grouping, "vms");
    let mut torn = fabric(2);
    torn.grouping = Grouping::Vms;
    assert_eq!(
        messages(&spec(torn), &empty()),
        [format!(
            "SIZE003: `{INFINIBAND}` has InfiniBand, whose 2 nodes need one scale set to share a fabric, and the spec has `grouping: vms`"
        )]
    );
}

#[test]
fn a_set_that_is_live_changes_nothing() {
    for pool in [fabric(4), ethernet(20)] {
        let spec = spec(pool);
        assert!(!good_plan(&spec, &live_stack(&spec)).has_changes);
    }
}

/// Only a literal `latest` lets Azure upgrade the system of instances by itself, which somebody may
/// have turned on.
#[test]
fn a_set_that_azure_upgrades_keeps_its_literal_version() {
    for pool in [fabric(4), ethernet(20)] {
        let spec = spec(pool);
        let mut live = live_stack(&spec);
        let image = &mut live_set(&mut live).1.image;
        let image = image.marketplace_mut().expect("a marketplace image");
        "latest".clone_into(&mut image.version);
        assert!(!good_plan(&spec, &live).has_changes);
        let count = spec.pools["train"].count.expect("a count") + 1;
        let grown = good_plan(&with_count(&spec, count), &live);
        let image = match &set(&grown).image {
            model::resource::ImageReference::Marketplace(image) => image.version.as_str(),
            model::resource::ImageReference::Own(_) => "one of its own",
        };
        assert_eq!(image, "latest");
    }
}

#[test]
fn a_live_pool_keeps_its_grouping() {
    let small = spec(ethernet(10));
    let plan = good_plan(&with_count(&small, 12), &live_stack(&small));
    assert_eq!(
        actions(&plan),
        [
            ("pool.train[10].vm".to_owned(), Action::Create),
            ("pool.train[11].vm".to_owned(), Action::Create)
        ]
    );
    let large = spec(ethernet(20));
    let plan = good_plan(&with_count(&large, 1), &live_stack(&large));
    assert_eq!(set(&plan).capacity, 1);
    let mut torn = large.clone();
    torn.pools.get_mut("train").expect("the pool").grouping = Grouping::Vms;
    assert_eq!(
        messages(&torn, &live_stack(&large))[0],
        "POOL004: the pool is live as a scale set, the spec has `grouping: vms`"
    );
    let mut joined = small.clone();
    joined.pools.get_mut("train").expect("the pool").grouping = Grouping::ScaleSet;
    assert_eq!(
        messages(&joined, &live_stack(&small))[0],
        "POOL004: the pool is live as single VMs, the spec has `grouping: scale_set`"
    );
}

#[test]
fn growing_is_one_update_of_capacity() {
    let four = spec(fabric(4));
    let plan = good_plan(&with_count(&four, 6), &live_stack(&four));
    let step = step(&plan);
    assert_eq!(step.action, Action::Update);
    assert_eq!(
        step.operations,
        [Operation::Patch {
            attributes: vec!["capacity".to_owned()]
        }]
    );
    let cores = plan.quota.iter().find(|line| line.name == "cores");
    assert_eq!(cores.map(|line| line.needed), Some(2 * 96));
}

pub(crate) fn going(plan: &Plan) -> Vec<String> {
    let gone = step(plan).operations.iter().find_map(|one| {
        let Operation::DeleteInstances { instances } = one else {
            return None;
        };
        Some(instances.clone())
    });
    gone.unwrap_or_default()
}

#[test]
fn shrinking_names_the_instances_that_go_failed_ones_first_then_the_newest() {
    let twelve = spec(fabric(12));
    let mut live = live_stack(&twelve);
    let plan = good_plan(&with_count(&twelve, 9), &live);
    assert_eq!(going(&plan), ["9", "10", "11"], "numbers, not texts");
    assert_eq!(step(&plan).operations.len(), 1, "one write");
    let (_, _, instances) = live_set(&mut live);
    instances[2].state = away();
    instances[5].state = never_made();
    instances.reverse();
    let plan = good_plan(&with_count(&twelve, 9), &live);
    assert_eq!(going(&plan), ["2", "5", "11"]);
    let found = messages(&with_count(&twelve, 9), &live);
    assert!(
        found.contains(&"STATE006: `demo-train` loses 3 instances: 2, 5, 11".to_owned()),
        "{found:?}"
    );
}

#[test]
fn shrinking_keeps_zones_even() {
    let mut zoned = ethernet(12);
    zoned.zones = Zones::Listed(vec![1, 2]);
    let twelve = spec(zoned);
    let mut live = live_stack(&twelve);
    for (index, one) in live_set(&mut live).2.iter_mut().enumerate() {
        one.zone = Some(if index < 8 { "1" } else { "2" }.to_owned());
    }
    let plan = good_plan(&with_count(&twelve, 8), &live);
    assert_eq!(going(&plan), ["4", "5", "6", "7"], "the fullest zone first");
    assert_eq!(set(&plan).zones, ["1", "2"]);
}

#[test]
fn what_is_protected_loses_no_instance() {
    let mut protected = fabric(4);
    protected.protect = true;
    let four = spec(protected);
    let planned = planned(&with_count(&four, 3), &live_stack(&four));
    assert!(codes(&planned.diagnostics).contains(&"CHANGE004"));
}

#[test]
fn instances_that_never_got_hardware_are_made_again() {
    let spec = spec(fabric(4));
    let mut live = live_stack(&spec);
    let (provisioning, _, instances) = live_set(&mut live);
    *provisioning = Provisioning::Failed;
    instances[1].state = never_made();
    instances[3].state = never_made();
    let plan = good_plan(&spec, &live);
    let broken = step(&plan);
    assert_eq!(
        (broken.action, broken.reason.code),
        (Action::Repair, ReasonCode::FailedWithoutHardware)
    );
    let instances = vec!["1".to_owned(), "3".to_owned()];
    assert_eq!(
        broken.operations,
        [Operation::DeleteInstances { instances }, Operation::Put]
    );
    assert_eq!(
        messages(&spec, &live)[0],
        "STATE002: 2 of 4 instances of `demo-train` never got hardware: AllocationFailed: no capacity"
    );
    assert!(!good_plan(&spec, &applied(&plan, &live)).has_changes);
}

#[test]
fn a_failed_set_whose_instances_run_is_written_again_and_loses_none() {
    let spec = spec(fabric(4));
    let mut live = live_stack(&spec);
    *live_set(&mut live).0 = Provisioning::Failed;
    let plan = good_plan(&spec, &live);
    assert_eq!(
        (step(&plan).action, step(&plan).operations.as_slice()),
        (Action::Repair, [Operation::Put].as_slice())
    );
    assert!(codes(&planned(&spec, &live).diagnostics).contains(&"STATE001"));
}

#[test]
fn states_of_instances_are_said_and_are_no_drift() {
    let spec = spec(ethernet(20));
    let mut live = live_stack(&spec);
    let (_, _, instances) = live_set(&mut live);
    instances[4].state = away();
    crate::power::mark(&mut live, "stopped");
    let (_, _, instances) = live_set(&mut live);
    instances[7].latest_model = Some(false);
    instances[9].state.provisioning = Provisioning::Failed;
    assert!(!good_plan(&spec, &live).has_changes);
    let found = messages(&spec, &live);
    for text in [
        "STATE005: 1 of 20 instances of `demo-train` are behind its newest profile: 7",
        "STATE007: 1 of 20 instances of `demo-train` have no hardware: 4",
        "STATE001: 1 of 20 instances of `demo-train` run, but their last operation failed: 9",
    ] {
        assert!(found.contains(&text.to_owned()), "{text} in {found:?}");
    }
}

#[test]
fn an_image_of_another_kind_replaces_the_set_and_another_version_does_not() {
    let spec = spec(fabric(4));
    let mut live = live_stack(&spec);
    let image = live_set(&mut live).1.image.marketplace_mut();
    image.expect("of the marketplace").version = "1.0.0".to_owned();
    assert!(
        !good_plan(&spec, &live).has_changes,
        "a newer image is no reason"
    );
    let mut pinned = spec.clone();
    let urn = |text: &str| model::spec::ImageChoice::Urn {
        urn: text.parse().expect("a URN"),
        accept_terms: false,
    };
    let pool = pinned.pools.get_mut("train").expect("the pool");
    pool.image = urn("microsoft-dsvm:ubuntu-hpc:2404:2.0.0");
    let plan = good_plan(&pinned, &live);
    assert_eq!(
        (step(&plan).action, step(&plan).operations.as_slice()),
        (
            Action::Update,
            [Operation::Patch {
                attributes: vec!["image.version".to_owned()]
            }]
            .as_slice()
        )
    );
    let pool = pinned.pools.get_mut("train").expect("the pool");
    pool.image = urn("microsoft-dsvm:ubuntu-hpc:2204:2.0.0");
    let refused = planned(&pinned, &live);
    assert!(codes(&refused.diagnostics).contains(&"CHANGE001"));
    let replaced = refused.plan.expect("a plan");
    assert_eq!(step(&replaced).action, Action::Replace);
    let forced: Vec<&str> = step(&replaced)
        .reason
        .attributes
        .iter()
        .filter(|change| change.effect == Action::Replace)
        .map(|change| change.path.as_str())
        .collect();
    assert_eq!(forced, ["image.sku"]);
}

#[test]
fn a_set_pays_for_what_has_hardware_and_for_all_disks() {
    let spec = spec(ethernet(20));
    let mut live = live_stack(&spec);
    let quantity = |live: &Live, item: &str| {
        let plan = good_plan(&spec, live);
        let mut lines = plan.cost.lines.into_iter();
        lines
            .find(|line| line.item.contains(item))
            .map(|line| line.quantity)
    };
    assert_eq!(quantity(&live, "Standard_F4s_v2"), Some(20));
    // Before it is started, an instance that Azure took has no hardware to pay for.
    live_set(&mut live).2[3].state = away();
    assert_eq!(quantity(&live, "Standard_F4s_v2"), Some(20));
    assert_eq!(quantity(&live, "Premium SSD"), Some(20));
    let cost = good_plan(&spec, &live).cost;
    let each = cost.after.hourly_micros.0 - cost.before.hourly_micros.0;
    let machines = cost
        .lines
        .iter()
        .find(|line| line.item.contains("Standard_F4s_v2"));
    let of_all = machines
        .and_then(|line| line.hourly_micros)
        .expect("a price");
    assert_eq!(each, of_all.0 / 20, "one of twenty is to be paid for again");
}

#[test]
fn a_set_that_lost_every_instance_keeps_what_it_is() {
    let mut pool = fabric(4);
    (pool.size, pool.count) = (SizeChoice::Auto, Some(4));
    let spec = spec(pool);
    let mut live = live_stack(&spec);
    let (_, set, instances) = live_set(&mut live);
    set.capacity = 0;
    set.size = "Standard_ND96amsr_A100_v4".into();
    instances.clear();
    let plan = good_plan(&spec, &live);
    assert_eq!(
        (step(&plan).action, step(&plan).operations.as_slice()),
        (
            Action::Update,
            [Operation::Patch {
                attributes: vec!["capacity".to_owned()]
            }]
            .as_slice()
        )
    );
    assert_eq!(instance(7, running()).id, "7");
}

#[test]
fn a_set_of_no_nodes_keeps_what_it_is_and_a_new_pool_of_none_makes_none() {
    let mut spec = spec(fabric(3));
    let live = live_stack(&spec);
    spec = with_count(&spec, 0);
    let plan = good_plan(&spec, &live);
    let (before, after) = (step(&plan).before.as_ref(), set(&plan));
    let before = before.and_then(Resource::scale_set).expect("a set");
    assert_eq!((after.capacity, &after.image), (0, &before.image));
    assert_eq!((&after.zones, &after.size), (&before.zones, &before.size));
    // There is nothing to lose: an empty set may become another.
    let mut smaller = spec.clone();
    let pool = smaller.pools.get_mut("train").expect("the pool");
    pool.size = SizeChoice::Named("Standard_ND96amsr_A100_v4".into());
    let mut empty_set = live.clone();
    live_set(&mut empty_set).1.capacity = 0;
    live_set(&mut empty_set).2.clear();
    assert_eq!(
        step(&good_plan(&smaller, &empty_set)).action,
        Action::Replace
    );
    let mut made = good_plan(&spec, &empty());
    made.steps.retain(|step| step.address.pool_name().is_some());
    assert_eq!(made.steps, []);
}

#[test]
fn the_order_of_instances_makes_no_other_plan() {
    let spec = spec(fabric(12));
    let mut live = live_stack(&spec);
    let smaller = with_count(&spec, 5);
    let first = good_plan(&smaller, &live);
    live_set(&mut live).2.rotate_left(5);
    assert_eq!(good_plan(&smaller, &live).steps, first.steps);
}

#[test]
fn a_set_holds_its_subnet_and_its_key_when_all_is_destroyed() {
    let spec = spec(fabric(4));
    let live = live_stack(&spec);
    let mut options = crate::support::options();
    options.destroy = true;
    let planned =
        crate::support::planned_with(&spec, model::catalog::Catalog::embedded(), &live, &options);
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.breaches(), Vec::<String>::new());
    let needs: Vec<String> = step(&plan).needs.iter().map(ToString::to_string).collect();
    assert_eq!(
        needs,
        ["access.ssh_key", "network.subnet", "resource_group"]
    );
    assert_eq!(plan.cost.after.hourly_micros, model::units::Micros(0));
}
