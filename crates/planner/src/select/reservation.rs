//! A pool in a capacity reservation group: whether the group has its size, in which zones its
//! nodes go, and whether there are places for all of them.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Size,
    diag::{At, Code, Diagnostic, SpecPath},
    ids::ArmId,
    live::{Answer, Mode, Question, ReservationGroupFact},
    spec::{Pool, Zones},
};

use super::{
    Context, Findings, Placement, Trial, grouping,
    zones::{self, Places, needs_zone},
};
use crate::reservation::{self, in_words, nodes};

/// A size that is reserved.
pub(super) struct Reserved<'a> {
    id: &'a ArmId,
    group: &'a ReservationGroupFact,
}

/// The group of a pool that makes nodes, where it is known and in the region.
fn reserved(context: Context<'_>) -> Option<Reserved<'_>> {
    let id = context.pool.capacity_reservation.as_ref()?;
    let group = reservation::group(context.live, id)?.as_ref()?;
    (group.location == *context.location).then_some(Reserved { id, group })
}

fn at(context: Context<'_>) -> At {
    At::Value(SpecPath::pool(context.name, &["capacity_reservation"]))
}

/// Asks what the group of a pool has, where nodes are to be made.
pub(super) fn ask(context: Context<'_>, new_nodes: u32, findings: &mut Findings) {
    let Some(id) = &context.pool.capacity_reservation else {
        return;
    };
    if new_nodes == 0 {
        return;
    }
    let reason = match context.live.facts.reservations.get(id) {
        Some(Answer::Known(_)) => return,
        Some(Answer::Unknown { reason }) => reason.as_str(),
        None if context.mode == Mode::Offline => "the plan is offline",
        None => {
            findings
                .questions
                .insert(Question::Reservations(id.clone()));
            return;
        }
    };
    let message = format!(
        "what the capacity reservation group `{}` has could not be read: {reason}",
        id.name()
    );
    let finding = Diagnostic::new(Code::ReservationUnknown, at(context), message);
    findings.diagnostics.push(finding.with_help(
        "nodes of a size or zone that it does not reserve, or more than it has places for, may be refused at apply",
    ));
}

/// Checks that nodes of a size can draw from the pool's group; `false` where they cannot.
pub(super) fn check(
    context: Context<'_>,
    size: &Size,
    new_nodes: u32,
    findings: &mut Findings,
) -> bool {
    let Some(id) = &context.pool.capacity_reservation else {
        return true;
    };
    if new_nodes == 0 {
        return true;
    }
    let Some((message, help)) = unfit(context, size, id) else {
        return true;
    };
    let finding = Diagnostic::new(Code::ReservationUnfit, at(context), message);
    findings.diagnostics.push(finding.with_help(help));
    false
}

fn unfit(context: Context<'_>, size: &Size, id: &ArmId) -> Option<(String, String)> {
    let name = id.name();
    if !reservation::can_be_reserved(size) {
        let message = format!("Azure reserves no capacity of `{}`", size.name);
        let help = "remove `capacity_reservation`, or use a size of another series";
        return Some((message, help.to_owned()));
    }
    if grouping::of(context, size, 1) == Placement::BatchPool {
        let message = "`capacity_reservation` is not supported yet in pools of Batch";
        let help = "remove it, or use `orchestrator: manual`";
        return Some((message.to_owned(), help.to_owned()));
    }
    let Some(group) = reservation::group(context.live, id)? else {
        let message = format!("there is no capacity reservation group `{id}`");
        return Some((message, "correct the id, or make the group".to_owned()));
    };
    if group.location != *context.location {
        let message = format!(
            "the capacity reservation group `{name}` is in {}, the pool in {}",
            group.location, context.location
        );
        let help = format!(
            "use `location: {}`, or a group of the region",
            group.location
        );
        return Some((message, help));
    }
    of_group(context, size, name, group)
}

/// What of the group's reservations does not fit.
fn of_group(
    context: Context<'_>,
    size: &Size,
    name: &str,
    group: &ReservationGroupFact,
) -> Option<(String, String)> {
    let zones: BTreeSet<&Option<String>> = group
        .reservations
        .iter()
        .filter(|one| one.size == size.name)
        .map(|one| &one.zone)
        .collect();
    if zones.is_empty() {
        let sizes: BTreeSet<&str> = group
            .reservations
            .iter()
            .map(|one| one.size.as_str())
            .collect();
        let message = format!(
            "the capacity reservation group `{name}` does not reserve `{}`",
            size.name
        );
        let help = if sizes.is_empty() {
            "it reserves nothing: add a reservation of the size".to_owned()
        } else {
            let sizes: Vec<&str> = sizes.into_iter().collect();
            format!(
                "use `{}`, or add a reservation of the size",
                sizes.join("` or `")
            )
        };
        return Some((message, help));
    }
    let missing: Vec<Option<String>> = wanted(context.pool)
        .into_iter()
        .filter(|zone| !zones.contains(zone))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let message = format!(
        "the capacity reservation group `{name}` has `{}` in {}, the spec asks for {}",
        size.name,
        in_words(zones.into_iter()),
        in_words(missing.iter())
    );
    Some((message, "write `zones: auto`".to_owned()))
}

/// Zones that the spec asks for; `None` in it for no zone.
fn wanted(pool: &Pool) -> Vec<Option<String>> {
    match &pool.zones {
        Zones::Auto => Vec::new(),
        Zones::None => vec![None],
        Zones::Listed(listed) => listed.iter().map(|zone| Some(zone.to_string())).collect(),
    }
}

/// Where the group of a pool has places for new nodes, and how many in each zone: the region as
/// a whole, or zones. `None` where nothing is known or reserved.
pub(super) fn room(trial: &Trial<'_>) -> Option<BTreeMap<Option<String>, u32>> {
    let context = trial.context;
    let Reserved { group, .. } = reserved(context)?;
    let ours = reservation::machines(context.live, Some(context.name));
    let places = reservation::places(group, &trial.size.name, &ours);
    let count = trial.count.unwrap_or(1);
    let regional = places.get(&None).map(|places| places.free());
    let zonal: BTreeMap<Option<String>, u32> = places
        .iter()
        .filter(|(zone, _)| zone.is_some())
        .map(|(zone, places)| (zone.clone(), places.free()))
        .collect();
    let takes_region =
        !needs_zone(context.pool) && regional.is_some_and(|free| free >= count || zonal.is_empty());
    match regional {
        Some(free) if takes_region => Some(BTreeMap::from([(None, free)])),
        _ => (!zonal.is_empty()).then_some(zonal),
    }
}

/// Checks that there are places for all nodes where they are to be; `false` where there are not.
pub(super) fn holds(trial: &Trial<'_>, places: &Places, findings: &mut Findings) -> bool {
    let context = trial.context;
    let Some(Reserved { id, group }) = reserved(context).filter(|_| trial.grows()) else {
        return true;
    };
    let ours = reservation::machines(context.live, Some(context.name));
    let there = reservation::places(group, &trial.size.name, &ours);
    let mut needed: BTreeMap<&Option<String>, u32> = BTreeMap::new();
    for zone in places.values() {
        *needed.entry(zone).or_default() += 1;
    }
    let found = |zone: &Option<String>| there.get(zone).copied().unwrap_or_default();
    let placed: u32 = needed
        .iter()
        .map(|(zone, needed)| found(zone).free().min(*needed))
        .sum();
    let mut holds = true;
    for (zone, needed) in needed {
        let found = found(zone);
        if needed <= found.free() {
            continue;
        }
        holds = false;
        let size = trial.size.name.as_str();
        let finding = short(at(context), (id, size, zone), found, (needed, placed));
        findings.diagnostics.push(finding);
    }
    holds
}

/// The finding that a group has too few places for so many nodes, of which so many have one.
pub(crate) fn short(
    at: At,
    (id, size, zone): (&ArmId, &str, &Option<String>),
    found: reservation::Places,
    (needed, placed): (u32, u32),
) -> Diagnostic {
    let place = zone
        .as_ref()
        .map_or(String::new(), |zone| format!(" in zone {zone}"));
    let message = format!(
        "the capacity reservation group `{}` has {} for `{size}`{place}, {} taken by others, needed {needed}: {} too few",
        id.name(),
        counted(found.all),
        found.taken,
        needed.saturating_sub(found.free()),
    );
    let more = found.taken.saturating_add(needed);
    let help = format!("reserve at least {more}{place}, or use fewer nodes: {placed} have a place");
    Diagnostic::new(Code::ReservationShort, at, message).with_help(help)
}

fn counted(places: u32) -> String {
    match places {
        1 => "1 place".to_owned(),
        several => format!("{several} places"),
    }
}

/// What the choice owes to the group.
pub(super) fn why(trial: &Trial<'_>) -> Vec<String> {
    let Some(id) = &trial.context.pool.capacity_reservation else {
        return Vec::new();
    };
    let name = id.name();
    let mut why = vec![format!(
        "R9: nodes draw from the capacity reservation group `{name}`, and no quota of their family; reserved places cost as much while they are empty"
    )];
    if let Some(Reserved { group, .. }) = reserved(trial.context) {
        let ours = reservation::machines(trial.context.live, Some(trial.context.name));
        let places = reservation::places(group, &trial.size.name, &ours);
        let all: u32 = places.values().map(|places| places.all).sum();
        let taken: u32 = places.values().map(|places| places.taken).sum();
        if all > 0 {
            why.push(format!(
                "`{name}` has {} for `{}` in {}, {taken} taken by others: {} here",
                counted(all),
                trial.size.name,
                in_words(places.keys()),
                nodes(trial.count.unwrap_or(1))
            ));
        }
    }
    why
}

/// The zone of a new node: of those with places left the one with the fewest nodes; where none
/// has any, the one with the fewest nodes.
pub(super) fn emptiest(
    places: &Places,
    zones: &[String],
    room: Option<&BTreeMap<Option<String>, u32>>,
) -> Option<String> {
    let Some(room) = room else {
        return zones::emptiest(places, zones);
    };
    let has_room = |zone: &&String| {
        let here = Some((*zone).clone());
        let nodes = places.values().filter(|place| **place == here).count();
        let most = room.get(&here).copied().unwrap_or_default();
        u32::try_from(nodes).is_ok_and(|nodes| nodes < most)
    };
    let open: Vec<String> = zones.iter().filter(has_room).cloned().collect();
    zones::emptiest(places, if open.is_empty() { zones } else { &open })
}
