//! The table of Azure CycleCloud.

use super::{
    forms::{azure, places},
    kind::{Block, Key, Kind, Presence, Support},
    stack::keys,
};

const NOW: Support = Support::Now;

/// The stack's server.
pub(super) const SERVER: Block = Block {
    name: "cyclecloud",
    doc: "The stack's server of Azure CycleCloud, which makes the nodes of all pools with `orchestrator: cyclecloud` when jobs wait.",
    keys: keys! {
        "size": Kind::text(&azure::SIZE), Presence::Default("Standard_D4s_v5"), NOW, "Standard_D4s_v5",
            "VM size of the server, which runs all the time.";
        "accept_terms": Kind::boolean(), Presence::Default("false"), NOW, "true",
            "Whether the terms of the server's image may be accepted for the subscription.";
        "identity": Kind::text(&azure::IDENTITY_ID), Presence::Required, NOW,
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cyclecloud",
            "Id of the user-assigned identity by which the server makes nodes (Contributor on the subscription) and reaches its locker (Storage Blob Data Contributor).";
        "locker": Kind::text(&places::LOCKER_URL), Presence::Required, NOW,
            "https://account.blob.core.windows.net/cyclecloud",
            "URL of the container in which the server keeps what nodes fetch when they start.";
        "start": Kind::boolean(), Presence::Default("false"), NOW, "false",
            "Whether the cluster is started: its scheduler's node runs from then on, and is paid for.";
    },
};
