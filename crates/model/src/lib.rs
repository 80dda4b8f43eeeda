//! The nouns of Tensorform: every type that is stored, printed or passed between crates.
//!
//! Nothing here reads a clock, a file, the environment or the network. Parsing text into
//! these types lives here; deciding with them lives in `planner`, drawing them in `render`.

pub mod units;

pub mod ids;

pub mod address;

pub mod cost;

pub mod digest;

pub mod suggest;

pub mod diag;

pub mod spec;

pub mod transformer;

pub mod catalog;

pub mod price_book;

pub mod resource;

pub mod live;

pub mod inventory;

pub mod cyclecloud;

pub mod in_cluster;

pub mod permissions;

pub mod acceptance;

pub mod plan;
