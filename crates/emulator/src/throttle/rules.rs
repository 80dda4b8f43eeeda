//! The sizes of the buckets, and which requests each is for.

use crate::http::Method;

/// A bucket's size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) capacity: u64,
    /// Tokens per minute.
    pub(crate) refill: u64,
    pub(crate) scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One bucket for a subscription and region.
    Region,
    /// One bucket for each resource.
    Resource,
}

pub(crate) const fn region(name: &'static str, capacity: u64, refill: u64) -> Rule {
    Rule {
        name,
        capacity,
        refill,
        scope: Scope::Region,
    }
}

const fn resource(name: &'static str, capacity: u64, refill: u64) -> Rule {
    Rule {
        name,
        capacity,
        refill,
        scope: Scope::Resource,
    }
}

/// The older scheme: so many in three minutes and so many in thirty.
const fn windows(
    short: &'static str,
    in_three: u64,
    long: &'static str,
    in_thirty: u64,
) -> [Rule; 2] {
    [
        region(short, in_three, in_three / 3),
        region(long, in_thirty, in_thirty / 30),
    ]
}

/// Buckets of Microsoft.Compute, by the operation they are for.
pub(crate) static COMPUTE: &[(&str, &[Rule])] = &[
    (
        "PutVM",
        &[
            region("PutVMSubscriptionMaximum", 1500, 500),
            resource("PutVMResource", 12, 4),
        ],
    ),
    (
        "UpdateVM",
        &[
            region("UpdateVMSubscriptionMaximum", 1500, 500),
            resource("UpdateVMResource", 12, 4),
        ],
    ),
    (
        "DeleteVM",
        &[
            region("DeleteVMSubscriptionMaximum", 1500, 500),
            resource("DeleteVMResource", 12, 4),
        ],
    ),
    (
        "LowCostGet",
        &[
            region("LowCostGetSubscriptionMaximum", 24_000, 8_000),
            resource("LowCostGetResource", 36, 12),
        ],
    ),
    (
        "HighCostGet",
        &[region("HighCostGetSubscriptionMaximum", 900, 300)],
    ),
    (
        "GetOperation",
        &[
            resource("GetOperationResource", 45, 15),
            region("GetOperationSubscriptionMaximum", 15_000, 5_000),
        ],
    ),
    (
        "PutDisk",
        &windows(
            "CreateUpdateDisks3Min",
            3_000,
            "CreateUpdateDisks30Min",
            25_000,
        ),
    ),
    (
        "DeleteDisk",
        &windows("DeleteDisks3Min", 3_000, "DeleteDisks30Min", 24_000),
    ),
    (
        "GetDisk",
        &windows("LowCostGet3Min", 15_000, "LowCostGet30Min", 120_000),
    ),
    (
        "GetDiskOperation",
        &windows("GetOperation3Min", 50_000, "GetOperation30Min", 400_000),
    ),
    (
        "PutDeleteSshKey",
        &[region("PutDeleteSshPublicKeysSubscriptionMaximum", 120, 40)],
    ),
    (
        "GenerateSshKey",
        &[region("SshKeyGenSubscriptionMaximum", 12, 4)],
    ),
    (
        "GetSshKey",
        &[region("LowCostGetSubscriptionMaximum", 24_000, 8_000)],
    ),
    (
        "SubscriptionInfo",
        &[region("GetSubscriptionInfoSubscriptionMaximum", 360, 120)],
    ),
    (
        "ListOffers",
        &windows(
            "ListVMImageOffersFromLocation3Min",
            200,
            "ListVMImageOffersFromLocation30Min",
            1_000,
        ),
    ),
    (
        "ListImageSkus",
        &windows(
            "ListVMImageSkusFromLocation3Min",
            10_000,
            "ListVMImageSkusFromLocation30Min",
            30_000,
        ),
    ),
    (
        "ListVersions",
        &windows(
            "ListVMImagesVersionsFromLocation3Min",
            16_000,
            "ListVMImagesVersionsFromLocation30Min",
            44_000,
        ),
    ),
    (
        "GetImage",
        &windows(
            "GetVMImageFromLocation3Min",
            13_000,
            "GetVMImageFromLocation30Min",
            74_000,
        ),
    ),
    (
        "PutScaleSet",
        &[
            region("CreateVMScaleSetSubscriptionMaximum", 375, 125),
            resource("CreateVMScaleSetResource", 12, 4),
        ],
    ),
    (
        "UpdateScaleSet",
        &[
            region("VMScaleSetActionsSubscriptionMaximum", 1500, 500),
            resource("VMScaleSetActionsResource", 12, 4),
        ],
    ),
    (
        "ScaleSetAction",
        &[region("VMScaleSetActionsSubscriptionMaximum", 1500, 500)],
    ),
    (
        "DeleteScaleSet",
        &[
            region("DeleteVMScaleSetSubscriptionMaximum", 525, 175),
            resource("DeleteVMScaleSetResource", 12, 4),
        ],
    ),
    (
        "StopScaleSet",
        &[region("DeleteVMScaleSetSubscriptionMaximum", 525, 175)],
    ),
    (
        "GetScaleSet",
        &[
            region("GetVMScaleSetSubscriptionMaximum", 2_400, 800),
            resource("GetVMScaleSetResource", 36, 12),
        ],
    ),
    (
        "ListScaleSets",
        &[region(
            "HighCostGetVMScaleSetSubscriptionMaximum",
            1_080,
            360,
        )],
    ),
    (
        "ViewScaleSet",
        &[
            region("HighCostGetVMScaleSetSubscriptionMaximum", 1_080, 360),
            resource("HighCostGetVMScaleSetResource", 30, 10),
        ],
    ),
    (
        "UpdateInstance",
        &[
            region("VMScaleSetVMActionsSubscriptionMaximum", 2_000, 500),
            resource("VMScaleSetVMActionsResource", 12, 4),
        ],
    ),
    (
        "StopInstance",
        &[
            region("DeleteVMScaleSetVMSubscriptionMaximum", 2_000, 500),
            resource("DeleteVMScaleSetVMResource", 12, 4),
        ],
    ),
    (
        "GetInstance",
        &[
            region("GetVMScaleSetVMSubscriptionMaximum", 6_000, 2_000),
            resource("GetVMScaleSetVMResource", 36, 12),
        ],
    ),
    (
        "PutDeletePlacementGroup",
        &[region("PutDeletePPGSubscriptionMaximum", 120, 40)],
    ),
    (
        "LowCostGetAny",
        &[region("LowCostGetSubscriptionMaximum", 24_000, 8_000)],
    ),
    (
        "PutAvailabilitySet",
        &[region("PutVMSubscriptionMaximum", 1500, 500)],
    ),
    (
        "PutDeleteReservation",
        &[region(
            "PutDeleteCapacityReservationSubscriptionMaximum",
            120,
            40,
        )],
    ),
    (
        "GetReservation",
        &[region("GetCapacityReservationSubscriptionMaximum", 270, 90)],
    ),
    (
        "PutImage",
        &[region("CreateImagesSubscriptionMaximum", 60, 20)],
    ),
    (
        "DeleteImage",
        &[region("DeleteImagesSubscriptionMaximum", 120, 40)],
    ),
    (
        "GetOwnImage",
        &[region("GetImagesSubscriptionMaximum", 360, 120)],
    ),
    (
        "ListOwnImages",
        &[region("HighCostGetImagesSubscriptionMaximum", 90, 30)],
    ),
    (
        "PutSnapshot",
        &windows(
            "HighCostSnapshotCreateHydrate3Min",
            1_000,
            "HighCostSnapshotCreateHydrate30Min",
            8_000,
        ),
    ),
];

pub(crate) const NETWORK_WRITES: Rule = region("Microsoft.Network/write", 1_000, 200);
pub(crate) const NETWORK_READS: Rule = region("Microsoft.Network/read", 10_000, 2_000);

/// The bucket of Compute that a request is counted in; `None` where no header was recorded.
pub(crate) fn compute_group(kind: &str, method: Method) -> Option<&'static str> {
    let reads = matches!(method, Method::Get | Method::Head);
    let name = match kind {
        "virtualmachines/instanceview" | "virtualmachines/vmsizes" => "LowCostGet",
        "virtualmachines/deallocate" | "virtualmachines/simulateeviction" => "DeleteVM",
        "virtualmachines list" => "HighCostGet",
        "virtualmachines" if reads => "LowCostGet",
        "virtualmachines" if method == Method::Put => "PutVM",
        "virtualmachines" if method == Method::Delete => "DeleteVM",
        "disks" | "disks list" | "snapshots" | "snapshots list" if reads => "GetDisk",
        "disks" | "snapshots" if method == Method::Delete => "DeleteDisk",
        "disks" => "PutDisk",
        "snapshots" => "PutSnapshot",
        "proximityplacementgroups" if reads => "HighCostGet",
        "proximityplacementgroups list" | "availabilitysets list" => "LowCostGetAny",
        "proximityplacementgroups" => "PutDeletePlacementGroup",
        "availabilitysets" if reads => "LowCostGetAny",
        "availabilitysets" => "PutAvailabilitySet",
        "images" if reads => "GetOwnImage",
        "images list" => "ListOwnImages",
        "images" if method == Method::Delete => "DeleteImage",
        "images" => "PutImage",
        "sshpublickeys" | "sshpublickeys list" if reads => "GetSshKey",
        "sshpublickeys" => "PutDeleteSshKey",
        "sshpublickeys/generatekeypair" => "GenerateSshKey",
        "locations/operations" => "GetOperation",
        "locations/diskoperations" => "GetDiskOperation",
        "locations/usages list" | "locations/vmsizes list" => "SubscriptionInfo",
        "locations/publishers/artifacttypes/offers list" => "ListOffers",
        "locations/publishers/artifacttypes/offers/skus list" => "ListImageSkus",
        "locations/publishers/artifacttypes/offers/skus/versions list" => "ListVersions",
        "locations/publishers/artifacttypes/offers/skus/versions" => "GetImage",
        _ if kind.starts_with("capacityreservationgroups") => {
            if reads {
                "GetReservation"
            } else {
                "PutDeleteReservation"
            }
        }
        _ if kind.starts_with("virtualmachinescalesets") => scale_set_group(kind, method),
        "virtualmachines/retrievebootdiagnosticsdata" => "LowCostGet",
        _ if kind.starts_with("virtualmachines/extensions") && reads => "LowCostGet",
        _ if kind.starts_with("virtualmachines/runcommands") && reads => "LowCostGet",
        _ if kind.starts_with("virtualmachines") && !reads => "UpdateVM",
        _ => return None,
    };
    Some(name)
}

/// The bucket of a request on scale sets and their instances.
fn scale_set_group(kind: &str, method: Method) -> &'static str {
    let reads = matches!(method, Method::Get | Method::Head);
    let rest = kind.trim_start_matches("virtualmachinescalesets");
    let stops = |action: &str| action == "/deallocate" || action == "/poweroff";
    match rest {
        " list" => "ListScaleSets",
        "/instanceview" | "/virtualmachines list" => "ViewScaleSet",
        "" if method == Method::Put => "PutScaleSet",
        "" if method == Method::Delete => "DeleteScaleSet",
        "" if method == Method::Patch => "UpdateScaleSet",
        _ if reads && rest.starts_with("/virtualmachines") => "GetInstance",
        _ if reads => "GetScaleSet",
        "/virtualmachines" if method == Method::Delete => "StopInstance",
        action if stops(action) => "StopScaleSet",
        "/setorchestrationservicestate" | "/extensions" => "UpdateScaleSet",
        action => match action.strip_prefix("/virtualmachines") {
            Some(action) if stops(action) || action == "/simulateeviction" => "StopInstance",
            Some(_) => "UpdateInstance",
            None => "ScaleSetAction",
        },
    }
}
