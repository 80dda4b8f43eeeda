//! What Slurm must know of the nodes: its lines, and what CycleCloud is told of GPUs, as it writes
//! the lines itself and does not know the GPUs of every size.

use std::fmt::Write as _;

use model::cyclecloud::{Cluster, NodeArray};
use serde_json::{Value, json};

use crate::slurm::{self, Hardware};

/// As the lines of `slurm.conf` that `azslurm partitions` on the scheduler's node has to print.
pub fn slurm(cluster: &Cluster) -> String {
    let mut text = format!(
        "# {}: what `azslurm partitions` has to print on the scheduler's node, from the catalogue\n",
        cluster.name
    );
    if cluster
        .arrays
        .iter()
        .any(|array| hardware(array).has_gpus())
    {
        text.push_str("GresTypes=gpu\n");
    }
    for array in &cluster.arrays {
        let names = names(cluster, array);
        let hardware = hardware(array);
        text.push_str(&slurm::node(&names, " Feature=cloud", hardware, "CLOUD"));
    }
    for (at, array) in cluster.arrays.iter().enumerate() {
        let names = names(cluster, array);
        text.push_str(&slurm::partition(&array.name, &names, at == 0));
    }
    // One placement group is one switch, and every node needs one. Slurm takes the file only for
    // clusters of a fixed size, so that it is left to who has one.
    if cluster.arrays.iter().any(|array| array.coupled) {
        for array in &cluster.arrays {
            let names = names(cluster, array);
            let _ = writeln!(
                text,
                "# topology.conf: SwitchName={} Nodes={names}",
                array.name
            );
        }
    }
    text
}

/// As the member of `/opt/azurehpc/slurm/autoscale.json` that says how many GPUs a size has. The
/// last entry is for all other sizes, and entries before it win.
pub fn autoscale(cluster: &Cluster) -> Value {
    let mut sizes: Vec<(&str, u32)> = Vec::new();
    for array in &cluster.arrays {
        let Some(gpus) = array.gpus.filter(|gpus| *gpus > 0) else {
            continue;
        };
        let size = array.size.as_str();
        if sizes.iter().all(|(known, _)| *known != size) {
            sizes.push((size, gpus));
        }
    }
    let entry = |(size, gpus): (&str, u32)| json!({"select": {"node.vm_size": size}, "name": "slurm_gpus", "value": gpus});
    let mut entries: Vec<Value> = sizes.into_iter().map(entry).collect();
    entries.push(json!({"select": {}, "name": "slurm_gpus", "value": "node.gpu_count"}));
    json!({"default_resources": entries})
}

fn hardware(array: &NodeArray) -> Hardware {
    Hardware {
        vcpus: array.vcpus,
        memory_mib: array.memory_mib,
        gpus: array.gpus,
    }
}

/// What CycleCloud calls the nodes of an array.
fn names(cluster: &Cluster, array: &NodeArray) -> String {
    let prefix = format!("{}-{}", cluster.name, array.name);
    match array.most {
        1 => format!("{prefix}-1"),
        most => format!("{prefix}-[1-{most}]"),
    }
}
