//! Steps of a plan. A step leaves no choice to whoever performs it: it names the resource,
//! the operations in order, and the values.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize, de::Error as _};
use serde_json::Value;

use crate::{
    address::Address,
    digest,
    ids::ArmId,
    live::FingerprintValues,
    resource::{Resource, ResourceKind, Tags, attributes},
};

/// What a step does to its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Considered, equal.
    #[serde(rename = "noop")]
    NoOp,
    /// It is made.
    Create,
    /// It is changed in place and keeps running.
    Update,
    /// It is changed in place and restarts.
    RestartUpdate,
    /// It is deallocated, changed, and started again if it was running.
    StopUpdate,
    /// It is deleted and made anew.
    Replace,
    /// It exists but failed or is half made; it is put right.
    Repair,
    /// It is wanted, but Azure evicted or deallocated it.
    Start,
    /// It is deleted.
    Delete,
}

impl Action {
    /// Every action, in the order of the legend.
    pub const ALL: [Self; 9] = [
        Self::NoOp,
        Self::Create,
        Self::Update,
        Self::RestartUpdate,
        Self::StopUpdate,
        Self::Replace,
        Self::Repair,
        Self::Start,
        Self::Delete,
    ];

    /// The symbol in plans.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::NoOp => "",
            Self::Create => "+",
            Self::Update => "~",
            Self::RestartUpdate => "~!",
            Self::StopUpdate => "!~",
            Self::Replace => "-/+",
            Self::Repair => "%",
            Self::Start => "^",
            Self::Delete => "-",
        }
    }

    /// The word in documents and counts.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoOp => "noop",
            Self::Create => "create",
            Self::Update => "update",
            Self::RestartUpdate => "restart_update",
            Self::StopUpdate => "stop_update",
            Self::Replace => "replace",
            Self::Repair => "repair",
            Self::Start => "start",
            Self::Delete => "delete",
        }
    }

    /// Whether performing it writes to Azure.
    pub fn writes(self) -> bool {
        self != Self::NoOp
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a step does what it does. For people: whoever performs a step never branches on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The kind of reason.
    pub code: ReasonCode,
    /// The attributes that force the action.
    pub attributes: Vec<AttributeChange>,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// Nothing differs.
    Equal,
    /// It does not exist.
    Absent,
    /// Attributes differ.
    Differs,
    /// It was nobody's and becomes the stack's.
    Adopted,
    /// It is taken out of the stack.
    Released,
    /// It is not in the spec any more.
    NotInSpec,
    /// Everything is to be deleted.
    Destroy,
    /// The stack's lifetime is over.
    Expired,
    /// It was set up otherwise than the spec says.
    Bootstrap,
    /// It runs, but its bootstrap failed.
    NotReady,
    /// Its creation failed before it got hardware.
    FailedWithoutHardware,
    /// It runs, but its last operation failed.
    FailedRunning,
    /// A write to it never ended.
    HalfMade,
    /// Azure took its spot capacity back.
    Evicted,
    /// It is deallocated and nobody stopped it through the tool.
    Deallocated,
    /// Somebody asks for it by `start`, by `stop`, or by `--replace` for an instance.
    Asked,
}

/// One attribute that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributeChange {
    /// Dotted path, such as `os_disk.size_gb`.
    pub path: String,
    /// The live value; `null` where it is absent.
    pub before: Value,
    /// The desired value; `null` where it is to be absent.
    pub after: Value,
    /// What changing it does.
    pub effect: Action,
}

/// One call to Azure. A step lists its calls in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Operation {
    /// Makes the resource from `after`; refused by Azure where it exists, if the kind has that precondition.
    Create,
    /// Writes all of `after` over the existing resource.
    Put,
    /// Writes these attributes of `after` over the existing resource.
    Patch {
        /// Dotted paths.
        attributes: Vec<String>,
    },
    /// Adds, changes and removes these tags and leaves the others alone.
    MergeTags {
        /// The tags to add or change.
        set: Tags,
        /// The names of tags to remove.
        remove: Vec<String>,
    },
    /// Makes the resource the stack's, by the tags of the run.
    Adopt,
    /// Takes the resource out of the stack: the tool's tags go, and nothing else.
    Release,
    /// Waits until the write that is under way has ended well.
    Settle,
    /// Waits until the resource, which is being deleted, is gone.
    AwaitGone,
    /// Deletes these instances of a scale set, and with them its capacity.
    DeleteInstances {
        /// Their ids inside the set.
        instances: Vec<String>,
    },
    /// Makes as many new instances of a scale set as these are, and deletes these once the new
    /// ones are there: so that Azure does not hand the same hosts back. Where no new one is to be
    /// had, the old one stays.
    ReplaceInstances {
        /// Their ids inside the set.
        instances: Vec<String>,
    },
    /// Gives back the hardware of these instances of a scale set.
    DeallocateInstances {
        /// Their ids inside the set.
        instances: Vec<String>,
    },
    /// Starts these instances of a scale set.
    StartInstances {
        /// Their ids inside the set.
        instances: Vec<String>,
    },
    /// Brings these instances of a scale set to its newest profile, so many at a time; stops
    /// where it does not work.
    UpgradeInstances {
        /// Their ids inside the set, in the order in which they are done.
        instances: Vec<String>,
        /// How many are done at once.
        at_once: u32,
    },
    /// Gives back the hardware of a VM.
    Deallocate,
    /// Starts a VM.
    Start,
    /// Brings a VM whose last operation failed back in order, without deleting it.
    Reapply,
    /// Deletes the resource.
    Delete,
}

/// What a step relies on: values of the live resource when the plan was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Digest of the values.
    pub digest: String,
    /// The values by dotted path; `null` for the whole means that the resource must be absent.
    pub values: Option<FingerprintValues>,
}

impl Fingerprint {
    /// Of these values; `None` for a resource that must be absent.
    pub fn new(values: Option<FingerprintValues>) -> Self {
        let digest = values
            .as_ref()
            .map_or_else(|| digest::of_json(&Value::Null), digest::of_members);
        Self { digest, values }
    }
}

/// A value that is not what a plan relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Dotted path; empty when the resource itself appeared or vanished.
    pub path: String,
    /// What the plan relied on; `null` for nothing.
    pub planned: Value,
    /// What there is; `null` for nothing.
    pub found: Value,
}

impl Fingerprint {
    /// What differs between the values that the plan relied on and those found now
    /// (`None`: the resource is absent). Values that the plan did not rely on do not count.
    pub fn changes(&self, found: Option<&FingerprintValues>) -> Vec<Changed> {
        match (&self.values, found) {
            (None, None) => Vec::new(),
            (None, Some(_)) => vec![Changed {
                path: String::new(),
                planned: Value::Null,
                found: Value::from("present"),
            }],
            (Some(_), None) => vec![Changed {
                path: String::new(),
                planned: Value::from("present"),
                found: Value::Null,
            }],
            (Some(planned), Some(found)) => planned
                .iter()
                .map(|(path, planned)| Changed {
                    path: path.clone(),
                    planned: planned.clone(),
                    found: found.get(path).cloned().unwrap_or_default(),
                })
                .filter(|changed| {
                    !attributes::same(&changed.path, &changed.planned, &changed.found)
                })
                .collect(),
        }
    }
}

/// Another way to make a pool, tried on capacity errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternate {
    /// What makes it different, for people.
    pub label: String,
    /// The attributes that differ from `after`.
    pub attributes: BTreeMap<String, Value>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The resource's address; no two steps of a plan have the same.
    pub address: Address,
    /// The resource's kind.
    #[serde(rename = "type")]
    pub kind: ResourceKind,
    /// The resource's id.
    pub id: ArmId,
    /// What is done.
    pub action: Action,
    /// The calls that do it, in order.
    pub operations: Vec<Operation>,
    /// Why.
    pub reason: Reason,
    /// The live resource.
    #[serde(serialize_with = "as_document")]
    pub before: Option<Resource>,
    /// The desired resource.
    #[serde(serialize_with = "as_document")]
    pub after: Option<Resource>,
    /// Steps that must be finished first; deletes run against it reversed.
    pub needs: Vec<Address>,
    /// What the step relies on.
    pub fingerprint: Fingerprint,
    /// Other ways to make it.
    pub alternates: Vec<Alternate>,
}

#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn as_document<S: serde::Serializer>(
    resource: &Option<Resource>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    resource
        .as_ref()
        .map(Resource::document)
        .serialize(serializer)
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Document {
            address: Address,
            #[serde(rename = "type")]
            kind: ResourceKind,
            id: ArmId,
            action: Action,
            operations: Vec<Operation>,
            reason: Reason,
            before: Option<Value>,
            after: Option<Value>,
            needs: Vec<Address>,
            fingerprint: Fingerprint,
            alternates: Vec<Alternate>,
        }
        let document = Document::deserialize(deserializer)?;
        let read = |value: Option<Value>| {
            value
                .map(|value| Resource::from_document(document.kind, value))
                .transpose()
                .map_err(D::Error::custom)
        };
        Ok(Self {
            address: document.address,
            kind: document.kind,
            id: document.id,
            action: document.action,
            operations: document.operations,
            reason: document.reason,
            before: read(document.before)?,
            after: read(document.after)?,
            needs: document.needs,
            fingerprint: document.fingerprint,
            alternates: document.alternates,
        })
    }
}
