//! The kinds of resources that the tool makes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $arm_type:literal, tags: $tags:literal;)+) => {
        /// A kind of resource.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ResourceKind {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ResourceKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// ARM's name of the type, such as `Microsoft.Compute/disks`.
            pub fn arm_type(self) -> &'static str {
                match self { $(Self::$variant => $arm_type,)+ }
            }

            /// Whether resources of this kind carry tags.
            pub fn takes_tags(self) -> bool {
                match self { $(Self::$variant => $tags,)+ }
            }
        }
    };
}

kinds! {
    /// A resource group.
    ResourceGroup = "Microsoft.Resources/resourceGroups", tags: true;
    /// A virtual network, without its subnets.
    VirtualNetwork = "Microsoft.Network/virtualNetworks", tags: true;
    /// A subnet of a virtual network.
    Subnet = "Microsoft.Network/virtualNetworks/subnets", tags: false;
    /// A network security group with its rules.
    NetworkSecurityGroup = "Microsoft.Network/networkSecurityGroups", tags: true;
    /// A public address.
    PublicIpAddress = "Microsoft.Network/publicIPAddresses", tags: true;
    /// A NAT gateway.
    NatGateway = "Microsoft.Network/natGateways", tags: true;
    /// A Bastion host.
    BastionHost = "Microsoft.Network/bastionHosts", tags: true;
    /// A public key.
    SshPublicKey = "Microsoft.Compute/sshPublicKeys", tags: true;
    /// A proximity placement group.
    ProximityPlacementGroup = "Microsoft.Compute/proximityPlacementGroups", tags: true;
    /// A managed disk of its own.
    Disk = "Microsoft.Compute/disks", tags: true;
    /// A virtual machine with the NIC and the OS disk it brings along.
    VirtualMachine = "Microsoft.Compute/virtualMachines", tags: true;
    /// A virtual machine scale set, with the profile that its instances are made from.
    VirtualMachineScaleSet = "Microsoft.Compute/virtualMachineScaleSets", tags: true;
    /// An account of Batch.
    BatchAccount = "Microsoft.Batch/batchAccounts", tags: true;
    /// A pool of Batch, with the nodes that it has.
    BatchPool = "Microsoft.Batch/batchAccounts/pools", tags: true;
    /// A cluster of Kubernetes, with the pool that runs its own work.
    KubernetesCluster = "Microsoft.ContainerService/managedClusters", tags: true;
    /// A pool of nodes of a cluster of Kubernetes.
    AgentPool = "Microsoft.ContainerService/managedClusters/agentPools", tags: true;
    /// An array of nodes of CycleCloud: the command by which its server has imported it.
    NodeArray = "Microsoft.Compute/virtualMachines/runCommands", tags: true;
    /// A network interface that its VM left behind; those of VMs go along with them.
    NetworkInterface = "Microsoft.Network/networkInterfaces", tags: true;
    /// An account of storage.
    StorageAccount = "Microsoft.Storage/storageAccounts", tags: true;
    /// A container of blobs in an account of storage.
    BlobContainer = "Microsoft.Storage/storageAccounts/blobServices/containers", tags: false;
    /// An identity that machines sign in with.
    ManagedIdentity = "Microsoft.ManagedIdentity/userAssignedIdentities", tags: true;
    /// A role that a principal has on what the assignment stands on.
    RoleAssignment = "Microsoft.Authorization/roleAssignments", tags: false;
    /// The terms of a purchase plan of the marketplace: the subscription's, never the stack's.
    MarketplaceTerms = "Microsoft.MarketplaceOrdering/offerTypes/publishers/offers/plans/agreements", tags: false;
}

impl ResourceKind {
    /// The kind with this ARM type, compared without case.
    pub fn from_arm_type(arm_type: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.arm_type().eq_ignore_ascii_case(arm_type))
    }

    /// The last part of the type, such as `virtualMachines`.
    pub fn collection(self) -> &'static str {
        self.arm_type().rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arm_type())
    }
}

impl FromStr for ResourceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_arm_type(text).ok_or_else(|| format!("unknown resource type `{text}`"))
    }
}

impl Serialize for ResourceKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.arm_type())
    }
}

impl<'de> Deserialize<'de> for ResourceKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}
