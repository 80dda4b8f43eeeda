//! What foretells a refusal or a lack of capacity: policies and chances of spot capacity.

use std::collections::BTreeMap;

use crate::{
    ids::ArmId,
    units::{CaseInsensitive, Region, SizeName},
};

/// Asks what policies say to a node that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyQuestion {
    /// The group that it is to be in, where that exists; else the subscription.
    pub scope: ArmId,
    /// The region.
    pub location: Region,
    /// The size.
    pub size: SizeName,
    /// Publisher, offer and SKU of a marketplace image.
    pub image: Option<[CaseInsensitive; 3]>,
    /// The tags that the node gets.
    pub tags: BTreeMap<String, String>,
}

/// Asks how likely spot capacity is to be had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacementQuestion {
    /// The region.
    pub location: Region,
    /// The size.
    pub size: SizeName,
    /// How many VMs.
    pub count: u32,
}

/// A policy that does not let a node be made as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFact {
    /// The assignment's id, or its name where that is all there is.
    pub assignment: String,
    /// What it objects to, such as `location`; empty where it does not say.
    pub objection: String,
}
