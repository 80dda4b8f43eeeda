//! Virtual machines.

pub(crate) mod create;

pub(crate) mod size;

pub(crate) mod profile;

pub(crate) mod spot;

pub(crate) mod source;

pub(crate) mod storage;

pub(crate) mod ephemeral;

pub(crate) mod network;

pub(crate) mod update;

pub(crate) mod action;

pub(crate) mod view;

mod serve;

pub(crate) use self::serve::{answer, not_deleting, preconditions};
