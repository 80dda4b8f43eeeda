//! A scale set as the body that creates it.

use azure_mgmt_compute::package_2024_07_01::models as m;
use model::resource::{
    InstanceDataDisk, InstanceInterface, InstanceOsDisk, Orchestration, ScaleSet, VmPriority,
};
use serde_json::Value;

use super::super::{
    EncodeError, identity, readiness,
    virtual_machine::{
        caching, diff_disk_settings, image_reference, linux_configuration, os_caching,
        purchase_plan, reference, reservation, security_profile, spot, storage_account_type,
    },
};

/// The body that creates the set.
pub(in crate::wire) fn encode(set: &ScaleSet) -> Result<Value, EncodeError> {
    let mut typed = m::VirtualMachineScaleSet::new(m::Resource::new(set.location.to_string()));
    typed.zones.clone_from(&set.zones);
    typed.sku = Some(m::Sku {
        name: Some(set.size.to_string()),
        tier: Some("Standard".to_owned()),
        capacity: Some(i64::from(set.capacity)),
    });
    typed.plan = set.plan.as_ref().map(purchase_plan);
    typed.properties = Some(properties(set)?);
    let mut body = serde_json::to_value(&typed).map_err(|error| EncodeError::Invalid {
        member: "scale set",
        found: error.to_string(),
    })?;
    // The typed model always writes them, as `null`, and Compute refuses what it does not know.
    for place in ["/properties", "/properties/virtualMachineProfile"] {
        if let Some(members) = body.pointer_mut(place).and_then(Value::as_object_mut) {
            members.remove("timeCreated");
        }
    }
    if let Some(identity) = identity::encode(&set.identities) {
        body["identity"] = identity;
    }
    Ok(body)
}

fn properties(set: &ScaleSet) -> Result<m::VirtualMachineScaleSetProperties, EncodeError> {
    let ScaleSet {
        location: _,
        zones: _,
        size: _,
        capacity: _,
        orchestration,
        single_placement_group,
        overprovision,
        upgrade_policy,
        fault_domains,
        os: _,
        image,
        plan: _,
        priority,
        capacity_reservation,
        proximity_placement_group,
        computer_name_prefix,
        admin_user,
        ssh_keys,
        os_disk,
        disk_controller,
        data_disks,
        network,
        security,
        identities: _,
        reports_readiness,
    } = set;
    let is_flexible = *orchestration == Orchestration::Flexible;
    let mut profile = m::VirtualMachineScaleSetVmProfile::new();
    profile.storage_profile = Some(m::VirtualMachineScaleSetStorageProfile {
        image_reference: Some(image_reference(image)),
        os_disk: Some(os_disk_body(os_disk, is_flexible)?),
        data_disks: data_disks
            .iter()
            .map(|(lun, disk)| data_disk_body(*lun, disk, is_flexible))
            .collect::<Result<_, _>>()?,
        disk_controller_type: disk_controller.map(|controller| controller.word().to_owned()),
    });
    let linux = linux_configuration(admin_user, ssh_keys)?;
    profile.os_profile = Some(os_profile(computer_name_prefix, admin_user, linux));
    profile.network_profile = Some(network_profile(network, is_flexible));
    profile.security_profile = security_profile(security);
    profile.extension_profile = reports_readiness.then(readiness::profile);
    set_priority(&mut profile, priority)?;
    profile.capacity_reservation = capacity_reservation.as_ref().map(reservation);
    let mut properties = m::VirtualMachineScaleSetProperties::new();
    properties.virtual_machine_profile = Some(profile);
    properties.proximity_placement_group = proximity_placement_group.as_ref().map(reference);
    properties.single_placement_group = Some(*single_placement_group);
    properties.platform_fault_domain_count = Some(number("fault_domains", *fault_domains)?);
    properties.upgrade_policy = upgrade_policy.as_ref().map(mode).transpose()?;
    properties.orchestration_mode = Some(if is_flexible {
        m::OrchestrationMode::Flexible
    } else {
        m::OrchestrationMode::Uniform
    });
    // A Flexible set does not know it.
    properties.overprovision = (!is_flexible).then_some(*overprovision);
    Ok(properties)
}

fn os_profile(
    prefix: &str,
    admin_user: &str,
    linux: m::LinuxConfiguration,
) -> m::VirtualMachineScaleSetOsProfile {
    m::VirtualMachineScaleSetOsProfile {
        computer_name_prefix: Some(prefix.to_owned()),
        admin_username: Some(admin_user.to_owned()),
        linux_configuration: Some(linux),
        ..m::VirtualMachineScaleSetOsProfile::default()
    }
}

fn mode(policy: &model::units::CaseInsensitive) -> Result<m::UpgradePolicy, EncodeError> {
    let mode = match policy.key().as_str() {
        "manual" => m::upgrade_policy::Mode::Manual,
        "automatic" => m::upgrade_policy::Mode::Automatic,
        "rolling" => m::upgrade_policy::Mode::Rolling,
        _ => {
            return Err(EncodeError::Invalid {
                member: "upgrade_policy",
                found: policy.to_string(),
            });
        }
    };
    Ok(m::UpgradePolicy {
        mode: Some(mode),
        ..m::UpgradePolicy::default()
    })
}

fn number(member: &'static str, value: u32) -> Result<i32, EncodeError> {
    i32::try_from(value).map_err(|_| EncodeError::Invalid {
        member,
        found: value.to_string(),
    })
}

fn os_disk_body(
    disk: &InstanceOsDisk,
    is_flexible: bool,
) -> Result<m::VirtualMachineScaleSetOsDisk, EncodeError> {
    let InstanceOsDisk {
        size_gb,
        disk_type,
        ephemeral,
    } = disk;
    let mut body = m::VirtualMachineScaleSetOsDisk::new(m::CreateOption::FromImage);
    body.caching = Some(os_caching(*ephemeral));
    body.diff_disk_settings = ephemeral.map(diff_disk_settings);
    body.disk_size_gb = Some(number("os_disk.size_gb", *size_gb)?);
    body.managed_disk = Some(m::VirtualMachineScaleSetManagedDiskParameters {
        storage_account_type: Some(storage_account_type(*disk_type)),
        ..m::VirtualMachineScaleSetManagedDiskParameters::default()
    });
    body.delete_option = is_flexible.then_some(m::DeleteOption::Delete);
    Ok(body)
}

fn data_disk_body(
    lun: u32,
    disk: &InstanceDataDisk,
    is_flexible: bool,
) -> Result<m::VirtualMachineScaleSetDataDisk, EncodeError> {
    let InstanceDataDisk {
        size_gb,
        disk_type,
        caching: cache,
    } = disk;
    let lun = number("data_disks", lun)?;
    let mut body = m::VirtualMachineScaleSetDataDisk::new(lun, m::CreateOption::Empty);
    body.caching = Some(caching(cache)?);
    body.disk_size_gb = Some(number("data_disks.size_gb", *size_gb)?);
    body.managed_disk = Some(m::VirtualMachineScaleSetManagedDiskParameters {
        storage_account_type: Some(storage_account_type(*disk_type)),
        ..m::VirtualMachineScaleSetManagedDiskParameters::default()
    });
    body.delete_option = is_flexible.then_some(m::DeleteOption::Delete);
    Ok(body)
}

fn network_profile(
    network: &InstanceInterface,
    is_flexible: bool,
) -> m::VirtualMachineScaleSetNetworkProfile {
    use m::{
        virtual_machine_scale_set_network_configuration_properties::DeleteOption,
        virtual_machine_scale_set_network_profile::NetworkApiVersion,
    };
    let InstanceInterface {
        name,
        subnet,
        accelerated,
        public_address,
    } = network;
    let mut address = m::VirtualMachineScaleSetIpConfiguration::new("primary".to_owned());
    address.properties = Some(m::VirtualMachineScaleSetIpConfigurationProperties {
        subnet: Some(m::ApiEntityReference {
            id: Some(subnet.to_string()),
        }),
        primary: Some(true),
        public_ip_address_configuration: public_address
            .then(|| public_address_body(name, is_flexible)),
        ..m::VirtualMachineScaleSetIpConfigurationProperties::default()
    });
    let mut properties =
        m::VirtualMachineScaleSetNetworkConfigurationProperties::new(vec![address]);
    properties.primary = Some(true);
    properties.enable_accelerated_networking = Some(*accelerated);
    properties.delete_option = is_flexible.then_some(DeleteOption::Delete);
    let mut configuration = m::VirtualMachineScaleSetNetworkConfiguration::new(name.clone());
    configuration.properties = Some(properties);
    m::VirtualMachineScaleSetNetworkProfile {
        network_interface_configurations: vec![configuration],
        network_api_version: is_flexible.then_some(NetworkApiVersion::N2020_11_01),
        ..m::VirtualMachineScaleSetNetworkProfile::default()
    }
}

/// A public address that comes and goes with its instance.
fn public_address_body(
    interface: &str,
    is_flexible: bool,
) -> m::VirtualMachineScaleSetPublicIpAddressConfiguration {
    use m::virtual_machine_scale_set_public_ip_address_configuration_properties as p;
    let name = format!("{interface}-ip");
    let mut body = m::VirtualMachineScaleSetPublicIpAddressConfiguration::new(name);
    body.sku = Some(m::PublicIpAddressSku {
        name: Some(m::public_ip_address_sku::Name::Standard),
        tier: Some(m::public_ip_address_sku::Tier::Regional),
    });
    body.properties = Some(
        m::VirtualMachineScaleSetPublicIpAddressConfigurationProperties {
            delete_option: is_flexible.then_some(p::DeleteOption::Delete),
            public_ip_address_version: Some(p::PublicIpAddressVersion::IPv4),
            ..m::VirtualMachineScaleSetPublicIpAddressConfigurationProperties::default()
        },
    );
    body
}

fn set_priority(
    profile: &mut m::VirtualMachineScaleSetVmProfile,
    priority: &VmPriority,
) -> Result<(), EncodeError> {
    if let Some((eviction, billing)) = spot(priority)? {
        profile.priority = Some(m::Priority::Spot);
        profile.eviction_policy = Some(eviction);
        profile.billing_profile = Some(billing);
    }
    Ok(())
}
