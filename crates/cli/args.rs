//! The command line as the user writes it. Help texts are the doc comments.

mod bootstrap;

mod catalog;

mod changing;

mod estimate;

mod inventory;

mod pricing;

mod sandbox;

mod sizes;

mod status;

mod views;

use std::path::PathBuf;

use clap::{
    Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::BoolishValueParser, error::ErrorKind,
};

pub(crate) use self::{
    bootstrap::Bootstrap,
    catalog::{Catalog, CatalogCommand, Refresh},
    changing::{Applying, Destroy, Power},
    estimate::{Estimate, MethodName, PrecisionName, RecomputeName, ShapeOptions, ShardingName},
    inventory::{Inventory, InventoryFormat},
    pricing::{Cost, Pricing},
    sandbox::{Sandbox, SandboxCommand},
    sizes::{SizeOrder, Sizes},
    status::Status,
    views::{CycleCloudForm, Export, Graph, GraphFormat, KubernetesForm, SchedulerName},
};
use crate::help;

/// The command line, with a variable `TENSORFORM_…` for each option.
pub(crate) fn command() -> clap::Command {
    mirrored(Arguments::command())
        .after_help(help::SHORT)
        .after_long_help(help::long())
}

fn mirrored(command: clap::Command) -> clap::Command {
    command.mut_args(mirror).mut_subcommands(mirrored)
}

/// Lets a variable stand for an option. One that is set to nothing counts as not set, which is
/// how pipelines leave a variable out.
fn mirror(argument: Arg) -> Arg {
    let Some(name) = variable(&argument) else {
        return argument;
    };
    let is_empty = std::env::var_os(&name).is_some_and(|value| value.is_empty());
    let argument = if matches!(argument.get_action(), ArgAction::SetTrue) {
        argument.value_parser(BoolishValueParser::new())
    } else {
        argument
    };
    if is_empty {
        argument
    } else {
        argument.env(name).hide_env(true)
    }
}

/// The variable that mirrors an option.
pub(crate) fn variable(argument: &Arg) -> Option<String> {
    let long = argument.get_long()?;
    let prints = matches!(argument.get_action(), ArgAction::Help | ArgAction::Version);
    (!prints).then(|| format!("TENSORFORM_{}", long.to_uppercase().replace('-', "_")))
}

/// Provision AI workloads on Azure virtual machines from one short YAML spec.
///
/// A spec names the stage (training, inference) and the workload (generative, complex, small).
/// Tensorform picks image and size and says why, checks quota, restrictions and price before
/// anything is built, compares with live Azure, and applies.
#[derive(Debug, Parser)]
#[command(
    name = "tensorform",
    version,
    propagate_version = true,
    disable_help_subcommand = true
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Read the spec from FILE, or from standard input where it is -
    #[arg(
        short,
        long,
        global = true,
        value_name = "FILE",
        default_value = "tensorform.yaml"
    )]
    pub(crate) file: PathBuf,
    /// Print in this format
    #[arg(short, long, global = true, value_enum, default_value_t)]
    pub(crate) output: Format,
    /// Set a variable of the spec
    #[arg(long, global = true, value_name = "NAME=VALUE", value_delimiter = '\n')]
    pub(crate) var: Vec<String>,
    /// Read variables from FILE, one NAME=VALUE a line
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) var_file: Option<PathBuf>,
    /// Use this subscription, by its id
    #[arg(long, global = true, value_name = "ID", value_parser = subscription)]
    pub(crate) subscription: Option<String>,
    /// Use this cloud
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(crate) cloud: CloudName,
    /// Use this credential instead of trying each: token, github-actions, azure-pipelines,
    /// client-secret, workload-identity, managed-identity, azure-cli, azd
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) credential: Option<String>,
    /// Talk to another Azure Resource Manager
    #[arg(long, global = true, value_name = "URL", conflicts_with = "sandbox")]
    pub(crate) endpoint: Option<String>,
    /// Work in the local sandbox; its world is kept in DIR, .tensorform/sandbox unless given
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ".tensorform/sandbox",
        value_parser = sandbox::folder
    )]
    pub(crate) sandbox: Option<PathBuf>,
    /// Run the sandbox's clock N times as fast as time [default: 1000, served 1]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) speed: Option<f64>,
    /// Let the sandbox fail as FILE says
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Colour the output
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(crate) color: When,
    /// Print neither progress nor notes
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more; twice for requests, three times for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Write logs in this form
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(crate) log_format: LogFormat,
}

/// Output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// A comment on a pull request (cost)
    Markdown,
    /// A page by itself (cost)
    Html,
    /// A table (cost)
    Csv,
    /// Infracost's JSON, which its comment tools read (cost)
    Infracost,
}

/// Clouds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CloudName {
    /// Azure
    #[default]
    Public,
    /// Azure for US government
    Usgovernment,
    /// Azure in China
    China,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Forms of logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    #[default]
    Text,
    /// JSON lines
    Json,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a commented starter spec
    Init(Init),
    /// Check the spec without any cloud
    Validate,
    /// Show what would be done, and why
    Plan(Plan),
    /// Show a saved plan
    Show(Show),
    /// Show what the stack costs, and what it would cost otherwise
    Cost(Cost),
    /// Do what the plan says
    Apply(Apply),
    /// Delete what the stack made
    Destroy(Destroy),
    /// Show what is live, and check it
    Status(Status),
    /// Print the nodes that run, for the tools that work on them
    Inventory(Inventory),
    /// Draw the resources of the plan
    Graph(Graph),
    /// Print what the spec wants as an ARM template, or as a cluster of CycleCloud
    Export(Export),
    /// Start the nodes of pools that `stop` stopped
    Start(Power),
    /// Deallocate the nodes of pools: only their disks are paid for then
    Stop(Power),
    /// Explain a pool's choices, or a diagnostic code
    Explain(Explain),
    /// Print what nodes of a pool run when they start first
    Bootstrap(Bootstrap),
    /// Show quota before and after what the spec needs
    Quota,
    /// Check credential, subscription, permissions, clock and endpoints
    Doctor,
    /// Size a model without a spec: memory, split, speed and cost
    Estimate(Box<Estimate>),
    /// List VM sizes
    Sizes(Sizes),
    /// List images
    Images,
    /// Show what the catalogue holds, or bring it up to date
    Catalog(Catalog),
    /// Run the sandbox by itself
    Sandbox(Sandbox),
    /// Print the JSON schema of the spec
    Schema(Schema),
    /// Print shell completions
    Completions(Completions),
    /// Print or write the manual pages
    Man(Man),
}

/// Reads the id of a subscription; its name is nothing that Azure takes in its place.
fn subscription(text: &str) -> Result<String, String> {
    let is_id = text.len() == 36 && uuid::Uuid::try_parse(text).is_ok();
    is_id.then(|| text.to_owned()).ok_or_else(|| {
        "expected a subscription id such as `00000000-0000-0000-0000-000000000000`".to_owned()
    })
}

impl Arguments {
    /// Reads a command line.
    ///
    /// # Errors
    /// Something about it is wrong, or help was asked for.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let arguments = Self::from_arg_matches(&command().try_get_matches()?)?;
        let Global {
            sandbox,
            speed,
            faults,
            ..
        } = &arguments.global;
        let has_sandbox = sandbox.is_some() || matches!(arguments.command, Command::Sandbox(_));
        if !has_sandbox && (speed.is_some() || faults.is_some()) {
            let message = "`--speed` and `--faults` are for `--sandbox` and `sandbox serve`";
            return Err(command().error(ErrorKind::MissingRequiredArgument, message));
        }
        let is_preview = matches!(arguments.command, Command::Cost(_));
        if !(is_preview || matches!(arguments.global.output, Format::Text | Format::Json)) {
            let message = "only `cost` prints `markdown`, `html`, `csv` and `infracost`";
            return Err(command().error(ErrorKind::InvalidValue, message));
        }
        Ok(arguments)
    }
}

impl Command {
    /// The command as it is typed.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Validate => "validate",
            Self::Plan(_) => "plan",
            Self::Cost(_) => "cost",
            Self::Show(_) => "show",
            Self::Apply(_) => "apply",
            Self::Destroy(_) => "destroy",
            Self::Status(_) => "status",
            Self::Inventory(_) => "inventory",
            Self::Graph(_) => "graph",
            Self::Export(_) => "export",
            Self::Start(_) => "start",
            Self::Stop(_) => "stop",
            Self::Explain(_) => "explain",
            Self::Bootstrap(_) => "bootstrap",
            Self::Quota => "quota",
            Self::Doctor => "doctor",
            Self::Estimate(_) => "estimate",
            Self::Sizes(_) => "sizes",
            Self::Images => "images",
            Self::Catalog(arguments) => match arguments.command {
                CatalogCommand::Info => "catalog info",
                CatalogCommand::Refresh(_) => "catalog refresh",
            },
            Self::Sandbox(_) => "sandbox serve",
            Self::Schema(_) => "schema",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }
}

/// Arguments of `init`.
#[derive(Args, Debug)]
pub(crate) struct Init {
    /// The AI stage
    #[arg(long, value_name = "STAGE", value_parser = ["training", "inference"])]
    pub(crate) stage: Option<String>,
    /// The kind of model
    #[arg(long, value_name = "WORKLOAD", value_parser = ["generative", "complex", "small"])]
    pub(crate) workload: Option<String>,
    /// The model's parameters, such as 70B
    #[arg(long, value_name = "PARAMETERS")]
    pub(crate) model: Option<String>,
    /// What runs the jobs
    #[arg(long, value_name = "NAME", value_parser = ["manual", "auto", "batch", "aks", "cyclecloud"])]
    pub(crate) orchestrator: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Where a plan looks.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Planning {
    /// Ask nobody: nothing exists, quota and restrictions are unknown
    #[arg(long, conflicts_with_all = ["sandbox", "endpoint"])]
    pub(crate) offline: bool,
    /// Choose sizes and images anew instead of keeping live choices
    #[arg(long)]
    pub(crate) reselect: bool,
    /// Let the stack's lifetime start over
    #[arg(long)]
    pub(crate) renew: bool,
    /// Replace the resource with this address
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    /// Take over a resource that stands where the spec wants one
    #[arg(long, value_name = "ADDRESS=ID")]
    pub(crate) adopt: Vec<String>,
    /// Let a resource that left the spec stay, outside the stack: only its tags go
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) release: Vec<String>,
    /// Plan only this pool and what it needs
    #[arg(long, value_name = "POOL", value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// Let changes deallocate and replace nodes
    #[arg(long)]
    pub(crate) allow_stop: bool,
    /// Most requests a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_rps: Option<u32>,
    /// Locations of the spec in which there was no capacity.
    #[arg(skip)]
    pub(crate) passed: Vec<model::units::Region>,
    /// Whether VMs of others in the group are of interest, of however many there are.
    #[arg(skip)]
    pub(crate) neighbours: bool,
    /// Whether only what no spec wants is deleted.
    #[arg(skip)]
    pub(crate) orphans: bool,
    /// Whether nodes of the pools only start or stop.
    #[arg(skip)]
    pub(crate) power: Option<planner::Power>,
    /// Whether money is no matter.
    #[arg(skip)]
    pub(crate) without_budget: bool,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
}

/// Arguments of `plan`.
#[derive(Args, Debug)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) planning: Planning,
    /// Save the plan in FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Plan to delete everything
    #[arg(
        long,
        conflicts_with_all = ["replace", "reselect", "renew", "target", "adopt", "release", "offline"]
    )]
    pub(crate) destroy: bool,
    /// Only tell what is live and not as the spec says
    #[arg(
        long,
        conflicts_with_all = ["out", "destroy", "replace", "reselect", "renew", "adopt", "release", "offline"]
    )]
    pub(crate) refresh_only: bool,
    /// Exit with 2 when there are changes
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
}

/// Arguments of `show`.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The saved plan
    pub(crate) plan: PathBuf,
}

/// Arguments of `apply`.
#[derive(Args, Debug)]
pub(crate) struct Apply {
    /// Apply this saved plan, after checking that it still holds
    #[arg(conflicts_with_all = ["replace", "reselect", "renew", "target", "adopt", "release", "offline", "price_book"])]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) planning: Planning,
    #[command(flatten)]
    pub(crate) applying: Applying,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// A pool of the spec, or a code such as SPEC002
    #[arg(value_name = "POOL|CODE")]
    pub(crate) what: Option<String>,
    /// Ask nobody: nothing exists, quota and restrictions are unknown
    #[arg(long, conflicts_with_all = ["sandbox", "endpoint"])]
    pub(crate) offline: bool,
    /// Choose sizes and images anew instead of keeping live choices
    #[arg(long)]
    pub(crate) reselect: bool,
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
pub(crate) struct Schema {
    /// Print the Markdown reference instead
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Write a page for each command into DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
