//! Inventories: the nodes that are live, and how they are reached.

use std::net::Ipv4Addr;

use serde::Serialize;

use crate::{ids::ArmId, units::SizeName};

/// Addresses of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeAddresses {
    /// Inside the network.
    pub private: Option<Ipv4Addr>,
    /// On the internet.
    pub public: Option<Ipv4Addr>,
}

/// The nodes of a stack that run, and how they are reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inventory {
    /// The stack.
    pub stack: String,
    /// The administrator's name on the nodes.
    pub user: String,
    /// The private key, where it is known which file has it.
    pub key_file: Option<String>,
    /// How people get in.
    pub way: Way,
    /// Nodes that can be reached, by pool and then by number.
    pub nodes: Vec<InventoryNode>,
    /// Nodes that are live and cannot be reached, each with why.
    pub left_out: Vec<LeftOut>,
}

/// How people get in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Way {
    /// From inside the network, or from what is connected to it.
    Private,
    /// By each node's public address.
    PublicIp,
    /// Through a Bastion host.
    Bastion {
        /// The host.
        host: ArmId,
    },
}

/// A node that can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InventoryNode {
    /// Its name: of the VM, or of the instance of a scale set.
    pub name: String,
    /// What it calls itself.
    pub host_name: String,
    /// Its pool.
    pub pool: String,
    /// Its id.
    pub id: ArmId,
    /// Its address inside the network.
    pub private_ip: Option<Ipv4Addr>,
    /// Its address on the internet.
    pub public_ip: Option<Ipv4Addr>,
    /// Its size.
    pub size: SizeName,
    /// Virtual CPUs of the size, where the catalogue has it.
    pub vcpus: Option<u32>,
    /// Memory of the size in MiB, where the catalogue has it.
    pub memory_mib: Option<u64>,
    /// GPUs that the machine sees, where the catalogue has its size.
    pub gpus: Option<u32>,
}

/// A node that is live and cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: String,
    /// Why.
    pub reason: String,
}
