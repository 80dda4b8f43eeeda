//! What policies say to the nodes that a plan makes: one question for each kind of node.

use std::collections::BTreeMap;

use model::{
    diag::{At, Code, Diagnostic, SpecPath},
    ids::ArmId,
    live::{Answer, Live, Mode, PolicyQuestion, Question},
    plan::{Operation, Step},
    resource::{ImageReference, Resource, VirtualMachine},
};

use super::rights::scope;
use crate::select::Findings;

/// What policies say against the new nodes of a plan.
pub(crate) fn policies(steps: &[Step], live: &Live, mode: Mode, group: &ArmId) -> Findings {
    let mut findings = Findings::default();
    if mode == Mode::Offline {
        return findings;
    }
    let mut unread: Option<String> = None;
    for (question, pool) in questions(steps, live, group) {
        match live.facts.policies.get(&question) {
            None => {
                findings.questions.insert(Question::Policy(question));
            }
            Some(Answer::Unknown { reason }) => unread = Some(reason.clone()),
            Some(Answer::Known(objections)) => {
                for objection in objections {
                    let at = pool.as_deref().map_or(At::Nowhere, |pool| {
                        At::Value(SpecPath::of(&["pools", pool]))
                    });
                    let about = if objection.objection.is_empty() {
                        String::new()
                    } else {
                        format!(" by {}", objection.objection)
                    };
                    let message = format!(
                        "a policy does not let `{}` be made in {}{about}: `{}`",
                        question.size, question.location, objection.assignment
                    );
                    findings.diagnostics.push(
                        Diagnostic::new(Code::PolicyDenies, at, message)
                            .with_help("change the spec as the policy wants, or ask who assigned it for an exemption"),
                    );
                }
            }
        }
    }
    if let Some(reason) = unread {
        let message = format!("what policies say to the nodes could not be read: {reason}");
        findings.diagnostics.push(
            Diagnostic::new(Code::RightsUnknown, At::Nowhere, message)
                .with_help("what a policy denies would be refused at apply"),
        );
    }
    findings
}

/// The kinds of new nodes, each with a pool that has it.
fn questions(
    steps: &[Step],
    live: &Live,
    group: &ArmId,
) -> BTreeMap<PolicyQuestion, Option<String>> {
    let scope = scope(live, group);
    let made = steps
        .iter()
        .filter(|step| step.operations.contains(&Operation::Create));
    made.filter_map(|step| {
        let after = step.after.as_ref()?;
        let vm = after.virtual_machine()?;
        let pool = step.address.pool_name().map(ToOwned::to_owned);
        Some((question(&scope, after, vm), pool))
    })
    .collect()
}

fn question(scope: &ArmId, resource: &Resource, vm: &VirtualMachine) -> PolicyQuestion {
    let tags = resource.tags.iter();
    PolicyQuestion {
        scope: scope.clone(),
        location: vm.location.clone(),
        size: vm.size.clone(),
        image: match &vm.image {
            ImageReference::Marketplace(image) => Some([
                image.publisher.clone(),
                image.offer.clone(),
                image.sku.clone(),
            ]),
            ImageReference::Own(_) => None,
        },
        tags: tags
            .map(|(name, value)| (name.to_string(), value.to_owned()))
            .collect(),
    }
}
