//! Requests and answers without the wire: what the routes work with.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::Value;

use crate::text::decode;

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Reads without a body.
    Head,
    /// Creates or replaces.
    Put,
    /// Changes.
    Patch,
    /// Acts.
    Post,
    /// Deletes.
    Delete,
    /// A method that ARM does not have.
    Other,
}

impl Method {
    /// Every method a fault rule can name.
    pub(crate) const ALL: [Self; 6] = [
        Self::Get,
        Self::Head,
        Self::Put,
        Self::Patch,
        Self::Post,
        Self::Delete,
    ];

    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Other => "OTHER",
        }
    }

    /// The method of this name.
    pub(crate) fn named(text: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|method| method.as_str() == text)
            .unwrap_or(Self::Other)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub(crate) method: Method,
    /// The path as sent, without the query.
    pub(crate) path: String,
    pub(crate) query: Query,
    /// Headers under lower-case names.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// Where the client reached the sandbox: `http://127.0.0.1:1234`.
    pub(crate) base: String,
}

impl Incoming {
    /// A header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The body as text; broken bytes are shown as such.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The query of a request, decoded, in the order sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads the part of a URL after `?`.
    pub(crate) fn parse(text: &str) -> Self {
        Self(
            text.split('&')
                .filter(|pair| !pair.is_empty())
                .map(|pair| {
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(key, true), decode(value, true))
                })
                .collect(),
        )
    }

    /// The value of a key, which compares without case.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(key))
            .map(|(_, value)| value.as_str())
    }

    /// All pairs.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// What an answer carries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// Nothing.
    Empty,
    /// A JSON document.
    Json(Value),
    /// A JSON document that is text already: a large one that many requests share.
    Text(Arc<str>),
}

impl Body {
    /// As it goes over the wire.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Empty => Vec::new(),
            Self::Json(value) => value.to_string().into_bytes(),
            Self::Text(text) => text.as_bytes().to_vec(),
        }
    }
}

/// An answer before it is put on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
}

impl Answer {
    /// An answer with a JSON body.
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Json(body),
        }
    }

    /// An answer without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Empty,
        }
    }

    /// With one more header.
    pub(crate) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// The parts of an ARM path. Every comparison with them is without case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) subscription: Option<String>,
    pub(crate) group: Option<String>,
    /// The namespace after the last `providers`.
    pub(crate) namespace: Option<String>,
    /// Types and, at the end, maybe an action or a collection: one more than names then.
    pub(crate) kinds: Vec<String>,
    pub(crate) names: Vec<String>,
    /// What stands before the last `providers`, for what hangs at any scope.
    pub(crate) scope: String,
}

impl Path {
    /// Reads a path as sent.
    pub(crate) fn parse(path: &str) -> Self {
        let segments: Vec<String> = path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(|segment| decode(segment, false))
            .collect();
        let mut parsed = Self::default();
        let mut rest = segments.as_slice();
        if let Some((first, after)) = rest.split_first()
            && first.eq_ignore_ascii_case("subscriptions")
            && let Some((subscription, after)) = after.split_first()
        {
            parsed.subscription = Some(subscription.clone());
            rest = after;
            if let Some((next, after)) = rest.split_first()
                && next.eq_ignore_ascii_case("resourceGroups")
                && let Some((group, after)) = after.split_first()
            {
                parsed.group = Some(group.clone());
                rest = after;
            }
        }
        let last = rest
            .iter()
            .rposition(|segment| segment.eq_ignore_ascii_case("providers"))
            .filter(|at| at + 1 < rest.len());
        let before = segments.len() - rest.len();
        if let Some(at) = last {
            parsed.namespace = rest.get(at + 1).cloned();
            parsed.scope = scope(segments.get(..before + at).unwrap_or_default());
            rest = rest.get(at + 2..).unwrap_or_default();
        } else {
            parsed.scope = scope(segments.get(..before).unwrap_or_default());
        }
        parsed.kinds = rest.iter().step_by(2).cloned().collect();
        parsed.names = rest.iter().skip(1).step_by(2).cloned().collect();
        parsed
    }

    /// The kinds joined in lower case: `virtualmachines/deallocate`.
    pub(crate) fn kind(&self) -> String {
        self.kinds.join("/").to_lowercase()
    }

    /// Whether the path ends with a collection or an action instead of a name.
    pub(crate) fn is_open(&self) -> bool {
        self.kinds.len() > self.names.len()
    }

    /// The name at a place; empty where there is none.
    pub(crate) fn name(&self, at: usize) -> &str {
        self.names.get(at).map_or("", String::as_str)
    }

    /// The last name; empty where there is none.
    pub(crate) fn last_name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }
}

fn scope(segments: &[String]) -> String {
    segments
        .iter()
        .flat_map(|segment| ["/", segment.as_str()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        let path = Path::parse(
            "/subscriptions/s/resourcegroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/a%20b",
        );
        assert_eq!(path.subscription.as_deref(), Some("s"));
        assert_eq!(path.group.as_deref(), Some("rg"));
        assert_eq!(path.namespace.as_deref(), Some("Microsoft.Network"));
        assert_eq!(path.kind(), "virtualnetworks/subnets");
        assert_eq!((path.name(0), path.last_name()), ("v", "a b"));
        assert!(!path.is_open());
        let action = Path::parse(
            "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/v/start",
        );
        assert_eq!(action.kind(), "virtualmachines/start");
        assert!(action.is_open());
        let group = Path::parse("/subscriptions/s/resourceGroups/rg");
        assert_eq!((group.group.as_deref(), group.kinds.len()), (Some("rg"), 0));
        let groups = Path::parse("/subscriptions/s/resourceGroups");
        assert_eq!(
            (groups.group, groups.kinds),
            (None, vec!["resourceGroups".to_owned()])
        );
    }

    #[test]
    fn what_hangs_at_a_scope_keeps_it() {
        let tags = Path::parse(
            "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/d/providers/Microsoft.Resources/tags/default",
        );
        assert_eq!(
            tags.scope,
            "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/d"
        );
        assert_eq!(tags.kind(), "tags");
        let providers = Path::parse("/subscriptions/s/providers");
        assert_eq!(providers.kinds, vec!["providers".to_owned()]);
        assert_eq!(providers.namespace, None);
    }

    #[test]
    fn queries_are_decoded_and_found_without_case() {
        let query = Query::parse("api-version=2024-07-01&%24filter=location+eq+%27eastus%27&flag");
        assert_eq!(query.get("API-Version"), Some("2024-07-01"));
        assert_eq!(query.get("$filter"), Some("location eq 'eastus'"));
        assert_eq!(query.get("flag"), Some(""));
    }
}
