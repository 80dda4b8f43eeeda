//! The image: the Data Science VM first (A10), the HPC image where it cannot work (R1, A16).
//!
//! Reading order: the `choice` of an image for a size, and what was `chosen`; what Azure's own facts of an image say
//! against a size (`fit`); how a choice is resolved to a version and checked; what is
//! said of images that are `live`; and the `terms` of its purchase plan.

mod choice;

mod chosen;

mod fit;

mod live;

mod resolve;

mod terms;

pub use self::{
    choice::{Choice, UNKNOWN_VERSION, choose, of_live},
    live::say_misfit,
    resolve::{ask_counterparts, fact, resolve, say_newer},
    terms::terms,
};
