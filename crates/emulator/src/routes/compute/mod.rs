//! Microsoft.Compute.

pub(crate) mod quota;

pub(crate) mod skus;

pub(crate) mod images;

pub(crate) mod ssh_key;

pub(crate) mod disk;

pub(crate) mod machine;

mod serve;

pub(crate) use self::serve::{answer, existing, list, region_of};
