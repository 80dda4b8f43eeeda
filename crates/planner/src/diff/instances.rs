//! What the instances of a live scale set mean for its step: which go when it gets smaller, which
//! are made again, and what is only said of them.

use std::{cmp::Reverse, collections::BTreeMap};

use model::{
    address::Address,
    diag::{At, Code, Diagnostic},
    live::{Instance, LiveResource},
    plan::Operation,
    resource::{
        ScaleSet,
        tags::{self, STOPPED},
    },
};

use super::{
    Changes,
    existing::{Existing, runs_though_stopped},
};

/// Instances that a message names.
const NAMED: usize = 10;

/// A live scale set with its instances.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) address: &'a Address,
    pub(super) live: &'a LiveResource,
    pub(super) instances: &'a [Instance],
    /// Instances that the spec wants.
    pub(super) wanted: u32,
    /// So many may be brought up to date at once; none unless the spec says so.
    pub(super) at_once: Option<u32>,
}

impl<'a> Members<'a> {
    pub(super) fn living(self) -> impl Iterator<Item = &'a Instance> {
        self.instances.iter().filter(|one| !one.is_going())
    }

    pub(super) fn capacity(self) -> u32 {
        let set = self.live.resource.as_ref();
        let set = set.and_then(model::resource::Resource::scale_set);
        set.map_or(0, |set| set.capacity)
    }

    /// Instances that failed before they got hardware.
    pub(super) fn never_made(self) -> usize {
        self.living().filter(|one| one.never_made()).count()
    }

    /// Ids of the instances that go: all that never got hardware, and of the others as many as
    /// there are too many: those that are named, failed ones, then those without hardware, then
    /// the newest of the zone that has most.
    pub(super) fn going(self, named: &[String]) -> Vec<String> {
        let surplus = self.capacity().saturating_sub(self.wanted);
        let surplus = usize::try_from(surplus).unwrap_or(usize::MAX);
        let count = surplus.max(self.never_made());
        let mut living: Vec<&Instance> = self.living().collect();
        let mut in_zone: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for one in &living {
            *in_zone.entry(one.zone.as_deref()).or_default() += 1;
        }
        let mut going: Vec<&Instance> = Vec::new();
        while going.len() < count {
            let next = living.iter().enumerate().min_by_key(|(_, one)| {
                let is_named = named.contains(&one.id);
                let worth = (
                    !one.never_made(),
                    !is_named,
                    !one.has_failed(),
                    !one.is_away(),
                );
                let crowd = in_zone.get(&one.zone.as_deref()).copied();
                (worth, Reverse(crowd), Reverse(age(one)))
            });
            let Some(place) = next.map(|(place, _)| place) else {
                break;
            };
            let one = living.swap_remove(place);
            if let Some(crowd) = in_zone.get_mut(&one.zone.as_deref()) {
                *crowd = crowd.saturating_sub(1);
            }
            going.push(one);
        }
        going.sort_by_key(|one| age(one));
        going.into_iter().map(|one| one.id.clone()).collect()
    }

    /// Ids of the instances that have no hardware, are to stay, and that nobody stopped.
    pub(super) fn starting(self, going: &[String]) -> Vec<String> {
        if is_stopped(self.live) {
            return Vec::new();
        }
        let mut away: Vec<&Instance> = self
            .living()
            .filter(|one| one.is_away() && !one.has_failed() && !going.contains(&one.id))
            .collect();
        away.sort_by_key(|one| age(one));
        away.into_iter().map(|one| one.id.clone()).collect()
    }

    /// Whether Azure took an instance back that is started again.
    pub(super) fn evicted(self, starting: &[String]) -> bool {
        let mut starting = self.living().filter(|one| starting.contains(&one.id));
        starting.any(|one| one.state.evicted)
    }

    /// Whether as many as are wanted are left once these are gone.
    pub(super) fn suffice_without(self, going: &[String]) -> bool {
        let gone = u32::try_from(going.len()).unwrap_or(u32::MAX);
        self.capacity().saturating_sub(gone) == self.wanted
    }

    fn say(self, code: Code, message: String, help: &str, changes: &mut Changes) {
        let finding = Diagnostic::new(code, At::Resource(self.address.clone()), message);
        changes.diagnostics.push(finding.with_help(help));
    }

    /// Says what is to be known of instances that stay, and which go.
    pub(super) fn report(self, going: &[String], replaced: &[String], changes: &mut Changes) {
        let name = self.live.id.name();
        let all = self.living().count();
        let leaves = |id: &String| going.contains(id) || replaced.contains(id);
        if !going.is_empty() {
            let what = if going.len() == 1 {
                "instance"
            } else {
                "instances"
            };
            let message = format!("`{name}` loses {} {what}: {}", going.len(), listed(going));
            let help = "failed ones go first, then those without hardware, then the newest of the fullest zone; their disks go with them";
            self.say(Code::InstancesGo, message, help, changes);
        }
        let ids = |of: fn(&Instance) -> bool| {
            let mut found: Vec<&Instance> = self
                .living()
                .filter(|one| of(one) && !leaves(&one.id))
                .collect();
            found.sort_by_key(|one| age(one));
            found
                .into_iter()
                .map(|one| one.id.clone())
                .collect::<Vec<_>>()
        };
        let behind = ids(|one| one.latest_model == Some(false));
        if !behind.is_empty() {
            let message = format!(
                "{} of {all} instances of `{name}` are behind its newest profile: {}",
                behind.len(),
                listed(&behind)
            );
            let help = match self.at_once {
                None => "they stay as they are, and new ones get the newest profile; `rollout` in the pool brings them up to date".to_owned(),
                Some(at_once) => format!("apply brings them up to date, {at_once} at a time"),
            };
            self.say(Code::InstancesBehind, message, &help, changes);
        }
        let away = ids(|one| one.is_away() && !one.has_failed());
        if !away.is_empty() && is_stopped(self.live) {
            let message = format!(
                "{} of {all} instances of `{name}` have no hardware: {}",
                away.len(),
                listed(&away)
            );
            let help =
                "the set was stopped on purpose: `tensorform start` with its pool starts them";
            self.say(Code::InstancesAway, message, help, changes);
        }
        if is_stopped(self.live) {
            self.report_running(&ids(|one| !one.is_away() && !one.has_failed()), changes);
        }
        self.report_failed(&ids(|one| one.has_failed() && !one.never_made()), changes);
    }

    /// Says of instances that run which of them failed in their last operation.
    fn report_failed(self, failed: &[String], changes: &mut Changes) {
        if failed.is_empty() {
            return;
        }
        let message = format!(
            "{} of {} instances of `{}` run, but their last operation failed: {}",
            failed.len(),
            self.living().count(),
            self.live.id.name(),
            listed(failed)
        );
        let help = "they are never deleted for that";
        self.say(Code::FailedButRuns, message, help, changes);
    }

    /// Says of a set that is marked as stopped which of its instances run, and that new ones will.
    fn report_running(self, running: &[String], changes: &mut Changes) {
        let name = self.live.id.name();
        let mut what = Vec::new();
        if !running.is_empty() {
            what.push(format!("these of its instances run: {}", listed(running)));
        }
        match self.wanted.saturating_sub(self.capacity()) {
            0 => {}
            1 => what.push("its new instance will run".to_owned()),
            new => what.push(format!("its {new} new instances will run")),
        }
        if !what.is_empty() {
            let message = format!("`{name}` is marked as stopped, and {}", what.join(", and "));
            let at = At::Resource(self.address.clone());
            changes.diagnostics.push(runs_though_stopped(at, message));
        }
    }

    /// What the first failed instance says of its failure.
    pub(super) fn reason(self) -> Option<&'a str> {
        let mut failed = self.living().filter(|one| one.has_failed());
        failed.find_map(|one| one.state.message.as_deref())
    }
}

/// Whether the tool stopped a resource because somebody asked for it.
pub(crate) fn is_stopped(live: &LiveResource) -> bool {
    live.tags.get(tags::POWER) == Some(STOPPED)
}

/// Instances from the oldest to the newest: by their number, or by the time they were made.
pub(super) fn age(instance: &Instance) -> (Option<u64>, Option<&str>, &str) {
    let number = instance.id.parse().ok();
    (number, instance.created.as_deref(), &instance.id)
}

pub(super) fn listed(ids: &[String]) -> String {
    let named: Vec<&str> = ids.iter().take(NAMED).map(String::as_str).collect();
    match ids.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

impl Existing<'_> {
    /// The scale set with its instances, where it is one.
    pub(super) fn members(&self) -> Option<Members<'_>> {
        let set: &ScaleSet = self.desired.resource.scale_set()?;
        Some(Members {
            address: &self.desired.address,
            live: self.live,
            instances: self.instances,
            wanted: set.capacity,
            at_once: self.desired.allowed.at_once,
        })
    }

    /// Brings instances to the newest profile, where the spec says how: those behind it, and all
    /// that stay where this step changes it.
    pub(super) fn upgrade(&self, attributes: &[String], going: &[String]) -> Option<Operation> {
        let members = self.members()?;
        let at_once = members.at_once?;
        let changes = attributes
            .iter()
            .any(|path| path.starts_with("image.") || path.starts_with("priority."));
        let mut behind: Vec<&Instance> = members
            .living()
            .filter(|one| !going.contains(&one.id))
            .filter(|one| changes || one.latest_model == Some(false))
            .collect();
        behind.sort_by_key(|one| age(one));
        let instances: Vec<String> = behind.into_iter().map(|one| one.id.clone()).collect();
        (!instances.is_empty()).then_some(Operation::UpgradeInstances { instances, at_once })
    }
}
