//! The table of types.

use super::{
    account, agent_pool, cluster, identity, locks, pool, roles, schedule,
    serve::{Course, ETag, Kind},
    storage,
};
use crate::{durations, store::entry::Style};

/// A type that answers at once, has no etag and no rules.
const PLAIN: Kind = Kind {
    name: "",
    build: super::serve::as_given,
    show: super::serve::as_kept,
    missing: super::serve::missing,
    free: super::serve::always_free,
    act: super::serve::no_action,
    put: Course::AtOnce { new: 201, old: 200 },
    delete: Course::AtOnce { new: 200, old: 200 },
    etag: ETag::None,
    patch: true,
    locates: false,
    shows_deleted: false,
};

static KINDS: [Kind; 12] = [
    Kind {
        name: "Microsoft.Batch/batchAccounts",
        build: account::build,
        show: account::show,
        act: account::act,
        put: Course::Long {
            style: Style::Batch,
            new: durations::BATCH_ACCOUNT,
            old: durations::BATCH_ACCOUNT,
            state: "Creating",
            shows: false,
        },
        delete: Course::Long {
            style: Style::Batch,
            new: durations::BATCH_ACCOUNT,
            old: durations::BATCH_ACCOUNT,
            state: "Deleting",
            shows: false,
        },
        etag: ETag::Strong,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.Batch/batchAccounts/pools",
        build: pool::build,
        show: pool::show,
        act: pool::act,
        put: Course::AtOnce { new: 200, old: 200 },
        delete: Course::Long {
            style: Style::Batch,
            new: durations::BATCH_POOL,
            old: durations::BATCH_POOL,
            state: "Deleting",
            shows: false,
        },
        etag: ETag::Weak,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.ContainerService/managedClusters",
        build: cluster::build,
        show: cluster::show,
        act: cluster::act,
        put: Course::Long {
            style: Style::Cluster,
            new: durations::CLUSTER,
            old: durations::CLUSTER,
            state: "Creating",
            shows: true,
        },
        delete: Course::Long {
            style: Style::Cluster,
            new: durations::CLUSTER_DELETE,
            old: durations::CLUSTER_DELETE,
            state: "Deleting",
            shows: false,
        },
        etag: ETag::Member,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.ContainerService/managedClusters/agentPools",
        build: agent_pool::build,
        show: agent_pool::show,
        missing: agent_pool::missing,
        free: agent_pool::free,
        put: Course::Long {
            style: Style::Cluster,
            new: durations::AGENT_POOL,
            old: durations::AGENT_POOL,
            state: "Creating",
            shows: true,
        },
        delete: Course::Long {
            style: Style::Cluster,
            new: durations::AGENT_POOL,
            old: durations::AGENT_POOL,
            state: "Deleting",
            shows: false,
        },
        etag: ETag::Member,
        patch: false,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.ManagedIdentity/userAssignedIdentities",
        build: identity::build,
        show: identity::show,
        locates: true,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
        show: identity::show_credential,
        missing: identity::missing,
        patch: false,
        locates: true,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.Authorization/roleAssignments",
        build: roles::build,
        show: roles::show,
        missing: roles::missing,
        patch: false,
        shows_deleted: true,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.DevTestLab/schedules",
        build: schedule::build,
        show: schedule::show,
        // Recorded: 201 for an existing one as well.
        put: Course::AtOnce { new: 201, old: 201 },
        ..PLAIN
    },
    Kind {
        name: "Microsoft.Storage/storageAccounts",
        build: storage::build,
        show: storage::show,
        act: storage::act,
        put: Course::Long {
            style: Style::Storage,
            new: durations::STORAGE_ACCOUNT,
            old: durations::AT_ONCE,
            state: "Creating",
            shows: false,
        },
        ..PLAIN
    },
    Kind {
        name: "Microsoft.Storage/storageAccounts/blobServices",
        put: Course::AtOnce { new: 200, old: 200 },
        patch: false,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.Storage/storageAccounts/blobServices/containers",
        build: storage::build_container,
        missing: storage::missing,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.Authorization/locks",
        build: locks::build,
        missing: locks::missing,
        patch: false,
        ..PLAIN
    },
];

/// The row of a type.
pub(super) fn find(name: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|kind| kind.name.eq_ignore_ascii_case(name))
}
