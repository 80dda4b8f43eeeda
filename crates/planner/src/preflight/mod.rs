//! What must hold before anything is written, beyond what choosing looks at.
//!
//! Reading order is by what asking costs: the `quota` of all pools together, and what their
//! capacity `reservation` groups have; what the
//! subscription and the credential allow (`rights`); what policies say to nodes (`policy`);
//! and how likely spot capacity is to be had (`placement`). Restrictions, images and terms are
//! checked where they are chosen. Only a plan that writes asks anything.

mod quota;

mod rights;

mod policy;

mod reservation;

mod placement;

pub use self::quota::{QuotaReport, report};

pub(crate) use self::{
    placement::placement,
    policy::policies,
    quota::{lacking, quota},
    reservation::reservations,
    rights::rights,
};
