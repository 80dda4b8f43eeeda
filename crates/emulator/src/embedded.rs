//! A sandbox without a wire: who has it hands it requests, one by one.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::watch;

use crate::{
    faults::Faults,
    http::{Incoming, Method, Query},
    record::{Counters, RequestRecord},
    sandbox::{Options, SandboxError, begin},
    server::headers_of,
    service::{Reaction, Service},
};

/// A sandbox in this process that no port leads to. Port, certificate and recording of its
/// options are those of a wire, and are not used.
#[derive(Debug)]
pub struct Embedded {
    service: Arc<Service>,
    /// Held so that requests that hang go on hanging.
    _stop: watch::Sender<bool>,
}

/// An answer of an embedded sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// The status.
    pub status: u16,
    /// Headers, as they would go over the wire.
    pub headers: Vec<(String, String)>,
    /// The body; empty where there is none.
    pub body: Vec<u8>,
}

impl Embedded {
    /// Begins a sandbox. Operations that ended while nobody served are ended first.
    pub fn new(options: Options) -> Result<Self, SandboxError> {
        let (stop, stopping) = watch::channel(false);
        Ok(Self {
            service: begin(options, stopping)?.service,
            _stop: stop,
        })
    }

    /// Hands it a request, whose headers have lower-case names; nothing comes back where a fault
    /// closes the connection.
    pub async fn hand(
        &self,
        method: &str,
        url: &str,
        headers: BTreeMap<String, String>,
        body: Vec<u8>,
    ) -> Option<Handed> {
        let (base, path) = match url.split_once("://") {
            Some((scheme, rest)) => {
                let host = rest.find('/').unwrap_or(rest.len());
                url.split_at(scheme.len() + "://".len() + host)
            }
            None => ("", url),
        };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let incoming = Incoming {
            method: Method::named(method),
            path: path.to_owned(),
            query: Query::parse(query),
            headers,
            body,
            base: base.to_owned(),
        };
        let asked = incoming.headers.clone();
        match self.service.react(incoming).await {
            Reaction::Answer(answer) => Some(Handed {
                status: answer.status,
                body: answer.body.bytes(),
                headers: headers_of(&self.service, answer, &asked),
            }),
            Reaction::Drop => None,
        }
    }

    /// The requests it served, oldest first.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.service.state().log.records().cloned().collect()
    }

    /// Counts of the requests it served.
    pub fn counters(&self) -> Counters {
        self.service.state().log.counters().clone()
    }

    /// Replaces the fault rules; their counts start over.
    pub fn set_faults(&self, faults: Faults) {
        self.service.set_faults(faults);
    }
}
