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
}
