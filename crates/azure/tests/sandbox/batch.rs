//! An account and a pool of Batch made, read, changed and deleted; and nodes that do not come.

use std::collections::BTreeMap;

use model::{
    ids::ArmId,
    live::{Facts, LiveResource, Provisioning, Question},
    plan::{Action, Operation},
    resource::{
        BatchAccount, BatchNetwork, BatchPool, ImageReference, InstanceDataDisk, InstanceOsDisk,
        MarketplaceImage, Properties, Resource, ResourceKind, Security, Tags, VmPriority, tags,
    },
    spec::DiskType,
    units::Region,
};
use tensorform_azure::answer;

use super::{
    rig::Rig,
    stack::{Wanted, destruction, failures, id_of, is_done, network, plan, step, subnet_id},
};

fn wanted(address: &str, id: ArmId, properties: Properties, needs: &[&str]) -> Wanted {
    let parse = |text: &str| text.parse().expect("an address");
    let mut tags = Tags::default();
    tags.set("team", "ml");
    Wanted {
        address: parse(address),
        id,
        resource: Resource { tags, properties },
        needs: needs.iter().map(|need| parse(need)).collect(),
    }
}

fn account() -> Wanted {
    let properties = BatchAccount {
        location: Region::new("eastus"),
        allocation: "BatchService".into(),
        sign_in: ["AAD".to_owned()].into(),
        public_access: "Enabled".into(),
    };
    let id = id_of(ResourceKind::BatchAccount, "demo1a2b");
    wanted(
        "batch.account",
        id,
        Properties::BatchAccount(properties),
        &["resource_group"],
    )
}

fn pool(nodes: u32) -> Wanted {
    let disk = InstanceDataDisk {
        size_gb: 64,
        disk_type: DiskType::Premium,
        caching: "ReadOnly".into(),
    };
    let properties = BatchPool {
        location: Region::new("eastus"),
        size: "Standard_D4s_v5".into(),
        nodes,
        autoscale: None,
        priority: VmPriority::Regular,
        image: ImageReference::Marketplace(MarketplaceImage {
            publisher: "microsoft-dsvm".into(),
            offer: "ubuntu-hpc".into(),
            sku: "2204".into(),
            version: "22.04.2025010601".to_owned(),
        }),
        node_agent: "batch.node.ubuntu 22.04".into(),
        inter_node: true,
        task_slots: 2,
        containers: None,
        os_disk: InstanceOsDisk {
            size_gb: 128,
            disk_type: DiskType::Premium,
            ephemeral: None,
        },
        data_disks: BTreeMap::from([(0, disk)]),
        network: BatchNetwork {
            subnet: Some(subnet_id()),
            addresses: "NoPublicIPAddresses".into(),
            accelerated: true,
        },
        security: Security::Standard,
        identities: std::collections::BTreeSet::new(),
    };
    wanted(
        "pool.train.batch_pool",
        account().id.child("pools", "demo-train"),
        Properties::BatchPool(Box::new(properties)),
        &["batch.account", "network.subnet"],
    )
}

fn all(nodes: u32) -> Vec<Wanted> {
    let mut all = network();
    all.extend([account(), pool(nodes)]);
    all
}

async fn live_pool(rig: &Rig) -> LiveResource {
    let live = rig.read().await;
    let mut resources = live.resources.into_iter();
    resources
        .find(|live| live.id == pool(0).id)
        .expect("the pool")
}

#[tokio::test]
async fn a_pool_is_made_with_its_nodes_and_the_next_plan_is_empty() {
    let rig = Rig::new().await;
    let steps = plan(&rig.read().await, &all(2));
    let outcome = rig.apply("nonce-1", steps).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let live = rig.read().await;
    assert_eq!(live.unread, []);
    let steps = plan(&live, &all(2));
    assert!(is_done(&steps), "{steps:#?}");
    let found = live_pool(&rig).await;
    assert_eq!(found.state.nodes, Some(2), "apply waits for the nodes");
    assert_eq!(found.tags.get(tags::RUN), Some("nonce-1"));
    assert_eq!(found.address(), Some(&pool(2).address));
    // More nodes are one write, and waited for.
    let outcome = rig.apply("nonce-2", plan(&live, &all(5))).await;
    assert!(outcome.reached(), "{outcome:#?}");
    assert_eq!(outcome.writes, 1);
    let found = live_pool(&rig).await;
    assert_eq!(found.state.nodes, Some(5));
    assert_eq!(found.tags.get(tags::RUN), Some("nonce-1"), "tags stay");
    let outcome = rig
        .apply("nonce-3", destruction(&rig.read().await, &all(5)))
        .await;
    assert!(outcome.reached(), "{outcome:#?}");
    assert!(rig.read().await.resources.is_empty());
}

#[tokio::test]
async fn tags_of_a_pool_are_merged_and_its_nodes_left_alone() {
    let rig = Rig::new().await;
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all(1))).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let found = live_pool(&rig).await;
    let mut set = Tags::default();
    set.set("team", "speech");
    let merge = Operation::MergeTags {
        set,
        remove: vec!["gone".to_owned()],
    };
    let merge = step(&pool(1), Some(&found), Action::Update, vec![merge]);
    let outcome = rig.apply("nonce-2", vec![merge]).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let found = live_pool(&rig).await;
    assert_eq!(found.tags.get("team"), Some("speech"));
    assert_eq!(found.tags.get(tags::RUN), Some("nonce-1"));
    assert_eq!(found.state.nodes, Some(1));
}

#[tokio::test]
async fn a_pool_of_others_in_our_account_is_known() {
    let rig = Rig::new().await;
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all(0))).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let mut other = pool(0);
    other.id = account().id.child("pools", "theirs");
    let steps = plan(&rig.read().await, &[other.clone()]);
    let outcome = rig.apply("nonce-2", steps).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let mut set = Tags::default();
    set.set(tags::STACK, "another");
    let live = rig.read().await;
    let found = live.resources.iter().find(|live| live.id == other.id);
    let merge = Operation::MergeTags {
        set,
        remove: Vec::new(),
    };
    let merge = step(&other, found, Action::Update, vec![merge]);
    let outcome = rig.apply("nonce-3", vec![merge]).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let live = rig.read().await;
    let strangers = live.strangers.get(&account().id).expect("strangers");
    assert!(strangers.contains(&other.id));
}

const NO_CAPACITY: &str = "rules:\n  - name: no capacity\n    match: {method: PUT, name: demo-train}\n    then:\n      fail_in_operation: {code: AllocationFailed}\n";

#[tokio::test]
async fn nodes_that_do_not_come_fail_the_step_and_come_with_the_next() {
    let rig = Rig::faulty(NO_CAPACITY).await;
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all(2))).await;
    let failed = failures(&outcome);
    assert_eq!(failed.len(), 1, "{outcome:#?}");
    let (address, failure) = failed[0];
    assert_eq!(*address, pool(2).address);
    assert_eq!(
        (failure.code.as_str(), failure.kind.as_str()),
        ("AllocationFailed", "capacity")
    );
    assert!(
        failure.message.starts_with("0 of 2 nodes came"),
        "{}",
        failure.message
    );
    assert!(failure.left_behind, "the pool itself is there");
    let found = live_pool(&rig).await;
    assert_eq!(found.state.provisioning, Provisioning::Failed);
    assert_eq!(found.state.nodes, Some(0));
    let patch = Operation::Patch {
        attributes: vec!["nodes".to_owned()],
    };
    let again = step(&pool(2), Some(&found), Action::Repair, vec![patch]);
    let outcome = rig.apply("nonce-2", vec![again]).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let found = live_pool(&rig).await;
    assert_eq!(found.state.provisioning, Provisioning::Succeeded);
    assert_eq!(found.state.nodes, Some(2));
}

#[tokio::test]
async fn a_lost_race_is_a_refusal() {
    let rig = Rig::new().await;
    let steps = plan(&rig.read().await, &all(1));
    let outcome = rig.apply("nonce-1", steps.clone()).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let made = steps.last().expect("the pool's step").clone();
    let outcome = rig.apply("nonce-2", vec![made]).await;
    let failed = failures(&outcome);
    assert_eq!(failed[0].1.code, "AlreadyExists");
    assert!(
        failed[0]
            .1
            .message
            .contains("`pool.train.batch_pool` of the stack `demo`")
    );
}

#[tokio::test]
async fn what_batch_says_of_a_region_and_of_an_account_is_read() {
    let rig = Rig::new().await;
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all(0))).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let eastus = Region::new("eastus");
    let questions = [
        Question::BatchSizes(eastus.clone()),
        Question::BatchQuota(account().id),
        Question::BatchQuota(id_of(ResourceKind::BatchAccount, "absent")),
    ];
    let mut facts = Facts::default();
    answer(&rig.client, &questions, &mut facts)
        .await
        .expect("answers");
    let sizes = facts.batch_sizes[&eastus].known().expect("sizes");
    assert!(sizes.contains(&"Standard_D4s_v5".into()));
    let limits = facts.batch_quota[&account().id].known().expect("limits");
    let names: Vec<&str> = limits.iter().map(|limit| limit.name.as_str()).collect();
    assert!(
        names.starts_with(&["dedicatedCores", "lowPriorityCores", "pools"]),
        "{names:?}"
    );
    assert!(limits.iter().all(|limit| limit.used == 0));
}
