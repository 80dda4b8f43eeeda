//! Acceptance tests of the whole: the real binary against the sandbox, and the rules that
//! hold the workspace together.

mod arrows;

mod readme;

mod source;
