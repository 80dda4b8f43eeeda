//! Where nodes write checkpoints: an account of storage with one container, the identity that nodes
//! sign in with, and its role there. Keys of the account open nothing.

use model::{
    address::Address,
    resource::{
        BLOB_DATA_CONTRIBUTOR, BlobContainer, Known, ManagedIdentity, Properties, Resource,
        RoleAssignment, StorageAccount, Tags, tags,
    },
    spec::Spec,
    units::CaseInsensitive,
};

use super::{Allowed, Desired, node::Scope};
use crate::checkpoint;

/// What nodes of a pool that writes checkpoints there cannot be without.
pub(super) fn needs() -> [Address; 2] {
    ["identity", "role"].map(Address::checkpoint)
}

/// All of it.
pub(super) fn resources(scope: Scope<'_>) -> [Desired; 4] {
    [
        account(scope),
        container(scope),
        identity(scope),
        role(scope),
    ]
}

/// Whether some pool wants the container never to be deleted.
fn is_protected(spec: &Spec) -> bool {
    let mut pools = spec.pools.values().filter(|pool| checkpoint::is_made(pool));
    pools.any(|pool| pool.checkpoint.as_ref().is_some_and(|one| one.protect))
}

fn account(scope: Scope<'_>) -> Desired {
    let properties = StorageAccount {
        location: scope.context.location.clone(),
        sku: CaseInsensitive::from("Standard_LRS"),
        account_kind: CaseInsensitive::from("StorageV2"),
        shared_keys: false,
        public_blobs: false,
        plain_http: false,
        old_tls: false,
    };
    let protected = is_protected(scope.spec);
    let mut own = scope.tags.clone();
    if protected {
        own.set(tags::PROTECT, "true");
    }
    Desired {
        address: Address::checkpoint("account"),
        id: scope.names.checkpoint_account(),
        resource: Resource {
            tags: own,
            properties: Properties::StorageAccount(properties),
        },
        needs: vec![Address::resource_group()],
        allowed: Allowed {
            protected,
            ..Allowed::default()
        },
    }
}

fn container(scope: Scope<'_>) -> Desired {
    let properties = BlobContainer {
        public_access: CaseInsensitive::from("None"),
    };
    Desired {
        address: Address::checkpoint("container"),
        id: scope.names.checkpoint_container(),
        resource: Resource {
            tags: Tags::default(),
            properties: Properties::BlobContainer(properties),
        },
        needs: vec![Address::checkpoint("account")],
        allowed: Allowed::default(),
    }
}

fn identity(scope: Scope<'_>) -> Desired {
    let properties = ManagedIdentity {
        location: scope.context.location.clone(),
        principal: None,
    };
    Desired {
        address: Address::checkpoint("identity"),
        id: scope.names.checkpoint_identity(),
        resource: Resource {
            tags: scope.tags.clone(),
            properties: Properties::ManagedIdentity(properties),
        },
        needs: vec![Address::resource_group()],
        allowed: Allowed::default(),
    }
}

/// An assignment stays what it is: another principal makes it anew, which no node notices.
fn role(scope: Scope<'_>) -> Desired {
    let container = scope.names.checkpoint_container();
    let subscription = container.subscription().unwrap_or_default();
    let principal = scope.context.principal.map(ToOwned::to_owned);
    let properties = RoleAssignment {
        role: RoleAssignment::definition(subscription, BLOB_DATA_CONTRIBUTOR),
        principal: principal.map_or(Known::AfterApply, Known::Value),
    };
    Desired {
        address: Address::checkpoint("role"),
        id: RoleAssignment::on(&container),
        resource: Resource {
            tags: Tags::default(),
            properties: Properties::RoleAssignment(properties),
        },
        needs: ["container", "identity"].map(Address::checkpoint).to_vec(),
        allowed: Allowed {
            stop: true,
            ..Allowed::default()
        },
    }
}
