//! What tests of the whole stand on: a place to run the real binary in, what its runs give, and
//! servers for it to talk to.

mod filters;
mod golden;
mod listening;
mod place;
mod ran;
mod running;
mod server;
mod trials;

pub(crate) use self::{
    golden::{compare, root, updates},
    listening::Listening,
    place::{Place, three_pools, two_pools},
    ran::Ran,
    running::Running,
    server::{SUBSCRIPTION, Server, is_write},
    trials::{Seeded, each},
};
