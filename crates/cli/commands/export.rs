//! `export`: what the spec wants as a template of Azure Resource Manager, as a cluster of Azure
//! CycleCloud, or as what must be installed in a cluster of Azure Kubernetes Service.

use model::{
    cyclecloud::{Cluster, template},
    diag::{At, Code, Diagnostic, Diagnostics, Severity},
    in_cluster::InCluster,
    plan::Plan,
    resource::ResourceKind,
    spec::{Scheduler, Spec},
};

use crate::{
    app::App,
    args::{CycleCloudForm, Export, KubernetesForm, Planning, SchedulerName},
    planning::{self, Made},
    stop::{Outcome, Stop, exit_of},
};

/// Prints it.
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
    say_of_terms(&plan, &mut findings);
    if let Some(form) = arguments.kubernetes {
        let catalog = app.catalog(arguments.offline);
        let Some(cluster) = planner::in_cluster(app.source()?.spec()?, &plan, catalog) else {
            let stop = Stop::usage("--kubernetes: no pool of the spec is of AKS");
            return Err(stop.help("write `orchestrator: aks` in a pool"));
        };
        show_kubernetes(app, form, &cluster, &findings);
        app.say_below(&findings);
        return Ok(exit_of(&findings));
    }
    match arguments.cyclecloud {
        None => {
            let template = azure::template(&plan)
                .map_err(|error| Stop::because(Code::PlanUnreadable, error.to_string()))?;
            app.output.data(&format!("{template:#}\n"));
        }
        Some(form) => {
            let spec = app.source()?.spec()?;
            let scheduler = scheduler(arguments.scheduler, spec);
            if form != CycleCloudForm::Template && scheduler != Scheduler::Slurm {
                let stop = Stop::usage("--cyclecloud: this form is for Slurm alone");
                return Err(stop.help("leave `--scheduler` out, or print the `template`"));
            }
            let cluster = planner::cluster(spec, &plan, app.catalog(arguments.offline), scheduler);
            show(app, form, &cluster, &findings);
        }
    }
    app.say_below(&findings);
    Ok(exit_of(&findings))
}

/// Terms that were accepted by hand have to be accepted once more.
fn say_of_terms(plan: &Plan, findings: &mut Diagnostics) {
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
}

/// The scheduler of a cluster: the one that is asked for, or the first that the spec names.
fn scheduler(asked: Option<SchedulerName>, spec: &Spec) -> Scheduler {
    match asked {
        Some(SchedulerName::Slurm) => Scheduler::Slurm,
        Some(SchedulerName::Gridengine) => Scheduler::GridEngine,
        Some(SchedulerName::Pbs) => Scheduler::Pbs,
        None => {
            let mut named = spec.pools.values().filter_map(|pool| pool.scheduler);
            named.next().unwrap_or(Scheduler::Slurm)
        }
    }
}

fn show(app: &App, form: CycleCloudForm, cluster: &Cluster, findings: &Diagnostics) {
    if app.output.is_json() {
        let findings = app.documents(findings);
        app.output
            .data(&render::cyclecloud::json(cluster, &findings));
        return;
    }
    let text = match form {
        CycleCloudForm::Template => template(cluster),
        CycleCloudForm::Slurm => render::cyclecloud::slurm(cluster),
        CycleCloudForm::Autoscale => {
            format!("{:#}\n", render::cyclecloud::autoscale(cluster))
        }
        CycleCloudForm::Workspace => {
            format!("{:#}\n", render::cyclecloud::workspace(cluster))
        }
    };
    app.output.data(&text);
    if form == CycleCloudForm::Workspace {
        app.output
            .note(&render::cyclecloud::workspace_notes(cluster));
    }
    app.output.note(&render::cyclecloud::notes(cluster));
}

fn show_kubernetes(app: &App, form: KubernetesForm, cluster: &InCluster, findings: &Diagnostics) {
    if app.output.is_json() {
        let findings = app.documents(findings);
        app.output
            .data(&render::kubernetes::json(cluster, &findings));
        return;
    }
    let text = match form {
        KubernetesForm::Manifests => render::kubernetes::manifests(cluster),
        KubernetesForm::Operators => render::kubernetes::operators(cluster),
        KubernetesForm::Checks => render::kubernetes::checks(cluster),
    };
    app.output.data(&text);
    app.output.note(&render::kubernetes::notes(cluster));
}
