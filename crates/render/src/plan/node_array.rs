//! Node arrays of CycleCloud in a few words.

use model::{
    cyclecloud::{SCHEDULER_SIZE, shared_disks_gb},
    resource::{NodeArray, VmPriority},
    spec::Scheduler,
};

use crate::words;

pub(super) fn array(array: &NodeArray) -> String {
    let spot = match &array.priority {
        VmPriority::Regular => "",
        VmPriority::Spot { .. } => "spot ",
    };
    let count = words::count(array.nodes);
    format!("node array of at most {count} × {spot}{}", array.size)
}

/// What its nodes are, and what comes with the first array of a cluster.
pub(super) fn parts(array: &NodeArray) -> Vec<String> {
    let disk = &array.os_disk;
    let kind = if disk.ephemeral.is_some() {
        "on the node"
    } else {
        super::essence::disk_words(disk.disk_type)
    };
    let placement = if array.coupled {
        "in placement groups; "
    } else {
        ""
    };
    let mut lines = vec![format!(
        "{placement}each with OS disk {} GiB {kind}; nodes come when jobs wait, and go when none do",
        words::count(disk.size_gb)
    )];
    if array.is_default {
        let scheduler = match array.scheduler {
            Scheduler::Slurm => "Slurm",
            Scheduler::GridEngine => "Grid Engine",
            Scheduler::Pbs => "OpenPBS",
        };
        let disks: Vec<String> = shared_disks_gb(array.scheduler)
            .iter()
            .map(|size_gb| format!("{} GiB", words::count(*size_gb)))
            .collect();
        let disks = if disks.is_empty() {
            String::new()
        } else {
            format!(", with disks of {}", disks.join(" and "))
        };
        let start = if array.start {
            "started with the cluster"
        } else {
            "off until the cluster is started"
        };
        lines.push(format!(
            "{scheduler} of `{}` runs on 1 × {SCHEDULER_SIZE}{disks}: {start}",
            array.cluster
        ));
    }
    lines
}
