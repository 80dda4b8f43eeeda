//! Scripted faults: which requests go wrong, and how; and what happens to a world by itself.

pub(crate) mod node;

pub(crate) mod known;

pub(crate) mod time;

mod pattern;

mod matching;

pub(crate) mod effects;

pub(crate) mod tags;

pub(crate) mod allocation;

pub(crate) mod demand;

mod reader;

mod actions;

pub(crate) mod file;

mod rules;

#[cfg(test)]
mod tests;

pub use self::rules::Faults;

pub(crate) use self::{
    matching::Subject,
    rules::{Action, Decision, Fate, Point, Request},
};
