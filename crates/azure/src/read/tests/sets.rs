//! Instances of Flexible sets, which fill pages.

use std::sync::Arc;

use model::{
    live::{Live, Owner, Power},
    resource::ResourceKind,
};
use serde_json::{Value, json};

use super::{GROUP, ReadScope, World, machine, read, scope, small_world, tags, view};
use crate::testing::{Act, Seen, Server};

const MACHINES: &str = "Microsoft.Compute/virtualMachines";

/// The small world without its VMs, with a Flexible set of so many instances, of which one is
/// deallocated; on pages of ten.
fn world(instances: usize) -> World {
    let mut world = small_world();
    world.page = 10;
    let path = |kind: &str| format!("{GROUP}/providers/{kind}").to_lowercase();
    world.collections.remove(&path(MACHINES));
    let sets = ResourceKind::VirtualMachineScaleSet.arm_type();
    let set = format!("{GROUP}/providers/{sets}/demo-p");
    let tags = tags("pool.p.scale_set");
    world.put(
        "rg",
        sets,
        json!({"id": set, "location": "eastus", "tags": tags,
            "properties": {"orchestrationMode": "Flexible"}}),
    );
    let (mut views, mut tagged) = (Vec::new(), vec![json!({ "id": set })]);
    for index in 0..instances {
        let mut body = machine("rg", &format!("demo-p_{index:04}"), &tags);
        body["properties"]["virtualMachineScaleSet"] = json!({ "id": set.to_uppercase() });
        let power = if index == 0 { "deallocated" } else { "running" };
        views.push(view(&body, &[&format!("PowerState/{power}")]));
        tagged.push(json!({"id": body["id"]}));
        world.put("rg", MACHINES, body);
    }
    world.collections.insert("views".to_owned(), views);
    world.collections.insert("tagged".to_owned(), tagged);
    world
}

/// What Compute answers for the VMs of one set: bodies with their views, on one page.
fn of_set(world: &World, seen: &Seen) -> Option<Act> {
    if !(seen.target.contains("filter=") && seen.target.contains("expand=instanceView")) {
        return None;
    }
    let path = format!("{GROUP}/providers/{MACHINES}").to_lowercase();
    let views = &world.collections["views"];
    let members: Vec<Value> = world.collections[&path]
        .iter()
        .filter(|body| body["properties"]["virtualMachineScaleSet"].is_object())
        .map(|body| {
            let mut body = body.clone();
            let view = views.iter().find(|view| view["id"] == body["id"]);
            body["properties"]["instanceView"] =
                view.expect("a view")["properties"]["instanceView"].clone();
            body
        })
        .collect();
    Some(Act::json(200, &json!({ "value": members })))
}

async fn read_world(world: World, scope: &ReadScope) -> (Live, Vec<String>) {
    let world = Arc::new(world);
    let server =
        Server::start(move |seen| of_set(&world, seen).unwrap_or_else(|| world.answer(seen))).await;
    let (client, _) = server.client().await;
    let live = read(&client, scope).await.expect("a world");
    let lists = server
        .seen()
        .into_iter()
        .map(|seen| seen.target)
        .filter(|target| target.contains("/virtualMachines?"))
        .collect();
    (live, lists)
}

fn about(pools: &[&str]) -> ReadScope {
    ReadScope {
        pools: Some(pools.iter().map(|pool| (*pool).to_owned()).collect()),
        ..scope()
    }
}

/// Instances with this power state.
fn powered(live: &Live, power: Power) -> usize {
    let instances = live.instances.values().flatten();
    instances
        .filter(|one| one.state.power == Some(power))
        .count()
}

#[tokio::test]
async fn instances_that_fill_pages_are_listed_set_by_set_with_their_states() {
    let (live, lists) = read_world(world(35), &about(&["p"])).await;
    assert_eq!(
        lists.len(),
        2,
        "the first page and one of the set: {lists:#?}"
    );
    assert!(lists.iter().all(|target| !target.contains("statusOnly")));
    assert_eq!(
        (
            powered(&live, Power::Running),
            powered(&live, Power::Deallocated)
        ),
        (34, 1)
    );
    let unread = live.unread.iter().map(|unread| unread.what.as_str());
    assert!(
        unread
            .into_iter()
            .all(|what| !what.contains("power states"))
    );
    let parts = live
        .resources
        .iter()
        .filter(|live| live.id.name().ends_with("-os"));
    assert_eq!(parts.count(), 35, "each with its disk");
    // Fewer than a page are read as ever.
    let (live, lists) = read_world(world(10), &about(&["p"])).await;
    assert_eq!(lists.len(), 2);
    assert!(lists.iter().any(|target| target.contains("statusOnly")));
    assert_eq!(
        (
            powered(&live, Power::Running),
            powered(&live, Power::Deallocated)
        ),
        (9, 1)
    );
}

#[tokio::test]
async fn all_machines_are_read_where_others_than_those_of_sets_may_matter() {
    let foreign = |world: &mut World| {
        let body = machine("rg", "theirs-too", &json!({}));
        world.put("rg", MACHINES, body);
    };
    let has = |live: &Live, name: &str, owner: &Owner| {
        let mut resources = live.resources.iter();
        resources.any(|live| live.id.name() == name && live.owner == *owner)
    };
    // A pool of the run has no set: its names must be free.
    for scope in [scope(), about(&["p", "q"])] {
        let mut world = world(35);
        foreign(&mut world);
        let (live, lists) = read_world(world, &scope).await;
        assert!(has(&live, "theirs-too", &Owner::Foreign));
        assert!(
            lists.iter().all(|target| !target.contains("filter=")),
            "{lists:#?}"
        );
        assert_eq!(powered(&live, Power::Running), 34);
    }
    let mut held = world(35);
    foreign(&mut held);
    let (live, _) = read_world(held, &about(&["p"])).await;
    assert!(!has(&live, "theirs-too", &Owner::Foreign));
    // A VM of the stack that is in no set has its tag.
    let mut loose = world(35);
    let body = machine("rg", "demo-q-0", &tags("pool.q[0].vm"));
    for (list, item) in [
        ("tagged", json!({"id": body["id"]})),
        ("views", view(&body, &["PowerState/stopped"])),
    ] {
        loose.collections.get_mut(list).expect("a list").push(item);
    }
    loose.put("rg", MACHINES, body);
    let (live, _) = read_world(loose, &about(&["p"])).await;
    let ours = Owner::Stack("pool.q[0].vm".parse().expect("an address"));
    assert!(has(&live, "demo-q-0", &ours));
    let loose = live
        .resources
        .iter()
        .find(|live| live.id.name() == "demo-q-0");
    assert_eq!(loose.expect("the VM").state.power, Some(Power::Stopped));
    assert_eq!(live.instances.values().flatten().count(), 35, "each once");
}
