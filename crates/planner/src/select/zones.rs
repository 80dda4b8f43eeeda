//! Zones of a pool: which are open, how nodes are spread over them, and which nodes go first.
//!
//! Nodes of one training job talk to each other all the time, so they share one zone (R4);
//! others are spread evenly. Live nodes stay where they are, and a new one goes where the
//! fewest are, so that planning again changes nothing.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use model::{
    diag::{At, Code, Diagnostic, SpecPath},
    live::Live,
    resource::{Orchestration, Properties, ScaleSet},
    spec::{DiskType, Pool, Zones},
};

use super::{
    Context, Findings, Placement, Trial, batch, grouping,
    pool::Nodes,
    proximity, reservation,
    role::Role,
    rules::{closed_zones, open_zones},
};

/// Zone numbers mean something within one subscription only.
const LABELS: &str = "zone numbers are the subscription's own: the same number in another subscription may be another datacentre";

/// Where the nodes of a pool are, by index; `None` for no zone.
pub(super) type Places = BTreeMap<u32, Option<String>>;

/// Places of a pool's nodes, and what led to them.
pub(super) struct Spread {
    pub(super) places: Places,
    pub(super) why: Vec<String>,
}

/// Indices of the nodes that a pool of this many has: all live ones where there are not too
/// many, else without those at the end of the fullest zones; new ones fill the gaps.
pub(super) fn indices(nodes: &Nodes<'_>, count: u32) -> BTreeSet<u32> {
    let mut indices = staying(nodes, count);
    let mut free = (0..=u32::MAX).filter(|index| !nodes.contains_key(index));
    while u32::try_from(indices.len()).is_ok_and(|there_are| there_are < count) {
        let Some(next) = free.next() else { break };
        indices.insert(next);
    }
    indices
}

/// Live nodes that a pool of this many keeps.
pub(super) fn staying(nodes: &Nodes<'_>, count: u32) -> BTreeSet<u32> {
    let mut zones: BTreeMap<Option<&String>, BTreeSet<u32>> = BTreeMap::new();
    for (index, (_, vm)) in nodes {
        zones.entry(vm.zones.first()).or_default().insert(*index);
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    for _ in count..nodes.len() {
        let fullest = zones
            .values_mut()
            .max_by_key(|indices| (indices.len(), indices.last().copied()));
        fullest.and_then(BTreeSet::pop_last);
    }
    zones.into_values().flatten().collect()
}

/// Whether nodes exchange data all the time, so that one zone holds them all.
pub(super) fn is_close(trial: &Trial<'_>) -> bool {
    let several = trial.count.is_some_and(|count| count > 1);
    grouping::needs_fabric(trial.context, trial.size)
        || proximity::is_wanted(trial.context)
        || (trial.role == Role::TrainingGpu && several)
}

/// Places every node of a pool.
pub(super) fn spread(
    trial: &Trial<'_>,
    indices: &BTreeSet<u32>,
    nodes: &Nodes<'_>,
    findings: &mut Findings,
) -> Spread {
    let context = trial.context;
    let allowed = allowed(trial, nodes, findings);
    let fair = fair_share(indices.len(), &allowed.zones);
    let stays = |zone: &Option<String>| match (&context.pool.zones, zone) {
        (Zones::Auto, _) => true,
        (Zones::None, zone) => zone.is_none(),
        (Zones::Listed(listed), Some(zone)) => listed.iter().any(|one| one.to_string() == *zone),
        (Zones::Listed(_), None) => false,
    };
    let mut places: Places = indices
        .iter()
        .filter_map(|index| {
            let (_, vm) = nodes.get(index)?;
            Some((*index, vm.zones.first().cloned()))
        })
        .filter(|(_, zone)| stays(zone))
        .collect();
    let disks = zones_of_disks(context.live, context.name);
    if is_chosen_anew(trial, nodes) {
        leave(&mut places, &allowed.zones, fair, &disks);
    }
    let room = reservation::room(trial);
    for index in indices {
        if places.contains_key(index) {
            continue;
        }
        // A disk that is there already cannot follow the node into another zone.
        let held = disks.get(index).cloned().filter(stays);
        let zone =
            held.unwrap_or_else(|| reservation::emptiest(&places, &allowed.zones, room.as_ref()));
        places.insert(*index, zone);
    }
    Spread {
        places,
        why: allowed.why,
    }
}

/// Whether zones of live nodes are chosen anew: of single VMs that are in zones.
fn is_chosen_anew(trial: &Trial<'_>, nodes: &Nodes<'_>) -> bool {
    let context = trial.context;
    let is_single = matches!(context.grouped, Some(Placement::SingleVms));
    let is_zonal = nodes.values().any(|(_, vm)| !vm.zones.is_empty());
    context.reselect && context.pool.zones == Zones::Auto && is_single && is_zonal
}

/// The most nodes that a zone has of so many that are spread evenly.
fn fair_share(nodes: usize, zones: &[String]) -> usize {
    nodes.div_ceil(zones.len().max(1))
}

/// Lets live nodes leave zones that are closed or have more than their share; one with a data
/// disk stays with it.
fn leave(places: &mut Places, zones: &[String], fair: usize, disks: &Places) {
    let mut there: BTreeMap<String, usize> = BTreeMap::new();
    for zone in disks.values().flatten() {
        *there.entry(zone.clone()).or_default() += 1;
    }
    places.retain(|index, zone| {
        if disks.contains_key(index) {
            return true;
        }
        let Some(zone) = zone else {
            return false;
        };
        let nodes = there.entry(zone.clone()).or_default();
        *nodes += 1;
        zones.contains(zone) && *nodes <= fair
    });
}

/// Zones of nodes in the order of their indices, each once.
pub(super) fn used(places: &Places) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    for zone in places.values().flatten() {
        if !used.contains(zone) {
            used.push(zone.clone());
        }
    }
    used
}

/// The zones of a pool: a scale set has a list of its own, which a live one keeps.
pub(super) fn of_pool(
    context: Context<'_>,
    placement: Placement,
    set: Option<&ScaleSet>,
    places: &Places,
) -> Vec<String> {
    let orchestration = match placement {
        Placement::ScaleSet(orchestration) => orchestration,
        // The zones of a pool stay as they are, however many nodes it has.
        Placement::AgentPool => Orchestration::Flexible,
        Placement::SingleVms | Placement::BatchPool => return used(places),
    };
    match (set, &context.pool.zones, orchestration) {
        (Some(set), Zones::Auto, _) => set.zones.clone(),
        (_, Zones::Listed(listed), Orchestration::Flexible) => {
            let listed: BTreeSet<String> = listed.iter().map(u8::to_string).collect();
            listed.into_iter().collect()
        }
        _ => {
            let mut zones = used(places);
            zones.sort();
            zones
        }
    }
}

/// The zone with the fewest nodes, of several the first.
pub(super) fn emptiest(places: &Places, zones: &[String]) -> Option<String> {
    let nodes_in = |zone: &String| {
        let in_zone = places.values().filter(|place| place.as_ref() == Some(zone));
        in_zone.count()
    };
    zones.iter().min_by_key(|zone| nodes_in(zone)).cloned()
}

/// Whether data disks of the pool are live, which hold their nodes in their zones.
pub(super) fn has_disks(context: Context<'_>) -> bool {
    !zones_of_disks(context.live, context.name).is_empty()
}

/// Zones of live data disks by the index of their node.
fn zones_of_disks(live: &Live, pool: &str) -> BTreeMap<u32, Option<String>> {
    let ours = live.resources.iter().filter_map(|resource| {
        let address = resource.address()?;
        if address.pool_name() != Some(pool) {
            return None;
        }
        let Properties::Disk(disk) = &resource.resource.as_ref()?.properties else {
            return None;
        };
        Some((address.node_index()?, disk.zones.first().cloned()))
    });
    ours.collect()
}

/// Zones that new nodes may take, and why these.
struct Allowed {
    zones: Vec<String>,
    why: Vec<String>,
}

impl Allowed {
    fn none() -> Self {
        Self {
            zones: Vec::new(),
            why: Vec::new(),
        }
    }
}

fn allowed(trial: &Trial<'_>, nodes: &Nodes<'_>, findings: &mut Findings) -> Allowed {
    let pool = trial.context.pool;
    match &pool.zones {
        Zones::None => Allowed::none(),
        Zones::Auto if batch::is_wanted(trial.context) => Allowed::none(),
        Zones::Listed(listed) => {
            let listed: Vec<String> = listed.iter().map(u8::to_string).collect();
            if !is_close(trial) || !trial.size.rdma {
                return Allowed {
                    zones: listed,
                    why: Vec::new(),
                };
            }
            one_of(trial, listed, nodes)
        }
        Zones::Auto if !trial.grows() && !is_chosen_anew(trial, nodes) => Allowed::none(),
        Zones::Auto => of_open(trial, nodes, findings),
    }
}

/// One zone of those listed for nodes that share a fabric.
fn one_of(trial: &Trial<'_>, listed: Vec<String>, nodes: &Nodes<'_>) -> Allowed {
    let open = open_zones(trial).unwrap_or_else(|| listed.iter().cloned().collect());
    let several = listed.len() > 1;
    let usual = usual(nodes).filter(|zone| listed.contains(zone));
    let first = usual.or_else(|| listed.into_iter().find(|zone| open.contains(zone)));
    let why = match &first {
        Some(zone) if several => vec![format!(
            "zone {zone}: InfiniBand nodes share a fabric only within one zone"
        )],
        _ => Vec::new(),
    };
    Allowed {
        zones: first.into_iter().collect(),
        why,
    }
}

fn of_open(trial: &Trial<'_>, nodes: &Nodes<'_>, findings: &mut Findings) -> Allowed {
    let context = trial.context;
    if let Some(room) = reservation::room(trial) {
        return reserved(trial, &room, nodes);
    }
    let zonal = needs_zone(context.pool);
    let open: Vec<String> = open_zones(trial).into_iter().flatten().collect();
    if open.is_empty() {
        if zonal {
            findings.diagnostics.push(no_zone_for_disks(context, trial));
        }
        return Allowed {
            zones: Vec::new(),
            why: without_zones(trial),
        };
    }
    let is_regional = !nodes.is_empty() && nodes.values().all(|(_, vm)| vm.zones.is_empty());
    if is_regional && !zonal {
        let why = "no zones, like the nodes that are live".to_owned();
        return Allowed {
            zones: Vec::new(),
            why: vec![why],
        };
    }
    let closed = closed_zones(trial);
    if let Some(zone) = proximity::zone(context) {
        return Allowed {
            zones: vec![zone.to_owned()],
            why: vec![format!(
                "zone {zone}: where the proximity placement group is"
            )],
        };
    }
    if is_close(trial) {
        // Without a zone Azure looks for capacity in all of them, and one placement group keeps
        // InfiniBand nodes together; where a zone is closed, a request without one can fail.
        if trial.size.rdma && closed.is_empty() && usual(nodes).is_none() && !zonal {
            return Allowed::none();
        }
        return share_one(trial, open, &closed, nodes);
    }
    let what = if open.len() > 1 { "zones" } else { "zone" };
    let why = format!("{what} {}: {}", open.join(", "), why_these(trial, &closed));
    Allowed {
        zones: open,
        why: vec![why],
    }
}

/// Where a capacity reservation group has places: nodes that train together share the zone with
/// the most of them.
fn reserved(trial: &Trial<'_>, room: &BTreeMap<Option<String>, u32>, nodes: &Nodes<'_>) -> Allowed {
    let mut zones: Vec<String> = room.keys().flatten().cloned().collect();
    if zones.is_empty() {
        let why = "no zones, like the reserved places".to_owned();
        return Allowed {
            zones,
            why: vec![why],
        };
    }
    if is_close(trial) {
        let most = |zone: &&String| room.get(&Some((*zone).clone())).copied();
        let usual = usual(nodes).filter(|zone| zones.contains(zone));
        let first = usual.or_else(|| zones.iter().rev().max_by_key(most).cloned());
        zones = first.into_iter().collect();
    }
    let what = if zones.len() > 1 { "zones" } else { "zone" };
    let why = format!("{what} {}: where places are reserved", zones.join(", "));
    Allowed {
        zones,
        why: vec![why],
    }
}

/// The zone in which most live nodes are, else the first that is open.
fn share_one(
    trial: &Trial<'_>,
    open: Vec<String>,
    closed: &BTreeSet<String>,
    nodes: &Nodes<'_>,
) -> Allowed {
    let usual = usual(nodes).filter(|zone| open.contains(zone));
    let zone = usual.or_else(|| open.into_iter().next());
    let together = if proximity::is_wanted(trial.context) {
        "nodes of a proximity placement group share one zone"
    } else {
        "nodes that train together share one zone"
    };
    let why = zone
        .as_ref()
        .map(|zone| format!("zone {zone}: {together}; {}", why_these(trial, closed)));
    Allowed {
        zones: zone.into_iter().collect(),
        why: why.into_iter().collect(),
    }
}

fn why_these(trial: &Trial<'_>, closed: &BTreeSet<String>) -> String {
    let closed: Vec<&str> = closed.iter().map(String::as_str).collect();
    let size = &trial.size.name;
    match closed.as_slice() {
        [] => LABELS.to_owned(),
        [zone] => format!("zone {zone} is closed to the subscription for `{size}`; {LABELS}"),
        several => format!(
            "zones {} are closed to the subscription for `{size}`; {LABELS}",
            several.join(", ")
        ),
    }
}

fn without_zones(trial: &Trial<'_>) -> Vec<String> {
    if closed_zones(trial).is_empty() {
        return Vec::new();
    }
    vec![format!(
        "no zones: every zone of {} is closed to the subscription for `{}`, the region as a whole is open",
        trial.context.location, trial.size.name
    )]
}

/// The zone in which most live nodes are, of several the one whose first node comes first.
fn usual(nodes: &Nodes<'_>) -> Option<String> {
    let mut zones: BTreeMap<&String, (usize, Reverse<u32>)> = BTreeMap::new();
    for (index, (_, vm)) in nodes {
        if let Some(zone) = vm.zones.first() {
            zones.entry(zone).or_insert((0, Reverse(*index))).0 += 1;
        }
    }
    let usual = zones.into_iter().max_by_key(|(_, weight)| *weight);
    usual.map(|(zone, _)| zone.clone())
}

/// Premium SSD v2 and Ultra disks exist in zones only.
pub(super) fn needs_zone(pool: &Pool) -> bool {
    let zonal = |kind: DiskType| matches!(kind, DiskType::PremiumV2 | DiskType::Ultra);
    pool.disks.data.iter().any(|disk| zonal(disk.disk_type))
}

fn no_zone_for_disks(context: Context<'_>, trial: &Trial<'_>) -> Diagnostic {
    let message = format!(
        "Premium SSD v2 and Ultra disks need a zone, and `{}` has none in {}",
        trial.size.name, context.location
    );
    let at = At::Value(SpecPath::pool(context.name, &["disks"]));
    let help = "use `type: premium` for the data disks, or another location";
    Diagnostic::new(Code::ZoneNeeded, at, message).with_help(help)
}
