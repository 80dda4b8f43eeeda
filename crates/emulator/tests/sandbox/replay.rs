//! Recorded conversations with Azure, held again with the sandbox.
//!
//! `tests/samples/replayed.json` has the requests of public recordings and what Azure answered.
//! Each is sent to a sandbox; status, headers and every member of the answer must agree, except
//! where a difference is explained here.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    evidence,
    rig::{KEY, Reply, Rig},
};

#[derive(Deserialize)]
struct File {
    recordings: Vec<Recording>,
}

#[derive(Deserialize)]
struct Recording {
    name: String,
    exchanges: Vec<Exchange>,
}

#[derive(Deserialize)]
struct Exchange {
    index: u32,
    method: String,
    url: String,
    body: Option<Value>,
    status: u16,
    headers: Vec<String>,
    /// URLs of an operation by the header that names them.
    #[serde(default)]
    begins: BTreeMap<String, String>,
    #[serde(default)]
    members: BTreeMap<String, Value>,
}

/// Headers that are compared.
pub(crate) const HEADERS: [&str; 7] = [
    "azure-asyncoperation",
    "azure-asyncnotification",
    "location",
    "retry-after",
    "etag",
    "x-ms-failure-cause",
    "x-ms-ratelimit-remaining-resource",
];

/// A difference between recording and sandbox: which recorded answers (0: all), what differs
/// (a pattern of members, or `header NAME`), and why.
#[derive(Clone, Copy)]
pub(crate) struct Difference(
    pub(crate) u32,
    pub(crate) &'static str,
    pub(crate) &'static str,
);

/// How long an operation is waited for, in steps.
const STEP: u64 = 5;

/// How long it takes until a simulated eviction happens.
const EVICTION: u64 = 80;

struct Replay<'a> {
    rig: &'a Rig,
    /// The sandbox's URLs by what the recorded ones end with.
    urls: BTreeMap<String, String>,
    /// The principal of the identity that was made.
    principal: Option<Value>,
    found: Vec<(u32, String, String)>,
}

/// Holds a recorded conversation again and answers the differences.
async fn hold(rig: &Rig, recording: &Recording) -> Vec<(u32, String, String)> {
    let mut replay = Replay {
        rig,
        urls: BTreeMap::new(),
        principal: None,
        found: Vec::new(),
    };
    for exchange in &recording.exchanges {
        replay.one(exchange).await;
    }
    replay.found
}

/// What tells the URLs of an operation apart: its id, and whether it is that of the result.
fn mark(url: &str) -> String {
    let path = url.split('?').next().unwrap_or_default();
    let id = path.rsplit('/').next().unwrap_or_default();
    let result = url.contains("monitor=true") || path.to_lowercase().contains("results/");
    format!("{id} {result}")
}

impl Replay<'_> {
    async fn one(&mut self, exchange: &Exchange) {
        let known = self.urls.get(&mark(&exchange.url)).cloned();
        let text = |member: &str| exchange.members.get(member).and_then(Value::as_str);
        let state = text("/properties/provisioningState");
        let reply = if let Some(url) = known {
            let path = url.replace(self.rig.sandbox.endpoint(), "");
            let ended = text("/status") == Some("Succeeded")
                || text("/status").is_none() && exchange.status != 202;
            self.polled(&path, ended).await
        } else {
            // Where Azure said that it was done, the client had waited.
            if exchange.method == "GET" && state == Some("Succeeded") {
                self.rig.pass(STEP);
            }
            let mut body = exchange.body.clone();
            let place = "/properties/principalId";
            let named = body.as_mut().and_then(|body| body.pointer_mut(place));
            if let (Some(named), Some(principal)) = (named, &self.principal) {
                *named = principal.clone();
            }
            self.rig.send(&exchange.method, &exchange.url, body).await
        };
        if exchange.url.contains("/userAssignedIdentities/") {
            let made = reply.body.pointer("/properties/principalId");
            self.principal = made.cloned().or(self.principal.take());
        }
        let begins = exchange.begins.iter();
        for (header, url) in begins.filter(|(_, url)| url.starts_with("http")) {
            let ours = reply.header(header).to_owned();
            if !ours.is_empty() {
                self.urls.insert(mark(url), ours);
            }
        }
        self.compare(exchange, &reply);
        if exchange.url.contains("/simulateEviction") {
            // The client waited until the VM was taken.
            self.rig.pass(EVICTION);
        }
        let unknown = exchange.members.get("/error/code") == Some(&json!("PrincipalNotFound"));
        if exchange.status == 429 || unknown {
            // The client waited before it tried again.
            self.rig.pass(STEP);
        }
    }

    /// Polls once, or until the operation has ended as it had in the recording.
    async fn polled(&self, path: &str, ended: bool) -> Reply {
        loop {
            let reply = self.rig.get(path).await;
            let runs = reply.status == 202 || reply.text("/status") == "InProgress";
            if !ended || !runs {
                return reply;
            }
            self.rig.pass(STEP);
        }
    }

    fn note(&mut self, exchange: &Exchange, what: String, values: String) {
        self.found.push((exchange.index, what, values));
    }

    fn compare(&mut self, exchange: &Exchange, reply: &Reply) {
        if exchange.status != reply.status {
            let values = format!(
                "{} became {}: {}",
                exchange.status, reply.status, reply.body
            );
            self.note(exchange, "status".to_owned(), values);
            return;
        }
        for header in HEADERS {
            let recorded = exchange.headers.iter().any(|name| name == header);
            if recorded != reply.headers.contains_key(header) {
                let values = format!("recorded: {recorded}");
                self.note(exchange, format!("header {header}"), values);
            }
        }
        let mut ours = BTreeMap::new();
        if !reply.body.is_null() {
            flatten(&reply.body, String::new(), &mut ours);
        }
        let paths: BTreeSet<&String> = exchange.members.keys().chain(ours.keys()).collect();
        for path in paths {
            let (theirs, ours) = (exchange.members.get(path), ours.get(path));
            let agree = match (theirs, ours) {
                (Some(Value::String(pattern)), Some(Value::String(text))) => fits(pattern, text),
                (theirs, ours) => theirs == ours,
            };
            if !agree {
                let show = |value: Option<&Value>| {
                    value.map_or_else(|| "nothing".to_owned(), Value::to_string)
                };
                let values = format!("{} became {}", show(theirs), show(ours));
                self.note(exchange, path.clone(), values);
            }
        }
    }
}

fn flatten(value: &Value, path: String, into: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                flatten(value, format!("{path}/{name}"), into);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                flatten(value, format!("{path}/{at}"), into);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)
        | Value::Array(_) => {
            into.insert(path, value.clone());
        }
    }
}

/// Whether a text fits a pattern of `*`.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

const RECORDINGS: [&str; 2] = [
    include_str!("../samples/replayed.json"),
    include_str!("../samples/services.json"),
];

fn recording(name: &str) -> Recording {
    RECORDINGS
        .into_iter()
        .flat_map(|text| {
            // The catalogue does not know what the canary region offers.
            let text = text.replace("centraluseuap", "centralus");
            let file: File = serde_json::from_str(&text).expect("the recordings");
            file.recordings
        })
        .find(|recording| recording.name == name)
        .expect("a recording of this name")
}

/// Holds a conversation again; what differs must be explained, and each explanation must be needed.
pub(crate) async fn agree(rig: &Rig, name: &str, explained: &[Difference]) {
    let mut recording = recording(name);
    for body in recording
        .exchanges
        .iter_mut()
        .filter_map(|one| one.body.as_mut())
    {
        for profile in ["", "/virtualMachineProfile"] {
            let keys = format!("/properties{profile}/osProfile/linuxConfiguration/ssh/publicKeys");
            let keys = body.pointer_mut(&keys).and_then(Value::as_array_mut);
            for key in keys.into_iter().flatten() {
                if let Some(data) = key.get_mut("keyData") {
                    *data = json!(KEY);
                }
            }
            let place = format!("/properties{profile}/storageProfile/imageReference");
            if let Some(image) = body.pointer_mut(&place) {
                // What is refused about an image is left as it is.
                if image.get("publisher") != Some(&json!("this publisher")) {
                    *image = image_of_first_generation();
                }
            }
        }
    }
    let mut used = BTreeSet::new();
    let mut unexplained = Vec::new();
    let mut differing = BTreeMap::new();
    for (index, what, values) in hold(rig, &recording).await {
        let reason = explained.iter().position(|Difference(at, pattern, _)| {
            (*at == 0 || *at == index) && fits(pattern, &what)
        });
        match reason.and_then(|at| explained.get(at).map(|Difference(_, _, why)| (at, *why))) {
            Some((at, why)) => {
                used.insert(at);
                let whys: &mut BTreeSet<String> = differing.entry(index.to_string()).or_default();
                whys.insert(why.to_owned());
            }
            None => unexplained.push(format!("{index} {what}: {values}")),
        }
    }
    assert!(
        unexplained.is_empty(),
        "{name} differs:\n{}",
        unexplained.join("\n")
    );
    for (at, Difference(_, pattern, why)) in explained.iter().enumerate() {
        assert!(used.contains(&at), "needless explanation: {pattern} {why}");
    }
    evidence::told("recording", name, recording.exchanges.len(), &differing);
}

/// Recordings that are replayed, by name: how many exchanges of each.
pub(crate) fn replayed() -> BTreeMap<String, usize> {
    RECORDINGS
        .into_iter()
        .flat_map(|text| {
            let file: File = serde_json::from_str(text).expect("the recordings");
            file.recordings
        })
        .map(|recording| (recording.name, recording.exchanges.len()))
        .collect()
}

/// The images of the recordings are withdrawn; this one boots on the same sizes.
pub(crate) fn image_of_first_generation() -> Value {
    json!({"publisher": "microsoft-dsvm", "offer": "ubuntu-2204", "sku": "2204", "version": "latest"})
}
