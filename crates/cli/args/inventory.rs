//! Arguments of `inventory`.

use clap::{Args, ValueEnum};

/// Arguments of `inventory`.
#[derive(Args, Debug)]
pub(crate) struct Inventory {
    /// Print for this tool
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: InventoryFormat,
}

/// Tools that read inventories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum InventoryFormat {
    /// OpenSSH: for `ssh -F` or an `Include`
    #[default]
    Ssh,
    /// Ansible: an inventory in YAML
    Ansible,
    /// MPI: a hostfile with a slot for each GPU
    Hostfile,
    /// Slurm: node and partition lines for `slurm.conf`
    Slurm,
}
