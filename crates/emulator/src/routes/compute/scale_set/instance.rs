//! How instances of Uniform sets show themselves, and what can be set on one alone.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{network, profile};
use crate::{
    call::Call,
    json::{items, number, remove, set, text},
    store::{
        entry::{Machine, Power, Resource},
        scale_set::{Instance, Model, ScaleSet},
    },
    text::Seeded,
};

/// An instance within its set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) set: &'a Resource,
    pub(crate) hidden: &'a ScaleSet,
    pub(crate) id: u64,
    pub(crate) instance: &'a Instance,
    pub(crate) model: &'a Model,
}

impl<'a> Seen<'a> {
    /// The instance with this id, as it stands in a path.
    pub(crate) fn find(set: &'a Resource, id: &str) -> Option<Self> {
        let hidden = set.hidden.scale_set.as_deref()?;
        let id: u64 = id.parse().ok()?;
        Self::of(set, hidden, id, hidden.instances.get(&id)?)
    }

    /// All instances of a set.
    pub(crate) fn all(set: &'a Resource) -> impl Iterator<Item = Self> {
        set.hidden.scale_set.iter().flat_map(move |hidden| {
            hidden
                .instances
                .iter()
                .filter_map(move |(id, instance)| Self::of(set, hidden, *id, instance))
        })
    }

    fn of(
        set: &'a Resource,
        hidden: &'a ScaleSet,
        id: u64,
        instance: &'a Instance,
    ) -> Option<Self> {
        Some(Self {
            set,
            hidden,
            id,
            instance,
            model: hidden.models.get(&instance.model)?,
        })
    }

    /// The resource id.
    pub(crate) fn arm_id(self) -> ArmId {
        self.set.id.child("virtualMachines", &self.id.to_string())
    }

    pub(crate) fn name(self) -> String {
        format!("{}_{}", self.set.name(), self.id)
    }

    /// Made-up values that stay the same for this instance.
    fn stream(self, of: &str) -> Seeded {
        let unique = text(&self.set.body, "/properties/uniqueId").unwrap_or_default();
        Seeded::of_text(0, &format!("{unique} {} {of}", self.id))
    }

    fn hex(self, of: &str) -> String {
        self.stream(of).guid().replace('-', "")
    }

    /// Recorded: `vmss1_vmss1_0_OsDisk_1_…`.
    fn disk_name(self, what: &str) -> String {
        let of = format!("{what} {}", self.instance.reimaged);
        format!(
            "{}_{}_{what}_{}",
            self.set.name(),
            self.name(),
            self.hex(&of)
        )
    }

    fn computer_name(self) -> String {
        let prefix = text(&self.model.profile, "/osProfile/computerNamePrefix").unwrap_or_default();
        format!("{prefix}{:06}", self.id)
    }
}

/// An instance as its GET shows it.
pub(crate) fn show(call: &Call<'_>, seen: Seen<'_>) -> Value {
    let Seen {
        set: of,
        hidden,
        instance,
        model,
        ..
    } = seen;
    let mut shown = json!({
        "name": seen.name(),
        "id": seen.arm_id().as_str(),
        "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
        "location": of.location,
        "instanceId": seen.id.to_string(),
        "sku": {"name": model.size, "tier": "Standard"},
        "properties": {
            "latestModelApplied": instance.model == hidden.model,
            "modelDefinitionApplied": "VirtualMachineScaleSet",
            "networkProfileConfiguration": {
                "networkInterfaceConfigurations":
                    items(&model.profile, "/networkProfile/networkInterfaceConfigurations"),
            },
            "provisioningState": instance.state.as_str(),
            "hardwareProfile": {"vmSize": model.size},
            "vmId": seen.stream("vm").guid(),
            "storageProfile": storage(seen),
            "networkProfile": {"networkInterfaces": interfaces(seen)},
            "timeCreated": instance.created.precise(),
        },
    });
    add_parts(seen, &mut shown);
    if call.since("2023-09-01") {
        set(&mut shown, "/etag", json!(format!("\"{}\"", instance.etag)));
    }
    // Not in the schema; recorded of single instances alone.
    if call.since("2024-07-01") && !call.path.is_open() {
        set(
            &mut shown,
            "/properties/resilientVMDeletionStatus",
            json!("Disabled"),
        );
    }
    shown
}

/// Adds what an instance shows only where there is something to show.
fn add_parts(seen: Seen<'_>, shown: &mut Value) {
    let Seen {
        set: of,
        instance,
        model,
        ..
    } = seen;
    let own = instance.own.as_ref();
    let tags = own.and_then(|own| own.get("tags")).or(of.body.get("tags"));
    for (place, value) in [
        ("/tags", tags.cloned()),
        ("/zones", instance.zone.as_ref().map(|zone| json!([zone]))),
        ("/plan", of.body.get("plan").cloned()),
        ("/properties/osProfile", system(seen)),
        (
            "/properties/securityProfile",
            model.profile.get("securityProfile").cloned(),
        ),
        (
            "/properties/diagnosticsProfile",
            model.profile.get("diagnosticsProfile").cloned(),
        ),
        (
            "/properties/licenseType",
            model.profile.get("licenseType").cloned(),
        ),
        (
            "/properties/protectionPolicy",
            own.and_then(|own| own.pointer("/properties/protectionPolicy"))
                .cloned(),
        ),
    ] {
        if let Some(value) = value {
            set(shown, place, value);
        }
    }
}

/// The user data of an instance: its own, or that of its model.
pub(crate) fn user_data(seen: Seen<'_>) -> Option<Value> {
    let own = seen.instance.own.as_ref();
    own.and_then(|own| own.pointer("/properties/userData"))
        .cloned()
        .or_else(|| seen.model.user_data.clone().map(Value::from))
}

fn disk_id(seen: Seen<'_>, name: &str) -> Value {
    let id = seen
        .set
        .id
        .group_id()
        .map(|group| group.in_group("Microsoft.Compute/disks", name));
    json!(id.map(|id| id.to_string()))
}

fn storage(seen: Seen<'_>) -> Value {
    let mut shown = seen
        .model
        .profile
        .get("storageProfile")
        .cloned()
        .unwrap_or_default();
    if !seen.model.image.version.is_empty() {
        set(
            &mut shown,
            "/imageReference/exactVersion",
            json!(seen.model.image.version),
        );
    }
    let name = seen.disk_name("OsDisk_1");
    set(&mut shown, "/osDisk/name", json!(name));
    if text(&shown, "/osDisk/diffDiskSettings/option").is_none() {
        let id = disk_id(seen, &name);
        set(&mut shown, "/osDisk/managedDisk/id", id);
    }
    let mut disks = items(&shown, "/dataDisks").to_vec();
    for disk in &mut disks {
        let lun = number(disk, "/lun").unwrap_or(0);
        let name = seen.disk_name(&format!("disk{}", lun + 2));
        set(disk, "/name", json!(name));
        let id = disk_id(seen, &name);
        set(disk, "/managedDisk/id", id);
        set(disk, "/toBeDetached", json!(false));
    }
    set(&mut shown, "/dataDisks", json!(disks));
    shown
}

fn system(seen: Seen<'_>) -> Option<Value> {
    let mut shown = seen.model.profile.get("osProfile").cloned()?;
    remove(&mut shown, "/computerNamePrefix");
    set(&mut shown, "/computerName", json!(seen.computer_name()));
    Some(shown)
}

fn interfaces(seen: Seen<'_>) -> Vec<Value> {
    items(
        &seen.model.profile,
        "/networkProfile/networkInterfaceConfigurations",
    )
    .iter()
    .filter_map(|interface| text(interface, "/name"))
    .map(|name| json!({"id": seen.arm_id().child("networkInterfaces", name).as_str()}))
    .collect()
}

/// The instance view of an instance.
pub(crate) fn view(seen: Seen<'_>) -> Value {
    let Seen {
        set: of, instance, ..
    } = seen;
    let domains = number(&of.body, "/properties/platformFaultDomainCount")
        .unwrap_or(1)
        .max(1);
    // Documented: a placement group has 100 instances at most.
    let group = seen.id / 100;
    let unique = text(&of.body, "/properties/uniqueId").unwrap_or_default();
    let mut shown = json!({
        "placementGroupId": Seeded::of_text(group, unique).guid(),
        "platformUpdateDomain": seen.id % 5,
        "platformFaultDomain": seen.id % domains,
    });
    if let (Some(shown), Value::Object(machine)) = (shown.as_object_mut(), machine_view(seen)) {
        shown.extend(machine);
    }
    if instance.zone.is_some() {
        remove(&mut shown, "/platformUpdateDomain");
    }
    shown
}

/// What is the same as in the view of a VM.
fn machine_view(seen: Seen<'_>) -> Value {
    let Instance {
        state,
        power,
        since,
        failure,
        ..
    } = seen.instance;
    let machine = Machine {
        power: *power,
        since: *since,
        image: seen.model.image.clone(),
        user_data: None,
        custom_data: None,
        failure: failure.clone(),
        generalized: false,
    };
    let mut vm = seen.set.clone();
    vm.hidden = crate::store::entry::Hidden {
        machine: Some(machine),
        ..crate::store::entry::Hidden::default()
    };
    vm.body = json!({"properties": {"storageProfile": storage(seen)}});
    if let Some(system) = system(seen) {
        set(&mut vm.body, "/properties/osProfile", system);
    }
    vm.set_state(state.as_str());
    let mut shown = crate::routes::compute::machine::view::instance(&vm);
    let place = format!("{}/extensionProfile/extensions", profile::PLACE);
    let extensions = items(&seen.set.body, &place);
    if *power == Some(Power::Running) && !extensions.is_empty() {
        let views: Vec<Value> = extensions
            .iter()
            .map(crate::routes::compute::extension::instance_view)
            .collect();
        set(&mut shown, "/extensions", json!(views));
    }
    shown
}

/// An interface of an instance, as Microsoft.Network would show it.
pub(crate) fn interface(seen: Seen<'_>, name: &str) -> Option<Value> {
    let configuration = items(
        &seen.model.profile,
        "/networkProfile/networkInterfaceConfigurations",
    )
    .iter()
    .find(|interface| text(interface, "/name").is_some_and(|own| own.eq_ignore_ascii_case(name)))?;
    let id = seen.arm_id().child("networkInterfaces", name);
    let mut configurations = Vec::new();
    for (join, address) in network::joins(&seen.model.profile)
        .iter()
        .zip(&seen.instance.addresses)
    {
        let found = items(configuration, "/properties/ipConfigurations")
            .iter()
            .find(|one| text(one, "/name") == Some(&join.configuration));
        if join.interface != name || found.is_none() {
            continue;
        }
        let mut one = found.cloned().unwrap_or_default();
        let place = id.child("ipConfigurations", &join.configuration);
        set(&mut one, "/id", json!(place.as_str()));
        for (member, value) in [
            ("provisioningState", json!("Succeeded")),
            (
                "privateIPAddress",
                json!(std::net::Ipv4Addr::from(*address).to_string()),
            ),
            ("privateIPAllocationMethod", json!("Dynamic")),
        ] {
            set(&mut one, &format!("/properties/{member}"), value);
        }
        crate::json::default(&mut one, "/properties/primary", true);
        refer_to_address(&place, &mut one);
        configurations.push(one);
    }
    let [a, b, c] = seen.stream(name).bytes();
    let mut shown = json!({
        "name": text(configuration, "/name"),
        "id": id.as_str(),
        "properties": configuration.get("properties"),
    });
    for (member, value) in [
        ("provisioningState", json!("Succeeded")),
        (
            "resourceGuid",
            json!(seen.stream(&format!("{name} guid")).guid()),
        ),
        ("ipConfigurations", json!(configurations)),
        (
            "macAddress",
            json!(format!("00-0D-3A-{a:02X}-{b:02X}-{c:02X}")),
        ),
        ("virtualMachine", json!({"id": seen.arm_id().as_str()})),
    ] {
        set(&mut shown, &format!("/properties/{member}"), value);
    }
    Some(shown)
}

/// An interface names its public address by its id.
fn refer_to_address(configuration: &ArmId, shown: &mut Value) {
    if let Some(described) = remove(shown, network::PUBLIC) {
        let name = text(&described, "/name").unwrap_or_default();
        let address = configuration.child("publicIPAddresses", name);
        let member = "/properties/publicIPAddress";
        set(shown, member, json!({"id": address.as_str()}));
    }
}

/// The public addresses of an instance, as Microsoft.Network would show them. The numbers are from
/// the shared range 100.64.0.0/10, which leads nowhere on the internet.
pub(crate) fn public_addresses(seen: Seen<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    for interface in items(
        &seen.model.profile,
        "/networkProfile/networkInterfaceConfigurations",
    ) {
        for configuration in items(interface, "/properties/ipConfigurations") {
            let Some(described) = configuration.pointer(network::PUBLIC) else {
                continue;
            };
            let name = |of: &Value| text(of, "/name").unwrap_or_default().to_owned();
            let holder = seen
                .arm_id()
                .child("networkInterfaces", &name(interface))
                .child("ipConfigurations", &name(configuration));
            let id = holder.child("publicIPAddresses", &name(described));
            let [a, b, c] = seen.stream(&format!("address {}", id.key())).bytes();
            let mut shown = json!({
                "name": name(described),
                "id": id.as_str(),
                "properties": {
                    "provisioningState": "Succeeded",
                    "resourceGuid": seen.stream(&format!("guid {}", id.key())).guid(),
                    "ipAddress": format!("100.{}.{b}.{c}", 64 + (a & 63)),
                    "publicIPAllocationMethod": "Static",
                    "ipConfiguration": {"id": holder.as_str()},
                },
            });
            for member in ["idleTimeoutInMinutes", "ipTags", "publicIPAddressVersion"] {
                if let Some(value) = described.pointer(&format!("/properties/{member}")) {
                    set(&mut shown, &format!("/properties/{member}"), value.clone());
                }
            }
            if let Some(sku) = described.get("sku") {
                set(&mut shown, "/sku", sku.clone());
            }
            found.push(shown);
        }
    }
    found
}

/// The ids of IP configurations of a set's instances in a subnet, by the subnet's lower-case id.
pub(crate) fn configurations_in(set: &Resource, subnet: &str) -> Vec<String> {
    Seen::all(set)
        .flat_map(|seen| {
            network::joins(&seen.model.profile)
                .into_iter()
                .filter(|join| join.subnet == subnet)
                .map(move |join| {
                    seen.arm_id()
                        .child("networkInterfaces", &join.interface)
                        .child("ipConfigurations", &join.configuration)
                        .to_string()
                })
        })
        .collect()
}
