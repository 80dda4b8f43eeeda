//! A job for each pool that asks for all that a node has, and counts what it got.

use model::in_cluster::{GpuVendor, InCluster, NodeGpus, NodePool, Ports};
use serde_json::{Map, Value, json};

use super::{
    pods::{POOL_LABEL, tolerate},
    software::pinned,
    stream,
};

/// Seconds after which a job that found no node has failed; a first node takes minutes to come.
const PATIENCE: u32 = 1_800;

/// As documents for `kubectl apply`.
pub fn checks(cluster: &InCluster) -> String {
    let mut head = vec![
        format!(
            "{}: a job for each pool that asks for all that its nodes have, and counts what it got",
            cluster.stack
        ),
        "tensorform export --kubernetes=checks | kubectl apply -f -".to_owned(),
        "kubectl get jobs, and kubectl logs job/check-… for what was counted".to_owned(),
    ];
    let mut scaling = cluster.pools.iter().filter(|pool| pool.scales);
    if let Some(first) = scaling.next() {
        head.push(format!(
            "A pool that has no node makes one for its job, such as {}, and that node is paid for",
            first.name
        ));
    }
    stream(&head, &documents(cluster))
}

/// Each job.
pub(super) fn documents(cluster: &InCluster) -> Vec<Value> {
    cluster.pools.iter().map(job).collect()
}

fn job(pool: &NodePool) -> Value {
    // A pod that has all GPUs of a node has it alone, so that as many pods look at all nodes.
    let pods = if pool.gpus.is_some() && !pool.scales {
        pool.nodes
    } else {
        1
    };
    let image = match pool.gpus.map(|gpus| gpus.vendor) {
        Some(GpuVendor::Nvidia) => pinned("cuda").image(),
        Some(GpuVendor::Amd) | None => pinned("ubuntu").image(),
    };
    let mut container = json!({
        "name": "check",
        "image": image,
        "command": ["/bin/sh", "-ec", script(pool)],
    });
    let limits = limits(pool);
    if !limits.is_empty() {
        container["resources"] = json!({"limits": limits});
    }
    if pool.infiniband.is_some() {
        // Its memory has to stay where the network card writes to it.
        container["securityContext"] = json!({"capabilities": {"add": ["IPC_LOCK"]}});
    }
    let mut pod = json!({
        "containers": [container],
        "nodeSelector": {POOL_LABEL: pool.agent_pool},
        "restartPolicy": "Never",
    });
    tolerate(&mut pod, &[pool]);
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": format!("check-{}", pool.agent_pool)},
        "spec": {
            "activeDeadlineSeconds": PATIENCE,
            "backoffLimit": 0,
            "completions": pods,
            "parallelism": pods,
            "template": {"spec": pod},
        },
    })
}

/// What a pod asks for, by the names under which device plugins offer it.
fn limits(pool: &NodePool) -> Map<String, Value> {
    let mut limits = Map::new();
    if let Some(gpus) = pool.gpus {
        let name = match gpus.vendor {
            GpuVendor::Nvidia => "nvidia.com/gpu",
            GpuVendor::Amd => "amd.com/gpu",
        };
        limits.insert(name.to_owned(), json!(gpus.schedulable()));
    }
    if pool.infiniband.is_some() {
        limits.insert("rdma/shared_ib".to_owned(), json!(1));
    }
    limits
}

fn script(pool: &NodePool) -> String {
    let mut lines = Vec::new();
    match pool.gpus {
        Some(gpus) => lines.extend(counted(gpus)),
        None => lines.push("nproc".to_owned()),
    }
    if let Some(ports) = pool.infiniband {
        let least = match ports {
            Ports::Known(count) => count,
            Ports::Some => 1,
        };
        lines.push("ls /dev/infiniband".to_owned());
        lines.push(format!(
            "test \"$(ls /dev/infiniband | grep -c '^uverbs')\" -ge {least}"
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn counted(gpus: NodeGpus) -> [String; 2] {
    let wanted = gpus.schedulable();
    let (show, count) = match (gpus.vendor, gpus.instances) {
        (GpuVendor::Nvidia, None) => ("nvidia-smi -L", "nvidia-smi -L | grep -c '^GPU '"),
        (GpuVendor::Nvidia, Some(_)) => ("nvidia-smi -L", "nvidia-smi -L | grep -c '^ *MIG '"),
        (GpuVendor::Amd, _) => ("ls /dev/dri", "ls /dev/dri | grep -c '^renderD'"),
    };
    [show.to_owned(), format!("test \"$({count})\" -eq {wanted}")]
}
