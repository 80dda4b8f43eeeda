//! What must be installed in a cluster of Azure Kubernetes Service before pods can use its GPUs and
//! its InfiniBand, and what checks that they can.
//!
//! What is plain Kubernetes is a manifest. What comes as a Helm chart, or is of a kind that a chart
//! brings, is a command.

mod yaml;

mod software;

mod pods;

mod manifests;

mod operators;

mod checks;

use model::{
    diag::DiagnosticDocument,
    in_cluster::{GpuVendor, InCluster, NodeNote, NodePool},
};
use serde_json::{Value, json};

use crate::failure;

pub use self::{checks::checks, manifests::manifests, operators::operators};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// As one JSON document, which has every form.
pub fn json(cluster: &InCluster, diagnostics: &[DiagnosticDocument]) -> String {
    let notes = cluster.notes.iter();
    let notes = notes.map(|NodeNote { pool, text }| json!({"pool": pool, "message": text}));
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "kubernetes": {
            "manifests": manifests::documents(cluster),
            "operators": operators(cluster),
            "checks": checks::documents(cluster),
            "notes": notes.collect::<Vec<_>>(),
        },
        "diagnostics": diagnostics,
    }))
}

/// What nothing that is installed can do, for people.
pub fn notes(cluster: &InCluster) -> String {
    let line = |NodeNote { pool, text }: &NodeNote| format!("Pool {pool}: {text}.\n");
    cluster.notes.iter().map(line).collect()
}

/// Documents, one below the other.
fn stream(head: &[String], documents: &[Value]) -> String {
    let head = head.iter().map(|line| format!("# {line}\n"));
    let documents = documents
        .iter()
        .map(|one| format!("---\n{}", yaml::document(one)));
    head.chain(documents).collect()
}

/// Names of pools in a sentence.
fn named(pools: &[&NodePool]) -> String {
    let names: Vec<&str> = pools.iter().map(|pool| pool.name.as_str()).collect();
    names.join(", ")
}

/// Pools of which this is so.
fn pools(cluster: &InCluster, is_wanted: impl Fn(&NodePool) -> bool) -> Vec<&NodePool> {
    let all = cluster.pools.iter();
    all.filter(|pool| is_wanted(pool)).collect()
}

/// Whether a pool has GPUs of NVIDIA, with their driver by AKS or not.
fn is_nvidia(pool: &NodePool, by_aks: bool) -> bool {
    let is_so = |gpus: model::in_cluster::NodeGpus| {
        gpus.vendor == GpuVendor::Nvidia && gpus.driver_by_aks == by_aks
    };
    pool.gpus.is_some_and(is_so)
}

fn is_amd(pool: &NodePool) -> bool {
    pool.gpus.is_some_and(|gpus| gpus.vendor == GpuVendor::Amd)
}

fn has_infiniband(pool: &NodePool) -> bool {
    pool.infiniband.is_some()
}
