//! Arguments of the commands that show a plan otherwise: `graph` and `export`.

use clap::{Args, ValueEnum};

/// Arguments of `graph`.
#[derive(Args, Debug)]
pub(crate) struct Graph {
    /// Draw in this form
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: GraphFormat,
    /// Ask nobody: nothing exists, quota and restrictions are unknown
    #[arg(long, conflicts_with_all = ["sandbox", "endpoint"])]
    pub(crate) offline: bool,
}

/// Forms of graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A flowchart of Mermaid, as Markdown pages show it
    #[default]
    Mermaid,
    /// A graph of Graphviz
    Dot,
    /// A picture
    Svg,
}

/// Arguments of `export`.
#[derive(Args, Debug)]
pub(crate) struct Export {
    /// Ask nobody: nothing exists, quota and restrictions are unknown
    #[arg(long, conflicts_with_all = ["sandbox", "endpoint"])]
    pub(crate) offline: bool,
    /// Print the pools as a cluster of Azure CycleCloud instead: its template unless FORM is given
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "template"
    )]
    pub(crate) cyclecloud: Option<CycleCloudForm>,
    /// Let this scheduler of CycleCloud give jobs to nodes; without it the one of the spec, or
    /// Slurm
    #[arg(long, value_enum, requires = "cyclecloud")]
    pub(crate) scheduler: Option<SchedulerName>,
    /// Print what must be installed in the cluster of the pools with `orchestrator: aks` instead:
    /// its manifests unless FORM is given
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "manifests",
        conflicts_with = "cyclecloud"
    )]
    pub(crate) kubernetes: Option<KubernetesForm>,
}

/// Forms of what must be installed in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KubernetesForm {
    /// Namespaces and device plugins, for `kubectl apply`
    Manifests,
    /// Operators that come as Helm charts, as a shell script
    Operators,
    /// A job for each pool that counts GPUs and ports of InfiniBand, for `kubectl apply`
    Checks,
}

/// Forms of clusters of Azure CycleCloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CycleCloudForm {
    /// The cluster template, for `cyclecloud import_cluster`
    Template,
    /// The lines of `slurm.conf` that Slurm must have there
    Slurm,
    /// The GPUs of each size, for `autoscale.json` of Slurm's node
    Autoscale,
    /// Parameters of CycleCloud Workspace for Slurm
    Workspace,
}

/// Schedulers of CycleCloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchedulerName {
    /// Slurm
    Slurm,
    /// Grid Engine
    Gridengine,
    /// PBS, its open edition
    Pbs,
}
