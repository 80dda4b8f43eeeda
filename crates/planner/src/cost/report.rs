//! The cost preview: each pool with every way to pay, its states and its runs.

use std::collections::BTreeMap;

use model::{
    catalog::{Catalog, GpuShare, ImageOs},
    cost::{
        Amount, CostReport, FORMAT_VERSION, PoolCost, PoolOption, PoolStates, PurchaseOption,
        StackOption,
    },
    plan::{CostLine, Plan, PoolPlan, Step},
    spec::{Pool, Priority, Spec},
    units::{Region, SizeName},
};
use rust_decimal::{Decimal, RoundingStrategy};

use super::{
    bill::{self, Item, State},
    compare, lifetime,
    quote::{self, Meter, Prices, Quote, Unit},
    run,
};

/// What a preview is made from.
#[derive(Clone, Copy)]
pub struct ReportInput<'a> {
    /// What the user wants.
    pub spec: &'a Spec,
    /// What was decided.
    pub plan: &'a Plan,
    /// What was live, line by line.
    pub before: &'a [CostLine],
    /// Prices.
    pub prices: Prices<'a>,
    /// The length of a run in seconds, where it is given.
    pub seconds: Option<u64>,
}

/// Makes a preview.
pub fn report(input: ReportInput<'_>) -> CostReport {
    let ReportInput {
        spec,
        plan,
        before,
        prices,
        seconds: _,
    } = input;
    let pools: BTreeMap<String, PoolCost> = plan
        .pools
        .iter()
        .filter_map(|(name, chosen)| {
            let pool = spec.pools.get(name)?;
            Some((name.clone(), pool_cost(input, name, pool, chosen)))
        })
        .collect();
    let lines = &plan.cost.lines;
    let shared = Amount::of(lines.iter().filter(|line| pool_of(line).is_none()));
    CostReport {
        format_version: FORMAT_VERSION.to_owned(),
        tensorform_version: plan.tensorform_version.clone(),
        stack: plan.stack.clone(),
        created_at: plan.created_at,
        spec: plan.spec.clone(),
        catalog: plan.catalog.clone(),
        scope: plan.scope.clone(),
        price_book: prices.book.map(model::price_book::PriceBook::reference),
        cost: plan.cost.clone(),
        before: before.to_vec(),
        changes: compare::changes(before, lines),
        options: stack_options(plan, &pools, shared),
        run: run::of_stack(plan, &pools, prices),
        lifetime: lifetime::of_stack(input),
        pools,
        shared,
        regions: None,
        sizes: None,
        diagnostics: plan.diagnostics.clone(),
    }
}

/// The pool that a line belongs to.
pub(super) fn pool_of(line: &CostLine) -> Option<&str> {
    line.address.strip_prefix("pool.")
}

/// What the plan wants, as items that run or not as each state says.
pub(super) fn items(steps: &[Step]) -> impl Iterator<Item = Item<'_>> {
    steps.iter().filter_map(|step| {
        Some(Item {
            address: &step.address,
            resource: step.after.as_ref()?,
            has_hardware: true,
            without_hardware: 0,
        })
    })
}

fn pool_items<'a>(plan: &'a Plan, name: &'a str) -> impl Iterator<Item = Item<'a>> {
    items(&plan.steps).filter(move |item| item.address.pool_name() == Some(name))
}

/// What a pool costs, with every way to pay.
pub(crate) fn pool_cost(
    input: ReportInput<'_>,
    name: &str,
    pool: &Pool,
    chosen: &PoolPlan,
) -> PoolCost {
    let ReportInput { plan, prices, .. } = input;
    let own = plan
        .cost
        .lines
        .iter()
        .filter(|line| pool_of(line) == Some(name));
    let in_state = |state| {
        let bills = bill::count(pool_items(plan, name), state);
        Amount::of(&compare::lines(&bills, prices))
    };
    let run = run::of_pool(input, name, pool, chosen);
    let options = ways(input, name, pool, chosen, run.map(|run| run.seconds));
    let is_spot = matches!(pool.priority, Priority::Spot(_));
    PoolCost {
        size: chosen.size.clone(),
        count: chosen.count,
        gpus_per_node: share(prices.catalog, &chosen.size).map(|share| match share {
            GpuShare::Whole(count) => count.to_string(),
            GpuShare::Part(parts) => format!("1/{parts}"),
        }),
        total: Amount::of(own),
        gpu_hour_micros: options
            .iter()
            .find(|option| option.chosen)
            .and_then(|option| option.gpu_hour_micros),
        options,
        states: PoolStates {
            running: in_state(State::Running),
            stopped: in_state(State::Stopped),
            evicted: is_spot.then(|| in_state(State::Evicted)),
            no_nodes: Amount::nothing(),
        },
        run,
    }
}

/// Every way to pay for the nodes of a pool, and what a run of so many seconds costs by it.
pub(super) fn ways(
    input: ReportInput<'_>,
    name: &str,
    pool: &Pool,
    chosen: &PoolPlan,
    seconds: Option<u64>,
) -> Vec<PoolOption> {
    let ReportInput { plan, prices, .. } = input;
    let nodes = Nodes {
        size: &chosen.size,
        count: chosen.count,
        system: system(plan, name),
        location: &plan.scope.location,
        seconds,
        bought: match pool.priority {
            Priority::Regular => PurchaseOption::OnDemand,
            Priority::Spot(_) => PurchaseOption::Spot,
        },
    };
    options(nodes, prices)
}

fn system(plan: &Plan, name: &str) -> ImageOs {
    let mut systems = pool_items(plan, name).filter_map(|item| item.resource.system());
    systems.next().map_or(ImageOs::Linux, quote::system)
}

fn share(catalog: &Catalog, size: &SizeName) -> Option<GpuShare> {
    catalog.size(size)?.gpu.as_ref()?.share
}

/// Nodes that may be paid for in several ways.
#[derive(Clone, Copy)]
struct Nodes<'a> {
    size: &'a SizeName,
    count: u32,
    system: ImageOs,
    location: &'a Region,
    seconds: Option<u64>,
    bought: PurchaseOption,
}

fn options(nodes: Nodes<'_>, prices: Prices<'_>) -> Vec<PoolOption> {
    let quote = |option| {
        if option == PurchaseOption::Spot && nodes.cannot_become_spot(prices.catalog) {
            return None;
        }
        let meter = Meter::of(nodes.system, option);
        quote::machine(prices, nodes.location, nodes.size, meter)
    };
    let on_demand = quote(PurchaseOption::OnDemand);
    PurchaseOption::ALL
        .into_iter()
        .map(|option| {
            let quote = quote(option);
            let quote = quote.as_ref();
            let share = share(prices.catalog, nodes.size);
            PoolOption {
                option,
                chosen: option == nodes.bought,
                unit_price: quote.map(|quote| quote.amount.normalize().to_string()),
                unit: match option {
                    PurchaseOption::Reservation1y | PurchaseOption::Reservation3y => "term",
                    PurchaseOption::OnDemand
                    | PurchaseOption::Spot
                    | PurchaseOption::SavingsPlan1y
                    | PurchaseOption::SavingsPlan3y => "hour",
                },
                hourly_micros: quote.and_then(|quote| quote.hourly(nodes.count)),
                monthly_micros: quote.and_then(|quote| quote.monthly(nodes.count)),
                gpu_hour_micros: quote.zip(share).and_then(|(quote, share)| match share {
                    GpuShare::Whole(0) => None,
                    GpuShare::Whole(count) => quote.share(1, count),
                    GpuShare::Part(parts) => quote.share(parts, 1),
                }),
                run_micros: quote
                    .zip(nodes.seconds)
                    .and_then(|(quote, seconds)| quote.run(nodes.count, seconds)),
                break_even_hours: break_even(option, quote, on_demand.as_ref()),
                meter: Meter::of(nodes.system, option).words(),
                as_of: quote.and_then(|quote| quote.as_of.clone()),
                source: quote.map(|quote| quote.source.clone()),
                flags: nodes.flags(option, quote, prices),
            }
        })
        .collect()
}

impl Nodes<'_> {
    /// Whether the region does not offer the size as spot, and the nodes are not spot already.
    fn cannot_become_spot(&self, catalog: &Catalog) -> bool {
        let offer = catalog.offer(self.location, self.size);
        self.bought != PurchaseOption::Spot && offer.is_some_and(|offer| !offer.spot)
    }

    /// What the reader must know about a way to pay.
    fn flags(
        &self,
        option: PurchaseOption,
        quote: Option<&Quote>,
        prices: Prices<'_>,
    ) -> Vec<String> {
        if let Some(quote) = quote {
            return quote.flags.clone();
        }
        if option == PurchaseOption::Spot && self.cannot_become_spot(prices.catalog) {
            return vec![quote::NOT_SPOT.to_owned()];
        }
        let meter = Meter::of(self.system, option);
        quote::gap(prices, self.location, self.size, meter)
    }
}

/// Hours of use in a month at which paying on demand costs as much as the commitment does
/// whether used or not; with one decimal, rounded up, so that more use than this is cheaper.
fn break_even(
    option: PurchaseOption,
    committed: Option<&Quote>,
    on_demand: Option<&Quote>,
) -> Option<String> {
    if !option.is_commitment() {
        return None;
    }
    let on_demand = on_demand.filter(|quote| quote.unit == Unit::Hour)?;
    let month = committed?.per_month()?;
    let hours = month.checked_div(on_demand.amount)?;
    let rounded = hours.round_dp_with_strategy(1, RoundingStrategy::AwayFromZero);
    Some(rounded.normalize().to_string())
}

impl Quote {
    /// The price for a month of 730 hours, as exactly as decimals are.
    fn per_month(&self) -> Option<Decimal> {
        match self.unit {
            Unit::Month => Some(self.amount),
            Unit::Hour => self
                .amount
                .checked_mul(model::units::HOURS_PER_MONTH.into()),
            Unit::Years(years) => self
                .amount
                .checked_div(years.checked_mul(12).map(Decimal::from)?),
        }
    }
}

fn stack_options(
    plan: &Plan,
    pools: &BTreeMap<String, PoolCost>,
    shared: Amount,
) -> Vec<StackOption> {
    let disks = plan
        .cost
        .lines
        .iter()
        .filter(|line| pool_of(line).is_some() && line.kind != model::plan::CostKind::Compute);
    let rest = shared.plus(Amount::of(disks));
    PurchaseOption::ALL
        .into_iter()
        .map(|option| {
            let ways = pools.values().flat_map(|pool| &pool.options);
            let ways = ways.filter(|way| way.option == option);
            let is_priced = ways.clone().any(|way| way.unit_price.is_some());
            let nodes = ways.map(|way| Amount {
                hourly_micros: way.hourly_micros.unwrap_or_default(),
                monthly_micros: way.monthly_micros.unwrap_or_default(),
                complete: way.hourly_micros.is_some() && way.monthly_micros.is_some(),
            });
            StackOption {
                option,
                total: is_priced.then(|| nodes.fold(rest, Amount::plus)),
            }
        })
        .collect()
}
