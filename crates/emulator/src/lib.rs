//! The sandbox: a local Azure Resource Manager for rehearsals and tests.
//!
//! It listens on loopback, over HTTP and with a certificate over HTTPS, and behaves as recordings of the real service, Microsoft's
//! schemas and its documentation say. A [`World`] holds everything that exists and can be kept
//! in a folder; a [`Sandbox`] serves it. Time comes from a [`Clock`], which a test moves by hand.
//!
//! Reading order: `server` takes requests off the wire, `service` decides on faults and holds
//! the state, `gateway` and `presence` do what ARM does first, `routes` has the providers, `lro` and `work`
//! the operations, `store` the durable world. It shares nothing with the client but `model`.

pub mod clock;

mod embedded;
mod sandbox;
mod server;
mod service;
mod tls;

mod exchange;
mod record;

mod admin;
mod identity;
mod prices;

mod gateway;
mod presence;
mod throttle;

mod routes;
mod template;

mod call;
mod error;
mod http;

mod lro;
mod work;

mod durations;

mod body;
mod catalogue;
mod names;
mod odata;
mod position;
mod types;

mod faults;

mod store;

mod json;
mod text;

pub use crate::{
    call::{Pace, Pages},
    clock::{Clock, Instant, InvalidSpeed, Speed},
    embedded::{Embedded, Handed},
    exchange::Recording,
    faults::{
        Faults,
        file::{FaultFileError, Problem},
    },
    http::Method,
    record::{Counters, RequestKind, RequestRecord},
    sandbox::{Options, Sandbox, SandboxError},
    store::{
        folder::OpenError,
        world::{Opened, SUBSCRIPTION, TENANT, World},
    },
    tls::{Tls, TlsError},
};
