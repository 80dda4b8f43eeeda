//! Plans: the text that a person reads before `apply`, what `apply` names before it asks,
//! and the document.

mod header;

mod memo;

pub(crate) mod pools;

mod changes;

mod groups;

mod attributes;

pub(crate) mod essence;

mod kubernetes;

mod node_array;

mod consequences;

pub(crate) mod summary;

mod findings;

use model::plan::Plan;

pub(crate) use self::{attributes::shown, essence::ink, header::lifetime};
use crate::{
    cost::{self, Before},
    line::Line,
    paper::Paper,
    quota,
    style::{Ink, Style},
};

/// The whole plan: where, the pools and why, the changes, quota, cost, and in the last lines
/// what is lost or paid for.
pub fn text(plan: &Plan, style: Style) -> String {
    let mut paper = body(plan, style);
    if plan.has_changes {
        consequences::write(&mut paper, plan, style);
    }
    paper.finish()
}

/// The same without its last lines, which [`question`] has too.
pub fn without_consequences(plan: &Plan, style: Style) -> String {
    body(plan, style).finish()
}

fn body(plan: &Plan, style: Style) -> Paper {
    let mut paper = Paper::new(style);
    header::write(&mut paper, plan, style);
    if plan.has_changes || plan.cost.before != plan.cost.after {
        details(&mut paper, plan, style);
    } else {
        standing(&mut paper, plan);
    }
    paper.blank();
    // In one line however long, so that a pipeline can search for it.
    paper.line(&Line::inked(Ink::Strong, summary::sentence(plan)));
    paper
}

fn details(paper: &mut Paper, plan: &Plan, style: Style) {
    if !plan.pools.is_empty() {
        paper.heading("Pools");
        pools::write(paper, plan, style);
    }
    if plan.changes().next().is_some() {
        paper.heading("Changes");
        changes::write(paper, plan, style);
    }
    if !plan.quota.is_empty() {
        quota::write(paper, &plan.quota, style);
    }
    if plan.cost.complete && plan.cost.before == plan.cost.after {
        if !plan.cost.lines.is_empty() {
            cost::unchanged(paper, &plan.cost);
        }
    } else if !plan.cost.lines.is_empty() || plan.cost.before != plan.cost.after {
        let existed = plan.steps.iter().any(|step| step.before.is_some());
        let before = if existed {
            Before::MayBePartial
        } else {
            Before::Nothing
        };
        cost::write(paper, &plan.cost, before, style);
    }
}

/// What stands, in few words, where nothing is to be done: `explain` has the reasons.
fn standing(paper: &mut Paper, plan: &Plan) {
    if !plan.pools.is_empty() {
        paper.heading("Pools");
        pools::names(paper, plan);
    }
    if !plan.cost.lines.is_empty() {
        cost::unchanged(paper, &plan.cost);
    }
}

/// The plan document, indented, with a line feed at its end; [`model::plan::read_plan`] reads it.
///
/// # Panics
/// Never for a plan: everything in it has a form in JSON.
pub fn json(plan: &Plan) -> String {
    let text = serde_json::to_string_pretty(plan)
        .expect("a plan has only text as names of members and no value that JSON lacks");
    format!("{text}\n")
}

/// The findings that a plan carries, one after the other, for plans whose spec is not at hand.
pub fn findings(plan: &Plan, style: Style) -> String {
    let mut paper = Paper::new(style);
    findings::write(&mut paper, &plan.diagnostics);
    paper.finish()
}

/// What is deleted, replaced, interrupted or paid for, in a few lines, and the question
/// whether to go on. `apply` prints it right before it waits for the answer.
pub fn question(plan: &Plan, style: Style) -> String {
    let mut paper = Paper::new(style);
    consequences::write(&mut paper, plan, style);
    paper.blank();
    paper.hanging(
        &Line::default(),
        &Line::inked(Ink::Strong, consequences::question(plan)),
    );
    paper.finish()
}
