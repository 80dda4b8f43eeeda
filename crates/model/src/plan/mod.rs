//! Plans: what will be done, why, and what came of it.

pub mod document;

pub mod formula;

pub mod memo;

pub mod step;

pub mod alternate;

pub mod bootstrap;

pub mod walk;

mod lint;

pub mod file;

pub mod event;

pub use self::{
    alternate::*, bootstrap::*, document::*, event::*, file::*, formula::*, memo::*, step::*,
    walk::*,
};
