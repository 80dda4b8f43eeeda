//! A pool in a proximity placement group: in which zone its nodes are, and sizes that need none.

use model::{
    catalog::Size,
    diag::{At, Code, Diagnostic, SpecPath},
    live::{Answer, Mode, ProximityGroupFact, Question},
    spec::ProximityGroup,
};

use super::{Context, Findings, Placement, grouping};

fn existing(context: Context<'_>) -> Option<&model::ids::ArmId> {
    match context.pool.proximity_placement_group.as_ref()? {
        ProximityGroup::Existing(id) => Some(id),
        ProximityGroup::Own => None,
    }
}

/// What is known of the existing group of a pool.
fn fact(context: Context<'_>) -> Option<&ProximityGroupFact> {
    let answer = context
        .live
        .facts
        .proximity_groups
        .get(existing(context)?)?;
    answer.known()?.as_ref()
}

/// Asks what the existing group of a pool is, where nodes are to be made.
pub(super) fn ask(context: Context<'_>, new_nodes: u32, findings: &mut Findings) {
    let Some(id) = existing(context) else { return };
    if new_nodes == 0 {
        return;
    }
    let reason = match context.live.facts.proximity_groups.get(id) {
        Some(Answer::Known(_)) => return,
        Some(Answer::Unknown { reason }) => reason.as_str(),
        None if context.mode == Mode::Offline => "the plan is offline",
        None => {
            let question = Question::ProximityGroup(id.clone());
            findings.questions.insert(question);
            return;
        }
    };
    let message = format!(
        "the proximity placement group `{}` could not be read: {reason}",
        id.name()
    );
    let finding = Diagnostic::new(Code::ProximityUnknown, at(context), message);
    findings.diagnostics.push(finding.with_help(
        "nodes that do not fit it may be refused at apply; reading it needs the Reader role on it",
    ));
}

fn at(context: Context<'_>) -> At {
    At::Value(SpecPath::pool(context.name, &["proximity_placement_group"]))
}

/// Whether the nodes of a pool are to be near each other by a group of their own or another's.
pub(super) fn is_wanted(context: Context<'_>) -> bool {
    context.pool.proximity_placement_group.is_some()
}

/// The zone that the group of a pool is in, where it names one.
pub(super) fn zone(context: Context<'_>) -> Option<&str> {
    fact(context)?.zone.as_deref()
}

/// Checks that nodes of a size can be in a group; `false` where they cannot.
pub(super) fn check(
    context: Context<'_>,
    size: &Size,
    count: u32,
    findings: &mut Findings,
) -> bool {
    if !is_wanted(context) {
        return true;
    }
    let service = match grouping::of(context, size, count) {
        Placement::BatchPool => Some("a pool of Batch"),
        Placement::AgentPool => Some("an agent pool"),
        Placement::SingleVms | Placement::ScaleSet(_) => None,
    };
    let (message, help) = if let Some(service) = service {
        let message = format!("`proximity_placement_group` is not supported yet in {service}");
        (message, "remove it, or use `orchestrator: manual`")
    } else if grouping::needs_fabric(context, size) {
        let message = format!(
            "`proximity_placement_group` does nothing for the InfiniBand size `{}`: its nodes are in one placement group anyway",
            size.name
        );
        (message, "remove `proximity_placement_group`")
    } else {
        return true;
    };
    let finding = Diagnostic::new(Code::ProximityUnfit, at(context), message);
    findings.diagnostics.push(finding.with_help(help));
    false
}
