//! The extension that waits for a node's bootstrap and tells how it ended.
//!
//! It needs no way in: the agent of the node fetches it, and ARM shows what it says.

use azure_mgmt_compute::package_2024_07_01::models as m;
use model::{ids::ArmId, live::Readiness};
use serde_json::{Value, json};

use super::fields::{items, member, text};

/// Its name at a VM and in the profile of a set.
pub(crate) const NAME: &str = "tensorform-ready";

const PUBLISHER: &str = "Microsoft.Azure.Extensions";
const TYPE: &str = "CustomScript";
const VERSION: &str = "2.1";

/// What it runs. cloud-init writes the files of the bootstrap; that it failed is told by them, or
/// by their absence.
const COMMAND: &str =
    "cloud-init status --wait >/dev/null; exec timeout 4980 /opt/tensorform/bootstrap/await";

/// The id of a VM's extension.
pub(crate) fn id_at(machine: &ArmId) -> ArmId {
    machine.child("extensions", NAME)
}

/// The body that makes it at a VM. Another `occasion` makes the node run it again.
pub(crate) fn body(location: &str, occasion: &str) -> Value {
    json!({
        "location": location,
        "properties": {
            "publisher": PUBLISHER,
            "type": TYPE,
            "typeHandlerVersion": VERSION,
            "autoUpgradeMinorVersion": true,
            "forceUpdateTag": occasion,
            "settings": { "commandToExecute": COMMAND },
        },
    })
}

/// The part of a set's profile that makes it at each instance.
pub(super) fn profile() -> m::VirtualMachineScaleSetExtensionProfile {
    let properties = m::VirtualMachineScaleSetExtensionProperties {
        publisher: Some(PUBLISHER.to_owned()),
        type_: Some(TYPE.to_owned()),
        type_handler_version: Some(VERSION.to_owned()),
        auto_upgrade_minor_version: Some(true),
        settings: Some(json!({ "commandToExecute": COMMAND })),
        ..m::VirtualMachineScaleSetExtensionProperties::default()
    };
    m::VirtualMachineScaleSetExtensionProfile {
        extensions: vec![m::VirtualMachineScaleSetExtension {
            name: Some(NAME.to_owned()),
            properties: Some(properties),
            ..m::VirtualMachineScaleSetExtension::default()
        }],
        ..m::VirtualMachineScaleSetExtensionProfile::default()
    }
}

/// Whether the body of a VM names it among its extensions.
pub(super) fn is_extended(machine: &Value) -> bool {
    let end = format!("/extensions/{NAME}");
    items(machine, "/resources")
        .filter_map(|extension| text(extension, "/id"))
        .any(|id| id.to_lowercase().ends_with(&end))
}

/// Whether the profile of a set has it.
pub(super) fn is_in_profile(machine: &Value) -> bool {
    items(machine, "/properties/extensionProfile/extensions")
        .filter_map(|extension| text(extension, "/name"))
        .any(|name| name.eq_ignore_ascii_case(NAME))
}

/// What an instance view tells of it; `None` where it says nothing.
pub(super) fn of_view(view: &Value) -> Option<Readiness> {
    let extension = items(view, "/extensions")
        .find(|one| text(one, "/name").is_some_and(|name| name.eq_ignore_ascii_case(NAME)))?;
    let word = |status: &Value| {
        let code = text(status, "/code")?;
        code.split('/').nth(1).map(str::to_lowercase)
    };
    let status = items(extension, "/statuses").find(|one| word(one).is_some())?;
    Some(match word(status).as_deref() {
        Some("succeeded") => Readiness::Ready,
        Some("failed") => {
            let said = member(status, "/message").and_then(Value::as_str);
            Readiness::Failed(said.unwrap_or_default().trim().to_owned())
        }
        _ => Readiness::Waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_view_tells_how_the_bootstrap_stands() {
        let check = |code: &str, message: &str, expected: Option<Readiness>| {
            let view = json!({ "extensions": [
                { "name": "other", "statuses": [{ "code": "ProvisioningState/failed/1" }] },
                { "name": "Tensorform-Ready", "statuses": [{ "code": code, "message": message }] },
            ] });
            assert_eq!(of_view(&view), expected);
        };
        check("ProvisioningState/succeeded", "", Some(Readiness::Ready));
        check(
            "ProvisioningState/transitioning",
            "",
            Some(Readiness::Waiting),
        );
        let failed = Readiness::Failed("step `scratch` failed".to_owned());
        check(
            "ProvisioningState/failed/1",
            " step `scratch` failed\n",
            Some(failed),
        );
        check("odd", "", None);
        assert_eq!(of_view(&json!({})), None);
    }

    #[test]
    fn the_machine_that_lists_it_reports_readiness() {
        let check = |id: &str, expected: bool| {
            let machine = json!({ "resources": [{ "id": id }] });
            assert_eq!(is_extended(&machine), expected, "{id}");
        };
        check(
            "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/v/extensions/TENSORFORM-READY",
            true,
        );
        check(
            "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/v/extensions/other",
            false,
        );
    }
}
