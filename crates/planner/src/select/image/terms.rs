//! The terms of an image's purchase plan: accepted already, accepted by the plan, or a refusal.

use model::{
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    live::{Answer, Mode, Question, TermsFact},
    resource::PurchasePlan,
    spec::ImageChoice,
};

use crate::select::{Context, Findings};

/// The plan whose terms are to be accepted before nodes are made.
pub fn terms(
    context: Context<'_>,
    plan: Option<&PurchasePlan>,
    findings: &mut Findings,
) -> Option<PurchasePlan> {
    let plan = plan?;
    let may_accept = matches!(
        context.pool.image,
        ImageChoice::Urn {
            accept_terms: true,
            ..
        }
    );
    match context.live.facts.terms.get(plan) {
        None => {
            findings.questions.insert(Question::Terms(plan.clone()));
            None
        }
        Some(Answer::Known(TermsFact { accepted: true, .. })) => None,
        // The step looks for itself before it accepts anything.
        Some(Answer::Known(_) | Answer::Unknown { .. }) if may_accept => Some(plan.clone()),
        Some(Answer::Known(fact)) => {
            findings.diagnostics.push(not_accepted(context, plan, fact));
            None
        }
        Some(Answer::Unknown { reason }) => {
            // Offline one warning says all that is unknown.
            if context.mode != Mode::Offline {
                let message = format!(
                    "whether the terms of `{}` are accepted could not be read: {reason}",
                    name(plan)
                );
                let finding = Diagnostic::new(Code::ImageNeedsTerms, at(context), message)
                    .with_severity(Severity::Warning)
                    .with_help("nodes are refused at apply where they are not accepted");
                findings.diagnostics.push(finding);
            }
            None
        }
    }
}

fn not_accepted(context: Context<'_>, plan: &PurchasePlan, fact: &TermsFact) -> Diagnostic {
    let message = format!(
        "the subscription has not accepted the terms of `{}`, the purchase plan of the image",
        name(plan)
    );
    let mut finding = Diagnostic::new(Code::ImageNeedsTerms, at(context), message);
    if let Some(link) = &fact.link {
        finding = finding.with_help(format!("read them: {link}"));
    }
    let PurchasePlan {
        publisher,
        product,
        name,
    } = plan;
    let by_hand = format!(
        "`az vm image terms accept --publisher {publisher} --offer {product} --plan {name}` accepts them once for the subscription"
    );
    match &context.pool.image {
        // The spec names no image of a server.
        ImageChoice::Urn { .. } if context.pool.server.is_some() => finding
            .with_help("`cyclecloud: {accept_terms: true}` lets apply accept them in your name"),
        ImageChoice::Urn { urn, .. } => finding.with_help(format!(
            "`image: {{urn: '{urn}', accept_terms: true}}` lets apply accept them in your name"
        )),
        ImageChoice::Auto | ImageChoice::Dsvm | ImageChoice::Hpc | ImageChoice::Id(_) => finding,
    }
    .with_help(by_hand)
}

fn at(context: Context<'_>) -> At {
    At::Value(SpecPath::pool(context.name, &["image"]))
}

/// `publisher:offer:plan`, as Azure names it in its refusals.
fn name(plan: &PurchasePlan) -> String {
    let PurchasePlan {
        publisher,
        product,
        name,
    } = plan;
    format!("{publisher}:{product}:{name}")
}
