//! Reading a small world, at the wire.

mod harmed;
mod sets;
mod settled;
mod strangers;

use std::{collections::BTreeMap, sync::Arc};

use model::{
    live::{Live, LiveResource, Owner, Power, Provisioning},
    resource::ResourceKind,
};
use serde_json::{Value, json};

use super::{ReadScope, read};
use crate::testing::{Act, Seen, Server};

const GROUP: &str = "/subscriptions/s/resourceGroups/rg";

/// A world: collections by path, bodies in them, pages of `page` items.
#[derive(Clone, Default)]
struct World {
    collections: BTreeMap<String, Vec<Value>>,
    page: usize,
}

impl World {
    fn put(&mut self, group: &str, arm_type: &str, body: Value) {
        let path = format!("/subscriptions/s/resourceGroups/{group}/providers/{arm_type}");
        self.collections
            .entry(path.to_lowercase())
            .or_default()
            .push(body);
    }

    fn answer(&self, seen: &Seen) -> Act {
        let (path, query) = seen.target.split_once('?').unwrap_or((&seen.target, ""));
        let path = path.to_lowercase();
        let items = match path.as_str() {
            "/subscriptions/s/resourcegroups/rg" => {
                return match self
                    .collections
                    .get("group")
                    .and_then(|group| group.first())
                {
                    Some(group) => Act::json(200, group),
                    None => Act::error(404, "ResourceGroupNotFound"),
                };
            }
            "/subscriptions/s/providers/microsoft.compute/virtualmachines" => "views",
            "/subscriptions/s/resources" => "tagged",
            "/subscriptions/s/resourcegroups/rg/resources" => "whole",
            other => other,
        };
        let items = self.collections.get(items).cloned().unwrap_or_default();
        let skip: usize = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("skip=")?.parse().ok())
            .unwrap_or(0);
        let page = match (self.page, path.ends_with("/resources")) {
            (0, _) => usize::MAX,
            (_, true) => 1_000,
            (page, false) => page,
        };
        let mut body = json!({"value": items.iter().skip(skip).take(page).collect::<Vec<_>>()});
        if items.len() > skip.saturating_add(page) {
            let (host, next) = (seen.header("host"), skip + page);
            body["nextLink"] = json!(format!("http://{host}{path}?skip={next}"));
        }
        Act::json(200, &body)
    }

    async fn read(self, scope: &ReadScope) -> (Live, Server) {
        let world = Arc::new(self);
        let server = Server::start(move |seen| world.answer(seen)).await;
        let (client, _) = server.client().await;
        let live = read(&client, scope).await.expect("a world");
        (live, server)
    }
}

fn scope() -> ReadScope {
    ReadScope {
        stack: "demo".to_owned(),
        resource_group: "rg".to_owned(),
        has_data_disks: false,
        has_batch: false,
        has_aks: false,
        has_bastion: false,
        pools: None,
        has_checkpoints: false,
        whole_group: false,
        read_at: None,
    }
}

fn tags(address: &str) -> Value {
    json!({"Tensorform-Stack": "demo", "tensorform-address": address, "team": "ml"})
}

fn machine(group: &str, name: &str, tags: &Value) -> Value {
    let base = format!("/subscriptions/s/resourceGroups/{group}/providers");
    json!({
        "id": format!("{base}/Microsoft.Compute/virtualMachines/{name}"),
        "location": "eastus", "tags": tags,
        "properties": {
            "provisioningState": "Succeeded",
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
            "storageProfile": {
                "imageReference": {"publisher": "p", "offer": "o", "sku": "s", "version": "1.0.0"},
                "osDisk": {"name": format!("{name}-os"), "diskSizeGB": 30, "deleteOption": "Delete",
                    "managedDisk": {"storageAccountType": "Premium_LRS",
                        "id": format!("{base}/Microsoft.Compute/disks/{name}-os")}}},
            "osProfile": {"computerName": name, "adminUsername": "u"},
            "networkProfile": {"networkInterfaces": [
                {"id": format!("{base}/Microsoft.Network/networkInterfaces/{name}-nic")}]}}})
}

fn view(body: &Value, codes: &[&str]) -> Value {
    let statuses: Vec<Value> = codes.iter().map(|code| json!({ "code": code })).collect();
    json!({"id": body["id"], "properties": {"instanceView": {"statuses": statuses}}})
}

fn by_name<'a>(live: &'a Live, name: &str) -> &'a LiveResource {
    live.resources
        .iter()
        .find(|resource| resource.id.name() == name)
        .unwrap_or_else(|| panic!("no {name} in {:?}", live.resources))
}

fn small_world() -> World {
    let mut world = World::default();
    let group = json!({"id": GROUP, "location": "eastus", "tags": tags("resource_group")});
    world.collections.insert("group".to_owned(), vec![group]);
    let network = format!("{GROUP}/providers/Microsoft.Network/virtualNetworks/demo-vnet");
    let subnet = |name: &str, prefix: &str| json!({"id": format!("{network}/subnets/{name}"), "properties": {"addressPrefix": prefix}});
    world.put(
        "rg",
        "Microsoft.Network/virtualNetworks",
        json!({"id": network, "location": "eastus", "tags": tags("network.vnet"), "properties": {
            "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
            "subnets": [subnet("nodes", "10.0.0.0/24"), subnet("theirs", "10.0.1.0/24")]}}),
    );
    let ours = machine("rg", "demo-p-0", &tags("pool.p[0].vm"));
    let theirs = machine("rg", "theirs", &json!({"team": "other"}));
    let views = vec![
        view(
            &ours,
            &["ProvisioningState/succeeded", "PowerState/running"],
        ),
        view(&theirs, &["PowerState/deallocated"]),
    ];
    world.collections.insert("views".to_owned(), views);
    world.put("rg", "Microsoft.Compute/virtualMachines", ours);
    world.put("rg", "Microsoft.Compute/virtualMachines", theirs);
    world
}

#[tokio::test]
async fn each_resource_has_its_owner() {
    let (live, _) = small_world().read(&scope()).await;
    assert_eq!(live.unread, []);
    let owner = |name: &str| &by_name(&live, name).owner;
    assert_eq!(
        *owner("rg"),
        Owner::Stack("resource_group".parse().expect("an address"))
    );
    assert_eq!(
        *owner("demo-p-0"),
        Owner::Stack("pool.p[0].vm".parse().expect("an address"))
    );
    let machine = by_name(&live, "demo-p-0");
    let part = Owner::Child {
        of: machine.id.clone(),
        address: None,
    };
    assert_eq!(
        (owner("demo-p-0-os"), owner("demo-p-0-nic")),
        (&part, &part)
    );
    let subnet = by_name(&live, "nodes");
    assert_eq!(
        subnet.address().map(ToString::to_string).as_deref(),
        Some("network.subnet")
    );
    assert_eq!(by_name(&live, "theirs").address(), None);
    assert_eq!(machine.state.power, Some(Power::Running));
    let tags = &machine.resource.as_ref().expect("a machine").tags;
    let names: Vec<&str> = tags.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["team"], "tags of the run are no property");
    let theirs = live
        .resources
        .iter()
        .find(|live| live.id.name() == "theirs" && live.arm_type.ends_with("virtualMachines"));
    assert_eq!(theirs.expect("a machine").owner, Owner::Foreign);
}

#[tokio::test]
async fn nothing_there_is_found_without_asking_much() {
    let server = Server::start(|seen| {
        if seen.target.contains("/resourceGroups/") {
            Act::error(404, "ResourceGroupNotFound")
        } else {
            Act::json(200, &json!({"value": []}))
        }
    })
    .await;
    let (client, _) = server.client().await;
    let live = read(&client, &scope()).await.expect("a world");
    assert!(live.resources.is_empty());
    assert_eq!(client.requests().total, 9);
}

#[tokio::test]
async fn resources_in_other_groups_are_found_by_their_tag() {
    let mut world = small_world();
    let elsewhere = machine("old", "demo-q-0", &tags("pool.q[0].vm"));
    let stranger = machine("old", "stranger", &json!({}));
    let tagged = vec![json!({"id": elsewhere["id"]})];
    world.collections.insert("tagged".to_owned(), tagged);
    world.put("old", "Microsoft.Compute/virtualMachines", elsewhere);
    world.put("old", "Microsoft.Compute/virtualMachines", stranger);
    let (live, _) = world.read(&scope()).await;
    assert_eq!(by_name(&live, "demo-q-0").id.group(), Some("old"));
    assert!(
        live.resources
            .iter()
            .all(|live| live.id.name() != "stranger")
    );
}

fn disk(name: &str, tags: &Value, managed_by: &Value) -> Value {
    json!({"id": format!("{GROUP}/providers/Microsoft.Compute/disks/{name}"), "location": "eastus",
        "tags": tags, "managedBy": managed_by, "sku": {"name": "Premium_LRS"}, "properties": {"diskSizeGB": 64}})
}

#[tokio::test]
async fn an_os_disk_belongs_to_its_machine_whatever_its_copied_tags_say() {
    let mut world = small_world();
    let copy = tags("pool.p[0].vm");
    let os_disk = disk(
        "demo-p-0-os",
        &copy,
        &json!(format!(
            "{GROUP}/providers/Microsoft.Compute/virtualMachines/demo-p-0"
        )),
    );
    let data_disk = disk(
        "demo-p-0-data-0",
        &tags("pool.p[0].data_disk[0]"),
        &Value::Null,
    );
    let orphan = disk("demo-p-7-os", &tags("pool.p[7].vm"), &Value::Null);
    let tagged = [&os_disk, &data_disk, &orphan].map(|disk| json!({"id": disk["id"]}));
    world
        .collections
        .insert("tagged".to_owned(), tagged.to_vec());
    for disk in [os_disk, data_disk, orphan] {
        world.put("rg", "Microsoft.Compute/disks", disk);
    }
    let (live, _) = world.read(&scope()).await;
    let machine = by_name(&live, "demo-p-0").id.clone();
    let os_disk = by_name(&live, "demo-p-0-os");
    assert_eq!(
        os_disk.owner,
        Owner::Child {
            of: machine,
            address: None
        }
    );
    assert!(os_disk.resource.is_some());
    let data_disk = by_name(&live, "demo-p-0-data-0");
    assert_eq!(
        data_disk.address().map(ToString::to_string).as_deref(),
        Some("pool.p[0].data_disk[0]")
    );
    let orphan = by_name(&live, "demo-p-7-os");
    assert_eq!(
        orphan.address().map(ToString::to_string).as_deref(),
        Some("pool.p[7].vm.os_disk")
    );
}

#[tokio::test]
async fn disks_are_listed_only_for_a_reason() {
    let disks = |server: &Server| {
        server
            .seen()
            .iter()
            .filter(|seen| seen.target.contains("/disks?"))
            .count()
    };
    let (_, server) = small_world().read(&scope()).await;
    assert_eq!(disks(&server), 0);
    let mut asked = scope();
    asked.has_data_disks = true;
    let (_, server) = small_world().read(&asked).await;
    assert_eq!(disks(&server), 1);
    // A deallocated machine leaves out what its disk knows.
    let mut world = small_world();
    let machines = world
        .collections
        .get_mut(&format!("{GROUP}/providers/Microsoft.Compute/virtualMachines").to_lowercase())
        .expect("machines");
    let os_disk = machines[0]
        .pointer_mut("/properties/storageProfile/osDisk")
        .expect("a disk");
    os_disk
        .as_object_mut()
        .expect("an object")
        .remove("diskSizeGB");
    world.put(
        "rg",
        "Microsoft.Compute/disks",
        disk("demo-p-0-os", &json!({}), &Value::Null),
    );
    let (live, server) = world.read(&scope()).await;
    assert_eq!(disks(&server), 1);
    let machine = by_name(&live, "demo-p-0")
        .resource
        .as_ref()
        .expect("a machine");
    assert_eq!(machine.attributes()["os_disk.size_gb"], 64);
}

#[tokio::test]
async fn a_thousand_machines_cost_pages() {
    let mut world = small_world();
    world.page = 50;
    world
        .collections
        .remove(&format!("{GROUP}/providers/Microsoft.Compute/virtualMachines").to_lowercase());
    let (mut views, mut tagged) = (Vec::new(), Vec::new());
    for index in 0..1_000 {
        let body = machine(
            "rg",
            &format!("demo-p-{index}"),
            &tags(&format!("pool.p[{index}].vm")),
        );
        views.push(view(&body, &["PowerState/running"]));
        tagged.push(json!({"id": body["id"]}));
        tagged
            .push(json!({"id": body.pointer("/properties/storageProfile/osDisk/managedDisk/id")}));
        world.put("rg", "Microsoft.Compute/virtualMachines", body);
    }
    world.collections.insert("views".to_owned(), views);
    world.collections.insert("tagged".to_owned(), tagged);
    let (live, server) = world.read(&scope()).await;
    // Twenty pages of machines and twenty of their states; two of what is tagged, since OS disks
    // carry copies of tags; the group, and one list of each of six kinds.
    assert_eq!(server.seen().len(), 49);
    let running = live
        .resources
        .iter()
        .filter(|live| live.state.power == Some(Power::Running));
    assert_eq!(running.count(), 1_000);
}

#[tokio::test]
async fn a_failed_machine_tells_whether_it_ever_had_hardware() {
    let mut world = small_world();
    let mut bodies = Vec::new();
    let mut views = Vec::new();
    for (name, codes) in [
        (
            "no-hardware",
            vec!["ProvisioningState/failed/AllocationFailed"],
        ),
        (
            "runs",
            vec![
                "ProvisioningState/failed/OSProvisioningTimedOut",
                "PowerState/running",
            ],
        ),
    ] {
        let mut body = machine("rg", name, &tags(&format!("pool.{name}[0].vm")));
        body["properties"]["provisioningState"] = json!("Failed");
        body["properties"]
            .as_object_mut()
            .expect("an object")
            .remove("networkProfile");
        views.push(view(&body, &codes));
        bodies.push(body);
    }
    world.collections.insert("views".to_owned(), views);
    for body in bodies {
        world.put("rg", "Microsoft.Compute/virtualMachines", body);
    }
    let (live, _) = world.read(&scope()).await;
    let state = |name: &str| &by_name(&live, name).state;
    assert_eq!(
        (
            state("no-hardware").provisioning,
            state("no-hardware").power
        ),
        (Provisioning::Failed, None)
    );
    assert_eq!(
        state("no-hardware").message.as_deref(),
        Some("AllocationFailed")
    );
    assert_eq!(state("runs").power, Some(Power::Running));
    assert_eq!(live.unread, []);
}

#[tokio::test]
async fn power_states_that_may_not_be_read_are_unknown_and_all_else_is_an_error() {
    let world = Arc::new(small_world());
    let shared = Arc::clone(&world);
    let server = Server::start(move |seen| {
        if seen.target.contains("statusOnly") {
            Act::error(403, "AuthorizationFailed")
        } else {
            shared.answer(seen)
        }
    })
    .await;
    let (client, _) = server.client().await;
    let live = read(&client, &scope()).await.expect("a world");
    assert_eq!(live.unread.len(), 1);
    assert_eq!(by_name(&live, "demo-p-0").state.power, None);

    for (status, code) in [(403, "AuthorizationFailed"), (500, "InternalServerError")] {
        let world = Arc::clone(&world);
        let server = Server::start(move |seen| {
            if seen.target.contains("networkSecurityGroups") {
                Act::error(status, code)
            } else {
                world.answer(seen)
            }
        })
        .await;
        let (client, _) = server.client().await;
        let error = read(&client, &scope()).await.expect_err("a failure");
        assert_eq!(
            error.to_string(),
            "could not read the networkSecurityGroups of `rg`"
        );
        assert_eq!(error.help.is_some(), status == 403);
    }
}

#[tokio::test]
async fn a_subscription_that_is_not_there_is_explained() {
    let server = Server::start(|seen| {
        if seen.target.starts_with("/subscriptions?") {
            Act::json(
                200,
                &json!({"value": [{"subscriptionId": "b", "displayName": "Other"}]}),
            )
        } else {
            Act::error(404, "SubscriptionNotFound")
        }
    })
    .await;
    let (client, _) = server.client().await;
    let error = read(&client, &scope())
        .await
        .expect_err("no such subscription");
    let help = error.help.expect("help");
    assert!(help.contains("`s`") && help.contains("b (Other)"), "{help}");
}

#[tokio::test]
async fn a_destroy_sees_what_it_leaves() {
    let mut world = small_world();
    let stranger = format!("{GROUP}/providers/Microsoft.Storage/storageAccounts/theirs2");
    let ours = format!("{GROUP}/providers/Microsoft.Compute/virtualMachines/demo-p-0");
    let whole = vec![
        json!({"id": stranger, "type": "Microsoft.Storage/storageAccounts"}),
        json!({"id": ours, "type": ResourceKind::VirtualMachine.arm_type()}),
    ];
    world.collections.insert("whole".to_owned(), whole);
    let mut asked = scope();
    asked.whole_group = true;
    let (live, _) = world.read(&asked).await;
    assert_eq!(by_name(&live, "theirs2").owner, Owner::Foreign);
    assert!(matches!(by_name(&live, "demo-p-0").owner, Owner::Stack(_)));
}

#[tokio::test]
async fn a_stack_tag_without_an_address_makes_nothing_ours_and_is_said() {
    let mut world = small_world();
    let body = machine(
        "rg",
        "odd",
        &json!({"tensorform-stack": "demo", "tensorform-address": "a b"}),
    );
    world.put("rg", "Microsoft.Compute/virtualMachines", body);
    let (live, _) = world.read(&scope()).await;
    assert_eq!(by_name(&live, "odd").owner, Owner::Foreign);
    assert!(
        live.unread
            .iter()
            .any(|unread| unread.reason.contains("`a b`"))
    );
}
