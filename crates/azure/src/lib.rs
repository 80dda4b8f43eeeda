//! Reads live Azure and performs the steps of a plan, through the management SDK. Decides nothing.

mod clock;

mod settings;

mod error;

mod credentials;

mod retry;

mod throttle;

mod counts;

mod transport;

mod versions;

mod call;

mod client;

mod lro;

mod wire;

mod read;

mod facts;

mod logging;

#[cfg(test)]
mod testing;

#[cfg(test)]
mod transport_tests;

pub use self::{
    client::Client,
    clock::{Clock, SystemClock},
    counts::RequestCounts,
    credentials::{ConnectError, CredentialAttempt, NoCredential},
    error::{ArmDetail, ArmError, ReadError, RequestError, RequestFault, SinkError, chain},
    facts::answer,
    logging::may_log,
    read::{ReadScope, read},
    settings::{Cloud, CredentialChoice, CredentialName, Limits, Settings},
};
