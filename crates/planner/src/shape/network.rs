//! The stack's network: a virtual network with one private subnet for the nodes, its security
//! group, and a NAT gateway where nodes are to reach the internet.
//!
//! Nodes get the lower half of the block; the upper half stays free for what needs a subnet of
//! its own (Bastion, AKS, Lustre), because a subnet in use cannot be made smaller.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    resource::{
        NatGateway, NetworkSecurityGroup, Properties, PublicIpAddress, Resource, ResourceKind,
        Subnet, Tags, VirtualNetwork,
    },
    spec::{Network, Outbound, Spec},
    units::{CaseInsensitive, Region},
};

use super::{Allowed, Desired, names::Names};

/// Minutes after which the NAT gateway drops an idle flow: Azure's own default and smallest value.
const IDLE_TIMEOUT_MINUTES: u32 = 4;

/// The network's resources, and the subnet of the nodes.
pub(super) struct Shaped {
    pub(super) resources: Vec<Desired>,
    pub(super) subnet: SubnetOfNodes,
}

/// Where nodes have their interface.
pub(super) struct SubnetOfNodes {
    pub(super) id: ArmId,
    pub(super) needs: Option<Address>,
}

pub(super) fn shape(spec: &Spec, names: &Names, tags: &Tags, location: &Region) -> Shaped {
    match &spec.network {
        Network::Existing { subnet } => Shaped {
            resources: Vec::new(),
            subnet: SubnetOfNodes {
                id: subnet.clone(),
                needs: None,
            },
        },
        Network::Own {
            address_space,
            outbound,
        } => {
            let own = Own {
                names,
                tags,
                location,
                nat: *outbound == Outbound::Nat,
            };
            let mut resources = vec![
                own.virtual_network(&address_space.to_string()),
                own.security_group(),
            ];
            if own.nat {
                resources.extend([own.nat_address(), own.nat_gateway()]);
            }
            resources.push(own.subnet(address_space.lower_half().to_string()));
            let subnet = SubnetOfNodes {
                id: names.subnet(),
                needs: Some(Address::network("subnet")),
            };
            Shaped { resources, subnet }
        }
    }
}

struct Own<'a> {
    names: &'a Names,
    tags: &'a Tags,
    location: &'a Region,
    nat: bool,
}

impl Own<'_> {
    fn desired(&self, part: &str, id: ArmId, properties: Properties, needs: &[&str]) -> Desired {
        let takes_tags = properties.kind().takes_tags();
        let needs: Vec<Address> = needs.iter().map(|part| Address::network(part)).collect();
        Desired {
            address: Address::network(part),
            id,
            resource: Resource {
                tags: if takes_tags {
                    self.tags.clone()
                } else {
                    Tags::default()
                },
                properties,
            },
            needs: if needs.is_empty() {
                vec![Address::resource_group()]
            } else {
                needs
            },
            allowed: Allowed::default(),
        }
    }

    fn virtual_network(&self, block: &str) -> Desired {
        let properties = VirtualNetwork {
            location: self.location.clone(),
            address_space: BTreeSet::from([block.to_owned()]),
        };
        let id = self.names.shared(ResourceKind::VirtualNetwork, "vnet");
        self.desired("vnet", id, Properties::VirtualNetwork(properties), &[])
    }

    /// Azure's default rules stay alone: traffic inside the network and out, nothing in.
    fn security_group(&self) -> Desired {
        let properties = NetworkSecurityGroup {
            location: self.location.clone(),
            rules: BTreeMap::new(),
        };
        let id = self.names.shared(ResourceKind::NetworkSecurityGroup, "nsg");
        self.desired("nsg", id, Properties::NetworkSecurityGroup(properties), &[])
    }

    fn nat_address(&self) -> Desired {
        let properties = PublicIpAddress {
            location: self.location.clone(),
            sku: CaseInsensitive::from("Standard"),
            allocation: CaseInsensitive::from("Static"),
        };
        let id = self.names.shared(ResourceKind::PublicIpAddress, "nat-ip");
        self.desired("nat_ip", id, Properties::PublicIpAddress(properties), &[])
    }

    fn nat_gateway(&self) -> Desired {
        let properties = NatGateway {
            location: self.location.clone(),
            public_ips: BTreeSet::from([self
                .names
                .shared(ResourceKind::PublicIpAddress, "nat-ip")]),
            idle_timeout_minutes: IDLE_TIMEOUT_MINUTES,
        };
        let id = self.names.shared(ResourceKind::NatGateway, "nat");
        self.desired("nat", id, Properties::NatGateway(properties), &["nat_ip"])
    }

    fn subnet(&self, prefix: String) -> Desired {
        let properties = Subnet {
            address_prefix: prefix,
            default_outbound_access: false,
            network_security_group: Some(
                self.names.shared(ResourceKind::NetworkSecurityGroup, "nsg"),
            ),
            nat_gateway: self
                .nat
                .then(|| self.names.shared(ResourceKind::NatGateway, "nat")),
        };
        let needs: &[&str] = if self.nat {
            &["vnet", "nsg", "nat"]
        } else {
            &["vnet", "nsg"]
        };
        self.desired(
            "subnet",
            self.names.subnet(),
            Properties::Subnet(properties),
            needs,
        )
    }
}
