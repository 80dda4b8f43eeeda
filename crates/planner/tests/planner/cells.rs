//! The six cells of the article's table, decided from the embedded catalogue.

use model::{
    catalog::Catalog,
    live::Answer,
    plan::Verdict,
    spec::{
        Grouping, ImageChoice, Method, Model, Precision, SizeChoice, SizeConstraints, Stage,
        Workload,
    },
    units::{Region, SizeName},
};

use crate::support::{codes, empty, good_plan, planned, pool, spec};

fn model(parameters: u64, method: Method, precision: Precision) -> Model {
    Model {
        parameters: Some(parameters),
        active_parameters: None,
        name: None,
        config: None,
        transformer: None,
        precision,
        method,
        sequence: None,
        tokens: None,
        concurrency: None,
    }
}

#[test]
fn each_cell_gets_the_family_that_the_article_names() {
    let check = |stage: Stage, workload: Workload, size: &str, image: &str| {
        let plan = good_plan(&spec(pool(stage, workload)), &empty());
        let chosen = &plan.pools["train"];
        assert_eq!(
            (chosen.size.as_str(), chosen.image.kind.as_str()),
            (size, image),
            "{stage:?} {workload:?}"
        );
    };
    check(
        Stage::Training,
        Workload::Generative,
        "Standard_ND96isr_H100_v5",
        "hpc",
    );
    check(
        Stage::Training,
        Workload::Complex,
        "Standard_ND96isr_H100_v5",
        "hpc",
    );
    check(Stage::Training, Workload::Small, "Standard_E8as_v7", "dsvm");
    check(
        Stage::Inference,
        Workload::Generative,
        "Standard_NC40ads_H100_v5",
        "dsvm",
    );
    check(
        Stage::Inference,
        Workload::Complex,
        "Standard_NC40ads_H100_v5",
        "dsvm",
    );
    check(
        Stage::Inference,
        Workload::Small,
        "Standard_F4als_v7",
        "dsvm",
    );
}

#[test]
fn every_candidate_is_kept_or_rejected_with_a_reason() {
    let plan = good_plan(&spec(pool(Stage::Training, Workload::Generative)), &empty());
    let candidates = &plan.pools["train"].candidates;
    assert!(candidates.len() > 20);
    for candidate in candidates {
        let kept = candidate.verdict == Verdict::Kept;
        assert_eq!(kept, candidate.rank.is_some(), "{}", candidate.size);
        assert_eq!(kept, candidate.reasons.is_empty(), "{}", candidate.size);
    }
}

#[test]
fn a_model_is_served_by_the_smallest_gpu_that_holds_it() {
    let check = |parameters: u64, precision: Precision, expected: &str| {
        let mut pool = pool(Stage::Inference, Workload::Generative);
        pool.model = Some(model(parameters, Method::Full, precision));
        assert_eq!(
            good_plan(&spec(pool), &empty()).pools["train"].size,
            SizeName::from(expected),
            "{parameters}"
        );
    };
    check(1_000_000_000, Precision::Fp16, "Standard_NC4as_T4_v3");
    // A T4 has no bf16.
    check(1_000_000_000, Precision::Bf16, "Standard_NC24ads_A100_v4");
    check(30_000_000_000, Precision::Bf16, "Standard_NC24ads_A100_v4");
    check(36_000_000_000, Precision::Bf16, "Standard_NC40ads_H100_v5");
    check(60_000_000_000, Precision::Bf16, "Standard_NC48ads_A100_v4");
}

#[test]
fn a_model_that_no_nc_holds_is_served_by_nd() {
    let mut pool = pool(Stage::Inference, Workload::Generative);
    pool.model = Some(model(200_000_000_000, Method::Full, Precision::Bf16));
    let plan = good_plan(&spec(pool), &empty());
    let chosen = &plan.pools["train"];
    assert!(
        chosen.size.as_str().starts_with("Standard_ND96"),
        "{}",
        chosen.size
    );
    assert_eq!(
        chosen
            .memory
            .as_ref()
            .and_then(|memory| memory.kv_cache_bytes),
        None,
        "unknown, not zero"
    );
}

#[test]
fn a_model_that_one_nc_node_trains_needs_no_nd() {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.model = Some(model(7_000_000_000, Method::Full, Precision::Bf16));
    let plan = good_plan(&spec(pool), &empty());
    assert_eq!(
        plan.pools["train"].size,
        SizeName::from("Standard_NC48ads_A100_v4")
    );
    assert_eq!(plan.pools["train"].count, 1);
}

#[test]
fn the_data_science_vm_is_overridden_where_it_cannot_work_and_refused_where_it_is_named() {
    let mut named = pool(Stage::Training, Workload::Generative);
    named.size = SizeChoice::Named(SizeName::from("standard_nd96isr_h100_V5"));
    let plan = good_plan(&spec(named.clone()), &empty());
    assert_eq!(plan.pools["train"].image.kind, "hpc");
    assert!(
        plan.pools["train"]
            .why
            .iter()
            .any(|why| why.contains("instead of the Data Science VM"))
    );

    named.image = ImageChoice::Dsvm;
    let planned = planned(&spec(named), &empty());
    assert!(
        codes(&planned.diagnostics).contains(&"SIZE003"),
        "{:?}",
        planned.diagnostics
    );
    assert!(planned.plan.is_none());
}

#[test]
fn the_hpc_image_takes_over_where_the_data_science_vm_is_gone() {
    let mut live = empty();
    let question = model::live::ImageQuestion {
        location: Region::new("eastus"),
        publisher: "microsoft-dsvm".to_owned(),
        offer: "ubuntu-2204".to_owned(),
        sku: "2204-gen2".to_owned(),
        version: None,
    };
    live.facts.images.insert(question, Answer::Known(None));
    let plan = good_plan(&spec(pool(Stage::Training, Workload::Small)), &live);
    assert_eq!(plan.pools["train"].image.kind, "hpc");
    assert!(
        plan.pools["train"]
            .why
            .iter()
            .any(|why| why.contains("not to be had in eastus")),
        "{:?}",
        plan.pools["train"].why
    );
}

#[test]
fn sizes_that_cannot_work_are_refused_by_name() {
    let check = |size: &str, expected: &str| {
        let mut pool = pool(Stage::Training, Workload::Generative);
        pool.size = SizeChoice::Named(SizeName::from(size));
        let planned = planned(&spec(pool), &empty());
        let errors: Vec<&str> = planned
            .diagnostics
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert!(planned.diagnostics.has_errors(), "{size}");
        assert!(
            errors.iter().any(|error| error.contains(expected)),
            "{size}: {errors:?}"
        );
    };
    check("Standard_NC24rs_v3", "retired");
    check(
        "Standard_ND96isr_H10_v5",
        "no size `Standard_ND96isr_H10_v5`",
    );
    check("Standard_ND128isr_NDR_GB200_v6", "rack");
    check("Standard_ND96isr_H200_v5", "not offered in eastus");
}

#[test]
fn constraints_narrow_the_choice_and_an_impossible_one_names_what_binds() {
    let mut constrained = pool(Stage::Training, Workload::Generative);
    constrained.size = SizeChoice::Constrained(SizeConstraints {
        gpu: vec!["A100-80".to_owned()],
        rdma: Some(true),
        ..SizeConstraints::default()
    });
    assert_eq!(
        good_plan(&spec(constrained.clone()), &empty()).pools["train"].size,
        SizeName::from("Standard_ND96amsr_A100_v4")
    );
    constrained.size = SizeChoice::Constrained(SizeConstraints {
        gpu: vec!["H100".to_owned()],
        max_hourly: "50".parse().ok(),
        ..SizeConstraints::default()
    });
    let planned = planned(&spec(constrained), &empty());
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "SIZE002")
        .expect("a refusal");
    assert_eq!(
        finding.message,
        "no size that fits is within `max_hourly: 50`: the cheapest, `Standard_ND96isr_H100_v5`, \
         costs 98.32 USD an hour in eastus, 48.32 more"
    );
    assert_eq!(finding.help[0], "set `max_hourly` to 98.32 or more");
}

#[test]
fn several_infiniband_nodes_are_never_loose_vms() {
    let mut several = pool(Stage::Training, Workload::Generative);
    several.count = Some(2);
    several.size = SizeChoice::Named(SizeName::from("Standard_ND96isr_H100_v5"));
    let plan = good_plan(&spec(several.clone()), &empty());
    assert_eq!(
        plan.pools["train"].placement, "single_placement_group",
        "one scale set"
    );
    several.grouping = Grouping::Vms;
    let planned = planned(&spec(several), &empty());
    assert!(planned.plan.is_none());
    assert!(
        planned
            .diagnostics
            .iter()
            .any(|finding| finding.message.contains("need one scale set"))
    );
}

#[test]
fn a_second_location_is_taken_when_the_first_has_nothing() {
    let mut infiniband = pool(Stage::Training, Workload::Generative);
    infiniband.size = SizeChoice::Constrained(SizeConstraints {
        rdma: Some(true),
        ..SizeConstraints::default()
    });
    let mut spec = spec(infiniband);
    spec.locations = vec![Region::new("newzealandnorth"), Region::new("eastus")];
    let planned = planned(&spec, &empty());
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.scope.location, Region::new("eastus"));
    assert!(codes(&planned.diagnostics).contains(&"LOC002"));
    assert!(
        Catalog::embedded()
            .region(&Region::new("newzealandnorth"))
            .is_some()
    );
}
