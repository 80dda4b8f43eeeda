//! Storage accounts and their blob containers, as far as the management side goes.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{
    cluster::padded,
    serve::{Draft, tag},
};
use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::{default, remove, same, set, strip_nulls, text},
    routes::common::{self, not_served},
    store::{entry::Resource, world::World},
    text::Seeded,
    types,
};

const KIND: &str = "Microsoft.Storage/storageAccounts";
const SERVICE: &str = "Microsoft.Storage/storageAccounts/blobServices";

/// The body of an account; its blob service comes with it.
pub(super) fn build(
    world: &mut World,
    call: &Call<'_>,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    let mut given = draft.given.clone();
    strip_nulls(&mut given);
    let name = draft.id.name().to_owned();
    if draft.old.is_none()
        && let Some(message) = taken(world, &name)
    {
        return Err(ArmError::new(409, "StorageAccountAlreadyTaken", message));
    }
    let mut body = draft
        .old
        .as_ref()
        .map_or_else(|| json!({}), |old| old.body.clone());
    remove(&mut given, "/location");
    crate::json::merge(&mut body, &given);
    remove(&mut body, "/name");
    for member in ["sku", "kind"] {
        if body.get(member).is_none() {
            return Err(ArmError::new(
                400,
                "InvalidRequestContent",
                format!("The account has no '{member}'."),
            ));
        }
    }
    fill(world, draft, &mut body);
    if draft.old.is_none() {
        let row = types::named(SERVICE).ok_or_else(|| not_served(call))?;
        let id = draft.id.child("blobServices", "default");
        let service = json!({"properties": {
            "cors": {"corsRules": []},
            "deleteRetentionPolicy": {"allowPermanentDelete": false, "enabled": false},
        }});
        draft
            .below
            .push(common::new(world, id, row, &draft.place, service));
    }
    Ok(body)
}

/// What an account has that was not given, as a recording of the Azure CLI shows it.
fn fill(world: &World, draft: &Draft, body: &mut Value) {
    let name = draft.id.name();
    let place = &draft.place;
    let created = draft
        .old
        .as_ref()
        .map_or_else(|| world.now(), |old| old.created)
        .precise();
    let tier = text(body, "/sku/name")
        .and_then(|sku| sku.split('_').next())
        .unwrap_or("Standard")
        .to_owned();
    set(body, "/sku/tier", json!(tier));
    let service = |kind: &str| format!("https://{name}.{kind}.core.windows.net/");
    let enabled = json!({"keyType": "Account", "enabled": true, "lastEnabledTime": created});
    for (member, value) in [
        ("keyCreationTime", json!({"key1": created, "key2": created})),
        ("allowCrossTenantReplication", json!(false)),
        ("privateEndpointConnections", json!([])),
        ("minimumTlsVersion", json!("TLS1_0")),
        ("allowBlobPublicAccess", json!(false)),
        ("networkAcls/ipv6Rules", json!([])),
        ("networkAcls/bypass", json!("AzureServices")),
        ("networkAcls/virtualNetworkRules", json!([])),
        ("networkAcls/ipRules", json!([])),
        ("networkAcls/defaultAction", json!("Allow")),
        ("supportsHttpsTrafficOnly", json!(true)),
        ("encryption/services/file", enabled.clone()),
        ("encryption/services/blob", enabled),
        ("encryption/keySource", json!("Microsoft.Storage")),
        ("provisioningState", json!("Succeeded")),
        ("creationTime", json!(created)),
        ("primaryLocation", json!(place)),
        ("statusOfPrimary", json!("available")),
    ] {
        default(body, &format!("/properties/{member}"), value);
    }
    for kind in ["blob", "queue", "table", "file"] {
        let place = format!("/properties/primaryEndpoints/{kind}");
        set(body, &place, json!(service(kind)));
    }
    if text(body, "/kind").is_some_and(|kind| same(kind, "StorageV2")) {
        default(body, "/properties/accessTier", "Hot");
        for kind in ["dfs", "web"] {
            let place = format!("/properties/primaryEndpoints/{kind}");
            set(body, &place, json!(service(kind)));
        }
    }
}

/// The words for a name that is in use, by whatever subscription.
fn taken(world: &World, name: &str) -> Option<String> {
    let used = world.subscriptions().any(|subscription| {
        world
            .of_kind(&subscription.id, KIND, None)
            .any(|account| same(account.name(), name))
    });
    used.then(|| format!("The storage account named {name} is already taken."))
}

/// The account as its GET shows it: always with tags.
pub(super) fn show(_: &World, _: &Call<'_>, account: &Resource) -> Value {
    let mut shown = common::base(account);
    remove(&mut shown, "/keyGenerations");
    default(&mut shown, "/tags", json!({}));
    shown
}

/// The actions of an account: its keys.
pub(super) fn act(
    world: &mut World,
    call: &Call<'_>,
    account: Resource,
    action: &str,
) -> Result<Answer, ArmError> {
    let mut account = account;
    match action {
        "listkeys" => {}
        "regeneratekey" => {
            let given = crate::body::read(&call.incoming.text())?;
            let name = text(&given, "/keyName").unwrap_or_default();
            if !["key1", "key2"].contains(&name) {
                return Err(ArmError::new(
                    400,
                    "InvalidValuesForRequestParameters",
                    format!("The key '{name}' is neither 'key1' nor 'key2'."),
                ));
            }
            let now = world.now().precise();
            let place = format!("/keyGenerations/{name}");
            let count = crate::json::number(&account.body, &place).unwrap_or(0) + 1;
            set(&mut account.body, &place, json!(count));
            let place = format!("/properties/keyCreationTime/{name}");
            set(&mut account.body, &place, json!(now));
            world.put_resource(account.clone());
        }
        _ => return Err(not_served(call)),
    }
    let keys: Vec<Value> = ["key1", "key2"]
        .into_iter()
        .map(|name| {
            let count = crate::json::number(&account.body, &format!("/keyGenerations/{name}"));
            let text = format!("{} {name} {}", account.id.key(), count.unwrap_or(0));
            let mut stream = Seeded::of_text(call.setup.seed, &text);
            let made = format!("/properties/keyCreationTime/{name}");
            json!({
                "creationTime": account.body.pointer(&made),
                "keyName": name,
                "value": padded(&stream.bytes::<64>()),
                "permissions": "FULL",
            })
        })
        .collect();
    Ok(Answer::json(200, json!({"keys": keys})))
}

/// Whether a name can be had.
pub(super) fn check_name(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    if call.method() != Method::Post {
        return Err(not_served(call));
    }
    let given = crate::body::read(&call.incoming.text())?;
    let name = text(&given, "/name").unwrap_or_default();
    let rule = types::named(KIND).and_then(|row| row.names);
    let answer = if let Some(error) = rule.and_then(|rule| rule.check(name).err()) {
        json!({
            "nameAvailable": false, "reason": "AccountNameInvalid", "message": error.message,
        })
    } else if let Some(message) = taken(world, name) {
        json!({"nameAvailable": false, "reason": "AlreadyExists", "message": message})
    } else {
        json!({"nameAvailable": true})
    };
    Ok(Answer::json(200, answer))
}

/// The body of a container.
pub(super) fn build_container(
    world: &mut World,
    _: &Call<'_>,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    let mut given = draft.given.clone();
    strip_nulls(&mut given);
    let mut body = json!({"properties": given.get("properties").cloned().unwrap_or(json!({}))});
    default(&mut body, "/properties/publicAccess", "None");
    let open = text(&body, "/properties/publicAccess").is_some_and(|access| !same(access, "None"));
    let account = draft.id.parent().and_then(|service| service.parent());
    let allowed = account
        .and_then(|id| world.resource(&id))
        .and_then(|account| account.body.pointer("/properties/allowBlobPublicAccess"))
        == Some(&json!(true));
    if open && !allowed {
        return Err(ArmError::new(
            409,
            "PublicAccessNotPermitted",
            "Public access is not permitted on this storage account.",
        ));
    }
    for (member, value) in [
        ("deleted", json!(false)),
        ("remainingRetentionDays", json!(0)),
        ("defaultEncryptionScope", json!("$account-encryption-key")),
        ("denyEncryptionScopeOverride", json!(false)),
        ("leaseStatus", json!("Unlocked")),
        ("leaseState", json!("Available")),
        ("hasImmutabilityPolicy", json!(false)),
        ("hasLegalHold", json!(false)),
    ] {
        default(&mut body, &format!("/properties/{member}"), value);
    }
    let now = world.now().precise();
    set(&mut body, "/properties/lastModifiedTime", json!(now));
    set(&mut body, "/etag", json!(format!("\"{}\"", tag(world))));
    Ok(body)
}

/// The refusal of a container that is not there.
pub(super) fn missing(_: &Call<'_>, _: &ArmId) -> ArmError {
    ArmError::new(
        404,
        "ContainerNotFound",
        "The specified container does not exist.",
    )
}
