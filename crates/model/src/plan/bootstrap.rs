//! What new nodes run when they start first, as a plan records it: what is asked for, never the
//! text of a user's script.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    digest,
    ids::ArmId,
    spec::{ContainerRuntime, Mount, cyclecloud::ServerSetup},
    units::SizeName,
};

/// What an operation that writes attributes calls the custom data of a scale set's profile, which
/// Azure never tells.
pub const BOOTSTRAP: &str = "bootstrap";

/// What new nodes of a pool run when they start first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// What it does.
    pub setup: Setup,
    /// The user's script, which runs last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptReference>,
    /// What it is on each size that the pool may be made with.
    pub sizes: BTreeMap<SizeName, BootstrapOnSize>,
}

impl Bootstrap {
    /// The digest that nodes carry as a tag. It is over what is asked for alone: neither a newer
    /// catalogue nor a newer version of the tool makes a node an old one.
    pub fn tag(setup: &Setup, script: Option<&ScriptReference>) -> String {
        let asked = serde_json::json!({
            "setup": setup,
            "script": script.map(|script| &script.digest),
        });
        digest::of_json(&asked)
    }
}

/// A script of the user's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptReference {
    /// Its path as the spec gives it.
    pub path: String,
    /// Digest of its text.
    pub digest: String,
}

/// What a bootstrap does before the user's script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Nodes get it from Batch, as the start task of their pool, and not from cloud-init.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub start_task: bool,
    /// Local NVMe disks become one file system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scratch: bool,
    /// Existing stores that are mounted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<Mount>,
    /// What runs containers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containers: Option<ContainerSetup>,
    /// What writes checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointSetup>,
    /// A server of CycleCloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerSetup>,
}

/// What writes checkpoints, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointSetup {
    /// The container.
    pub container: String,
    /// The identity by which nodes reach it.
    pub identity: ArmId,
    /// Program on the nodes that writes a checkpoint.
    pub hook: String,
    /// Seconds between two calls of it besides notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_seconds: Option<u64>,
}

/// What runs containers, and the images that are pulled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerSetup {
    /// The runtime.
    pub runtime: ContainerRuntime,
    /// The images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// The registry that nodes sign in to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<RegistrySetup>,
}

/// A registry that nodes sign in to by an identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistrySetup {
    /// Its host.
    pub host: String,
    /// The identity.
    pub identity: ArmId,
}

impl Setup {
    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        let Self {
            start_task: _,
            scratch,
            mounts,
            containers,
            checkpoint,
            server,
        } = self;
        let has_nothing = mounts.is_empty() && containers.is_none() && checkpoint.is_none();
        !scratch && has_nothing && server.is_none()
    }
}

/// What a bootstrap is on one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapOnSize {
    /// Local NVMe disks of the size; `null` where their number is not known.
    pub local_disks: Option<u32>,
    /// Digest of all that a node of the size is given.
    pub digest: String,
}
