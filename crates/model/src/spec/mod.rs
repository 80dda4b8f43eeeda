//! The spec: what the user wants, as written in `tensorform.yaml`.
//!
//! [`parse`] reads a text into a [`Spec`] and finds everything that is wrong with it in one
//! run. What a spec may say is written down once, in the tables of `schema`: the validator,
//! the JSON schema, the reference and the starter all come from there.

mod parts;

pub mod types;

pub mod pool;

mod plain;

pub mod batch;

pub mod kubernetes;

pub mod cyclecloud;

pub mod storage;

mod yaml;

pub mod spans;

mod findings;

mod trail;

mod show;

mod variables;

mod schema;

mod ssh;

pub mod password;

mod validate;

mod decode;

mod check;

mod read;

mod document;

#[cfg(test)]
mod tests;

pub use self::{
    document::{json_schema, reference, starter},
    parts::*,
    pool::*,
    read::{Inputs, Parsed, parse, referenced_environment},
    schema::forms::{names::RESERVED_USERS, quantities::parse_count},
    spans::{Position, SpanIndex},
    ssh::{KeyProblem, check_public_key, is_literal_key},
    storage::*,
    types::*,
};
