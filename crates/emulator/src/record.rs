//! The log of requests, and counts of them.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::{
    clock::Instant,
    http::{Incoming, Method, Path},
    json::same,
    types,
};

/// What a request is, as far as counts tell requests apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    /// A GET of one thing.
    Read,
    /// A page of a list.
    List,
    /// A PUT or a PATCH.
    Write,
    /// A DELETE.
    Delete,
    /// A POST.
    Action,
    /// A look at a running operation.
    Poll,
    /// A token, or what leads to one.
    Token,
    /// Retail prices.
    Prices,
    /// A request to the sandbox itself, which is not logged.
    Admin,
}

impl RequestKind {
    /// The name that counts and the log use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::List => "list",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Action => "action",
            Self::Poll => "poll",
            Self::Token => "token",
            Self::Prices => "prices",
            Self::Admin => "admin",
        }
    }
}

/// A request that was served, or that a fault kept from being answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// Counts up from 1.
    pub number: u64,
    /// When it was answered.
    pub at: Instant,
    /// Its method.
    pub method: Method,
    /// Its path and query, as sent.
    pub path: String,
    /// What it is.
    pub kind: RequestKind,
    /// The type it is about, with the action behind it; empty for what has none.
    pub resource_type: String,
    /// The status of the answer; `None` where there was no answer.
    pub status: Option<u16>,
    /// The client's id of the request.
    pub client_request_id: Option<String>,
    /// The fault rule that acted on it.
    pub fault: Option<String>,
}

impl RequestRecord {
    fn show(&self) -> Value {
        json!({
            "number": self.number,
            "at": self.at.precise(),
            "method": self.method.as_str(),
            "path": self.path,
            "kind": self.kind.as_str(),
            "type": self.resource_type,
            "status": self.status,
            "clientRequestId": self.client_request_id,
            "fault": self.fault,
        })
    }
}

/// Counts of all requests since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// By what they are.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// By status; 0 stands for no answer.
    pub by_status: BTreeMap<u16, u64>,
    /// By method and type.
    pub by_type: BTreeMap<String, u64>,
}

impl Counters {
    /// All requests to ARM: everything but tokens and prices.
    pub fn arm(&self) -> u64 {
        self.by_kind
            .iter()
            .filter(|(kind, _)| !["token", "prices"].contains(kind))
            .map(|(_, count)| count)
            .sum()
    }

    pub(crate) fn show(&self) -> Value {
        json!({
            "arm": self.arm(),
            "byKind": self.by_kind,
            "byStatus": self.by_status.iter().map(|(status, count)| (status.to_string(), *count)).collect::<BTreeMap<_, _>>(),
            "byType": self.by_type,
        })
    }
}

/// Records that are kept; older ones are forgotten, counts go on.
const KEPT: usize = 100_000;

/// The log.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    records: VecDeque<RequestRecord>,
    counters: Counters,
    last: u64,
}

impl RequestLog {
    pub(crate) fn add(&mut self, record: RequestRecord) {
        self.last += 1;
        let mut record = record;
        record.number = self.last;
        let counters = &mut self.counters;
        *counters.by_kind.entry(record.kind.as_str()).or_default() += 1;
        *counters
            .by_status
            .entry(record.status.unwrap_or(0))
            .or_default() += 1;
        if !record.resource_type.is_empty() {
            let name = format!("{} {}", record.method, record.resource_type);
            *counters.by_type.entry(name).or_default() += 1;
        }
        if self.records.len() == KEPT {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &RequestRecord> {
        self.records.iter()
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Records after the one with this number, as the admin route shows them.
    pub(crate) fn show(&self, since: u64) -> Value {
        let records: Vec<Value> = self
            .records
            .iter()
            .filter(|record| record.number > since)
            .map(RequestRecord::show)
            .collect();
        json!({"value": records})
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.counters = Counters::default();
    }
}

/// What a request is about, before anything of it is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) kind: RequestKind,
    pub(crate) resource_type: String,
    /// The last name of its path.
    pub(crate) name: String,
}

/// Describes a request.
pub(crate) fn describe(incoming: &Incoming) -> Description {
    let plain = |kind: RequestKind| Description {
        kind,
        resource_type: String::new(),
        name: String::new(),
    };
    let path = incoming.path.to_lowercase();
    if path == "/sandbox" || path.starts_with("/sandbox/") {
        return plain(RequestKind::Admin);
    }
    if path.starts_with("/api/retail/") {
        return plain(RequestKind::Prices);
    }
    if !["/subscriptions", "/tenants", "/providers"]
        .iter()
        .any(|start| path.starts_with(start))
    {
        return plain(RequestKind::Token);
    }
    let parsed = Path::parse(&incoming.path);
    let resource_type = resource_type(&parsed);
    let open = parsed.is_open();
    let kind = match incoming.method {
        Method::Get | Method::Head if resource_type.to_lowercase().contains("operation") => {
            RequestKind::Poll
        }
        Method::Get | Method::Head if open && !is_view(&parsed) => RequestKind::List,
        Method::Get | Method::Head | Method::Other => RequestKind::Read,
        Method::Put | Method::Patch => RequestKind::Write,
        Method::Post => RequestKind::Action,
        Method::Delete => RequestKind::Delete,
    };
    let name = if parsed.kinds.is_empty() {
        parsed.group.clone().unwrap_or_default()
    } else {
        parsed.last_name().to_owned()
    };
    Description {
        kind,
        resource_type,
        name,
    }
}

fn is_view(path: &Path) -> bool {
    path.kinds
        .last()
        .is_some_and(|last| same(last, "instanceView"))
}

fn resource_type(path: &Path) -> String {
    if let Some(namespace) = &path.namespace {
        let Some(row) = types::find(namespace, &path.kinds) else {
            return format!("{namespace}/{}", path.kinds.join("/"));
        };
        let known = row.path.split('/').count();
        let mut name = row.name();
        for kind in path.kinds.iter().skip(known) {
            name.push('/');
            name.push_str(kind);
        }
        return name;
    }
    let own = match (path.kind().as_str(), path.group.is_some()) {
        ("" | "resourcegroups", true) | ("resourcegroups", false) => "resourceGroups",
        ("resources", _) => "resources",
        ("providers", _) => "providers",
        ("operationresults", _) => "operationResults",
        ("tenants", _) => "tenants",
        ("locations", _) => "subscriptions/locations",
        _ => "subscriptions",
    };
    format!("Microsoft.Resources/{own}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::http::Query;

    fn described(method: Method, path: &str) -> (RequestKind, String, String) {
        let incoming = Incoming {
            method,
            path: path.to_owned(),
            query: Query::default(),
            headers: BTreeMap::new(),
            body: Vec::new(),
            base: String::new(),
        };
        let Description {
            kind,
            resource_type,
            name,
        } = describe(&incoming);
        (kind, resource_type, name)
    }

    #[test]
    fn requests_are_described() {
        let vm =
            "/subscriptions/s/resourceGroups/rg/providers/microsoft.compute/virtualmachines/vm";
        let cases = [
            "PUT {vm} write Microsoft.Compute/virtualMachines vm",
            "POST {vm}/start action Microsoft.Compute/virtualMachines/start vm",
            "GET {vm}/instanceView read Microsoft.Compute/virtualMachines/instanceView vm",
            "GET /subscriptions/s/providers/Microsoft.Compute/virtualMachines list Microsoft.Compute/virtualMachines -",
            "GET /subscriptions/s/providers/Microsoft.Network/locations/l/operations/o poll Microsoft.Network/locations/operations o",
            "GET /subscriptions/s/operationresults/t poll Microsoft.Resources/operationResults t",
            "DELETE /subscriptions/s/resourceGroups/rg delete Microsoft.Resources/resourceGroups rg",
            "GET /subscriptions list Microsoft.Resources/subscriptions -",
            "POST /t/oauth2/v2.0/token token - -",
            "GET /sandbox/log admin - -",
        ];
        for case in cases {
            let case = case.replace("{vm}", vm);
            let words: Vec<&str> = case.split(' ').collect();
            let [method, path, kind, resource_type, name] = words.as_slice() else {
                panic!("expected five words: {case}");
            };
            let found = described(Method::named(method), path);
            let or_dash = |text: String| {
                if text.is_empty() {
                    "-".to_owned()
                } else {
                    text
                }
            };
            assert_eq!(
                (found.0.as_str(), or_dash(found.1), or_dash(found.2)),
                (*kind, (*resource_type).to_owned(), (*name).to_owned()),
                "{case}"
            );
        }
    }
}
