//! What ARM and its providers answer, one module a provider.

pub(crate) mod common;

pub(crate) mod subscriptions;

pub(crate) mod groups;

pub(crate) mod resources;

pub(crate) mod tags;

pub(crate) mod providers;

pub(crate) mod deployments;

pub(crate) mod network;

pub(crate) mod compute;

pub(crate) mod services;

mod dispatch;

pub(crate) use self::dispatch::{answer, shown_id};
