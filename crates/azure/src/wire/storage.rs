//! Accounts of storage and their containers, identities of machines, and roles on containers.

use model::{
    resource::{BlobContainer, Known, ManagedIdentity, RoleAssignment, StorageAccount},
    units::CaseInsensitive,
};
use serde_json::{Map, Value, json};

use super::{
    DecodeError, EncodeError,
    fields::{location, member, required, required_id, text},
};

pub(super) fn encode_account(account: &StorageAccount) -> Value {
    let StorageAccount {
        location,
        sku,
        account_kind,
        shared_keys,
        public_blobs,
        plain_http,
        old_tls,
    } = account;
    json!({
        "location": location,
        "sku": { "name": sku },
        "kind": account_kind,
        "properties": {
            "allowSharedKeyAccess": shared_keys,
            "allowBlobPublicAccess": public_blobs,
            "supportsHttpsTrafficOnly": !plain_http,
            "minimumTlsVersion": if *old_tls { "TLS1_0" } else { "TLS1_2" },
        },
    })
}

/// What an account leaves out is what Azure takes it for: keys open it, everything else is shut.
pub(super) fn decode_account(body: &Value) -> Result<StorageAccount, DecodeError> {
    let flag = |name: &str, otherwise: bool| {
        let value = member(body, &format!("/properties/{name}"));
        value.and_then(Value::as_bool).unwrap_or(otherwise)
    };
    let tls = text(body, "/properties/minimumTlsVersion").unwrap_or("TLS1_0");
    Ok(StorageAccount {
        location: location(body)?,
        sku: required(body, "/sku/name")?.into(),
        account_kind: required(body, "/kind")?.into(),
        shared_keys: flag("allowSharedKeyAccess", true),
        public_blobs: flag("allowBlobPublicAccess", false),
        plain_http: !flag("supportsHttpsTrafficOnly", true),
        old_tls: matches!(tls.to_uppercase().as_str(), "TLS1_0" | "TLS1_1"),
    })
}

/// The body of a PATCH of an account: what is listed alone.
pub(super) fn account_patch(
    account: &StorageAccount,
    attributes: &[String],
) -> Result<Value, EncodeError> {
    let all = encode_account(account);
    let mut changed = Map::new();
    for attribute in attributes {
        let name = match attribute.as_str() {
            "shared_keys" => "allowSharedKeyAccess",
            "public_blobs" => "allowBlobPublicAccess",
            "plain_http" => "supportsHttpsTrafficOnly",
            "old_tls" => "minimumTlsVersion",
            _ => return Err(EncodeError::Unchangeable(attribute.clone())),
        };
        changed.insert(name.to_owned(), all["properties"][name].clone());
    }
    Ok(json!({ "properties": changed }))
}

pub(super) fn encode_container(container: &BlobContainer) -> Value {
    json!({ "properties": { "publicAccess": container.public_access } })
}

pub(super) fn decode_container(body: &Value) -> Result<BlobContainer, DecodeError> {
    let properties = member(body, "/properties").filter(|all| all.is_object());
    if properties.is_none() {
        return Err(DecodeError::Missing("properties".to_owned()));
    }
    let access = text(body, "/properties/publicAccess").unwrap_or("None");
    Ok(BlobContainer {
        public_access: CaseInsensitive::from(access),
    })
}

pub(super) fn encode_identity(identity: &ManagedIdentity) -> Value {
    let ManagedIdentity {
        location,
        // Azure gives it.
        principal: _,
    } = identity;
    json!({ "location": location })
}

pub(super) fn decode_identity(body: &Value) -> Result<ManagedIdentity, DecodeError> {
    Ok(ManagedIdentity {
        location: location(body)?,
        principal: text(body, "/properties/principalId").map(ToOwned::to_owned),
    })
}

/// The kind of principal is said, so that Azure does not look in its directory for one that has
/// only just been made.
pub(super) fn encode_role(role: &RoleAssignment) -> Result<Value, EncodeError> {
    let RoleAssignment { role, principal } = role;
    let Known::Value(principal) = principal else {
        return Err(EncodeError::Unknown("principal"));
    };
    Ok(json!({
        "properties": {
            "roleDefinitionId": role,
            "principalId": principal,
            "principalType": "ServicePrincipal",
        },
    }))
}

pub(super) fn decode_role(body: &Value) -> Result<RoleAssignment, DecodeError> {
    let principal = required(body, "/properties/principalId")?.to_owned();
    Ok(RoleAssignment {
        role: required_id(body, "/properties/roleDefinitionId")?,
        principal: Known::Value(principal),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_that_says_little_is_as_open_as_azure_takes_it_for() {
        let body = |properties: Value| {
            let account = json!({
                "location": "East US", "kind": "StorageV2", "sku": {"name": "standard_lrs"},
                "properties": properties,
            });
            decode_account(&account).expect("an account")
        };
        let old = body(json!({}));
        assert_eq!(
            [
                old.shared_keys,
                old.public_blobs,
                old.plain_http,
                old.old_tls
            ],
            [true, false, false, true]
        );
        let newer = body(json!({
            "minimumTlsVersion": "TLS1_3", "allowSharedKeyAccess": false,
            "allowBlobPublicAccess": null, "supportsHttpsTrafficOnly": false,
        }));
        assert_eq!(
            [
                newer.shared_keys,
                newer.public_blobs,
                newer.plain_http,
                newer.old_tls
            ],
            [false, false, true, false]
        );
    }

    #[test]
    fn a_change_of_an_account_writes_what_is_listed_alone() {
        let body = json!({
            "location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"},
            "properties": {"minimumTlsVersion": "TLS1_2", "allowSharedKeyAccess": false},
        });
        let account = decode_account(&body).expect("an account");
        let patch = |attribute: &str| account_patch(&account, &[attribute.to_owned()]);
        let expected = json!({"properties": {"allowSharedKeyAccess": false}});
        assert_eq!(patch("shared_keys").ok(), Some(expected));
        let expected = json!({"properties": {"minimumTlsVersion": "TLS1_2"}});
        assert_eq!(patch("old_tls").ok(), Some(expected));
        assert!(patch("sku").is_err());
    }
}
