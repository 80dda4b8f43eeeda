//! The version of the API that each type is used with. One is pinned for each type.

/// Resources, groups and tags.
pub(crate) const RESOURCES: &str = "2021-04-01";
/// Subscriptions.
pub(crate) const SUBSCRIPTIONS: &str = "2022-12-01";
/// Virtual machines, public keys, images and usages.
pub(crate) const COMPUTE: &str = "2024-07-01";
/// Managed disks.
pub(crate) const DISKS: &str = "2024-03-02";
/// Sizes.
pub(crate) const SKUS: &str = "2021-07-01";
/// What policies say to what is to be made.
pub(crate) const POLICY: &str = "2022-03-01";
/// Spot placement scores.
pub(crate) const PLACEMENT: &str = "2025-06-05";
/// Permissions.
pub(crate) const AUTHORIZATION: &str = "2022-04-01";
/// Retail prices; the first version with savings plans.
pub(crate) const PRICES: &str = "2023-01-01-preview";
/// Galleries of images.
pub(crate) const GALLERIES: &str = "2023-07-03";
/// Terms of purchase plans.
pub(crate) const TERMS: &str = "2021-01-01";
/// Terms once more: the newer version has been seen to deny what was accepted.
pub(crate) const TERMS_AGAIN: &str = "2015-06-01";
/// Accounts and pools of Batch.
pub(crate) const BATCH: &str = "2024-07-01";
/// Clusters of Kubernetes and their pools: the first version that knows who installs drivers.
pub(crate) const CONTAINERS: &str = "2026-05-01";
/// Accounts of storage and their containers.
pub(crate) const STORAGE: &str = "2023-05-01";
/// Identities of machines.
pub(crate) const IDENTITY: &str = "2023-01-31";
/// Networks.
pub(crate) const NETWORK: &str = "2024-03-01";

/// Interfaces and addresses of instances of scale sets, which have one version for all times.
pub(crate) const NETWORK_OF_SETS: &str = "2018-10-01";

/// The version for a type such as `Microsoft.Compute/disks`.
pub(crate) fn of_type(arm_type: &str) -> &'static str {
    let lower = arm_type.to_lowercase();
    if lower == "microsoft.compute/disks" {
        DISKS
    } else if lower.starts_with("microsoft.compute/galleries") {
        GALLERIES
    } else if lower.starts_with("microsoft.compute/") {
        COMPUTE
    } else if lower.starts_with("microsoft.marketplaceordering/") {
        TERMS
    } else if lower.starts_with("microsoft.batch/") {
        BATCH
    } else if lower.starts_with("microsoft.containerservice/") {
        CONTAINERS
    } else if lower.starts_with("microsoft.storage/") {
        STORAGE
    } else if lower.starts_with("microsoft.managedidentity/") {
        IDENTITY
    } else if lower.starts_with("microsoft.authorization/") {
        AUTHORIZATION
    } else if lower.starts_with("microsoft.network/") {
        NETWORK
    } else {
        RESOURCES
    }
}
