//! The agent pools of a plan as pods see them: GPUs, InfiniBand, taints.

use model::{
    catalog::{Catalog, Size},
    in_cluster::{GpuVendor, InCluster, NodeGpus, NodeNote, NodePool, Ports, Taint},
    plan::{Plan, Step},
    resource::{AgentPool, Resource, ResourceKind, VmPriority},
    spec::{Pool, Spec, kubernetes::Mig},
};

use crate::select::grouping::shares_fabric;

/// The taint that AKS gives spot nodes.
const SPOT_TAINT: &str = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule";

/// The label that keeps the parts of NVIDIA's GPU operator off a node.
const NO_OPERANDS: &str = "nvidia.com/gpu.deploy.operands";

/// The label by which the operator's MIG manager cuts GPUs.
const CUT: &str = "nvidia.com/mig.config";

/// What the nodes of the stack's cluster have; `None` where the plan has no cluster.
pub fn in_cluster(spec: &Spec, plan: &Plan, catalog: &Catalog) -> Option<InCluster> {
    let is_cluster =
        |step: &&Step| step.kind == ResourceKind::KubernetesCluster && step.after.is_some();
    let cluster = plan.steps.iter().find(is_cluster)?;
    let mut found = InCluster {
        stack: spec.name.clone(),
        group: cluster.id.group().unwrap_or_default().to_owned(),
        cluster: cluster.id.name().to_owned(),
        pools: Vec::new(),
        notes: Vec::new(),
    };
    for step in &plan.steps {
        let agents = step.after.as_ref().and_then(Resource::agent_pool);
        let name = step.address.pool_name();
        let (Some(agents), Some(name)) = (agents, name) else {
            continue;
        };
        let (Some(pool), Some(size)) = (spec.pools.get(name), catalog.size(&agents.size)) else {
            continue;
        };
        let nodes = nodes(name, step, agents, pool, (size, catalog));
        let mut notes = Vec::new();
        if size.gpu.is_some() && nodes.gpus.is_none() {
            notes.push(format!(
                "how many GPUs `{}` has is not known: nothing is printed for them",
                size.name
            ));
        }
        notes.extend(of_mig(agents, &nodes));
        let pool = nodes.name.clone();
        found.notes.extend(notes.into_iter().map(|text| NodeNote {
            pool: pool.clone(),
            text,
        }));
        found.pools.push(nodes);
    }
    found.notes.extend(two_owners(plan, &found.pools));
    Some(found)
}

fn nodes(
    name: &str,
    step: &Step,
    agents: &AgentPool,
    pool: &Pool,
    (size, catalog): (&Size, &Catalog),
) -> NodePool {
    let spot = matches!(agents.priority, VmPriority::Spot { .. }).then_some(SPOT_TAINT);
    let taints = agents.taints.iter().map(String::as_str).chain(spot);
    let ports = || {
        let row = catalog.acceptance(&agents.size);
        let ports = row.and_then(|row| row.infiniband_ports);
        ports.map_or(Ports::Some, Ports::Known)
    };
    NodePool {
        name: name.to_owned(),
        agent_pool: step.id.name().to_owned(),
        size: agents.size.clone(),
        nodes: agents.nodes,
        scales: agents.autoscale_min.is_some(),
        taints: taints.filter_map(Taint::parse).collect(),
        gpus: gpus(agents, pool, size, catalog),
        infiniband: shares_fabric(pool, size).then(ports),
    }
}

fn gpus(agents: &AgentPool, pool: &Pool, size: &Size, catalog: &Catalog) -> Option<NodeGpus> {
    let model = catalog.gpu(&size.gpu.as_ref()?.model)?;
    let mig = pool.aks.as_ref().and_then(|settings| settings.mig);
    Some(NodeGpus {
        vendor: if model.vendor == "AMD" {
            GpuVendor::Amd
        } else {
            GpuVendor::Nvidia
        },
        count: size.visible_gpus()?,
        instances: mig.map(Mig::instances),
        driver_by_aks: agents.gpu_driver.key() == "install",
    })
}

/// Who cuts GPUs whose driver is not AKS's.
fn of_mig(agents: &AgentPool, nodes: &NodePool) -> Option<String> {
    let gpus = nodes.gpus?;
    let is_uncut = agents.mig.is_some() && !gpus.driver_by_aks && !agents.labels.contains_key(CUT);
    is_uncut.then(|| {
        format!(
            "AKS cuts GPUs where it installs their driver, and here it does not: the MIG manager of the GPU operator does, by a label of the nodes such as `aks: {{labels: {{{CUT}: all-1g.10gb}}}}`"
        )
    })
}

/// Pools with AKS's driver where NVIDIA's GPU operator is installed for another one: it would
/// replace what AKS installed.
fn two_owners(plan: &Plan, pools: &[NodePool]) -> Vec<NodeNote> {
    let of = |pool: &NodePool, by_aks: bool| {
        pool.gpus
            .is_some_and(|gpus| gpus.vendor == GpuVendor::Nvidia && gpus.driver_by_aks == by_aks)
    };
    let Some(other) = pools.iter().find(|pool| of(pool, false)) else {
        return Vec::new();
    };
    let is_kept_off = |pool: &NodePool| {
        plan.steps.iter().any(|step| {
            let agents = step.after.as_ref().and_then(Resource::agent_pool);
            let label = agents.and_then(|agents| agents.labels.get(NO_OPERANDS));
            step.address.pool_name() == Some(&pool.name) && label.is_some_and(|it| it == "false")
        })
    };
    let met = pools
        .iter()
        .filter(|pool| of(pool, true) && !is_kept_off(pool));
    met.map(|pool| NodeNote {
        pool: pool.name.clone(),
        text: format!(
            "its driver is AKS's, and the GPU operator that pool `{}` needs would put its own over it: keep it off with `aks: {{labels: {{{NO_OPERANDS}: \"false\"}}}}`",
            other.name
        ),
    })
    .collect()
}
