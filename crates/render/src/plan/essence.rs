//! What a resource is, in a few words, and what a step does with it.

use std::collections::BTreeSet;

use model::{
    ids::ArmId,
    plan::{Action, Operation, ReasonCode, Step},
    resource::{
        BLOB_DATA_CONTRIBUTOR, BatchPool, Disk, InstanceDataDisk, InstanceOsDisk, OsDisk,
        Properties, PurchasePlan, Resource, ScaleSet, SecurityRule, StorageAccount, VirtualMachine,
        VmPriority,
    },
    spec::{DiskType, EphemeralPlacement},
};

use super::{kubernetes, node_array};
use crate::{style::Ink, words};

/// The resource in a few words, without its name.
pub(crate) fn of(resource: &Resource) -> String {
    match &resource.properties {
        Properties::ResourceGroup(group) => format!("resource group in {}", group.location),
        Properties::VirtualNetwork(network) => {
            let blocks: Vec<&str> = network.address_space.iter().map(String::as_str).collect();
            format!("virtual network {}", blocks.join(", "))
        }
        Properties::Subnet(subnet) => format!("subnet {}", subnet.address_prefix),
        Properties::NetworkSecurityGroup(group) => match group.rules.len() {
            0 => "network security group without rules of its own".to_owned(),
            rules => format!(
                "network security group, {}",
                words::counted(rules, "rule", "rules")
            ),
        },
        Properties::PublicIpAddress(address) => {
            format!(
                "public IP address, {}, {}",
                address.sku,
                address.allocation.key()
            )
        }
        Properties::NatGateway(gateway) => {
            let addresses = words::counted(gateway.public_ips.len(), "address", "addresses");
            format!("NAT gateway, {addresses}")
        }
        Properties::BastionHost(host) => format!("Bastion host, {}", host.sku),
        Properties::SshPublicKey(_) => "SSH public key".to_owned(),
        Properties::ProximityPlacementGroup(_) => "proximity placement group".to_owned(),
        Properties::NetworkInterface(_) => "network interface".to_owned(),
        Properties::MarketplaceTerms(terms) => {
            let PurchasePlan {
                publisher,
                product,
                name,
            } = &terms.plan;
            format!("acceptance of the terms of {publisher}:{product}:{name}")
        }
        Properties::Disk(disk) => data_disk(disk),
        Properties::VirtualMachine(vm) => match &vm.priority {
            VmPriority::Regular => format!("VM {}", vm.size),
            VmPriority::Spot { .. } => format!("spot VM {}", vm.size),
        },
        Properties::VirtualMachineScaleSet(set) => scale_set(set),
        Properties::BatchAccount(_) => "Batch account".to_owned(),
        Properties::StorageAccount(account) => format!("storage account, {}", account.sku),
        Properties::BlobContainer(_) => "blob container".to_owned(),
        Properties::ManagedIdentity(_) => "user-assigned identity".to_owned(),
        Properties::RoleAssignment(role) => {
            format!("role assignment, {}", role_name(&role.role))
        }
        Properties::BatchPool(pool) => batch_pool(pool),
        Properties::KubernetesCluster(cluster) => kubernetes::cluster(cluster),
        Properties::AgentPool(pool) => kubernetes::agent_pool(pool),
        Properties::NodeArray(array) => node_array::array(array),
    }
}

fn data_disk(disk: &Disk) -> String {
    let Disk {
        location: _,
        zones: _,
        disk_type,
        size_gb,
    } = disk;
    format!(
        "disk, {} GiB {}",
        words::count(*size_gb),
        disk_words(*disk_type)
    )
}

/// What giving a role takes of whoever applies the plan.
const GIVES_ROLES: &str = "needs the permission Microsoft.Authorization/roleAssignments/write";

/// A role by its name, where it is the one that the tool gives.
fn role_name(definition: &ArmId) -> &str {
    match definition.name() {
        BLOB_DATA_CONTRIBUTOR => "Storage Blob Data Contributor",
        other => other,
    }
}

fn who_gets_in(account: &StorageAccount) -> String {
    let keys = if account.shared_keys { "" } else { "no " };
    let public = if account.public_blobs { "" } else { "no " };
    format!("{keys}access by keys, {public}public containers")
}

fn batch_pool(pool: &BatchPool) -> String {
    let spot = match &pool.priority {
        VmPriority::Regular => "",
        VmPriority::Spot { .. } => "spot ",
    };
    let most = if pool.autoscale.is_some() {
        "at most "
    } else {
        ""
    };
    let count = words::count(pool.nodes);
    format!("Batch pool of {most}{count} × {spot}{}", pool.size)
}

fn scale_set(set: &ScaleSet) -> String {
    let spot = match &set.priority {
        VmPriority::Regular => "",
        VmPriority::Spot { .. } => "spot ",
    };
    let count = words::count(set.capacity);
    format!("{spot}scale set of {count} × {}", set.size)
}

/// What else a resource that is made comes with, a line each: the disks of a VM, and the
/// rules of a security group, since who gets in is never hidden in a count.
pub(super) fn parts(resource: &Resource) -> Vec<String> {
    match &resource.properties {
        Properties::VirtualMachine(vm) => vec![disks(vm)],
        Properties::VirtualMachineScaleSet(set) => vec![of_instances(set)],
        Properties::BatchPool(pool) => of_nodes(pool),
        Properties::KubernetesCluster(cluster) => kubernetes::of_cluster(cluster),
        Properties::AgentPool(pool) => kubernetes::of_nodes(pool),
        Properties::NodeArray(array) => node_array::parts(array),
        Properties::NetworkSecurityGroup(group) => group.rules.iter().map(rule).collect(),
        Properties::StorageAccount(account) => vec![who_gets_in(account)],
        Properties::RoleAssignment(_) => vec![GIVES_ROLES.to_owned()],
        Properties::ResourceGroup(_)
        | Properties::VirtualNetwork(_)
        | Properties::Subnet(_)
        | Properties::PublicIpAddress(_)
        | Properties::NatGateway(_)
        | Properties::BastionHost(_)
        | Properties::SshPublicKey(_)
        | Properties::ProximityPlacementGroup(_)
        | Properties::BatchAccount(_)
        | Properties::BlobContainer(_)
        | Properties::ManagedIdentity(_)
        | Properties::NetworkInterface(_)
        | Properties::MarketplaceTerms(_)
        | Properties::Disk(_) => Vec::new(),
    }
}

fn disks(vm: &VirtualMachine) -> String {
    let OsDisk {
        name: _,
        size_gb,
        disk_type,
        delete_with_vm: _,
        ephemeral,
    } = &vm.os_disk;
    let os = os_disk(*size_gb, *disk_type, *ephemeral);
    match vm.data_disks.len() {
        0 => format!("{os}{}", address(vm.network.public_address)),
        data => {
            let data = words::counted(data, "data disk", "data disks");
            format!("{os}, {data}{}", address(vm.network.public_address))
        }
    }
}

fn os_disk(size_gb: u32, disk_type: DiskType, ephemeral: Option<EphemeralPlacement>) -> String {
    let size = words::count(size_gb);
    match ephemeral {
        None => format!("OS disk {size} GiB {}", disk_words(disk_type)),
        Some(placement) => format!("OS disk {size} GiB on the {}", placement.words()),
    }
}

/// Who is on the internet is never hidden.
fn address(has_one: bool) -> &'static str {
    if has_one { ", public address" } else { "" }
}

/// What holds instances together, and what each comes with.
fn of_instances(set: &ScaleSet) -> String {
    let InstanceOsDisk {
        size_gb,
        disk_type,
        ephemeral,
    } = &set.os_disk;
    let together = if set.single_placement_group {
        "one placement group"
    } else {
        set.orchestration.word()
    };
    let os = format!(
        "{together}; each with {}",
        os_disk(*size_gb, *disk_type, *ephemeral)
    );
    let address = address(set.network.public_address);
    format!("{os}{}{address}", data_disks(set.data_disks.values()))
}

fn data_disks<'a>(disks: impl Iterator<Item = &'a InstanceDataDisk>) -> String {
    let words: Vec<String> = disks
        .map(|disk| {
            let size = words::count(disk.size_gb);
            format!(", data disk {size} GiB {}", disk_words(disk.disk_type))
        })
        .collect();
    words.concat()
}

fn quantity(number: u32, one: &str, many: &str) -> String {
    words::counted(usize::try_from(number).unwrap_or(usize::MAX), one, many)
}

/// The nodes of a pool of Batch, and what decides how many there are.
fn of_nodes(pool: &BatchPool) -> Vec<String> {
    let together = if pool.inter_node {
        "nodes reach each other"
    } else {
        "nodes apart"
    };
    let InstanceOsDisk {
        size_gb,
        disk_type,
        ephemeral: _,
    } = &pool.os_disk;
    let size = words::count(*size_gb);
    let mut lines = vec![format!(
        "{together}, {} at once on each; {}; each with OS disk {size} GiB {}{}",
        quantity(pool.task_slots, "task", "tasks"),
        pool.node_agent,
        disk_words(*disk_type),
        data_disks(pool.data_disks.values()),
    )];
    if let Some(containers) = &pool.containers {
        let images = words::counted(containers.images.len(), "image", "images");
        lines.push(format!("containers, {images} pulled by each node"));
    }
    if let Some(autoscale) = &pool.autoscale {
        let minutes = quantity(autoscale.interval_minutes, "minute", "minutes");
        lines.push(format!("number of nodes by a formula, each {minutes}"));
    }
    lines
}

fn rule((name, rule): (&String, &SecurityRule)) -> String {
    let SecurityRule {
        priority,
        direction,
        access,
        protocol,
        sources,
        ports,
    } = rule;
    let all = |items: &BTreeSet<String>| {
        items
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    format!(
        "rule {name}: {} {} {protocol} to port {} from {}, priority {priority}",
        access.key(),
        direction.key(),
        all(ports),
        all(sources),
    )
}

pub(super) fn disk_words(disk_type: DiskType) -> &'static str {
    match disk_type {
        DiskType::Premium => "Premium SSD",
        DiskType::PremiumV2 => "Premium SSD v2",
        DiskType::StandardSsd => "Standard SSD",
        DiskType::StandardHdd => "Standard HDD",
        DiskType::Ultra => "Ultra Disk",
    }
}

/// The zones of a resource.
pub(super) fn zones(resource: &Resource) -> &[String] {
    match &resource.properties {
        Properties::Disk(disk) => &disk.zones,
        Properties::VirtualMachine(vm) => &vm.zones,
        Properties::VirtualMachineScaleSet(set) => &set.zones,
        Properties::AgentPool(pool) => &pool.zones,
        Properties::NodeArray(array) => &array.zones,
        Properties::KubernetesCluster(cluster) => &cluster.system.zones,
        Properties::ResourceGroup(_)
        | Properties::VirtualNetwork(_)
        | Properties::Subnet(_)
        | Properties::NetworkSecurityGroup(_)
        | Properties::PublicIpAddress(_)
        | Properties::NatGateway(_)
        | Properties::BatchAccount(_)
        | Properties::StorageAccount(_)
        | Properties::BlobContainer(_)
        | Properties::ManagedIdentity(_)
        | Properties::RoleAssignment(_)
        | Properties::BatchPool(_)
        | Properties::BastionHost(_)
        | Properties::NetworkInterface(_)
        | Properties::MarketplaceTerms(_)
        | Properties::SshPublicKey(_)
        | Properties::ProximityPlacementGroup(_) => &[],
    }
}

/// What a step does, in a few words.
pub(super) fn phrase(step: &Step) -> String {
    let resource = step.after.as_ref().or(step.before.as_ref());
    let essence = resource.map_or_else(|| step.kind.collection().to_owned(), of);
    let does = |operation: &Operation| step.operations.contains(operation);
    match step.action {
        Action::NoOp => "unchanged".to_owned(),
        Action::Create if does(&Operation::AwaitGone) => {
            format!("create {essence}, once the one being deleted is gone")
        }
        Action::Create => format!("create {essence}"),
        Action::Update if does(&Operation::Release) => {
            format!("release {essence}: the tool's tags go, and nothing else")
        }
        Action::Update => update(step),
        Action::RestartUpdate => "update in place with a restart".to_owned(),
        Action::StopUpdate if does(&Operation::Start) => {
            "deallocate, update, start again".to_owned()
        }
        Action::StopUpdate if step.reason.code == ReasonCode::Asked => calls(&step.operations),
        Action::StopUpdate => "deallocate, update".to_owned(),
        Action::Replace if creates_first(step) => {
            format!("create {essence}, then delete the old one")
        }
        Action::Replace => format!("delete, then create {essence}"),
        Action::Repair => format!("repair: {}", calls(&step.operations)),
        Action::Start => calls(&step.operations),
        Action::Delete => format!("delete {essence}"),
    }
}

/// What an update does: a set is written, and its instances are replaced or brought up to date.
fn update(step: &Step) -> String {
    let replaced = step.operations.iter().find_map(|operation| {
        if let Operation::ReplaceInstances { instances } = operation {
            Some(instances.len())
        } else {
            None
        }
    });
    if let Some(count) = replaced {
        let instances = words::counted(count, "new instance", "new instances");
        let replaces = format!("make {instances}, then delete as many old ones");
        return if step.operations.len() > 1 {
            format!("{}: {replaces}", calls(&step.operations))
        } else {
            replaces
        };
    }
    let rolled = step.operations.iter().find_map(|operation| {
        if let Operation::UpgradeInstances { instances, at_once } = operation {
            Some((instances.len(), *at_once))
        } else {
            None
        }
    });
    let Some((count, at_once)) = rolled else {
        return "update in place".to_owned();
    };
    let instances = words::counted(count, "instance", "instances");
    let rolls = format!("bring {instances} up to date, {at_once} at a time");
    if step.operations.len() > 1 {
        format!("update in place, then {rolls}")
    } else {
        rolls
    }
}

/// Whether a replacement makes the new resource before it deletes the old one.
pub(super) fn creates_first(step: &Step) -> bool {
    let position = |wanted: &Operation| {
        step.operations
            .iter()
            .position(|operation| operation == wanted)
    };
    match (position(&Operation::Create), position(&Operation::Delete)) {
        (Some(create), Some(delete)) => create < delete,
        (_, _) => false,
    }
}

fn calls(operations: &[Operation]) -> String {
    let words: Vec<&str> = operations
        .iter()
        .map(|operation| match operation {
            Operation::Create => "create again",
            Operation::Put => "write again",
            Operation::Patch { .. } => "update",
            Operation::MergeTags { .. } => "set tags",
            Operation::Adopt => "take over",
            Operation::Release => "release",
            Operation::Settle => "wait for the write under way",
            Operation::AwaitGone => "wait until it is gone",
            Operation::DeleteInstances { .. } => "delete instances",
            Operation::ReplaceInstances { .. } => "replace instances, the new ones first",
            Operation::UpgradeInstances { .. } => "bring instances up to date",
            Operation::Deallocate => "deallocate",
            Operation::DeallocateInstances { .. } => "deallocate instances",
            Operation::StartInstances { .. } => "start instances",
            Operation::Start => "start",
            Operation::Reapply => "reapply",
            Operation::Delete => "delete",
        })
        .collect();
    words.join(", ")
}

/// Why, where the action alone does not say it.
pub(crate) fn reason(code: ReasonCode) -> Option<&'static str> {
    match code {
        ReasonCode::Equal
        | ReasonCode::Absent
        | ReasonCode::Differs
        | ReasonCode::Destroy
        | ReasonCode::Asked => None,
        ReasonCode::Released => Some("leaves the stack, and stays"),
        ReasonCode::Adopted => Some("was nobody's, becomes the stack's"),
        ReasonCode::Expired => Some("the stack's lifetime is over"),
        ReasonCode::NotInSpec => Some("not in the spec any more"),
        ReasonCode::FailedWithoutHardware => Some("its creation failed before it got hardware"),
        ReasonCode::FailedRunning => Some("it runs, but its last operation failed"),
        ReasonCode::Bootstrap => Some("it has run another bootstrap"),
        ReasonCode::NotReady => Some("it runs, but its bootstrap failed"),
        ReasonCode::HalfMade => Some("a write to it has not ended"),
        ReasonCode::Evicted => Some("Azure took its spot capacity back"),
        ReasonCode::Deallocated => Some("deallocated, and not by `tensorform stop`"),
    }
}

/// The symbol of a step; a replacement that creates first has its own.
pub(super) fn symbol(step: &Step) -> &'static str {
    if step.action == Action::Replace && creates_first(step) {
        "+/-"
    } else {
        step.action.symbol()
    }
}

/// The ink of an action.
pub(crate) fn ink(action: Action) -> Ink {
    match action {
        Action::NoOp => Ink::Faint,
        Action::Create => Ink::Good,
        Action::Update | Action::RestartUpdate | Action::Repair | Action::Start => Ink::Caution,
        Action::StopUpdate | Action::Replace | Action::Delete => Ink::Bad,
    }
}
