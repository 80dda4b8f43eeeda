//! Whose the things are that a refusal names as being in the way: what is ours goes by itself, what
//! belongs to others does not.

use std::collections::BTreeSet;

use model::{
    ids::ArmId,
    live::Provisioning,
    plan::Step,
    resource::{Properties, tags},
};
use serde_json::Value;

use super::step::Performer;
use crate::{
    error::ArmError,
    read::strangers::whole,
    wire::{self, state},
};

/// The interface and the OS disk that come and go with the VM of a step.
pub(super) fn parts_of(step: &Step) -> Vec<ArmId> {
    let resource = step.before.as_ref().or(step.after.as_ref());
    let properties = resource.map(|resource| &resource.properties);
    let (Some(Properties::VirtualMachine(machine)), Some(group)) = (properties, step.id.group_id())
    else {
        return Vec::new();
    };
    vec![
        group.in_group("Microsoft.Compute/disks", &machine.os_disk.name),
        group.in_group("Microsoft.Network/networkInterfaces", &machine.network.name),
    ]
}

/// Whether a code says that something else uses the resource.
pub(super) fn is_in_use(code: &str) -> bool {
    let code = code.to_lowercase();
    code.contains("inuse") || code.ends_with("cannotbedeleted")
}

impl Performer<'_> {
    /// Something of others that a refusal names as what uses the resource.
    pub(super) async fn stranger_in(&self, error: &ArmError) -> Option<ArmId> {
        if !is_in_use(error.innermost().0) {
            return None;
        }
        let ours: BTreeSet<ArmId> = self
            .run
            .plan
            .steps
            .iter()
            .flat_map(|step| parts_of(step).into_iter().chain([step.id.clone()]))
            .collect();
        let texts = error.details.iter().map(|detail| detail.message.as_str());
        let texts = texts.chain([error.message.as_str()]);
        let named: BTreeSet<ArmId> = texts.flat_map(ids_in).map(whole).collect();
        for holder in named.difference(&ours) {
            if let Some(stranger) = self.stranger_at(holder, &ours).await {
                return Some(stranger);
            }
        }
        None
    }

    /// The resource at an id, or the VM that it belongs to, where that is somebody else's and stays.
    async fn stranger_at(&self, holder: &ArmId, ours: &BTreeSet<ArmId>) -> Option<ArmId> {
        let mut at = holder.clone();
        // From an interface to its VM, and from that to its set.
        for _ in 0..3 {
            let body = match self.run.client.get(&at).await {
                Ok(found) => found?.body,
                // What we may not see is not ours.
                Err(error) if error.arm().is_some_and(|arm| arm.status == 403) => return Some(at),
                Err(_) => return None,
            };
            let is_ours = wire::tags_of(&body).get(tags::STACK) == Some(&self.run.plan.stack);
            if is_ours || state::of_body(&body).provisioning == Provisioning::Deleting {
                return None;
            }
            let around = ["virtualMachine", "virtualMachineScaleSet"];
            let around = around.iter().find_map(|member| {
                let id = body.pointer(&format!("/properties/{member}/id"));
                whole_of(id?)
            });
            match around {
                Some(around) if ours.contains(&around) => return None,
                Some(around) => at = around,
                None => return Some(at),
            }
        }
        Some(at)
    }
}

fn whole_of(id: &Value) -> Option<ArmId> {
    Some(whole(id.as_str()?.parse().ok()?))
}

/// The ids that a message names.
fn ids_in(message: &str) -> impl Iterator<Item = ArmId> {
    let is_between = |letter: char| letter.is_whitespace() || ",;'\"()[]`".contains(letter);
    message
        .split(is_between)
        .filter(|word| word.to_lowercase().starts_with("/subscriptions/"))
        .filter_map(|word| word.trim_end_matches(['.', ':']).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_messages() {
        let message = "Subnet nodes is in use by /subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/networkInterfaces/n/ipConfigurations/i and '/SUBSCRIPTIONS/s/resourceGroups/rg/providers/Microsoft.Network/networkInterfaces/m'. See aka.ms/deletesubnet.";
        let names: Vec<String> = ids_in(message)
            .map(|id| whole(id).name().to_owned())
            .collect();
        assert_eq!(names, ["n", "m"]);
        assert_eq!(ids_in("nothing is named: /subscriptions/").count(), 0);
    }

    #[test]
    fn codes_of_use_are_known() {
        for code in [
            "InUseSubnetCannotBeDeleted",
            "NicInUse",
            "NatGatewayInUse",
            "PublicIPAddressCannotBeDeleted",
        ] {
            assert!(is_in_use(code), "{code}");
        }
        assert!(!is_in_use("AnotherOperationInProgress"));
    }
}
