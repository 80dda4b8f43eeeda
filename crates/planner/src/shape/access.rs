//! Ways in to the nodes: a Bastion host in the stack's network, and the rules for those who come
//! to the nodes' own addresses. Nothing is made that the spec does not ask for.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    resource::{BastionHost, Properties, ResourceKind, SecurityRule, Subnet},
    spec::{BastionSku, Cidr, OperatingSystem, Spec, Via},
    units::CaseInsensitive,
};

use super::{Desired, network::Own};

/// The smallest number that Azure lets a rule have; what is made by hand comes after.
const FIRST_PRIORITY: u32 = 100;

/// What people connect with, by the system of the nodes.
const DOORS: [(&str, &str, bool); 2] = [("ssh", "22", false), ("rdp", "3389", true)];

/// The rules that let people in to the nodes' public addresses; none where there are none.
pub(super) fn rules(spec: &Spec) -> BTreeMap<String, SecurityRule> {
    if spec.access.via != Via::PublicIp {
        return BTreeMap::new();
    }
    let sources: BTreeSet<String> = spec.access.ssh_from.iter().map(Cidr::to_string).collect();
    let has = |windows: bool| {
        let mut pools = spec.pools.values();
        pools.any(|pool| matches!(pool.os, OperatingSystem::Windows { .. }) == windows)
    };
    let doors = DOORS.iter().filter(|(_, _, windows)| has(*windows));
    doors
        .zip(FIRST_PRIORITY..)
        .map(|((name, port, _), priority)| {
            let rule = SecurityRule {
                priority,
                direction: CaseInsensitive::from("Inbound"),
                access: CaseInsensitive::from("Allow"),
                protocol: CaseInsensitive::from("Tcp"),
                sources: sources.clone(),
                ports: BTreeSet::from([(*port).to_owned()]),
            };
            ((*name).to_owned(), rule)
        })
        .collect()
}

/// A Bastion host with its subnet and its public address.
pub(super) fn bastion(own: &Own<'_>, block: Cidr, sku: BastionSku) -> [Desired; 3] {
    let subnet = Subnet {
        address_prefix: block.to_string(),
        // The service sees to its own ways: Azure does not let its subnet be a private one.
        default_outbound_access: true,
        network_security_group: None,
        nat_gateway: None,
    };
    let subnet_id = own.names.bastion_subnet();
    let subnet = own.desired(
        "bastion_subnet",
        subnet_id.clone(),
        Properties::Subnet(subnet),
        &["vnet"],
    );
    let address = own.address("bastion_ip", "bastion-ip");
    let (word, tunneling) = match sku {
        BastionSku::Basic => ("Basic", false),
        BastionSku::Standard => ("Standard", true),
    };
    let host = BastionHost {
        location: own.location.clone(),
        sku: CaseInsensitive::from(word),
        subnet: subnet_id,
        public_ip: address.id.clone(),
        tunneling,
    };
    let id = own.names.shared(ResourceKind::BastionHost, "bastion");
    let mut host = own.desired(
        "bastion",
        id,
        Properties::BastionHost(host),
        &["bastion_subnet", "bastion_ip"],
    );
    // It may be made anew: nobody's work is on it.
    host.allowed.stop = true;
    [subnet, address, host]
}
