//! Azure Batch: an account, and pools of nodes in it that run its jobs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{ImageReference, InstanceDataDisk, InstanceOsDisk, Security, VmPriority};
use crate::{
    ids::ArmId,
    units::{CaseInsensitive, Region, SizeName},
};

/// An account of Batch: its nodes are in a subscription of Batch's own, its quota is its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchAccount {
    /// Where it is.
    pub location: Region,
    /// `BatchService` or `UserSubscription`.
    pub allocation: CaseInsensitive,
    /// How clients may sign in: `AAD`, `SharedKey`, `TaskAuthenticationToken`.
    pub sign_in: BTreeSet<String>,
    /// `Enabled` or `Disabled`.
    pub public_access: CaseInsensitive,
}

/// A pool of Batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchPool {
    /// Where it is, which is where its account is.
    pub location: Region,
    /// The size of its nodes.
    pub size: SizeName,
    /// Number of its nodes; the most that there may be where a formula decides.
    pub nodes: u32,
    /// The formula that decides the number of nodes, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscale: Option<BatchAutoscale>,
    /// How the capacity of nodes is bought.
    pub priority: VmPriority,
    /// The image of nodes.
    pub image: ImageReference,
    /// The program of Batch on each node, which must fit the image.
    pub node_agent: CaseInsensitive,
    /// Whether nodes reach each other, for jobs of several nodes.
    pub inter_node: bool,
    /// Tasks that run on one node at once.
    pub task_slots: u32,
    /// What runs containers, where something does: images that each node pulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containers: Option<BatchContainers>,
    /// The disk of the operating system of each node.
    pub os_disk: InstanceOsDisk,
    /// Data disks of each node by logical unit number.
    pub data_disks: BTreeMap<u32, InstanceDataDisk>,
    /// The network of each node.
    pub network: BatchNetwork,
    /// The security type.
    pub security: Security,
    /// User-assigned identities of the nodes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub identities: BTreeSet<ArmId>,
}

/// What decides the number of nodes of a pool by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchAutoscale {
    /// The formula, in Batch's language.
    pub formula: String,
    /// Minutes between two evaluations.
    pub interval_minutes: u32,
}

impl BatchAutoscale {
    /// A formula whose result is kept between two numbers: its last lines say so, and that the
    /// pool has nodes of one kind alone.
    pub fn bounded(formula: &str, (least, most): (u32, u32), spot: bool) -> String {
        let (own, other) = variables(spot);
        let formula = formula.trim_end();
        format!("{formula}\n{own} = max({least}, min({most}, {own}));\n{other} = 0;\n")
    }

    /// The most nodes, and whether they are spot nodes, where the last lines say so.
    pub fn bounds(&self) -> Option<(u32, bool)> {
        let mut lines = self.formula.lines().rev();
        lines.next()?;
        let bound = lines.next()?;
        [false, true].into_iter().find_map(|spot| {
            let (own, _) = variables(spot);
            let rest = bound.strip_prefix(own)?.strip_prefix(" = max(")?;
            let (_, rest) = rest.split_once(", min(")?;
            let (most, _) = rest.split_once(',')?;
            Some((most.parse().ok()?, spot))
        })
    }
}

/// The variable of the nodes that a pool has, and that of those which it has not.
fn variables(spot: bool) -> (&'static str, &'static str) {
    const DEDICATED: &str = "$TargetDedicatedNodes";
    const SPOT: &str = "$TargetLowPriorityNodes";
    if spot {
        (SPOT, DEDICATED)
    } else {
        (DEDICATED, SPOT)
    }
}

/// Containers on the nodes of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchContainers {
    /// `DockerCompatible` or `CriCompatible`.
    pub kind: CaseInsensitive,
    /// Images that each node pulls when it starts.
    pub images: BTreeSet<String>,
}

/// The network of each node of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchNetwork {
    /// The subnet.
    pub subnet: Option<ArmId>,
    /// `BatchManaged`, `UserManaged` or `NoPublicIPAddresses`.
    pub addresses: CaseInsensitive,
    /// Accelerated networking.
    pub accelerated: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_a_formula_are_read_back_from_it() {
        for spot in [false, true] {
            let formula = BatchAutoscale::bounded("$x = 1;\n", (2, 9), spot);
            let autoscale = BatchAutoscale {
                formula,
                interval_minutes: 15,
            };
            assert_eq!(autoscale.bounds(), Some((9, spot)), "{}", autoscale.formula);
        }
        for formula in [
            "",
            "$TargetDedicatedNodes = 3;",
            "a\nb",
            "$TargetDedicatedNodes = max(1, min(x, y));\nz",
        ] {
            let autoscale = BatchAutoscale {
                formula: formula.to_owned(),
                interval_minutes: 15,
            };
            assert_eq!(autoscale.bounds(), None, "{formula}");
        }
    }
}
