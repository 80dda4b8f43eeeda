//! Resources: one type for what is desired and for what is live.
//!
//! Values are canonical: the edge (`azure::wire`) settles casing, server defaults and the
//! order of sets, so that two resources are equal exactly when Azure would treat them so.

pub mod kind;

pub mod properties;

pub mod scale_set;

pub mod batch;

pub mod kubernetes;

pub mod cyclecloud;

pub mod storage;

pub mod tags;

pub mod attributes;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::{ids::ArmId, units::SizeName};

pub use self::{
    batch::*, cyclecloud::*, kind::ResourceKind, kubernetes::*, properties::*, scale_set::*,
    storage::*, tags::Tags,
};

/// A value, or the knowledge that only apply can give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known<T> {
    /// Known now.
    Value(T),
    /// Known after apply.
    AfterApply,
}

impl<T> Known<T> {
    /// The value, where it is known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::AfterApply => None,
        }
    }
}

/// The text that stands for a value known only after apply in documents.
pub const AFTER_APPLY: &str = "(known after apply)";

impl<T: Serialize> Serialize for Known<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::AfterApply => serializer.serialize_str(AFTER_APPLY),
        }
    }
}

impl<'de, T: serde::de::DeserializeOwned> serde::Deserialize<'de> for Known<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.as_str() == Some(AFTER_APPLY) {
            return Ok(Self::AfterApply);
        }
        serde_json::from_value(value)
            .map(Self::Value)
            .map_err(serde::de::Error::custom)
    }
}

/// A resource: its tags and the properties of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The tags that count: those the spec sets. Kinds without tags have none.
    pub tags: Tags,
    /// What the kind has.
    pub properties: Properties,
}

impl Resource {
    /// What kind of resource this is.
    pub fn kind(&self) -> ResourceKind {
        self.properties.kind()
    }

    /// The VM that this is.
    pub fn virtual_machine(&self) -> Option<&VirtualMachine> {
        let Properties::VirtualMachine(vm) = &self.properties else {
            return None;
        };
        Some(vm)
    }

    /// The VM that this is, to change it.
    pub fn virtual_machine_mut(&mut self) -> Option<&mut VirtualMachine> {
        let Properties::VirtualMachine(vm) = &mut self.properties else {
            return None;
        };
        Some(vm)
    }

    /// The scale set that this is.
    pub fn scale_set(&self) -> Option<&ScaleSet> {
        let Properties::VirtualMachineScaleSet(set) = &self.properties else {
            return None;
        };
        Some(set)
    }

    /// The scale set that this is, to change it.
    pub fn scale_set_mut(&mut self) -> Option<&mut ScaleSet> {
        let Properties::VirtualMachineScaleSet(set) = &mut self.properties else {
            return None;
        };
        Some(set)
    }

    /// The pool of Batch that this is.
    pub fn batch_pool(&self) -> Option<&BatchPool> {
        let Properties::BatchPool(pool) = &self.properties else {
            return None;
        };
        Some(pool)
    }

    /// The cluster of Kubernetes that this is.
    pub fn kubernetes_cluster(&self) -> Option<&KubernetesCluster> {
        let Properties::KubernetesCluster(cluster) = &self.properties else {
            return None;
        };
        Some(cluster)
    }

    /// The agent pool that this is.
    pub fn agent_pool(&self) -> Option<&AgentPool> {
        let Properties::AgentPool(pool) = &self.properties else {
            return None;
        };
        Some(pool)
    }

    /// The node array that this is.
    pub fn node_array(&self) -> Option<&NodeArray> {
        let Properties::NodeArray(array) = &self.properties else {
            return None;
        };
        Some(array)
    }

    /// The size of its machines and how many of them it has, for what has machines.
    pub fn machines(&self) -> Option<(&SizeName, u32)> {
        let vm = self.virtual_machine().map(|vm| (&vm.size, 1));
        vm.or_else(|| self.scale_set().map(|set| (&set.size, set.capacity)))
            .or_else(|| self.batch_pool().map(|pool| (&pool.size, pool.nodes)))
            .or_else(|| self.agent_pool().map(|pool| (&pool.size, pool.nodes)))
            .or_else(|| self.node_array().map(|array| (&array.size, array.nodes)))
            .or_else(|| {
                let system = &self.kubernetes_cluster()?.system;
                Some((&system.size, system.count))
            })
    }

    /// How the capacity of its machines is bought, for what has machines.
    pub fn priority(&self) -> Option<&VmPriority> {
        let vm = self.virtual_machine().map(|vm| &vm.priority);
        vm.or_else(|| self.scale_set().map(|set| &set.priority))
            .or_else(|| self.batch_pool().map(|pool| &pool.priority))
            .or_else(|| self.agent_pool().map(|pool| &pool.priority))
            .or_else(|| self.node_array().map(|array| &array.priority))
    }

    /// How many public addresses it is or has.
    pub fn public_addresses(&self) -> u32 {
        if self.kind() == ResourceKind::PublicIpAddress {
            return 1;
        }
        let vm = self.virtual_machine();
        let vm = vm.map(|vm| u32::from(vm.network.public_address));
        let set = self.scale_set();
        let set = set.map(|set| {
            if set.network.public_address {
                set.capacity
            } else {
                0
            }
        });
        let array = self.node_array().filter(|array| array.public_address);
        let array = array.map(|array| array.nodes);
        vm.or(set).or(array).unwrap_or(0)
    }

    /// The capacity reservation group that its machines draw from, where they do.
    pub fn capacity_reservation(&self) -> Option<&ArmId> {
        let vm = self.virtual_machine();
        let vm = vm.and_then(|vm| vm.capacity_reservation.as_ref());
        vm.or_else(|| self.scale_set()?.capacity_reservation.as_ref())
    }

    /// The operating system of its machines, for what has machines.
    pub fn system(&self) -> Option<System> {
        let vm = self.virtual_machine().map(|vm| vm.os);
        vm.or_else(|| self.scale_set().map(|set| set.os))
            .or_else(|| self.batch_pool().map(|_| System::Linux))
            .or_else(|| self.agent_pool().map(|_| System::Linux))
            .or_else(|| self.node_array().map(|_| System::Linux))
    }

    /// The public keys of its machines, for what has machines.
    pub fn ssh_keys(&self) -> Option<&Known<BTreeSet<String>>> {
        let vm = self.virtual_machine().map(|vm| &vm.ssh_keys);
        vm.or_else(|| self.scale_set().map(|set| &set.ssh_keys))
    }

    /// The same, to change them.
    pub fn ssh_keys_mut(&mut self) -> Option<&mut Known<BTreeSet<String>>> {
        if self.kind() == ResourceKind::VirtualMachineScaleSet {
            return self.scale_set_mut().map(|set| &mut set.ssh_keys);
        }
        self.virtual_machine_mut().map(|vm| &mut vm.ssh_keys)
    }

    /// The public key that this is.
    pub fn ssh_public_key(&self) -> Option<&SshPublicKey> {
        let Properties::SshPublicKey(key) = &self.properties else {
            return None;
        };
        Some(key)
    }

    /// The form in plan documents: the properties as one object, with `tags` in it.
    pub fn document(&self) -> Value {
        let mut document = self.properties.document();
        if let Some(members) = document.as_object_mut()
            && self.kind().takes_tags()
        {
            members.insert(
                "tags".to_owned(),
                serde_json::to_value(&self.tags).unwrap_or_default(),
            );
        }
        document
    }

    /// Reads the form in plan documents.
    ///
    /// # Errors
    /// What is missing, unknown or of the wrong type.
    pub fn from_document(
        kind: ResourceKind,
        mut document: Value,
    ) -> Result<Self, serde_json::Error> {
        let tags = document
            .as_object_mut()
            .and_then(|members| members.remove("tags"));
        let tags = tags
            .map(serde_json::from_value)
            .transpose()?
            .unwrap_or_default();
        Ok(Self {
            tags,
            properties: Properties::from_document(kind, document)?,
        })
    }
}
