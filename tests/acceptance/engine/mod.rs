//! The engine in one process: planner, client and sandbox on one clock that nobody waits for, so
//! that thousands of cases are tried in a minute.

mod stage;

mod plans;

mod stacks;

mod worlds;

mod noise;

mod attributes;

mod trial;

mod convergence;

mod every_call;

mod twice;

mod pace;
