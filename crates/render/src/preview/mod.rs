//! A cost preview in every format that people and tools read.

pub(crate) mod words;

pub mod text;

pub mod markdown;

pub mod csv;

pub mod html;

mod charts;

pub mod infracost;

pub mod json;
