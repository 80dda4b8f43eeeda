//! Plans: what will be done, why, and what came of it.

pub mod document;

pub mod step;

pub mod walk;

pub mod event;

pub use self::{document::*, event::*, step::*, walk::*};
