//! Scripted faults: which requests go wrong, and how.

pub(crate) mod node;

pub(crate) mod file;

pub(crate) mod known;

mod rules;

pub use self::rules::Faults;

pub(crate) use self::rules::{Action, Match, Rule, Subject};
