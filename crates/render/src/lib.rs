//! Ink: plans, events, findings and tables of the catalogue as text or JSON.
//!
//! Nothing here reads a clock, a file or the environment, and nothing is decided here: width
//! and colour are arguments, and the same input gives the same bytes. Every text is legible
//! without colour: taking the colours out gives exactly the plain text.

pub mod style;

pub mod words;

pub mod line;

pub mod paper;

pub mod table;

mod ranges;

pub mod sizing;

pub mod plan;

pub mod explain;

pub mod estimate;

pub mod quota;

pub mod doctor;

pub mod cost;

pub mod preview;

pub mod diagnostics;

pub mod bootstrap;

pub mod failure;

pub mod events;

pub mod status;

pub mod drift;

pub mod inventory;

mod slurm;

pub mod cyclecloud;

pub mod kubernetes;

pub mod graph;

pub mod sizes;

pub mod catalog;

pub mod images;

pub mod page;

pub mod starter;

pub mod generated;

pub use self::style::Style;
