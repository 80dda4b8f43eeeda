//! The durable world: entries, their index, the log, and the folder it lives in.

pub(crate) mod entry;

pub(crate) mod deployment;

pub(crate) mod scale_set;

pub(crate) mod addresses;

pub(crate) mod index;

pub(crate) mod journal;

pub(crate) mod folder;

pub(crate) mod history;

pub(crate) mod world;

mod lookup;

#[cfg(test)]
mod tests;
