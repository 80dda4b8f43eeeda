//! OS disks on the node: where a size has room for one, by the same rule of names as the
//! planner's; of what the rule does not reach nothing is refused.

use model::{catalog::Size, spec::EphemeralPlacement};
use serde_json::{Value, json};

use crate::{
    error::ArmError,
    json::{same, set, text},
};

const PLACEMENT: &str = "/diffDiskSettings/placement";

/// Whether a disk is one on the node.
pub(crate) fn is_ephemeral(disk: &Value) -> bool {
    text(disk, "/diffDiskSettings/option").is_some()
}

/// Checks an ephemeral OS disk of so many GiB. Trusted Launch keeps one more for the guest's state.
pub(crate) fn check(
    machine: &Value,
    size: &Size,
    disk: &Value,
    disk_gib: u64,
) -> Result<(), ArmError> {
    let name = size.name.as_str();
    if size.ephemeral_os_disk == Some(false) {
        return Err(not_supported(format!(
            "OS disk of Ephemeral VM is not supported for VM size {name}. Please refer to \
             https://aka.ms/Ephemeral for more details."
        )));
    }
    if text(disk, "/caching").is_some_and(|caching| !same(caching, "ReadOnly")) {
        return Err(ArmError::invalid_parameter(
            "osDisk.caching",
            "The value of parameter osDisk.caching must be 'ReadOnly' for an ephemeral OS disk.",
        ));
    }
    let deallocates = text(machine, "/properties/evictionPolicy")
        .is_some_and(|policy| same(policy, "Deallocate"));
    if deallocates {
        return Err(not_supported(
            "Eviction policy Deallocate is not supported for VMs that use an ephemeral OS disk."
                .to_owned(),
        ));
    }
    let Some(placement) = placement(size, disk) else {
        return Ok(());
    };
    let Some(room) = size.ephemeral_room() else {
        return Ok(());
    };
    let word = placement.word();
    let Some(room) = room.get(&placement) else {
        // The text follows similar refusals.
        return Err(not_supported(format!(
            "OS disk of Ephemeral VM is not allowed for VM size {name} when the DiffDiskPlacement \
             is {word}. Please refer to https://aka.ms/Ephemeral for more details."
        )));
    };
    let trusted = text(machine, "/properties/securityProfile/securityType")
        .is_some_and(|kind| same(kind, "TrustedLaunch"));
    let most = room.map(|gib| u64::from(gib).saturating_sub(u64::from(trusted)));
    match most.filter(|most| disk_gib > *most) {
        // Reported in this form.
        Some(most) => Err(not_supported(format!(
            "OS disk of Ephemeral VM with size greater than {most} GB is not allowed for VM size \
             {name} when the DiffDiskPlacement is {word}. Please refer to \
             https://aka.ms/Ephemeral for more details."
        ))),
        None => Ok(()),
    }
}

fn not_supported(message: String) -> ArmError {
    ArmError::new(409, "NotSupported", message)
}

/// The placement that was asked for, else the first that the size has, as documented.
fn placement(size: &Size, disk: &Value) -> Option<EphemeralPlacement> {
    match text(disk, PLACEMENT) {
        Some(word) => EphemeralPlacement::named(word),
        None => size.ephemeral_room()?.keys().next().copied(),
    }
}

/// Fills in what answers show of an ephemeral OS disk.
pub(crate) fn complete(size: &Size, disk: &mut Value) {
    if let (true, Some(placement)) = (is_ephemeral(disk), placement(size, disk)) {
        set(disk, PLACEMENT, json!(placement.word()));
    }
}
