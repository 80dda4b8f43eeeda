//! The types of a valid spec. Defaults are filled in; whatever the user left open is `Auto`.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{cyclecloud::Server, kubernetes::Cluster, parts::Cidr, pool::Pool};
use crate::{
    ids::ArmId,
    units::{CaseInsensitive, Region, Span},
};

/// A whole spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The stack's name; prefix of all resource names.
    pub name: String,
    /// Regions in order of preference; never empty.
    pub locations: Vec<Region>,
    /// The resource group, given or `rg-<name>`.
    pub resource_group: String,
    /// The subscription's id, where the spec names one.
    pub subscription: Option<String>,
    /// Tags for every resource, values exactly as written.
    pub tags: BTreeMap<CaseInsensitive, String>,
    /// Tag names, with `*` as the end of a prefix, that the tool neither sets nor reports.
    pub ignore_tags: Vec<String>,
    /// What the stack may cost.
    pub budget: Option<Budget>,
    /// How long the pools live.
    pub lifetime: Option<Span>,
    /// The network of all pools.
    pub network: Network,
    /// How people get in.
    pub access: Access,
    /// The managed identity of the nodes.
    pub identity: Identity,
    /// The cluster of pools of Azure Kubernetes Service.
    pub aks: Option<Cluster>,
    /// The server of pools of Azure CycleCloud.
    pub cyclecloud: Option<Server>,
    /// The pools, by name; never empty.
    pub pools: BTreeMap<String, Pool>,
}

/// What a stack may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Most per hour.
    pub hourly: Option<Decimal>,
    /// Most per month of 730 hours.
    pub monthly: Option<Decimal>,
    /// The currency of both, an ISO 4217 code.
    pub currency: String,
    /// Whether more is an error or a warning.
    pub on_exceed: OnExceed,
}

/// What happens when a budget is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExceed {
    /// The plan is refused.
    Error,
    /// The plan says so.
    Warn,
}

/// The network of all pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// A virtual network of the stack's own.
    Own {
        /// IPv4 block in CIDR form.
        address_space: Cidr,
        /// How nodes reach the internet.
        outbound: Outbound,
    },
    /// A subnet that exists already.
    Existing {
        /// Its id.
        subnet: ArmId,
    },
}

/// How nodes reach the internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outbound {
    /// Through a NAT gateway with a Standard public address.
    Nat,
    /// Not at all.
    None,
    /// Through what the existing network has.
    Existing,
}

/// How people get in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The administrator's name on the nodes.
    pub user: String,
    /// Where the public keys come from.
    pub ssh_keys: SshKeys,
    /// The way in.
    pub via: Via,
    /// Blocks in CIDR form from which SSH is allowed.
    pub ssh_from: Vec<Cidr>,
    /// The tier of the Bastion host, where there is one.
    pub bastion_sku: BastionSku,
}

/// The length of the prefix of a Bastion host's subnet: the smallest that Azure takes.
pub const BASTION_PREFIX: u8 = 26;

/// A tier of Azure Bastion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BastionSku {
    /// In the browser only.
    Basic,
    /// Clients of one's own too.
    Standard,
}

/// Where the public keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SshKeys {
    /// A pair made by the tool.
    Generate,
    /// Files or literal keys, as written.
    Given(Vec<String>),
}

/// The way in to the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// None is made.
    None,
    /// Azure Bastion.
    Bastion,
    /// A public address on each node.
    PublicIp,
    /// What the existing network has.
    Existing,
}

/// The managed identity of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// None.
    None,
    /// The system's.
    System,
    /// An existing one.
    User(ArmId),
}
