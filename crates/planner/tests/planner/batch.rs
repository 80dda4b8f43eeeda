//! Pools of Azure Batch: what they are, what they cannot be, and how they change.

use std::collections::BTreeSet;

use model::{
    diag::Diagnostics,
    live::{Answer, Live, Provisioning, Question, UsageFact},
    plan::{Action, Operation, Plan, QuotaLine, Step},
    resource::{BatchPool, Resource, VmPriority},
    spec::{
        ImageChoice, Orchestrator, Pool, Priority, SizeChoice, Spec, Spot, Stage, Workload,
        batch::{Autoscale, Batch},
    },
    units::{Region, SizeName, Span},
};

use crate::support::{empty, good_plan, live_stack, planned, pool, spec};

/// A pool of GPU nodes without InfiniBand.
fn scoring(count: u32) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Complex);
    pool.orchestrator = Orchestrator::Batch;
    pool.size = SizeChoice::Named("Standard_NC4as_T4_v3".into());
    pool.count = Some(count);
    pool
}

/// A pool of InfiniBand nodes.
fn training(count: u32) -> Pool {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.orchestrator = Orchestrator::Batch;
    pool.size = SizeChoice::Named("Standard_ND96amsr_A100_v4".into());
    pool.count = Some(count);
    pool
}

fn spot() -> Priority {
    Priority::Spot(Spot {
        max_price: None,
        eviction: model::spec::Eviction::Delete,
        fallback_to_regular: false,
    })
}

pub(crate) fn scaling(formula: Option<&str>) -> Batch {
    Batch {
        autoscale: Some(Autoscale {
            min: 1,
            formula: formula.map(ToOwned::to_owned),
            every: Span::from_seconds(600),
        }),
        ..Batch::default()
    }
}

fn step(plan: &Plan) -> &Step {
    let mut steps = plan.steps.iter();
    steps
        .find(|step| step.address.to_string() == "pool.train.batch_pool")
        .expect("a step for the pool")
}

fn made(plan: &Plan) -> &BatchPool {
    let after = step(plan).after.as_ref();
    after.and_then(Resource::batch_pool).expect("a pool")
}

fn changed(spec: &Spec, change: impl FnOnce(&mut Pool)) -> Spec {
    let mut spec = spec.clone();
    change(spec.pools.get_mut("train").expect("the pool"));
    spec
}

fn said(diagnostics: &Diagnostics, code: &str) -> Vec<String> {
    diagnostics
        .iter()
        .filter(|finding| finding.code.to_string() == code)
        .map(|finding| finding.message.clone())
        .collect()
}

fn refused(spec: &Spec, code: &str) -> Vec<String> {
    let planned = planned(spec, &empty());
    let found = said(&planned.diagnostics, code);
    assert!(!found.is_empty(), "{:#?}", planned.diagnostics);
    found
}

#[test]
fn several_infiniband_nodes_reach_each_other_and_others_do_not() {
    let plan = good_plan(&spec(training(2)), &empty());
    let pool = made(&plan);
    assert!(pool.inter_node && pool.autoscale.is_none());
    assert_eq!((pool.nodes, pool.task_slots), (2, 1));
    assert_eq!(pool.node_agent, "batch.node.ubuntu 22.04".into());
    let image = pool.image.marketplace().expect("of the marketplace");
    assert_eq!(
        (image.offer.as_str(), image.sku.as_str()),
        ("ubuntu-hpc", "2204")
    );
    assert_eq!(pool.network.addresses, "NoPublicIPAddresses".into());
    assert_eq!(plan.pools["train"].grouping, "batch_pool");
    assert_eq!(plan.pools["train"].orchestrator, "batch");
    let keyless = plan
        .steps
        .iter()
        .all(|step| step.address.leaf() != "ssh_key");
    assert!(keyless, "nobody signs in to nodes of Batch");
    assert!(!made(&good_plan(&spec(training(1)), &empty())).inter_node);
    assert!(!made(&good_plan(&spec(scoring(2)), &empty())).inter_node);
    let mut apart = training(2);
    apart.batch = Some(Batch {
        inter_node: Some(false),
        ..Batch::default()
    });
    assert!(!made(&good_plan(&spec(apart), &empty())).inter_node);
}

#[test]
fn a_pool_that_shrinks_to_one_node_stays_what_it_is() {
    let live = live_stack(&spec(training(2)));
    let plan = good_plan(&spec(training(1)), &live);
    assert!(made(&plan).inter_node);
    assert_eq!(step(&plan).action, Action::Update);
    let changed = &step(&plan).reason.attributes;
    let paths: Vec<&str> = changed.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["nodes"]);
}

#[test]
fn the_names_of_accounts_are_short_and_belong_to_the_group() {
    let account = |name: &str| {
        let mut spec = spec(scoring(1));
        name.clone_into(&mut spec.name);
        spec.resource_group = format!("rg-{name}");
        let plan = good_plan(&spec, &empty());
        let mut steps = plan.steps.iter();
        let step = steps.find(|step| step.address.to_string() == "batch.account");
        step.expect("an account").id.name().to_owned()
    };
    let long = account("the-name-of-this-stack-is-rather-long-ok");
    assert_eq!(long.len(), 24);
    assert!(long.starts_with("thenameofthisstackis"), "{long}");
    let letters = |name: &str| {
        name.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    assert!(letters(&long) && letters(&account("demo")));
    assert_ne!(account("demo"), account("de-mo"), "their groups differ");
}

#[test]
fn a_pair_that_nobody_has_confirmed_is_said_and_a_named_one_is_not() {
    let warned = |pool: Pool| {
        let planned = planned(&spec(pool), &empty());
        said(&planned.diagnostics, "BATCH003")
    };
    assert_eq!(
        warned(scoring(1)),
        [
            "that Batch takes microsoft-dsvm:ubuntu-2204:2204-gen2 with `batch.node.ubuntu 22.04` is likely and not confirmed: nodes may turn out unusable"
        ]
    );
    assert!(warned(training(2)).is_empty());
    let mut named = scoring(1);
    named.batch = Some(Batch {
        node_agent: Some("batch.node.ubuntu 22.04".to_owned()),
        ..Batch::default()
    });
    assert!(warned(named).is_empty());
}

#[test]
fn images_that_batch_does_not_run_are_refused_with_the_way_out() {
    let mut hpc = scoring(1);
    hpc.image = ImageChoice::Hpc;
    let messages = refused(&spec(hpc), "SIZE003");
    assert!(messages[0].contains("on RDMA sizes alone"), "{messages:?}");
    let mut unknown = scoring(1);
    unknown.image = ImageChoice::Urn {
        urn: "someone:else:any:1.0.0".parse().expect("an image"),
        accept_terms: false,
    };
    let messages = refused(&spec(unknown), "SIZE003");
    assert!(
        messages[0].contains("`batch.node_agent` names it"),
        "{messages:?}"
    );
}

#[test]
fn containers_run_on_images_that_bring_what_runs_them() {
    let docker = |pool: &mut Pool| {
        pool.containers = Some(model::spec::Containers {
            runtime: model::spec::ContainerRuntime::Docker,
            images: vec!["nvcr.io/nvidia/pytorch:24.07-py3".to_owned()],
            registry: None,
            identity: None,
        });
    };
    let mut scoring = scoring(1);
    docker(&mut scoring);
    let plan = good_plan(&spec(scoring.clone()), &empty());
    let containers = made(&plan).containers.clone().expect("containers");
    assert_eq!(containers.kind, "DockerCompatible".into());
    assert_eq!(containers.images.len(), 1);
    scoring.image = ImageChoice::Urn {
        urn: "Canonical:ubuntu-24_04-lts:server:latest"
            .parse()
            .expect("an image"),
        accept_terms: false,
    };
    let messages = refused(&spec(scoring), "SIZE003");
    assert!(
        messages[0].contains("brings nothing that runs containers"),
        "{messages:?}"
    );
}

#[test]
fn a_size_that_batch_does_not_offer_is_refused_before_anything_is_written() {
    let mut live = empty();
    let sizes = |names: &[&str]| {
        let names: BTreeSet<SizeName> = names.iter().map(|name| SizeName::from(*name)).collect();
        Answer::Known(names)
    };
    let region = Region::new("eastus");
    live.facts
        .batch_sizes
        .insert(region.clone(), sizes(&["Standard_D4s_v5"]));
    let found = planned(&spec(scoring(1)), &live);
    let messages = said(&found.diagnostics, "SIZE003");
    assert!(messages[0].contains("Standard_NC4as_T4_v3"), "{messages:?}");
    assert!(
        messages[0].contains("none of the sizes of Batch in eastus"),
        "{messages:?}"
    );
    live.facts
        .batch_sizes
        .insert(region, sizes(&["standard_nc4as_t4_v3"]));
    good_plan(&spec(scoring(1)), &live);
}

#[test]
fn what_a_pool_cannot_hold_is_refused() {
    let messages = refused(&spec(training(101)), "BATCH001");
    assert!(
        messages[0].contains("101 nodes that reach each other"),
        "{messages:?}"
    );
    let mut slots = scoring(1);
    slots.batch = Some(Batch {
        task_slots: Some(17),
        ..Batch::default()
    });
    let messages = refused(&spec(slots), "BATCH001");
    assert!(
        messages[0].contains("takes 16 tasks at once"),
        "{messages:?}"
    );
}

#[test]
fn a_formula_is_kept_between_its_bounds() {
    let mut own = scoring(8);
    own.batch = Some(scaling(Some("$TargetDedicatedNodes = 99;")));
    let plan = good_plan(&spec(own), &empty());
    let autoscale = made(&plan).autoscale.clone().expect("a formula");
    assert_eq!(
        autoscale.formula,
        "$TargetDedicatedNodes = 99;\n$TargetDedicatedNodes = max(1, min(8, $TargetDedicatedNodes));\n$TargetLowPriorityNodes = 0;\n"
    );
    assert_eq!(autoscale.interval_minutes, 10);
    let mut waiting = scoring(8);
    waiting.priority = spot();
    waiting.batch = Some(scaling(None));
    let mut waiting = spec(waiting);
    waiting.locations = vec![Region::new("westus2")];
    let plan = good_plan(&waiting, &empty());
    let autoscale = made(&plan).autoscale.clone().expect("a formula");
    assert!(
        autoscale
            .formula
            .contains("$TargetLowPriorityNodes = ($tasks + 0) / 1;")
    );
    assert_eq!(autoscale.bounds(), Some((8, true)));
    assert!(matches!(made(&plan).priority, VmPriority::Spot { .. }));
}

#[test]
fn a_live_pool_is_equal_to_its_spec() {
    let mut scaled = scoring(4);
    scaled.batch = Some(scaling(None));
    for pool in [scoring(2), training(3), scaled, scoring(0)] {
        let spec = spec(pool);
        let plan = good_plan(&spec, &live_stack(&spec));
        assert!(
            !plan.has_changes,
            "{:#?}",
            plan.changes().collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_number_of_nodes_is_written_and_what_a_node_is_makes_the_pool_anew() {
    let before = spec(scoring(2));
    let live = live_stack(&before);
    let plan = good_plan(&changed(&before, |pool| pool.count = Some(5)), &live);
    let patch = |path: &str| Operation::Patch {
        attributes: vec![path.to_owned()],
    };
    assert_eq!(step(&plan).action, Action::Update);
    assert_eq!(step(&plan).operations, [patch("nodes")]);
    let scaled = changed(&before, |pool| pool.batch = Some(scaling(None)));
    assert_eq!(step(&good_plan(&scaled, &live)).action, Action::Update);
    let other = changed(&before, |pool| {
        pool.size = SizeChoice::Named("Standard_NC8as_T4_v3".into());
    });
    let found = planned(&other, &live);
    assert_eq!(said(&found.diagnostics, "CHANGE001").len(), 1);
    let allowed = changed(&other, |pool| pool.allow_stop = true);
    let plan = good_plan(&allowed, &live);
    assert_eq!(step(&plan).action, Action::Replace);
    assert_eq!(
        step(&plan).operations,
        [Operation::Delete, Operation::Create]
    );
    let moved = changed(&before, |pool| pool.orchestrator = Orchestrator::Manual);
    let found = planned(&moved, &live);
    assert_eq!(
        said(&found.diagnostics, "POOL004"),
        ["the pool is live as a pool of Batch, the spec has another `orchestrator`"]
    );
}

/// The live pool, to change it.
fn live_pool(live: &mut Live) -> &mut model::live::LiveResource {
    let mut resources = live.resources.iter_mut();
    resources
        .find(|one| {
            one.address()
                .is_some_and(|address| address.leaf() == "batch_pool")
        })
        .expect("the pool")
}

#[test]
fn nodes_that_did_not_come_are_asked_for_again() {
    let spec = spec(scoring(2));
    let mut live = live_stack(&spec);
    let pool = live_pool(&mut live);
    pool.state.provisioning = Provisioning::Failed;
    pool.state.nodes = Some(1);
    pool.state.message = Some("AllocationFailed: 1 of 2 nodes came: no capacity".to_owned());
    let found = planned(&spec, &live);
    assert_eq!(
        said(&found.diagnostics, "BATCH002"),
        [
            "`demo-train` has 1 of 2 nodes, and Batch has given up on the rest: AllocationFailed: 1 of 2 nodes came: no capacity"
        ]
    );
    let plan = found.plan.expect("a plan");
    assert_eq!(step(&plan).action, Action::Repair);
    assert_eq!(
        step(&plan).operations,
        [Operation::Patch {
            attributes: vec!["nodes".to_owned()]
        }]
    );
    // Half of the nodes costs half now, and all of them after.
    assert!(plan.cost.before.hourly_micros < plan.cost.after.hourly_micros);
}

#[test]
fn nodes_that_a_formula_does_not_want_are_no_drift_and_cost_nothing_more() {
    let mut scaled = scoring(4);
    scaled.batch = Some(scaling(None));
    let spec = spec(scaled);
    let mut live = live_stack(&spec);
    live_pool(&mut live).state.nodes = Some(1);
    let plan = good_plan(&spec, &live);
    assert!(!plan.has_changes);
    assert_eq!(plan.cost.before, plan.cost.after);
}

fn limits(live: &mut Live, spec: &Spec, family: i64) {
    let plan = good_plan(spec, &empty());
    let account = step(&plan).id.parent().expect("an account");
    let fact = |name: &str, limit: i64| UsageFact {
        name: name.to_owned(),
        display_name: "vCPUs".to_owned(),
        limit,
        used: 0,
    };
    let facts = vec![
        fact("dedicatedCores", 1_000),
        fact("pools", 10),
        fact("Standard NCASv3_T4 Family", family),
    ];
    let question = Question::BatchQuota(account.clone());
    assert!(!live.facts.has(&question));
    live.facts.batch_quota.insert(account, Answer::Known(facts));
}

#[test]
fn the_quota_is_that_of_the_account() {
    let before = spec(scoring(2));
    let mut live = live_stack(&before);
    limits(&mut live, &before, 16);
    let after = changed(&before, |pool| pool.count = Some(6));
    let found = planned(&after, &live);
    let plan = found.plan.expect("a plan");
    let line = |name: &str| -> &QuotaLine {
        let mut lines = plan.quota.iter();
        lines.find(|line| line.name == name).expect(name)
    };
    let all = line("batch/dedicatedCores");
    assert_eq!((all.used, all.needed, all.after), (Some(8), 16, Some(24)));
    assert!(plan.quota.iter().all(|line| line.name != "cores"));
    let family = plan
        .quota
        .iter()
        .find(|line| line.name.contains("T4"))
        .expect("the family");
    assert_eq!(family.needed, 16);
    // An account that does not exist yet has no quota that anybody could know.
    let found = planned(&before, &empty());
    let messages = said(&found.diagnostics, "QUOTA002");
    assert!(
        messages[0].contains("Azure gives it one when it is made"),
        "{messages:?}"
    );
}

#[test]
fn the_account_goes_with_its_last_pool() {
    let before = spec(scoring(2));
    let live = live_stack(&before);
    let mut manual = pool(Stage::Inference, Workload::Small);
    manual.count = Some(1);
    let mut after = before.clone();
    after.pools.clear();
    after.pools.insert("serve".to_owned(), manual);
    let plan = good_plan(&after, &live);
    let deleted: Vec<String> = plan
        .steps
        .iter()
        .filter(|step| step.action == Action::Delete)
        .map(|step| step.address.to_string())
        .collect();
    assert_eq!(deleted, ["pool.train.batch_pool", "batch.account"]);
}
