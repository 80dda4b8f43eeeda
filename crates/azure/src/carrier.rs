//! How requests travel: over the network, or by hand to a Resource Manager in the same process,
//! where a test has no use for sockets.

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;

/// A request as it leaves, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The method, such as `GET`.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// Headers under lower-case names.
    pub headers: BTreeMap<String, String>,
    /// The body; empty where there is none.
    pub body: Vec<u8>,
}

/// An answer as it arrives, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The status.
    pub status: u16,
    /// Headers, each name once.
    pub headers: Vec<(String, String)>,
    /// The body; empty where there is none.
    pub body: Vec<u8>,
}

/// The connection ended before an answer came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("the connection ended before an answer came")]
pub struct Lost;

/// Carries requests instead of the network.
#[async_trait]
pub trait Carrier: Send + Sync {
    /// Carries one request there and its answer back.
    ///
    /// # Errors
    /// No answer came; whether the request arrived is not known.
    async fn carry(&self, request: Carried) -> Result<Delivered, Lost>;
}

/// The way of a transport.
#[derive(Clone)]
pub(crate) enum Way {
    /// Over the network.
    Network(reqwest::Client),
    /// By hand.
    Hand(Arc<dyn Carrier>),
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network(_) => "Network",
            Self::Hand(_) => "Hand",
        })
    }
}
