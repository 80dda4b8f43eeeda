//! Spot with a price limit: Azure refuses or evicts a VM whose price is above it.

use model::{
    catalog::Catalog,
    diag::{Diagnostic, Severity},
    live::Question,
    plan::{Candidate, Verdict},
    spec::{Eviction, Priority, SizeChoice, Spec, Spot, Stage, Workload},
    units::{Region, SizeName},
};
use rust_decimal::Decimal;
use tensorform_planner::Planned;

use crate::support::{empty, good_plan, live_stack, planned, pool, spec};

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

fn spot(max_price: Option<&str>) -> Spec {
    let mut pool = pool(Stage::Inference, Workload::Generative);
    pool.priority = Priority::Spot(Spot {
        max_price: max_price.map(decimal),
        eviction: Eviction::Delete,
        fallback_to_regular: false,
    });
    spec(pool)
}

fn named(max_price: &str, size: &str) -> Spec {
    let mut spec = spot(Some(max_price));
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.size = SizeChoice::Named(SizeName::from(size));
    }
    spec
}

fn price_in_eastus(size: &str) -> Option<Decimal> {
    Catalog::embedded()
        .vm_price(&Region::new("eastus"), &SizeName::from(size))?
        .spot
}

fn about_spot(planned: &Planned) -> Vec<(&str, Severity, &str)> {
    let ours = |finding: &&Diagnostic| finding.code.as_str().starts_with("SPOT");
    let told = planned.diagnostics.iter().filter(ours);
    told.map(|finding| {
        (
            finding.code.as_str(),
            finding.severity,
            finding.message.as_str(),
        )
    })
    .collect()
}

#[test]
fn a_size_whose_price_is_above_the_limit_is_not_chosen() {
    let unlimited = good_plan(&spot(None), &empty());
    assert_eq!(
        unlimited.pools["train"].size.as_str(),
        "Standard_NC40ads_H100_v5"
    );
    let plan = good_plan(&spot(Some("1.2")), &empty());
    let pool = &plan.pools["train"];
    assert_eq!(pool.size.as_str(), "Standard_NC24ads_A100_v4");
    let most = decimal("1.2");
    let is_dear = |candidate: &&Candidate| {
        price_in_eastus(candidate.size.as_str()).is_some_and(|price| price > most)
    };
    let dear: Vec<&Candidate> = pool.candidates.iter().filter(is_dear).collect();
    assert!(dear.len() > 3, "{dear:#?}");
    for candidate in dear {
        assert_eq!(candidate.verdict, Verdict::Rejected, "{candidate:#?}");
        let price = price_in_eastus(candidate.size.as_str()).expect("a price");
        let reason = candidate
            .reasons
            .iter()
            .find(|reason| reason.code == "max_price");
        assert_eq!(
            reason.map(|reason| reason.message.clone()),
            Some(format!(
                "costs {} USD an hour as spot, `max_price` allows 1.2",
                price.normalize()
            ))
        );
    }
}

#[test]
fn a_price_at_the_limit_is_allowed() {
    let plan = good_plan(&spot(Some("1.289904")), &empty());
    assert_eq!(
        plan.pools["train"].size.as_str(),
        "Standard_NC40ads_H100_v5"
    );
}

#[test]
fn where_nothing_is_cheap_enough_the_nearest_is_named() {
    let planned = planned(&spot(Some("0.4")), &empty());
    assert!(planned.plan.is_none());
    assert_eq!(
        about_spot(&planned),
        [(
            "SPOT001",
            Severity::Error,
            "no size that fits is as cheap as `max_price: 0.4`: the nearest is `Standard_NC24ads_A100_v4`, \
             which costs 0.67877 USD an hour as spot in eastus, 0.27877 more"
        )]
    );
    assert_eq!(planned.diagnostics.iter().count(), 1, "{planned:#?}");
}

#[test]
fn a_named_size_that_is_too_dear_is_refused() {
    let planned = planned(&named("1", "Standard_NC40ads_H100_v5"), &empty());
    assert!(planned.diagnostics.has_errors());
    assert_eq!(
        about_spot(&planned),
        [(
            "SPOT001",
            Severity::Error,
            "`Standard_NC40ads_H100_v5` costs 1.289904 USD an hour as spot in eastus, 0.289904 more than `max_price: 1`"
        )]
    );
}

#[test]
fn live_nodes_that_became_too_dear_stay_with_a_warning_and_get_no_company() {
    let live = live_stack(&named("2", "Standard_NC40ads_H100_v5"));
    // Live nodes have this price limit, which their size's price is above since.
    let mut auto = spot(Some("0.9"));
    let kept = planned(&auto, &live);
    let plan = kept.plan.as_ref().expect("a plan");
    assert_eq!(
        plan.pools["train"].size.as_str(),
        "Standard_NC40ads_H100_v5"
    );
    let message = "`Standard_NC40ads_H100_v5` costs 1.289904 USD an hour as spot in eastus, 0.389904 more than `max_price: 0.9`";
    assert_eq!(about_spot(&kept), [("SPOT001", Severity::Warning, message)]);
    if let Some(pool) = auto.pools.get_mut("train") {
        pool.count = Some(2);
    }
    let grown = planned(&auto, &live);
    assert_eq!(about_spot(&grown), [("SPOT001", Severity::Error, message)]);
}

#[test]
fn an_unknown_price_is_no_refusal_and_is_said() {
    let size = "Standard_NC40ads_H100_v5";
    let mut spec = named("1", size);
    // A region whose prices the catalogue does not have.
    let region = Region::new("jioindiawest");
    let row = Catalog::embedded().vm_price(&region, &SizeName::from(size));
    assert!(row.is_none_or(|row| row.spot.is_none()), "{row:?}");
    spec.locations = vec![region.clone()];
    let mut live = empty();
    for question in [
        Question::Sizes(region.clone()),
        Question::ComputeQuota(region.clone()),
        Question::NetworkQuota(region.clone()),
    ] {
        live.facts.set_unknown(question, "not asked in this test");
    }
    let planned = planned(&spec, &live);
    assert!(!planned.diagnostics.has_errors(), "{planned:#?}");
    let message = format!(
        "the spot price of `{size}` in {region} is unknown: whether `max_price: 1` allows it cannot be checked"
    );
    assert_eq!(
        about_spot(&planned),
        [("SPOT002", Severity::Warning, message.as_str())]
    );
}
