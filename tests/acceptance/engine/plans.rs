//! Decisions of the planner, and what they say.

use std::{collections::BTreeMap, sync::OnceLock};

use model::{
    catalog::Catalog,
    live::{Answer, Live, Mode, SizeFact},
    plan::{Plan, SpecReference},
    resource::ResourceKind,
    spec::{Inputs, Spec},
    units::{Region, SizeName, Timestamp},
};
use planner::{Input, Planned};

/// How plans are made here.
pub(super) fn options(destroy: bool) -> planner::Options {
    planner::Options {
        now: Timestamp::from_unix(1_785_542_400),
        mode: Mode::Sandbox,
        cloud: "public".to_owned(),
        tool_version: "0.0.0".to_owned(),
        spec: SpecReference {
            digest: String::new(),
            path: "tensorform.yaml".to_owned(),
        },
        ssh_keys: None,
        destroy,
        power: None,
        orphans: false,
        reselect: false,
        renew: false,
        targets: std::collections::BTreeSet::new(),
        permissions: planner::diff::Permissions::default(),
        limits: planner::cost::Limits::default(),
        price_book: None,
    }
}

/// One decision.
pub(super) fn decide(spec: &Spec, live: &Live, options: &planner::Options) -> Planned {
    planner::plan(Input {
        spec,
        catalog: Catalog::embedded(),
        live,
        options,
    })
}

/// The spec that a text says, which must be a good one.
pub(super) fn spec(text: &str) -> Spec {
    let parsed = model::spec::parse(text, &Inputs::default());
    let found = parsed.diagnostics;
    parsed.spec.unwrap_or_else(|| panic!("{found:#?}\n{text}"))
}

/// A plan that may be applied, else why not.
pub(super) fn good(planned: Planned) -> Result<Plan, String> {
    let errors: Vec<_> = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.severity == model::diag::Severity::Error)
        .map(|finding| {
            format!(
                "{} {:?}: {}",
                finding.code.as_str(),
                finding.at,
                finding.message
            )
        })
        .collect();
    let Some(plan) = planned.plan.filter(|_| errors.is_empty()) else {
        return Err(errors.join("; "));
    };
    if !plan.complete {
        return Err(format!("the plan is incomplete: {:?}", plan.diagnostics));
    }
    let breaches = plan.breaches();
    assert!(breaches.is_empty(), "{breaches:?}");
    Ok(plan)
}

/// What a plan would write: action and address of each step, with what forces it.
pub(super) fn changes(plan: &Plan) -> Vec<String> {
    plan.changes()
        .filter(|step| step.kind != ResourceKind::MarketplaceTerms)
        .map(|step| {
            let attributes = &step.reason.attributes;
            format!("{} {} {attributes:?}", step.action, step.address)
        })
        .collect()
}

/// Sizes by region and name.
pub(super) type Sizes = BTreeMap<Region, Answer<BTreeMap<SizeName, SizeFact>>>;

/// Which sizes the sandbox offers.
pub(super) static SIZES: OnceLock<Sizes> = OnceLock::new();

/// The sizes that specs here name: all are thousands.
pub(super) fn of_these_tests(sizes: &Sizes) -> Sizes {
    let named = ["D2s", "D4s", "D8s", "E8s", "F8s", "ND96isr_H100"]
        .map(|name| format!("standard_{name}").to_lowercase());
    let mut kept = sizes.clone();
    for answer in kept.values_mut() {
        if let Answer::Known(sizes) = answer {
            sizes.retain(|size, _| {
                let size = size.to_string().to_lowercase();
                named.iter().any(|name| size.starts_with(name))
            });
        }
    }
    kept
}
