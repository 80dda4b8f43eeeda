//! A cost preview in every format that people and tools read.

mod words;

pub mod text;

pub mod json;
