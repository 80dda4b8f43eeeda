//! The head of a plan: which stack, in which world, by which prices.

use model::{
    live::Mode,
    plan::{Lifetime, Plan, Scope},
};

use crate::{
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

pub(super) fn write(paper: &mut Paper, plan: &Plan, style: Style) {
    paper.line(&Line::inked(
        Ink::Strong,
        if plan.destroys() {
            format!("Plan to destroy {}", plan.stack)
        } else if plan.orphans {
            format!("Plan to delete the orphans of {}", plan.stack)
        } else {
            format!("Plan for {}", plan.stack)
        },
    ));
    paper.blank();
    let mut table = Table::new(
        [Column::left("", Fit::Keep), Column::left("", Fit::Wrap)],
        2,
    );
    let mut row = |label: &str, value: Line| table.row([Line::inked(Ink::Faint, label), value]);
    let Scope {
        cloud: _,
        mode: _,
        subscription,
        location,
        resource_group,
    } = &plan.scope;
    row("Mode", mode(&plan.scope));
    match subscription {
        Some(subscription) => row("Subscription", Line::of(subscription)),
        None => row("Subscription", Line::inked(Ink::Caution, "none named")),
    }
    row("Location", Line::of(location.as_str()));
    row("Resource group", Line::of(resource_group));
    if let Some(lifetime) = &plan.lifetime {
        row("Lifetime", self::lifetime(lifetime));
    }
    if !plan.targets.is_empty() {
        let pools = words::listed(&plan.targets, 8);
        row("Only pools", Line::inked(Ink::Caution, pools));
    }
    row(
        "Spec",
        Line::of(format!("{}, planned {}", plan.spec.path, plan.created_at)),
    );
    row(
        "Catalogue",
        Line::of(format!(
            "prices as of {}, sizes as of {}",
            plan.catalog.prices_as_of, plan.catalog.skus_as_of
        )),
    );
    if !plan.complete {
        row(
            "Incomplete",
            Line::inked(
                Ink::Caution,
                "something could not be read, so the plan may miss changes",
            ),
        );
    }
    paper.lines(&table.lines(style));
}

/// Until when a stack lives.
pub(crate) fn lifetime(lifetime: &Lifetime) -> Line {
    let Lifetime {
        starts: _,
        expires,
        over,
    } = lifetime;
    if *over {
        Line::inked(Ink::Caution, format!("over since {expires}"))
    } else {
        Line::of(format!("until {expires}"))
    }
}

fn mode(scope: &Scope) -> Line {
    match scope.mode {
        Mode::Azure => Line::of(cloud(&scope.cloud)),
        Mode::Sandbox => Line::inked(Ink::Caution, "sandbox").then(
            Ink::Plain,
            format!(
                " (local imitation of {}; nothing here exists in Azure or costs money)",
                cloud(&scope.cloud)
            ),
        ),
        Mode::Offline => Line::inked(Ink::Caution, "offline").then(
            Ink::Plain,
            format!(
                " (as if nothing existed in {}; quota and restrictions are unknown)",
                cloud(&scope.cloud)
            ),
        ),
    }
}

fn cloud(name: &str) -> String {
    match name {
        "public" => "Azure".to_owned(),
        "usgovernment" => "Azure Government".to_owned(),
        "china" => "Azure China".to_owned(),
        other => format!("Azure ({other})"),
    }
}
