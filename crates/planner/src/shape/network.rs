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
        SecurityRule, Subnet, Tags, VirtualNetwork,
    },
    spec::{BASTION_PREFIX, Network, Outbound, Spec, Via},
    units::{CaseInsensitive, Region},
};

use super::{Allowed, Desired, access, names::Names};

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
    /// What must be there before nodes.
    pub(super) needs: Address,
}

pub(super) fn shape(spec: &Spec, names: &Names, tags: &Tags, location: &Region) -> Shaped {
    match &spec.network {
        Network::Existing { subnet } => Shaped {
            resources: Vec::new(),
            subnet: SubnetOfNodes {
                id: subnet.clone(),
                needs: Address::resource_group(),
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
                rules: access::rules(spec),
            };
            let mut resources = vec![
                own.virtual_network(&address_space.to_string()),
                own.security_group(),
            ];
            if own.nat {
                resources.extend([own.address("nat_ip", "nat-ip"), own.nat_gateway()]);
            }
            resources.push(own.subnet(address_space.lower_half().to_string()));
            if spec.access.via == Via::Bastion
                && let Some(block) = address_space.last_block(BASTION_PREFIX)
            {
                resources.extend(access::bastion(&own, block, spec.access.bastion_sku));
            }
            let subnet = SubnetOfNodes {
                id: names.subnet(),
                needs: Address::network("subnet"),
            };
            Shaped { resources, subnet }
        }
    }
}

/// What the parts of a network of the stack's own share.
pub(super) struct Own<'a> {
    pub(super) names: &'a Names,
    tags: &'a Tags,
    pub(super) location: &'a Region,
    nat: bool,
    rules: BTreeMap<String, SecurityRule>,
}

impl Own<'_> {
    pub(super) fn desired(
        &self,
        part: &str,
        id: ArmId,
        properties: Properties,
        needs: &[&str],
    ) -> Desired {
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

    /// Without rules of its own Azure's default ones stay alone: traffic inside the network and
    /// out, nothing in.
    fn security_group(&self) -> Desired {
        let properties = NetworkSecurityGroup {
            location: self.location.clone(),
            rules: self.rules.clone(),
        };
        let id = self.names.shared(ResourceKind::NetworkSecurityGroup, "nsg");
        self.desired("nsg", id, Properties::NetworkSecurityGroup(properties), &[])
    }

    /// A public address: Standard ones are static.
    pub(super) fn address(&self, part: &str, suffix: &str) -> Desired {
        let properties = PublicIpAddress {
            location: self.location.clone(),
            sku: CaseInsensitive::from("Standard"),
            allocation: CaseInsensitive::from("Static"),
        };
        let id = self.names.shared(ResourceKind::PublicIpAddress, suffix);
        self.desired(part, id, Properties::PublicIpAddress(properties), &[])
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
