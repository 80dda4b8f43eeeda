//! Between our resources and ARM's JSON: pure, one file a resource.
//!
//! Decoding settles what Azure spells in many ways: letter case, server defaults, order, old
//! words, comments of keys. What a resource of ours cannot express is an error, never dropped.
//! Encoding leaves out the tags of the run, which the one who sends adds.

mod fields;

mod bastion_host;
pub(crate) mod batch;
mod disk;
mod group;
mod identity;
pub(crate) mod kubernetes;
mod marketplace_terms;
mod nat_gateway;
mod network_interface;
mod network_security_group;
pub(crate) mod node_array;
mod proximity_placement_group;
mod public_ip_address;
mod scale_set;
mod ssh_public_key;
mod storage;
mod subnet;
mod virtual_machine;
mod virtual_network;

pub(crate) mod readiness;

mod request;

pub(crate) mod member;
pub(crate) mod patch;
pub(crate) mod state;

use model::{
    ids::ArmId,
    resource::{Properties, Resource, ResourceKind, Tags, tags::RUN_TAGS},
    units::CaseInsensitive,
};
use serde_json::{Value, json};

pub(crate) use self::scale_set::{instance_of_set, instance_of_vm, parts_of_instance, set_of_vm};
pub(crate) use self::virtual_machine::{VmDisks, os_disk_id, os_disk_of};

/// Why a body says nothing that a resource of ours can be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// A member that every such resource has is missing.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A member has a value that we cannot express.
    #[error("`{member}` is `{found}`, which this version cannot express")]
    Unsupported {
        /// The member.
        member: String,
        /// Its value.
        found: String,
    },
}

/// Why a resource cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EncodeError {
    /// A value that creation needs is not known.
    #[error("`{0}` is not known")]
    Unknown(&'static str),
    /// A value is none that Azure knows.
    #[error("`{member}` cannot be `{found}`")]
    Invalid {
        /// The attribute.
        member: &'static str,
        /// Its value.
        found: String,
    },
    /// An attribute cannot be changed on an existing resource.
    #[error("`{0}` cannot be changed in place")]
    Unchangeable(String),
}

/// The body of a resource, with its tags.
pub(crate) fn encode(resource: &Resource) -> Result<Value, EncodeError> {
    let mut body = match &resource.properties {
        Properties::ResourceGroup(group) => group::encode(group),
        Properties::VirtualNetwork(network) => virtual_network::encode(network),
        Properties::Subnet(subnet) => subnet::encode(subnet),
        Properties::NetworkSecurityGroup(group) => network_security_group::encode(group),
        Properties::PublicIpAddress(address) => public_ip_address::encode(address),
        Properties::NatGateway(gateway) => nat_gateway::encode(gateway),
        Properties::BastionHost(host) => bastion_host::encode(host),
        Properties::SshPublicKey(key) => ssh_public_key::encode(key)?,
        Properties::ProximityPlacementGroup(group) => proximity_placement_group::encode(group),
        Properties::Disk(disk) => disk::encode(disk),
        Properties::VirtualMachine(machine) => virtual_machine::encode(machine)?,
        Properties::VirtualMachineScaleSet(set) => scale_set::encode(set)?,
        Properties::BatchAccount(account) => batch::encode_account(account),
        Properties::BatchPool(pool) => batch::encode_pool(pool)?,
        Properties::KubernetesCluster(cluster) => kubernetes::encode_cluster(cluster),
        Properties::AgentPool(pool) => kubernetes::encode_pool(pool)?,
        Properties::NodeArray(array) => node_array::encode(array)?,
        Properties::NetworkInterface(interface) => network_interface::encode(interface),
        Properties::StorageAccount(account) => storage::encode_account(account),
        Properties::BlobContainer(container) => storage::encode_container(container),
        Properties::ManagedIdentity(identity) => storage::encode_identity(identity),
        Properties::RoleAssignment(role) => storage::encode_role(role)?,
        Properties::MarketplaceTerms(terms) => marketplace_terms::encode(terms),
    };
    if resource.kind().takes_tags() {
        set_tags(&mut body, &resource.tags);
    }
    Ok(body)
}

/// Reads a resource from a body.
pub(crate) fn decode(kind: ResourceKind, body: &Value) -> Result<Resource, DecodeError> {
    decode_with(kind, body, &VmDisks::default())
}

/// The same, with disks that tell what a deallocated VM leaves out.
pub(crate) fn decode_with(
    kind: ResourceKind,
    body: &Value,
    disks: &VmDisks,
) -> Result<Resource, DecodeError> {
    let properties = match kind {
        ResourceKind::ResourceGroup => Properties::ResourceGroup(group::decode(body)?),
        ResourceKind::VirtualNetwork => Properties::VirtualNetwork(virtual_network::decode(body)?),
        ResourceKind::Subnet => Properties::Subnet(subnet::decode(body)?),
        ResourceKind::NetworkSecurityGroup => {
            Properties::NetworkSecurityGroup(network_security_group::decode(body)?)
        }
        ResourceKind::PublicIpAddress => {
            Properties::PublicIpAddress(public_ip_address::decode(body)?)
        }
        ResourceKind::NatGateway => Properties::NatGateway(nat_gateway::decode(body)?),
        ResourceKind::BastionHost => Properties::BastionHost(bastion_host::decode(body)?),
        ResourceKind::SshPublicKey => Properties::SshPublicKey(ssh_public_key::decode(body)?),
        ResourceKind::ProximityPlacementGroup => {
            Properties::ProximityPlacementGroup(proximity_placement_group::decode(body)?)
        }
        ResourceKind::Disk => Properties::Disk(disk::decode(body)?),
        ResourceKind::VirtualMachine => {
            Properties::VirtualMachine(Box::new(virtual_machine::decode(body, disks)?))
        }
        ResourceKind::VirtualMachineScaleSet => {
            Properties::VirtualMachineScaleSet(Box::new(scale_set::decode(body)?))
        }
        ResourceKind::BatchAccount => Properties::BatchAccount(batch::decode_account(body)?),
        ResourceKind::BatchPool => Properties::BatchPool(Box::new(batch::decode_pool(body)?)),
        ResourceKind::KubernetesCluster => {
            Properties::KubernetesCluster(Box::new(kubernetes::decode_cluster(body)?))
        }
        ResourceKind::AgentPool => Properties::AgentPool(Box::new(kubernetes::decode_pool(body)?)),
        ResourceKind::NodeArray => Properties::NodeArray(Box::new(node_array::decode(body)?)),
        ResourceKind::NetworkInterface => {
            Properties::NetworkInterface(network_interface::decode(body)?)
        }
        ResourceKind::StorageAccount => Properties::StorageAccount(storage::decode_account(body)?),
        ResourceKind::BlobContainer => Properties::BlobContainer(storage::decode_container(body)?),
        ResourceKind::ManagedIdentity => {
            Properties::ManagedIdentity(storage::decode_identity(body)?)
        }
        ResourceKind::RoleAssignment => Properties::RoleAssignment(storage::decode_role(body)?),
        ResourceKind::MarketplaceTerms => {
            Properties::MarketplaceTerms(marketplace_terms::decode(body)?)
        }
    };
    let mut tags = tags_of(body);
    if !kind.takes_tags() {
        tags = Tags::default();
    }
    tags.retain(|name, _| !is_run_tag(name.as_str()));
    Ok(Resource { tags, properties })
}

/// Whether a tag is written by the run and no property of the resource.
pub(crate) fn is_run_tag(name: &str) -> bool {
    RUN_TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name))
}

/// All tags in a body.
pub(crate) fn tags_of(body: &Value) -> Tags {
    let members = body.pointer(tags_place(body)).and_then(Value::as_object);
    members
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| {
            let value = value.as_str()?.to_owned();
            Some((CaseInsensitive::new(name.as_str()), value))
        })
        .collect()
}

/// The interfaces of a VM.
pub(crate) fn interfaces_of(body: &Value) -> impl Iterator<Item = ArmId> + use<'_> {
    let interfaces = body.pointer("/properties/networkProfile/networkInterfaces");
    let interfaces = interfaces.and_then(Value::as_array).into_iter().flatten();
    interfaces.filter_map(|interface| interface.get("id")?.as_str()?.parse().ok())
}

/// Puts tags into a body, beside those that are there.
pub(crate) fn set_tags(body: &mut Value, tags: &Tags) {
    let mut all = tags_of(body);
    for (name, value) in tags.iter() {
        all.set(name.as_str(), value);
    }
    let members: serde_json::Map<String, Value> = all
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), json!(value)))
        .collect();
    let holder = if kubernetes::is_agent_pool(body) {
        body.get_mut("properties")
    } else {
        Some(body)
    };
    if let Some(holder) = holder.and_then(Value::as_object_mut) {
        holder.insert("tags".to_owned(), Value::Object(members));
    }
}

/// Where the tags of a body stand: agent pools keep theirs among their properties.
fn tags_place(body: &Value) -> &'static str {
    if kubernetes::is_agent_pool(body) {
        "/properties/tags"
    } else {
        "/tags"
    }
}

#[cfg(test)]
mod tests;
