//! Request buckets of ARM and of the providers.
//!
//! Capacities and refills are Microsoft's documented ones where there are some, and otherwise
//! those that the remaining-headers of recorded traffic show. Buckets refill with the speed
//! of the sandbox and are full when it starts.

pub(crate) mod rules;

mod limits;

pub(crate) use self::limits::{Caller, Limits};
