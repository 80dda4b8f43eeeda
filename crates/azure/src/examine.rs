//! Whether the subscription can be worked in: its state, namespaces, permissions, and the clocks.
//!
//! Nothing is tried out: only what Azure tells is looked at.

use std::collections::BTreeMap;

use azure_core::{Method, date};
use model::permissions::{Grant, Permissions};
use serde_json::Value;

use crate::{call::Reply, client::Client, error::RequestError, versions};

/// What Azure tells of the subscription and of who asks.
#[derive(Debug)]
pub struct Examination {
    /// The subscription.
    pub subscription: Result<SubscriptionState, RequestError>,
    /// Namespaces with their states of registration, such as `Registered`.
    pub namespaces: Result<BTreeMap<String, String>, RequestError>,
    /// What the credential may do.
    pub permissions: Result<Permissions, RequestError>,
    /// Azure's time in seconds since 1970, as the first answer says.
    pub azure_time: Option<i64>,
}

/// A subscription as Azure describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionState {
    /// Its name.
    pub name: String,
    /// `Enabled`, `Warned`, `PastDue`, `Disabled` or `Deleted`.
    pub state: String,
}

/// Reads the grants of an answer.
fn permissions_of(items: &[Value]) -> Permissions {
    let texts = |item: &Value, name: &str| -> Vec<String> {
        let list = item.get(name).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let grants = items.iter().map(|item| Grant {
        actions: texts(item, "actions"),
        not_actions: texts(item, "notActions"),
    });
    Permissions {
        grants: grants.collect(),
    }
}

/// What the credential may do in a scope: the subscription or one of its groups.
pub(crate) async fn permissions(client: &Client, scope: &str) -> Result<Permissions, RequestError> {
    let path = format!("{scope}/providers/Microsoft.Authorization/permissions");
    let items = client
        .list(&path, &[("api-version", versions::AUTHORIZATION)])
        .await?;
    Ok(permissions_of(&items))
}

/// Namespaces of the subscription with their states of registration.
pub(crate) async fn namespaces(client: &Client) -> Result<BTreeMap<String, String>, RequestError> {
    let path = format!("/subscriptions/{}/providers", client.subscription());
    let items = client
        .list(&path, &[("api-version", versions::RESOURCES)])
        .await?;
    let states = items.iter();
    let states = states.map(|item| (text(item, "namespace"), text(item, "registrationState")));
    Ok(states.collect())
}

/// Asks about the subscription. What cannot be read stands in the place of its answer.
pub async fn examine(client: &Client) -> Examination {
    let path = format!("/subscriptions/{}", client.subscription());
    let reply = get(client, &path, versions::SUBSCRIPTIONS).await;
    let azure_time = reply.as_ref().ok().and_then(time_of);
    let (namespaces, permissions) =
        futures::future::join(namespaces(client), permissions(client, &path)).await;
    Examination {
        subscription: reply.map(|reply| SubscriptionState {
            name: text(&reply.body, "displayName"),
            state: text(&reply.body, "state"),
        }),
        namespaces,
        permissions,
        azure_time,
    }
}

async fn get(client: &Client, path: &str, version: &str) -> Result<Reply, RequestError> {
    let call = client.call_at(Method::Get, path, &[("api-version", version)])?;
    client.send(&call).await
}

fn time_of(reply: &Reply) -> Option<i64> {
    let told = date::parse_rfc1123(reply.header("date")?).ok()?;
    Some(told.unix_timestamp())
}

fn text(value: &Value, name: &str) -> String {
    let text = value.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Act, Seen, Server};

    fn answers(seen: &Seen) -> Act {
        let path = seen.target.split('?').next().unwrap_or_default();
        match path {
            "/subscriptions/s" => {
                Act::json(200, &json!({"displayName": "Trial", "state": "Warned"}))
                    .with("date", "Mon, 30 Nov 2026 14:00:00 GMT")
            }
            "/subscriptions/s/providers" => Act::json(
                200,
                &json!({"value": [{"namespace": "Microsoft.Compute", "registrationState": "NotRegistered"}]}),
            ),
            _ => Act::error(403, "AuthorizationFailed"),
        }
    }

    #[tokio::test]
    async fn what_cannot_be_read_leaves_the_rest() {
        let server = Server::start(answers).await;
        let (client, _) = server.client().await;
        let found = examine(&client).await;
        let subscription = found.subscription.expect("it is read");
        assert_eq!(
            (subscription.name.as_str(), subscription.state.as_str()),
            ("Trial", "Warned")
        );
        assert_eq!(found.azure_time, Some(1_796_047_200));
        let namespaces = found.namespaces.expect("they are read");
        assert_eq!(namespaces["Microsoft.Compute"], "NotRegistered");
        let error = found.permissions.expect_err("they are refused");
        assert_eq!(error.arm().map(|arm| arm.status), Some(403));
    }
}
