//! Agent pools of Azure Kubernetes Service: what they are, what they cannot be, and how they
//! change.

use std::collections::BTreeMap;

use model::{
    diag::Code,
    plan::{Action, Plan, Step},
    resource::{AgentPool, Resource, VmPriority},
    spec::{
        Orchestrator, Pool, Priority, SizeChoice, Spec, Spot, Stage, Workload,
        kubernetes::{AgentPoolSettings, Cluster, GpuDriver, Mig},
    },
};

use crate::support::{empty, good_plan, live_stack, options, planned, planned_with, pool, spec};

fn agents(stage: Stage, size: &str, count: u32) -> Pool {
    let workload = match stage {
        Stage::Training => Workload::Generative,
        Stage::Inference => Workload::Complex,
    };
    let mut pool = pool(stage, workload);
    pool.orchestrator = Orchestrator::Aks;
    pool.size = SizeChoice::Named(size.into());
    pool.count = Some(count);
    pool
}

/// A pool that has a value at every attribute.
pub(crate) fn rich() -> Pool {
    let mut pool = agents(Stage::Inference, "Standard_NC24ads_A100_v4", 4);
    pool.priority = spot();
    pool.aks = Some(AgentPoolSettings {
        gpu_driver: GpuDriver::None,
        mig: Some(Mig::One),
        autoscale_min: Some(0),
        labels: BTreeMap::from([("team".to_owned(), "vision".to_owned())]),
        taints: None,
    });
    pool
}

fn spot() -> Priority {
    Priority::Spot(Spot {
        max_price: None,
        eviction: model::spec::Eviction::Delete,
        fallback_to_regular: false,
    })
}

fn step(plan: &Plan) -> &Step {
    let mut steps = plan.steps.iter();
    steps
        .find(|step| step.address.to_string() == "pool.train.agent_pool")
        .expect("a step for the pool")
}

fn made(plan: &Plan) -> &AgentPool {
    let after = step(plan).after.as_ref();
    after.and_then(Resource::agent_pool).expect("a pool")
}

fn changed(spec: &Spec, change: impl FnOnce(&mut Pool)) -> Spec {
    let mut spec = spec.clone();
    change(spec.pools.get_mut("train").expect("the pool"));
    spec
}

/// What is told of a pool with a code.
fn told(pool: Pool, code: Code) -> Vec<String> {
    let planned = planned(&spec(pool), &empty());
    let findings = planned.diagnostics.iter();
    let of_code = findings.filter(|finding| finding.code == code);
    of_code.map(|finding| finding.message.clone()).collect()
}

#[test]
fn a_cluster_is_made_with_its_system_pool_and_an_agent_pool() {
    let plan = good_plan(
        &spec(agents(Stage::Inference, "Standard_NC4as_T4_v3", 2)),
        &empty(),
    );
    let addresses: Vec<String> = plan
        .steps
        .iter()
        .map(|step| step.address.to_string())
        .collect();
    assert!(
        addresses.contains(&"aks.cluster".to_owned()),
        "{addresses:?}"
    );
    assert!(
        !addresses.contains(&"access.ssh_key".to_owned()),
        "{addresses:?}"
    );
    let cluster = plan.steps.iter().find_map(|step| {
        let after = step.after.as_ref()?;
        after.kubernetes_cluster()
    });
    let system = &cluster.expect("a cluster").system;
    assert_eq!(system.size.as_str(), "Standard_D4s_v5");
    assert_eq!(system.count, 2);
    let pool = made(&plan);
    assert_eq!(pool.gpu_driver.as_str(), "Install");
    assert!(pool.taints.contains("sku=gpu:NoSchedule"));
    assert_eq!(plan.pools["train"].orchestrator, "aks");
    let machines = plan
        .quota
        .iter()
        .find(|line| line.name == "virtualMachines");
    assert_eq!(
        machines.map(|line| line.needed),
        None,
        "nodes count as no VMs"
    );
}

#[test]
fn who_installs_the_driver_and_how_gpus_are_cut_make_a_pool_anew() {
    let first = spec(agents(Stage::Inference, "Standard_NC24ads_A100_v4", 1));
    let live = live_stack(&first);
    assert_eq!(step(&good_plan(&first, &live)).action, Action::NoOp);
    let with = |settings: AgentPoolSettings| {
        changed(&first, |pool| {
            pool.allow_stop = true;
            pool.aks = Some(settings);
        })
    };
    for settings in [
        AgentPoolSettings {
            gpu_driver: GpuDriver::None,
            ..AgentPoolSettings::default()
        },
        AgentPoolSettings {
            mig: Some(Mig::Two),
            ..AgentPoolSettings::default()
        },
    ] {
        let plan = good_plan(&with(settings), &live);
        assert_eq!(step(&plan).action, Action::Replace);
    }
    let labels = AgentPoolSettings {
        labels: BTreeMap::from([("team".to_owned(), "vision".to_owned())]),
        autoscale_min: Some(0),
        ..AgentPoolSettings::default()
    };
    let plan = good_plan(&with(labels), &live);
    assert_eq!(step(&plan).action, Action::Update);
}

#[test]
fn a_spot_pool_scales_to_zero() {
    let plan = good_plan(&spec(rich()), &empty());
    let pool = made(&plan);
    assert_eq!((pool.autoscale_min, pool.nodes), (Some(0), 4));
    assert!(matches!(pool.priority, VmPriority::Spot { .. }));
    assert_eq!(
        pool.mig.as_ref().map(model::units::CaseInsensitive::as_str),
        Some("MIG1g")
    );
}

#[test]
fn gpus_that_cannot_be_cut_are_refused_with_both_settings() {
    let mut pool = agents(Stage::Inference, "Standard_NC4as_T4_v3", 1);
    pool.aks = Some(AgentPoolSettings {
        mig: Some(Mig::One),
        ..AgentPoolSettings::default()
    });
    assert_eq!(
        told(pool, Code::AksRefused),
        [
            "`mig: 1g` cannot be used with `Standard_NC4as_T4_v3`: its GPUs (T4) are never cut into instances"
        ]
    );
}

#[test]
fn a_pool_with_infiniband_is_one_placement_group_in_one_zone() {
    const SIZE: &str = "Standard_ND96amsr_A100_v4";
    assert_eq!(
        told(agents(Stage::Training, SIZE, 101), Code::AksRefused),
        ["101 InfiniBand nodes do not fit into one placement group, which holds 100 at most"]
    );
    let mut two_zones = agents(Stage::Training, SIZE, 2);
    two_zones.zones = model::spec::Zones::Listed(vec![1, 2, 3]);
    assert_eq!(
        told(two_zones, Code::AksRefused),
        [
            "`zones` lists 3 zones, and `Standard_ND96amsr_A100_v4` shares a fabric within one zone alone"
        ]
    );
    assert_eq!(
        told(agents(Stage::Training, SIZE, 2), Code::AksFeatureUnchecked).len(),
        1
    );
    let other = agents(Stage::Inference, "Standard_NC4as_T4_v3", 2);
    assert!(told(other, Code::AksFeatureUnchecked).is_empty());
}

#[test]
fn names_of_agent_pools_are_short_and_never_that_of_the_system_pool() {
    let mut stack = spec(agents(Stage::Inference, "Standard_NC4as_T4_v3", 1));
    let pool = stack.pools["train"].clone();
    for name in ["system", "a-b", "ab", "serve-vision-llm"] {
        stack.pools.insert(name.to_owned(), pool.clone());
    }
    let plan = good_plan(&stack, &empty());
    let mut names: Vec<&str> = plan
        .steps
        .iter()
        .filter(|step| step.address.leaf() == "agent_pool")
        .map(|step| step.id.name())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.contains(&"train") && names.contains(&"ab"));
    assert!(!names.contains(&"system"));
    for name in names {
        let sound = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        assert!(name.len() <= 12 && name.chars().all(sound), "{name}");
    }
}

#[test]
fn a_system_pool_has_no_gpus_and_more_than_one_processor() {
    let refused = |size: &str| -> Vec<String> {
        let mut stack = spec(agents(Stage::Inference, "Standard_NC4as_T4_v3", 1));
        stack.aks = Some(Cluster {
            system_size: Some(size.into()),
            ..Cluster::default()
        });
        let planned = planned(&stack, &empty());
        let findings = planned.diagnostics.iter();
        let of_code = findings.filter(|finding| finding.code == Code::AksRefused);
        of_code.map(|finding| finding.message.clone()).collect()
    };
    assert_eq!(refused("Standard_D4s_v5"), Vec::<String>::new());
    let told = refused("Standard_NC4as_T4_v3");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("`Standard_NC4as_T4_v3` has T4 GPUs, and the system pool"),
        "{told:?}"
    );
    let told = refused("Standard_F1s");
    assert!(
        told.len() == 1 && told[0].contains("Standard_F1s"),
        "{told:?}"
    );
}

#[test]
fn sizes_that_aks_does_not_take_are_refused_by_name() {
    for (size, reason) in [
        ("Standard_NV24ads_V710_v5", "AKS does not support"),
        ("Standard_F1s", "AKS takes 2 or more"),
    ] {
        let planned = planned(&spec(agents(Stage::Inference, size, 1)), &empty());
        assert!(planned.plan.is_none(), "{size}");
        let said = |finding: &model::diag::Diagnostic| {
            finding.message.contains(size)
                && (finding.message.contains(reason)
                    || finding.help.iter().any(|line| line.contains(reason)))
        };
        let told: Vec<_> = planned.diagnostics.iter().collect();
        assert!(told.iter().any(|finding| said(finding)), "{told:?}");
    }
}

#[test]
fn a_protected_agent_pool_and_its_cluster_are_neither_deleted_nor_replaced() {
    let mut first = spec(agents(Stage::Inference, "Standard_NC4as_T4_v3", 1));
    first.pools.get_mut("train").expect("the pool").protect = true;
    let live = live_stack(&first);
    let mut options = options();
    options.destroy = true;
    let planned = planned_with(&first, model::catalog::Catalog::embedded(), &live, &options);
    let deleted: Vec<String> = planned
        .plan
        .iter()
        .flat_map(|plan| &plan.steps)
        .filter(|step| step.action == Action::Delete)
        .map(|step| step.address.to_string())
        .collect();
    for kept in ["pool.train.agent_pool", "aks.cluster", "resource_group"] {
        assert!(!deleted.contains(&kept.to_owned()), "{kept}: {deleted:?}");
    }
    // Another size makes the pool anew, which is what protection forbids.
    let other = changed(&first, |pool| {
        pool.allow_stop = true;
        pool.size = SizeChoice::Named("Standard_NC8as_T4_v3".into());
    });
    let planned = self::planned(&other, &live);
    let codes: Vec<&str> = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.message.contains("protected"))
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(codes.len(), 1, "{:?}", planned.diagnostics);
}

#[test]
fn an_agent_pool_is_made_anew_only_where_stopping_is_allowed() {
    let first = spec(agents(Stage::Inference, "Standard_NC4as_T4_v3", 1));
    let live = live_stack(&first);
    let other = |allow_stop: bool| {
        changed(&first, |pool| {
            pool.allow_stop = allow_stop;
            pool.size = SizeChoice::Named("Standard_NC8as_T4_v3".into());
        })
    };
    let plan = good_plan(&other(true), &live);
    assert_eq!(step(&plan).action, Action::Replace);
    let refused = planned(&other(false), &live);
    let told = refused
        .diagnostics
        .iter()
        .any(|finding| finding.help.iter().any(|line| line.contains("allow_stop")));
    assert!(told, "{:?}", refused.diagnostics);
}
