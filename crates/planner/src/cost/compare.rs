//! What a stack costs before and after.

use std::collections::BTreeMap;

use model::{
    cost::{Amount, CostChange},
    live::{Live, LiveResource, Power, Provisioning},
    plan::{Cost, CostLine, Plan, Total},
    units::{Micros, Region},
};

use super::{
    CURRENCY,
    bill::{self, Bills, Item, State, Thing},
    quote::Prices,
    report,
    service::Service,
};

/// What it costs before and after.
pub fn compare<'a>(
    before: impl IntoIterator<Item = Item<'a>>,
    after: impl IntoIterator<Item = Item<'a>>,
    prices: Prices<'_>,
) -> Cost {
    let before = of_stack(before, prices);
    let after = of_stack(after, prices);
    let (total_before, total_after) = (total(&before), total(&after));
    Cost {
        currency: CURRENCY.to_owned(),
        complete: after.iter().all(|line| line.known),
        before: total_before,
        after: total_after,
        delta: total_after.minus(total_before),
        lines: after,
        price_book: prices.book.map(model::price_book::PriceBook::reference),
    }
}

/// What a plan costs once pools were made in other of their ways; `None` where that is priced by
/// an agreement, which is not at hand any more.
pub fn taking(plan: &Plan, taken: &BTreeMap<String, usize>, prices: Prices<'_>) -> Option<Cost> {
    if taken.is_empty() {
        return Some(plan.cost.clone());
    }
    if plan.cost.price_book.is_some() {
        return None;
    }
    let other = plan.taking(taken);
    let [planned, made] = [plan, &other].map(|plan| of_stack(report::items(&plan.steps), prices));
    let more = total(&made).minus(total(&planned));
    let after = plan.cost.after;
    let after = Total {
        hourly_micros: after.hourly_micros.saturating_add(more.hourly_micros),
        monthly_micros: after.monthly_micros.saturating_add(more.monthly_micros),
    };
    Some(Cost {
        complete: plan.cost.complete && made.iter().all(|line| line.known),
        after,
        delta: after.minus(plan.cost.before),
        lines: made,
        ..plan.cost.clone()
    })
}

/// The lines for some items: equal things of one pool are one line.
pub fn of_stack<'a>(
    items: impl IntoIterator<Item = Item<'a>>,
    prices: Prices<'_>,
) -> Vec<CostLine> {
    lines(&bill::count(items, State::AsTheyAre), prices)
}

/// The lines for what is live of a stack.
pub fn of_live(live: &Live, prices: Prices<'_>) -> Vec<CostLine> {
    of_stack(live_items(live), prices)
}

/// What is live of a stack, as far as it was read. Where a formula decides how many nodes there
/// are, the most that there may be counts, as in what is planned.
pub(crate) fn live_items(live: &Live) -> impl Iterator<Item = Item<'_>> + Clone {
    let resources = live.resources.iter();
    resources.filter_map(|resource| item(live, resource))
}

fn item<'a>(live: &'a Live, resource: &'a LiveResource) -> Option<Item<'a>> {
    let properties = resource.resource.as_ref()?;
    let batch = properties.batch_pool();
    let agent = properties.agent_pool();
    let is_scaled = batch.is_some_and(|pool| pool.autoscale.is_some())
        || agent.is_some_and(|pool| pool.autoscale_min.is_some());
    Some(Item {
        address: resource.address()?,
        resource: properties,
        has_hardware: has_hardware(resource),
        without_hardware: if is_scaled {
            0
        } else {
            without_hardware(live, resource)
        },
    })
}

/// Whether a machine is on hardware that is paid for. One that failed and of which no power state
/// is known never got any; the instances of a set tell for themselves.
fn has_hardware(resource: &LiveResource) -> bool {
    let state = &resource.state;
    let is_vm = resource
        .resource
        .as_ref()
        .is_some_and(|resource| resource.virtual_machine().is_some());
    match state.power {
        None | Some(Power::Unknown) if !is_vm => true,
        Some(Power::Deallocated) => false,
        None | Some(Power::Unknown) => state.provisioning != Provisioning::Failed,
        Some(
            Power::Running
            | Power::Starting
            | Power::Stopping
            | Power::Stopped
            | Power::Deallocating,
        ) => true,
    }
}

/// How many instances of a scale set, or nodes of a pool of Batch, have no hardware now.
pub fn without_hardware(live: &Live, resource: &LiveResource) -> u32 {
    let instances = live.instances.get(&resource.id).into_iter().flatten();
    let away = instances.filter(|one| one.is_away() || one.never_made());
    u32::try_from(away.count())
        .unwrap_or(u32::MAX)
        .saturating_add(lacking(resource))
}

/// How many nodes of a pool of Batch are not there: those that did not come, and those that its
/// formula does not want right now.
fn lacking(resource: &LiveResource) -> u32 {
    let properties = resource.resource.as_ref();
    let most = properties.and_then(|of| {
        let batch = of.batch_pool().map(|pool| pool.nodes);
        batch.or_else(|| of.agent_pool().map(|pool| pool.nodes))
    });
    most.zip(resource.state.nodes)
        .map_or(0, |(most, there)| most.saturating_sub(there))
}

/// What some items cost with every spot machine paid for on demand; `None` where none is spot.
pub(crate) fn at_regular_prices<'a>(
    items: impl IntoIterator<Item = Item<'a>>,
    prices: Prices<'_>,
) -> Option<Amount> {
    let bills = bill::count(items, State::AsTheyAre);
    let regular = bill::on_demand(&bills)?;
    Some(Amount::of(&lines(&regular, prices)))
}

/// The line for a service of a stack.
pub fn of_service(
    address: &str,
    service: Service,
    count: u32,
    region: &Region,
    prices: Prices<'_>,
) -> Option<CostLine> {
    let key = (address.to_owned(), region.clone(), Thing::Service(service));
    lines(&Bills::from([(key, count)]), prices).pop()
}

pub(super) fn lines(bills: &Bills, prices: Prices<'_>) -> Vec<CostLine> {
    let priced = bill::price(bills, None, prices);
    priced.iter().map(bill::Priced::line).collect()
}

fn total(lines: &[CostLine]) -> Total {
    let Amount {
        hourly_micros,
        monthly_micros,
        complete: _,
    } = Amount::of(lines);
    Total {
        hourly_micros,
        monthly_micros,
    }
}

/// What differs, line by line, in the order of lines.
pub(super) fn changes(before: &[CostLine], after: &[CostLine]) -> Vec<CostChange> {
    fn key(line: &CostLine) -> (&str, model::plan::CostKind, &str, &str) {
        (&line.address, line.kind, &line.item, &line.meter)
    }
    let mut keys: Vec<_> = before.iter().chain(after).map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let changes = keys.into_iter().map(|(address, kind, item, meter)| {
        let find = |lines: &'_ [CostLine]| -> (u32, Option<Micros>, Option<Micros>) {
            let found = lines
                .iter()
                .find(|line| key(line) == (address, kind, item, meter));
            found.map_or(
                (0, Some(Micros::default()), Some(Micros::default())),
                |line| (line.quantity, line.hourly_micros, line.monthly_micros),
            )
        };
        let (was, is) = (find(before), find(after));
        let difference = |was: Option<Micros>, is: Option<Micros>| Some(is?.saturating_sub(was?));
        CostChange {
            address: address.to_owned(),
            kind,
            item: item.to_owned(),
            meter: meter.to_owned(),
            quantity_before: was.0,
            quantity_after: is.0,
            hourly_micros: difference(was.1, is.1),
            monthly_micros: difference(was.2, is.2),
        }
    });
    changes.filter(differs).collect()
}

/// Whether there is more or less of it, or a known price differs.
fn differs(change: &CostChange) -> bool {
    change.quantity_before != change.quantity_after
        || change
            .monthly_micros
            .is_some_and(|difference| difference != Micros::default())
}
