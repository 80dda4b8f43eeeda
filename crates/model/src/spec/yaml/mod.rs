//! Text to a tree: what stands where, before anything is known about specs.

pub(crate) mod node;

pub(crate) mod lexical;

mod offsets;

mod explain;

pub(crate) mod read;

pub(crate) mod scalar;
