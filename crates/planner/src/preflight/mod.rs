//! What must hold before anything is written, beyond what choosing looks at.
//!
//! Reading order is by what asking costs: the `quota` of all pools together, and what their
//! capacity `reservation` groups and `proximity` placement groups are; what the subscription and the credential allow
//! (`rights`); what policies say to nodes (`policy`); how likely spot capacity is to be had
//! (`placement`); and whether a subnet that is not the stack's takes the nodes (`network`).
//! Restrictions, images and terms are checked where they are chosen. Only a plan that writes asks
//! anything. Whatever it cost to find, all of it is told in one run, by its place in the spec.

mod quota;

mod batch;

mod rights;

mod policy;

mod proximity;

mod reservation;

mod placement;

mod network;

pub use self::quota::{QuotaReport, report};

pub(crate) use self::{
    network::network,
    placement::placement,
    policy::policies,
    proximity::proximity,
    quota::{lacking, quota},
    reservation::reservations,
    rights::rights,
};
