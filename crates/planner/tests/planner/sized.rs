//! Pools whose model sizes them: by tokens and a deadline, by sequences, by name.

use model::{
    diag::Code,
    plan::PoolPlan,
    spec::{Method, Model, Pool, Precision, SizeChoice, Stage, Workload},
    units::SizeName,
};
use proptest::prelude::*;

use crate::support::{codes, empty, good_plan, planned, pool, spec};

const NC96: &str = "Standard_NC96ads_A100_v4";

fn named(name: &str) -> Model {
    Model {
        parameters: None,
        active_parameters: None,
        name: Some(name.to_owned()),
        config: None,
        transformer: None,
        precision: Precision::Bf16,
        method: Method::Full,
        sequence: Some(4_096),
        tokens: None,
        concurrency: None,
    }
}

fn trained(tokens: u64, deadline: &str) -> Pool {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.model = Some(Model {
        tokens: Some(tokens),
        ..named("llama-3.1-8b")
    });
    pool.deadline = deadline.parse().ok();
    pool.size = SizeChoice::Named(SizeName::from(NC96));
    pool
}

fn chosen(pool: Pool) -> PoolPlan {
    good_plan(&spec(pool), &empty()).pools["train"].clone()
}

fn seconds(pool: &PoolPlan) -> f64 {
    let speed = pool.throughput.as_ref().expect("it fits");
    speed.seconds.expect("the tokens are known")
}

#[test]
fn tokens_and_a_deadline_give_the_number_of_nodes() {
    let days = 86_400.0;
    let plan = chosen(trained(40_000_000_000, "20d"));
    assert!(plan.count > 1, "{}", plan.count);
    assert!(seconds(&plan) <= 20.0 * days);
    let mut fewer = trained(40_000_000_000, "20d");
    fewer.count = Some(plan.count - 1);
    let late = planned(&spec(fewer), &empty());
    assert!(codes(&late.diagnostics).contains(&"MODEL004"));
    let mut enough = trained(40_000_000_000, "20d");
    enough.count = Some(plan.count);
    assert_eq!(chosen(enough).count, plan.count);
}

#[test]
fn a_missed_deadline_says_how_many_nodes_would_do() {
    let mut late = trained(40_000_000_000, "20d");
    late.count = Some(1);
    let found = planned(&spec(late), &empty());
    let finding = found
        .diagnostics
        .iter()
        .find(|finding| finding.code == Code::DeadlineMissed)
        .expect("one node is too slow");
    assert!(finding.message.contains("1 VM of"), "{}", finding.message);
    let count = chosen(trained(40_000_000_000, "20d")).count;
    let help = format!("`count: {count}` would do");
    assert!(finding.help.contains(&help), "{:?}", finding.help);
}

#[test]
fn a_deadline_that_nothing_meets_is_one_error() {
    let mut late = trained(1_000_000_000_000, "1h");
    late.size = SizeChoice::Auto;
    let found = planned(&spec(late), &empty());
    assert!(found.plan.is_none());
    assert_eq!(codes(&found.diagnostics), ["MODEL004"]);
}

#[test]
fn a_model_that_many_read_at_once_takes_one_large_vm_and_not_many_small_ones() {
    let mut serve = pool(Stage::Inference, Workload::Generative);
    serve.model = Some(Model {
        sequence: Some(8_192),
        concurrency: Some(16),
        ..named("llama-3.1-70b")
    });
    let plan = chosen(serve.clone());
    assert_eq!((plan.size.as_str(), plan.count), (NC96, 1));
    // The smallest VM that holds the model would take many copies.
    serve.size = SizeChoice::Named(SizeName::from("Standard_NC80adis_H100_v5"));
    assert!(chosen(serve).count > 2);
}

#[test]
fn hours_of_an_assumed_sequence_are_said_to_be() {
    let mut vague = trained(1_000_000_000, "30d");
    if let Some(model) = &mut vague.model {
        model.sequence = None;
    }
    let found = planned(&spec(vague), &empty());
    assert!(codes(&found.diagnostics).contains(&"MODEL005"));
    let clear = planned(&spec(trained(1_000_000_000, "30d")), &empty());
    assert!(!codes(&clear.diagnostics).contains(&"MODEL005"));
}

#[test]
fn a_plan_shows_memory_split_speed_and_formulas() {
    let plan = chosen(trained(1_000_000_000, "30d"));
    let memory = plan.memory.expect("the model is known");
    assert!(memory.activations_bytes.is_some_and(|bytes| bytes > 0));
    let split = plan.parallelism.expect("the model is known");
    assert_eq!(split.tensor * split.pipeline * split.data, 4 * plan.count);
    let names: Vec<&str> = plan
        .formulas
        .iter()
        .map(|line| line.name.as_str())
        .collect();
    for name in ["weights", "activations", "mfu", "gpu_hours", "seconds"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

#[test]
fn a_model_that_nobody_knows_is_an_error_at_its_place() {
    let mut unknown = trained(1_000_000_000, "30d");
    unknown.model = Some(named("llama-9-1b"));
    unknown.deadline = None;
    let found = planned(&spec(unknown), &empty());
    let finding = found
        .diagnostics
        .iter()
        .find(|finding| finding.code == Code::ModelUnknown);
    let place = finding.and_then(|finding| finding.at.pool_name());
    assert_eq!(place, Some("train"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn more_sequences_never_take_fewer_nodes(few in 1_u32..400, more in 0_u32..400) {
        let served = |concurrency: u32| {
            let mut pool = pool(Stage::Inference, Workload::Generative);
            pool.model = Some(Model {
                concurrency: Some(concurrency),
                ..named("llama-3.1-8b")
            });
            pool.size = SizeChoice::Named(SizeName::from("Standard_NC24ads_A100_v4"));
            chosen(pool)
        };
        let (few, many) = (served(few), served(few + more));
        prop_assert!(few.count <= many.count);
        for plan in [few, many] {
            let memory = plan.memory.expect("the model is known");
            prop_assert!(memory.kv_cache_bytes.is_some());
            prop_assert!(memory.per_gpu_bytes <= memory.usable_per_gpu_bytes);
        }
    }
}
