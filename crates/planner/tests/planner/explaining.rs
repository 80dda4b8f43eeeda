//! What is explained of a pool when it, or another one, fits nowhere.

use model::{
    plan::{Candidate, Verdict},
    spec::{Pool, SizeChoice, SizeConstraints, Spec, Stage, Workload},
    units::{Region, SizeName},
};

use crate::support::{empty, planned, pool, spec};

/// A pool `train` beside one that fits everywhere.
fn with_neighbour(train: Pool) -> Spec {
    let mut spec = spec(train);
    spec.pools
        .insert("web".to_owned(), pool(Stage::Inference, Workload::Small));
    spec
}

fn impossible() -> Pool {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Constrained(SizeConstraints {
        family: vec!["NC".to_owned()],
        gpu: vec!["H100".to_owned()],
        min_gpu_memory_gb: None,
        rdma: None,
        max_hourly: None,
    });
    pool
}

#[test]
fn a_pool_is_explained_although_its_neighbour_fits_nowhere() {
    let planned = planned(&with_neighbour(impossible()), &empty());
    assert!(planned.plan.is_none());
    let explanation = planned.explanation;
    assert_eq!(explanation.location, Some(Region::new("eastus")));
    assert_eq!(
        explanation.pools.keys().collect::<Vec<_>>(),
        ["web"],
        "what fits is explained as in a plan"
    );
    assert_eq!(explanation.refused.keys().collect::<Vec<_>>(), ["train"]);
}

#[test]
fn a_pool_for_which_nothing_fits_shows_every_size_and_the_nearest_first() {
    let mut planned = planned(&with_neighbour(impossible()), &empty());
    let refused = planned.explanation.refused.remove("train").expect("train");
    assert_eq!(
        refused.needs,
        "GPU sizes, ND preferred, else NC connected by Ethernet"
    );
    assert_eq!(refused.rules, ["A4"]);
    assert!(refused.candidates.len() > 20);
    let is_rejected = |candidate: &Candidate| {
        candidate.verdict == Verdict::Rejected && !candidate.reasons.is_empty()
    };
    assert!(refused.candidates.iter().all(is_rejected));
    let reasons = refused
        .candidates
        .iter()
        .map(|candidate| candidate.reasons.len());
    assert!(reasons.is_sorted(), "the fewest reasons come first");
}

#[test]
fn a_named_size_that_is_refused_says_by_what() {
    let mut train = pool(Stage::Training, Workload::Generative);
    train.size = SizeChoice::Named(SizeName::from("Standard_NC24rs_v3"));
    let planned = planned(&spec(train), &empty());
    let candidates = &planned.explanation.refused["train"].candidates;
    let [candidate] = candidates.as_slice() else {
        panic!("one candidate: {candidates:#?}");
    };
    assert_eq!(candidate.size.as_str(), "Standard_NC24rs_v3");
    assert_eq!(candidate.verdict, Verdict::Rejected);
    let codes = candidate.reasons.iter().map(|reason| reason.code.as_str());
    assert!(
        codes.clone().any(|code| code == "lifecycle"),
        "{candidate:#?}"
    );
}

#[test]
fn of_several_regions_the_preferred_one_is_explained() {
    let mut spec = with_neighbour(impossible());
    spec.locations = ["eastus", "westus2"].map(Region::new).to_vec();
    let explanation = planned(&spec, &empty()).explanation;
    assert_eq!(explanation.location, Some(Region::new("eastus")));
    assert!(explanation.refused.contains_key("train"));
}

#[test]
fn a_plan_and_its_explanation_say_the_same() {
    let spec = spec(pool(Stage::Training, Workload::Generative));
    let planned = planned(&spec, &empty());
    assert_eq!(
        planned.plan.expect("a plan").pools,
        planned.explanation.pools
    );
    assert!(planned.explanation.refused.is_empty());
}
