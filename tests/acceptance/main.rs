//! Acceptance tests of the whole: the real binary against the sandbox, and the rules that
//! hold the workspace together.

mod arrows;

mod readme;
mod replacing;

mod documents;

mod source;

mod harness;

mod transcript;

mod goldens;

mod examples;

mod transcripts;

mod kill;

mod faults;

mod conditions;

mod capacity;

mod access;

mod reports;
mod rolling;

mod export;

mod sweep;

mod engine;

mod leftover;

mod orphans;

mod plan_format;

mod kept;

mod power;

mod secrets;

mod signals;

mod neighbours;

mod rough;

mod previews;

mod catalog;

mod decisions;

mod checks;
