//! Reads live Azure and performs the steps of a plan, through the management SDK. Decides nothing.

mod clock;

mod carrier;

mod settings;

mod error;

mod credentials;

mod retry;

mod throttle;

mod counts;

mod transport;

mod versions;

mod call;

mod paging;

mod client;

mod price_list;

mod lro;

mod wire;

mod read;

mod facts;

mod addresses;

mod template;

mod examine;

mod guest;

mod fault;

mod apply;

mod logging;

#[cfg(test)]
mod testing;

#[cfg(test)]
mod transport_tests;

pub use self::{
    addresses::addresses,
    apply::{ApplyInputs, CustomData, Interrupt, Passwords, Sink, apply},
    carrier::{Carried, Carrier, Delivered, Lost},
    client::Client,
    clock::{Clock, SystemClock},
    counts::RequestCounts,
    credentials::{ConnectError, CredentialAttempt, NoCredential},
    error::{ArmDetail, ArmError, ReadError, RequestError, RequestFault, SinkError, chain},
    examine::{Examination, SubscriptionState, examine},
    facts::answer,
    fault::{Fault, FaultKind, FaultScope, QuotaRefusal, Retry, classify, quota_refusal},
    guest::{GuestScript, run_in_guests},
    logging::may_log,
    price_list::PriceList,
    read::{ReadScope, read, read_settled},
    settings::{Cloud, CredentialChoice, CredentialName, Limits, Settings},
    template::{NotExportable, template},
};
