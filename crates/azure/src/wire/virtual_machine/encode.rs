//! A virtual machine as the body that creates it.

use std::collections::BTreeSet;

use azure_mgmt_compute::package_2024_07_01::models as m;
use model::{
    ids::ArmId,
    resource::{
        DataDiskAttachment, ImageReference, Known, MarketplaceImage, NetworkInterface, OsDisk,
        OwnImage, PurchasePlan, Security, System, VirtualMachine, VmPriority,
    },
    spec::{DiskController, DiskType, EphemeralPlacement, Eviction},
    units::{CaseInsensitive, SizeName},
};
use rust_decimal::prelude::ToPrimitive;
use serde_json::Value;

use super::super::{EncodeError, identity};

/// The body that creates the machine.
pub(in crate::wire) fn encode(machine: &VirtualMachine) -> Result<Value, EncodeError> {
    let VirtualMachine {
        location,
        zones,
        size,
        image,
        plan,
        os,
        password: _,
        priority,
        capacity_reservation,
        proximity_placement_group,
        computer_name,
        admin_user,
        ssh_keys,
        os_disk,
        disk_controller,
        data_disks,
        network,
        security,
        identities,
        // An extension is a resource of its own, which is made when the machine is there.
        reports_readiness: _,
    } = machine;
    let mut properties = m::VirtualMachineProperties::new();
    properties.hardware_profile = Some(hardware_profile(size));
    properties.storage_profile = Some(m::StorageProfile {
        image_reference: Some(image_reference(image)),
        os_disk: Some(os_disk_body(os_disk)?),
        data_disks: data_disks
            .iter()
            .map(|(lun, disk)| data_disk_body(*lun, disk))
            .collect::<Result<_, _>>()?,
        disk_controller_type: disk_controller.map(disk_controller_type),
    });
    properties.os_profile = Some(match os {
        System::Linux => linux_profile(computer_name, admin_user, ssh_keys)?,
        System::Windows => windows_profile(computer_name, admin_user),
    });
    properties.network_profile = Some(network_profile(network)?);
    properties.security_profile = security_profile(security);
    set_priority(&mut properties, priority)?;
    properties.capacity_reservation = capacity_reservation.as_ref().map(reservation);
    properties.proximity_placement_group = proximity_placement_group.as_ref().map(reference);
    let mut typed = m::VirtualMachine::new(m::Resource::new(location.as_str().to_owned()));
    typed.zones.clone_from(zones);
    typed.plan = plan.as_ref().map(purchase_plan);
    typed.properties = Some(properties);
    let mut body = serde_json::to_value(&typed).map_err(|error| EncodeError::Invalid {
        member: "virtual machine",
        found: error.to_string(),
    })?;
    // The typed model always writes it, as `null`, and Compute refuses what it does not know.
    if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("timeCreated");
    }
    if let Some(identity) = identity::encode(identities) {
        body["identity"] = identity;
    }
    Ok(body)
}

fn hardware_profile(size: &SizeName) -> m::HardwareProfile {
    m::HardwareProfile {
        vm_size: Some(m::hardware_profile::VmSize::UnknownValue(
            size.as_str().to_owned(),
        )),
        ..m::HardwareProfile::default()
    }
}

pub(in crate::wire) fn image_reference(image: &ImageReference) -> m::ImageReference {
    let image = match image {
        ImageReference::Marketplace(image) => image,
        ImageReference::Own(image) => return own_image(image),
    };
    let MarketplaceImage {
        publisher,
        offer,
        sku,
        version,
    } = image;
    m::ImageReference {
        publisher: Some(publisher.as_str().to_owned()),
        offer: Some(offer.as_str().to_owned()),
        sku: Some(sku.as_str().to_owned()),
        version: Some(version.clone()),
        ..m::ImageReference::default()
    }
}

/// Images of galleries that others share stand in members of their own.
fn own_image(image: &OwnImage) -> m::ImageReference {
    let OwnImage { id } = image;
    let id = Some(id.as_str().to_owned());
    let key = image.id.key();
    if key.starts_with("/communitygalleries/") {
        m::ImageReference {
            community_gallery_image_id: id,
            ..m::ImageReference::default()
        }
    } else if key.starts_with("/sharedgalleries/") {
        m::ImageReference {
            shared_gallery_image_id: id,
            ..m::ImageReference::default()
        }
    } else {
        m::ImageReference {
            sub_resource: m::SubResource { id },
            ..m::ImageReference::default()
        }
    }
}

fn os_disk_body(disk: &OsDisk) -> Result<m::OsDisk, EncodeError> {
    let OsDisk {
        name,
        size_gb,
        disk_type,
        delete_with_vm,
        ephemeral,
    } = disk;
    let mut body = m::OsDisk::new(m::CreateOption::FromImage);
    body.name = Some(name.clone());
    body.caching = Some(os_caching(*ephemeral));
    body.diff_disk_settings = ephemeral.map(diff_disk_settings);
    body.disk_size_gb = Some(i32::try_from(*size_gb).map_err(|_| EncodeError::Invalid {
        member: "os_disk.size_gb",
        found: size_gb.to_string(),
    })?);
    body.managed_disk = Some(m::ManagedDiskParameters {
        storage_account_type: Some(storage_account_type(*disk_type)),
        ..m::ManagedDiskParameters::default()
    });
    body.delete_option = Some(disk_delete_option(*delete_with_vm));
    Ok(body)
}

/// The host cache of an OS disk: Azure takes one on the node read-only alone.
pub(in crate::wire) fn os_caching(ephemeral: Option<EphemeralPlacement>) -> m::Caching {
    match ephemeral {
        Some(_) => m::Caching::ReadOnly,
        None => m::Caching::ReadWrite,
    }
}

/// Where an OS disk stands on the node.
pub(in crate::wire) fn diff_disk_settings(placement: EphemeralPlacement) -> m::DiffDiskSettings {
    let placement = match placement {
        EphemeralPlacement::CacheDisk => m::DiffDiskPlacement::CacheDisk,
        EphemeralPlacement::ResourceDisk => m::DiffDiskPlacement::ResourceDisk,
        EphemeralPlacement::NvmeDisk => m::DiffDiskPlacement::NvmeDisk,
    };
    m::DiffDiskSettings {
        option: Some(m::DiffDiskOption::Local),
        placement: Some(placement),
    }
}

/// How a machine reaches its disks.
fn disk_controller_type(controller: DiskController) -> m::DiskControllerType {
    match controller {
        DiskController::Scsi => m::DiskControllerType::Scsi,
        DiskController::Nvme => m::DiskControllerType::NvMe,
    }
}

/// A data disk as a VM's body names it.
pub(super) fn data_disk_body(
    lun: u32,
    disk: &DataDiskAttachment,
) -> Result<m::DataDisk, EncodeError> {
    let DataDiskAttachment {
        disk,
        caching,
        delete_with_vm,
    } = disk;
    let lun = i32::try_from(lun).map_err(|_| EncodeError::Invalid {
        member: "data_disks",
        found: lun.to_string(),
    })?;
    let mut body = m::DataDisk::new(lun, m::CreateOption::Attach);
    body.caching = Some(self::caching(caching)?);
    body.managed_disk = Some(m::ManagedDiskParameters {
        sub_resource: sub_resource(disk),
        ..m::ManagedDiskParameters::default()
    });
    body.delete_option = Some(disk_delete_option(*delete_with_vm));
    Ok(body)
}

/// The host cache of a disk.
pub(in crate::wire) fn caching(word: &CaseInsensitive) -> Result<m::Caching, EncodeError> {
    match word.key().as_str() {
        "none" => Ok(m::Caching::None),
        "readonly" => Ok(m::Caching::ReadOnly),
        "readwrite" => Ok(m::Caching::ReadWrite),
        _ => Err(EncodeError::Invalid {
            member: "data_disks.caching",
            found: word.to_string(),
        }),
    }
}

fn disk_delete_option(goes: bool) -> m::DeleteOption {
    if goes {
        m::DeleteOption::Delete
    } else {
        m::DeleteOption::Detach
    }
}

pub(in crate::wire) fn storage_account_type(disk_type: DiskType) -> m::StorageAccountType {
    match disk_type {
        DiskType::Premium => m::StorageAccountType::PremiumLrs,
        DiskType::PremiumV2 => m::StorageAccountType::PremiumV2Lrs,
        DiskType::StandardSsd => m::StorageAccountType::StandardSsdLrs,
        DiskType::StandardHdd => m::StorageAccountType::StandardLrs,
        DiskType::Ultra => m::StorageAccountType::UltraSsdLrs,
    }
}

fn sub_resource(id: &ArmId) -> m::SubResource {
    m::SubResource {
        id: Some(id.to_string()),
    }
}

fn linux_profile(
    computer_name: &str,
    admin_user: &str,
    ssh_keys: &Known<BTreeSet<String>>,
) -> Result<m::OsProfile, EncodeError> {
    let mut profile = m::OsProfile::new();
    profile.computer_name = Some(computer_name.to_owned());
    profile.admin_username = Some(admin_user.to_owned());
    profile.linux_configuration = Some(linux_configuration(admin_user, ssh_keys)?);
    Ok(profile)
}

/// SSH keys alone let in; the agent runs.
pub(in crate::wire) fn linux_configuration(
    admin_user: &str,
    ssh_keys: &Known<BTreeSet<String>>,
) -> Result<m::LinuxConfiguration, EncodeError> {
    let keys = ssh_keys.value().ok_or(EncodeError::Unknown("ssh_keys"))?;
    let public_keys = keys
        .iter()
        .map(|key| m::SshPublicKey {
            path: Some(format!("/home/{admin_user}/.ssh/authorized_keys")),
            key_data: Some(key.clone()),
        })
        .collect();
    Ok(m::LinuxConfiguration {
        disable_password_authentication: Some(true),
        ssh: Some(m::SshConfiguration { public_keys }),
        provision_vm_agent: Some(true),
        ..m::LinuxConfiguration::default()
    })
}

/// The password is added by who sends the body: no document has it.
fn windows_profile(computer_name: &str, admin_user: &str) -> m::OsProfile {
    let mut profile = m::OsProfile::new();
    profile.computer_name = Some(computer_name.to_owned());
    profile.admin_username = Some(admin_user.to_owned());
    profile.windows_configuration = Some(m::WindowsConfiguration {
        provision_vm_agent: Some(true),
        enable_automatic_updates: Some(true),
        ..m::WindowsConfiguration::default()
    });
    profile
}

fn network_profile(network: &NetworkInterface) -> Result<m::NetworkProfile, EncodeError> {
    use m::virtual_machine_network_interface_configuration_properties::DeleteOption;
    let NetworkInterface {
        name,
        subnet,
        accelerated,
        delete_with_vm,
        public_address,
    } = network;
    let subnet = subnet
        .as_ref()
        .ok_or(EncodeError::Unknown("network.subnet"))?;
    let mut address = m::VirtualMachineNetworkInterfaceIpConfiguration::new("primary".to_owned());
    address.properties = Some(m::VirtualMachineNetworkInterfaceIpConfigurationProperties {
        subnet: Some(sub_resource(subnet)),
        primary: Some(true),
        public_ip_address_configuration: public_address.then(|| public_address_body(name)),
        ..m::VirtualMachineNetworkInterfaceIpConfigurationProperties::default()
    });
    let mut properties =
        m::VirtualMachineNetworkInterfaceConfigurationProperties::new(vec![address]);
    properties.primary = Some(true);
    properties.delete_option = Some(if *delete_with_vm {
        DeleteOption::Delete
    } else {
        DeleteOption::Detach
    });
    properties.enable_accelerated_networking = *accelerated;
    let mut configuration = m::VirtualMachineNetworkInterfaceConfiguration::new(name.clone());
    configuration.properties = Some(properties);
    Ok(m::NetworkProfile {
        network_interfaces: Vec::new(),
        network_api_version: Some(m::network_profile::NetworkApiVersion::N2020_11_01),
        network_interface_configurations: vec![configuration],
    })
}

/// A public address that comes and goes with its interface.
fn public_address_body(interface: &str) -> m::VirtualMachinePublicIpAddressConfiguration {
    use m::virtual_machine_public_ip_address_configuration_properties as p;
    let mut body = m::VirtualMachinePublicIpAddressConfiguration::new(format!("{interface}-ip"));
    body.sku = Some(m::PublicIpAddressSku {
        name: Some(m::public_ip_address_sku::Name::Standard),
        tier: Some(m::public_ip_address_sku::Tier::Regional),
    });
    body.properties = Some(m::VirtualMachinePublicIpAddressConfigurationProperties {
        delete_option: Some(p::DeleteOption::Delete),
        public_ip_address_version: Some(p::PublicIpAddressVersion::IPv4),
        public_ip_allocation_method: Some(p::PublicIpAllocationMethod::Static),
        ..m::VirtualMachinePublicIpAddressConfigurationProperties::default()
    });
    body
}

/// The security profile; a machine without one sends none, so that old images stay possible.
pub(in crate::wire) fn security_profile(security: &Security) -> Option<m::SecurityProfile> {
    match security {
        Security::Standard => None,
        Security::TrustedLaunch { secure_boot, vtpm } => Some(m::SecurityProfile {
            security_type: Some(m::security_profile::SecurityType::TrustedLaunch),
            uefi_settings: Some(m::UefiSettings {
                secure_boot_enabled: Some(*secure_boot),
                v_tpm_enabled: Some(*vtpm),
            }),
            ..m::SecurityProfile::default()
        }),
    }
}

fn set_priority(
    properties: &mut m::VirtualMachineProperties,
    priority: &VmPriority,
) -> Result<(), EncodeError> {
    if let Some((eviction, billing)) = spot(priority)? {
        properties.priority = Some(m::Priority::Spot);
        properties.eviction_policy = Some(eviction);
        properties.billing_profile = Some(billing);
    }
    Ok(())
}

/// How spare capacity is bought. A regular machine sends nothing of it: Azure refuses an eviction
/// policy there.
pub(in crate::wire) fn spot(
    priority: &VmPriority,
) -> Result<Option<(m::EvictionPolicy, m::BillingProfile)>, EncodeError> {
    let VmPriority::Spot {
        eviction,
        max_price,
    } = priority
    else {
        return Ok(None);
    };
    let price = max_price.to_f64().ok_or_else(|| EncodeError::Invalid {
        member: "priority.max_price",
        found: max_price.to_string(),
    })?;
    let billing = m::BillingProfile {
        max_price: Some(price),
    };
    Ok(Some((eviction_policy(*eviction), billing)))
}

/// What eviction does.
fn eviction_policy(eviction: Eviction) -> m::EvictionPolicy {
    match eviction {
        Eviction::Delete => m::EvictionPolicy::Delete,
        Eviction::Deallocate => m::EvictionPolicy::Deallocate,
    }
}

/// A reference to another resource by its id.
pub(in crate::wire) fn reference(id: &ArmId) -> m::SubResource {
    m::SubResource {
        id: Some(id.to_string()),
    }
}

/// The capacity reservation group that machines draw from.
pub(in crate::wire) fn reservation(group: &ArmId) -> m::CapacityReservationProfile {
    m::CapacityReservationProfile {
        capacity_reservation_group: Some(reference(group)),
    }
}

/// The purchase plan of an image.
pub(in crate::wire) fn purchase_plan(plan: &PurchasePlan) -> m::Plan {
    m::Plan {
        publisher: Some(plan.publisher.to_string()),
        product: Some(plan.product.to_string()),
        name: Some(plan.name.to_string()),
        promotion_code: None,
    }
}
