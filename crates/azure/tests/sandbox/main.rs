//! The client against the sandbox: the whole way, without Azure and without waiting.

mod rig;

mod stack;

mod lifecycle;

mod faults;

mod scale;

mod batch;
