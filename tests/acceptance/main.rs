//! Acceptance tests of the whole: the real binary against the sandbox, and the rules that
//! hold the workspace together.

mod arrows;

mod readme;

mod documents;

mod source;

mod support;

mod filters;

mod server;

mod transcript;

mod goldens;

mod examples;

mod transcripts;

mod world;

mod kill;

mod faults;

mod sweep;

mod leftover;

mod secrets;

mod signals;

mod neighbours;
