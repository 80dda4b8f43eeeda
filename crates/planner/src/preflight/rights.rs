//! Registered namespaces and permissions: what the subscription and the credential allow.
//!
//! Nothing is tried out: only what Azure tells is looked at.

use std::collections::BTreeSet;

use model::{
    diag::{At, Code, Diagnostic, Severity},
    ids::ArmId,
    live::{Answer, Live, Mode, Question},
    plan::{Operation, Step},
    resource::ResourceKind,
};

use crate::select::Findings;

/// What the namespaces and actions that the steps need say against a plan.
pub(crate) fn rights(steps: &[Step], live: &Live, mode: Mode, group: &ArmId) -> Findings {
    let mut findings = Findings::default();
    if mode == Mode::Offline || !steps.iter().any(|step| step.action.writes()) {
        return findings;
    }
    namespaces(steps, live, &mut findings);
    permissions(steps, live, group, &mut findings);
    findings
}

fn namespaces(steps: &[Step], live: &Live, findings: &mut Findings) {
    let made = steps
        .iter()
        .filter(|step| step.operations.contains(&Operation::Create));
    let needed: BTreeSet<&str> = made
        .filter_map(|step| step.kind.arm_type().split('/').next())
        // Every subscription has it.
        .filter(|namespace| {
            !matches!(
                *namespace,
                "Microsoft.Resources" | "Microsoft.Authorization"
            )
        })
        .collect();
    if needed.is_empty() {
        return;
    }
    let states = match &live.facts.namespaces {
        None => {
            findings.questions.insert(Question::Namespaces);
            return;
        }
        Some(Answer::Unknown { reason }) => {
            let message = format!(
                "whether the subscription is registered for {} could not be read: {reason}",
                listed(&needed)
            );
            findings.diagnostics.push(
                Diagnostic::new(Code::RightsUnknown, At::Nowhere, message)
                    .with_help("a namespace that is not registered would be refused at apply"),
            );
            return;
        }
        Some(Answer::Known(states)) => states,
    };
    for namespace in needed {
        let state = states
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(namespace))
            .map_or("NotRegistered", |(_, state)| state.as_str());
        let severity = match state.to_lowercase().as_str() {
            "registered" => continue,
            "registering" => Severity::Warning,
            _ => Severity::Error,
        };
        let message =
            format!("the subscription is not registered for `{namespace}`: its state is `{state}`");
        let help = format!("`az provider register --namespace {namespace} --wait` registers it");
        findings.diagnostics.push(
            Diagnostic::new(Code::NamespaceNotRegistered, At::Nowhere, message)
                .with_severity(severity)
                .with_help(help),
        );
    }
}

/// What is asked about: the group where it exists, else the subscription.
pub(super) fn scope(live: &Live, group: &ArmId) -> ArmId {
    let exists = live.resources.iter().any(|resource| resource.id == *group);
    match live.subscription.as_deref() {
        Some(subscription) if !exists => ArmId::subscription_scope(subscription),
        Some(_) | None => group.clone(),
    }
}

/// A role may be given for a group alone, so that a group that exists is what is asked about. A
/// warning at most: a role that Azure does not list there may allow it all the same.
fn permissions(steps: &[Step], live: &Live, group: &ArmId, findings: &mut Findings) {
    let needed: BTreeSet<String> = steps.iter().flat_map(actions).collect();
    let scope = scope(live, group);
    match live.facts.permissions.get(&scope) {
        None => {
            findings.questions.insert(Question::Permissions(scope));
        }
        Some(Answer::Unknown { reason }) => {
            let message = format!("what the credential may do could not be read: {reason}");
            findings.diagnostics.push(
                Diagnostic::new(Code::RightsUnknown, At::Nowhere, message)
                    .with_help("an action that it may not do would be refused at apply"),
            );
        }
        Some(Answer::Known(permissions)) => {
            let mut missing: BTreeSet<&str> = needed
                .iter()
                .map(String::as_str)
                .filter(|action| !permissions.allow(action))
                .collect();
            // Who may do nothing else plans for somebody who may.
            if missing.len() == 1 && missing.remove(GIVES_ROLES) {
                findings.diagnostics.push(gives_no_roles(&scope));
            }
            if missing.is_empty() {
                return;
            }
            let message = format!(
                "the credential may not do what the plan needs in `{scope}`: {}",
                listed(&missing)
            );
            findings.diagnostics.push(
                Diagnostic::new(Code::PermissionMissing, At::Nowhere, message)
                    .with_help("planning needs the role Reader, applying needs Contributor"),
            );
        }
    }
}

/// What giving a role takes. Contributor has it not, and nobody who lacks it gets it by chance.
const GIVES_ROLES: &str = "Microsoft.Authorization/roleAssignments/write";

fn gives_no_roles(scope: &ArmId) -> Diagnostic {
    let message = format!(
        "the credential may not give the role that `checkpoint: {{to: blob}}` needs: `{GIVES_ROLES}` in `{scope}`"
    );
    Diagnostic::new(Code::RoleNotGiven, At::Nowhere, message)
        .with_help("ask for the role `Role Based Access Control Administrator` there, beside Contributor")
        .with_help("or use a container that exists, and an identity that may write in it: `checkpoint: {to: https://…}` and `identity: /subscriptions/…`")
}

/// The actions that a step needs beside reading.
fn actions(step: &Step) -> Vec<String> {
    let arm_type = if step.kind == ResourceKind::ResourceGroup {
        "Microsoft.Resources/subscriptions/resourceGroups"
    } else {
        step.kind.arm_type()
    };
    let mut actions = Vec::new();
    for operation in &step.operations {
        let verb = match operation {
            Operation::Create | Operation::Put | Operation::Patch { .. } => "write",
            Operation::Delete => "delete",
            Operation::Deallocate | Operation::DeallocateInstances { .. } => "deallocate/action",
            Operation::Start | Operation::StartInstances { .. } => "start/action",
            Operation::Reapply => "reapply/action",
            Operation::DeleteInstances { .. } => "delete/action",
            Operation::ReplaceInstances { .. } => {
                actions.push(format!("{arm_type}/write"));
                "delete/action"
            }
            Operation::UpgradeInstances { .. } => "manualupgrade/action",
            Operation::MergeTags { .. } | Operation::Adopt | Operation::Release => {
                actions.push("Microsoft.Resources/tags/write".to_owned());
                continue;
            }
            Operation::Settle | Operation::AwaitGone => continue,
        };
        actions.push(format!("{arm_type}/{verb}"));
        actions.extend(extension(step, operation).map(ToOwned::to_owned));
        let makes_nodes = matches!(
            step.kind,
            ResourceKind::VirtualMachine | ResourceKind::VirtualMachineScaleSet
        );
        let joins = matches!(
            step.kind,
            ResourceKind::BatchPool | ResourceKind::KubernetesCluster | ResourceKind::AgentPool
        );
        if joins && *operation == Operation::Create {
            actions.push("Microsoft.Network/virtualNetworks/subnets/join/action".to_owned());
        }
        if makes_nodes && *operation == Operation::Create {
            let beside = [
                "Microsoft.Network/networkInterfaces/write",
                "Microsoft.Network/virtualNetworks/subnets/join/action",
            ];
            actions.extend(beside.map(ToOwned::to_owned));
        }
    }
    actions
}

/// Waiting for the bootstrap of a VM makes an extension of it.
fn extension(step: &Step, operation: &Operation) -> Option<&'static str> {
    let machine = step.after.as_ref()?.virtual_machine()?;
    let waits = match operation {
        Operation::Create => machine.reports_readiness,
        Operation::Patch { attributes } => {
            attributes.iter().any(|path| path == "reports_readiness")
        }
        Operation::Put
        | Operation::MergeTags { .. }
        | Operation::Adopt
        | Operation::Settle
        | Operation::AwaitGone
        | Operation::Release
        | Operation::DeleteInstances { .. }
        | Operation::ReplaceInstances { .. }
        | Operation::DeallocateInstances { .. }
        | Operation::StartInstances { .. }
        | Operation::UpgradeInstances { .. }
        | Operation::Deallocate
        | Operation::Start
        | Operation::Reapply
        | Operation::Delete => false,
    };
    waits.then_some("Microsoft.Compute/virtualMachines/extensions/write")
}

fn listed(texts: &BTreeSet<&str>) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    texts.join(", ")
}
