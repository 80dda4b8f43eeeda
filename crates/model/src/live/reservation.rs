//! Capacity reservation groups: what they reserve, and what is taken of it.

use std::collections::BTreeSet;

use crate::{
    ids::ArmId,
    units::{Region, SizeName},
};

/// A capacity reservation group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationGroupFact {
    /// Where it is.
    pub location: Region,
    /// What it reserves.
    pub reservations: Vec<ReservationFact>,
}

/// A number of places for VMs of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationFact {
    /// The size.
    pub size: SizeName,
    /// The zone; `None` for the region as a whole.
    pub zone: Option<String>,
    /// How many VMs have a place.
    pub capacity: u32,
    /// VMs and instances of scale sets that have one now.
    pub allocated: BTreeSet<ArmId>,
}
