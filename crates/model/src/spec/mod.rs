//! The spec: what the user wants, as written in `tensorform.yaml`.

pub mod types;

mod cidr;

pub use types::*;
