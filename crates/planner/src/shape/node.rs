//! Nodes: the public key that all share, and each node's data disks and VM.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    resource::{
        DataDiskAttachment, Disk, InstanceDataDisk, Known, NetworkInterface, OsDisk,
        PasswordSource, Properties, ProximityPlacementGroup, Resource, ResourceKind, SshPublicKey,
        System, Tags, VirtualMachine, VmPriority,
    },
    spec::{
        DataDisk, DiskType, Identity, OperatingSystem, Pool, Priority, ProximityGroup, Spec,
        SshKeys, Via,
    },
    units::CaseInsensitive,
};
use rust_decimal::Decimal;

use super::{
    Allowed, Context, Desired, allowed, checkpoint, names::Names, network::SubnetOfNodes, tags,
};
use crate::{bootstrap, checkpoint::is_made, select::Selection};

/// What all nodes of a stack share.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) spec: &'a Spec,
    pub(super) names: &'a Names,
    pub(super) tags: &'a Tags,
    pub(super) subnet: &'a SubnetOfNodes,
    pub(super) context: Context<'a>,
}

/// The public key as a resource of Azure, where every later plan reads it.
pub(super) fn ssh_key(names: &Names, tags: &Tags, context: Context<'_>) -> Desired {
    let key = context.ssh_keys.and_then(|keys| keys.first().cloned());
    let properties = SshPublicKey {
        location: context.location.clone(),
        public_key: key.map_or(Known::AfterApply, Known::Value),
    };
    Desired {
        address: Address::ssh_key(),
        id: names.shared(ResourceKind::SshPublicKey, "key"),
        resource: Resource {
            tags: tags.clone(),
            properties: Properties::SshPublicKey(properties),
        },
        needs: vec![Address::resource_group()],
        allowed: Allowed::default(),
    }
}

/// The proximity placement group that the tool makes for a pool, where it is to have one.
pub(super) fn own_group(scope: Scope<'_>, name: &str, pool: &Pool) -> Option<Desired> {
    let is_own =
        pool.count != Some(0) && pool.proximity_placement_group == Some(ProximityGroup::Own);
    let properties = ProximityPlacementGroup {
        location: scope.context.location.clone(),
    };
    is_own.then(|| Desired {
        address: Address::proximity_placement_group(name),
        id: scope.names.proximity_placement_group(name),
        resource: Resource {
            tags: tags::of_pool(scope.tags, pool),
            properties: Properties::ProximityPlacementGroup(properties),
        },
        needs: vec![Address::resource_group()],
        allowed: Allowed::default(),
    })
}

/// The resources of a pool of single VMs.
pub(super) fn pool(
    scope: Scope<'_>,
    name: &str,
    pool: &Pool,
    selection: &Selection,
) -> Vec<Desired> {
    let tags = tags::of_pool(scope.tags, pool);
    let node = Node {
        scope,
        name,
        pool,
        selection,
        tags: &tags,
    };
    selection
        .places
        .keys()
        .flat_map(|index| node.resources(*index))
        .collect()
}

struct Node<'a> {
    scope: Scope<'a>,
    name: &'a str,
    pool: &'a Pool,
    selection: &'a Selection,
    tags: &'a Tags,
}

impl Node<'_> {
    fn resources(&self, index: u32) -> Vec<Desired> {
        let mut resources: Vec<Desired> = self
            .pool
            .disks
            .data
            .iter()
            .map(|disk| self.data_disk(index, *disk))
            .collect();
        let vm = self.vm(index);
        resources.push(vm);
        resources
    }

    fn zones(&self, index: u32) -> Vec<String> {
        self.selection.node(index).zone.into_iter().collect()
    }

    fn data_disk(&self, index: u32, disk: DataDisk) -> Desired {
        let properties = Disk {
            location: self.scope.context.location.clone(),
            zones: self.zones(index),
            disk_type: disk.disk_type,
            size_gb: disk.size_gb,
        };
        Desired {
            address: Address::data_disk(self.name, index, disk.lun),
            id: self.scope.names.data_disk(self.name, index, disk.lun),
            resource: Resource {
                tags: tags::of_disks(self.tags),
                properties: Properties::Disk(properties),
            },
            needs: vec![Address::resource_group()],
            allowed: allowed(self.pool),
        }
    }

    fn vm(&self, index: u32) -> Desired {
        let id = self.scope.names.vm(self.name, index);
        let name = self.scope.names.node(self.name, index);
        let choice = self.selection.node(index);
        let properties = VirtualMachine {
            location: self.scope.context.location.clone(),
            zones: choice.zone.into_iter().collect(),
            size: self.selection.size.clone(),
            image: choice.image,
            plan: choice.plan,
            os: self.os(),
            password: self.password(),
            priority: priority(&self.selection.priority),
            capacity_reservation: self.pool.capacity_reservation.clone(),
            proximity_placement_group: self.scope.proximity_group(self.name, self.pool),
            computer_name: self.scope.names.computer(self.name, index, self.os()),
            admin_user: self.scope.spec.access.user.clone(),
            ssh_keys: if self.os().is_linux() {
                self.scope.ssh_keys()
            } else {
                Known::Value(BTreeSet::new())
            },
            os_disk: OsDisk {
                name: choice.os_disk_name.unwrap_or_else(|| format!("{name}-os")),
                size_gb: choice.os_disk_gb,
                disk_type: choice.os_disk_type,
                delete_with_vm: true,
                ephemeral: choice.ephemeral,
            },
            disk_controller: choice.disk_controller,
            data_disks: self.attachments(index),
            network: NetworkInterface {
                name: format!("{name}-nic"),
                subnet: Some(self.scope.subnet.id.clone()),
                accelerated: Some(self.selection.accelerated_networking),
                delete_with_vm: true,
                public_address: self.scope.spec.access.via == Via::PublicIp,
            },
            security: choice.security,
            identities: self.identities(),
            reports_readiness: bootstrap::of_pool(self.pool).is_some(),
        };
        Desired {
            address: Address::vm(self.name, index),
            id,
            resource: Resource {
                tags: self.tags.clone(),
                properties: Properties::VirtualMachine(Box::new(properties)),
            },
            needs: self.needs(index),
            allowed: allowed(self.pool),
        }
    }

    /// What must be there before the VM of a node.
    fn needs(&self, index: u32) -> Vec<Address> {
        let mut needs = vec![self.scope.subnet.needs.clone()];
        needs.extend(self.os().is_linux().then(Address::ssh_key));
        needs.extend(self.selection.terms.as_ref().map(Address::terms));
        needs.extend(need_of_group(self.name, self.pool));
        needs.extend(writes_checkpoints(self.pool));
        needs.extend(
            self.pool
                .disks
                .data
                .iter()
                .map(|disk| Address::data_disk(self.name, index, disk.lun)),
        );
        needs
    }

    fn attachments(&self, index: u32) -> BTreeMap<u32, DataDiskAttachment> {
        let disks = self.pool.disks.data.iter();
        disks
            .map(|disk| (disk.lun, self.attachment(index, *disk)))
            .collect()
    }

    fn attachment(&self, index: u32, disk: DataDisk) -> DataDiskAttachment {
        DataDiskAttachment {
            disk: self.scope.names.data_disk(self.name, index, disk.lun),
            caching: CaseInsensitive::from(caching(disk)),
            delete_with_vm: false,
        }
    }

    fn identities(&self) -> BTreeSet<ArmId> {
        let mut all = identities(self.scope, self.pool);
        let server = self.pool.server.as_ref();
        all.extend(server.map(|server| server.identity.clone()));
        all
    }

    fn os(&self) -> System {
        match self.pool.os {
            OperatingSystem::Linux => System::Linux,
            OperatingSystem::Windows { .. } => System::Windows,
        }
    }

    fn password(&self) -> Option<PasswordSource> {
        match &self.pool.os {
            OperatingSystem::Linux => None,
            OperatingSystem::Windows { password_from_env } => password_from_env
                .clone()
                .map(|from_env| PasswordSource { from_env }),
        }
    }
}

/// The group of a pool's own, which must be there first.
pub(super) fn need_of_group(name: &str, pool: &Pool) -> Option<Address> {
    let is_own = pool.proximity_placement_group == Some(ProximityGroup::Own);
    is_own.then(|| Address::proximity_placement_group(name))
}

impl Scope<'_> {
    /// The proximity placement group that nodes of a pool are in.
    pub(super) fn proximity_group(&self, name: &str, pool: &Pool) -> Option<ArmId> {
        match pool.proximity_placement_group.as_ref()? {
            ProximityGroup::Own => Some(self.names.proximity_placement_group(name)),
            ProximityGroup::Existing(id) => Some(id.clone()),
        }
    }

    pub(super) fn ssh_keys(&self) -> Known<BTreeSet<String>> {
        match (self.context.ssh_keys, &self.spec.access.ssh_keys) {
            (Some(keys), _) => Known::Value(keys.iter().cloned().collect()),
            (None, SshKeys::Generate | SshKeys::Given(_)) => Known::AfterApply,
        }
    }
}

/// The data disks of each instance of a set, or of each node of a pool of Batch.
pub(super) fn data_disks(pool: &Pool) -> BTreeMap<u32, InstanceDataDisk> {
    let disks = pool.disks.data.iter().map(|disk| {
        let each = InstanceDataDisk {
            size_gb: disk.size_gb,
            disk_type: disk.disk_type,
            caching: CaseInsensitive::from(caching(*disk)),
        };
        (disk.lun, each)
    });
    disks.collect()
}

/// Premium SSD v2 and Ultra have no host cache; training data is read more than written.
pub(super) fn caching(disk: DataDisk) -> &'static str {
    match disk.disk_type {
        DiskType::PremiumV2 | DiskType::Ultra => "None",
        DiskType::Premium | DiskType::StandardSsd | DiskType::StandardHdd
            if disk.size_gb > MAX_CACHED_GB =>
        {
            "None"
        }
        DiskType::Premium | DiskType::StandardSsd | DiskType::StandardHdd => "ReadOnly",
    }
}

/// Azure refuses host caching for disks of 4 TiB and more.
const MAX_CACHED_GB: u32 = 4_095;

pub(super) fn priority(priority: &Priority) -> VmPriority {
    match priority {
        Priority::Regular => VmPriority::Regular,
        Priority::Spot(spot) => VmPriority::Spot {
            eviction: spot.eviction,
            max_price: spot.max_price.unwrap_or(Decimal::NEGATIVE_ONE),
        },
    }
}

/// The identities of every node of a pool: that of the spec, and that which writes checkpoints.
pub(super) fn identities(scope: Scope<'_>, pool: &Pool) -> BTreeSet<ArmId> {
    let mut ids = match &scope.spec.identity {
        Identity::User(id) => BTreeSet::from([id.clone()]),
        Identity::None | Identity::System => BTreeSet::new(),
    };
    if is_made(pool) {
        ids.insert(scope.names.checkpoint_identity());
    }
    ids
}

/// What must be there before nodes of a pool write checkpoints.
pub(super) fn writes_checkpoints(pool: &Pool) -> impl Iterator<Item = Address> + use<> {
    let needs = is_made(pool).then(checkpoint::needs);
    needs.into_iter().flatten()
}
