//! What a template says for each scheduler: the projects of CycleCloud that install it, their
//! roles and settings, and the file systems that the scheduler's node shares.

use crate::{
    cyclecloud::{Cluster, NodeArray},
    spec::Scheduler,
};

use super::ini::Ini;

/// The size of the scheduler's node, where nobody gives another.
pub const SCHEDULER_SIZE: &str = "Standard_D4ads_v5";

/// Gibibytes of its OS disk, a Premium SSD.
pub const SCHEDULER_OS_DISK_GB: u32 = 64;

/// Gibibytes of the disk with what the scheduler keeps.
const SCHED_GB: u32 = 128;

/// Gibibytes of the disk with what jobs share, where nobody gives another number.
pub(super) const SHARED_GB: u32 = 1_024;

/// Gibibytes of the disks that the scheduler's node shares with the others: Premium SSDs.
pub fn shared_disks_gb(scheduler: Scheduler) -> &'static [u32] {
    match scheduler {
        Scheduler::GridEngine => &[],
        Scheduler::Slurm | Scheduler::Pbs => &[SCHED_GB, SHARED_GB],
    }
}

/// Its name in texts.
pub(super) fn title(scheduler: Scheduler) -> &'static str {
    match scheduler {
        Scheduler::Slurm => "Slurm",
        Scheduler::GridEngine => "Grid Engine",
        Scheduler::Pbs => "OpenPBS",
    }
}

/// The image of the scheduler's node, by CycleCloud's own names.
pub(super) fn image(scheduler: Scheduler) -> &'static str {
    match scheduler {
        Scheduler::Slurm => "cycle.image.ubuntu22",
        Scheduler::GridEngine | Scheduler::Pbs => "almalinux8",
    }
}

/// What all nodes of a cluster have.
pub(super) fn defaults(ini: &mut Ini, scheduler: Scheduler) {
    ini.detail("configuration");
    match scheduler {
        Scheduler::Slurm => {
            ini.set("cyclecloud.converge_on_boot", true);
            // Nodes are called what Slurm calls them.
            ini.set("cyclecloud.hosts.standalone_dns.enabled", false);
            ini.set("cyclecloud.hosts.simple_vpc_dns.enabled", false);
        }
        Scheduler::Pbs => {
            ini.set("cyclecloud.converge_on_boot", true);
            ini.set("cyclecloud.enable_chef", false);
        }
        Scheduler::GridEngine => {
            ini.detail("cluster-init cyclecloud/gridengine:default");
            ini.set("Optional", true);
            return;
        }
    }
    // The file systems that projects share by themselves give way to those below.
    for name in ["sched", "shared"] {
        ini.set(&format!("cyclecloud.mounts.{name}.disabled"), true);
        ini.set(&format!("cyclecloud.exports.{name}.disabled"), true);
        ini.set(&format!("cyclecloud.exports.{name}.samba.enabled"), false);
    }
    ini.set("cyclecloud.exports.defaults.samba.enabled", false);
    ini.set("cshared.server.legacy_links_disabled", true);
    ini.detail(&format!(
        "cluster-init cyclecloud/{}:default",
        project(scheduler)
    ));
    ini.set("Optional", scheduler == Scheduler::Slurm);
    for name in ["sched", "shared"] {
        ini.detail(&format!("configuration cyclecloud.mounts.nfs_{name}"));
        ini.set("type", "nfs");
        ini.set("mountpoint", format_args!("/{name}"));
        ini.set("export_path", format_args!("/{name}"));
        if scheduler == Scheduler::Pbs {
            ini.set("node_name", "server");
        }
    }
}

/// The node that runs the scheduler and shares `/sched` and `/shared`.
pub(super) fn scheduler_node(ini: &mut Ini, scheduler: Scheduler) {
    let role = match scheduler {
        Scheduler::Slurm => "scheduler",
        Scheduler::GridEngine => "master",
        Scheduler::Pbs => "server",
    };
    ini.part(&format!("node {role}"));
    ini.set("MachineType", "$SchedulerMachineType");
    ini.set("ImageName", "$SchedulerImageName");
    ini.set("IsReturnProxy", "$ReturnProxy");
    ini.detail("configuration");
    if scheduler != Scheduler::GridEngine {
        ini.set("cyclecloud.mounts.nfs_sched.disabled", true);
        ini.set("cyclecloud.mounts.nfs_shared.disabled", true);
    }
    match scheduler {
        Scheduler::Slurm => ini.set("slurm.role", role),
        Scheduler::GridEngine => {}
        Scheduler::Pbs => {
            ini.set("cyclecloud.discoverable", true);
            ini.set("pbspro.role", role);
        }
    }
    cluster_init(ini, scheduler, role);
    ini.detail("network-interface eth0");
    ini.set("AssociatePublicIpAddress", false);
    ini.detail("volume boot");
    ini.set("Size", SCHEDULER_OS_DISK_GB);
    ini.set("StorageAccountType", "Premium_LRS");
    if scheduler == Scheduler::GridEngine {
        return;
    }
    let sched = SCHED_GB.to_string();
    for (name, size) in [("sched", sched.as_str()), ("shared", "$SharedSize")] {
        ini.detail(&format!("volume {name}"));
        ini.set("Size", size);
        ini.set("StorageAccountType", "Premium_LRS");
        ini.set("Mount", format_args!("builtin{name}"));
        ini.set("Persistent", true);
        ini.detail(&format!("configuration cyclecloud.mounts.builtin{name}"));
        ini.set("mountpoint", format_args!("/{name}"));
        ini.set("fs_type", "xfs");
        ini.detail(&format!("configuration cyclecloud.exports.builtin{name}"));
        ini.set("type", "nfs");
        ini.set("export_path", format_args!("/{name}"));
        ini.set("samba.enabled", false);
        if name == "sched" {
            ini.set("options", "no_root_squash");
        }
    }
}

/// What a node array says to its scheduler.
pub(super) fn array(ini: &mut Ini, cluster: &Cluster, array: &NodeArray) {
    ini.detail("configuration");
    match cluster.scheduler {
        Scheduler::Slurm => {
            ini.set("slurm.role", "execute");
            ini.set("slurm.autoscale", true);
            ini.set("slurm.hpc", array.coupled);
            ini.set("slurm.partition", &array.name);
            ini.set("slurm.default_partition", array.is_default);
            // Virtual CPUs are counted, as the lines of `--cyclecloud=slurm` do.
            ini.set("slurm.use_pcpu", false);
            ini.set("slurm.node_prefix", format_args!("{}-", cluster.name));
            ini.set("slurm.use_nodename_as_hostname", true);
        }
        Scheduler::GridEngine => {}
        Scheduler::Pbs => ini.set("pbspro.role", "execute"),
    }
    cluster_init(ini, cluster.scheduler, "execute");
}

/// The scripts of the scheduler's project for a role; on Slurm those of Enroot and Pyxis too.
fn cluster_init(ini: &mut Ini, scheduler: Scheduler, role: &str) {
    let project = project(scheduler);
    ini.detail(&format!("cluster-init cyclecloud/{project}:{role}"));
    if scheduler == Scheduler::Slurm {
        ini.detail(&format!("cluster-init cyclecloud/{project}:pyxis"));
    }
}

fn project(scheduler: Scheduler) -> &'static str {
    match scheduler {
        Scheduler::Slurm => "slurm",
        Scheduler::GridEngine => "gridengine",
        Scheduler::Pbs => "pbspro",
    }
}
