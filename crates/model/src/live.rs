//! What is known about live Azure: resources, and facts that a plan asked for.
//!
//! A value of [`Live`] is read first and never changes while a plan is made. What could not
//! be read is said, never left out.

mod foresight;

mod instance;

mod readiness;

mod proximity;

mod reservation;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    address::Address,
    ids::ArmId,
    permissions::Permissions,
    resource::{PurchasePlan, Resource, System, Tags},
    units::{CaseInsensitive, Region, SizeName, Timestamp},
};

pub use self::{
    foresight::{PlacementQuestion, PolicyFact, PolicyQuestion},
    instance::Instance,
    proximity::ProximityGroupFact,
    readiness::Readiness,
    reservation::{ReservationFact, ReservationGroupFact},
};

/// Which world a run looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Azure, or another ARM named by `--endpoint`.
    Azure,
    /// The embedded sandbox.
    Sandbox,
    /// Nothing exists and nothing is asked.
    Offline,
}

/// Everything read before planning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// The subscription that was read; `None` offline when the spec names none.
    pub subscription: Option<String>,
    /// When reading began; `None` offline.
    pub read_at: Option<Timestamp>,
    /// Resources of the stack, and foreign ones in its group.
    pub resources: Vec<LiveResource>,
    /// Instances of the stack's scale sets, by the id of their set, in no particular order.
    pub instances: BTreeMap<ArmId, Vec<Instance>>,
    /// What of others uses a resource of the stack, by the id of what is used: a VM where Azure
    /// tells whose an interface is.
    pub strangers: BTreeMap<ArmId, BTreeSet<ArmId>>,
    /// Reads that failed although the run may go on: the plan is then incomplete.
    pub unread: Vec<Unread>,
    /// Answers to the questions of the planner.
    pub facts: Facts,
}

/// A read that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What was to be read.
    pub what: String,
    /// Why it was not.
    pub reason: String,
}

/// One resource that exists.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveResource {
    /// Its id, as Azure spells it.
    pub id: ArmId,
    /// ARM's type, as Azure spells it.
    pub arm_type: String,
    /// Whose it is.
    pub owner: Owner,
    /// All its tags.
    pub tags: Tags,
    /// What it is, in canonical form; `None` for kinds that the tool does not make.
    /// The tags inside are all tags but those in [`crate::resource::tags::RUN_TAGS`].
    pub resource: Option<Resource>,
    /// The state it is in.
    pub state: State,
}

impl LiveResource {
    /// The values that a plan can rely on: every attribute, and the state under `state.`.
    pub fn values(&self) -> FingerprintValues {
        let mut values = self
            .resource
            .as_ref()
            .map(Resource::attributes)
            .unwrap_or_default();
        values.insert(
            "state.provisioning".to_owned(),
            serde_json::to_value(self.state.provisioning).unwrap_or_default(),
        );
        if let Some(power) = self.state.power {
            values.insert(
                "state.power".to_owned(),
                serde_json::to_value(power).unwrap_or_default(),
            );
        }
        values
    }

    /// The address, for what is ours.
    pub fn address(&self) -> Option<&Address> {
        match &self.owner {
            Owner::Stack(address) => Some(address),
            Owner::Child { address, .. } => address.as_ref(),
            Owner::Foreign => None,
        }
    }
}

/// Whose a resource is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Ours, by its stack tag and address tag.
    Stack(Address),
    /// Ours, by being a child of a resource of ours: an implicit NIC, an OS disk, a subnet.
    Child {
        /// The resource it belongs to.
        of: ArmId,
        /// The address, where the child has one of its own (a subnet).
        address: Option<Address>,
    },
    /// Somebody else's.
    Foreign,
}

/// The state of a live resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// What Azure says of the last write.
    pub provisioning: Provisioning,
    /// The power state of a VM.
    pub power: Option<Power>,
    /// Whether the VM's agent reports, where it is known.
    pub agent_ready: Option<bool>,
    /// What Azure says about a failure.
    pub message: Option<String>,
    /// Whether a VM is a spot VM that Azure took back.
    pub evicted: bool,
    /// How the bootstrap of a VM stands, where it tells.
    pub readiness: Option<Readiness>,
    /// Nodes that a pool of Batch has.
    pub nodes: Option<u32>,
}

/// What Azure says of the last write to a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provisioning {
    /// It is done. Also for kinds that have no such state.
    #[default]
    Succeeded,
    /// It failed.
    Failed,
    /// It was cancelled.
    Canceled,
    /// The resource is being made.
    Creating,
    /// The resource is being changed.
    Updating,
    /// The resource is being deleted.
    Deleting,
    /// Another word: the write is under way.
    Other,
}

/// The power state of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Power {
    /// It starts.
    Starting,
    /// It runs and is billed.
    Running,
    /// It stops.
    Stopping,
    /// It is off, keeps its hardware and is billed.
    Stopped,
    /// It gives back its hardware.
    Deallocating,
    /// It has no hardware and only its disks are billed.
    Deallocated,
    /// Azure does not say.
    Unknown,
}

/// Something the planner needs to know and does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Which sizes the subscription may use in a region.
    Sizes(Region),
    /// Compute quota of a region.
    ComputeQuota(Region),
    /// Network quota of a region.
    NetworkQuota(Region),
    /// A version of a marketplace image.
    Image(ImageQuestion),
    /// An image by its id.
    OwnImage(OwnImageQuestion),
    /// Whether the terms of a purchase plan are accepted.
    Terms(PurchasePlan),
    /// For which namespaces the subscription is registered.
    Namespaces,
    /// What the credential may do in the subscription or in a group.
    Permissions(ArmId),
    /// What policies say to a node.
    Policy(PolicyQuestion),
    /// How likely spot capacity is to be had.
    SpotPlacement(PlacementQuestion),
    /// Which sizes pools of Batch can have in a region.
    BatchSizes(Region),
    /// The quota of an account of Batch.
    BatchQuota(ArmId),
    /// A subnet that is not the stack's.
    Subnet(ArmId),
    /// What a capacity reservation group has.
    Reservations(ArmId),
    /// A proximity placement group that is not the stack's.
    ProximityGroup(ArmId),
}

/// Asks for a version of a marketplace image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageQuestion {
    /// The region.
    pub location: Region,
    /// Who publishes it.
    pub publisher: String,
    /// The product.
    pub offer: String,
    /// The variant.
    pub sku: String,
    /// The version, or `None` for the newest.
    pub version: Option<String>,
}

/// Asks for an image by its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnImageQuestion {
    /// The region.
    pub location: Region,
    /// The id: of a managed image, or of a gallery's image with its version or without.
    pub id: CaseInsensitive,
}

/// An answer, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<T> {
    /// What Azure says.
    Known(T),
    /// Azure did not let us know: no permission, or the run is offline.
    Unknown {
        /// Why, for people.
        reason: String,
    },
}

impl<T> Answer<T> {
    /// What Azure says, where it says something.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown { .. } => None,
        }
    }
}

/// The answers to questions; a question without an entry has not been asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Sizes by region and name.
    pub sizes: BTreeMap<Region, Answer<BTreeMap<SizeName, SizeFact>>>,
    /// Compute quota by region.
    pub compute_quota: BTreeMap<Region, Answer<Vec<UsageFact>>>,
    /// Network quota by region.
    pub network_quota: BTreeMap<Region, Answer<Vec<UsageFact>>>,
    /// Image versions. `Known(None)` means that Azure has no such image or version.
    pub images: BTreeMap<ImageQuestion, Answer<Option<ImageFact>>>,
    /// Images by their id. `Known(None)` means that there is none.
    pub own_images: BTreeMap<OwnImageQuestion, Answer<Option<ImageFact>>>,
    /// States of registration by namespace.
    pub namespaces: Option<Answer<BTreeMap<String, String>>>,
    /// Permissions by scope.
    pub permissions: BTreeMap<ArmId, Answer<Permissions>>,
    /// What policies say to nodes: nothing, where they may be made.
    pub policies: BTreeMap<PolicyQuestion, Answer<Vec<PolicyFact>>>,
    /// Azure's word on spot capacity, such as `High`; none where it says nothing.
    pub placements: BTreeMap<PlacementQuestion, Answer<Option<String>>>,
    /// Capacity reservation groups. `Known(None)` means that there is none.
    pub reservations: BTreeMap<ArmId, Answer<Option<ReservationGroupFact>>>,
    /// Proximity placement groups. `Known(None)` means that there is none.
    pub proximity_groups: BTreeMap<ArmId, Answer<Option<ProximityGroupFact>>>,
    /// Terms of purchase plans.
    pub terms: BTreeMap<PurchasePlan, Answer<TermsFact>>,
    /// Sizes that pools of Batch can have, by region.
    pub batch_sizes: BTreeMap<Region, Answer<BTreeSet<SizeName>>>,
    /// Limits of accounts of Batch by the account's id; what they use is not in them.
    pub batch_quota: BTreeMap<ArmId, Answer<Vec<UsageFact>>>,
    /// Subnets. `Known(None)` means that there is none.
    pub subnets: BTreeMap<ArmId, Answer<Option<SubnetFact>>>,
}

impl Facts {
    /// Whether a question has been asked, whatever came of it.
    pub fn has(&self, question: &Question) -> bool {
        match question {
            Question::Sizes(region) => self.sizes.contains_key(region),
            Question::ComputeQuota(region) => self.compute_quota.contains_key(region),
            Question::NetworkQuota(region) => self.network_quota.contains_key(region),
            Question::Image(image) => self.images.contains_key(image),
            Question::OwnImage(image) => self.own_images.contains_key(image),
            Question::Terms(plan) => self.terms.contains_key(plan),
            Question::Namespaces => self.namespaces.is_some(),
            Question::Permissions(scope) => self.permissions.contains_key(scope),
            Question::Policy(node) => self.policies.contains_key(node),
            Question::SpotPlacement(asked) => self.placements.contains_key(asked),
            Question::BatchSizes(region) => self.batch_sizes.contains_key(region),
            Question::BatchQuota(account) => self.batch_quota.contains_key(account),
            Question::Subnet(id) => self.subnets.contains_key(id),
            Question::Reservations(group) => self.reservations.contains_key(group),
            Question::ProximityGroup(group) => self.proximity_groups.contains_key(group),
        }
    }

    /// Enters that a question has no answer.
    pub fn set_unknown(&mut self, question: Question, reason: &str) {
        let reason = reason.to_owned();
        match question {
            Question::Sizes(region) => {
                self.sizes.insert(region, Answer::Unknown { reason });
            }
            Question::ComputeQuota(region) => {
                self.compute_quota
                    .insert(region, Answer::Unknown { reason });
            }
            Question::NetworkQuota(region) => {
                self.network_quota
                    .insert(region, Answer::Unknown { reason });
            }
            Question::Image(image) => {
                self.images.insert(image, Answer::Unknown { reason });
            }
            Question::OwnImage(image) => {
                self.own_images.insert(image, Answer::Unknown { reason });
            }
            Question::Terms(plan) => {
                self.terms.insert(plan, Answer::Unknown { reason });
            }
            Question::Namespaces => self.namespaces = Some(Answer::Unknown { reason }),
            Question::Permissions(scope) => {
                self.permissions.insert(scope, Answer::Unknown { reason });
            }
            Question::Policy(node) => {
                self.policies.insert(node, Answer::Unknown { reason });
            }
            Question::SpotPlacement(asked) => {
                self.placements.insert(asked, Answer::Unknown { reason });
            }
            Question::BatchSizes(region) => {
                self.batch_sizes.insert(region, Answer::Unknown { reason });
            }
            Question::BatchQuota(account) => {
                self.batch_quota.insert(account, Answer::Unknown { reason });
            }
            Question::Subnet(id) => {
                self.subnets.insert(id, Answer::Unknown { reason });
            }
            Question::Reservations(group) => {
                self.reservations.insert(group, Answer::Unknown { reason });
            }
            Question::ProximityGroup(group) => {
                self.proximity_groups
                    .insert(group, Answer::Unknown { reason });
            }
        }
    }
}

/// A size that the region has, and what keeps the subscription from it.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeFact {
    /// The size.
    pub name: SizeName,
    /// The quota family.
    pub family: String,
    /// Zones that have it, before restrictions.
    pub zones: BTreeSet<String>,
    /// Whether the subscription may not use it in the region at all.
    pub restricted: Option<String>,
    /// Zones in which the subscription may not use it.
    pub restricted_zones: BTreeSet<String>,
    /// Capabilities as Azure names them.
    pub capabilities: BTreeMap<String, String>,
}

/// A quota counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageFact {
    /// Azure's name, such as `standardNDSH100v5Family` or `cores`.
    pub name: String,
    /// Azure's words for it.
    pub display_name: String,
    /// The most there may be.
    pub limit: i64,
    /// What there is.
    pub used: i64,
}

/// A version of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageFact {
    /// The version; empty for a managed image, which has none.
    pub version: String,
    /// Hyper-V generation, 1 or 2, where Azure says.
    pub generation: Option<u8>,
    /// `x64` or `Arm64`, where Azure says.
    pub architecture: Option<String>,
    /// The purchase plan, whose terms must be accepted.
    pub plan: Option<PurchasePlan>,
    /// Size of its OS disk in GiB, where Azure says.
    pub os_disk_gb: Option<u32>,
    /// Features by name, such as `SecurityType`.
    pub features: BTreeMap<String, String>,
    /// The operating system, where Azure says.
    pub os: Option<System>,
    /// Whether it keeps its accounts, so that nobody can give it new ones.
    pub specialized: bool,
    /// What kind of image it is.
    pub kind: ImageKind,
    /// The regions that have it, where Azure says.
    pub regions: Option<BTreeSet<Region>>,
}

/// The kind of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageKind {
    /// Of the marketplace.
    #[default]
    Marketplace,
    /// A managed image, which knows neither versions nor features.
    Managed,
    /// Of a gallery: of one's own, shared, or of a community.
    Gallery,
}

impl ImageFact {
    /// A feature by its name, whatever its case.
    pub fn feature(&self, name: &str) -> Option<&str> {
        let mut features = self.features.iter();
        let (_, value) = features.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

/// What a subscription has with the terms of a purchase plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermsFact {
    /// Whether it accepted them.
    pub accepted: bool,
    /// Where they can be read.
    pub link: Option<String>,
}

/// A subnet that is not the stack's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetFact {
    /// The region of its network.
    pub location: Region,
    /// Its blocks in CIDR form.
    pub prefixes: Vec<String>,
    /// Addresses of it that are taken, without those that Azure keeps.
    pub used: u64,
    /// The service that it is given to, where it is.
    pub delegated_to: Option<String>,
}

/// Values of a live resource that a step relies on, and their digest.
pub type FingerprintValues = BTreeMap<String, Value>;
