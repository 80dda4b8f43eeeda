//! What a world is made of. These types are the world folder's file format.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::ArmId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{deployment::Deployment, scale_set::ScaleSet};
use crate::clock::{Instant, Speed};

/// One thing of a world, under its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    Facts(Facts),
    Subscription(Subscription),
    Provider(Provider),
    Quota(Quota),
    Restriction(Restriction),
    Group(Group),
    Resource(Box<Resource>),
    Operation(Box<Operation>),
    Tombstone(Tombstone),
}

impl Entry {
    /// The key of the entry; keys of one kind stand together and in the order of ids.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Facts(_) => "facts".to_owned(),
            Self::Subscription(entry) => subscription_key(&entry.id),
            Self::Provider(entry) => provider_key(&entry.subscription, &entry.namespace),
            Self::Quota(entry) => quota_key(&entry.subscription, &entry.location, &entry.name),
            Self::Restriction(entry) => {
                restriction_key(&entry.subscription, &entry.location, &entry.size)
            }
            Self::Group(entry) => group_key(&entry.subscription, &entry.name),
            Self::Resource(entry) => resource_key(entry.id.key()),
            Self::Operation(entry) => operation_key(&entry.id),
            Self::Tombstone(entry) => tombstone_key(entry.id.key()),
        }
    }
}

macro_rules! views {
    ($($name:ident: $variant:ident => $type:ty;)+) => {
        impl Entry {
            $(pub(crate) fn $name(&self) -> Option<&$type> {
                if let Self::$variant(found) = self { Some(found) } else { None }
            })+
        }
    };
}

views! {
    as_facts: Facts => Facts;
    as_subscription: Subscription => Subscription;
    as_provider: Provider => Provider;
    as_quota: Quota => Quota;
    as_restriction: Restriction => Restriction;
    as_group: Group => Group;
    as_tombstone: Tombstone => Tombstone;
}

impl Entry {
    pub(crate) fn as_resource(&self) -> Option<&Resource> {
        if let Self::Resource(found) = self {
            Some(found)
        } else {
            None
        }
    }

    pub(crate) fn as_operation(&self) -> Option<&Operation> {
        if let Self::Operation(found) = self {
            Some(found)
        } else {
            None
        }
    }
}

pub(crate) fn subscription_key(id: &str) -> String {
    format!("subscription {}", id.to_lowercase())
}

pub(crate) fn provider_key(subscription: &str, namespace: &str) -> String {
    format!("provider {subscription} {namespace}").to_lowercase()
}

pub(crate) fn quota_key(subscription: &str, location: &str, name: &str) -> String {
    format!("quota {subscription} {location} {name}").to_lowercase()
}

pub(crate) fn restriction_key(subscription: &str, location: &str, size: &str) -> String {
    format!("restriction {subscription} {location} {size}").to_lowercase()
}

pub(crate) fn group_key(subscription: &str, name: &str) -> String {
    format!("group {subscription} {name}").to_lowercase()
}

/// The key of a resource by the lower-case form of its id.
pub(crate) fn resource_key(id: &str) -> String {
    format!("resource {id}")
}

pub(crate) fn operation_key(id: &str) -> String {
    format!("operation {id}")
}

/// The key of what was just deleted, by the lower-case form of its id.
pub(crate) fn tombstone_key(id: &str) -> String {
    format!("tombstone {id}")
}

/// What is fixed about a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Every made-up id comes from it.
    pub(crate) seed: u64,
    pub(crate) tenant: String,
    /// The speed that running operations were started with.
    pub(crate) speed: Speed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Subscription {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// Whether a subscription may use a namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Provider {
    pub(crate) subscription: String,
    pub(crate) namespace: String,
    pub(crate) state: String,
}

/// A limit that differs from the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quota {
    pub(crate) subscription: String,
    pub(crate) location: String,
    pub(crate) name: String,
    pub(crate) limit: u64,
}

/// A size that a subscription may not use in a region or in some of its zones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Restriction {
    pub(crate) subscription: String,
    pub(crate) location: String,
    pub(crate) size: String,
    /// Empty: the whole region.
    pub(crate) zones: BTreeSet<String>,
    /// `NotAvailableForSubscription` or `QuotaId`.
    pub(crate) reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Group {
    pub(crate) subscription: String,
    pub(crate) name: String,
    pub(crate) location: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) managed_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tags: Option<BTreeMap<String, String>>,
    pub(crate) state: String,
    pub(crate) created: Instant,
    pub(crate) changed: Instant,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Resource {
    pub(crate) id: ArmId,
    /// Its type in the usual case: `Microsoft.Compute/virtualMachines`.
    pub(crate) kind: String,
    /// Short form; empty for children.
    pub(crate) location: String,
    /// What answers show beside id, name and type, before anything that is derived.
    pub(crate) body: Value,
    /// Text without quotes: a counter for VMs, a GUID for the network.
    pub(crate) etag: String,
    /// The operation that changes it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<String>,
    pub(crate) created: Instant,
    pub(crate) changed: Instant,
    #[serde(default)]
    pub(crate) hidden: Hidden,
}

impl Resource {
    /// The name, as first given.
    pub(crate) fn name(&self) -> &str {
        self.id.name()
    }

    /// The provisioning state; empty for what has none.
    pub(crate) fn state(&self) -> &str {
        crate::json::text(&self.body, "/properties/provisioningState").unwrap_or_default()
    }

    pub(crate) fn set_state(&mut self, state: &str) {
        crate::json::set(
            &mut self.body,
            "/properties/provisioningState",
            Value::from(state),
        );
    }

    /// Whether the type is this one.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.eq_ignore_ascii_case(kind)
    }
}

/// What a resource knows and answers do not show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hidden {
    /// What it uses of each quota of its region.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) quota: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<Machine>,
    /// A network interface kept for the VM whose creation failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reserved: Option<Reservation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deployment: Option<Box<Deployment>>,
    /// The instances of a scale set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scale_set: Option<Box<ScaleSet>>,
}

/// The run-time side of a VM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// `None` until hardware was allocated.
    pub(crate) power: Option<Power>,
    /// When its power or provisioning state changed.
    pub(crate) since: Instant,
    pub(crate) image: Image,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_data: Option<String>,
    /// A digest of the custom data, which itself is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) custom_data: Option<String>,
    /// Why the last operation failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
    /// Whether it was made ready to be an image; it never starts again then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) generalized: bool,
}

impl Machine {
    /// Notes a new power state.
    pub(crate) fn set_power(&mut self, power: Power, now: Instant) {
        self.power = Some(power);
        self.since = now;
    }

    /// Whether it holds hardware.
    pub(crate) fn is_allocated(&self) -> bool {
        match self.power {
            Some(Power::Deallocated) | None => false,
            Some(
                Power::Starting
                | Power::Running
                | Power::Stopping
                | Power::Stopped
                | Power::Deallocating,
            ) => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Power {
    Starting,
    Running,
    Stopping,
    Stopped,
    Deallocating,
    Deallocated,
}

impl Power {
    /// The last part of `PowerState/…`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Deallocating => "deallocating",
            Self::Deallocated => "deallocated",
        }
    }
}

/// What a VM was made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Image {
    /// `Linux` or `Windows`.
    pub(crate) os: String,
    pub(crate) generation: u8,
    /// `x64` or `Arm64`.
    pub(crate) architecture: String,
    pub(crate) offer: String,
    pub(crate) version: String,
    /// Whether it holds its accounts already, so that no OS profile is taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) specialized: bool,
    /// The feature `SecurityType` of a gallery's image; empty where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) security: Option<String>,
    /// The feature `DiskControllerTypes`; `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) controllers: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reservation {
    pub(crate) machine: ArmId,
    pub(crate) until: Instant,
}

/// How an operation fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    /// Whether hardware was there: a VM keeps running then.
    pub(crate) allocated: bool,
}

/// A long-running operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) id: String,
    /// Orders operations that end at the same instant.
    pub(crate) number: u64,
    pub(crate) subscription: String,
    /// The location as its URL spells it.
    pub(crate) location: String,
    pub(crate) style: Style,
    /// What it works on.
    pub(crate) target: ArmId,
    /// `PutVirtualNetworkOperation`, as error texts name it.
    pub(crate) title: String,
    pub(crate) started: Instant,
    pub(crate) ends: Instant,
    pub(crate) state: State,
    /// What happens when it ends.
    pub(crate) work: Work,
    /// How it is going to fail, decided when it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
    /// The size that a VM keeps if a resize finds no hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) old_size: Option<String>,
    /// The resource as the operation's body shows it (disks).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Value>,
    /// The instances of a scale set that it works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) instances: Vec<u64>,
    /// Those of them that it fails for, where it does not fail for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unplaced: Vec<u64>,
}

/// How an operation shows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    /// `locations/{l}/operations` of Microsoft.Compute, with a `monitor=true` twin.
    Compute,
    /// `locations/{l}/DiskOperations`, the same with the disk in the result.
    Disk,
    /// `locations/{l}/capsOperations`, of galleries.
    Gallery,
    /// `locations/{l}/operations` of Microsoft.Network, with `operationResults` beside it.
    Network,
    /// `/subscriptions/{s}/operationresults`, Location only, a new one at each poll.
    Group,
    /// `operationResults` of an account of Microsoft.Batch, Location only.
    Batch,
    /// `locations/{l}/operations` of Microsoft.ContainerService, with an API version of its own.
    Cluster,
    /// `locations/{l}/asyncoperations` of Microsoft.Storage, Location only.
    Storage,
    /// Nothing to poll.
    Hidden,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Running,
    Succeeded,
    Failed { code: String, message: String },
}

/// What an operation does to the world when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Work {
    /// Nothing: the write changed nothing, and its operation is over at once.
    Nothing,
    /// A network or disk write is done.
    Settle,
    /// A VM has been made.
    CreateMachine,
    /// A VM has been changed.
    UpdateMachine,
    /// A VM is up.
    Start,
    /// A VM is down and keeps its hardware.
    PowerOff,
    /// A VM has given its hardware back.
    Deallocate,
    /// The nodes of a pool of Batch are there, or gone.
    ResizePool,
    /// Azure takes a Spot VM back.
    Evict,
    /// A resource is gone.
    Delete,
    /// A group and all in it are gone.
    DeleteGroup,
    /// A namespace is registered.
    Register,
    /// A namespace is not registered any more.
    Unregister,
    /// A deployment goes on with its resources; it is due again until all of them are done.
    Deploy,
}

/// What was deleted a moment ago: its provider still answers for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    pub(crate) id: ArmId,
    pub(crate) until: Instant,
}
