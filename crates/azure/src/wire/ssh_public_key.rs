//! Public keys.

use model::resource::{Known, SshPublicKey};
use serde_json::{Value, json};

use super::{
    DecodeError, EncodeError,
    fields::{location, text, without_comment},
};

pub(super) fn encode(key: &SshPublicKey) -> Result<Value, EncodeError> {
    let SshPublicKey {
        location,
        public_key,
    } = key;
    let Known::Value(public_key) = public_key else {
        return Err(EncodeError::Unknown("public_key"));
    };
    Ok(json!({ "location": location, "properties": { "publicKey": public_key } }))
}

pub(super) fn decode(body: &Value) -> Result<SshPublicKey, DecodeError> {
    // A key resource may have been made without a key, to be filled later.
    let public_key = text(body, "/properties/publicKey")
        .map(without_comment)
        .filter(|key| !key.is_empty())
        .map_or(Known::AfterApply, Known::Value);
    Ok(SshPublicKey {
        location: location(body)?,
        public_key,
    })
}
