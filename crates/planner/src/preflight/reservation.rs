//! Capacity reservation groups: the nodes of all pools together must have a place.
//!
//! Each pool by itself was looked at when its size was chosen; here are groups that several
//! pools draw from, and live nodes that are to join one.

use std::collections::BTreeMap;

use model::{
    diag::{At, Code, Diagnostic, SpecPath},
    ids::ArmId,
    live::{Answer, Live, Mode, Question},
    plan::{Action, Step},
    units::SizeName,
};

use crate::{
    reservation::{self, Places},
    select::{Findings, short_of_places},
};

type Key<'a> = (&'a ArmId, &'a SizeName);

/// What all nodes in a group need of it.
#[derive(Default)]
struct Need<'a> {
    count: u32,
    /// VMs by their zone; of a set nobody knows how its instances will be spread.
    zones: BTreeMap<Option<String>, u32>,
    pools: Vec<&'a str>,
    joins: bool,
}

/// What the groups that nodes are to draw from say against a plan.
pub(crate) fn reservations(steps: &[Step], live: &Live, mode: Mode) -> Findings {
    let mut findings = Findings::default();
    let mut needs: BTreeMap<Key<'_>, Need<'_>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.action != Action::Delete) {
        let Some(after) = &step.after else { continue };
        let (Some(id), Some((size, count))) = (after.capacity_reservation(), after.machines())
        else {
            continue;
        };
        let need = needs.entry((id, size)).or_default();
        need.count = need.count.saturating_add(count);
        if let Some(vm) = after.virtual_machine() {
            *need.zones.entry(vm.zones.first().cloned()).or_default() += 1;
        }
        if let Some(pool) = step.address.pool_name()
            && !need.pools.contains(&pool)
        {
            need.pools.push(pool);
        }
        let before = step.before.as_ref();
        need.joins |= step.action.writes()
            && before.is_some_and(|before| {
                before.capacity_reservation() != Some(id)
                    || before.machines().map(|(size, _)| size) != Some(size)
            });
    }
    for ((id, size), need) in needs {
        if need.pools.len() < 2 && !need.joins {
            continue;
        }
        check((id, size), &need, live, mode, &mut findings);
    }
    findings
}

fn check((id, size): Key<'_>, need: &Need<'_>, live: &Live, mode: Mode, findings: &mut Findings) {
    let Some(pool) = need.pools.first() else {
        return;
    };
    let at = At::Value(SpecPath::pool(pool, &["capacity_reservation"]));
    let group = match live.facts.reservations.get(id) {
        None if mode == Mode::Offline => return,
        None => {
            let question = Question::Reservations(id.clone());
            findings.questions.insert(question);
            return;
        }
        // Said where the pools were chosen for, or of no use to nodes that are there.
        Some(Answer::Unknown { .. }) => return,
        Some(Answer::Known(group)) => group,
    };
    let Some(group) = group else {
        let message = format!("there is no capacity reservation group `{id}`");
        let finding = Diagnostic::new(Code::ReservationUnfit, at, message);
        findings
            .diagnostics
            .push(finding.with_help("correct the id, or make the group"));
        return;
    };
    let ours = reservation::machines(live, None);
    let places = reservation::places(group, size, &ours);
    if places.is_empty() {
        let message = format!(
            "the capacity reservation group `{}` does not reserve `{size}`",
            id.name()
        );
        let finding = Diagnostic::new(Code::ReservationUnfit, at, message);
        findings
            .diagnostics
            .push(finding.with_help("add a reservation of the size"));
        return;
    }
    let found = Places {
        all: places.values().map(|places| places.all).sum(),
        taken: places.values().map(|places| places.taken).sum(),
    };
    if need.count > found.free() {
        let finding = short_of_places(
            at.clone(),
            (id, size.as_str(), &None),
            found,
            (need.count, found.free()),
        );
        findings.diagnostics.push(finding);
        return;
    }
    in_zones((id, size), need, &places, &at, findings);
}

/// A VM draws from what is reserved in its own zone alone, and live ones stay in theirs.
fn in_zones(
    (id, size): Key<'_>,
    need: &Need<'_>,
    places: &BTreeMap<Option<String>, Places>,
    at: &At,
    findings: &mut Findings,
) {
    for (zone, needed) in &need.zones {
        let Some(there) = places.get(zone).copied() else {
            let message = format!(
                "the capacity reservation group `{}` has places for `{size}` in {}, and {} in {} cannot draw from them",
                id.name(),
                reservation::in_words(places.keys()),
                reservation::nodes(*needed),
                reservation::in_words(std::iter::once(zone)),
            );
            let finding = Diagnostic::new(Code::ReservationUnfit, at.clone(), message);
            findings.diagnostics.push(
                finding.with_help("live nodes keep their zones: add a reservation there, or make a new pool beside this one"),
            );
            continue;
        };
        if *needed > there.free() {
            let count = (*needed, there.free());
            let finding = short_of_places(at.clone(), (id, size.as_str(), zone), there, count);
            findings.diagnostics.push(finding);
        }
    }
}
