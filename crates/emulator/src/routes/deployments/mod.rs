//! Template deployments: what `az vm create` and its like send instead of single resources.
//!
//! `request` reads the body, `parameters` checks what was given, `plan` makes the list of
//! resources with their order, `preflight` tells whether Azure would refuse it at once, `accept`
//! answers PUT and validate, `run` writes one resource after the other as time goes on, `nested`
//! sends those writes through the same routes as direct ones, and `show` prints it all.

mod request;

mod parameters;

mod plan;

mod order;

mod nested;

mod preflight;

mod accept;

mod run;

mod show;

mod serve;

pub(crate) use self::{
    run::go_on,
    serve::{answer, operations},
};
