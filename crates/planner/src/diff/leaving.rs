//! Instances that leave a scale set: those that are too many, and those that `--replace` names.

use model::{
    diag::{At, Code, Diagnostic},
    live::{Instance, Provisioning},
    plan::{Action, BOOTSTRAP, Operation},
};

use super::{
    Changes,
    bootstrap::sets_up_otherwise,
    compare::Difference,
    decide::is_protected,
    existing::Existing,
    instances::{Members, age, is_stopped, listed},
    replace,
};
use crate::{select::MOST_OF_A_SET, sizing::estimate::MOST_WITH_INFINIBAND};

/// Ids of the instances that leave a set, each list from the oldest.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaving {
    /// Those that are deleted, before anything is made.
    pub(super) going: Vec<String>,
    /// Those that are deleted once there are new ones in their place.
    pub(super) replaced: Vec<String>,
    /// Those that `--replace` names, wherever they are.
    pub(super) named: Vec<String>,
}

impl Leaving {
    /// All that leave.
    pub(super) fn all(&self) -> Vec<String> {
        self.going.iter().chain(&self.replaced).cloned().collect()
    }

    /// Those that are named and deleted first, because there is no room for new ones.
    fn without_room<'a>(&'a self, wanted: u32, capacity: u32) -> Vec<&'a String> {
        if !self.replaced.is_empty() || wanted < capacity {
            return Vec::new();
        }
        let is_named = |id: &&'a String| self.named.contains(id);
        self.going.iter().filter(is_named).collect()
    }
}

impl Existing<'_> {
    /// The instances that leave the set. What is too many anyway is taken from those that are
    /// named first, so that a run that ended halfway is gone on with.
    pub(super) fn leaving(&self) -> Leaving {
        let Some(members) = self.members() else {
            return Leaving::default();
        };
        let mut named: Vec<&Instance> = members
            .living()
            .filter(|one| replace::names_instance(self.permissions, &self.desired.address, one))
            .collect();
        named.sort_by_key(|one| age(one));
        let named: Vec<String> = named.into_iter().map(|one| one.id.clone()).collect();
        let mut going = members.going(&named);
        let mut rest: Vec<String> = named.clone();
        rest.retain(|id| !going.contains(id));
        let set = self.desired.resource.scale_set();
        let is_single = set.is_some_and(|set| set.single_placement_group);
        let most = if is_single {
            MOST_WITH_INFINIBAND
        } else {
            MOST_OF_A_SET
        };
        let more = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        if members.wanted.saturating_add(more) > most {
            going.append(&mut rest);
        }
        Leaving {
            going,
            replaced: rest,
            named,
        }
    }

    /// Says what is to be known of instances; those of what is protected do not go.
    pub(super) fn report_members(&self, leaving: &Leaving, changes: &mut Changes) {
        let Some(members) = self.members() else {
            return;
        };
        members.report(&leaving.going, &leaving.replaced, changes);
        self.report_replaced(members, leaving, changes);
        let protected = self.desired.allowed.protected || is_protected(self.live);
        let lost = leaving.going.len() > members.never_made() || !leaving.named.is_empty();
        if protected && lost {
            let message = "it would lose instances, and it is protected";
            let at = At::Resource(self.desired.address.clone());
            let finding = Diagnostic::new(Code::Protected, at, message);
            changes
                .diagnostics
                .push(finding.with_help("set `protect: false` and apply that first"));
        }
    }

    /// Says of a VM that `--replace` names that it goes before the new one is made: that one gets
    /// its name and its data disks.
    pub(super) fn report_goes_first(&self, changes: &mut Changes) {
        let is_vm = self.desired.resource.virtual_machine().is_some();
        let is_protected = self.desired.allowed.protected || is_protected(self.live);
        if !is_vm || is_protected || !self.is_to_be_replaced() {
            return;
        }
        let message = format!(
            "`{}` goes before there is a new one: Azure may hand the same host back, or have none",
            self.live.id.name()
        );
        let at = At::Resource(self.desired.address.clone());
        let finding = Diagnostic::new(Code::ReplaceGoesFirst, at, message);
        changes
            .diagnostics
            .push(finding.with_help("in a scale set the new node is made before the old one goes"));
    }

    fn report_replaced(&self, members: Members<'_>, leaving: &Leaving, changes: &mut Changes) {
        let at = || At::Resource(self.desired.address.clone());
        let name = self.live.id.name();
        if !leaving.named.is_empty() && is_stopped(self.live) {
            let message = format!("`{name}` is stopped, and a new instance of it would run");
            let finding = Diagnostic::new(Code::ReplaceRefused, at(), message);
            changes
                .diagnostics
                .push(finding.with_help("`tensorform start` with its pool first"));
        }
        if !leaving.replaced.is_empty() {
            let count = leaving.replaced.len();
            let new = if count == 1 { "instance" } else { "instances" };
            let message = format!(
                "`{name}` gets {count} new {new}, and then loses {}",
                listed(&leaving.replaced)
            );
            let finding = Diagnostic::new(Code::InstancesGo, at(), message);
            changes.diagnostics.push(finding.with_help(
                "the new ones come first, so that Azure does not hand the same hosts back; where one is not to be had, the old one stays; disks go with their instance",
            ));
        }
        let first = leaving.without_room(members.wanted, members.capacity());
        if !first.is_empty() {
            let first: Vec<String> = first.into_iter().cloned().collect();
            let message = format!(
                "`{name}` is full: {} goes before there is a new one: Azure may hand the same host back, or have none",
                listed(&first)
            );
            let finding = Diagnostic::new(Code::ReplaceGoesFirst, at(), message);
            changes.diagnostics.push(finding.with_help(
                "with fewer nodes in the pool the new one is made before the old one goes",
            ));
        }
    }

    /// What is done to a scale set: one write, and before it the deletion of those that go.
    pub(super) fn of_members(
        &self,
        members: Members<'_>,
        differences: &[(Difference, Action)],
        leaving: &Leaving,
    ) -> Vec<Operation> {
        let mut operations = Vec::new();
        let suffice = members.suffice_without(&leaving.going);
        let mut attributes: Vec<String> = differences
            .iter()
            .map(|(difference, _)| difference.path.clone())
            .filter(|path| !path.starts_with("tags.") && path != "capacity")
            .collect();
        if !suffice {
            attributes.push("capacity".to_owned());
        }
        let is_sound = self.live.state.provisioning == Provisioning::Succeeded;
        // The profile first: a run that ends between the two must not look as if it had done both.
        let sets_up = sets_up_otherwise(differences);
        if sets_up {
            attributes.push(BOOTSTRAP.to_owned());
        }
        if is_sound && !sets_up {
            operations.extend(self.merge_tags(differences));
        }
        let upgrade = self.upgrade(&attributes, &leaving.all());
        if !leaving.going.is_empty() {
            operations.push(Operation::DeleteInstances {
                instances: leaving.going.clone(),
            });
        }
        let replaces = (!leaving.replaced.is_empty()).then(|| Operation::ReplaceInstances {
            instances: leaving.replaced.clone(),
        });
        if !is_sound {
            // One write of everything covers the differences too.
            operations.push(Operation::Put);
            operations.extend(replaces);
            return operations;
        }
        if !attributes.is_empty() {
            operations.push(Operation::Patch { attributes });
        }
        if sets_up {
            operations.extend(self.merge_tags(differences));
        }
        operations.extend(replaces);
        operations.extend(upgrade);
        operations
    }
}
