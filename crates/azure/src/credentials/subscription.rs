//! Which subscription to use where nobody says: the environment's, the Azure CLI's own, or the
//! only one that the credential sees.

use std::ffi::OsStr;

use azure_identity::Executor;
use serde_json::Value;

use super::{chain::ConnectError, developer::Tools};
use crate::{
    client::Client,
    error::RequestError,
    settings::{CredentialName, Settings},
    versions,
};

/// A subscription that the credential sees.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    id: String,
    name: String,
}

/// The subscription to use.
pub(crate) async fn subscription_of(
    settings: &Settings,
    client: &Client,
) -> Result<String, ConnectError> {
    if let Some(subscription) = settings.variable("AZURE_SUBSCRIPTION_ID") {
        return Ok(subscription.to_owned());
    }
    if client.credential_name() == CredentialName::AzureCli.name()
        && let Some(subscription) = default_of_cli(settings).await
    {
        return Ok(subscription);
    }
    let mut seen = seen(client).await.map_err(ConnectError::Subscriptions)?;
    match (seen.pop(), seen.len()) {
        (Some(only), 0) => Ok(only.id),
        (None, _) => Err(ConnectError::NoSubscription {
            credential: client.credential_name().to_owned(),
        }),
        (Some(last), _) => {
            seen.push(last);
            Err(ConnectError::ManySubscriptions {
                found: seen
                    .into_iter()
                    .map(|seen| format!("{} ({})", seen.id, seen.name))
                    .collect(),
            })
        }
    }
}

/// The subscriptions that the credential sees.
async fn seen(client: &Client) -> Result<Vec<Seen>, RequestError> {
    let query = [("api-version", versions::SUBSCRIPTIONS)];
    let items = client.list("/subscriptions", &query).await?;
    let text = |item: &Value, name: &str| {
        item.get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    Ok(items
        .iter()
        .map(|item| Seen {
            id: text(item, "subscriptionId"),
            name: text(item, "displayName"),
        })
        .collect())
}

/// The same in words, for messages.
pub(crate) async fn seen_subscriptions(client: &Client) -> Result<Vec<String>, RequestError> {
    let seen = seen(client).await?;
    Ok(seen
        .into_iter()
        .map(|seen| format!("{} ({})", seen.id, seen.name))
        .collect())
}

/// What `az account set` has chosen.
async fn default_of_cli(settings: &Settings) -> Option<String> {
    let tools = Tools::new(&settings.environment);
    let shell = ["-c", "az account show --query id -o json"].map(OsStr::new);
    let output = tools.run(OsStr::new("/bin/sh"), &shell).await.ok()?;
    let document: Value = serde_json::from_slice(&output.stdout).ok()?;
    document.as_str().map(ToOwned::to_owned)
}
