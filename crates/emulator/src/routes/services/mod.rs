//! The services beside Compute and Network. What their types have in common is in `serve` and
//! `write`; a
//! type is a row of `kinds` and the rules that it names.

mod kinds;

pub(crate) mod serve;

mod write;

pub(crate) mod account;

pub(crate) mod identity;

pub(crate) mod roles;

mod cluster;

mod agent_pool;

mod storage;

mod quotas;

mod schedule;

pub(crate) mod terms;

pub(crate) mod locks;

pub(crate) mod pool;

mod formula;

pub(crate) use self::{
    account::LIMITS as QUOTAS,
    serve::{answer, shown},
};
