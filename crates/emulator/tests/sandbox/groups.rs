//! Groups, lists of resources of all types, and tags.

use serde_json::json;

use crate::rig::{Reply, Rig, SUBSCRIPTION, disk, group, id, network, vm};

fn groups(query: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourcegroups?{query}api-version=2021-04-01")
}

fn resources(query: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resources?{query}&api-version=2021-04-01")
}

fn names(reply: &Reply) -> Vec<String> {
    reply
        .items()
        .iter()
        .filter_map(|item| item.get("name")?.as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn groups_are_listed_and_filtered_by_tag() {
    let rig = Rig::new().await;
    for (name, tags) in [
        ("a", json!({"team": "ml"})),
        ("b", json!({"Team": "web"})),
        ("c", json!({})),
    ] {
        rig.put(&group(name), json!({"location": "East US", "tags": tags}))
            .await
            .expect(201);
    }
    let all = rig.get(&groups("")).await.expect(200);
    assert_eq!(names(&all), ["a", "b", "c"]);
    assert_eq!(all.text("/value/0/location"), "eastus");
    let team = rig
        .get(&groups("$filter=tagName%20eq%20'team'&"))
        .await
        .expect(200);
    assert_eq!(names(&team), ["a", "b"]);
    let filter = "$filter=tagName%20eq%20'team'%20and%20tagValue%20eq%20'ml'&";
    assert_eq!(names(&rig.get(&groups(filter)).await.expect(200)), ["a"]);
    let moved = rig
        .put(&group("a"), json!({"location": "westus"}))
        .await
        .expect(409);
    assert_eq!(moved.code(), "InvalidResourceGroupLocation");
    let wrong = rig
        .get(&groups("$filter=tagName%20is%20'team'&"))
        .await
        .expect(400);
    assert_eq!(wrong.code(), "InvalidFilterInQueryString");
    rig.send("HEAD", &group("a"), None).await.expect(204);
    rig.send("HEAD", &group("z"), None).await.expect(404);
}

#[tokio::test]
async fn a_group_takes_everything_in_it_with_it() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let accepted = rig.delete(&group("rg")).await.expect(202);
    assert_eq!(accepted.header("azure-asyncoperation"), "");
    assert_eq!(accepted.header("retry-after"), "15");
    let first = accepted.header("location").to_owned();
    let waiting = rig.follow(&first).await.expect(202);
    let second = waiting.header("location").to_owned();
    assert_ne!(first, second, "the URL changes with each poll");
    let shown = rig.get(&group("rg")).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Deleting");
    let late = rig
        .put(
            &network("publicIPAddresses/ip"),
            json!({"location": "eastus"}),
        )
        .await;
    assert_eq!(late.expect(409).code(), "ResourceGroupBeingDeleted");
    let again = rig
        .put(&group("rg"), json!({"location": "eastus"}))
        .await
        .expect(409);
    assert_eq!(again.code(), "ResourceGroupBeingDeleted");
    rig.pass(60);
    rig.follow(&second).await.expect(200);
    assert_eq!(
        rig.get(&group("rg")).await.expect(404).code(),
        "ResourceGroupNotFound"
    );
    assert_eq!(
        rig.delete(&group("rg")).await.expect(404).code(),
        "ResourceGroupNotFound"
    );
    let left = rig.get(&resources("")).await.expect(200);
    assert_eq!(left.items().len(), 0);
    rig.ground().await;
}

#[tokio::test]
async fn resources_are_listed_filtered_and_paged() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let all = rig
        .get(&resources("$expand=createdTime,provisioningState"))
        .await
        .expect(200);
    let kinds: Vec<&str> = all
        .items()
        .iter()
        .filter_map(|item| item.get("type")?.as_str())
        .collect();
    let expected = [
        "Microsoft.Compute/disks",
        "Microsoft.Compute/virtualMachines",
        "Microsoft.Network/networkInterfaces",
        "Microsoft.Network/virtualNetworks",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(all.text("/value/0/managedBy"), id(&vm("vm1")));
    assert_eq!(all.text("/value/1/provisioningState"), "Succeeded");
    assert!(all.body.pointer("/value/1/properties").is_none());
    let filter = "$filter=resourceType%20eq%20'microsoft.compute/virtualmachines'";
    let vms = rig.get(&resources(filter)).await.expect(200);
    assert_eq!(names(&vms), ["vm1"]);
    assert_eq!(
        vms.body.pointer("/value/0/tags"),
        Some(&json!({"team": "ml"}))
    );
    let filter = "$filter=tagName%20eq%20'team'%20and%20tagValue%20eq%20'ml'";
    let tagged = rig.get(&resources(filter)).await.expect(200);
    assert_eq!(tagged.items().len(), 2, "the VM and its disk");
    assert!(
        tagged.body.pointer("/value/0/tags").is_none(),
        "a filter by tag leaves tags out"
    );
    let filter = "$filter=name%20eq%20'net'%20or%20name%20eq%20'vm1'";
    assert_eq!(
        names(&rig.get(&resources(filter)).await.expect(200)),
        ["vm1", "net"]
    );
}

#[tokio::test]
async fn long_lists_come_in_pages() {
    let rig = Rig::with(|options| tensorform_emulator::Options {
        pages: tensorform_emulator::Pages {
            resources: 3,
            others: 2,
            ..tensorform_emulator::Pages::default()
        },
        ..options
    })
    .await;
    rig.group("rg").await;
    for at in 0..7 {
        let body = json!({"location": "eastus", "properties": {
            "creationData": {"createOption": "Empty"}, "diskSizeGB": 4,
        }});
        rig.put(&disk(&format!("d{at}")), body).await.expect(202);
    }
    for (start, length) in [(resources("x=1"), 3), (disk(""), 2)] {
        let start = start.replace("/?", "?");
        let mut reply = rig.get(&start).await.expect(200);
        let mut found = names(&reply);
        while !reply.text("/nextLink").is_empty() {
            assert_eq!(reply.items().len(), length);
            let next = reply.text("/nextLink").to_owned();
            assert!(next.contains("%24skiptoken="), "{next}");
            reply = rig.follow(&next).await.expect(200);
            found.extend(names(&reply));
        }
        assert_eq!(found, ["d0", "d1", "d2", "d3", "d4", "d5", "d6"]);
    }
    let top = rig.get(&resources("$top=2")).await.expect(200);
    assert_eq!(names(&top), ["d0", "d1"]);
}

#[tokio::test]
async fn tags_are_merged_replaced_and_deleted_at_any_scope() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let scopes = [
        id(&group("rg")),
        id(&vm("vm1")),
        id(&network("virtualNetworks/net")),
    ];
    for scope in scopes {
        let path =
            format!("{scope}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01");
        let patch = |operation: &str, tags: serde_json::Value| json!({"operation": operation, "properties": {"tags": tags}});
        let tags = |reply: Reply| reply.expect(200).body.pointer("/properties/tags").cloned();
        let body = patch("Replace", json!({"a": "1", "b": "2"}));
        let replaced = tags(rig.patch(&path, body).await);
        assert_eq!(replaced, Some(json!({"a": "1", "b": "2"})), "{scope}");
        let merged = tags(
            rig.patch(&path, patch("Merge", json!({"A": "3", "c": "4"})))
                .await,
        );
        assert_eq!(merged, Some(json!({"a": "3", "b": "2", "c": "4"})));
        let deleted = tags(
            rig.patch(&path, patch("Delete", json!({"b": "2", "c": "x"})))
                .await,
        );
        assert_eq!(deleted, Some(json!({"a": "3", "c": "4"})));
        let put = tags(
            rig.put(&path, json!({"properties": {"tags": {"only": "this"}}}))
                .await,
        );
        assert_eq!(put, Some(json!({"only": "this"})));
        assert_eq!(tags(rig.get(&path).await), Some(json!({"only": "this"})));
        rig.delete(&path).await.expect(200);
        assert_eq!(tags(rig.get(&path).await), Some(json!({})));
        let unknown = rig.patch(&path, patch("Drop", json!({}))).await;
        assert_eq!(unknown.expect(400).code(), "InvalidTagsOperation");
    }
    let gone = format!(
        "{}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01",
        id(&vm("gone"))
    );
    assert_eq!(rig.get(&gone).await.expect(404).code(), "ResourceNotFound");
}

#[tokio::test]
async fn tags_have_rules() {
    let rig = Rig::new().await;
    let many: serde_json::Map<String, serde_json::Value> =
        (0..51).map(|at| (format!("t{at}"), json!(""))).collect();
    for (tags, code) in [
        (json!(many), "TagLimitExceeded"),
        (json!({"a": "1", "A": "2"}), "DuplicateTagNames"),
        (json!({"a/b": "1"}), "InvalidTagNameCharacters"),
        (json!({"a": "x".repeat(257)}), "InvalidTagLength"),
    ] {
        let reply = rig
            .put(&group("rg"), json!({"location": "eastus", "tags": tags}))
            .await;
        assert_eq!(reply.expect(400).code(), code);
    }
    rig.put(
        &group("rg"),
        json!({"location": "eastus", "tags": {"a": "x".repeat(256)}}),
    )
    .await
    .expect(201);
}
