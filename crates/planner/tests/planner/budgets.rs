//! Budgets: what is paid counts, by an agreement where there is one, and what exceeds is named.

use model::{
    catalog::Catalog,
    price_book::PriceBook,
    spec::{
        Budget, DataDisk, DiskType, OnExceed, SizeChoice, SizeConstraints, Spec, Stage, Workload,
    },
    units::{Region, SizeName},
};
use rust_decimal::Decimal;

use crate::support::{empty, options, planned_with, pool, spec};

fn within(mut spec: Spec, hourly: &str) -> Spec {
    spec.budget = Some(Budget {
        hourly: Some(hourly.parse::<Decimal>().expect("a decimal")),
        monthly: None,
        currency: "USD".to_owned(),
        on_exceed: OnExceed::Error,
    });
    spec
}

/// A node with one H100 of the NC series, whichever size.
fn one_gpu() -> Spec {
    let mut pool = pool(Stage::Inference, Workload::Generative);
    pool.count = Some(1);
    pool.size = SizeChoice::Constrained(SizeConstraints {
        gpu: vec!["H100-NVL".to_owned()],
        ..SizeConstraints::default()
    });
    spec(pool)
}

/// A node without a GPU: some of the many sizes have no price in the catalogue.
fn small() -> Spec {
    spec(pool(Stage::Training, Workload::Small))
}

/// The size that is chosen by these lines of a price book, or what refuses it.
fn chosen(spec: &Spec, book: Option<&str>) -> Result<String, String> {
    let catalog = Catalog::embedded();
    let mut options = options();
    options.price_book = book.map(|lines| {
        let text = format!("applies_to,name,meter,region,discount,price\n{lines}\n");
        PriceBook::read("ea.csv", &text, catalog).expect("a price book")
    });
    let planned = planned_with(spec, catalog, &empty(), &options);
    let mut findings = planned.diagnostics.iter();
    let error = findings.find(|finding| finding.severity == model::diag::Severity::Error);
    match (error, planned.plan) {
        (Some(error), _) => Err(error.message.clone()),
        (None, Some(plan)) => Ok(plan.pools["train"].size.to_string()),
        (None, None) => Err("no plan".to_owned()),
    }
}

#[test]
fn a_budget_is_about_what_is_paid() {
    let check = |hourly: &str, book: Option<&str>, expected: Result<&str, &str>| {
        let found = chosen(&within(one_gpu(), hourly), book);
        match (&found, expected) {
            (Ok(size), Ok(wanted)) => assert_eq!(size, wanted),
            (Err(message), Err(wanted)) => assert!(message.contains(wanted), "{message}"),
            _ => panic!("{hourly}, {book:?}: {found:?}"),
        }
    };
    let size = "Standard_NC40ads_H100_v5";
    check("8", None, Ok(size));
    check(
        "5",
        None,
        Err("the cheapest, `Standard_NC40ads_H100_v5`, costs 6.98 USD hourly"),
    );
    check("5", Some("family,NC,,,50,"), Ok(size));
    // An agreement may be dearer than the list too.
    check(
        "8",
        Some(
            "size,NC40ads_H100_v5,linux.on_demand,,,9\nsize,NC80adis_H100_v5,linux.on_demand,,,18",
        ),
        Err("the cheapest, `Standard_NC40ads_H100_v5`, costs 9 USD hourly"),
    );
}

#[test]
fn a_size_without_a_known_price_is_no_way_around_a_budget() {
    let priced = chosen(&within(small(), "1000"), None).expect("a size");
    let catalog = Catalog::embedded();
    let location = Region::new("eastus");
    let price = catalog.vm_price(&location, &SizeName::from(priced.as_str()));
    assert!(price.is_some(), "{priced} has a price");
    let refusal = chosen(&within(small(), "0.01"), None).expect_err("nothing is that cheap");
    assert!(refusal.contains("no size that fits is within"), "{refusal}");
}

#[test]
fn what_exceeds_a_budget_that_the_nodes_keep_is_named() {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named(SizeName::from("Standard_D2s_v5"));
    pool.disks.data = vec![DataDisk {
        size_gb: 1024,
        disk_type: DiskType::Premium,
        lun: 0,
    }];
    let helps = |hourly: &str| -> Vec<String> {
        let spec = within(spec(pool.clone()), hourly);
        let planned = planned_with(&spec, Catalog::embedded(), &empty(), &options());
        let mut findings = planned.diagnostics.iter();
        let finding = findings.find(|finding| finding.code.as_str() == "COST002");
        finding.expect("too much").help.clone()
    };
    assert_eq!(
        helps("0.2"),
        [
            "the nodes alone cost 0.0960, which is within it; disks cost 0.24, the network cost 0.0500",
            "use fewer nodes or a cheaper size, or raise the budget"
        ]
    );
    assert_eq!(helps("0.05").len(), 1);
}
