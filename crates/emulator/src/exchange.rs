//! Whole exchanges, written to a file as they happen; without tokens and passwords.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
    sync::{Mutex, PoisonError},
};

use serde_json::{Map, Value, json};

use crate::{clock::Instant, http::Method, record::RequestKind, text::decode};

/// What stands where a secret was.
const MASK: &str = "***";

/// Headers of requests that are written; of all others there is no trace, whatever they carry.
const HEADERS: [&str; 12] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "content-length",
    "content-type",
    "if-match",
    "if-none-match",
    "user-agent",
    "x-ms-client-request-id",
    "x-ms-correlation-request-id",
    "x-ms-return-client-request-id",
    "x-ms-version",
];

/// Members whose values are secrets: lower-case names, everything in them.
const SECRETS: [&str; 16] = [
    "accesssas",
    "access_token",
    "adminpassword",
    "assertion",
    "client_assertion",
    "client_secret",
    "clientsecret",
    "customdata",
    "password",
    "privatekey",
    "protectedparameters",
    "protectedsettings",
    "refresh_token",
    "sastoken",
    "secret",
    "storageaccountkey",
];

/// Keys of a query whose values are secrets.
const SECRET_KEYS: [&str; 4] = ["access_token", "client_secret", "code", "sig"];

/// Where exchanges are written to: a file of JSON lines.
#[derive(Debug)]
pub struct Recording(Mutex<State>);

#[derive(Debug)]
struct State {
    file: File,
    written: u64,
    /// Why nothing is written any more.
    broken: Option<io::Error>,
}

/// One exchange, before it is masked.
pub(crate) struct Exchange<'a> {
    pub(crate) at: Instant,
    pub(crate) kind: RequestKind,
    pub(crate) method: Method,
    /// As sent, with its query.
    pub(crate) url: String,
    /// Headers of the request under lower-case names.
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) body: &'a [u8],
    /// Nothing where the connection was closed instead.
    pub(crate) answer: Option<Answered>,
}

/// What went back.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Recording {
    /// Begins a recording in a new file.
    ///
    /// # Errors
    /// There is such a file already, or it cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Self(Mutex::new(State {
            file,
            written: 0,
            broken: None,
        })))
    }

    /// Writes an exchange, in one line.
    pub(crate) fn write(&self, exchange: Exchange<'_>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken.is_some() {
            return;
        }
        let line = format!("{}\n", shown(exchange, state.written + 1));
        match state.file.write_all(line.as_bytes()) {
            Ok(()) => state.written += 1,
            Err(error) => state.broken = Some(error),
        }
    }

    /// Answers whether everything was written.
    pub(crate) fn end(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.broken.take().map_or(Ok(()), Err)
    }
}

fn shown(exchange: Exchange<'_>, number: u64) -> Value {
    let Exchange {
        at,
        kind,
        method,
        url,
        headers,
        body,
        answer,
    } = exchange;
    let headers: BTreeMap<&String, &String> = headers
        .iter()
        .filter(|(name, _)| HEADERS.contains(&name.as_str()))
        .collect();
    // What signs somebody in, and what it answers, is all secret.
    let closed = kind == RequestKind::Token;
    let mut request = json!({
        "method": method.as_str(),
        "url": without_secrets(&url),
        "headers": headers,
    });
    put_body(&mut request, body, closed);
    let response = answer.map(|answer| {
        let mut response = json!({"status": answer.status, "headers": answer.headers});
        put_body(&mut response, &answer.body, closed);
        response
    });
    json!({
        "number": number,
        "at": at.precise(),
        "kind": kind.as_str(),
        "request": request,
        "response": response,
    })
}

/// Adds a body, masked; what is no JSON cannot be masked, and is left out.
fn put_body(message: &mut Value, bytes: &[u8], closed: bool) {
    let Some(members) = message.as_object_mut().filter(|_| !bytes.is_empty()) else {
        return;
    };
    let why = if closed {
        "tokens and secrets"
    } else if let Ok(mut body) = serde_json::from_slice::<Value>(bytes) {
        mask(&mut body);
        members.insert("body".to_owned(), body);
        return;
    } else {
        "not JSON"
    };
    members.insert("bodyLeftOut".to_owned(), json!(why));
}

/// Takes secrets out of a query.
fn without_secrets(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let pairs: Vec<String> = query
        .split('&')
        .map(|pair| {
            let key = pair.split('=').next().unwrap_or_default();
            let plain = decode(key, true).to_lowercase();
            if SECRET_KEYS.contains(&plain.as_str()) {
                format!("{key}={MASK}")
            } else {
                pair.to_owned()
            }
        })
        .collect();
    format!("{path}?{}", pairs.join("&"))
}

/// Masks secrets: by their names, and the parameters that a template calls secure.
fn mask(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in secure(members) {
                for (given, value) in members
                    .get_mut("parameters")
                    .and_then(Value::as_object_mut)
                    .into_iter()
                    .flatten()
                {
                    if given.eq_ignore_ascii_case(&name) {
                        cover(value);
                    }
                }
            }
            for (name, value) in members {
                if SECRETS.contains(&name.to_lowercase().as_str()) {
                    cover(value);
                } else {
                    mask(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Names of the parameters that a template beside their values declares as secure.
fn secure(members: &Map<String, Value>) -> Vec<String> {
    let declared = members
        .get("template")
        .and_then(|template| template.get("parameters"))
        .and_then(Value::as_object);
    declared
        .into_iter()
        .flatten()
        .filter(|(_, declaration)| {
            declaration
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|kind| kind.to_lowercase().starts_with("secure"))
        })
        .map(|(name, _)| name.clone())
        .collect()
}

/// Masks all texts and numbers in a value; which members it has stays to be seen.
fn cover(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(cover),
        Value::Array(items) => items.iter_mut().for_each(cover),
        Value::String(_) | Value::Number(_) => *value = json!(MASK),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_by_name_and_by_declaration() {
        let mut body = json!({
            "properties": {
                "osProfile": {"adminUsername": "me", "adminPassword": "S1", "customData": "UzI="},
                "protectedSettings": {"key": "S3", "list": [4, {"b": "S5"}]},
                "template": {
                    "parameters": {
                        "Wire": {"type": "secureString"},
                        "whole": {"type": "SecureObject"},
                        "plain": {"type": "string"},
                    },
                    "resources": [{"properties": {"osProfile": {"AdminPassword": "S6"}}}],
                },
                "parameters": {
                    "wire": {"value": "S7"},
                    "whole": {"value": {"a": "S8"}},
                    "plain": {"value": "shown"},
                },
            },
        });
        mask(&mut body);
        let text = body.to_string();
        for number in 1..9 {
            assert!(!text.contains(&format!("S{number}")), "{text}");
        }
        assert!(!text.contains("UzI="), "{text}");
        assert_eq!(
            body.pointer("/properties/protectedSettings"),
            Some(&json!({"key": "***", "list": ["***", {"b": "***"}]}))
        );
        for pointer in [
            "/properties/parameters/plain/value",
            "/properties/osProfile/adminUsername",
            "/properties/template/parameters/Wire/type",
        ] {
            let text = body.pointer(pointer).and_then(Value::as_str);
            assert!(text.is_some_and(|text| text != MASK), "{pointer}");
        }
    }

    #[test]
    fn queries_keep_everything_but_secrets() {
        assert_eq!(
            without_secrets("/a?api-version=1&%24skiptoken=x&SIG=abc&s%69g=d"),
            "/a?api-version=1&%24skiptoken=x&SIG=***&s%69g=***"
        );
        assert_eq!(without_secrets("/a"), "/a");
    }

    #[test]
    fn what_is_no_json_is_left_out() {
        let mut message = json!({});
        put_body(&mut message, b"client_secret=S1", false);
        assert_eq!(message, json!({"bodyLeftOut": "not JSON"}));
        let mut message = json!({});
        put_body(&mut message, b"{\"access_token\": \"S1\"}", true);
        assert_eq!(message, json!({"bodyLeftOut": "tokens and secrets"}));
        let mut message = json!({});
        put_body(&mut message, b"", true);
        assert_eq!(message, json!({}));
    }
}
