//! Proximity placement groups: where they are, and what they are meant for.

use std::collections::BTreeSet;

use crate::units::{Region, SizeName};

/// A proximity placement group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProximityGroupFact {
    /// Where it is.
    pub location: Region,
    /// The zone that its machines are in, where it names one.
    pub zone: Option<String>,
    /// The sizes that it is meant for; of none where it names none.
    pub sizes: BTreeSet<SizeName>,
    /// Whether Azure says that its machines are near each other.
    pub aligned: Option<bool>,
}
