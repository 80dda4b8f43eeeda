//! `orchestrator: auto`: what runs the jobs, and why.

use model::{
    catalog::Catalog,
    live::Live,
    plan::{Plan, PoolPlan},
    spec::{
        Bootstrap, ContainerRuntime, Containers, Grouping, OnBootstrapChange, Orchestrator, Pool,
        ScriptText, SizeChoice, Stage, Workload,
        batch::{Autoscale, Batch},
        kubernetes::AgentPoolSettings,
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

/// A pool that serves from containers of which it names no image.
fn serving_from(runtime: ContainerRuntime) -> Pool {
    let mut pool = open(Stage::Inference, Workload::Small);
    pool.containers = Some(Containers {
        runtime,
        images: Vec::new(),
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
        "orchestrator_aks_cannot",
    );
    check(
        serving_from(ContainerRuntime::Docker),
        "manual",
        "orchestrator_aks_cannot",
    );
    check(
        serving_from(ContainerRuntime::Containerd),
        "aks",
        "orchestrator_aks_service",
    );
    let mut to_zero = serving();
    to_zero.aks = Some(AgentPoolSettings {
        autoscale_min: Some(0),
        ..AgentPoolSettings::default()
    });
    check(to_zero, "aks", "orchestrator_aks_settings");
    let mut several = training();
    several.size = SizeChoice::Named("Standard_ND96isr_H100_v5".into());
    several.count = Some(2);
    check(several, "manual", "orchestrator_cyclecloud_by_name");
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
    let mut grouped = in_containers(open(Stage::Training, Workload::Generative));
    grouped.grouping = Grouping::Vms;
    let plan = planned(grouped, &empty());
    let decided = &plan.pools["train"];
    assert_eq!(code(decided), ("manual", "orchestrator_batch_cannot"));
    let named = |line: &String| line.contains("`grouping`");
    assert!(decided.why.iter().any(named), "{:?}", decided.why);
}

#[test]
fn what_nodes_run_when_they_start_first_keeps_auto_from_aks_and_not_from_batch() {
    let with_script = |mut pool: Pool| {
        pool.bootstrap = Some(Bootstrap {
            script: "setup.sh".to_owned(),
            on_change: OnBootstrapChange::Warn,
            text: Some(ScriptText("#!/bin/sh\n".to_owned())),
        });
        pool
    };
    let training = with_script(in_containers(open(Stage::Training, Workload::Generative)));
    let plan = planned(training, &empty());
    let expected = ("batch", "orchestrator_batch_containers");
    assert_eq!(code(&plan.pools["train"]), expected);
    let plan = planned(
        with_script(serving_from(ContainerRuntime::Containerd)),
        &empty(),
    );
    let decided = &plan.pools["train"];
    assert_eq!(code(decided), ("manual", "orchestrator_aks_cannot"));
    let named = |line: &String| line.contains("`bootstrap`");
    assert!(decided.why.iter().any(named), "{:?}", decided.why);
}

#[test]
fn what_serves_from_containers_stays_in_its_cluster_and_out_of_one() {
    let serving = serving_from(ContainerRuntime::Containerd);
    let live = applied(&planned(serving.clone(), &empty()), &empty());
    let again = planned(serving.clone(), &live);
    assert_eq!(code(&again.pools["train"]), ("aks", "orchestrator_kept"));
    assert!(!again.has_changes, "{:?}", actions(&again));
    // Nodes that served without containers stay what they are.
    let plain = open(Stage::Inference, Workload::Small);
    let live = applied(&planned(plain, &empty()), &empty());
    let plan = planned(serving, &live);
    assert_eq!(code(&plan.pools["train"]), ("manual", "orchestrator_kept"));
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
