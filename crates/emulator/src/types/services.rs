//! The types of the services beside Compute and Network.

use super::{Type, other, rule, scoped, tracked};
use crate::names::Letters;

pub(super) const AUTHORIZATION: &str = "Microsoft.Authorization";
pub(super) const BATCH: &str = "Microsoft.Batch";
pub(super) const CLUSTERS: &str = "Microsoft.ContainerService";
pub(super) const IDENTITY: &str = "Microsoft.ManagedIdentity";
pub(super) const MARKETPLACE: &str = "Microsoft.MarketplaceOrdering";
pub(super) const POLICY: &str = "Microsoft.PolicyInsights";
pub(super) const QUOTA: &str = "Microsoft.Quota";
pub(super) const SCHEDULES: &str = "Microsoft.DevTestLab";
pub(super) const STORAGE: &str = "Microsoft.Storage";

/// Names of accounts and pools of Batch and of clusters follow their schemas, those of storage
/// and identities Microsoft's table of naming rules.
pub(super) static TYPES: &[Type] = &[
    tracked(
        BATCH,
        "batchAccounts",
        "batch",
        rule(3, 24, Letters::Account),
    ),
    other(
        BATCH,
        "batchAccounts/pools",
        "batch",
        Some(rule(1, 64, Letters::Disk)),
    ),
    other(BATCH, "batchAccounts/operationResults", "batch", None),
    other(BATCH, "batchAccounts/poolOperationResults", "batch", None),
    other(BATCH, "locations", "batch", None),
    other(BATCH, "locations/accountOperationResults", "batch", None),
    other(BATCH, "locations/quotas", "batch", None),
    other(BATCH, "locations/checkNameAvailability", "batch", None),
    other(BATCH, "locations/virtualMachineSkus", "batch", None),
    tracked(
        CLUSTERS,
        "managedClusters",
        "clusters",
        rule(1, 63, Letters::Cluster),
    ),
    other(
        CLUSTERS,
        "managedClusters/agentPools",
        "clusters",
        Some(rule(1, 12, Letters::AgentPool)),
    ),
    other(CLUSTERS, "locations", "clusters", None),
    other(CLUSTERS, "locations/operations", "clusters", None),
    other(CLUSTERS, "locations/operationresults", "clusters", None),
    tracked(
        IDENTITY,
        "userAssignedIdentities",
        "identities",
        rule(3, 128, Letters::Identity),
    ),
    other(
        IDENTITY,
        "userAssignedIdentities/federatedIdentityCredentials",
        "identity-credentials",
        Some(rule(3, 120, Letters::Identity)),
    ),
    scoped(AUTHORIZATION, "roleAssignments", "roles", None),
    scoped(AUTHORIZATION, "roleDefinitions", "roles", None),
    scoped(AUTHORIZATION, "permissions", "roles", None),
    scoped(
        AUTHORIZATION,
        "locks",
        "locks",
        Some(rule(1, 260, Letters::Lock)),
    ),
    other(MARKETPLACE, "offerTypes", "marketplace", None),
    other(
        MARKETPLACE,
        "offerTypes/publishers/offers/plans/agreements",
        "marketplace",
        None,
    ),
    other(MARKETPLACE, "agreements", "marketplace", None),
    scoped(QUOTA, "quotas", "quota", None),
    scoped(QUOTA, "usages", "quota", None),
    tracked(
        SCHEDULES,
        "schedules",
        "schedules",
        rule(1, 260, Letters::Lock),
    ),
    tracked(
        STORAGE,
        "storageAccounts",
        "storage",
        rule(3, 24, Letters::Account),
    ),
    other(STORAGE, "storageAccounts/blobServices", "storage", None),
    other(
        STORAGE,
        "storageAccounts/blobServices/containers",
        "storage",
        Some(rule(3, 63, Letters::Container)),
    ),
    other(STORAGE, "checkNameAvailability", "storage", None),
    other(STORAGE, "locations", "storage", None),
    other(STORAGE, "locations/asyncoperations", "storage", None),
    scoped(POLICY, "checkPolicyRestrictions", "policy-insights", None),
];
