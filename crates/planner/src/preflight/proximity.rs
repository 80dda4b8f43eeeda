//! Proximity placement groups: what is to be in one must fit it, and a change of size there may
//! find no hardware.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    diag::{At, Code, Diagnostic, SpecPath},
    ids::ArmId,
    live::{Answer, Live, Mode, Power, ProximityGroupFact, Question},
    plan::{Action, Step},
    resource::Resource,
    units::SizeName,
};

use crate::select::Findings;

/// A machine or a set that is in a group.
struct Member<'a> {
    pool: &'a str,
    size: &'a SizeName,
    zones: &'a [String],
    location: &'a model::units::Region,
    /// Whether the step puts it there.
    joins: bool,
}

/// What groups say against a plan.
pub(crate) fn proximity(steps: &[Step], live: &Live, mode: Mode) -> Findings {
    let mut findings = Findings::default();
    let mut groups: BTreeMap<&ArmId, Vec<Member<'_>>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.action != Action::Delete) {
        if let Some((group, member)) = member(step) {
            groups.entry(group).or_default().push(member);
        }
    }
    for (group, members) in groups {
        one_zone(group, &members, &mut findings);
        let is_ours = steps.iter().any(|step| step.id == *group);
        if !is_ours && members.iter().any(|member| member.joins) {
            fits(group, &members, live, mode, &mut findings);
        }
    }
    resizes(steps, live, &mut findings);
    findings
}

fn member(step: &Step) -> Option<(&ArmId, Member<'_>)> {
    let after = step.after.as_ref()?;
    let group = group_of(after)?;
    let (zones, location) = match (after.virtual_machine(), after.scale_set()) {
        (Some(vm), _) => (&vm.zones, &vm.location),
        (None, Some(set)) => (&set.zones, &set.location),
        (None, None) => return None,
    };
    let before = step.before.as_ref().and_then(group_of);
    let member = Member {
        pool: step.address.pool_name()?,
        size: after.machines()?.0,
        zones,
        location,
        joins: step.action.writes() && before != Some(group),
    };
    Some((group, member))
}

fn group_of(resource: &Resource) -> Option<&ArmId> {
    let vm = resource.virtual_machine();
    let of_vm = vm.and_then(|vm| vm.proximity_placement_group.as_ref());
    of_vm.or_else(|| resource.scale_set()?.proximity_placement_group.as_ref())
}

fn unfit(pool: &str, message: String, help: String) -> Diagnostic {
    let at = At::Value(SpecPath::pool(pool, &["proximity_placement_group"]));
    Diagnostic::new(Code::ProximityUnfit, at, message).with_help(help)
}

/// A group is in one datacentre, and so in one zone.
fn one_zone(group: &ArmId, members: &[Member<'_>], findings: &mut Findings) {
    let zones: BTreeSet<&str> = members
        .iter()
        .flat_map(|member| member.zones)
        .map(String::as_str)
        .collect();
    let Some(joining) = members.iter().find(|member| member.joins) else {
        return;
    };
    if zones.len() < 2 {
        return;
    }
    let zones: Vec<&str> = zones.into_iter().collect();
    let message = format!(
        "nodes in the zones {} cannot be in one proximity placement group, `{}`: it is in one datacentre",
        zones.join(", "),
        group.name()
    );
    let help = "live nodes keep their zones: remove `proximity_placement_group`, or make a new pool in one zone beside this one";
    findings
        .diagnostics
        .push(unfit(joining.pool, message, help.to_owned()));
}

/// Whether an existing group is where its members are, and meant for them.
fn fits(group: &ArmId, members: &[Member<'_>], live: &Live, mode: Mode, findings: &mut Findings) {
    let fact = match live.facts.proximity_groups.get(group) {
        None if mode == Mode::Offline => return,
        None => {
            let question = Question::ProximityGroup(group.clone());
            findings.questions.insert(question);
            return;
        }
        Some(Answer::Unknown { .. }) => return,
        Some(Answer::Known(fact)) => fact,
    };
    let mut said = BTreeSet::new();
    for member in members.iter().filter(|member| member.joins) {
        let Some((message, help)) = misfit(group, member, fact.as_ref()) else {
            continue;
        };
        if said.insert((member.pool, message.clone())) {
            findings.diagnostics.push(unfit(member.pool, message, help));
        }
    }
}

fn misfit(
    id: &ArmId,
    member: &Member<'_>,
    fact: Option<&ProximityGroupFact>,
) -> Option<(String, String)> {
    let name = id.name();
    let Some(fact) = fact else {
        let message = format!("there is no proximity placement group `{id}`");
        let help = "correct the id, or write `own`, which makes one for the pool";
        return Some((message, help.to_owned()));
    };
    if fact.location != *member.location {
        let message = format!(
            "the proximity placement group `{name}` is in {}, the pool in {}",
            fact.location, member.location
        );
        let help = format!(
            "use `location: {}`, or a group of the region",
            fact.location
        );
        return Some((message, help));
    }
    if let Some(zone) = &fact.zone
        && let Some(other) = member.zones.iter().find(|other| *other != zone)
    {
        let message = format!(
            "the proximity placement group `{name}` is in zone {zone}, a node in zone {other}"
        );
        return Some((
            message,
            format!("use `zones: [{zone}]`, or a group of zone {other}"),
        ));
    }
    if !fact.sizes.is_empty() && !fact.sizes.contains(member.size) {
        let sizes: Vec<&str> = fact.sizes.iter().map(SizeName::as_str).collect();
        let message = format!(
            "the proximity placement group `{name}` is meant for `{}`, not for `{}`",
            sizes.join("`, `"),
            member.size
        );
        let help = format!(
            "use one of its sizes, or add `{}` to the group",
            member.size
        );
        return Some((message, help));
    }
    None
}

/// Nodes that change their size and stay in their group: its datacentre may lack the new one.
fn resizes(steps: &[Step], live: &Live, findings: &mut Findings) {
    let mut resized: BTreeMap<(&str, &ArmId, &SizeName), u32> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.action.writes()) {
        let (Some(before), Some(after)) = (&step.before, &step.after) else {
            continue;
        };
        let (Some(old), Some(new)) = (before.virtual_machine(), after.virtual_machine()) else {
            continue;
        };
        let runs = live.resources.iter().any(|resource| {
            resource.id == step.id && resource.state.power != Some(Power::Deallocated)
        });
        if let (Some(group), Some(pool)) = (group_of(after), step.address.pool_name())
            && old.size != new.size
            && group_of(before) == Some(group)
            && runs
        {
            *resized.entry((pool, group, &new.size)).or_default() += 1;
        }
    }
    for ((pool, group, size), nodes) in resized {
        let nodes = match nodes {
            1 => "1 node of the pool".to_owned(),
            several => format!("{several} nodes of the pool"),
        };
        let message = format!(
            "{nodes} `{pool}` to be resized in the proximity placement group `{}`, whose datacentre may not have `{size}`",
            group.name()
        );
        let help = format!(
            "to let Azure choose the datacentre anew, run `tensorform stop pool.{pool}` first: a group without running nodes is in none"
        );
        let at = At::Value(SpecPath::pool(pool, &["proximity_placement_group"]));
        let finding = Diagnostic::new(Code::ProximityResize, at, message);
        findings.diagnostics.push(finding.with_help(help));
    }
}
