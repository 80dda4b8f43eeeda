//! Kinds of hardware that need care: each is decided through image, architecture and placement.

use model::{
    plan::{Candidate, Verdict},
    spec::{
        Grouping, Method, Model, Pool, Precision, SizeChoice, SizeConstraints, Spec, Stage,
        Workload,
    },
    units::{Region, SizeName},
};
use tensorform_planner::Planned;

use crate::support::{codes, empty, good_plan, planned, pool, spec};

fn of_gpu(stage: Stage, gpu: &str, family: &[&str], region: &str) -> Spec {
    let mut spec = spec(Pool {
        size: SizeChoice::Constrained(SizeConstraints {
            gpu: vec![gpu.to_owned()],
            family: family.iter().map(|family| (*family).to_owned()).collect(),
            ..SizeConstraints::default()
        }),
        ..pool(stage, Workload::Generative)
    });
    spec.locations = vec![Region::new(region)];
    spec
}

fn named(stage: Stage, workload: Workload, size: &str) -> Spec {
    spec(Pool {
        size: SizeChoice::Named(SizeName::from(size)),
        ..pool(stage, workload)
    })
}

fn error(planned: &Planned) -> (&str, &[String]) {
    let finding = planned.diagnostics.iter().next().expect("a finding");
    (&finding.message, &finding.help)
}

fn rejected<'a>(candidates: &'a [Candidate], code: &str) -> Vec<&'a str> {
    let rejected = candidates
        .iter()
        .filter(|candidate| candidate.verdict == Verdict::Rejected);
    let by_rule =
        rejected.filter(|candidate| candidate.reasons.iter().any(|reason| reason.code == code));
    by_rule.map(|candidate| candidate.size.as_str()).collect()
}

#[test]
fn amd_gpus_train_on_the_hpc_image_in_one_placement_group() {
    let mut amd = of_gpu(Stage::Training, "MI300X", &[], "francecentral");
    let plan = good_plan(&amd, &empty());
    let pool = &plan.pools["train"];
    assert_eq!(pool.size.as_str(), "Standard_ND96isr_MI300X_v5");
    assert_eq!(pool.image.kind, "hpc");
    let dsvm = pool.why.iter().find(|why| why.contains("Data Science VM"));
    assert!(dsvm.is_some(), "{:?}", pool.why);
    assert_eq!((pool.count, pool.placement.as_str()), (1, "none"));
    amd.pools.get_mut("train").expect("the pool").count = Some(2);
    let two = good_plan(&amd, &empty());
    let pool = &two.pools["train"];
    let placed = (pool.grouping.as_str(), pool.placement.as_str());
    assert_eq!(placed, ("scale_set", "single_placement_group"));
    amd.pools.get_mut("train").expect("the pool").grouping = Grouping::Vms;
    let loose = planned(&amd, &empty());
    assert!(
        error(&loose)
            .0
            .contains("need one scale set to share a fabric"),
        "{loose:#?}"
    );
}

#[test]
fn an_unspecified_gpu_of_the_same_generation_is_nvidia() {
    // Both are offered in francecentral; CUDA is what most jobs are written for.
    let mut any = of_gpu(Stage::Training, "MI300X", &[], "francecentral");
    any.pools.get_mut("train").expect("the pool").size = SizeChoice::Auto;
    let plan = good_plan(&any, &empty());
    let candidates = &plan.pools["train"].candidates;
    let kept = candidates
        .iter()
        .filter(|candidate| candidate.rank.is_some());
    let kept: Vec<&str> = kept.map(|candidate| candidate.size.as_str()).collect();
    let place = |size: &str| kept.iter().position(|kept| *kept == size);
    let (nvidia, amd) = (
        place("Standard_ND96isr_H200_v5"),
        place("Standard_ND96isr_MI300X_v5"),
    );
    assert!(nvidia.is_none_or(|nvidia| Some(nvidia) < amd), "{kept:?}");
}

#[test]
fn a_part_of_a_gpu_serves_and_does_not_train_and_needs_another_driver() {
    let check = |stage: Stage| {
        let planned = planned(&of_gpu(stage, "A10", &["NV"], "westeurope"), &empty());
        let refused = planned.explanation.refused.get("train");
        let candidates = refused.map(|pool| pool.candidates.clone());
        candidates.expect("no image runs on these sizes")
    };
    let serving = check(Stage::Inference);
    let sixth = "Standard_NV6ads_A10_v5";
    assert!(rejected(&serving, "image").contains(&sixth), "GRID driver");
    assert!(!rejected(&serving, "A19").contains(&sixth));
    let training = check(Stage::Training);
    assert!(rejected(&training, "A19").contains(&sixth));
    // A whole GPU has nothing to be connected to.
    assert!(!rejected(&training, "A19").contains(&"Standard_NV36ads_A10_v5"));
    let refusal = planned(
        &of_gpu(Stage::Inference, "A10", &["NV"], "westeurope"),
        &empty(),
    );
    assert!(error(&refusal).0.contains("GRID driver"), "{refusal:#?}");
}

#[test]
fn a_gpu_that_no_image_has_a_driver_for_is_refused_with_that() {
    let size = "Standard_NC24lds_xl_RTXPRO6000BSE_v6";
    let named = planned(
        &named(Stage::Inference, Workload::Generative, size),
        &empty(),
    );
    assert!(named.plan.is_none());
    let (message, help) = error(&named);
    assert!(
        message.contains("its driver is older than this GPU"),
        "{message}"
    );
    assert!(
        help.iter()
            .any(|help| help.starts_with("`size: auto` would choose")),
        "{help:?}"
    );
    let any = planned(
        &of_gpu(Stage::Inference, "RTX-PRO-6000", &[], "eastus"),
        &empty(),
    );
    let (message, _) = error(&any);
    assert!(message.contains("RTXPRO6000BSE"), "{message}");
}

#[test]
fn racks_are_refused_with_the_reason_however_they_are_asked_for() {
    for gpu in ["GB200", "GB300"] {
        for stage in [Stage::Training, Stage::Inference] {
            let planned = planned(&of_gpu(stage, gpu, &[], "eastus"), &empty());
            assert!(planned.plan.is_none());
            assert_eq!(codes(&planned.diagnostics), ["SIZE002"], "{gpu}");
            let (message, _) = error(&planned);
            assert!(
                message.contains("is sold by the rack of 18 VMs"),
                "{message}"
            );
        }
    }
    let size = "Standard_ND128isr_GB300_v6";
    let named = planned(
        &named(Stage::Training, Workload::Generative, size),
        &empty(),
    );
    assert_eq!(codes(&named.diagnostics), ["SIZE003"]);
    let (message, _) = error(&named);
    assert!(message.contains("is sold by the rack"), "{message}");
}

#[test]
fn cpu_pools_are_x64_because_no_image_is_built_for_arm() {
    let check = |stage: Stage, arm: &str, x64: &str| {
        let plan = good_plan(&spec(pool(stage, Workload::Small)), &empty());
        let chosen = &plan.pools["train"];
        assert_eq!(chosen.size.as_str(), x64);
        let refused = rejected(&chosen.candidates, "image");
        assert!(
            refused.iter().all(|size| !size.eq_ignore_ascii_case(x64)),
            "{refused:?}"
        );
        let named = planned(&named(stage, Workload::Small, arm), &empty());
        let (message, help) = error(&named);
        assert!(message.contains("the size has Arm64"), "{message}");
        let auto = format!("`size: auto` would choose `{x64}`");
        assert!(help.contains(&auto), "{help:?}");
    };
    check(Stage::Training, "Standard_E8pds_v6", "Standard_E8as_v7");
    check(Stage::Inference, "Standard_D8pls_v6", "Standard_F4als_v7");
}

#[test]
fn a_mixture_of_experts_is_held_by_all_its_parameters() {
    let mut experts = pool(Stage::Inference, Workload::Generative);
    experts.model = Some(Model {
        parameters: Some(140_000_000_000),
        active_parameters: Some(13_000_000_000),
        name: None,
        config: None,
        transformer: None,
        precision: Precision::Bf16,
        method: Method::Full,
        sequence: None,
        tokens: None,
        concurrency: None,
    });
    let plan = good_plan(&spec(experts), &empty());
    let size = plan.pools["train"].size.as_str();
    assert!(size.starts_with("Standard_ND96"), "{size}");
}
