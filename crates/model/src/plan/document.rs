//! The plan document: what `plan -o json` prints and `--out` saves.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Action, AutoChoice, Bootstrap, Formula, Scarcity, Step};
use crate::{
    diag::DiagnosticDocument,
    digest,
    live::Mode,
    price_book::PriceBookReference,
    units::{Micros, Region, SizeName, Timestamp},
};

/// The version of the plan document. The first number changes when old readers would misread
/// a new file.
pub const FORMAT_VERSION: &str = "1.0";

/// A plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: String,
    /// The tool's version.
    pub tensorform_version: String,
    /// Digest of the whole document without itself and `run`.
    pub digest: String,
    /// The stack's name.
    pub stack: String,
    /// When the plan was made.
    pub created_at: Timestamp,
    /// The spec it was made from.
    pub spec: SpecReference,
    /// The catalogue it was made with.
    pub catalog: CatalogReference,
    /// The world it was made for.
    pub scope: Scope,
    /// How long the stack lives, where the spec limits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Lifetime>,
    /// The pools that the plan is about alone, where it is not about the whole stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Whether it deletes only what no spec wants.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub orphans: bool,
    /// Whether any step writes.
    pub has_changes: bool,
    /// Whether everything that matters could be read.
    pub complete: bool,
    /// Steps by action.
    pub counts: BTreeMap<Action, usize>,
    /// Decisions by pool.
    pub pools: BTreeMap<String, PoolPlan>,
    /// What new nodes run when they start first, by the digest that they carry as a tag.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bootstraps: BTreeMap<String, Bootstrap>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Quota before and after.
    pub quota: Vec<QuotaLine>,
    /// What it costs.
    pub cost: Cost,
    /// What making the plan took.
    pub run: Run,
    /// Findings.
    pub diagnostics: Vec<DiagnosticDocument>,
}

/// The spec a plan was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecReference {
    /// Digest of its text.
    pub digest: String,
    /// Its path as given on the command line.
    pub path: String,
}

/// The catalogue a plan was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogReference {
    /// Digest over all its tables.
    pub digest: String,
    /// The day of the newest price row.
    pub prices_as_of: String,
    /// The day of the newest size row.
    pub skus_as_of: String,
}

/// The world a plan was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// `public`, `usgovernment` or `china`.
    pub cloud: String,
    /// Azure, sandbox or offline.
    pub mode: Mode,
    /// The subscription's id; `null` offline where the spec names none.
    pub subscription: Option<String>,
    /// The region.
    pub location: Region,
    /// The resource group's name.
    pub resource_group: String,
}

/// How long a stack lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lifetime {
    /// When it began: with the stack, or when it was last renewed.
    pub starts: Timestamp,
    /// When it ends. From then on the pools are deleted.
    pub expires: Timestamp,
    /// Whether it had ended when the plan was made.
    pub over: bool,
}

/// What was decided for a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolPlan {
    /// The VM size.
    pub size: SizeName,
    /// Number of nodes.
    pub count: u32,
    /// The image.
    pub image: PoolImage,
    /// `regular` or `spot`.
    pub priority: String,
    /// Zones, in the order nodes take them.
    pub zones: Vec<String>,
    /// What it does without capacity; absent where one attempt is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scarcity: Option<Scarcity>,
    /// `none` or `single_placement_group`.
    pub placement: String,
    /// `vms` or `scale_set`.
    pub grouping: String,
    /// What runs the jobs.
    pub orchestrator: String,
    /// The memory sum; `null` for CPU pools and where the model is not known.
    pub memory: Option<Memory>,
    /// The throughput; `null` where the model is not known.
    pub throughput: Option<Throughput>,
    /// How the model is split; `null` where the model is not known.
    pub parallelism: Option<Parallelism>,
    /// How the numbers of the three came about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formulas: Vec<Formula>,
    /// Rows of the article that the choice rests on, such as `A4`.
    pub rules: Vec<String>,
    /// Sentences that explain the choice, in order.
    pub why: Vec<String>,
    /// What was decided where the spec leaves it open; it stands in the memo of the pool.
    #[serde(skip)]
    pub choices: Vec<AutoChoice>,
    /// Every size considered.
    pub candidates: Vec<Candidate>,
}

/// The decisions for every pool, also where no plan comes of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// The region that was looked at; `None` where there is none to look at.
    pub location: Option<Region>,
    /// Pools that fit.
    pub pools: BTreeMap<String, PoolPlan>,
    /// Pools for which nothing fits.
    pub refused: BTreeMap<String, PoolRefusal>,
}

/// A pool for which nothing fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolRefusal {
    /// The sizes that the article names for it, in words.
    pub needs: String,
    /// Rows of the article, such as `A4`.
    pub rules: Vec<String>,
    /// Every size considered, the nearest misses first.
    pub candidates: Vec<Candidate>,
}

/// The image of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolImage {
    /// `dsvm`, `hpc` or `marketplace`.
    pub kind: String,
    /// `publisher:offer:sku:version`.
    pub urn: String,
}

/// The memory sum of one GPU, in bytes. A term that is not known is `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Memory {
    pub per_gpu_bytes: Option<u64>,
    pub usable_per_gpu_bytes: Option<u64>,
    pub weights_bytes: Option<u64>,
    pub gradients_bytes: Option<u64>,
    pub optimizer_bytes: Option<u64>,
    pub activations_bytes: Option<u64>,
    pub kv_cache_bytes: Option<u64>,
    pub overhead_bytes: Option<u64>,
    pub gpus_minimum: Option<u32>,
    pub gpus_recommended: Option<u32>,
}

/// The throughput of a pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Throughput {
    pub flops_per_token: f64,
    pub mfu: f64,
    pub tokens_per_second_per_gpu: f64,
    /// `None` where the number of tokens is not known.
    pub gpu_hours: Option<f64>,
    /// The same.
    pub seconds: Option<f64>,
}

/// How a model is split over GPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Parallelism {
    pub tensor: u32,
    pub pipeline: u32,
    pub data: u32,
    pub strategy: String,
    /// `none`, `selective` or `full`; `None` for a served model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recompute: Option<String>,
    /// Sequences of one step of one data rank; `None` for a served model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_batch: Option<u32>,
}

/// A size that was considered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The size.
    pub size: SizeName,
    /// Whether it passed every filter.
    pub verdict: Verdict,
    /// Place in the order of those kept, from 1.
    pub rank: Option<u32>,
    /// Why it was rejected, or what speaks for it.
    pub reasons: Vec<CandidateReason>,
    /// Price of one VM per hour in micro-units; `null` where it is not known.
    pub hourly_micros: Option<Micros>,
}

/// Whether a size passed every filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did.
    Kept,
    /// It did not.
    Rejected,
}

/// Why a size was kept or rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateReason {
    /// The rule, such as `memory` or `A19`.
    pub code: String,
    /// In words.
    pub message: String,
}

/// A quota counter before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaLine {
    /// Azure's name of the counter.
    pub name: String,
    /// The region.
    pub location: Region,
    /// The most there may be; `null` where it is not known.
    pub limit: Option<i64>,
    /// What there is; `null` where it is not known.
    pub used: Option<i64>,
    /// What the plan adds.
    pub needed: i64,
    /// What there will be; `null` where it is not known.
    pub after: Option<i64>,
    /// Whether it fits; `null` where it is not known.
    pub ok: Option<bool>,
}

/// What a stack costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// ISO 4217.
    pub currency: String,
    /// Whether every line has a price; if not, totals are "at least".
    pub complete: bool,
    /// Of what exists now.
    pub before: Total,
    /// Of what will exist.
    pub after: Total,
    /// The difference.
    pub delta: Total,
    /// The lines of `after`.
    pub lines: Vec<CostLine>,
    /// The agreement's prices that are in it; absent where all are list prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_book: Option<PriceBookReference>,
}

/// A total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Total {
    /// Per hour.
    pub hourly_micros: Micros,
    /// Per month of 730 hours.
    pub monthly_micros: Micros,
}

/// One line of a cost preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostLine {
    /// A pool or a resource.
    pub address: String,
    /// What is paid for.
    pub kind: CostKind,
    /// The size, the disk tier, the service.
    pub item: String,
    /// How many.
    pub quantity: u32,
    /// Price of one per hour as a decimal; `null` where it is not known or the meter is monthly.
    pub unit_hourly: Option<String>,
    /// Price of one per month as a decimal; `null` where it is not known or the meter is hourly.
    pub unit_monthly: Option<String>,
    /// All of them per hour; `null` where it is not known.
    pub hourly_micros: Option<Micros>,
    /// All of them per month of 730 hours; `null` where it is not known.
    pub monthly_micros: Option<Micros>,
    /// The meter.
    pub meter: String,
    /// The day of the price; `null` where there is none.
    pub as_of: Option<String>,
    /// Where the price is from; `null` where there is none.
    pub source: Option<String>,
    /// Whether there is a price.
    pub known: bool,
    /// What the reader must know about the price, such as `estimated`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// What is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostKind {
    /// Virtual machines.
    Compute,
    /// Disks.
    Disk,
    /// Network.
    Network,
    /// Services.
    Service,
}

/// What making a plan took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Requests sent to ARM, retries included; token requests are not among them.
    pub arm_requests: u64,
    /// The same by kind of request, such as `virtualMachines/list`.
    pub arm_requests_by_kind: BTreeMap<String, u64>,
    /// Wall time in seconds.
    pub seconds: f64,
}

impl Plan {
    /// The digest that `digest` must have.
    pub fn computed_digest(&self) -> String {
        let mut document = serde_json::to_value(self).unwrap_or_default();
        if let Some(members) = document.as_object_mut() {
            members.remove("digest");
            members.remove("run");
        }
        digest::of_json(&document)
    }

    /// Whether it is to delete the whole stack: nothing is decided for any pool, and nothing stays.
    pub fn destroys(&self) -> bool {
        !self.orphans
            && self.pools.is_empty()
            && self.targets.is_empty()
            && self.steps.iter().all(|step| step.after.is_none())
    }

    /// Steps that write.
    pub fn changes(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.action.writes())
    }

    /// How many steps have each action, every action named.
    pub fn count(steps: &[Step]) -> BTreeMap<Action, usize> {
        let mut counts: BTreeMap<Action, usize> =
            Action::ALL.into_iter().map(|action| (action, 0)).collect();
        for step in steps {
            *counts.entry(step.action).or_default() += 1;
        }
        counts
    }
}

impl Total {
    /// The difference of two totals.
    pub fn minus(self, other: Self) -> Self {
        Self {
            hourly_micros: self.hourly_micros.saturating_sub(other.hourly_micros),
            monthly_micros: self.monthly_micros.saturating_sub(other.monthly_micros),
        }
    }
}
