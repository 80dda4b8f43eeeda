//! User-assigned identities of what runs on nodes. Others may have given a node more of them, or
//! one of its own: those stay.

use std::collections::BTreeSet;

use model::ids::ArmId;
use serde_json::{Map, Value, json};

use super::{
    DecodeError,
    fields::{member, text, unsupported},
};

const IDS: &str = "/identity/userAssignedIdentities";

/// The identities as a member of a new body; nothing where there are none.
pub(super) fn encode(ids: &BTreeSet<ArmId>) -> Option<Value> {
    over_live(ids, &Value::Null)
}

/// The identities that a body tells.
pub(super) fn decode(body: &Value) -> Result<BTreeSet<ArmId>, DecodeError> {
    let members = member(body, IDS).and_then(Value::as_object);
    let ids = members.into_iter().flatten().map(|(name, _)| name);
    ids.map(|id| id.parse().map_err(|_| unsupported(IDS, id)))
        .collect()
}

/// The identities together with those that the live body has.
pub(super) fn over_live(ids: &BTreeSet<ArmId>, live: &Value) -> Option<Value> {
    let kind = text(live, "/identity/type").unwrap_or_default();
    let own = kind.to_lowercase().contains("systemassigned");
    let mut all: Map<String, Value> = member(live, IDS)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(id, _)| (id.clone(), json!({})))
        .collect();
    for id in ids {
        let id = id.to_string();
        if !all.keys().any(|known| known.eq_ignore_ascii_case(&id)) {
            all.insert(id, json!({}));
        }
    }
    match (own, all.is_empty()) {
        (false, true) => None,
        (true, true) => Some(json!({"type": "SystemAssigned"})),
        (false, false) => Some(json!({"type": "UserAssigned", "userAssignedIdentities": all})),
        (true, false) => Some(json!({
            "type": "SystemAssigned, UserAssigned", "userAssignedIdentities": all,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/ours";
    const THEIRS: &str = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/theirs";

    fn ids(ids: &[&str]) -> BTreeSet<ArmId> {
        let ids = ids.iter().map(|id| id.parse().expect("an id"));
        ids.collect()
    }

    #[test]
    fn identities_are_the_same_there_and_back() {
        let body = json!({"identity": encode(&ids(&[OURS, THEIRS]))});
        assert_eq!(body["identity"]["type"], "UserAssigned");
        assert_eq!(decode(&body).expect("identities"), ids(&[OURS, THEIRS]));
        assert_eq!(encode(&ids(&[])), None);
        assert_eq!(decode(&json!({})).expect("identities"), ids(&[]));
        let odd = json!({"identity": {"userAssignedIdentities": {"?": {}}}});
        assert!(decode(&odd).is_err());
    }

    #[test]
    fn what_others_have_given_a_node_stays() {
        let live = |kind: &str, users: Value| json!({"identity": {"type": kind, "principalId": "p", "userAssignedIdentities": users}});
        let check = |live: &Value, kind: &str, count: usize| {
            let all = over_live(&ids(&[OURS]), live).expect("an identity");
            assert_eq!(all["type"], kind);
            assert_eq!(all.get("principalId"), None);
            let found = decode(&json!({"identity": all})).expect("identities");
            assert_eq!(
                (
                    found.len(),
                    found.contains(&ids(&[OURS]).pop_first().expect("one"))
                ),
                (count, true)
            );
        };
        check(&Value::Null, "UserAssigned", 1);
        check(
            &live("SystemAssigned", Value::Null),
            "SystemAssigned, UserAssigned",
            1,
        );
        check(
            &live(
                "UserAssigned",
                json!({(OURS.to_uppercase()): {"clientId": "c"}}),
            ),
            "UserAssigned",
            1,
        );
        check(
            &live("SystemAssigned, UserAssigned", json!({(THEIRS): {}})),
            "SystemAssigned, UserAssigned",
            2,
        );
    }
}
