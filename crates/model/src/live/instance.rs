//! Instances of scale sets.

use super::{Power, Provisioning, State};
use crate::{
    ids::ArmId,
    resource::{Orchestration, ResourceKind},
};

/// One instance of a scale set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its id inside the set, by which it is deleted: a number, or the name of a VM.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it calls itself, where Azure says.
    pub host_name: Option<String>,
    /// Its zone, where it has one.
    pub zone: Option<String>,
    /// When it was made, where Azure says.
    pub created: Option<String>,
    /// Whether it is as the set's newest profile says, where Azure says.
    pub latest_model: Option<bool>,
    /// The state it is in.
    pub state: State,
}

impl Instance {
    /// The id of its machine: below its set, or a VM beside it.
    pub fn machine(&self, set: &ArmId, orchestration: Orchestration) -> ArmId {
        let beside = set
            .group_id()
            .filter(|_| orchestration == Orchestration::Flexible);
        match beside {
            Some(group) => group.in_group(ResourceKind::VirtualMachine.arm_type(), &self.id),
            None => set.child("virtualMachines", &self.id),
        }
    }

    /// Whether it failed before it got hardware.
    pub fn never_made(&self) -> bool {
        self.has_failed() && matches!(self.state.power, None | Some(Power::Unknown))
    }

    /// Whether its last operation failed.
    pub fn has_failed(&self) -> bool {
        matches!(
            self.state.provisioning,
            Provisioning::Failed | Provisioning::Canceled
        )
    }

    /// Whether it is on its way out.
    pub fn is_going(&self) -> bool {
        self.state.provisioning == Provisioning::Deleting
    }

    /// Whether it has no hardware, and only its disks are paid for.
    pub fn is_away(&self) -> bool {
        matches!(
            self.state.power,
            Some(Power::Deallocated | Power::Deallocating)
        )
    }
}
