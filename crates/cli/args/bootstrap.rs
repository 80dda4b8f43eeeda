//! Arguments of `bootstrap`.

use clap::Args;

/// Arguments of `bootstrap`.
#[derive(Args, Debug)]
pub(crate) struct Bootstrap {
    /// A pool of the spec; the only one unless given
    #[arg(value_name = "POOL")]
    pub(crate) pool: Option<String>,
    /// Print it as a shell script instead of cloud-init's form
    #[arg(long)]
    pub(crate) shell: bool,
    /// Ask nobody: nothing exists, quota and restrictions are unknown
    #[arg(long, conflicts_with_all = ["sandbox", "endpoint"])]
    pub(crate) offline: bool,
}
