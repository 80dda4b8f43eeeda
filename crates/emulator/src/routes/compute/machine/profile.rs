//! The operating system side of a VM: accounts, keys, identity, and what answers leave out.

use model::catalog::Size;
use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    catalogue,
    error::ArmError,
    json::{default, items, remove, same, set, text},
    routes::{compute::ssh_key::is_public_key, services::identity},
    store::{entry::Image, world::World},
    text::base64_decode,
};

/// Account names that Azure refuses, as its documentation lists them.
const RESERVED_USERS: [&str; 32] = [
    "administrator",
    "admin",
    "user",
    "user1",
    "test",
    "user2",
    "test1",
    "user3",
    "admin1",
    "1",
    "123",
    "a",
    "actuser",
    "adm",
    "admin2",
    "aspnet",
    "backup",
    "console",
    "david",
    "guest",
    "john",
    "owner",
    "root",
    "server",
    "sql",
    "support",
    "support_388945a0",
    "sys",
    "test2",
    "test3",
    "user4",
    "user5",
];

/// Checks a new VM's OS profile and fills in its defaults.
pub(crate) fn check(body: &mut Value, name: &str, image: &Image) -> Result<(), ArmError> {
    let windows = same(&image.os, "Windows");
    if body.pointer("/properties/osProfile").is_none() {
        return Err(ArmError::missing_parameter("osProfile"));
    }
    default(body, "/properties/osProfile/computerName", name);
    let computer = text(body, "/properties/osProfile/computerName").unwrap_or_default();
    let longest = if windows { 15 } else { 64 };
    let numeric = !computer.is_empty() && computer.chars().all(|c| c.is_ascii_digit());
    if computer.chars().count() > longest || (windows && numeric) {
        let kind = if windows { "Windows" } else { "Linux" };
        return Err(ArmError::invalid_parameter(
            "computerName",
            format!(
                "{kind} computer name cannot be more than {longest} characters long, be entirely \
                 numeric, or contain the following characters: ` ~ ! @ # $ % ^ & * ( ) = + _ [ ] \
                 {{ }} \\ | ; : . ' \" , < > / ?."
            ),
        ));
    }
    let user = text(body, "/properties/osProfile/adminUsername")
        .ok_or_else(|| ArmError::missing_parameter("adminUsername"))?;
    if user.is_empty() || RESERVED_USERS.iter().any(|reserved| same(reserved, user)) {
        return Err(ArmError::invalid_parameter(
            "adminUsername",
            "The Admin Username specified is not allowed.",
        ));
    }
    if let Some(data) = text(body, "/properties/osProfile/customData")
        && (data.len() > 87_380 || base64_decode(data).is_none())
    {
        return Err(ArmError::invalid_parameter(
            "customData",
            "Custom data in OSProfile must be in Base64 encoding and with a maximum length of \
             87380 characters.",
        ));
    }
    if windows {
        complete_windows(body)
    } else {
        complete_linux(body)
    }
}

fn complete_windows(body: &mut Value) -> Result<(), ArmError> {
    if text(body, "/properties/osProfile/adminPassword").is_none() {
        return Err(ArmError::missing_parameter("adminPassword"));
    }
    let place = "/properties/osProfile/windowsConfiguration";
    default(body, &format!("{place}/provisionVMAgent"), true);
    default(body, &format!("{place}/enableAutomaticUpdates"), true);
    default(
        body,
        &format!("{place}/patchSettings/patchMode"),
        "AutomaticByOS",
    );
    default(
        body,
        &format!("{place}/patchSettings/assessmentMode"),
        "ImageDefault",
    );
    complete(body);
    Ok(())
}

fn complete_linux(body: &mut Value) -> Result<(), ArmError> {
    let place = "/properties/osProfile/linuxConfiguration";
    let keys = items(body, &format!("{place}/ssh/publicKeys"));
    let key = |key: &Value| text(key, "/keyData").is_some_and(is_public_key);
    if !keys.iter().all(key) {
        return Err(ArmError::invalid_parameter(
            "linuxConfiguration.ssh.publicKeys.keyData",
            "The value of parameter linuxConfiguration.ssh.publicKeys.keyData is invalid.",
        ));
    }
    let only_keys = crate::json::flag(body, &format!("{place}/disablePasswordAuthentication"));
    let password = text(body, "/properties/osProfile/adminPassword").is_some();
    if only_keys == Some(true) && keys.is_empty() || !password && keys.is_empty() {
        return Err(ArmError::invalid_parameter(
            "linuxConfiguration.ssh.publicKeys",
            "Authentication using either SSH or by user name and password must be enabled in \
             Linux profile.",
        ));
    }
    default(
        body,
        &format!("{place}/disablePasswordAuthentication"),
        false,
    );
    default(body, &format!("{place}/provisionVMAgent"), true);
    default(
        body,
        &format!("{place}/patchSettings/patchMode"),
        "ImageDefault",
    );
    default(
        body,
        &format!("{place}/patchSettings/assessmentMode"),
        "ImageDefault",
    );
    complete(body);
    Ok(())
}

fn complete(body: &mut Value) {
    default(body, "/properties/osProfile/secrets", json!([]));
    default(body, "/properties/osProfile/allowExtensionOperations", true);
    default(
        body,
        "/properties/osProfile/requireGuestProvisionSignal",
        true,
    );
}

/// Takes out what no answer shows; the user data is handed over.
pub(crate) fn hide(body: &mut Value) -> Option<String> {
    for place in [
        "/properties/osProfile/adminPassword",
        "/properties/osProfile/customData",
        "/properties/additionalCapabilities",
        "/properties/networkProfile/networkApiVersion",
        "/properties/networkProfile/networkInterfaceConfigurations",
    ] {
        remove(body, place);
    }
    remove(body, "/properties/userData").and_then(|data| data.as_str().map(str::to_owned))
}

/// Gives the identities of a resource their ids; user-assigned ones must be there.
pub(crate) fn identify(
    world: &mut World,
    owner: &ArmId,
    body: &mut Value,
    old: Option<&Value>,
) -> Result<(), ArmError> {
    let Some(kind) = text(body, "/identity/type").map(str::to_lowercase) else {
        return Ok(());
    };
    if kind == "none" {
        remove(body, "/identity");
        return Ok(());
    }
    if kind.contains("systemassigned") {
        let kept = old.and_then(|old| text(old, "/identity/principalId").map(str::to_owned));
        let principal = kept.unwrap_or_else(|| world.mint());
        set(body, "/identity/principalId", json!(principal));
        let tenant = world.facts().tenant;
        set(body, "/identity/tenantId", json!(tenant));
    }
    let mut assigned = body
        .pointer("/identity/userAssignedIdentities")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let known = old.and_then(|old| old.pointer("/identity/userAssignedIdentities"));
    for (id, assigned) in &mut assigned {
        *assigned = match known.and_then(|known| known.get(id)) {
            Some(known) => known.clone(),
            None => identity::assigned(world, owner, id)?,
        };
    }
    if !assigned.is_empty() {
        set(
            body,
            "/identity/userAssignedIdentities",
            Value::Object(assigned),
        );
    }
    Ok(())
}

/// Whether a size's family takes the security type.
pub(crate) fn check_security_size(body: &Value, size: &Size) -> Result<(), ArmError> {
    let kind = text(body, "/properties/securityProfile/securityType").unwrap_or_default();
    if !same(kind, "TrustedLaunch") || catalogue::takes_trusted_launch(size) != Some(false) {
        return Ok(());
    }
    Err(ArmError::invalid_parameter(
        "vmSize",
        format!(
            "The VM size '{}' is not supported for creation of VMs and Virtual Machine Scale Set \
             with 'TrustedLaunch' security type.",
            size.name.as_str()
        ),
    ))
}

/// Checks what a VM needs for Trusted Launch.
pub(crate) fn check_security(body: &Value, image: &Image) -> Result<(), ArmError> {
    let kind = text(body, "/properties/securityProfile/securityType").unwrap_or_default();
    if let Some(only) = image.security.as_deref().filter(|only| {
        ["TrustedLaunch", "ConfidentialVM"]
            .iter()
            .any(|kind| same(kind, only))
    }) && !same(kind, only)
    {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "The provided gallery image only supports creation of VMs and VM Scale Sets with \
                 '{only}' security type."
            ),
        ));
    }
    let supported = image
        .security
        .as_ref()
        .is_none_or(|security| security.to_lowercase().contains("trustedlaunch"));
    if same(kind, "TrustedLaunch")
        && (image.generation < 2 || image.architecture != "x64" || !supported)
    {
        return Err(ArmError::new(
            400,
            "BadRequest",
            "Use of TrustedLaunch setting is not supported for the provided image. Please select \
             Trusted Launch Supported Gen2 OS Image. For more information, see \
             https://aka.ms/TrustedLaunch-FAQ.",
        )
        .with_target("securityProfile.securityType"));
    }
    let uefi = body
        .pointer("/properties/securityProfile/uefiSettings")
        .is_some();
    if uefi && (kind.is_empty() || same(kind, "Standard")) {
        return Err(ArmError::invalid_parameter(
            "securityProfile.uefiSettings",
            "Use of UEFI settings is not supported for virtual machines without Trusted Launch.",
        ));
    }
    Ok(())
}
