//! Clusters of Azure CycleCloud in the forms that it reads.

mod lines;

mod workspace;

use model::{
    cyclecloud::{Cluster, ClusterNote, template},
    diag::DiagnosticDocument,
    spec::Scheduler,
};
use serde_json::{Value, json};

use crate::failure;

pub use self::{
    lines::{autoscale, slurm},
    workspace::workspace,
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// As one JSON document, which has every form.
pub fn json(cluster: &Cluster, diagnostics: &[DiagnosticDocument]) -> String {
    let is_slurm = cluster.scheduler == Scheduler::Slurm;
    let of_slurm = |value: Value| if is_slurm { value } else { Value::Null };
    let notes = cluster.notes.iter();
    let notes = notes.map(|ClusterNote { pool, text }| json!({"pool": pool, "message": text}));
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "cyclecloud": {
            "scheduler": word(cluster.scheduler),
            "template": template(cluster),
            "slurm": of_slurm(json!(slurm(cluster))),
            "autoscale": of_slurm(autoscale(cluster)),
            "workspace": of_slurm(workspace(cluster)),
            "notes": notes.collect::<Vec<_>>(),
        },
        "diagnostics": diagnostics,
    }))
}

/// What no form says of the spec, for people.
pub fn notes(cluster: &Cluster) -> String {
    cluster.notes.iter().map(line).collect()
}

/// What the parameters of CycleCloud Workspace for Slurm do not say beside, for people.
pub fn workspace_notes(cluster: &Cluster) -> String {
    workspace::left_out(cluster).iter().map(line).collect()
}

fn line(ClusterNote { pool, text }: &ClusterNote) -> String {
    format!("Pool {pool}: {text}.\n")
}

/// The word of a scheduler in specs.
fn word(scheduler: Scheduler) -> &'static str {
    match scheduler {
        Scheduler::Slurm => "slurm",
        Scheduler::GridEngine => "gridengine",
        Scheduler::Pbs => "pbs",
    }
}
