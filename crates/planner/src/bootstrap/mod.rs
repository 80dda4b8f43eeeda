//! What a node runs when it starts first: which parts it has, their text, and its forms.
//!
//! A bootstrap is a folder of files with one driver, `run`, which may be run again at any time.
//! [`cloud_config`] gives them to a VM, [`shell`] to whatever starts with a shell script.

pub mod files;

pub mod forms;

mod check;

mod containers;

mod mounts;

mod record;

pub(crate) use self::record::tag_of_pool;
pub use self::{
    check::flaw,
    files::{File, Node, files},
    forms::{cloud_config, shell},
    record::{custom_data, given, of_pool, record},
};

/// The most bytes of custom data that Azure takes, before they are encoded.
pub const LIMIT: usize = 65_535;

/// Where the local disks are.
pub const SCRATCH_PATH: &str = "/scratch";
