//! Checks of nodes after they were made: what a node of a size must show, the script that asks a
//! guest, and the verdict on its answer. Running the script is left to others.

mod expectation;

mod script;

mod answer;

mod judge;

#[cfg(test)]
mod tests;

pub use self::{
    expectation::{Expectation, Vendor},
    judge::{Answer, Asked, judge},
    script::script,
};
