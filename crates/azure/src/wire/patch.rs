//! Changes to an existing resource: only what is listed, over what is live.
//!
//! Compute has a PATCH that takes parts. Network has none: there the live body is read, changed
//! in the listed places and written back whole, so that what we do not know of stays.

use model::{
    ids::ArmId,
    resource::{Properties, Resource, ResourceKind},
};
use serde_json::{Value, json};

use super::{
    EncodeError, batch, encode, fields, identity, kubernetes, request::as_request, scale_set,
    set_tags, storage, tags_of,
};

/// One write that is part of a change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// A PATCH of the resource with this body.
    Patch(Value),
    /// A PUT of the resource with this body.
    Put(Value),
    /// A PUT of the extension that tells how a VM's bootstrap ended.
    PutReadiness,
    /// A PATCH of the VM's OS disk, which is a resource of its own.
    PatchDisk(ArmId, Value),
}

/// The body that writes all of `after` over the live resource. Foreign tags stay, a network keeps
/// its subnets, a VM keeps its interface, its disk and its identity.
pub(crate) fn put_body(after: &Resource, live: &Value) -> Result<Value, EncodeError> {
    let mut body = match &after.properties {
        Properties::VirtualNetwork(_)
        | Properties::Subnet(_)
        | Properties::NetworkSecurityGroup(_)
        | Properties::PublicIpAddress(_)
        | Properties::NatGateway(_)
        | Properties::BastionHost(_) => {
            let all: Vec<String> = after
                .document()
                .as_object()
                .into_iter()
                .flat_map(|members| members.keys())
                .filter(|member| !matches!(member.as_str(), "location" | "tags" | "sku"))
                .cloned()
                .collect();
            over_live(after, &all, live)?
        }
        Properties::VirtualMachine(_) => machine_over_live(after, live)?,
        Properties::VirtualMachineScaleSet(set) => scale_set::over_live(set, live)?,
        Properties::KubernetesCluster(cluster) => kubernetes::cluster_over_live(cluster, live),
        Properties::AgentPool(pool) => kubernetes::pool_over_live(pool, live)?,
        Properties::ResourceGroup(_)
        | Properties::SshPublicKey(_)
        | Properties::ProximityPlacementGroup(_)
        | Properties::NetworkInterface(_)
        | Properties::MarketplaceTerms(_)
        | Properties::BatchAccount(_)
        | Properties::StorageAccount(_)
        | Properties::BlobContainer(_)
        | Properties::ManagedIdentity(_)
        | Properties::RoleAssignment(_)
        | Properties::BatchPool(_)
        | Properties::NodeArray(_)
        | Properties::Disk(_) => encode(after)?,
    };
    if after.kind().takes_tags() {
        let mut tags = tags_of(live);
        for (name, value) in after.tags.iter() {
            tags.set(name.as_str(), value);
        }
        set_tags(&mut body, &tags);
    }
    Ok(body)
}

/// The writes that change these attributes of the live resource to those of `after`.
pub(crate) fn changes(
    after: &Resource,
    attributes: &[String],
    live: &Value,
) -> Result<Vec<Change>, EncodeError> {
    if let Properties::VirtualMachineScaleSet(set) = &after.properties {
        return scale_set::changes(set, attributes, live);
    }
    if let Properties::BatchPool(pool) = &after.properties {
        return batch::changes(pool, attributes);
    }
    if let Properties::KubernetesCluster(cluster) = &after.properties {
        return kubernetes::cluster_changes(cluster, attributes, live);
    }
    // The command is given anew as a whole, and its server runs it again.
    if after.kind() == ResourceKind::NodeArray {
        return put_body(after, live).map(|body| vec![Change::Put(body)]);
    }
    if let Properties::AgentPool(pool) = &after.properties {
        return kubernetes::pool_changes(pool, attributes, live);
    }
    if let Properties::StorageAccount(account) = &after.properties {
        let body = storage::account_patch(account, attributes)?;
        return Ok(vec![Change::Patch(body)]);
    }
    match after.kind() {
        ResourceKind::BlobContainer => encode(after).map(|body| vec![Change::Patch(body)]),
        ResourceKind::VirtualMachine => all_of_machine(after, attributes, live),
        ResourceKind::Disk => {
            let encoded = encode(after)?;
            disk_patch(attributes, "", &encoded).map(|body| vec![Change::Patch(body)])
        }
        ResourceKind::SshPublicKey => key_changes(after, attributes),
        ResourceKind::ResourceGroup
        | ResourceKind::NetworkInterface
        | ResourceKind::ProximityPlacementGroup
        | ResourceKind::MarketplaceTerms
        | ResourceKind::StorageAccount
        | ResourceKind::ManagedIdentity
        | ResourceKind::RoleAssignment
        | ResourceKind::BatchAccount
        | ResourceKind::BatchPool
        | ResourceKind::KubernetesCluster
        | ResourceKind::AgentPool
        | ResourceKind::NodeArray
        | ResourceKind::VirtualMachineScaleSet => Err(unchangeable(attributes)),
        ResourceKind::VirtualNetwork
        | ResourceKind::Subnet
        | ResourceKind::NetworkSecurityGroup
        | ResourceKind::PublicIpAddress
        | ResourceKind::NatGateway
        | ResourceKind::BastionHost => {
            over_live(after, attributes, live).map(|body| vec![Change::Put(body)])
        }
    }
}

fn all_of_machine(
    after: &Resource,
    attributes: &[String],
    live: &Value,
) -> Result<Vec<Change>, EncodeError> {
    // What is a resource of its own comes last.
    let (readiness, own): (Vec<String>, Vec<String>) = attributes
        .iter()
        .cloned()
        .partition(|path| path == "reports_readiness");
    let (identities, own): (Vec<String>, Vec<String>) =
        own.into_iter().partition(|path| path == "identities");
    let mut changes = machine_changes(after, &own, live)?;
    if !identities.is_empty() {
        add_identities(after, live, &mut changes);
    }
    changes.extend(readiness.iter().map(|_| Change::PutReadiness));
    Ok(changes)
}

fn unchangeable(attributes: &[String]) -> EncodeError {
    EncodeError::Unchangeable(attributes.join("`, `"))
}

/// The live body with the listed attributes changed and without what a request must not have.
fn over_live(after: &Resource, attributes: &[String], live: &Value) -> Result<Value, EncodeError> {
    let encoded = encode(after)?;
    let mut body = as_request(after.kind(), live);
    for attribute in attributes {
        let place = place_of(after.kind(), attribute)
            .ok_or_else(|| unchangeable(std::slice::from_ref(attribute)))?;
        match place {
            Place::Member(member) => {
                let value = encoded.pointer(&format!("/properties/{member}")).cloned();
                set_property(&mut body, member, value);
                if member == "addressPrefix" {
                    set_property(&mut body, "addressPrefixes", None);
                }
            }
            Place::AddressSpace => {
                let prefixes = encoded
                    .pointer("/properties/addressSpace/addressPrefixes")
                    .cloned();
                let space = body.pointer("/properties/addressSpace").cloned();
                let mut space = space.filter(Value::is_object).unwrap_or_else(|| json!({}));
                space["addressPrefixes"] = prefixes.unwrap_or_default();
                set_property(&mut body, "addressSpace", Some(space));
            }
            Place::Rules => change_rules(&mut body, attribute, &encoded),
        }
    }
    Ok(body)
}

/// Where an attribute stands in a network body.
enum Place {
    Member(&'static str),
    AddressSpace,
    Rules,
}

fn place_of(kind: ResourceKind, attribute: &str) -> Option<Place> {
    let first = attribute.split('.').next().unwrap_or_default();
    let place = match (kind, first) {
        (ResourceKind::VirtualNetwork, "address_space") => Place::AddressSpace,
        (ResourceKind::Subnet, "address_prefix") => Place::Member("addressPrefix"),
        (ResourceKind::Subnet, "default_outbound_access") => Place::Member("defaultOutboundAccess"),
        (ResourceKind::Subnet, "network_security_group") => Place::Member("networkSecurityGroup"),
        (ResourceKind::Subnet, "nat_gateway") => Place::Member("natGateway"),
        (ResourceKind::NetworkSecurityGroup, "rules") => Place::Rules,
        (ResourceKind::PublicIpAddress, "allocation") => Place::Member("publicIPAllocationMethod"),
        (ResourceKind::BastionHost, "tunneling") => Place::Member("enableTunneling"),
        (ResourceKind::BastionHost, "subnet" | "public_ip") => Place::Member("ipConfigurations"),
        (ResourceKind::NatGateway, "public_ips") => Place::Member("publicIpAddresses"),
        (ResourceKind::NatGateway, "idle_timeout_minutes") => Place::Member("idleTimeoutInMinutes"),
        _ => return None,
    };
    Some(place)
}

/// Sets, replaces or removes the rules that a path such as `rules.ssh.priority` speaks of.
/// Names of rules may have dots in them.
fn change_rules(body: &mut Value, attribute: &str, encoded: &Value) {
    const RULES: &str = "/properties/securityRules";
    let spoken_of = |rule: &Value| {
        let name = fields::text(rule, "/name").unwrap_or_default();
        let path = format!("rules.{name}");
        attribute == "rules" || attribute == path || attribute.starts_with(&format!("{path}."))
    };
    let mut rules: Vec<Value> = fields::items(body, RULES)
        .filter(|rule| !spoken_of(rule))
        .cloned()
        .collect();
    rules.extend(
        fields::items(encoded, RULES)
            .filter(|rule| spoken_of(rule))
            .cloned(),
    );
    set_property(body, "securityRules", Some(Value::Array(rules)));
}

fn remove(value: &mut Value, member: &str) -> Option<Value> {
    value.as_object_mut()?.remove(member)
}

fn set_property(body: &mut Value, member: &str, value: Option<Value>) {
    let Some(body) = body.as_object_mut() else {
        return;
    };
    let properties = body.entry("properties").or_insert_with(|| json!({}));
    match value {
        Some(value) => properties[member] = value,
        None => {
            remove(properties, member);
        }
    }
}

/// The PATCH of a disk. `prefix` stands before the attributes of an OS disk.
fn disk_patch(attributes: &[String], prefix: &str, encoded: &Value) -> Result<Value, EncodeError> {
    let mut body = json!({});
    for attribute in attributes {
        match attribute.strip_prefix(prefix).unwrap_or(attribute) {
            "size_gb" => {
                body["properties"]["diskSizeGB"] = encoded["properties"]["diskSizeGB"].clone();
            }
            "disk_type" => body["sku"] = encoded["sku"].clone(),
            _ => return Err(unchangeable(std::slice::from_ref(attribute))),
        }
    }
    Ok(body)
}

fn machine_over_live(after: &Resource, live: &Value) -> Result<Value, EncodeError> {
    let mut body = encode(after)?;
    if let Some(interfaces) = interfaces(live, None) {
        body["properties"]["networkProfile"] = json!({ "networkInterfaces": interfaces });
    }
    if let Some(disk) = live.pointer("/properties/storageProfile/osDisk/managedDisk/id") {
        body["properties"]["storageProfile"]["osDisk"]["managedDisk"]["id"] = disk.clone();
    }
    if let Some(plan) = live.get("plan").filter(|value| !value.is_null()) {
        body["plan"] = plan.clone();
    }
    if let Some(machine) = after.virtual_machine()
        && let Some(identity) = identity::over_live(&machine.identities, live)
    {
        body["identity"] = identity;
    }
    Ok(body)
}

/// The live interfaces by id, with their delete option or a new one.
fn interfaces(live: &Value, delete_option: Option<&str>) -> Option<Vec<Value>> {
    let interfaces: Vec<Value> =
        fields::items(live, "/properties/networkProfile/networkInterfaces")
            .map(|interface| {
                let mut reference = json!({ "id": interface["id"] });
                let old = fields::text(interface, "/properties/deleteOption");
                if let Some(option) = delete_option.or(old) {
                    reference["properties"]["deleteOption"] = json!(option);
                }
                if let Some(primary) = interface.pointer("/properties/primary") {
                    reference["properties"]["primary"] = primary.clone();
                }
                reference
            })
            .collect();
    (!interfaces.is_empty()).then_some(interfaces)
}

fn key_changes(after: &Resource, attributes: &[String]) -> Result<Vec<Change>, EncodeError> {
    match attributes {
        [attribute] if attribute == "public_key" => {
            let encoded = encode(after)?;
            let body = json!({ "properties": encoded["properties"] });
            Ok(vec![Change::Patch(body)])
        }
        _ => Err(unchangeable(attributes)),
    }
}

fn machine_changes(
    after: &Resource,
    attributes: &[String],
    live: &Value,
) -> Result<Vec<Change>, EncodeError> {
    let encoded = encode(after)?;
    let mut properties = json!({});
    let mut disk_attributes = Vec::new();
    for attribute in attributes {
        match attribute.as_str() {
            "size" | "disk_controller" | "priority.max_price" => {
                change_hardware(&mut properties, attribute, &encoded);
            }
            "capacity_reservation" | "proximity_placement_group" => {
                change_group(&mut properties, attribute, &encoded);
            }
            "os_disk.size_gb" | "os_disk.disk_type" => disk_attributes.push(attribute.clone()),
            "os_disk.delete_with_vm" => {
                let disk = live.pointer("/properties/storageProfile/osDisk");
                let mut disk = disk.cloned().unwrap_or_default();
                disk["deleteOption"] =
                    encoded["properties"]["storageProfile"]["osDisk"]["deleteOption"].clone();
                properties["storageProfile"]["osDisk"] = disk;
            }
            "network.delete_with_vm" => {
                let place = "/properties/networkProfile/networkInterfaceConfigurations/0/properties/deleteOption";
                let option = fields::text(&encoded, place).unwrap_or("Detach");
                properties["networkProfile"] =
                    json!({ "networkInterfaces": interfaces(live, Some(option)) });
            }
            path if path == "data_disks" || path.starts_with("data_disks.") => {
                let base = properties
                    .pointer("/storageProfile/dataDisks")
                    .is_none()
                    .then_some(live);
                change_data_disks(&mut properties, base, path, &encoded);
            }
            path if path == "security" || path.starts_with("security.") => {
                let profile = encoded.pointer("/properties/securityProfile").cloned();
                properties["securityProfile"] =
                    profile.ok_or_else(|| unchangeable(std::slice::from_ref(attribute)))?;
            }
            _ => return Err(unchangeable(std::slice::from_ref(attribute))),
        }
    }
    let mut changes = Vec::new();
    if !disk_attributes.is_empty() {
        changes.push(os_disk_change(&disk_attributes, &encoded, live)?);
    }
    let members = properties.as_object();
    if members.is_some_and(|members| !members.is_empty()) {
        changes.push(Change::Patch(json!({ "properties": properties })));
    }
    Ok(changes)
}

fn change_hardware(properties: &mut Value, attribute: &str, encoded: &Value) {
    match attribute {
        "size" => copy(properties, "hardwareProfile", "vmSize", encoded),
        "disk_controller" => copy(properties, "storageProfile", "diskControllerType", encoded),
        _ => properties["billingProfile"] = encoded["properties"]["billingProfile"].clone(),
    }
}

/// Puts a machine into a group or takes it out: a reference without an id does that.
fn change_group(properties: &mut Value, attribute: &str, encoded: &Value) {
    let (member, none) = if attribute == "capacity_reservation" {
        let none = json!({"capacityReservationGroup": {"id": null}});
        ("capacityReservation", none)
    } else {
        ("proximityPlacementGroup", json!({}))
    };
    let group = encoded.pointer(&format!("/properties/{member}")).cloned();
    properties[member] = group.unwrap_or(none);
}

/// Adds the identities to the PATCH of a machine: there is one, since each has the entity tag.
fn add_identities(after: &Resource, live: &Value, changes: &mut Vec<Change>) {
    let machine = after.virtual_machine();
    let Some(all) = machine.and_then(|machine| identity::over_live(&machine.identities, live))
    else {
        return;
    };
    for change in changes.iter_mut() {
        if let Change::Patch(body) = change {
            body["identity"] = all;
            return;
        }
    }
    changes.push(Change::Patch(json!({ "identity": all })));
}

/// Takes a member of a profile over from the body that would make the machine.
fn copy(properties: &mut Value, profile: &str, member: &str, encoded: &Value) {
    properties[profile][member] = encoded["properties"][profile][member].clone();
}

/// The OS disk is grown and retyped through its own resource; the VM refuses to.
fn os_disk_change(
    attributes: &[String],
    encoded: &Value,
    live: &Value,
) -> Result<Change, EncodeError> {
    let place = "/properties/storageProfile/osDisk/managedDisk/id";
    let id = fields::text(live, place).and_then(|id| id.parse().ok());
    let disk = &encoded["properties"]["storageProfile"]["osDisk"];
    let as_disk = json!({
        "sku": { "name": disk["managedDisk"]["storageAccountType"] },
        "properties": { "diskSizeGB": disk["diskSizeGB"] },
    });
    let body = disk_patch(attributes, "os_disk.", &as_disk)?;
    Ok(Change::PatchDisk(
        id.ok_or(EncodeError::Unknown("os_disk"))?,
        body,
    ))
}

/// Changes the data disks that a path speaks of and keeps the others: the list is written whole,
/// and a disk that is not in it is detached.
fn change_data_disks(properties: &mut Value, live: Option<&Value>, path: &str, encoded: &Value) {
    const LIVE: &str = "/properties/storageProfile/dataDisks";
    let lun = path.split('.').nth(1);
    let spoken_of = |disk: &Value| {
        let number = fields::number(disk, "/lun").map(|lun| lun.to_string());
        lun.is_none() || number.as_deref() == lun
    };
    let present: Vec<Value> = match live {
        Some(live) => fields::items(live, LIVE).cloned().collect(),
        None => fields::items(properties, "/storageProfile/dataDisks")
            .cloned()
            .collect(),
    };
    let mut disks: Vec<Value> = present
        .into_iter()
        .filter(|disk| !spoken_of(disk))
        .collect();
    disks.extend(
        fields::items(encoded, LIVE)
            .filter(|disk| spoken_of(disk))
            .cloned(),
    );
    properties["storageProfile"]["dataDisks"] = Value::Array(disks);
}
