//! `orchestrator: auto`: what runs the jobs, and why.

use model::{
    catalog::Catalog,
    live::Live,
    plan::{Plan, PoolPlan},
    spec::{
        ContainerRuntime, Containers, Orchestrator, Pool, SizeChoice, Stage, Workload,
        batch::{Autoscale, Batch},
    },
    units::Span,
};

use crate::support::{actions, applied, empty, good_plan, options, planned_with, pool, spec};

fn open(stage: Stage, workload: Workload) -> Pool {
    let mut pool = pool(stage, workload);
    pool.orchestrator = Orchestrator::Auto;
    pool.count = Some(1);
    pool
}

fn in_containers(mut pool: Pool) -> Pool {
    pool.containers = Some(Containers {
        runtime: ContainerRuntime::Docker,
        images: vec!["nvcr.io/nvidia/pytorch:24.07-py3".to_owned()],
        registry: None,
        identity: None,
    });
    pool
}

/// The code of the decision, which must agree with what is planned.
fn code(decided: &PoolPlan) -> (&str, &str) {
    let mut choices = decided.choices.iter();
    let choice = choices
        .find(|choice| choice.key == "orchestrator")
        .expect("a decision");
    assert_eq!(choice.value, decided.orchestrator);
    assert!(decided.rules.contains(&"A32".to_owned()));
    let says = |line: &String| line.contains(&choice.why);
    assert!(decided.why.iter().any(says), "{:?}", decided.why);
    (&choice.value, &choice.code)
}

fn planned(pool: Pool, live: &Live) -> Plan {
    good_plan(&spec(pool), live)
}

#[test]
fn containers_scheduling_and_scaling_decide_what_runs_the_jobs() {
    let check = |pool: Pool, value: &str, expected: &str| {
        let plan = planned(pool, &empty());
        assert_eq!(code(&plan.pools["train"]), (value, expected));
    };
    let training = || open(Stage::Training, Workload::Generative);
    let serving = || open(Stage::Inference, Workload::Small);
    check(training(), "manual", "orchestrator_minimal");
    check(serving(), "manual", "orchestrator_minimal");
    check(
        in_containers(training()),
        "batch",
        "orchestrator_batch_containers",
    );
    check(
        in_containers(serving()),
        "manual",
        "orchestrator_aks_by_name",
    );
    let mut several = training();
    several.size = SizeChoice::Named("Standard_ND96isr_H100_v5".into());
    several.count = Some(2);
    check(several, "manual", "orchestrator_cyclecloud_not_yet");
    let mut scaled = serving();
    scaled.batch = Some(Batch {
        autoscale: Some(Autoscale {
            min: 0,
            formula: None,
            every: Span::from_seconds(900),
        }),
        ..Batch::default()
    });
    check(scaled, "batch", "orchestrator_batch_settings");
}

#[test]
fn auto_never_takes_batch_where_a_key_rules_it_out() {
    let mut scratch = in_containers(open(Stage::Training, Workload::Generative));
    scratch.disks.scratch_nvme = true;
    let plan = planned(scratch, &empty());
    let decided = &plan.pools["train"];
    assert_eq!(code(decided), ("manual", "orchestrator_batch_cannot"));
    let named = |line: &String| line.contains("`disks.scratch`");
    assert!(decided.why.iter().any(named), "{:?}", decided.why);
}

#[test]
fn what_is_live_stays_also_when_choices_are_made_anew() {
    let plain = open(Stage::Inference, Workload::Small);
    let mut training = open(Stage::Training, Workload::Generative);
    training.size = SizeChoice::Named("Standard_NC24ads_A100_v4".into());
    let live = applied(&planned(training.clone(), &empty()), &empty());
    // Containers would take Batch by now, and the nodes run.
    let later = in_containers(training);
    for reselect in [false, true] {
        let mut options = options();
        options.reselect = reselect;
        let planned = planned_with(&spec(later.clone()), Catalog::embedded(), &live, &options);
        let decided = &planned.explanation.pools["train"];
        assert_eq!(code(decided), ("manual", "orchestrator_kept"));
    }
    let live = applied(&good_plan(&spec(plain.clone()), &empty()), &empty());
    let again = good_plan(&spec(plain), &live);
    assert!(!again.has_changes, "{:?}", actions(&again));
}

#[test]
fn a_live_agent_pool_stays_one_when_the_choice_is_left_open() {
    let mut named = open(Stage::Inference, Workload::Complex);
    named.orchestrator = Orchestrator::Aks;
    named.size = SizeChoice::Named("Standard_NC4as_T4_v3".into());
    let live = applied(&good_plan(&spec(named.clone()), &empty()), &empty());
    let left_open = Pool {
        orchestrator: Orchestrator::Auto,
        ..named
    };
    let plan = planned(left_open, &live);
    assert_eq!(code(&plan.pools["train"]), ("aks", "orchestrator_kept"));
    assert!(!plan.has_changes, "{:?}", actions(&plan));
}
