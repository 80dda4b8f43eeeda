//! Previews: runs, commitments, other regions and sizes, and what holds for every preview.

use model::{
    catalog::Catalog,
    cost::{Amount, CostReport, PurchaseOption, RunBasis},
    plan::{Plan, Throughput},
    spec::{DataDisk, DiskType, Grouping, Priority, SizeChoice, Spec, Spot, Stage, Workload},
    units::{Micros, Region, SizeName, Span},
};
use proptest::prelude::*;
use tensorform_planner::{
    Input, Options,
    cost::{self, Prices, ReportInput, report},
};

use crate::support::{empty, live_stack, options, planned_with, pool, spec};

fn training(size: &str, count: u32) -> Spec {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool.count = Some(count);
    pool.grouping = Grouping::Vms;
    let mut spec = spec(pool);
    spec.locations = vec![Region::new("eastus2")];
    spec
}

fn seven_billion() -> model::spec::Model {
    model::spec::Model {
        parameters: Some(7_000_000_000),
        active_parameters: None,
        name: None,
        config: None,
        transformer: None,
        precision: model::spec::Precision::Bf16,
        method: model::spec::Method::Full,
        sequence: None,
        tokens: Some(2_000_000_000),
        concurrency: None,
    }
}

fn made(spec: &Spec, options: &Options) -> Plan {
    let planned = planned_with(spec, Catalog::embedded(), &empty(), options);
    planned.plan.expect("a plan")
}

fn previewed(spec: &Spec, plan: &Plan, seconds: Option<u64>) -> CostReport {
    report(ReportInput {
        spec,
        plan,
        before: &[],
        prices: Prices::list(Catalog::embedded()),
        seconds,
    })
}

#[test]
fn commitments_break_even_at_hours_of_use() {
    let spec = training("Standard_NC48ads_A100_v4", 2);
    let report = previewed(&spec, &made(&spec, &options()), None);
    let pool = &report.pools["train"];
    let way = |option: PurchaseOption| {
        let mut ways = pool.options.iter();
        ways.find(|way| way.option == option).expect("each way")
    };
    // 42,066 for a year and 71,642 for three; 7.346 an hour on demand.
    let year = way(PurchaseOption::Reservation1y);
    assert_eq!(year.unit_price.as_deref(), Some("42066"));
    assert_eq!(year.hourly_micros, Some(Micros(9_604_110)));
    assert_eq!(year.monthly_micros, Some(Micros(7_011_000_000)));
    assert_eq!(year.gpu_hour_micros, Some(Micros(2_401_027)));
    // 3,505.5 a month for one, by 7.346 an hour: 477.19…, and above that the reservation wins.
    assert_eq!(year.break_even_hours.as_deref(), Some("477.2"));
    let three = way(PurchaseOption::Reservation3y);
    assert_eq!(three.monthly_micros, Some(Micros(3_980_111_111)));
    assert_eq!(three.break_even_hours.as_deref(), Some("271"));
    assert_eq!(way(PurchaseOption::OnDemand).break_even_hours, None);
    assert_eq!(way(PurchaseOption::Spot).break_even_hours, None);
    assert_eq!(way(PurchaseOption::SavingsPlan3y).break_even_hours, None);
    assert_eq!(pool.gpu_hour_micros, Some(Micros(3_673_000)));
    // The whole stack bought so: nodes at this price, disks and network as they are.
    let whole = report
        .options
        .iter()
        .find(|option| option.option == PurchaseOption::Reservation1y);
    let whole = whole.expect("each way").total.expect("it is priced");
    let on_demand = way(PurchaseOption::OnDemand)
        .monthly_micros
        .expect("a price");
    let rest = report.cost.after.monthly_micros.saturating_sub(on_demand);
    assert_eq!(
        whole.monthly_micros,
        rest.saturating_add(Micros(7_011_000_000))
    );
    assert!(whole.complete);
}

#[test]
fn runs_are_as_long_as_tokens_a_deadline_or_the_user_say() {
    let mut spec = training("Standard_NC48ads_A100_v4", 2);
    let mut plan = made(&spec, &options());
    assert_eq!(
        previewed(&spec, &plan, None).run,
        None,
        "nothing says how long"
    );
    // Given hours: (2 × 7.346 + disks and network) × 10.
    let given = previewed(&spec, &plan, Some(36_000));
    let run = given.pools["train"].run.expect("a run");
    assert_eq!(
        (run.basis, run.seconds, run.complete),
        (RunBasis::Hours, 36_000, true)
    );
    assert_eq!(run.micros, Micros(147_866_849));
    assert_eq!(run.million_tokens_micros, None);
    let stack = given.run.expect("a run");
    // The gateway and its address for ten hours more.
    assert_eq!(stack.micros, Micros(147_866_849 + 500_000));
    // A deadline is the most that a run may take.
    let pool = spec.pools.get_mut("train").expect("the pool");
    pool.deadline = Some(Span::from_seconds(36_000));
    pool.model = Some(seven_billion());
    let run = previewed(&spec, &plan, None).pools["train"]
        .run
        .expect("a run");
    assert_eq!(
        (run.basis, run.micros),
        (RunBasis::Deadline, Micros(147_866_849))
    );
    assert_eq!(run.million_tokens_micros, None);
    // A known speed says it better; a begun second counts.
    plan.pools.get_mut("train").expect("the pool").throughput = Some(Throughput {
        seconds: Some(35_999.5),
        ..Throughput::default()
    });
    let run = previewed(&spec, &plan, None).pools["train"]
        .run
        .expect("a run");
    assert_eq!((run.basis, run.seconds), (RunBasis::Throughput, 36_000));
    assert_eq!(run.million_tokens_micros, Some(Micros(73_933)));
    // What is no length of time is none.
    for seconds in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        let throughput = Throughput {
            seconds: Some(seconds),
            ..Throughput::default()
        };
        plan.pools.get_mut("train").expect("the pool").throughput = Some(throughput);
        let run = previewed(&spec, &plan, None).pools["train"]
            .run
            .expect("a run");
        assert_eq!(run.basis, RunBasis::Deadline, "{seconds}");
    }
}

#[test]
fn a_size_that_cannot_be_spot_has_no_spot_price() {
    let mut spec = training("Standard_NC4as_T4_v3", 1);
    spec.locations = vec![Region::new("eastus")];
    let catalog = Catalog::embedded();
    let size = SizeName::from("Standard_NC4as_T4_v3");
    let row = catalog.vm_price(&spec.locations[0], &size);
    assert!(row.is_some_and(|row| row.spot.is_some()), "the row has one");
    let report = previewed(&spec, &made(&spec, &options()), Some(36_000));
    let ways = &report.pools["train"].options;
    let way = ways.iter().find(|way| way.option == PurchaseOption::Spot);
    let way = way.expect("each way");
    assert_eq!((&way.unit_price, way.hourly_micros), (&None, None));
    assert_eq!((way.run_micros, way.gpu_hour_micros), (None, None));
    assert_eq!(way.flags, ["spot_not_offered"]);
    let whole = |option| {
        let mut options = report.options.iter();
        let found = options.find(|whole| whole.option == option);
        found.expect("each way").total
    };
    let on_demand = whole(PurchaseOption::OnDemand);
    assert!(on_demand.is_some_and(|total| total.complete));
    assert_eq!(whole(PurchaseOption::Spot), None, "nobody can buy it so");
}

#[test]
fn an_excess_that_rounding_would_hide_is_told_exactly() {
    let spec = training("Standard_NC48ads_A100_v4", 1);
    let mut options = options();
    let total = made(&spec, &options).cost.after.hourly_micros;
    let limit = total.saturating_sub(Micros(1)).to_decimal();
    options.limits.max_hourly = Some(limit);
    let planned = planned_with(&spec, Catalog::embedded(), &empty(), &options);
    let mut findings = planned.diagnostics.iter();
    let finding = findings.find(|finding| finding.code.as_str() == "COST002");
    let (total, limit) = (total.to_decimal().normalize(), limit.normalize());
    assert_eq!(
        finding.expect("more than it may be").message,
        format!(
            "the stack costs {total} USD hourly, 0.000001 more than the {limit} that `--max-hourly` allows"
        )
    );
}

/// A stack of a size that its region offers and that no row has a price of.
fn without_a_price() -> Spec {
    let mut spec = training("Standard_ND96isr_H100_v5", 1);
    spec.locations = vec![Region::new("italynorth")];
    spec
}

#[test]
fn a_share_of_a_cost_that_lacks_a_price_is_no_price() {
    let mut spec = without_a_price();
    spec.pools.get_mut("train").expect("the pool").model = Some(model::spec::Model {
        tokens: Some(10_000_000_000),
        ..seven_billion()
    });
    let mut plan = made(&spec, &options());
    plan.pools.get_mut("train").expect("the pool").throughput = Some(Throughput {
        seconds: Some(36_000.0),
        ..Throughput::default()
    });
    let run = previewed(&spec, &plan, None).pools["train"]
        .run
        .expect("a run");
    assert_eq!((run.basis, run.complete), (RunBasis::Throughput, false));
    assert!(run.micros > Micros::default(), "the disks have a price");
    assert_eq!(run.million_tokens_micros, None);
}

#[test]
fn a_pool_without_a_known_run_is_named_and_not_counted() {
    let mut spec = training("Standard_NC48ads_A100_v4", 2);
    let pool = spec.pools.get_mut("train").expect("the pool");
    pool.deadline = Some(Span::from_seconds(3_600));
    let mut serving = crate::support::pool(Stage::Inference, Workload::Small);
    serving.size = SizeChoice::Named(SizeName::from("Standard_D2s_v5"));
    spec.pools.insert("serve".to_owned(), serving);
    let report = previewed(&spec, &made(&spec, &options()), None);
    let run = report.run.expect("a run");
    assert_eq!(run.without, ["serve"]);
    assert!(!run.complete, "what is not counted is not nothing");
}

#[test]
fn regions_rank_by_what_the_stack_costs_there() {
    let spec = training("Standard_NC48ads_A100_v4", 2);
    let plan = made(&spec, &options());
    let catalog = Catalog::embedded();
    let regions = cost::regions(&spec, &plan, Prices::list(catalog));
    assert_eq!(
        regions.ranked.len() + regions.left_out.len(),
        catalog.regions().len()
    );
    assert!(regions.ranked.len() > 5 && regions.left_out.len() > 5);
    let costs: Vec<Micros> = regions
        .ranked
        .iter()
        .map(|region| region.total.monthly_micros)
        .collect();
    assert!(costs.is_sorted(), "{costs:?}");
    for region in &regions.ranked {
        // The same as a plan made for that region, where one can be made.
        let mut there = spec.clone();
        there.locations = vec![region.location.clone()];
        let planned = planned_with(&there, catalog, &empty(), &options());
        let expected = planned.plan.expect("a plan").cost;
        assert_eq!(
            region.total.monthly_micros, expected.after.monthly_micros,
            "{}",
            region.location
        );
        assert_eq!(
            region.total.complete, expected.complete,
            "{}",
            region.location
        );
        let offers = catalog.offers(&region.location).expect("offers");
        assert!(
            offers
                .get(&SizeName::from("Standard_NC48ads_A100_v4"))
                .is_some()
        );
    }
    let reason = |name: &str| {
        let mut others = regions.left_out.iter();
        others
            .find(|other| other.location.as_str() == name)
            .map(|other| other.reason.as_str())
    };
    assert_eq!(
        reason("swedensouth"),
        Some("which sizes it offers is not known")
    );
    assert_eq!(
        reason("koreasouth"),
        Some("`Standard_NC48ads_A100_v4` is not offered")
    );
}

#[test]
fn a_difference_to_a_cost_that_lacks_a_price_is_unknown() {
    let spec = without_a_price();
    let plan = made(&spec, &options());
    assert!(!plan.cost.complete);
    let regions = cost::regions(&spec, &plan, Prices::list(Catalog::embedded()));
    assert!(regions.ranked.iter().any(|region| region.total.complete));
    for region in &regions.ranked {
        assert_eq!(region.monthly_difference_micros, None, "{region:?}");
    }
}

#[test]
fn sizes_rank_by_the_whole_job_with_the_nodes_that_each_needs() {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.model = Some(model::spec::Model {
        parameters: Some(30_000_000_000),
        active_parameters: None,
        name: None,
        config: None,
        transformer: None,
        precision: model::spec::Precision::Bf16,
        method: model::spec::Method::Full,
        sequence: None,
        tokens: None,
        concurrency: None,
    });
    pool.grouping = Grouping::Vms;
    let spec = spec(pool);
    let options = options();
    let live = empty();
    let catalog = Catalog::embedded();
    let plan = made(&spec, &options);
    let input = Input {
        spec: &spec,
        catalog,
        live: &live,
        options: &options,
    };
    let sizes = cost::sizes(input, &plan, Prices::list(catalog), Some(3_600));
    let costs = &sizes["train"];
    assert!(costs.len() > 1, "{costs:?}");
    assert_eq!(costs.iter().filter(|cost| cost.planned).count(), 1);
    let runs: Vec<(bool, Micros)> = costs
        .iter()
        .map(|cost| {
            cost.run
                .map(|run| (!run.complete, run.micros))
                .expect("a run")
        })
        .collect();
    assert!(runs.is_sorted(), "{runs:?}");
    for cost in costs {
        let mut named = spec.clone();
        let pool = named.pools.get_mut("train").expect("the pool");
        pool.size = SizeChoice::Named(cost.size.clone());
        let plan = made(&named, &options);
        assert_eq!(cost.count, plan.pools["train"].count, "{}", cost.size);
        let own = plan
            .cost
            .lines
            .iter()
            .filter(|line| line.address == "pool.train");
        assert_eq!(cost.total, Amount::of(own), "{}", cost.size);
    }
}

#[test]
fn what_a_change_costs_is_told_line_by_line() {
    let spec = training("Standard_NC24ads_A100_v4", 2);
    let live = live_stack(&spec);
    let more = training("Standard_NC24ads_A100_v4", 3);
    let catalog = Catalog::embedded();
    let plan = planned_with(&more, catalog, &live, &options())
        .plan
        .expect("a plan");
    let prices = Prices::list(catalog);
    let before = cost::of_live(&live, prices);
    let report = report(ReportInput {
        spec: &more,
        plan: &plan,
        before: &before,
        prices,
        seconds: None,
    });
    let sum = report
        .changes
        .iter()
        .filter_map(|change| change.monthly_micros);
    assert_eq!(
        sum.fold(Micros(0), Micros::saturating_add),
        plan.cost.delta.monthly_micros
    );
    assert!(
        report
            .changes
            .iter()
            .all(|change| (change.quantity_before, change.quantity_after) == (2, 3))
    );
    assert!(
        report
            .changes
            .iter()
            .all(|change| change.address == "pool.train")
    );
    assert_eq!(report.changes.len(), 2, "nodes and disks, not the network");
}

/// Sizes of each kind: with and without GPUs, spot prices, reservations, odd ones.
const SIZES: [&str; 6] = [
    "Standard_D2s_v5",
    "Standard_F4s_v2",
    "Standard_NC24ads_A100_v4",
    "Standard_NC48ads_A100_v4",
    "Standard_ND96isr_H100_v5",
    "Standard_NC64as_T4_v3",
];

fn stack(size: usize, count: u32, spot: bool, disks: &[(DiskType, u32)]) -> Spec {
    let mut spec = training(SIZES[size], count);
    let pool = spec.pools.get_mut("train").expect("the pool");
    pool.stage = Stage::Inference;
    if spot {
        pool.priority = Priority::Spot(Spot {
            max_price: None,
            eviction: model::spec::Eviction::Delete,
            fallback_to_regular: false,
        });
    }
    pool.disks.data = disks
        .iter()
        .zip(0..)
        .map(|((disk_type, size_gb), lun)| DataDisk {
            size_gb: *size_gb,
            disk_type: *disk_type,
            lun,
        })
        .collect();
    spec
}

fn disk() -> impl Strategy<Value = (DiskType, u32)> {
    let kinds = [
        DiskType::Premium,
        DiskType::PremiumV2,
        DiskType::StandardSsd,
        DiskType::StandardHdd,
        DiskType::Ultra,
    ];
    (proptest::sample::select(kinds.to_vec()), 4_u32..32_767)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn totals_are_sums_and_grow_with_the_count(
        size in 0..SIZES.len(),
        count in 1_u32..10,
        spot: bool,
        disks in proptest::collection::vec(disk(), 0..3),
    ) {
        let few = stack(size, count, spot, &disks);
        let more = stack(size, count + 1, spot, &disks);
        let (few_plan, more_plan) = (made(&few, &options()), made(&more, &options()));
        for (spec, plan) in [(&few, &few_plan), (&more, &more_plan)] {
            prop_assert_eq!(plan.breaches(), Vec::<String>::new());
            let report = previewed(spec, plan, Some(86_400));
            let pool = &report.pools["train"];
            let sum = pool.total.plus(report.shared);
            prop_assert_eq!(sum.monthly_micros, plan.cost.after.monthly_micros);
            prop_assert_eq!(sum.hourly_micros, plan.cost.after.hourly_micros);
            prop_assert_eq!(sum.complete, plan.cost.complete);
            prop_assert_eq!(plan.cost.delta, plan.cost.after.minus(plan.cost.before));
            prop_assert!(pool.states.stopped.monthly_micros <= pool.states.running.monthly_micros);
            let chosen = pool.options.iter().filter(|way| way.chosen).count();
            prop_assert_eq!(chosen, 1);
        }
        let known = |plan: &Plan| plan.cost.lines.iter().all(|line| line.known);
        prop_assert_eq!(known(&few_plan), known(&more_plan));
        let (less, greater) = (few_plan.cost.after, more_plan.cost.after);
        prop_assert!(less.monthly_micros < greater.monthly_micros);
        prop_assert!(less.hourly_micros < greater.hourly_micros);
    }
}
