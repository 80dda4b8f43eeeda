//! Brute force over a small catalogue: the chosen size passes every rule and none that passes
//! is better; a refusal means that none passes.

use model::{
    catalog::Catalog,
    plan::Verdict,
    spec::{Method, Model, Precision, SizeChoice, SizeConstraints, Stage, Workload},
};
use proptest::prelude::*;
use rust_decimal::Decimal;

use crate::support::{empty, planned, pool, spec};

/// What the oracle knows of a demand, stated again and apart from the rules.
fn fits(
    size: &model::catalog::Size,
    constraints: &SizeConstraints,
    stage: Stage,
    parameters: u64,
) -> bool {
    let catalog = Catalog::embedded();
    let location = model::units::Region::new("eastus");
    let Some(gpu) = &size.gpu else { return false };
    let Some(offers) = catalog.offers(&location) else {
        return false;
    };
    let (Some(share), Some(memory)) = (gpu.share, gpu.memory_gb) else {
        return false;
    };
    let bytes_a_parameter = if stage == Stage::Training {
        Decimal::from(16)
    } else {
        "2.3".parse().expect("a number")
    };
    // Training fills each GPU with a context, and with buffers where there are several.
    let gpus = share.whole().max(1);
    let on_each = match (stage, gpus) {
        (Stage::Inference, _) => 0_u64,
        (Stage::Training, 1) => 1_500_000_000,
        (Stage::Training, _) => 2_500_000_000,
    };
    let needed = Decimal::from(parameters) * bytes_a_parameter
        + Decimal::from(gpus) * Decimal::from(on_each);
    let usable =
        Decimal::from(memory) * Decimal::from(900_000_000u64) * Decimal::from(share.whole().max(1));
    let price = catalog
        .vm_price(&location, &size.name)
        .and_then(|row| row.linux);
    let published =
        !(size.series == "ND" && !size.rdma && size.version.is_some_and(|version| version >= 4));
    offers.get(&size.name).is_some()
        && ["ND", "NC"].contains(&size.series.as_str())
        && !matches!(size.lifecycle, model::catalog::Lifecycle::Retired { .. })
        && !["V100", "T4", "M60"].contains(&gpu.model.as_str())
        && !["RTX-PRO-6000", "GB200", "GB300"].contains(&gpu.model.as_str())
        && published
        && needed <= usable
        && (stage == Stage::Inference || share.whole() == 1 || size.gpu_interconnect.is_some())
        && (stage == Stage::Inference || share.whole() > 0)
        && constraints
            .min_gpu_memory_gb
            .is_none_or(|wanted| memory >= wanted)
        && constraints.rdma.is_none_or(|wanted| size.rdma == wanted)
        && constraints
            .max_hourly
            .is_none_or(|most| price.is_some_and(|price| price <= most))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_choice_is_right_and_a_refusal_is_too(
        training in any::<bool>(),
        billions in 1u64..120,
        memory in proptest::option::of(prop_oneof![Just(16u32), Just(40), Just(80), Just(94), Just(141)]),
        rdma in proptest::option::of(any::<bool>()),
        most in proptest::option::of(1u32..120),
    ) {
        let stage = if training { Stage::Training } else { Stage::Inference };
        let constraints = SizeConstraints {
            family: Vec::new(),
            gpu: Vec::new(),
            min_gpu_memory_gb: memory,
            rdma,
            max_hourly: most.map(Decimal::from),
        };
        let mut one = pool(stage, Workload::Generative);
        one.count = Some(1);
        one.size = SizeChoice::Constrained(constraints.clone());
        one.model = Some(Model {
            parameters: Some(billions * 1_000_000_000),
            active_parameters: None,
            name: None,
            config: None,
            transformer: None,
            precision: Precision::Bf16,
            method: Method::Full,
            sequence: None,
            tokens: None,
            concurrency: None,
        });
        let expected: std::collections::BTreeSet<String> = Catalog::embedded()
            .sizes()
            .iter()
            .filter(|size| fits(size, &constraints, stage, billions * 1_000_000_000))
            .map(|size| size.name.to_string())
            .collect();
        let planned = planned(&spec(one), &empty());
        match planned.plan {
            Some(plan) => {
                let kept = plan.pools["train"].candidates.iter().filter(|candidate| candidate.verdict == Verdict::Kept);
                let kept: std::collections::BTreeSet<String> = kept.map(|candidate| candidate.size.to_string()).collect();
                prop_assert_eq!(&kept, &expected);
                prop_assert!(expected.contains(plan.pools["train"].size.as_str()));
            }
            None => prop_assert!(expected.is_empty(), "refused although {:?} fit: {:?}", expected, planned.diagnostics),
        }
    }
}
