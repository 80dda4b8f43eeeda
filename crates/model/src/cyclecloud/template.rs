//! The template of a cluster: a node array for each pool, and one node that runs the scheduler.
//! It stands alone: what it does not say, it asks for as a parameter.

use crate::{
    cyclecloud::{Cluster, NodeArray},
    resource::{InstanceOsDisk, Security},
    spec::{DataDisk, DiskType, Scheduler},
};

use super::{ini::Ini, schedulers};

/// Instances that one placement group has at most, which is what InfiniBand connects.
const MOST_IN_GROUP: u32 = 100;

/// The parts of a template, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sections {
    /// The cluster, what all its nodes have, and the node that runs the scheduler.
    pub head: String,
    /// Each node array by its name.
    pub arrays: Vec<(String, String)>,
    /// What the template asks for.
    pub tail: String,
}

/// As a cluster template of CycleCloud, for `cyclecloud import_cluster`.
pub fn template(cluster: &Cluster) -> String {
    let mut ini = Ini::default();
    head(&mut ini, cluster);
    let Sections { head, arrays, tail } = sections(cluster);
    let mut text = ini.end() + &head;
    for (_, array) in arrays {
        text.push_str(&array);
    }
    text + &tail
}

/// The same in parts, without what is said to people at its top.
pub fn sections(cluster: &Cluster) -> Sections {
    let arrays = cluster.arrays.iter().map(|array| {
        let mut ini = Ini::default();
        node_array(&mut ini, cluster, array);
        (array.name.clone(), ini.end())
    });
    let mut head = Ini::default();
    cluster_object(&mut head, cluster);
    let mut tail = Ini::default();
    parameters(&mut tail, cluster);
    Sections {
        head: head.end(),
        arrays: arrays.collect(),
        tail: tail.end(),
    }
}

fn cluster_object(ini: &mut Ini, cluster: &Cluster) {
    ini.object(&format!("cluster {}", cluster.name));
    ini.set("FormLayout", "selectionpanel");
    ini.set("Category", "Tensorform");
    ini.set("Autoscale", true);
    defaults(ini, cluster);
    schedulers::scheduler_node(ini, cluster.scheduler);
}

fn head(ini: &mut Ini, cluster: &Cluster) {
    let name = &cluster.name;
    ini.comment(&format!(
        "{name}: a cluster of {} for Azure CycleCloud",
        schedulers::title(cluster.scheduler)
    ));
    ini.comment(&format!(
        "cyclecloud import_cluster {name} -c {name} -f {name}.txt -p parameters.json"
    ));
    ini.comment(
        "Nodes are made when jobs wait and deleted when none do; MaxCount is what the spec gives.",
    );
    for note in &cluster.notes {
        ini.comment(&format!("{}: {}", note.pool, note.text));
    }
}

fn defaults(ini: &mut Ini, cluster: &Cluster) {
    ini.part("node defaults");
    ini.set("Credentials", "$Credentials");
    ini.set("Region", &cluster.location);
    ini.set("SubnetId", subnet(cluster));
    ini.set("KeyPairLocation", "~/.ssh/cyclecloud.pem");
    ini.set("UsePublicNetwork", false);
    ini.set("ShutdownPolicy", "terminate");
    // A node that goes is told so, and a spot node before its eviction.
    ini.set("EnableTerminateNotification", true);
    ini.set("TerminateNotificationTimeout", "10m");
    schedulers::defaults(ini, cluster.scheduler);
}

/// The subnet as CycleCloud writes it, or the parameter that asks for it.
fn subnet(cluster: &Cluster) -> String {
    let known = cluster.subnet.as_ref().and_then(|subnet| {
        let network = subnet.parent()?;
        let (group, network) = (subnet.group()?, network.name().to_owned());
        Some(format!("{group}/{network}/{}", subnet.name()))
    });
    known.unwrap_or_else(|| "$SubnetId".to_owned())
}

fn node_array(ini: &mut Ini, cluster: &Cluster, array: &NodeArray) {
    let NodeArray {
        name,
        size,
        image,
        most,
        vcpus: _,
        memory_mib: _,
        gpus: _,
        coupled,
        spot,
        zones,
        os_disk,
        data_disks,
        security,
        identities,
        public_address,
        is_default: _,
    } = array;
    ini.part(&format!("nodearray {name}"));
    ini.set("MachineType", size);
    ini.set("ImageName", image);
    ini.set("MaxCount", most);
    if *coupled {
        ini.set("Azure.MaxScalesetSize", MOST_IN_GROUP);
    }
    if let Some(limit) = spot {
        ini.set("Interruptible", true);
        if let Some(price) = limit.max_price {
            ini.set("MaxPrice", price);
        }
    }
    if !zones.is_empty() {
        ini.set("Zone", zones.join(","));
    }
    if os_disk.ephemeral.is_some() {
        ini.set("EphemeralOSDisk", true);
    }
    if !identities.is_empty() {
        let ids: Vec<String> = identities.iter().map(ToString::to_string).collect();
        ini.set("Azure.Identities", ids.join(","));
    }
    secure(ini, security);
    schedulers::array(ini, cluster, array);
    ini.detail("network-interface eth0");
    ini.set("AssociatePublicIpAddress", public_address);
    disks(ini, os_disk, data_disks);
}

/// The disks of each node.
fn disks(ini: &mut Ini, os_disk: &InstanceOsDisk, data_disks: &[DataDisk]) {
    ini.detail("volume boot");
    ini.set("Size", os_disk.size_gb);
    if os_disk.ephemeral.is_none() {
        ini.set("StorageAccountType", storage(os_disk.disk_type));
    }
    for DataDisk {
        size_gb,
        disk_type,
        lun,
    } in data_disks
    {
        ini.detail(&format!("volume data{lun}"));
        ini.set("Size", size_gb);
        ini.set("StorageAccountType", storage(*disk_type));
        ini.set("Azure.Lun", lun);
    }
}

fn secure(ini: &mut Ini, security: &Security) {
    let Security::TrustedLaunch { secure_boot, vtpm } = security else {
        return;
    };
    ini.set("SecurityType", "TrustedLaunch");
    ini.set("EnableSecureBoot", secure_boot);
    ini.set("EnableVTPM", vtpm);
}

fn storage(disk: DiskType) -> &'static str {
    match disk {
        DiskType::Premium => "Premium_LRS",
        DiskType::PremiumV2 => "PremiumV2_LRS",
        DiskType::StandardSsd => "StandardSSD_LRS",
        DiskType::StandardHdd => "Standard_LRS",
        DiskType::Ultra => "UltraSSD_LRS",
    }
}

fn parameters(ini: &mut Ini, cluster: &Cluster) {
    ini.object("parameters Required Settings");
    ini.set("Order", 10);
    ini.part("parameters Azure");
    ini.set("Order", 10);
    parameter(ini, "Credentials", "Cloud.Credentials", None);
    if subnet(cluster).starts_with('$') {
        parameter(ini, "SubnetId", "Azure.Subnet", None);
        ini.set("Required", true);
    }
    ini.part("parameters Scheduler");
    ini.set("Order", 20);
    let size = Some(schedulers::SCHEDULER_SIZE);
    parameter(ini, "SchedulerMachineType", "Cloud.MachineType", size);
    let image = Some(schedulers::image(cluster.scheduler));
    parameter(ini, "SchedulerImageName", "Cloud.Image", image);
    ini.set("Config.OS", "linux");
    parameter(ini, "ReturnProxy", "Boolean", Some("true"));
    if cluster.scheduler != Scheduler::GridEngine {
        parameter(
            ini,
            "SharedSize",
            "Integer",
            Some(&schedulers::SHARED_GB.to_string()),
        );
    }
}

fn parameter(ini: &mut Ini, name: &str, kind: &str, default: Option<&str>) {
    ini.detail(&format!("parameter {name}"));
    ini.set("ParameterType", kind);
    if let Some(default) = default {
        ini.set("DefaultValue", default);
    }
}
