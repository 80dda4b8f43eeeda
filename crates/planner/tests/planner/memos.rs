//! What stands beside a decision: its price, its quota, and what would change it.

use model::{
    catalog::Catalog,
    plan::{AlternativeKind, PoolMemo},
    spec::{Method, Model, Precision, SizeChoice, Spec, Stage, Workload},
    units::SizeName,
};
use tensorform_planner::{Input, memos};

use crate::support::{empty, options, planned_with, pool, spec};

/// A model of seven billion parameters on four nodes of one A100 each.
fn seven_billion() -> Spec {
    let mut pool = pool(Stage::Inference, Workload::Generative);
    pool.size = SizeChoice::Named(SizeName::from("Standard_NC24ads_A100_v4"));
    pool.count = Some(4);
    pool.model = Some(Model {
        parameters: Some(7_000_000_000),
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
    spec(pool)
}

fn memo(spec: &Spec) -> PoolMemo {
    let (live, options) = (empty(), options());
    let catalog = Catalog::embedded();
    let plan = planned_with(spec, catalog, &live, &options).plan;
    let input = Input {
        spec,
        catalog,
        live: &live,
        options: &options,
    };
    let mut memos = memos(input, plan.expect("a plan"));
    memos.remove("train").expect("the pool has a memo")
}

#[test]
fn a_memo_says_what_was_asked_for_and_what_it_costs() {
    let memo = memo(&seven_billion());
    assert_eq!(
        memo.requirement,
        "inference of a generative model, 7B parameters, bf16, 4 nodes asked for"
    );
    let price = memo.price.expect("the size has a price");
    assert!(
        price.starts_with("3.673 USD/h (Linux, on demand, 20"),
        "{price}"
    );
    let counters: Vec<&str> = memo.quota.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(
        counters,
        ["StandardNCADSA100v4Family", "cores", "virtualMachines"]
    );
    assert!(memo.quota.iter().all(|line| line.needed > 0));
}

#[test]
fn what_would_change_the_answer_is_cheaper_or_came_next() {
    let memo = memo(&seven_billion());
    let of = |kind: AlternativeKind| {
        let found = memo.alternatives.iter();
        found.filter(move |alternative| alternative.kind == kind)
    };
    for region in of(AlternativeKind::Region) {
        assert!(region.total.complete && region.count == 4, "{region:?}");
        assert!(region.total.monthly_micros < memo.total.monthly_micros);
    }
    let spot = of(AlternativeKind::Spot).next().expect("it may be spot");
    assert!(spot.total.hourly_micros < memo.total.hourly_micros);
    let fewer = of(AlternativeKind::FewerNodes).next();
    let fewer = fewer.expect("one node holds the model");
    assert_eq!(
        (fewer.count, fewer.what.as_str()),
        (1, "1 node, the least that holds the model")
    );
    assert!(fewer.total.hourly_micros < memo.total.hourly_micros);
    let kinds: Vec<AlternativeKind> = memo.alternatives.iter().map(|found| found.kind).collect();
    assert!(kinds.is_sorted(), "{kinds:?}");
}

#[test]
fn the_price_of_a_node_is_known_where_there_is_none() {
    let mut spec = seven_billion();
    spec.pools.get_mut("train").expect("the pool").count = Some(0);
    let memo = memo(&spec);
    let price = memo.price.expect("the size has a price");
    assert!(price.starts_with("3.673 USD/h"), "{price}");
    assert_eq!(memo.total.hourly_micros.0, 0);
}

#[test]
fn what_the_rules_refuse_is_no_alternative() {
    let mut spec = seven_billion();
    let train = spec.pools.get_mut("train").expect("the pool");
    train.count = Some(1);
    let kinds = |spec: &Spec| -> Vec<AlternativeKind> {
        let found = memo(spec).alternatives;
        found
            .into_iter()
            .map(|alternative| alternative.kind)
            .collect()
    };
    assert!(!kinds(&spec).contains(&AlternativeKind::FewerNodes));
    // eastus offers it, but not as spot.
    let train = spec.pools.get_mut("train").expect("the pool");
    train.size = SizeChoice::Named(SizeName::from("Standard_ND96amsr_A100_v4"));
    assert!(!kinds(&spec).contains(&AlternativeKind::Spot));
}

#[test]
fn sizes_that_came_next_have_the_nodes_that_they_would_need() {
    let mut spec = seven_billion();
    let train = spec.pools.get_mut("train").expect("the pool");
    train.size = SizeChoice::Auto;
    train.count = None;
    let memo = memo(&spec);
    let sizes = memo
        .alternatives
        .iter()
        .filter(|found| found.kind == AlternativeKind::Size);
    assert!(sizes.clone().count() >= 2, "{:?}", memo.alternatives);
    for size in sizes {
        assert!(
            size.count >= 1 && size.what.starts_with("Standard_"),
            "{size:?}"
        );
        assert!(
            size.total.hourly_micros > memo.total.hourly_micros,
            "{size:?}"
        );
    }
}
