//! Microsoft.Network.

pub(crate) mod address;

pub(crate) mod write;

pub(crate) mod virtual_network;

pub(crate) mod subnet;

pub(crate) mod security_group;

pub(crate) mod public_ip;

pub(crate) mod nat_gateway;

mod nat_rule;

pub(crate) mod load_balancer;

pub(crate) mod bastion;

pub(crate) mod interface;

pub(crate) mod usages;

mod serve;

pub(crate) use self::serve::{answer, referenced, renew, show};
