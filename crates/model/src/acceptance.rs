//! Checks of nodes after they were made: the parts of what a guest answers, and what came of it.

/// The line that begins a part of a guest's answer, before the part's name.
pub const PART: &str = "%% ";

/// Names of the parts of a guest's answer.
pub mod part {
    /// The first one, which is empty: without it the answer is cut off.
    pub const BEGIN: &str = "begin";
    /// The last one, which is empty.
    pub const END: &str = "end";
    /// What only a sandbox says: that no guest answered.
    pub const SANDBOX: &str = "sandbox";
    /// GPUs with their driver.
    pub const GPUS: &str = "gpus";
    /// The driver, where GPUs do not say it.
    pub const DRIVER: &str = "driver";
    /// The state of the fabric manager.
    pub const FABRIC_MANAGER: &str = "fabric_manager";
    /// Ports of InfiniBand with their partition keys.
    pub const INFINIBAND: &str = "infiniband";
    /// NVMe disks.
    pub const NVME: &str = "nvme";
    /// An all-reduce over the GPUs.
    pub const ALL_REDUCE: &str = "all_reduce";
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// How many GPUs there are.
    Gpus,
    /// Whether the driver is the same on all nodes of a pool.
    Driver,
    /// Whether the fabric manager is active.
    FabricManager,
    /// Whether all ports of InfiniBand are active, at their rate.
    InfinibandPorts,
    /// Whether the partition key is the same on all nodes of a pool.
    PartitionKey,
    /// How many local NVMe disks there are.
    NvmeDisks,
    /// The bus bandwidth of an all-reduce over the node's GPUs.
    AllReduce,
}

impl CheckKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Gpus => "GPUs",
            Self::Driver => "driver",
            Self::FabricManager => "fabric manager",
            Self::InfinibandPorts => "InfiniBand ports",
            Self::PartitionKey => "partition key",
            Self::NvmeDisks => "NVMe disks",
            Self::AllReduce => "all-reduce",
        }
    }
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is as expected.
    Passed,
    /// It is not.
    Failed,
    /// Nobody knows what to expect.
    Measured,
    /// It was not looked at.
    Skipped,
}

/// One check of a node.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// What is checked.
    pub check: CheckKind,
    /// What came of it.
    pub verdict: Verdict,
    /// What was found, or why nothing was looked at.
    pub found: String,
    /// What was expected, where that is known.
    pub expected: Option<String>,
}

/// What came of a node.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeOutcome {
    /// It answered.
    Checked(Vec<Check>),
    /// There was no reason to ask it.
    Skipped(String),
    /// It was asked and did not answer.
    Unanswered(String),
}

/// A node and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NodeAcceptance {
    /// The address of the VM, or of the scale set that it is an instance of.
    pub address: String,
    /// Its pool.
    pub pool: String,
    /// Its name.
    pub name: String,
    /// Its size.
    pub size: String,
    /// Whether a sandbox answered in its place.
    pub emulated: bool,
    /// What came of it.
    pub outcome: NodeOutcome,
}

impl NodeAcceptance {
    /// Its checks, where it answered.
    pub fn checks(&self) -> &[Check] {
        match &self.outcome {
            NodeOutcome::Checked(checks) => checks,
            NodeOutcome::Skipped(_) | NodeOutcome::Unanswered(_) => &[],
        }
    }

    /// The checks that it failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks()
            .iter()
            .filter(|check| check.verdict == Verdict::Failed)
    }
}
