//! Microsoft.Compute.

pub(crate) mod quota;

pub(crate) mod skus;

pub(crate) mod images;

pub(crate) mod placement_score;

pub(crate) mod members;

pub(crate) mod write;

pub(crate) mod ssh_key;

pub(crate) mod placement;

pub(crate) mod reservation;

pub(crate) mod disk;

pub(crate) mod snapshot;

pub(crate) mod own_image;

pub(crate) mod gallery;

pub(crate) mod machine;

pub(crate) mod extension;

pub(crate) mod run_command;

pub(crate) mod guest;

pub(crate) mod scale_set;

mod serve;

pub(crate) use self::serve::{answer, existing, list, region_of};
