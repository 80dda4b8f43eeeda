//! Reads what exists: lists only, never one request a resource.
//!
//! The subscription-wide list of what carries the stack's tag tells in which groups to look. It
//! lags, and leaves out tags; the lists of each type in those groups say what there is.

mod assemble;
mod batch;
mod checkpoints;
pub(crate) mod instances;
mod kubernetes;
mod leftover;
mod lists;
mod machines;
mod node_arrays;
pub(crate) mod one;
pub(crate) mod strangers;

use std::{collections::BTreeSet, time::Duration};

use model::{live::Live, units::Timestamp};

use crate::{
    client::Client,
    credentials::seen_subscriptions,
    error::{ReadError, RequestError},
};

/// What to read.
#[derive(Clone, Debug)]
pub struct ReadScope {
    /// The stack.
    pub stack: String,
    /// The resource group of the spec.
    pub resource_group: String,
    /// Whether the spec has data disks, so that disks are read even where none is known of yet.
    pub has_data_disks: bool,
    /// Whether the spec has pools of Batch, so that accounts are read even where none is known of
    /// yet.
    pub has_batch: bool,
    /// Whether the spec has agent pools, so that clusters of Kubernetes are read even where none is
    /// known of yet.
    pub has_aks: bool,
    /// Whether the spec has the tool make where checkpoints go, so that accounts of storage and
    /// identities are read even where none is known of yet.
    pub has_checkpoints: bool,
    /// Whether the spec has a Bastion host, so that hosts are read even where none is known of yet.
    pub has_bastion: bool,
    /// The pools whose nodes the run is about. Once scale sets of the stack hold all of them, VMs
    /// of others in the group are left out where they fill pages; `None` where each VM matters.
    pub pools: Option<BTreeSet<String>>,
    /// Whether everything in the group is listed, also what is of no type that we make: for a
    /// destroy, which names what it leaves.
    pub whole_group: bool,
    /// The time, to be noted in what is read.
    pub read_at: Option<Timestamp>,
}

/// Reads the stack and what stands beside it in its group.
///
/// # Errors
/// Something that a plan cannot do without was not read.
pub async fn read(client: &Client, scope: &ReadScope) -> Result<Live, ReadError> {
    let lists = lists::fetch(client, scope).await?;
    Ok(assemble::assemble(client.subscription(), scope, &lists))
}

/// How long lists may go on showing what is no more: they lag behind.
pub(crate) const LIST_LAG: Duration = Duration::from_secs(120);

/// The first and the longest wait between two readings.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Reads once more and again while `is_behind` says that what was read may be old, for as long as
/// lists may lag; then whatever is read counts.
///
/// # Errors
/// As [`read`].
pub async fn read_settled(
    client: &Client,
    scope: &ReadScope,
    is_behind: impl Fn(&Live) -> bool,
) -> Result<Live, ReadError> {
    let clock = client.clock();
    let end = clock.now().saturating_add(LIST_LAG);
    let mut wait = FIRST_WAIT;
    loop {
        let live = read(client, scope).await?;
        if !is_behind(&live) || clock.now().saturating_add(wait) > end {
            return Ok(live);
        }
        tracing::info!(?wait, "what was read may be old: it is read again");
        clock.sleep(wait).await;
        wait = wait.saturating_mul(2).min(LONGEST_WAIT);
    }
}

/// A read error that says what to do.
pub(crate) async fn explain(client: &Client, what: &str, source: RequestError) -> ReadError {
    ReadError {
        what: what.to_owned(),
        help: help(client, &source).await,
        source,
    }
}

async fn help(client: &Client, error: &RequestError) -> Option<String> {
    let arm = error.arm()?;
    if arm.has_code("AuthorizationFailed") {
        return Some(format!(
            "give the credential `{}` the role Reader on the subscription `{}`",
            client.credential_name(),
            client.subscription()
        ));
    }
    let no_such_subscription = [
        "SubscriptionNotFound",
        "InvalidSubscriptionId",
        "InvalidAuthenticationTokenTenant",
    ];
    if !no_such_subscription.iter().any(|code| arm.has_code(code)) {
        return None;
    }
    let seen = seen_subscriptions(client).await.ok()?;
    let names = if seen.is_empty() {
        "none".to_owned()
    } else {
        seen.join(", ")
    };
    Some(format!(
        "the credential `{}` does not see the subscription `{}`; it sees: {names}",
        client.credential_name(),
        client.subscription()
    ))
}

#[cfg(test)]
mod tests;
