//! One request on its way through the routes.

use std::time::Duration;

use serde_json::Value;

use crate::{
    body::{self, Check},
    clock::{Instant, Speed},
    error::ArmError,
    http::{Incoming, Method, Path, Query},
    routes::compute::guest::Ailment,
    store::entry::Failure,
    types::Type,
};

/// What is the same for all requests of a sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) speed: Speed,
    /// The world's seed, for what is made up without being kept.
    pub(crate) seed: u64,
    pub(crate) tenant: String,
    /// Whether some answers change the case of ids, as recorded ones do.
    pub(crate) quirks: bool,
    pub(crate) pages: Pages,
    /// How long operations take, where not as recorded.
    pub(crate) pace: Option<Pace>,
}

/// How long every operation takes: to compare a client with others on even terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Until it ends.
    pub takes: Duration,
    /// The seconds of `Retry-After`.
    pub retry_after: u64,
}

/// How many items a page of a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Virtual machines, documented: 50.
    pub virtual_machines: usize,
    /// Resources of all types and groups, documented: 1,000.
    pub resources: usize,
    /// Other lists of Compute and Network; not documented, seen large ones in one page.
    pub others: usize,
    /// Retail prices, documented: 1,000 since 2023.
    pub prices: usize,
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            virtual_machines: 50,
            resources: 1_000,
            others: 1_000,
            prices: 1_000,
        }
    }
}

/// A request and what was found out about it.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) incoming: &'a Incoming,
    pub(crate) setup: &'a Setup,
    pub(crate) path: Path,
    /// The API version, as given.
    pub(crate) version: String,
    pub(crate) now: Instant,
    /// The fault that a rule decided on for the operation that this request begins.
    pub(crate) failure: Option<Failure>,
    /// What a rule makes of the guest that this request asks.
    pub(crate) ailment: Option<Ailment>,
    /// How often this operation was polled, with this time; 0 for what is no poll.
    pub(crate) polls: u32,
}

impl Call<'_> {
    pub(crate) fn method(&self) -> Method {
        self.incoming.method
    }

    pub(crate) fn query(&self) -> &Query {
        &self.incoming.query
    }

    /// Where the client reached the sandbox.
    pub(crate) fn base(&self) -> &str {
        &self.incoming.base
    }

    pub(crate) fn subscription(&self) -> &str {
        self.path.subscription.as_deref().unwrap_or_default()
    }

    pub(crate) fn group(&self) -> &str {
        self.path.group.as_deref().unwrap_or_default()
    }

    /// Whether the request reads a single resource.
    pub(crate) fn reads_one(&self) -> bool {
        self.method() == Method::Get && !self.path.is_open()
    }

    /// The body, checked against the schema of the type.
    pub(crate) fn body(&self, row: &Type) -> Result<Value, ArmError> {
        let name = row.name();
        body::checked(Check {
            kind: &name,
            patch: self.method() == Method::Patch,
            version: &self.version,
            text: &self.incoming.text(),
        })
    }

    /// Whether the API version is this one or newer.
    pub(crate) fn since(&self, version: &str) -> bool {
        self.version.get(..10).unwrap_or(&self.version) >= version
    }
}
