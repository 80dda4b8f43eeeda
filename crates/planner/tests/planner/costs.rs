//! What is paid for, and by which price: spot, Windows, odd rows, agreements, states.

use std::{fmt::Write as _, sync::Arc};

use model::{
    catalog::{Catalog, index_of},
    cost::{CostReport, PurchaseOption},
    diag::Severity,
    plan::{CostKind, CostLine, Plan},
    price_book::PriceBook,
    resource::System,
    spec::{
        Budget, DataDisk, DiskType, Eviction, Grouping, OnExceed, Priority, SizeChoice, Spec, Spot,
        Stage, Workload,
    },
    units::{Micros, Region, SizeName},
};
use rust_decimal::Decimal;
use tensorform_planner::{
    Options, Planned,
    cost::{
        self, BastionTier, KubernetesTier, Limits, Prices, ReportInput, Service, of_service, report,
    },
};

use crate::support::{codes, empty, options, planned_with, pool, spec, vm};

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

/// Linux, spot and Windows.
type Row<'a> = [&'a str; 3];

/// The embedded catalogue with newer rows in eastus over its own.
fn priced(rows: &[(&str, Row<'_>)]) -> Catalog {
    let mut sources = "code,repository,commit,path,as_of,licence\n".to_owned();
    sources.push_str("NEW,a test,,nowhere,2099-01-02,none\n");
    let mut prices = "size,linux,spot,windows,savings_plan_1y,source,flags\n".to_owned();
    for (size, [linux, spot, windows]) in rows {
        let size = size.trim_start_matches("Standard_");
        writeln!(prices, "{size},{linux},{spot},{windows},,NEW,").expect("text takes text");
    }
    let tables = [("prices/vm/eastus.csv", prices), ("sources.csv", sources)];
    let index = index_of(tables.iter().map(|(name, text)| (*name, text.as_str())));
    let read = move |name: &str| {
        let found = tables.iter().find(|(other, _)| *other == name);
        found
            .map(|(_, text)| text.clone())
            .ok_or_else(|| "it is not there".to_owned())
    };
    let catalog = Catalog::with_cache(&index, Arc::new(read)).expect("a cache");
    assert!(
        catalog
            .vm_price(&Region::new("eastus"), &SizeName::from("Standard_D2s_v5"))
            .is_some()
    );
    assert_eq!(catalog.cache_errors(), []);
    catalog
}

fn small(size: &str) -> Spec {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool.grouping = Grouping::Vms;
    spec(pool)
}

fn on_spot(mut spec: Spec, eviction: Eviction) -> Spec {
    for pool in spec.pools.values_mut() {
        pool.priority = Priority::Spot(Spot {
            max_price: None,
            eviction,
            fallback_to_regular: false,
        });
    }
    spec
}

fn made(spec: &Spec, catalog: &Catalog, options: &Options) -> (Plan, Planned) {
    let planned = planned_with(spec, catalog, &empty(), options);
    let plan = planned.plan.clone().expect("a plan");
    assert_eq!(plan.breaches(), Vec::<String>::new());
    (plan, planned)
}

fn compute(plan: &Plan) -> &CostLine {
    let mut lines = plan.cost.lines.iter();
    lines
        .find(|line| line.kind == CostKind::Compute)
        .expect("a line for the nodes")
}

fn previewed(spec: &Spec, plan: &Plan, catalog: &Catalog, seconds: Option<u64>) -> CostReport {
    report(ReportInput {
        spec,
        plan,
        before: &[],
        prices: Prices::list(catalog),
        seconds,
    })
}

/// M01: a spot pool is priced as spot, and both prices are shown.
#[test]
fn spot_pools_have_the_spot_price_beside_the_one_on_demand() {
    let catalog = priced(&[("Standard_D2as_v5", ["0.101", "0.0187", ""])]);
    let spec = on_spot(small("Standard_D2as_v5"), Eviction::Delete);
    let (plan, _) = made(&spec, &catalog, &options());
    let line = compute(&plan);
    assert_eq!(line.unit_hourly.as_deref(), Some("0.0187"));
    assert_eq!(line.hourly_micros, Some(Micros(18_700)));
    assert_eq!(line.monthly_micros, Some(Micros(13_651_000)));
    let report = previewed(&spec, &plan, &catalog, None);
    let pool = report.pools.get("train").expect("the pool");
    let of = |option: PurchaseOption| {
        let found = pool.options.iter().find(|way| way.option == option);
        let way = found.expect("each way to pay");
        (way.chosen, way.unit_price.clone(), way.hourly_micros)
    };
    let price = |text: &str| Some(text.to_owned());
    assert_eq!(
        of(PurchaseOption::OnDemand),
        (false, price("0.101"), Some(Micros(101_000)))
    );
    assert_eq!(
        of(PurchaseOption::Spot),
        (true, price("0.0187"), Some(Micros(18_700)))
    );
    assert_eq!(of(PurchaseOption::SavingsPlan1y), (false, None, None));
}

/// M03: a node with a Windows image has the Windows price, and no Linux price stands in.
#[test]
fn windows_nodes_have_the_windows_price() {
    let catalog = priced(&[("Standard_D2as_v5", ["0.101", "0.0187", "0.193"])]);
    let price = |spec: &Spec, os: System| {
        let (mut plan, _) = made(spec, &catalog, &options());
        for step in &mut plan.steps {
            if let Some(vm) = step
                .after
                .as_mut()
                .and_then(model::resource::Resource::virtual_machine_mut)
            {
                vm.os = os;
            }
        }
        let items = plan.steps.iter().filter_map(|step| {
            Some(cost::Item {
                without_hardware: 0,
                address: &step.address,
                resource: step.after.as_ref()?,
                has_hardware: true,
            })
        });
        let lines = cost::of_stack(items, Prices::list(&catalog));
        let report = previewed(spec, &plan, &catalog, None);
        let line = lines
            .into_iter()
            .find(|line| line.kind == CostKind::Compute);
        let line = line.expect("a line for the nodes");
        let options = report.pools["train"].options.iter();
        let known = options
            .filter(|way| way.unit_price.is_some())
            .map(|way| way.option);
        (line.meter, line.unit_hourly, known.collect::<Vec<_>>())
    };
    let regular = small("Standard_D2as_v5");
    let (meter, amount, known) = price(&regular, System::Windows);
    assert_eq!(
        (meter.as_str(), amount.as_deref()),
        ("Windows, on demand", Some("0.193"))
    );
    assert_eq!(known, [PurchaseOption::OnDemand]);
    let (meter, amount, _) = price(&regular, System::Linux);
    assert_eq!(
        (meter.as_str(), amount.as_deref()),
        ("Linux, on demand", Some("0.101"))
    );
    // No source has spot prices with the licence.
    let spot = on_spot(regular, Eviction::Delete);
    let (meter, amount, _) = price(&spot, System::Windows);
    assert_eq!((meter.as_str(), amount), ("Windows, spot", None));
}

/// M05: a size without its tier never costs nothing.
#[test]
fn a_size_without_its_tier_is_refused_or_priced() {
    let planned = planned_with(&small("D2s_v3"), Catalog::embedded(), &empty(), &options());
    match planned.plan {
        None => assert!(planned.diagnostics.has_errors()),
        Some(plan) if planned.diagnostics.has_errors() => {
            assert!(compute(&plan).hourly_micros > Some(Micros(0)));
        }
        Some(plan) => {
            let line = compute(&plan);
            assert_eq!(line.hourly_micros, Some(Micros(96_000)), "{line:?}");
        }
    }
}

/// M07: GPUs that cost less than half of those of a smaller sibling are told to be odd.
#[test]
fn an_implausible_price_is_told() {
    let check = |large: &str, expected: bool| {
        let catalog = priced(&[
            ("Standard_NC48ads_A100_v4", ["7.346", "", ""]),
            ("Standard_NC96ads_A100_v4", [large, "", ""]),
        ]);
        let mut pool = pool(Stage::Inference, Workload::Generative);
        pool.size = SizeChoice::Named(SizeName::from("Standard_NC96ads_A100_v4"));
        let (_, planned) = made(&spec(pool), &catalog, &options());
        let found = codes(&planned.diagnostics).contains(&"COST006");
        assert_eq!(found, expected, "{large}");
    };
    check("14.692", false);
    check("7.3461", false);
    check("7.345", true);
    check("5.0", true);
}

/// M08: a spot price is shown with its source and day, is told to move, and never passes a limit
/// without a word and the price on demand.
#[test]
fn spot_prices_pass_no_limit_in_silence() {
    let catalog = priced(&[("Standard_D2as_v5", ["0.101", "0.0187", ""])]);
    let spec = on_spot(small("Standard_D2as_v5"), Eviction::Delete);
    let mut options = options();
    options.limits.max_hourly = Some(decimal("0.15"));
    let (plan, planned) = made(&spec, &catalog, &options);
    let line = compute(&plan);
    assert_eq!(line.flags, ["spot"]);
    assert_eq!(line.as_of.as_deref(), Some("2099-01-02"));
    assert_eq!(line.source.as_deref(), Some("a test: nowhere"));
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "COST003")
        .expect("a word about spot");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(
        finding.message,
        "`--max-hourly` is met with spot prices, which change at any time; on demand the stack costs 0.20, 0.0531 more than the 0.15 that `--max-hourly` allows"
    );
    options.limits.max_hourly = Some(decimal("0.12"));
    let (_, planned) = made(&spec, &catalog, &options);
    assert!(codes(&planned.diagnostics).contains(&"COST002"));
}

/// M09: an agreement's prices are applied and told apart from list prices.
#[test]
fn an_agreement_changes_prices_and_is_labelled() {
    let text = "applies_to,name,meter,region,discount,price\n\
        family,ND,,,20,\nsize,D2s_v5,linux.spot,,,0.01\nmeter,nat_gateway.hour,,,,0.03\n\
        meter,disk.premium_ssd.P15.lrs,,,50,\n";
    let catalog = Catalog::embedded();
    let book = PriceBook::read("ea.csv", text, catalog).expect("a price book");
    let mut options = options();
    options.price_book = Some(book);
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Named(SizeName::from("Standard_ND96asr_v4"));
    let (plan, _) = made(&spec(pool), catalog, &options);
    let line = compute(&plan);
    assert_eq!(line.unit_hourly.as_deref(), Some("21.7576"));
    assert_eq!(line.hourly_micros, Some(Micros(21_757_600)));
    assert!(line.flags.contains(&"price_book".to_owned()));
    let source = line.source.as_deref().expect("a source");
    assert!(
        source.starts_with("`ea.csv` line 2: 20% off 27.197 of DarrenJohns/"),
        "{source}"
    );
    let reference = plan.cost.price_book.as_ref().expect("the price book");
    assert_eq!((reference.file.as_str(), reference.rules), ("ea.csv", 4));
    let nat = plan
        .cost
        .lines
        .iter()
        .find(|line| line.address == "network.nat");
    let nat = nat.expect("a line for the gateway");
    assert_eq!(nat.unit_hourly.as_deref(), Some("0.03"));
    assert_eq!(
        (nat.as_of.as_deref(), nat.source.as_deref()),
        (None, Some("`ea.csv` line 4"))
    );
    let ip = plan
        .cost
        .lines
        .iter()
        .find(|line| line.address == "network.nat_ip");
    assert!(
        ip.is_some_and(|line| line.flags.is_empty()),
        "list prices have no label"
    );
    // A price of the book also stands where the catalogue has none.
    let spec = on_spot(small("Standard_D2s_v5"), Eviction::Delete);
    let without = priced(&[("Standard_D2s_v5", ["", "", ""])]);
    let (plan, _) = made(&spec, &without, &options);
    assert_eq!(compute(&plan).hourly_micros, Some(Micros(10_000)));
}

/// S05: disks of evicted nodes cost as long as they exist.
#[test]
fn disks_cost_while_nodes_are_stopped_or_evicted() {
    let check = |eviction: Eviction, evicted: &[&str]| {
        let mut spec = on_spot(small("Standard_D2s_v5"), eviction);
        for pool in spec.pools.values_mut() {
            pool.count = Some(3);
            pool.disks.data = vec![DataDisk {
                size_gb: 1_024,
                disk_type: DiskType::Premium,
                lun: 0,
            }];
        }
        let (plan, _) = made(&spec, Catalog::embedded(), &options());
        let report = previewed(&spec, &plan, Catalog::embedded(), None);
        let states = report.pools["train"].states;
        let sum = |items: &[&str]| {
            let lines = plan.cost.lines.iter();
            lines
                .filter(|line| items.contains(&line.item.as_str()))
                .filter_map(|line| line.monthly_micros)
                .fold(Micros(0), Micros::saturating_add)
        };
        let (os, data) = ("Premium SSD P15", "Premium SSD P30");
        assert!(sum(&[os]) > Micros(0) && sum(&[data]) > Micros(0));
        assert_eq!(states.stopped.monthly_micros, sum(&[os, data]));
        assert_eq!(
            states.evicted.map(|amount| amount.monthly_micros),
            Some(sum(evicted))
        );
        assert_eq!(
            states.running.monthly_micros,
            report.pools["train"].total.monthly_micros
        );
        assert_eq!(states.no_nodes.monthly_micros, Micros(0));
    };
    check(
        Eviction::Deallocate,
        &["Premium SSD P15", "Premium SSD P30"],
    );
    check(Eviction::Delete, &["Premium SSD P30"]);
}

/// A live pool that Azure evicted costs its disks now, and its nodes again after the plan.
#[test]
fn evicted_nodes_cost_their_disks_before() {
    let spec = on_spot(small("Standard_D2s_v5"), Eviction::Deallocate);
    let mut live = crate::support::live_stack(&spec);
    let state = &mut vm(&mut live, 0).state;
    state.power = Some(model::live::Power::Deallocated);
    state.evicted = true;
    let prices = Prices::list(Catalog::embedded());
    let lines = cost::of_live(&live, prices);
    assert!(
        lines
            .iter()
            .any(|line| line.kind == CostKind::Disk && line.hourly_micros > Some(Micros(0)))
    );
    assert!(
        lines.iter().all(|line| line.kind != CostKind::Compute),
        "{lines:?}"
    );
    let planned = crate::support::planned(&spec, &live);
    let plan = planned.plan.expect("a plan");
    let report = report(ReportInput {
        spec: &spec,
        plan: &plan,
        before: &lines,
        prices,
        seconds: None,
    });
    assert_eq!(report.changes.len(), 1, "{:?}", report.changes);
    assert_eq!(
        report.changes[0].hourly_micros,
        Some(plan.cost.delta.hourly_micros)
    );
    assert!(plan.cost.delta.hourly_micros > Micros(0));
}

#[test]
fn services_have_a_price_where_a_row_has_one() {
    let check = |service: Service, count: u32, hourly: Option<i64>, flag: Option<&str>| {
        let prices = Prices::list(Catalog::embedded());
        let region = Region::new("eastus");
        let line = of_service("access.bastion", service, count, &region, prices).expect("a line");
        assert_eq!(line.hourly_micros, hourly.map(Micros), "{line:?}");
        assert_eq!(line.known, hourly.is_some());
        assert_eq!(line.flags.first().map(String::as_str), flag);
    };
    check(Service::NatGateway, 1, Some(45_000), None);
    check(Service::LoadBalancer, 1, Some(25_000), None);
    check(Service::LoadBalancerRule, 3, Some(30_000), None);
    check(
        Service::Bastion(BastionTier::Basic),
        1,
        Some(190_000),
        Some("reported"),
    );
    check(
        Service::Bastion(BastionTier::Standard),
        1,
        Some(290_000),
        Some("reported"),
    );
    check(Service::Bastion(BastionTier::Premium), 1, None, None);
    check(Service::Kubernetes(KubernetesTier::Standard), 1, None, None);
    check(Service::Kubernetes(KubernetesTier::Premium), 1, None, None);
}

#[test]
fn limits_are_exact_and_count_what_is_known() {
    let catalog = Catalog::embedded();
    let mut spec = small("Standard_D2s_v5");
    spec.budget = Some(Budget {
        currency: "USD".to_owned(),
        hourly: Some(decimal("0.1")),
        monthly: Some(decimal("1000")),
        on_exceed: OnExceed::Warn,
    });
    let mut options = options();
    options.limits = Limits {
        max_hourly: None,
        max_monthly: Some(decimal("144.592143")),
        require_complete: true,
    };
    let (plan, planned) = made(&spec, catalog, &options);
    assert_eq!(plan.cost.after.monthly_micros, Micros(144_592_142));
    let told: Vec<(&str, Severity, &str)> = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.code.as_str().starts_with("COST"))
        .map(|finding| {
            (
                finding.code.as_str(),
                finding.severity,
                finding.message.as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [(
            "COST002",
            Severity::Warning,
            "the stack costs 0.20 USD hourly, 0.0981 more than the budget of 0.10"
        )]
    );
}

#[test]
fn limits_are_checked_against_what_is_known() {
    let catalog = Catalog::embedded();
    let mut spec = small("Standard_D2s_v5");
    for pool in spec.pools.values_mut() {
        pool.disks.data = vec![DataDisk {
            size_gb: 1_024,
            disk_type: DiskType::Ultra,
            lun: 0,
        }];
    }
    let check = |limits: Limits, expected: &[&str]| {
        let mut options = options();
        options.limits = limits.clone();
        let (plan, planned) = made(&spec, catalog, &options);
        assert!(!plan.cost.complete);
        let found = codes(&planned.diagnostics);
        let mut ours: Vec<&str> = found
            .into_iter()
            .filter(|code| code.starts_with("COST"))
            .collect();
        ours.sort_unstable();
        assert_eq!(ours, expected, "{limits:?}");
        // A saved plan says the same.
        let saved = cost::check_limits(&plan, &limits, catalog);
        let mut codes = codes(&saved);
        codes.sort_unstable();
        assert_eq!(codes, expected, "{limits:?}");
    };
    let hourly = |text: &str| Limits {
        max_hourly: Some(decimal(text)),
        ..Limits::default()
    };
    check(Limits::default(), &["COST001"]);
    check(hourly("0.19"), &["COST001", "COST002"]);
    check(hourly("0.2"), &["COST001", "COST005"]);
    let complete = Limits {
        require_complete: true,
        ..Limits::default()
    };
    check(complete, &["COST001", "COST004"]);
}
