//! Bastion hosts.

use serde_json::{Value, json};

use super::{referenced, write::Draft};
use crate::{
    error::ArmError,
    json::{default, items, same, set, text},
    store::world::World,
};

/// The body of a host.
pub(crate) fn build(world: &mut World, draft: &Draft) -> Result<Value, ArmError> {
    let mut body = draft.given.clone();
    default(&mut body, "/sku/name", "Basic");
    let developer = text(&body, "/sku/name").is_some_and(|name| same(name, "Developer"));
    let place = "/properties/ipConfigurations";
    let mut configurations = items(&body, place).to_vec();
    if configurations.len() != 1 && !developer {
        return Err(ArmError::network(
            "BastionHostMustHaveOneIpConfiguration",
            format!("Bastion host {} must have one IP configuration.", draft.id),
        ));
    }
    for configuration in &mut configurations {
        configure(world, draft, configuration)?;
    }
    set(&mut body, place, json!(configurations));
    let name = draft
        .kept("/properties/dnsName")
        .unwrap_or_else(|| json!(format!("bst-{}.bastion.azure.com", world.mint())));
    set(&mut body, "/properties/dnsName", name);
    default(&mut body, "/properties/scaleUnits", 2);
    for flag in [
        "disableCopyPaste",
        "enableTunneling",
        "enableIpConnect",
        "enableShareableLink",
        "enableKerberos",
        "enableFileCopy",
    ] {
        default(&mut body, &format!("/properties/{flag}"), false);
    }
    Ok(body)
}

/// A host stands in a subnet of its own name, behind a standard address of its own. The codes and
/// texts of these refusals are not recorded.
fn configure(world: &World, draft: &Draft, configuration: &mut Value) -> Result<(), ArmError> {
    let name = text(configuration, "/name").unwrap_or_default().to_owned();
    let id = format!("{}/bastionHostIpConfigurations/{name}", draft.id);
    let of = |member: &str| {
        text(configuration, &format!("/properties/{member}/id"))
            .unwrap_or_default()
            .to_owned()
    };
    let (subnet, address) = (of("subnet"), of("publicIPAddress"));
    let found = referenced(world, &subnet, &draft.id, &draft.location)?;
    if !same(found.name(), "AzureBastionSubnet") {
        return Err(ArmError::network(
            "BastionHostSubnetNameInvalid",
            format!(
                "Bastion host {} needs a subnet named AzureBastionSubnet.",
                draft.id
            ),
        ));
    }
    let found = referenced(world, &address, &draft.id, &draft.location)?;
    if !super::public_ip::is_standard(&found.body) {
        return Err(ArmError::network(
            "BastionHostPublicIpMustBeStandardSku",
            format!(
                "Bastion host {} needs a public address of the Standard SKU.",
                draft.id
            ),
        ));
    }
    for (member, value) in [
        ("/id", json!(id)),
        (
            "/type",
            json!("Microsoft.Network/bastionHosts/bastionHostIpConfigurations"),
        ),
        ("/properties/provisioningState", json!("Succeeded")),
        ("/properties/subnet", json!({"id": subnet})),
        ("/properties/publicIPAddress", json!({"id": address})),
    ] {
        set(configuration, member, value);
    }
    default(
        configuration,
        "/properties/privateIPAllocationMethod",
        "Dynamic",
    );
    Ok(())
}
