//! Each kind made, read, changed and deleted.

use model::{
    live::{Facts, ImageQuestion, Owner, Power, Question},
    plan::{Action, Event, Operation, Outcome},
    resource::{Properties, ResourceKind, Tags, tags},
    units::Region,
};
use tensorform_azure::answer;

use super::{
    rig::{Events, Rig},
    stack::{
        self, Wanted, change_machine, destruction, failures, is_done, node, plan, small, step,
    },
};

#[track_caller]
fn reached(outcome: &Outcome) {
    assert!(outcome.reached(), "{outcome:#?}");
}

async fn made(rig: &Rig, all: &[Wanted]) {
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, all)).await;
    reached(&outcome);
}

#[tokio::test]
async fn one_of_each_kind_is_made_and_the_next_plan_is_empty() {
    let rig = Rig::new().await;
    let all = small();
    made(&rig, &all).await;
    let live = rig.read().await;
    assert_eq!(live.unread, []);
    let steps = plan(&live, &all);
    let open: Vec<_> = steps.iter().filter(|step| step.action.writes()).collect();
    assert!(open.is_empty(), "{open:#?}");
    // Ownership is on the resources, children have their parents.
    for wanted in &all {
        let found = live
            .resources
            .iter()
            .find(|live| live.id == wanted.id)
            .expect("a resource");
        assert_eq!(found.address(), Some(&wanted.address));
        if wanted.resource.kind().takes_tags() {
            assert_eq!(found.tags.get(tags::RUN), Some("nonce-1"), "{}", found.id);
        }
    }
    let machine = &all[8].id;
    let children = live
        .resources
        .iter()
        .filter(|live| matches!(&live.owner, Owner::Child { of, .. } if of == machine));
    assert_eq!(children.count(), 2, "the NIC and the OS disk");
    let state = &live
        .resources
        .iter()
        .find(|live| live.id == *machine)
        .expect("a machine")
        .state;
    assert_eq!(state.power, Some(Power::Running));
}

#[tokio::test]
async fn everything_is_deleted_in_reverse_and_the_group_at_the_end() {
    let rig = Rig::new().await;
    let all = small();
    made(&rig, &all).await;
    let events = Events::default();
    let outcome = rig
        .apply_to("nonce-2", destruction(&rig.read().await, &all), &events)
        .await;
    reached(&outcome);
    assert!(rig.read().await.resources.is_empty());
    let mut deleted = Vec::new();
    for event in events.all() {
        if let Event::Write { target, .. } = event {
            deleted.extend(target.rsplit('/').next().map(ToOwned::to_owned));
        }
    }
    assert_eq!(deleted.last().map(String::as_str), Some("rg-demo"));
    let place = |name: &str| {
        deleted
            .iter()
            .position(|deleted| deleted == name)
            .expect(name)
    };
    assert!(place("demo-p-0") < place("nodes"));
    assert!(place("nodes") < place("demo-vnet"));
    assert!(place("demo-nat") < place("demo-nat-ip"));
}

#[tokio::test]
async fn a_foreign_resource_keeps_the_group() {
    let rig = Rig::new().await;
    let all = stack::network();
    made(&rig, &all).await;
    let mut theirs = stack::data_disk(9);
    theirs.needs.clear();
    reached(
        &rig.apply(
            "nonce-x",
            vec![step(&theirs, None, Action::Create, vec![Operation::Create])],
        )
        .await,
    );
    let outcome = rig
        .apply("nonce-2", destruction(&rig.read().await, &all))
        .await;
    let failed = failures(&outcome);
    let [(address, failure)] = failed.as_slice() else {
        panic!("one failure: {outcome:#?}");
    };
    let told = (address.to_string(), failure.code.as_str());
    assert_eq!(told, ("resource_group".to_owned(), "GroupNotEmpty"));
}

/// Makes the small stack, changes what is wanted of one resource, and applies the difference.
async fn changed(change: impl FnOnce(&mut Vec<Wanted>)) -> (Rig, Vec<Wanted>, Outcome) {
    let rig = Rig::new().await;
    let mut all = small();
    made(&rig, &all).await;
    change(&mut all);
    let steps = plan(&rig.read().await, &all);
    assert!(!is_done(&steps));
    let outcome = rig.apply("nonce-2", steps).await;
    (rig, all, outcome)
}

async fn converges(change: impl FnOnce(&mut Vec<Wanted>)) {
    let (rig, all, outcome) = changed(change).await;
    reached(&outcome);
    let steps = plan(&rig.read().await, &all);
    assert!(is_done(&steps), "{steps:#?}");
}

#[tokio::test]
async fn network_kinds_are_changed_in_place() {
    converges(|all| {
        for wanted in all {
            let properties = &mut wanted.resource.properties;
            if let Properties::VirtualNetwork(network) = properties {
                network.address_space.insert("10.50.0.0/16".to_owned());
            } else if let Properties::NetworkSecurityGroup(group) = properties {
                let mut rule = group.rules["ssh"].clone();
                rule.priority = 300;
                rule.ports = ["8080".to_owned(), "9090".to_owned()].into();
                group.rules.insert("web".to_owned(), rule);
            } else if let Properties::NatGateway(gateway) = properties {
                gateway.idle_timeout_minutes = 10;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_subnet_lets_go_of_its_gateway() {
    converges(|all| {
        for wanted in all {
            if let Properties::Subnet(subnet) = &mut wanted.resource.properties {
                subnet.nat_gateway = None;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_disk_is_attached_beside_the_first() {
    converges(|all| {
        let mut second = stack::data_disk(0);
        second.address = "pool.p[0].data_disk[1]".parse().expect("an address");
        second.id = stack::id_of(ResourceKind::Disk, "demo-p-0-data-1");
        let machine = all.last_mut().expect("a machine");
        machine.needs.push(second.address.clone());
        change_machine(machine, |machine| {
            let mut attachment = machine.data_disks[&0].clone();
            attachment.disk = second.id.clone();
            machine.data_disks.insert(1, attachment);
        });
        all.push(second);
    })
    .await;
}

#[tokio::test]
async fn a_stopped_machine_is_resized_and_its_disk_grows() {
    let rig = Rig::new().await;
    let mut all = small();
    made(&rig, &all).await;
    let machine = all.last_mut().expect("a machine");
    change_machine(machine, |machine| {
        machine.size = "Standard_D4s_v5".into();
        machine.os_disk.size_gb = 512;
    });
    let live = rig.read().await;
    let found = live.resources.iter().find(|live| live.id == machine.id);
    let attributes = vec!["os_disk.size_gb".to_owned(), "size".to_owned()];
    let operations = vec![
        Operation::Deallocate,
        Operation::Patch { attributes },
        Operation::Start,
    ];
    let step = step(machine, found, Action::StopUpdate, operations);
    reached(&rig.apply("nonce-2", vec![step]).await);
    let live = rig.read().await;
    let open = plan(&live, &all);
    assert!(is_done(&open), "{:#?}", open.last());
    let machine = live.resources.iter().find(|live| live.id == all[8].id);
    let machine = machine.expect("a machine");
    assert_eq!(machine.values()["os_disk.size_gb"], 512);
    assert_eq!(machine.state.power, Some(Power::Running));
}

/// A stopped machine leaves out its OS disk's kind and size, which are then read at the disk.
#[tokio::test]
async fn a_stopped_machine_is_read_whole_and_can_be_changed() {
    let rig = Rig::new().await;
    let mut all = small();
    made(&rig, &all).await;
    let live = rig.read().await;
    let found = live.resources.iter().find(|live| live.id == all[8].id);
    let stop = step(&all[8], found, Action::Update, vec![Operation::Deallocate]);
    reached(&rig.apply("nonce-2", vec![stop]).await);
    let live = rig.read().await;
    assert_eq!(live.unread, []);
    assert!(is_done(&plan(&live, &all)));
    change_machine(all.last_mut().expect("a machine"), |machine| {
        machine.size = "Standard_D4s_v5".into();
    });
    reached(&rig.apply("nonce-3", plan(&live, &all)).await);
    assert!(is_done(&plan(&rig.read().await, &all)));
}

#[tokio::test]
async fn tags_are_merged_and_removed() {
    let rig = Rig::new().await;
    let all = small();
    made(&rig, &all).await;
    for wanted in all
        .iter()
        .filter(|wanted| wanted.resource.kind().takes_tags())
    {
        let live = rig.read().await;
        let found = live
            .resources
            .iter()
            .find(|live| live.id == wanted.id)
            .expect("a resource");
        let mut set = Tags::default();
        set.set("owner", "ops");
        let merge = Operation::MergeTags {
            set,
            remove: vec!["team".to_owned()],
        };
        let step = step(wanted, Some(found), Action::Update, vec![merge]);
        reached(&rig.apply("nonce-2", vec![step]).await);
        let live = rig.read().await;
        let found = live
            .resources
            .iter()
            .find(|live| live.id == wanted.id)
            .expect("a resource");
        let tags = (
            found.tags.get("owner"),
            found.tags.get("team"),
            found.tags.get(tags::STACK),
        );
        assert_eq!(tags, (Some("ops"), None, Some("demo")), "{}", found.id);
    }
}

#[tokio::test]
async fn a_stale_plan_is_refused_before_any_write() {
    let rig = Rig::new().await;
    let mut all = small();
    made(&rig, &all).await;
    change_machine(all.last_mut().expect("a machine"), |machine| {
        machine.size = "Standard_D4s_v5".into();
    });
    let stale = plan(&rig.read().await, &all);
    let fresh = stale.clone();
    reached(&rig.apply("nonce-2", fresh).await);
    let outcome = rig.apply("nonce-3", stale).await;
    let text = format!("{outcome:?}");
    assert!(text.contains("ChangedSincePlan"), "{text}");
    assert!(
        text.contains("`size` was `Standard_D2s_v5` and is `Standard_D4s_v5`"),
        "{text}"
    );
    assert_eq!(outcome.writes, 0);
}

#[tokio::test]
async fn a_group_that_another_run_made_is_not_taken() {
    let rig = Rig::new().await;
    let all = stack::network();
    made(&rig, &all).await;
    let absent = step(&all[0], None, Action::Create, vec![Operation::Create]);
    let outcome = rig.apply("nonce-2", vec![absent]).await;
    assert!(format!("{outcome:?}").contains("AlreadyExists"));
    let machine = node(0);
    let create = || {
        vec![step(
            &machine,
            None,
            Action::Create,
            vec![Operation::Create],
        )]
    };
    reached(&rig.apply("nonce-3", create()).await);
    let outcome = rig.apply("nonce-4", create()).await;
    assert!(
        format!("{outcome:?}").contains("`pool.p[0].vm` of the stack `demo`"),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn the_planners_questions_have_answers() {
    let rig = Rig::new().await;
    let region = Region::new("eastus");
    let image = ImageQuestion {
        location: region.clone(),
        publisher: "microsoft-dsvm".to_owned(),
        offer: "ubuntu-2204".to_owned(),
        sku: "2204-gen2".to_owned(),
        version: None,
    };
    let nowhere = ImageQuestion {
        offer: "no-such-offer".to_owned(),
        ..image.clone()
    };
    let questions = [
        Question::Sizes(region.clone()),
        Question::ComputeQuota(region.clone()),
        Question::NetworkQuota(region.clone()),
        Question::Image(image.clone()),
        Question::Image(nowhere.clone()),
    ];
    let mut facts = Facts::default();
    answer(&rig.client, &questions, &mut facts)
        .await
        .expect("answers");
    let sizes = facts.sizes[&region].known().expect("sizes");
    assert!(sizes.contains_key(&"Standard_ND96isr_H100_v5".into()));
    let quota = facts.compute_quota[&region].known().expect("quota");
    assert!(quota.iter().any(|usage| usage.name == "cores"));
    assert!(
        facts.network_quota[&region]
            .known()
            .is_some_and(|quota| !quota.is_empty())
    );
    assert!(facts.images[&image].known().is_some_and(Option::is_some));
    assert_eq!(facts.images[&nowhere].known(), Some(&None));
}

#[tokio::test]
async fn what_the_sandbox_refuses_is_in_the_table_of_faults() {
    let (_, _, outcome) = changed(|all| {
        change_machine(all.last_mut().expect("a machine"), |machine| {
            machine.size = "Standard_Nonsense_v9".into();
        });
    })
    .await;
    let failed = failures(&outcome);
    let (_, failure) = failed.first().expect("a refusal");
    assert_ne!(failure.kind, "unknown", "{failure:?}");
}
