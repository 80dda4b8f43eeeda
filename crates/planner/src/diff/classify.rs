//! What changing an attribute does: a table per kind, checked against the schemas'
//! `x-ms-mutability` and against what Azure refuses with `PropertyChangeNotAllowed`.

use model::resource::ResourceKind;

/// What changing an attribute does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// In place.
    Update,
    /// In place on the same hardware, with a restart; with a deallocation otherwise.
    Resize,
    /// With a deallocation.
    Stop,
    /// In place where it grows; else refused: what is on it would be lost.
    Grow,
    /// By making it anew.
    Replace,
    /// By making it anew where the spec says so; else reported.
    Bootstrap,
    /// In place on what has run a bootstrap; else nothing.
    Readiness,
    /// Reported; Azure cannot change it and nothing is replaced for it.
    Report,
    /// Refused: it would lose data or break what depends on it.
    Refuse,
    /// Not compared: Azure never says it, or decides it.
    Ignore,
}

type Row = (&'static str, Class);

/// A name that ends in `.*` stands for every attribute below.
fn table(kind: ResourceKind) -> &'static [Row] {
    match kind {
        // Where the metadata of a group is stored does not matter to what is inside.
        ResourceKind::ResourceGroup => &[("location", Class::Ignore)],
        ResourceKind::VirtualNetwork => &[
            ("location", Class::Refuse),
            ("address_space", Class::Refuse),
        ],
        ResourceKind::Subnet => &[
            ("address_prefix", Class::Refuse),
            ("default_outbound_access", Class::Update),
            ("network_security_group", Class::Update),
            ("nat_gateway", Class::Update),
        ],
        ResourceKind::NetworkSecurityGroup => {
            &[("location", Class::Refuse), ("rules.*", Class::Update)]
        }
        ResourceKind::PublicIpAddress => &[
            ("location", Class::Refuse),
            ("sku", Class::Refuse),
            ("allocation", Class::Refuse),
        ],
        ResourceKind::NatGateway => &[
            ("location", Class::Refuse),
            ("public_ips", Class::Update),
            ("idle_timeout_minutes", Class::Update),
        ],
        ResourceKind::BastionHost => BASTION_HOST,
        ResourceKind::SshPublicKey => {
            &[("location", Class::Replace), ("public_key", Class::Update)]
        }
        // A data disk is never made anew: that would lose what is on it.
        ResourceKind::Disk => &[
            ("location", Class::Refuse),
            ("zones", Class::Refuse),
            ("disk_type", Class::Refuse),
            ("size_gb", Class::Grow),
        ],
        ResourceKind::VirtualMachine => VIRTUAL_MACHINE,
        ResourceKind::VirtualMachineScaleSet => SCALE_SET,
        ResourceKind::BatchAccount => &[
            ("location", Class::Refuse),
            ("allocation", Class::Refuse),
            // What somebody has opened or closed by hand stays theirs.
            ("sign_in", Class::Report),
            ("public_access", Class::Report),
        ],
        ResourceKind::BatchPool => BATCH_POOL,
        ResourceKind::KubernetesCluster => CLUSTER,
        ResourceKind::AgentPool => AGENT_POOL,
        ResourceKind::NodeArray => NODE_ARRAY,
        ResourceKind::StorageAccount => STORAGE_ACCOUNT,
        ResourceKind::BlobContainer => &[("public_access", Class::Update)],
        ResourceKind::ManagedIdentity => {
            &[("location", Class::Refuse), ("principal", Class::Ignore)]
        }
        ResourceKind::RoleAssignment => &[("role", Class::Replace), ("principal", Class::Replace)],
        // Nodes would have to leave the group first. Of interfaces there is only what a VM left
        // behind, and no desired one to compare with.
        ResourceKind::ProximityPlacementGroup | ResourceKind::NetworkInterface => {
            &[("location", Class::Refuse)]
        }
        // Terms are accepted or not: there is nothing to change.
        ResourceKind::MarketplaceTerms => &[("plan.*", Class::Ignore), ("accepted", Class::Ignore)],
    }
}

/// Azure raises the tier in place and never lowers it; nothing is lost with a host.
const BASTION_HOST: &[Row] = &[
    ("location", Class::Refuse),
    ("sku", Class::Replace),
    ("subnet", Class::Refuse),
    ("public_ip", Class::Refuse),
    ("tunneling", Class::Update),
];

/// An account is never made anew: that would lose what is in it. What lets others in is put back;
/// more copies than one are the wish of whoever made them.
const STORAGE_ACCOUNT: &[Row] = &[
    ("location", Class::Refuse),
    ("sku", Class::Report),
    ("account_kind", Class::Report),
    ("shared_keys", Class::Update),
    ("public_blobs", Class::Update),
    ("plain_http", Class::Update),
    ("old_tls", Class::Update),
];

const VIRTUAL_MACHINE: &[Row] = &[
    ("location", Class::Replace),
    ("zones", Class::Replace),
    ("size", Class::Resize),
    ("image.*", Class::Replace),
    ("plan.*", Class::Replace),
    ("os", Class::Replace),
    // Azure never tells it.
    ("password.*", Class::Ignore),
    ("priority.kind", Class::Replace),
    ("priority.eviction", Class::Replace),
    ("priority.max_price", Class::Stop),
    ("capacity_reservation", Class::Stop),
    ("proximity_placement_group", Class::Stop),
    ("computer_name", Class::Replace),
    ("admin_user", Class::Replace),
    // Azure keeps the keys of the day the VM was made.
    ("ssh_keys", Class::Report),
    ("os_disk.name", Class::Report),
    ("os_disk.size_gb", Class::Refuse),
    ("os_disk.disk_type", Class::Refuse),
    ("os_disk.delete_with_vm", Class::Update),
    ("os_disk.ephemeral", Class::Replace),
    ("disk_controller", Class::Stop),
    ("data_disks.*", Class::Update),
    // A VM's answer names only the id of its interface.
    ("network.subnet", Class::Ignore),
    ("network.accelerated", Class::Ignore),
    ("network.name", Class::Ignore),
    ("network.delete_with_vm", Class::Report),
    // It comes and goes with the interface, which the VM keeps.
    ("network.public_address", Class::Report),
    ("security.*", Class::Replace),
    ("identities", Class::Update),
    ("reports_readiness", Class::Readiness),
];

/// With upgrades by hand, a changed profile is for new instances; what must be the same on all
/// of them makes the set anew.
const SCALE_SET: &[Row] = &[
    ("location", Class::Replace),
    ("zones", Class::Replace),
    ("size", Class::Replace),
    ("capacity", Class::Update),
    ("orchestration", Class::Replace),
    // It can be left once and never be taken up again.
    ("single_placement_group", Class::Replace),
    ("overprovision", Class::Update),
    ("upgrade_policy", Class::Update),
    ("fault_domains", Class::Replace),
    ("image.version", Class::Update),
    // Azure refuses to change what kind of image a set has.
    ("image.*", Class::Replace),
    ("plan.*", Class::Replace),
    ("os", Class::Replace),
    ("priority.kind", Class::Replace),
    ("priority.eviction", Class::Replace),
    ("priority.max_price", Class::Update),
    // Every instance would have to be stopped and changed by itself.
    ("capacity_reservation", Class::Replace),
    ("proximity_placement_group", Class::Replace),
    ("computer_name_prefix", Class::Replace),
    ("admin_user", Class::Replace),
    // Instances keep the keys of the day they were made.
    ("ssh_keys", Class::Report),
    ("os_disk.ephemeral", Class::Replace),
    ("os_disk.*", Class::Refuse),
    ("disk_controller", Class::Replace),
    ("data_disks.*", Class::Refuse),
    ("network.subnet", Class::Refuse),
    ("network.accelerated", Class::Refuse),
    ("network.public_address", Class::Report),
    ("network.name", Class::Ignore),
    ("security.*", Class::Replace),
    // New instances have it; others where they are rolled.
    ("identities", Class::Update),
    ("reports_readiness", Class::Update),
];

/// Batch changes the number of nodes of a pool, and what decides it; what a node is stays as it
/// was when the pool was made.
const BATCH_POOL: &[Row] = &[
    ("location", Class::Refuse),
    ("size", Class::Replace),
    ("nodes", Class::Update),
    ("autoscale.*", Class::Update),
    // Nodes of one kind would all go for those of the other.
    ("priority.kind", Class::Replace),
    ("priority.*", Class::Ignore),
    ("image.*", Class::Replace),
    ("node_agent", Class::Replace),
    ("inter_node", Class::Replace),
    ("task_slots", Class::Replace),
    ("containers.*", Class::Replace),
    ("os_disk.*", Class::Replace),
    ("data_disks.*", Class::Replace),
    ("network.*", Class::Replace),
    ("security.*", Class::Replace),
    ("identities", Class::Replace),
];

/// A cluster is never made anew: what runs in it would be lost.
const CLUSTER: &[Row] = &[
    ("location", Class::Refuse),
    ("tier", Class::Update),
    ("dns_prefix", Class::Refuse),
    ("node_group", Class::Refuse),
    ("identities", Class::Refuse),
    ("network.*", Class::Refuse),
    ("api_from", Class::Update),
    ("system.count", Class::Update),
    ("system.*", Class::Refuse),
];

/// AKS changes how many nodes there are and what is written on them; what a node is stays.
const AGENT_POOL: &[Row] = &[
    ("location", Class::Refuse),
    ("size", Class::Replace),
    ("nodes", Class::Update),
    ("autoscale_min", Class::Update),
    ("priority.*", Class::Replace),
    ("zones", Class::Replace),
    ("subnet", Class::Refuse),
    ("os_disk_gb", Class::Replace),
    ("os_disk_ephemeral", Class::Replace),
    ("gpu_driver", Class::Replace),
    ("mig", Class::Replace),
    ("labels.*", Class::Update),
    ("taints", Class::Update),
];

/// An array is imported as a whole, and what it says is for nodes that come from then on. Another
/// cluster, scheduler or subnet is not the same one.
const NODE_ARRAY: &[Row] = &[
    ("location", Class::Refuse),
    ("name", Class::Refuse),
    ("cluster", Class::Refuse),
    ("scheduler", Class::Refuse),
    ("subnet", Class::Refuse),
    ("size", Class::Update),
    ("nodes", Class::Update),
    ("image.*", Class::Update),
    ("priority.*", Class::Update),
    ("zones", Class::Update),
    ("coupled", Class::Update),
    ("os_disk.*", Class::Update),
    ("data_disks.*", Class::Update),
    ("security.*", Class::Update),
    ("identities", Class::Update),
    ("public_address", Class::Update),
    ("is_default", Class::Update),
    ("start", Class::Update),
];

/// The tag of what a node has run when it started first.
const BOOTSTRAP_TAG: &str = "tags.tensorform-bootstrap";

/// Whether an attribute is the tag of what a node has run when it started first.
pub(super) fn is_bootstrap(path: &str) -> bool {
    path == BOOTSTRAP_TAG
}

/// The class of an attribute; `None` for one that no table has, which a test excludes.
pub fn class(kind: ResourceKind, path: &str) -> Option<Class> {
    if is_bootstrap(path) && kind == ResourceKind::VirtualMachine {
        return Some(Class::Bootstrap);
    }
    if path.starts_with("tags.") {
        return kind.takes_tags().then_some(Class::Update);
    }
    let matches = |name: &str| match name.strip_suffix('*') {
        Some(beginning) => path.starts_with(beginning),
        None => path == name,
    };
    table(kind)
        .iter()
        .find(|(name, _)| matches(name))
        .map(|(_, class)| *class)
}
