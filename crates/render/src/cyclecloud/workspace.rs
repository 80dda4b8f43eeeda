//! The parameters of CycleCloud Workspace for Slurm, which makes a server, a network, a file system
//! and a cluster by one deployment, with three partitions of fixed names.

use model::cyclecloud::{Cluster, ClusterNote, NodeArray, SCHEDULER_SIZE};
use serde_json::{Value, json};

/// The image of its scheduler and login nodes, by CycleCloud's own names.
const IMAGE: &str = "cycle.image.ubuntu22";

/// The version of Slurm: the template's own two defaults differ, so that it is always given.
const SLURM: &str = "25.11.5";

/// Gibibytes of the file system of home folders.
const HOME_GIB: u32 = 512;

/// As parameters of a deployment of CycleCloud Workspace for Slurm. What only its user can give
/// is left out, and so has to be given with it: the password, the public key, and a network that
/// exists. Terms of the marketplace are not accepted.
pub fn workspace(cluster: &Cluster) -> Value {
    let name = &cluster.name;
    let places = Places::of(cluster);
    let machine = json!({"sku": SCHEDULER_SIZE, "osImage": IMAGE});
    let login = json!({
        "sku": SCHEDULER_SIZE, "osImage": IMAGE, "initialNodes": 1, "maxNodes": 1,
    });
    let mut htc = partition(places.htc);
    if let Some(array) = places.htc {
        htc["useSpot"] = json!(array.spot.is_some());
    }
    let mut parameters = json!({
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#",
        "contentVersion": "1.0.0.0",
        "parameters": {
            "location": {"value": cluster.location},
            "adminUsername": {"value": cluster.user},
            "ccVMName": {"value": format!("{name}-cyclecloud")},
            "ccVMSize": {"value": SCHEDULER_SIZE},
            "resourceGroup": {"value": format!("rg-{name}-workspace")},
            "clusterName": {"value": name},
            "sharedFilesystem": {"value": {"type": "nfs-new", "nfsCapacityInGb": HOME_GIB}},
            "additionalFilesystem": {"value": {"type": "disabled"}},
            "slurmSettings": {"value": {"version": SLURM, "healthCheckEnabled": true}},
            "schedulerNode": {"value": machine},
            "loginNodes": {"value": login},
            "htc": {"value": htc},
            "hpc": {"value": partition(places.hpc)},
            "gpu": {"value": partition(places.gpu)},
            "databaseConfig": {"value": {"type": "disabled"}},
            "tags": {"value": {}},
            "acceptMarketplaceTerms": {"value": false},
        },
    });
    // Of a network that exists it wants more than one subnet, which the spec does not name.
    if let Some(space) = &cluster.network.address_space {
        parameters["parameters"]["network"] = json!({"value": {
            "type": "new",
            "addressSpace": space,
            "bastion": cluster.network.bastion,
            "createNatGateway": cluster.network.nat,
        }});
    }
    parameters
}

/// Arrays by the partition that takes them. Each takes one: the first in the order of names.
struct Places<'a> {
    htc: Option<&'a NodeArray>,
    hpc: Option<&'a NodeArray>,
    gpu: Option<&'a NodeArray>,
}

impl<'a> Places<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        let first = |wanted: fn(&NodeArray) -> bool| cluster.arrays.iter().find(|one| wanted(one));
        Self {
            htc: first(|array| array.gpus == Some(0) && !array.coupled),
            hpc: first(|array| array.gpus == Some(0) && array.coupled),
            gpu: first(|array| array.gpus != Some(0) && array.spot.is_none()),
        }
    }
}

/// A partition; one that no pool stands for has no nodes.
fn partition(array: Option<&NodeArray>) -> Value {
    match array {
        None => json!({
            "sku": SCHEDULER_SIZE, "osImage": IMAGE, "maxNodes": 0, "availabilityZone": [],
        }),
        Some(array) => json!({
            "sku": array.size, "osImage": array.image, "maxNodes": array.most,
            "availabilityZone": array.zones,
        }),
    }
}

/// What no partition stands for: it has three, of one pool each.
pub(super) fn left_out(cluster: &Cluster) -> Vec<ClusterNote> {
    let Places { htc, hpc, gpu } = Places::of(cluster);
    let taken = |array: &NodeArray| {
        [htc, hpc, gpu]
            .iter()
            .flatten()
            .any(|one| one.name == array.name)
    };
    let rest = cluster.arrays.iter().filter(|array| !taken(array));
    let note = |array: &NodeArray| {
        ClusterNote {
        pool: array.name.clone(),
        text: "CycleCloud Workspace for Slurm has no partition for it: one of GPUs at the regular price, one of CPUs with InfiniBand and one of other CPUs are all; `--cyclecloud=template` has an array for it".to_owned(),
    }
    };
    rest.map(note).collect()
}
