//! Other ways to make a pool where there is no capacity: another zone, a size of `fallback`,
//! regular capacity in place of spot. And what a live pool keeps that was made in one of them.

use std::collections::BTreeSet;

use model::{
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    spec::{Pool, Priority, SizeChoice, Zones},
    units::SizeName,
};

use super::{
    Context, Findings, Placement, Selection, Trial, grouping, role::Role, rules::open_zones,
    select, sticky, zones,
};

/// Another way to make a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// What makes it different, for people.
    pub label: String,
    /// What is chosen in it.
    pub selection: Selection,
}

/// The pool as its live nodes are: what was made with a size of `fallback`, or with regular
/// capacity in place of spot, stays so.
pub fn as_live(context: Context<'_>) -> Pool {
    let mut pool = context.pool.clone();
    let set = grouping::live_set(context.live, context.name);
    let nodes = match &set {
        Some((live, set, machines)) => sticky::instances(live, set, machines),
        None => sticky::nodes(context.live, context.name),
    };
    if nodes.is_empty() || context.reselect {
        return pool;
    }
    let sizes: BTreeSet<&SizeName> = nodes.values().map(|(_, vm)| &vm.size).collect();
    let is_first = |size: &SizeName| matches!(&pool.size, SizeChoice::Named(name) if name == size);
    if let Some(size) = sizes.first()
        && sizes.len() == 1
        && !is_first(size)
        && pool.fallback.contains(size)
    {
        pool.size = SizeChoice::Named((*size).clone());
    }
    let has_regular = nodes
        .values()
        .any(|(_, vm)| vm.priority == model::resource::VmPriority::Regular);
    if falls_back_to_regular(&pool) && has_regular {
        pool.priority = Priority::Regular;
    }
    pool
}

fn falls_back_to_regular(pool: &Pool) -> bool {
    matches!(&pool.priority, Priority::Spot(spot) if spot.fallback_to_regular)
}

/// The other ways of a pool that is to be made, in the order in which they are tried. One that
/// cannot work is left out, and said where the spec names it.
pub fn all(context: Context<'_>, chosen: &Selection) -> (Vec<Other>, Findings) {
    let mut findings = Findings::default();
    let mut others = Vec::new();
    // An agent pool that failed is written again where it is.
    if context.grouped.is_some() || chosen.placement == Placement::AgentPool {
        return (others, findings);
    }
    let pool = context.pool;
    let mut add = |variant: &Pool, label: String, named: bool| {
        let other = Context {
            pool: variant,
            ..context
        };
        let (selection, found) = select(other);
        findings.questions.extend(found.questions);
        match selection {
            Ok(selection) if selection.count == chosen.count => {
                others.push(Other { label, selection });
            }
            Ok(selection) => {
                let why = format!("it takes {} nodes, not {}", selection.count, chosen.count);
                findings.diagnostics.push(left_out(context, &label, &why));
            }
            Err(_) if named => {
                let mut errors = found.diagnostics.iter();
                let error = errors.find(|finding| finding.severity == Severity::Error);
                let why = error.map_or("nothing fits", |finding| finding.message.as_str());
                findings.diagnostics.push(left_out(context, &label, why));
            }
            Err(_) => {}
        }
    };
    let fewer_zones = without_a_zone(context, chosen);
    for zone in other_zones(context, chosen) {
        let variant = Pool {
            zones: Zones::Listed(vec![zone]),
            size: SizeChoice::Named(chosen.size.clone()),
            ..pool.clone()
        };
        add(&variant, format!("zone {zone}"), false);
    }
    for size in &pool.fallback {
        let variant = Pool {
            size: SizeChoice::Named(size.clone()),
            ..pool.clone()
        };
        add(&variant, size.to_string(), true);
    }
    if falls_back_to_regular(pool) {
        for size in std::iter::once(&chosen.size).chain(&pool.fallback) {
            let variant = Pool {
                size: SizeChoice::Named(size.clone()),
                priority: Priority::Regular,
                ..pool.clone()
            };
            // What is wrong with a size of `fallback` is said already.
            let named = *size == chosen.size;
            add(&variant, format!("{size} at the regular price"), named);
        }
    }
    others.splice(0..0, fewer_zones);
    (others, findings)
}

/// A pool that is spread over zones without each of them: its nodes there go to the others, and
/// all others stay where they are.
fn without_a_zone(context: Context<'_>, chosen: &Selection) -> Vec<Other> {
    let pool = context.pool;
    // A set that lists its zones keeps to the list, and places are reserved in their zones.
    let is_bound = pool.capacity_reservation.is_some()
        || pool.proximity_placement_group.is_some()
        || matches!(
            chosen.placement,
            Placement::BatchPool | Placement::AgentPool
        )
        || zones::has_disks(context)
        || (chosen.placement != Placement::SingleVms && pool.zones != Zones::Auto);
    if chosen.zones.len() < 2 || is_bound {
        return Vec::new();
    }
    let open = open(context, chosen);
    let ways = chosen.zones.iter().map(|full| {
        let mut left = open.clone();
        left.retain(|zone| zone != full);
        let is_full = |place: &Option<String>| place.as_ref() == Some(full);
        let (moving, mut places): (zones::Places, zones::Places) = chosen
            .places
            .clone()
            .into_iter()
            .partition(|(_, place)| is_full(place));
        for index in moving.into_keys() {
            let zone = zones::emptiest(&places, &left);
            places.insert(index, zone);
        }
        let mut left = zones::used(&places);
        left.sort();
        let label = match left.as_slice() {
            [zone] => format!("zone {zone}"),
            several => format!("zones {}", several.join(", ")),
        };
        let selection = Selection {
            zones: left,
            places,
            others: Vec::new(),
            candidates: Vec::new(),
            ..chosen.clone()
        };
        Other { label, selection }
    });
    ways.collect()
}

fn left_out(context: Context<'_>, label: &str, why: &str) -> Diagnostic {
    let message = format!("without capacity, {label} is not tried: {why}");
    let at = At::Value(SpecPath::pool(context.name, &["fallback"]));
    Diagnostic::new(Code::FallbackLeftOut, at, message)
        .with_help("remove it, or name a size that fits as the first one does")
}

/// Zones that a pool in one zone may move to.
fn other_zones(context: Context<'_>, chosen: &Selection) -> Vec<u8> {
    let [zone] = chosen.zones.as_slice() else {
        return Vec::new();
    };
    let others = open(context, chosen).into_iter();
    others
        .filter(|other| other != zone)
        .filter_map(|other| other.parse().ok())
        .collect()
}

/// The zones that a pool may be in.
fn open(context: Context<'_>, chosen: &Selection) -> Vec<String> {
    match &context.pool.zones {
        Zones::None => Vec::new(),
        Zones::Listed(listed) => listed.iter().map(u8::to_string).collect(),
        Zones::Auto => {
            let Some(size) = context.catalog.size(&chosen.size) else {
                return Vec::new();
            };
            let trial = Trial {
                context,
                role: Role::of(context.pool.stage, context.pool.workload),
                size,
                count: Some(chosen.count),
                new_nodes: chosen.count,
            };
            open_zones(&trial).into_iter().flatten().collect()
        }
    }
}
