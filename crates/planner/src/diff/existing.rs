//! From the differences and the state of a live resource to one step.

use model::{
    catalog::{Catalog, Size},
    diag::{At, Code, Diagnostic},
    live::{Instance, LiveResource, Power, Provisioning},
    plan::{Action, AttributeChange, Operation, Reason, ReasonCode, Step},
    resource::{AFTER_APPLY, Properties, Resource, ResourceKind},
};
use serde_json::Value;

use super::{
    Changes, Permissions,
    bootstrap::reason_of_replacing,
    classify::Class,
    compare::{self, Difference},
    decide::{build, is_protected, reason},
    foreign_disks::ForeignDisks,
    instances::{Members, is_stopped},
    leaving::Leaving,
    refusing,
    replace::{is_replaceable, names},
    stronger,
};
use crate::shape::Desired;

/// A desired resource that is live.
pub(super) struct Existing<'a> {
    pub(super) desired: &'a Desired,
    pub(super) live: &'a LiveResource,
    /// Its instances, where it is a scale set.
    pub(super) instances: &'a [Instance],
    /// Data disks of others that are attached to it.
    pub(super) foreign_disks: ForeignDisks,
    pub(super) permissions: &'a Permissions,
    pub(super) catalog: &'a Catalog,
    /// Whether who it gives a role to is made only now.
    pub(super) is_for_new_principal: bool,
}

impl Existing<'_> {
    pub(super) fn step(&self, changes: &mut Changes) -> Step {
        if self.is_under_way() {
            return self.settle(changes);
        }
        self.report_foreign_disks(changes);
        let differences = self.differences(changes);
        let action = differences
            .iter()
            .map(|(_, action)| *action)
            .fold(Action::NoOp, stronger);
        let leaving = self.leaving();
        let all = leaving.all();
        let rolls = self.upgrade(&[], &all).is_some() || !leaving.named.is_empty();
        let action = if rolls && action == Action::NoOp {
            Action::Update
        } else {
            action
        };
        let action = if self.is_to_be_replaced() {
            Action::Replace
        } else {
            action
        };
        let starting = self.members().map(|members| members.starting(&all));
        let starting = starting.unwrap_or_default();
        let state = self.state(&starting);
        self.check_permission(action, &differences, changes);
        self.say_anew(&differences, changes);
        let attributes = differences
            .iter()
            .map(|(difference, action)| change(difference, *action))
            .collect();
        if action == Action::Replace {
            self.report_goes_first(changes);
            let operations = vec![Operation::Delete, Operation::Create];
            let code = reason_of_replacing(&differences);
            return self.build(Action::Replace, operations, reason(code, attributes));
        }
        self.report(state, changes);
        self.report_bootstrap(&differences, changes);
        self.report_members(&leaving, changes);
        let is_asked = !leaving.named.is_empty() && differences.is_empty();
        let mut operations = self.operations(state, action, &differences, &leaving);
        if !starting.is_empty() {
            operations.push(Operation::StartInstances {
                instances: starting,
            });
        }
        let action = match state {
            State::Fine => action,
            State::FailedWithoutHardware | State::FailedRunning | State::NotReady => Action::Repair,
            State::Away { .. } => Action::Start,
        };
        let code = state.reason(action, is_asked);
        self.build(action, operations, reason(code, attributes))
    }

    fn build(&self, action: Action, operations: Vec<Operation>, reason: Reason) -> Step {
        let step = build(self.desired, Some(self.live), action, operations, reason);
        self.keep_bootstrap(step)
    }

    fn is_under_way(&self) -> bool {
        matches!(
            self.live.state.provisioning,
            Provisioning::Creating | Provisioning::Updating | Provisioning::Other
        )
    }

    fn settle(&self, changes: &mut Changes) -> Step {
        let message = format!(
            "`{}` is being written by somebody or by an earlier run",
            self.live.id.name()
        );
        let finding = Diagnostic::new(
            Code::BeingWritten,
            At::Resource(self.desired.address.clone()),
            message,
        );
        changes
            .diagnostics
            .push(finding.with_help("apply waits until that has ended, and plans again"));
        self.build(
            Action::Repair,
            vec![Operation::Settle],
            reason(ReasonCode::HalfMade, Vec::new()),
        )
    }

    /// Differences that count, each with what it leads to; those that lead to nothing are said.
    fn differences(&self, changes: &mut Changes) -> Vec<(Difference, Action)> {
        let Some(live) = &self.live.resource else {
            return Vec::new();
        };
        let mut differences = compare::differences(live, &self.desired.resource);
        differences.retain(|difference| !self.is_of_others(difference));
        let effects: Vec<Option<Action>> = differences.iter().map(|one| self.effect(one)).collect();
        let is_anew = self.is_to_be_replaced() || effects.contains(&Some(Action::Replace));
        let mut counting = Vec::new();
        if let (true, Properties::RoleAssignment(old)) =
            (self.is_for_new_principal, &live.properties)
        {
            let difference = Difference {
                path: "principal".to_owned(),
                before: Value::from(old.principal.value().cloned()),
                after: Value::from(AFTER_APPLY),
                class: Class::Replace,
            };
            counting.push((difference, Action::Replace));
        }
        for (difference, effect) in differences.into_iter().zip(effects) {
            match effect {
                Some(action) => counting.push((difference, action)),
                // What is made anew has it, so that nothing is refused.
                None if is_anew && self.comes_anew(&difference) => {
                    counting.push((difference, Action::Replace));
                }
                None => self.say(&difference, changes),
            }
        }
        counting
    }

    fn effect(&self, difference: &Difference) -> Option<Action> {
        match difference.class {
            Class::Update => Some(Action::Update),
            Class::Resize | Class::Stop if self.is_ephemeral() => Some(Action::Replace),
            Class::Refuse if self.is_ephemeral() && difference.path.starts_with("os_disk.") => {
                Some(Action::Replace)
            }
            Class::Resize => Some(self.resize()),
            Class::Stop => Some(if self.has_hardware() {
                Action::StopUpdate
            } else {
                Action::Update
            }),
            Class::Replace => Some(Action::Replace),
            Class::Grow => refusing::grows(difference).then_some(Action::Update),
            Class::Bootstrap => self.set_up_anew(difference),
            Class::Readiness => self.lacks_readiness(difference).then_some(Action::Update),
            Class::Report | Class::Refuse | Class::Ignore => None,
        }
    }

    /// A resize inside the quota family can stay on the hardware; another needs new hardware.
    /// Between kinds of temporary disks Azure does not resize at all.
    fn resize(&self) -> Action {
        if self.other_disk().is_some() {
            return Action::Replace;
        }
        let (before, after) = self.sizes();
        if !self.has_hardware() {
            return Action::Update;
        }
        let family = |size: Option<&Size>| Some(size?.family.as_ref()?.key());
        let before = family(before);
        if before.is_some() && before == family(after) {
            Action::RestartUpdate
        } else {
            Action::StopUpdate
        }
    }

    fn has_hardware(&self) -> bool {
        !matches!(self.live.state.power, Some(Power::Deallocated))
    }

    pub(super) fn is_to_be_replaced(&self) -> bool {
        let mut named = self.permissions.replace.iter();
        is_replaceable(self.desired.resource.kind())
            && named.any(|address| names(address, &self.desired.address))
    }

    fn check_permission(
        &self,
        action: Action,
        differences: &[(Difference, Action)],
        changes: &mut Changes,
    ) {
        if !matches!(action, Action::StopUpdate | Action::Replace) {
            return;
        }
        let at = At::Resource(self.desired.address.clone());
        let forced: Vec<String> = differences
            .iter()
            .filter(|(_, effect)| *effect == action)
            .map(|(difference, _)| {
                format!(
                    "`{}` from {} to {}",
                    difference.path, difference.before, difference.after
                )
            })
            .collect();
        let what = if action == Action::Replace {
            "be replaced"
        } else {
            "be deallocated"
        };
        let forced = if forced.is_empty() {
            "because of `--replace`".to_owned()
        } else {
            format!("to change {}", forced.join(", "))
        };
        if action == Action::Replace && (self.desired.allowed.protected || is_protected(self.live))
        {
            let message = format!("it would {what} {forced}, and it is protected");
            let help = "set `protect: false` and apply that first";
            changes
                .diagnostics
                .push(Diagnostic::new(Code::Protected, at, message).with_help(help));
            return;
        }
        let live = self.live.resource.as_ref();
        let set = live.and_then(Resource::scale_set);
        let is_empty = set.is_some_and(|set| set.capacity == 0) || self.live.state.nodes == Some(0);
        let may = self.desired.allowed.stop
            || self.permissions.allow_stop
            || self.is_to_be_replaced()
            || reason_of_replacing(differences) == ReasonCode::Bootstrap
            || is_empty;
        if !may {
            let message = format!("it would {what} {forced}: scarce capacity may not come back");
            let finding = Diagnostic::new(Code::StopNotAllowed, at, message);
            let finding = if self.leaves_disks(differences) {
                finding.with_help("its data disks cannot follow: put the value back")
            } else {
                finding
                    .with_help("set `allow_stop: true` in the pool, or pass `--allow-stop` once")
                    .with_help("or put the value back")
            };
            changes.diagnostics.push(finding);
        }
    }

    /// Whether it would move away from data disks, which are never made anew.
    fn leaves_disks(&self, differences: &[(Difference, Action)]) -> bool {
        let has_disks = |resource: &Resource| {
            let vm = resource.virtual_machine();
            vm.is_some_and(|vm| !vm.data_disks.is_empty())
        };
        let moves = |path: &str| matches!(path, "zones" | "location");
        differences.iter().any(|(one, _)| moves(&one.path))
            && has_disks(&self.desired.resource)
            && self.live.resource.as_ref().is_some_and(has_disks)
    }

    fn state(&self, starting: &[String]) -> State {
        let state = &self.live.state;
        let failed = matches!(
            state.provisioning,
            Provisioning::Failed | Provisioning::Canceled
        );
        if let Some(members) = self.members() {
            return match members.never_made() {
                0 if failed => State::FailedRunning,
                0 if !starting.is_empty() => State::Away {
                    evicted: members.evicted(starting),
                },
                0 => State::Fine,
                _ => State::FailedWithoutHardware,
            };
        }
        if self.desired.resource.kind() == ResourceKind::BatchPool && failed {
            return State::FailedRunning;
        }
        if self.desired.resource.kind() != ResourceKind::VirtualMachine {
            return if failed {
                State::FailedWithoutHardware
            } else {
                State::Fine
            };
        }
        let stopped_on_purpose = is_stopped(self.live);
        match state.power {
            Some(Power::Deallocated | Power::Deallocating) if stopped_on_purpose => State::Fine,
            Some(Power::Deallocated | Power::Deallocating) => State::Away {
                evicted: state.evicted,
            },
            Some(Power::Running | Power::Starting | Power::Stopping | Power::Stopped) if failed => {
                State::FailedRunning
            }
            None | Some(Power::Unknown) if failed => State::FailedWithoutHardware,
            _ if self.bootstrap_failed() => State::NotReady,
            _ => State::Fine,
        }
    }

    fn runs_though_stopped(&self) -> bool {
        is_stopped(self.live)
            && matches!(
                self.live.state.power,
                Some(Power::Running | Power::Starting)
            )
    }

    fn report(&self, state: State, changes: &mut Changes) {
        let at = At::Resource(self.desired.address.clone());
        let said = self.live.state.message.as_deref();
        let said = said.or_else(|| self.members()?.reason());
        let said = said.unwrap_or("Azure gives no reason");
        let name = self.live.id.name();
        let never_made = self.members().map_or(0, Members::never_made);
        let finding = match state {
            State::FailedWithoutHardware if never_made > 0 => Diagnostic::new(
                Code::NeverMade,
                at,
                format!(
                    "{never_made} of {} instances of `{name}` never got hardware: {said}",
                    self.instances.len()
                ),
            )
            .with_help("apply makes them again"),
            State::FailedRunning if self.members().is_some() => Diagnostic::new(
                Code::FailedButRuns,
                at,
                format!("the last operation on `{name}` failed: {said}"),
            )
            .with_help("its instances are never deleted for that; apply writes it again"),
            State::FailedRunning if self.live.state.nodes.is_some() => self.missing_nodes(said),
            State::FailedRunning => Diagnostic::new(
                Code::FailedButRuns,
                at,
                format!("`{name}` runs, but its last operation failed: {said}"),
            )
            .with_help("it is never deleted for that; apply asks Azure to reapply its state"),
            State::FailedWithoutHardware => Diagnostic::new(
                Code::NeverMade,
                at,
                format!("`{name}` exists but its creation failed: {said}"),
            )
            .with_help("apply makes it again"),
            State::NotReady => self.not_ready(at),
            State::Fine if self.live.state.power == Some(Power::Stopped) => Diagnostic::new(
                Code::StoppedButBilled,
                at,
                format!("`{name}` is off but keeps its hardware, and is billed"),
            )
            .with_help("start it, or deallocate it to stop paying"),
            State::Fine if self.runs_though_stopped() => {
                runs_though_stopped(at, format!("`{name}` is marked as stopped and runs"))
            }
            State::Fine | State::Away { .. } => return,
        };
        changes.diagnostics.push(finding);
    }

    fn operations(
        &self,
        state: State,
        action: Action,
        differences: &[(Difference, Action)],
        leaving: &Leaving,
    ) -> Vec<Operation> {
        if let Some(members) = self.members() {
            return self.of_members(members, differences, leaving);
        }
        if self.desired.resource.kind() == ResourceKind::BatchPool {
            return self.of_pool(state, differences);
        }
        let mut operations = Vec::new();
        match state {
            // One write of everything covers the differences too.
            State::FailedWithoutHardware => {
                operations.push(Operation::Put);
                operations.extend(self.readiness_again());
                return operations;
            }
            State::FailedRunning => operations.push(Operation::Reapply),
            State::NotReady => operations.extend(self.readiness_again()),
            State::Fine | State::Away { .. } => {}
        }
        operations.extend(self.merge_tags(differences));
        let is_tag = |path: &str| path.starts_with("tags.");
        let attributes: Vec<String> = differences
            .iter()
            .map(|(difference, _)| difference.path.clone())
            .filter(|path| !is_tag(path))
            .collect();
        let stops = action == Action::StopUpdate;
        if stops {
            operations.push(Operation::Deallocate);
        }
        if !attributes.is_empty() {
            operations.push(Operation::Patch { attributes });
        }
        if matches!(state, State::Away { .. })
            || (stops && self.live.state.power == Some(Power::Running))
        {
            operations.push(Operation::Start);
        }
        operations
    }
}

/// The states of a live resource that matter to a decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Fine,
    FailedWithoutHardware,
    FailedRunning,
    /// It runs, and its bootstrap failed.
    NotReady,
    Away {
        evicted: bool,
    },
}

impl State {
    /// Why something is done about a resource in this state.
    fn reason(self, action: Action, is_asked: bool) -> ReasonCode {
        match self {
            Self::FailedWithoutHardware => ReasonCode::FailedWithoutHardware,
            Self::FailedRunning => ReasonCode::FailedRunning,
            Self::NotReady => ReasonCode::NotReady,
            Self::Away { evicted: true } => ReasonCode::Evicted,
            Self::Away { evicted: false } => ReasonCode::Deallocated,
            Self::Fine if action == Action::NoOp => ReasonCode::Equal,
            Self::Fine if is_asked => ReasonCode::Asked,
            Self::Fine => ReasonCode::Differs,
        }
    }
}

/// Says of what is marked as stopped that it runs, and is paid for.
pub(super) fn runs_though_stopped(at: At, message: String) -> Diagnostic {
    Diagnostic::new(Code::RunsThoughStopped, at, message).with_help(
        "`tensorform stop` with the pool stops it again, `tensorform start` takes the mark away",
    )
}

fn change(difference: &Difference, effect: Action) -> AttributeChange {
    AttributeChange {
        path: difference.path.clone(),
        before: difference.before.clone(),
        after: difference.after.clone(),
        effect,
    }
}
