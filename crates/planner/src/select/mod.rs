//! Chooses size, image, count and placement of each pool: filters, then one rank.
//!
//! Reading order: the [`role`] that the article gives a stage and a workload; what its
//! model [`need`]s; the [`rules`] that keep or reject a size; the [`rank`] that orders those
//! kept; the [`image`] that fits; and what [`sticky`] choices live nodes keep.

pub mod role;

pub mod need;

pub mod rules;

pub mod rank;

pub mod image;

pub mod sticky;

mod zones;

mod proximity;

mod reservation;

pub mod alternates;

mod demand;

mod weight;

mod impossible;

mod spot_price;

pub(crate) mod grouping;

mod deadline;

mod security;

pub(crate) mod batch;

pub(crate) mod aks;

mod storage;

mod choices;

mod pool;

mod size;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::{Catalog, Size},
    diag::Diagnostics,
    live::{Live, Mode, Question, SizeFact},
    plan::{AutoChoice, Candidate, Formula, Memory, Parallelism, Throughput},
    price_book::PriceBook,
    resource::{ImageReference, PurchasePlan, Security},
    spec::{
        Budget, DiskController, DiskType, EphemeralPlacement, OperatingSystem, Pool, Priority, Spec,
    },
    units::{Region, SizeName},
};
use rust_decimal::Decimal;

use crate::cost;

pub use self::{
    aks::{AksChoice, SystemNodes},
    grouping::Placement,
    pool::select,
};
pub(crate) use self::{demand::Demand, grouping::MOST_OF_A_SET, weight::Weights};

pub(crate) use self::reservation::short as short_of_places;

/// What was chosen for a pool, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The VM size.
    pub size: SizeName,
    /// Number of nodes.
    pub count: u32,
    /// Whether nodes of a pool of Batch reach each other.
    pub inter_node: bool,
    /// What an agent pool gets besides.
    pub aks: Option<AksChoice>,
    /// How capacity is bought.
    pub priority: Priority,
    /// Other ways to make the pool, tried in order where there is no capacity.
    pub others: Vec<alternates::Other>,
    /// Single VMs, one scale set, a pool of Batch, or an agent pool.
    pub placement: Placement,
    /// `dsvm`, `hpc` or `marketplace`.
    pub image_kind: String,
    /// Zones of the nodes, in the order in which nodes take them; empty for none.
    pub zones: Vec<String>,
    /// The zone of every node, by index; the indices are the pool's nodes.
    pub places: BTreeMap<u32, Option<String>>,
    /// What new nodes get.
    pub new_node: NodeChoice,
    /// What live nodes keep, by index.
    pub kept: BTreeMap<u32, NodeChoice>,
    /// The purchase plan whose terms are to be accepted for new nodes.
    pub terms: Option<PurchasePlan>,
    /// Accelerated networking.
    pub accelerated_networking: bool,
    /// The memory sum, where the model is known and runs on GPUs.
    pub memory: Option<Memory>,
    /// The split, where the model is known and runs on GPUs.
    pub parallelism: Option<Parallelism>,
    /// The speed, where the model fits.
    pub throughput: Option<Throughput>,
    /// How the three came about.
    pub formulas: Vec<Formula>,
    /// Rows of the article that the choice rests on.
    pub rules: Vec<String>,
    /// Sentences that explain the choice.
    pub why: Vec<String>,
    /// What was decided where the spec leaves it open.
    pub choices: Vec<AutoChoice>,
    /// Every size considered.
    pub candidates: Vec<Candidate>,
}

/// What can differ between the nodes of a pool, because live nodes keep what they have.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeChoice {
    /// The image.
    pub image: ImageReference,
    /// The purchase plan of the image, where it has one.
    pub plan: Option<PurchasePlan>,
    /// The zone.
    pub zone: Option<String>,
    /// Size of the OS disk in GiB.
    pub os_disk_gb: u32,
    /// Type of the OS disk.
    pub os_disk_type: DiskType,
    /// Name of the OS disk, where it exists.
    pub os_disk_name: Option<String>,
    /// Where the OS disk stands on the node, if it is ephemeral.
    pub ephemeral: Option<EphemeralPlacement>,
    /// How it reaches its disks; `None` is Azure's choice for the size.
    pub disk_controller: Option<DiskController>,
    /// The security type.
    pub security: Security,
}

impl Selection {
    /// What a node gets or keeps.
    pub fn node(&self, index: u32) -> NodeChoice {
        if let Some(kept) = self.kept.get(&index) {
            return kept.clone();
        }
        let zone = self.places.get(&index).cloned().flatten();
        NodeChoice {
            zone,
            ..self.new_node.clone()
        }
    }
}

/// What choosing for one pool looks at.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The whole spec.
    pub spec: &'a Spec,
    /// The pool's name.
    pub name: &'a str,
    /// The pool.
    pub pool: &'a Pool,
    /// What its model needs, where it is known.
    pub need: Option<&'a need::Need>,
    /// What Azure offers.
    pub catalog: &'a Catalog,
    /// What exists and what was answered.
    pub live: &'a Live,
    /// The region.
    pub location: &'a Region,
    /// The world the plan is for.
    pub mode: Mode,
    /// The day of the plan, `YYYY-MM-DD`.
    pub today: &'a str,
    /// What the stack may cost; `None` where nothing is refused for money.
    pub budget: Option<&'a Budget>,
    /// Prices of an agreement: a budget is about what is paid. Sizes are ranked without them.
    pub book: Option<&'a PriceBook>,
    /// Whether live choices are made anew.
    pub reselect: bool,
    /// What is live of the pool: single VMs or a set; `None` for nothing.
    pub grouped: Option<Placement>,
    /// Whether a refusal offers changes that would do, which takes many tries.
    pub offers_ways_out: bool,
}

impl Context<'_> {
    /// The nodes that the spec asks for. A pool of none is decided as if it said nothing, so that
    /// it gets the same size with its first node.
    pub fn count(&self) -> Option<u32> {
        self.pool.count.filter(|count| *count > 0)
    }

    /// The price of one VM of a size per hour in US dollars, as the pool buys capacity.
    pub fn hourly_price(&self, size: &Size) -> Option<Decimal> {
        let row = self.catalog.vm_price(self.location, &size.name)?;
        match self.pool.priority {
            Priority::Regular => match self.pool.os {
                OperatingSystem::Linux => row.linux,
                OperatingSystem::Windows { .. } => row.windows,
            },
            Priority::Spot(_) => match self.pool.os {
                OperatingSystem::Linux => row.spot,
                // No source has spot prices with the licence.
                OperatingSystem::Windows { .. } => None,
            },
        }
    }

    /// The same in any region, and by an agreement's prices where it has one.
    pub fn paid_price(&self, location: &Region, size: &Size) -> Option<Decimal> {
        let prices = cost::Prices {
            catalog: self.catalog,
            book: self.book,
        };
        cost::of_node(prices, location, &size.name, self.pool)
    }

    /// What Azure says of a size in the region, where it was asked.
    pub(crate) fn size_fact(&self, size: &Size) -> Option<&SizeFact> {
        let answer = self.live.facts.sizes.get(self.location)?;
        answer.known()?.get(&size.name)
    }

    /// The most that a spot VM may cost per hour in US dollars, where the spec has a limit.
    pub fn most_for_spot(&self) -> Option<Decimal> {
        match &self.pool.priority {
            Priority::Regular => None,
            Priority::Spot(spot) => spot.max_price,
        }
    }
}

/// What choosing finds on its way.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Findings for the user.
    pub diagnostics: Diagnostics,
    /// What must be known and has not been asked.
    pub questions: BTreeSet<Question>,
}

impl Findings {
    /// Takes over the findings of another part.
    pub fn extend(&mut self, other: Self) {
        self.diagnostics.extend(other.diagnostics);
        self.questions.extend(other.questions);
    }
}

impl Trial<'_> {
    /// Whether nodes are to be made.
    pub fn grows(&self) -> bool {
        self.new_nodes > 0
    }
}

/// A size on trial.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The pool and its surroundings.
    pub context: Context<'a>,
    /// The role of the pool.
    pub role: role::Role,
    /// The size.
    pub size: &'a Size,
    /// Nodes the spec asks for, where it does.
    pub count: Option<u32>,
    /// Nodes that are to be made; availability and quota matter only for them.
    pub new_nodes: u32,
}
