//! The verbs of Tensorform: decides image, size, resources and changes.
//!
//! `(Spec, Catalog, Live, Options) -> Planned`, synchronous and deterministic: the same input
//! gives the same plan, whatever the order of live lists. What the planner needs to know and
//! does not, it asks for in [`Planned::questions`]; the caller answers and plans again.

pub mod sizing;

pub mod select;

pub mod bootstrap;

pub mod shape;

pub mod diff;

mod checkpoint;

mod lifetime;

mod reservation;

mod location;

mod orchestrator;

mod server;

mod memo;

mod order;

mod preflight;

pub mod cost;

mod staleness;

mod verify;

pub mod acceptance;

mod inventory;

mod cyclecloud;

mod in_cluster;

mod target;

mod pool_plan;
mod power;

mod alternates;

mod partial;

mod plan;

pub use self::{
    checkpoint::{as_planned, makes_checkpoints},
    cyclecloud::cluster,
    in_cluster::in_cluster,
    inventory::{Addresses, inventory},
    lifetime::outlived,
    memo::memos,
    orchestrator::may_be_of_batch,
    plan::{Input, Options, Planned, plan},
    power::Power,
    preflight::{QuotaReport, report as quota},
    server::with_server,
    staleness::staleness,
    verify::{Unreached, unreached},
};
