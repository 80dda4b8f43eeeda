//! Reads one resource right before a write to it.

use model::{
    ids::ArmId,
    live::{FingerprintValues, LiveResource, Owner},
    resource::{ResourceKind, Tags},
};
use serde_json::Value;

use super::batch::with_place;
use crate::{
    client::{Client, absent_as_none},
    error::RequestError,
    versions,
    wire::{self, VmDisks, state},
};
use azure_core::Method;

/// A resource as it is right now.
#[derive(Clone, Debug)]
pub(crate) struct Now {
    /// Its body.
    pub(crate) body: Value,
    /// Its entity tag, where it has one.
    pub(crate) etag: Option<String>,
    /// The same as a live resource.
    pub(crate) live: LiveResource,
}

impl Now {
    /// The values that a plan can rely on.
    pub(crate) fn values(&self) -> FingerprintValues {
        self.live.values()
    }

    /// All tags.
    pub(crate) fn tags(&self) -> &Tags {
        &self.live.tags
    }
}

/// Reads a resource; `None` where it is absent.
pub(crate) async fn read_one(
    client: &Client,
    kind: ResourceKind,
    id: &ArmId,
) -> Result<Option<Now>, RequestError> {
    let found = if kind == ResourceKind::VirtualMachine {
        let query = [
            ("$expand", "instanceView"),
            ("api-version", versions::COMPUTE),
        ];
        let call = client.call_at(Method::Get, id.as_str(), &query)?;
        absent_as_none(client.send(&call).await)?
    } else {
        client.get(id).await?
    };
    let Some(mut reply) = found else {
        return Ok(None);
    };
    if matches!(kind, ResourceKind::BatchPool | ResourceKind::AgentPool)
        && let Some(account) = id.parent()
        && let Some(account) = client.get(&account).await?
    {
        with_place(&mut reply.body, &account.body);
    }
    let mut disks = VmDisks::default();
    if kind == ResourceKind::VirtualMachine
        && let (Some(disk), false) = wire::os_disk_id(&reply.body)
        && let Some(disk) = client.get(&disk).await?
    {
        disks.add(&disk.body);
    }
    let resource = wire::decode_with(kind, &reply.body, &disks);
    if let Err(error) = &resource {
        tracing::warn!(%id, %error, "the resource says something that cannot be expressed");
    }
    Ok(Some(Now {
        etag: reply.etag().map(ToOwned::to_owned),
        live: LiveResource {
            id: id.clone(),
            arm_type: kind.arm_type().to_owned(),
            owner: Owner::Foreign,
            tags: wire::tags_of(&reply.body),
            resource: resource.ok(),
            state: state::of_body(&reply.body),
        },
        body: reply.body,
    }))
}
