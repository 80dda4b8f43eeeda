//! A scale set as Azure answers it, in canonical form.

use std::collections::BTreeMap;

use model::{
    resource::{
        InstanceDataDisk, InstanceInterface, InstanceOsDisk, Known, Orchestration, ScaleSet,
    },
    units::CaseInsensitive,
};
use serde_json::{Value, json};

use super::super::{
    DecodeError,
    fields::{
        disk_type, items, location, member, required, required_id, required_number, text,
        unsupported, zones,
    },
    identity, proximity_placement_group, readiness,
    virtual_machine::profile,
};

const ADDRESS: &str = "/properties/ipConfigurations/0/properties/publicIPAddressConfiguration";
const PROFILE: &str = "/properties/virtualMachineProfile";

/// Reads a set.
pub(in crate::wire) fn decode(body: &Value) -> Result<ScaleSet, DecodeError> {
    let orchestration = orchestration(body)?;
    let is_flexible = orchestration == Orchestration::Flexible;
    let flag = |name: &str| member(body, &format!("/properties/{name}")).and_then(Value::as_bool);
    let Some(own) = member(body, PROFILE) else {
        return Err(DecodeError::Missing(
            "properties.virtualMachineProfile".to_owned(),
        ));
    };
    // What profiles have in common with VMs stands at the same places below the properties.
    let machine = json!({ "properties": own });
    let policy = text(body, "/properties/upgradePolicy/mode").map(CaseInsensitive::from);
    Ok(ScaleSet {
        location: location(body)?,
        zones: zones(body),
        size: required(body, "/sku/name")?.into(),
        capacity: required_number(body, "/sku/capacity")?,
        orchestration,
        single_placement_group: flag("singlePlacementGroup").unwrap_or(!is_flexible),
        overprovision: flag("overprovision").unwrap_or(!is_flexible),
        // Flexible sets take none, and answer one all the same.
        upgrade_policy: policy.filter(|_| !is_flexible),
        fault_domains: required_number(body, "/properties/platformFaultDomainCount")?,
        os: profile::system(&machine),
        image: profile::image(&machine)?,
        plan: profile::plan(body),
        priority: profile::priority(&machine)?,
        capacity_reservation: profile::reservation(&machine)?,
        proximity_placement_group: proximity_placement_group::of(body)?,
        computer_name_prefix: required(
            body,
            "/properties/virtualMachineProfile/osProfile/computerNamePrefix",
        )?
        .to_owned(),
        admin_user: required(&machine, "/properties/osProfile/adminUsername")?.to_owned(),
        ssh_keys: Known::Value(profile::ssh_keys(&machine)),
        os_disk: os_disk(&machine)?,
        disk_controller: profile::disk_controller(&machine),
        data_disks: data_disks(&machine)?,
        network: network(&machine)?,
        security: profile::security(&machine)?,
        identities: identity::decode(body)?,
        reports_readiness: readiness::is_in_profile(&machine),
    })
}

fn orchestration(body: &Value) -> Result<Orchestration, DecodeError> {
    const MODE: &str = "/properties/orchestrationMode";
    let word = text(body, MODE).unwrap_or(Orchestration::Uniform.word());
    [Orchestration::Uniform, Orchestration::Flexible]
        .into_iter()
        .find(|mode| mode.word().eq_ignore_ascii_case(word))
        .ok_or_else(|| unsupported(MODE, word))
}

fn os_disk(machine: &Value) -> Result<InstanceOsDisk, DecodeError> {
    const TYPE: &str = "/properties/storageProfile/osDisk/managedDisk/storageAccountType";
    Ok(InstanceOsDisk {
        size_gb: required_number(machine, "/properties/storageProfile/osDisk/diskSizeGB")?,
        disk_type: disk_type(required(machine, TYPE)?, TYPE)?,
        ephemeral: profile::ephemeral(machine),
    })
}

fn data_disks(machine: &Value) -> Result<BTreeMap<u32, InstanceDataDisk>, DecodeError> {
    const TYPE: &str = "/managedDisk/storageAccountType";
    items(machine, "/properties/storageProfile/dataDisks")
        .map(|disk| {
            let each = InstanceDataDisk {
                size_gb: required_number(disk, "/diskSizeGB")?,
                disk_type: disk_type(required(disk, TYPE)?, TYPE)?,
                caching: text(disk, "/caching").unwrap_or("None").into(),
            };
            Ok((required_number(disk, "/lun")?, each))
        })
        .collect()
}

fn network(machine: &Value) -> Result<InstanceInterface, DecodeError> {
    const ALL: &str = "/properties/networkProfile/networkInterfaceConfigurations";
    let is_primary =
        |one: &&Value| member(one, "/properties/primary").and_then(Value::as_bool) == Some(true);
    let first = items(machine, ALL)
        .find(is_primary)
        .or_else(|| items(machine, ALL).next());
    let Some(first) = first else {
        let member = "networkProfile.networkInterfaceConfigurations".to_owned();
        return Err(DecodeError::Missing(member));
    };
    Ok(InstanceInterface {
        name: required(first, "/name")?.to_owned(),
        subnet: required_id(first, "/properties/ipConfigurations/0/properties/subnet/id")?,
        accelerated: member(first, "/properties/enableAcceleratedNetworking")
            .and_then(Value::as_bool)
            .unwrap_or(false),
        public_address: member(first, ADDRESS).is_some_and(|address| !address.is_null()),
    })
}
