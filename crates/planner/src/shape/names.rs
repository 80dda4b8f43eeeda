//! Names and ids of a stack's resources.

use model::{
    address::{SUBNET_OF_BASTION, SUBNET_OF_NODES},
    cyclecloud::SERVER_POOL,
    digest,
    ids::ArmId,
    resource::{CHECKPOINTS, PurchasePlan, ResourceKind, SYSTEM_POOL, System},
    spec::Spec,
    units::Region,
};

/// Characters of a host name that Windows takes.
const LONGEST_WINDOWS_NAME: usize = 15;

/// Characters of the name of an account of storage.
const LONGEST_STORAGE_NAME: usize = 24;

/// Characters of the digest in the name of an account of storage. All of Azure shares these names,
/// so that four would often be taken.
const STORAGE_HASH_CHARACTERS: usize = 8;

/// Characters of the name of an account of Batch.
const LONGEST_BATCH_NAME: usize = 24;

/// Characters of the name of an agent pool.
const LONGEST_AGENT_POOL_NAME: usize = 12;

/// Characters of the name of a group in which Azure keeps machines of a cluster.
const LONGEST_GROUP_NAME: usize = 80;

/// Characters of the digest in a shortened name.
const HASH_CHARACTERS: usize = 4;

/// Names of one stack.
#[derive(Clone, Debug)]
pub struct Names {
    stack: String,
    /// The resource group's id.
    pub group: ArmId,
}

impl Names {
    /// Of the stack of `spec` in a subscription.
    pub fn new(spec: &Spec, subscription: &str) -> Self {
        Self {
            stack: spec.name.clone(),
            group: ArmId::resource_group(subscription, &spec.resource_group),
        }
    }

    /// The id of what the stack has one of, such as `<stack>-vnet`.
    pub fn shared(&self, kind: ResourceKind, suffix: &str) -> ArmId {
        self.group
            .in_group(kind.arm_type(), &format!("{}-{suffix}", self.stack))
    }

    /// The id of the subnet of the nodes in the stack's network.
    pub fn subnet(&self) -> ArmId {
        self.subnet_named(SUBNET_OF_NODES)
    }

    /// The id of the subnet of the Bastion host.
    pub fn bastion_subnet(&self) -> ArmId {
        self.subnet_named(SUBNET_OF_BASTION)
    }

    fn subnet_named(&self, name: &str) -> ArmId {
        self.shared(ResourceKind::VirtualNetwork, "vnet")
            .child("subnets", name)
    }

    /// The name of a node, which is its host name too. At most 62 characters: 40 of the
    /// stack, 16 of the pool, 4 digits and two hyphens; Azure allows 64.
    pub fn node(&self, pool: &str, index: u32) -> String {
        format!("{}-{pool}-{index}", self.stack)
    }

    /// The host name of a node. Windows takes 15 characters: what is longer keeps its beginning
    /// and gets four characters of its digest.
    pub fn computer(&self, pool: &str, index: u32, os: System) -> String {
        let name = self.node(pool, index);
        if os == System::Linux || name.len() <= LONGEST_WINDOWS_NAME {
            return name;
        }
        let hash = hash(&name);
        let kept = LONGEST_WINDOWS_NAME - HASH_CHARACTERS - 1;
        let beginning: String = name.chars().take(kept).collect();
        format!("{}-{hash}", beginning.trim_end_matches('-'))
    }

    /// The id of a node's VM.
    pub fn vm(&self, pool: &str, index: u32) -> ArmId {
        self.group.in_group(
            ResourceKind::VirtualMachine.arm_type(),
            &self.node(pool, index),
        )
    }

    /// The name of a pool's scale set, which its instances' host names begin with. At most 57
    /// characters: Azure allows 64, and 58 of a beginning.
    pub fn pool(&self, pool: &str) -> String {
        format!("{}-{pool}", self.stack)
    }

    /// The id of a pool's scale set.
    pub fn scale_set(&self, pool: &str) -> ArmId {
        let kind = ResourceKind::VirtualMachineScaleSet;
        self.group.in_group(kind.arm_type(), &self.pool(pool))
    }

    /// The id of a proximity placement group of a pool's own. At most 61 characters: Azure
    /// allows 80.
    pub fn proximity_placement_group(&self, pool: &str) -> ArmId {
        let kind = ResourceKind::ProximityPlacementGroup;
        self.group
            .in_group(kind.arm_type(), &format!("{}-ppg", self.pool(pool)))
    }

    /// The id of the stack's account of Batch. Names of accounts are unique in their region, of all
    /// subscriptions together, and have letters and digits alone: so that the digest of the group
    /// always stands behind the stack's.
    pub fn batch_account(&self) -> ArmId {
        let letters = self.stack.chars().filter(char::is_ascii_alphanumeric);
        let beginning: String = letters.take(LONGEST_BATCH_NAME - HASH_CHARACTERS).collect();
        let hash = hash(&format!("{}/{}", self.group.key(), self.stack));
        let kind = ResourceKind::BatchAccount;
        self.group.in_group(
            kind.arm_type(),
            &format!("{}{hash}", beginning.to_lowercase()),
        )
    }

    /// The id of a pool of Batch. At most 57 characters: Batch allows 64.
    pub fn batch_pool(&self, pool: &str) -> ArmId {
        self.batch_account().child("pools", &self.pool(pool))
    }

    /// The id of the stack's cluster of Kubernetes. At most 44 characters: Azure allows 63.
    pub fn kubernetes_cluster(&self) -> ArmId {
        self.shared(ResourceKind::KubernetesCluster, "aks")
    }

    /// The group in which Azure keeps the machines of the cluster: the name that it chooses
    /// itself, cut to what a group may have.
    pub fn node_group(&self, location: &Region) -> String {
        let group = self.group.name();
        let name = format!("MC_{group}_{}-aks_{location}", self.stack);
        let short: String = name.chars().take(LONGEST_GROUP_NAME).collect();
        short.trim_end_matches(['.', '-', '_']).to_owned()
    }

    /// The id of an agent pool. Names have at most 12 letters and digits: what is longer, or has
    /// hyphens, keeps its beginning and gets four characters of its digest. The pool that runs the
    /// cluster's own work has a name too, which no other gets.
    pub fn agent_pool(&self, pool: &str) -> ArmId {
        let is_plain = pool.len() <= LONGEST_AGENT_POOL_NAME && !pool.contains('-');
        let name = if is_plain && pool != SYSTEM_POOL {
            pool.to_owned()
        } else {
            let letters = pool.chars().filter(char::is_ascii_alphanumeric);
            let kept = LONGEST_AGENT_POOL_NAME - HASH_CHARACTERS;
            let beginning: String = letters.take(kept).collect();
            format!("{beginning}{}", hash(pool))
        };
        self.kubernetes_cluster().child("agentPools", &name)
    }

    /// The id of a node array: the command by which the server has imported it.
    pub fn node_array(&self, pool: &str) -> ArmId {
        self.vm(SERVER_POOL, 0).child("runCommands", pool)
    }

    /// The id of the account of storage that checkpoints go to. Its name is unique in all of Azure
    /// and has small letters and digits alone: the digest of the group stands behind the stack's.
    pub fn checkpoint_account(&self) -> ArmId {
        let kept = LONGEST_STORAGE_NAME - STORAGE_HASH_CHARACTERS;
        let letters = self.stack.chars().filter(char::is_ascii_alphanumeric);
        let beginning: String = letters.take(kept).collect();
        let hash = digits(&format!("{}/{}", self.group.key(), self.stack));
        let hash: String = hash.chars().take(STORAGE_HASH_CHARACTERS).collect();
        let name = format!("{}{hash}", beginning.to_lowercase());
        self.group
            .in_group(ResourceKind::StorageAccount.arm_type(), &name)
    }

    /// The id of the container that checkpoints go to.
    pub fn checkpoint_container(&self) -> ArmId {
        self.checkpoint_account()
            .child("blobServices", "default")
            .child("containers", CHECKPOINTS)
    }

    /// The id of the identity that writes checkpoints. At most 51 characters: Azure allows 128.
    pub fn checkpoint_identity(&self) -> ArmId {
        self.shared(ResourceKind::ManagedIdentity, "checkpoint")
    }

    /// The id of a node's data disk.
    pub fn data_disk(&self, pool: &str, index: u32, lun: u32) -> ArmId {
        let name = format!("{}-data{lun}", self.node(pool, index));
        self.group.in_group(ResourceKind::Disk.arm_type(), &name)
    }
}

/// The beginning of the digest of a text.
fn hash(text: &str) -> String {
    digits(text).chars().take(HASH_CHARACTERS).collect()
}

/// The digest of a text without its kind.
fn digits(text: &str) -> String {
    let digest = digest::of_text(text);
    digest.rsplit(':').next().unwrap_or_default().to_owned()
}

/// The id of the terms of a purchase plan, which belong to the subscription.
pub fn terms(subscription: &str, plan: &PurchasePlan) -> ArmId {
    let PurchasePlan {
        publisher,
        product,
        name,
    } = plan;
    ArmId::subscription_scope(subscription)
        .child("providers", "Microsoft.MarketplaceOrdering")
        .child("offerTypes", "virtualmachine")
        .child("publishers", publisher.as_str())
        .child("offers", product.as_str())
        .child("plans", name.as_str())
        .child("agreements", "current")
}
