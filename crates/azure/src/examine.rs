//! Whether the subscription can be worked in: its state, namespaces, permissions, and the clocks.
//!
//! Nothing is tried out: only what Azure tells is looked at.

use std::collections::BTreeMap;

use azure_core::{Method, date};
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

/// What a credential may do in a subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    grants: Vec<Grant>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Grant {
    actions: Vec<String>,
    not_actions: Vec<String>,
}

impl Permissions {
    /// Reads the grants of an answer.
    fn read(items: &[Value]) -> Self {
        let texts = |item: &Value, name: &str| -> Vec<String> {
            let list = item.get(name).and_then(Value::as_array);
            let texts = list.into_iter().flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        };
        let grants = items.iter().map(|item| Grant {
            actions: texts(item, "actions"),
            not_actions: texts(item, "notActions"),
        });
        Self {
            grants: grants.collect(),
        }
    }

    /// Whether an action such as `Microsoft.Compute/virtualMachines/write` is allowed: by one
    /// role that does not exclude it itself.
    pub fn allow(&self, action: &str) -> bool {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| covers(pattern, action));
        self.grants
            .iter()
            .any(|grant| fits(&grant.actions) && !fits(&grant.not_actions))
    }
}

/// Whether a pattern in which `*` stands for anything covers a text, without regard to case.
fn covers(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Asks about the subscription. What cannot be read stands in the place of its answer.
pub async fn examine(client: &Client) -> Examination {
    let path = format!("/subscriptions/{}", client.subscription());
    let reply = get(client, &path, versions::SUBSCRIPTIONS).await;
    let azure_time = reply.as_ref().ok().and_then(time_of);
    let paths = ["providers", "providers/Microsoft.Authorization/permissions"];
    let [namespaces, permissions] = paths.map(|below| format!("{path}/{below}"));
    let (namespaces, permissions) = futures::future::join(
        client.list(&namespaces, &[("api-version", versions::RESOURCES)]),
        client.list(&permissions, &[("api-version", versions::AUTHORIZATION)]),
    )
    .await;
    Examination {
        subscription: reply.map(|reply| SubscriptionState {
            name: text(&reply.body, "displayName"),
            state: text(&reply.body, "state"),
        }),
        namespaces: namespaces.map(|items| {
            let states = items.iter();
            let states =
                states.map(|item| (text(item, "namespace"), text(item, "registrationState")));
            states.collect()
        }),
        permissions: permissions.map(|items| Permissions::read(&items)),
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

    #[test]
    fn patterns_cover_what_stars_stand_for() {
        for (pattern, action, covered) in [
            ("*", "Microsoft.Compute/virtualMachines/write", true),
            ("*/read", "Microsoft.Compute/virtualMachines/read", true),
            ("*/read", "Microsoft.Compute/virtualMachines/write", false),
            ("microsoft.compute/*", "Microsoft.Compute/disks/write", true),
            (
                "Microsoft.Compute/*/write",
                "Microsoft.Compute/disks/write",
                true,
            ),
            (
                "Microsoft.Compute/*/write",
                "Microsoft.Network/disks/write",
                false,
            ),
            (
                "Microsoft.Compute/disks/write",
                "Microsoft.Compute/disks/write",
                true,
            ),
            (
                "Microsoft.Compute/disks",
                "Microsoft.Compute/disks/write",
                false,
            ),
            ("a*b*b", "ab", false),
            ("a*b*b", "aXbYb", true),
        ] {
            assert_eq!(covers(pattern, action), covered, "{pattern} {action}");
        }
    }

    #[test]
    fn a_role_that_excludes_does_not_stop_another_that_allows() {
        let contributor =
            json!({"actions": ["*"], "notActions": ["Microsoft.Authorization/*/Write"]});
        let reader = json!({"actions": ["*/read"], "notActions": []});
        let owner = json!({"actions": ["*"]});
        let allowed = |grants: &[Value], action: &str| Permissions::read(grants).allow(action);
        let write = "Microsoft.Authorization/roleAssignments/write";
        assert!(!allowed(&[contributor.clone(), reader.clone()], write));
        assert!(allowed(&[contributor.clone(), owner], write));
        assert!(allowed(&[contributor], "Microsoft.Compute/disks/write"));
        assert!(!allowed(&[reader], "Microsoft.Compute/disks/write"));
        assert!(!allowed(&[], "Microsoft.Compute/disks/read"));
    }

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
