//! `export`: what the spec wants as a template of Azure Resource Manager.

use model::{
    diag::{At, Code, Diagnostic, Severity},
    resource::ResourceKind,
};

use crate::{
    app::App,
    args::{Export, Planning},
    planning::{self, Made},
    stop::{Outcome, Stop, exit_of},
};

/// Prints the template.
pub(crate) fn run(app: &App, arguments: &Export) -> Outcome {
    let planning = Planning {
        offline: arguments.offline,
        without_budget: true,
        ..Planning::default()
    };
    let Made {
        plan, mut findings, ..
    } = planning::make(app, &planning, false)?;
    let Some(plan) = plan.filter(|_| !findings.has_errors()) else {
        return Err(Stop::with(findings));
    };
    let template = azure::template(&plan)
        .map_err(|error| Stop::because(Code::PlanUnreadable, error.to_string()))?;
    for step in &plan.steps {
        if step.kind == ResourceKind::MarketplaceTerms && step.after.is_some() {
            let message =
                "terms of an image are accepted for the subscription, which no template does";
            let finding = Diagnostic::new(
                Code::ImageNeedsTerms,
                At::Resource(step.address.clone()),
                message,
            )
            .with_severity(Severity::Warning);
            let help = "accept them first: `az vm image terms accept`";
            findings.push(finding.with_help(help));
        }
    }
    app.output.data(&format!("{template:#}\n"));
    app.say_below(&findings);
    Ok(exit_of(&findings))
}
