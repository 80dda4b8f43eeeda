//! How much memory a model takes, how it is split over GPUs, how fast it runs.
//!
//! Reading order: the [`subject`] is the model, the [`machine`] the VM; a [`split`] lays one
//! over the other. [`training`] and [`serving`] give the memory of a split, [`flops`] the work
//! of a token, [`efficiency`] the time that a GPU takes for it. [`layout`] chooses a split,
//! [`time`] turns speed into hours, and [`estimate`] puts it together with its [`formula`]s.
//! A [`quote`] is an estimate without a spec; [`deadline`] says what to do about a late one.
//!
//! All of it is arithmetic on `f64` without functions that differ between machines (roots and
//! logarithms are made of the four operations), so that equal input gives equal bytes.

pub mod subject;

pub mod machine;

pub mod split;

pub mod training;

pub mod serving;

pub mod flops;

pub mod efficiency;

pub mod layout;

pub mod time;

pub mod formula;

pub mod estimate;

pub mod deadline;

pub mod quote;

mod number;

pub(crate) use self::number::float;

#[cfg(test)]
mod tests;
