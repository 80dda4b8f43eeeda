//! SSH public keys.

use serde_json::{Value, json};
use ssh_key::{LineEnding, PrivateKey, private::Ed25519Keypair};

use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::{same, set, text},
    routes::common::{self, check_name, location, not_served, put_tags, tags},
    store::{
        entry::{Resource, resource_key},
        world::World,
    },
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    match (call.method(), kind.as_str(), call.path.is_open()) {
        (Method::Get, "sshpublickeys", true) => {
            let size = call.setup.pages.others;
            Ok(super::list(world, call, row, size, |key| show(call, key)))
        }
        (Method::Get, "sshpublickeys", false) => {
            common::resource(world, call).map(|key| Answer::json(200, show(call, key)))
        }
        (Method::Put, "sshpublickeys", false) => put(world, call, row),
        (Method::Patch, "sshpublickeys", false) => patch(world, call, row),
        (Method::Delete, "sshpublickeys", false) => Ok(match super::existing(world, call) {
            Some(key) => {
                world.remove(&resource_key(key.id.key()));
                Answer::empty(200)
            }
            None => Answer::empty(204),
        }),
        (Method::Post, "sshpublickeys/generatekeypair", true) => generate(world, call),
        _ => Err(not_served(call)),
    }
}

/// A key as recorded answers show it: without a type, with the group in upper case.
pub(crate) fn show(call: &Call<'_>, resource: &Resource) -> Value {
    let mut shown = common::base(resource);
    crate::json::remove(&mut shown, "/type");
    set(
        &mut shown,
        "/id",
        json!(crate::routes::shown_id(call, resource)),
    );
    shown
}

/// The id with the group in upper case.
pub(crate) fn loud(resource: &Resource) -> String {
    let mut id: Vec<String> = resource.id.as_str().split('/').map(str::to_owned).collect();
    if let Some(group) = id.get_mut(4) {
        *group = group.to_uppercase();
    }
    id.join("/")
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    let place = location(&given, row, old.as_ref())?;
    let tags = tags(&given)?;
    let mut body = json!({"location": place, "properties": {}});
    let kept = old
        .as_ref()
        .and_then(|old| text(&old.body, "/properties/publicKey"));
    if let Some(key) = text(&given, "/properties/publicKey").or(kept) {
        check_key(key)?;
        set(&mut body, "/properties/publicKey", json!(key));
    }
    put_tags(&mut body, tags);
    let mut key = old
        .clone()
        .unwrap_or_else(|| common::new(world, id, row, &place, Value::Null));
    key.body = body;
    key.changed = world.now();
    let answer = Answer::json(if old.is_some() { 200 } else { 201 }, show(call, &key));
    world.put_resource(key);
    Ok(answer)
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let mut key = common::resource(world, call)?.clone();
    if let Some(new) = text(&given, "/properties/publicKey") {
        check_key(new)?;
        set(&mut key.body, "/properties/publicKey", json!(new));
    }
    if let Some(tags) = tags(&given)? {
        put_tags(&mut key.body, Some(tags));
    }
    key.changed = world.now();
    let answer = Answer::json(200, show(call, &key));
    world.put_resource(key);
    Ok(answer)
}

/// Whether a text is a public key of a kind that VMs take: RSA, or Ed25519.
pub(crate) fn is_public_key(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let data = words.next().and_then(crate::text::base64_decode);
    ["ssh-rsa", "ssh-ed25519"].contains(&kind)
        && data.is_some_and(|bytes| {
            bytes.get(4..4 + kind.len()) == Some(kind.as_bytes()) && bytes.len() > 40
        })
}

fn check_key(key: &str) -> Result<(), ArmError> {
    if is_public_key(key) {
        return Ok(());
    }
    Err(ArmError::invalid_parameter(
        "publicKey",
        "The value of parameter publicKey is invalid.",
    ))
}

/// Makes a key pair of the kind asked for. Azure's default is RSA, which the sandbox cannot make.
fn generate(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let mut key = common::resource(world, call)?.clone();
    let body = match call.incoming.text().trim() {
        "" => json!({}),
        text => crate::body::read(text)?,
    };
    let kind = text(&body, "/encryptionType").unwrap_or("RSA");
    if !same(kind, "Ed25519") {
        return Err(ArmError::new(
            501,
            "NotServedBySandbox",
            format!(
                "The sandbox makes key pairs of the encryption type 'Ed25519' alone, not '{kind}'."
            ),
        ));
    }
    let seed = entropy();
    let pair = PrivateKey::from(Ed25519Keypair::from_seed(&seed));
    let unmade = |error: ssh_key::Error| {
        ArmError::new(
            500,
            "InternalServerError",
            format!("No key was made: {error}."),
        )
    };
    let public = pair.public_key().to_openssh().map_err(unmade)?;
    let private = pair.to_openssh(LineEnding::LF).map_err(unmade)?;
    set(&mut key.body, "/properties/publicKey", json!(public));
    key.changed = world.now();
    let id = text(&show(call, &key), "/id")
        .unwrap_or_default()
        .to_owned();
    world.put_resource(key);
    Ok(Answer::json(
        200,
        json!({"privateKey": private.as_str(), "publicKey": public, "id": id}),
    ))
}

/// Random bytes; the fixed bits of a random UUID are mixed away.
fn entropy() -> [u8; 32] {
    let mut seed = [0u8; 32];
    for part in seed.chunks_mut(8) {
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        let mixed = crate::text::Seeded::new(&[high, low]).next();
        for (place, byte) in part.iter_mut().zip(mixed.to_be_bytes()) {
            *place = byte;
        }
    }
    seed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_keys_are_recognised() {
        let pair = PrivateKey::from(Ed25519Keypair::from_seed(&entropy()));
        let public = pair.public_key().to_openssh().expect("a key");
        assert!(is_public_key(&public));
        assert!(is_public_key(&format!("{public} somebody@somewhere")));
        for wrong in ["", "ssh-rsa", "ssh-rsa AAAA", "ssh-dss AAAA", "hello world"] {
            assert!(!is_public_key(wrong), "{wrong}");
        }
    }
}
