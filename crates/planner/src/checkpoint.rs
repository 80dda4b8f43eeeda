//! Checkpoints that go to a container which the tool makes: where that is.

use std::borrow::Cow;

use model::{
    plan::Plan,
    resource::CHECKPOINTS,
    spec::{CheckpointTarget, Pool, Spec},
};

use crate::{plan::NO_SUBSCRIPTION, shape::names::Names};

/// The spec with the container and the identity of each pool that has the tool make one. Each pool
/// has a folder of its own in it.
pub(crate) fn placed<'a>(
    spec: Cow<'a, Spec>,
    subscription: Option<&str>,
    cloud: &str,
) -> Cow<'a, Spec> {
    if !spec.pools.values().any(makes_checkpoints) {
        return spec;
    }
    let mut spec = spec.into_owned();
    let names = Names::new(&spec, subscription.unwrap_or(NO_SUBSCRIPTION));
    let account = names.checkpoint_account();
    let account = account.name();
    for (name, pool) in spec
        .pools
        .iter_mut()
        .filter(|(_, pool)| makes_checkpoints(pool))
    {
        if let Some(checkpoint) = &mut pool.checkpoint {
            let host = blob_host(cloud);
            let url = format!("https://{account}.{host}/{CHECKPOINTS}/{name}");
            checkpoint.to = CheckpointTarget::Made(url);
            checkpoint.identity = Some(names.checkpoint_identity());
        }
    }
    Cow::Owned(spec)
}

/// The spec as a plan of it has it: with the container and the identity that the tool makes.
pub fn as_planned<'a>(spec: &'a Spec, plan: &Plan) -> Cow<'a, Spec> {
    let scope = &plan.scope;
    placed(
        Cow::Borrowed(spec),
        scope.subscription.as_deref(),
        &scope.cloud,
    )
}

/// Whether a pool has the tool make where checkpoints go.
pub fn makes_checkpoints(pool: &Pool) -> bool {
    let checkpoint = pool.checkpoint.as_ref();
    checkpoint.is_some_and(|checkpoint| checkpoint.to == CheckpointTarget::Blob)
}

/// Where the containers of a cloud are.
fn blob_host(cloud: &str) -> &'static str {
    match cloud {
        "usgovernment" => "blob.core.usgovcloudapi.net",
        "china" => "blob.core.chinacloudapi.cn",
        _ => "blob.core.windows.net",
    }
}

/// Whether nodes of a pool write to the container that the tool makes.
pub(crate) fn is_made(pool: &Pool) -> bool {
    let checkpoint = pool.checkpoint.as_ref();
    checkpoint.is_some_and(|checkpoint| matches!(checkpoint.to, CheckpointTarget::Made(_)))
}
