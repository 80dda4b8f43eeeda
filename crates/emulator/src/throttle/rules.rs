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
        "disks" | "disks list" if reads => "GetDisk",
        "disks" if method == Method::Delete => "DeleteDisk",
        "disks" => "PutDisk",
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
        _ if kind.starts_with("virtualmachines") && !reads => "UpdateVM",
        _ => return None,
    };
    Some(name)
}
