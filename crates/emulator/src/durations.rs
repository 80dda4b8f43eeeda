//! How long operations take in Azure's time.
//!
//! Compute: medians of recorded operations. Network: recordings show only that an operation
//! was over at the first poll, so it takes what its first `Retry-After` asks to wait.

use std::time::Duration;

use crate::store::entry::Work;

/// Seconds to wait before the first poll, where the service says.
pub(crate) type Wait = Option<u64>;

/// An operation's length, and its first `Retry-After`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    pub(crate) takes: Duration,
    pub(crate) retry_after: Wait,
}

const fn timing(millis: u64, retry_after: Wait) -> Timing {
    Timing {
        takes: Duration::from_millis(millis),
        retry_after,
    }
}

/// A namespace says Registering this long: recorded once, 71 s.
pub(crate) const REGISTRATION: Duration = Duration::from_secs(71);

/// A Spot VM is taken back this long after a simulated eviction: recorded once, 77 s.
pub(crate) const EVICTION: Duration = Duration::from_secs(77);

/// A provider answers for what it deleted this long; recordings show one such answer each,
/// seconds after the end. Chosen between that and the polls that found ARM answering.
pub(crate) const GRAVE: Duration = Duration::from_secs(30);

/// A network interface stays reserved for the VM whose creation failed.
pub(crate) const RESERVATION: Duration = Duration::from_secs(180);

/// How long a VM operation takes.
pub(crate) fn machine(action: &str) -> Timing {
    match action {
        "create" => timing(7_100, Some(10)),
        "update" | "poweroff" => timing(7_100, None),
        "patch" => timing(6_800, None),
        "delete" => timing(26_400, Some(10)),
        "deallocate" => timing(24_000, None),
        "start" => timing(11_000, None),
        "restart" => timing(36_900, None),
        "redeploy" => timing(122_800, None),
        "reapply" => timing(5_500, None),
        "reimage" => timing(74_800, None),
        "runcommand" => timing(16_100, None),
        _ => timing(10_000, None),
    }
}

/// How long an operation on a scale set or its instances takes. A new set takes the upper
/// quartile of all writes, since the median is of those that change nothing.
pub(crate) fn scale_set(action: &str) -> Timing {
    match action {
        "create" => timing(47_300, Some(10)),
        "scale" => timing(23_100, Some(10)),
        "update" => timing(400, Some(10)),
        "patch" => timing(7_100, Some(10)),
        "delete set" => timing(2_500, Some(10)),
        "extension" => timing(15_600, Some(10)),
        "start" => timing(9_400, None),
        "poweroff" => timing(10_600, None),
        "restart" => timing(44_200, None),
        "deallocate" => timing(34_500, None),
        "delete" | "delete instances" => timing(23_300, None),
        "reimage" => timing(71_500, None),
        "reimageall" => timing(80_500, None),
        "manualupgrade" => timing(32_400, None),
        "redeploy" => timing(122_800, None),
        "setorchestrationservicestate" => timing(18_400, None),
        "update instance" => timing(500, None),
        _ => timing(10_000, None),
    }
}

/// How long a write of an extension of a VM takes.
pub(crate) const EXTENSION: Timing = timing(20_400, Some(10));

/// How long deleting one takes.
pub(crate) const EXTENSION_DELETE: Timing = timing(10_400, None);

/// How long a write of a run command takes, and its deletion.
pub(crate) const RUN_COMMAND: Timing = timing(10_300, None);

/// How long a capacity reservation takes.
pub(crate) fn reservation(new: bool) -> Timing {
    timing(if new { 3_600 } else { 400 }, None)
}

/// How long deleting a capacity reservation takes.
pub(crate) const RESERVATION_DELETE: Timing = timing(200, None);

/// How long a managed image takes.
pub(crate) const IMAGE: Timing = timing(5_200, None);

/// How long deleting one takes.
pub(crate) const IMAGE_DELETE: Timing = timing(5_100, None);

/// How long a snapshot takes.
pub(crate) const SNAPSHOT: Timing = timing(600, Some(2));

/// How long deleting one takes.
pub(crate) const SNAPSHOT_DELETE: Timing = timing(300, None);

/// How long a gallery or a definition in it takes, and its deletion.
pub(crate) const GALLERY: Timing = timing(200, None);

/// How long a version of a gallery's image takes: it is copied to its regions.
pub(crate) const GALLERY_VERSION: Timing = timing(466_000, None);

/// How long deleting one takes.
pub(crate) const GALLERY_VERSION_DELETE: Timing = timing(113_100, None);

/// How long the directory does not know the principal of a new identity. Recorded: six attempts at
/// growing distances, in the replay a little more than 20 s.
pub(crate) const REPLICATION: Duration = Duration::from_secs(25);

/// How long an operation on a cluster of AKS takes: medians of recorded ones, for a deletion the
/// longest tenth, since half of its recordings had their times masked.
pub(crate) fn cluster(what: &str) -> Timing {
    match what {
        "Stopping" => timing(105_400, None),
        "Starting" => timing(252_800, None),
        _ => timing(10_000, None),
    }
}

/// How long a cluster takes to come and to change.
pub(crate) const CLUSTER: Timing = timing(223_900, None);

/// How long deleting a cluster takes.
pub(crate) const CLUSTER_DELETE: Timing = timing(217_000, None);

/// How long a pool of nodes takes to come and to change; recorded deletions had their times
/// masked, and are taken to be as long.
pub(crate) const AGENT_POOL: Timing = timing(78_600, None);

/// What is done at once.
pub(crate) const AT_ONCE: Timing = timing(0, None);

/// How long a storage account takes. Not recorded; it asks to wait so long.
pub(crate) const STORAGE_ACCOUNT: Timing = timing(17_000, Some(17));

/// How long an account of Batch takes: it asks to wait so long, and recorded ones were there at
/// the first poll or the second.
pub(crate) const BATCH_ACCOUNT: Timing = timing(15_000, Some(15));

/// How long deleting a pool takes. Not recorded; it asks to wait so long.
pub(crate) const BATCH_POOL: Timing = timing(15_000, Some(15));

/// How long the nodes of a pool take to come. Not recorded; as long as those of a scale set.
pub(crate) const BATCH_NODES: Duration = Duration::from_millis(47_300);

/// How long a write of a disk takes.
pub(crate) const DISK_WRITE: Timing = timing(100, Some(2));

/// How long deleting a disk takes; recorded without `Retry-After`.
pub(crate) const DISK_DELETE: Timing = timing(200, None);

/// How long a network operation takes, by type and whether it deletes.
pub(crate) fn network(kind: &str, work: Work) -> Timing {
    let delete = work == Work::Delete;
    match kind {
        "Microsoft.Network/networkSecurityGroups"
        | "Microsoft.Network/networkSecurityGroups/securityRules" => timing(1_000, Some(1)),
        "Microsoft.Network/publicIPAddresses" if !delete => timing(1_000, Some(1)),
        "Microsoft.Network/virtualNetworks" | "Microsoft.Network/virtualNetworks/subnets"
            if !delete =>
        {
            timing(3_000, Some(3))
        }
        // What the recorded headers of one deletion and of two creations ask to wait in all.
        "Microsoft.Network/bastionHosts" if delete => timing(370_000, Some(10)),
        "Microsoft.Network/bastionHosts" => timing(420_000, Some(10)),
        "Microsoft.Network/loadBalancers/backendAddressPools" if !delete => timing(3_000, Some(3)),
        "Microsoft.Network/networkInterfaces" if delete => timing(4_000, Some(4)),
        _ => timing(10_000, Some(10)),
    }
}

/// How long deleting a group takes. Recorded: less than 15 s for an empty one, about 135 s
/// for one with a VM's network in it.
pub(crate) fn group_delete(resources: usize) -> Timing {
    if resources == 0 {
        timing(10_000, Some(15))
    } else {
        timing(60_000, Some(15))
    }
}
