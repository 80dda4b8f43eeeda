//! What nodes have run when they started first: they carry its digest, since Azure never tells.

use model::{
    diag::{At, Code, Diagnostic},
    live::{Power, Readiness},
    plan::{Action, Operation, ReasonCode, Step},
    resource::{Resource, ResourceKind, VirtualMachine, tags},
};
use serde_json::Value;

use super::{Changes, classify::is_bootstrap, compare::Difference, existing::Existing};

/// Whether new nodes are set up otherwise from now on.
pub(super) fn sets_up_otherwise(differences: &[(Difference, Action)]) -> bool {
    differences
        .iter()
        .any(|(difference, _)| is_bootstrap(&difference.path))
}

/// Why a resource is made anew: for its bootstrap alone, or for whatever else differs.
pub(super) fn reason_of_replacing(differences: &[(Difference, Action)]) -> ReasonCode {
    let mut forcing = differences
        .iter()
        .filter(|(_, effect)| *effect == Action::Replace)
        .peekable();
    let alone =
        forcing.peek().is_some() && forcing.all(|(difference, _)| is_bootstrap(&difference.path));
    if alone {
        ReasonCode::Bootstrap
    } else {
        ReasonCode::Differs
    }
}

impl Existing<'_> {
    /// A node that was set up otherwise is made anew where the spec says so.
    pub(super) fn set_up_anew(&self, difference: &Difference) -> Option<Action> {
        let anew = self.desired.allowed.set_up_anew && difference.after != Value::Null;
        anew.then_some(Action::Replace)
    }

    /// Says that a node was set up otherwise.
    pub(super) fn set_up_otherwise(&self, difference: &Difference) -> Diagnostic {
        let name = self.live.id.name();
        let message = match (&difference.before, &difference.after) {
            (Value::Null, _) => format!("`{name}` was made without a bootstrap, the spec has one"),
            (_, Value::Null) => format!("`{name}` has run a bootstrap, the spec has none"),
            _ => format!("`{name}` has run another bootstrap than the spec has now"),
        };
        let at = At::Resource(self.desired.address.clone());
        Diagnostic::new(Code::BootstrapDiffers, at, message)
            .with_help("nodes run it only when they start first: nothing is done about this one")
            .with_help("`--replace` with the address makes the node anew, and `bootstrap.on_change: replace` each such node")
    }

    /// Says that new nodes of a set or of a pool of Batch are set up otherwise than those it has.
    pub(super) fn report_bootstrap(
        &self,
        differences: &[(Difference, Action)],
        changes: &mut Changes,
    ) {
        let kind = self.desired.resource.kind();
        let makes_nodes = matches!(
            kind,
            ResourceKind::VirtualMachineScaleSet | ResourceKind::BatchPool
        );
        if !makes_nodes || !sets_up_otherwise(differences) {
            return;
        }
        let message = format!(
            "new nodes of `{}` run another bootstrap; existing nodes keep the old one",
            self.live.id.name()
        );
        let at = At::Resource(self.desired.address.clone());
        let finding = Diagnostic::new(Code::BootstrapOfNewNodes, at, message);
        changes
            .diagnostics
            .push(finding.with_help("`--replace` with the address makes all of them anew"));
    }

    /// A VM that stays has run what it has run, whatever the spec says now.
    pub(super) fn keep_bootstrap(&self, mut step: Step) -> Step {
        if step.kind == ResourceKind::VirtualMachine
            && step.action != Action::Replace
            && let Some(after) = &mut step.after
        {
            after.tags.remove(tags::BOOTSTRAP);
            if let Some(digest) = self.live.tags.get(tags::BOOTSTRAP) {
                after.tags.set(tags::BOOTSTRAP, digest);
            }
            let was = self.machine().is_some_and(|vm| vm.reports_readiness);
            let reports = self.has_run() || was;
            if let Some(vm) = after.virtual_machine_mut() {
                vm.reports_readiness = was || (vm.reports_readiness && reports);
            }
        }
        step
    }

    fn machine(&self) -> Option<&VirtualMachine> {
        self.live
            .resource
            .as_ref()
            .and_then(Resource::virtual_machine)
    }

    /// Whether a VM was made with a bootstrap.
    fn has_run(&self) -> bool {
        self.live.tags.get(tags::BOOTSTRAP).is_some()
    }

    /// Whether a VM was made with a bootstrap, and nothing tells how that ended.
    pub(super) fn lacks_readiness(&self, difference: &Difference) -> bool {
        let runs = matches!(self.live.state.power, None | Some(Power::Running));
        difference.after == Value::Bool(true) && self.has_run() && runs
    }

    /// Whether a bootstrap failed that is tried again.
    pub(super) fn bootstrap_failed(&self) -> bool {
        matches!(self.live.state.readiness, Some(Readiness::Failed(_)))
            && !self.readiness_again().is_empty()
    }

    /// Has a VM say how its bootstrap ended; one that failed is tried again for that.
    pub(super) fn readiness_again(&self) -> Vec<Operation> {
        let desired = self.desired.resource.virtual_machine();
        let wanted = desired.is_some_and(|vm| vm.reports_readiness) && self.has_run();
        let attributes = vec!["reports_readiness".to_owned()];
        wanted
            .then_some(Operation::Patch { attributes })
            .into_iter()
            .collect()
    }

    /// Says that the bootstrap of a node failed.
    pub(super) fn not_ready(&self, at: At) -> Diagnostic {
        let said = match &self.live.state.readiness {
            Some(Readiness::Failed(said)) if !said.is_empty() => said,
            _ => "the node does not say why",
        };
        let message = format!(
            "`{}` runs, but its bootstrap failed: {said}",
            self.live.id.name()
        );
        Diagnostic::new(Code::NotReady, at, message)
            .with_help("apply tries it again on the node, which is never deleted for that")
    }
}
