//! One attribute changed, the right action.

use model::{
    diag::Severity,
    ids::ArmId,
    live::{LiveResource, Owner, State},
    plan::{Action, Operation},
    resource::{DataDiskAttachment, Properties, Resource, ResourceKind, Tags},
    spec::{DataDisk, DiskType, Network, Outbound, SizeChoice, Spec, Stage, Workload},
    units::{CaseInsensitive, Region, SizeName},
};

use crate::support::{
    actions, codes, empty, good_plan, live_stack, options, planned, planned_with, pool, spec, vm,
};

fn small() -> Spec {
    spec(pool(Stage::Training, Workload::Small))
}

fn with_size(size: &str) -> Spec {
    let mut spec = small();
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.size = SizeChoice::Named(SizeName::from(size));
    }
    spec
}

#[test]
fn a_live_stack_equal_to_its_spec_has_nothing_to_do() {
    let plan = good_plan(&small(), &live_stack(&small()));
    assert!(!plan.has_changes);
    assert_eq!(plan.counts[&Action::NoOp], 8);
    assert_eq!(plan.cost.before, plan.cost.after);
}

#[test]
fn a_tag_is_merged() {
    let live = live_stack(&small());
    let mut spec = small();
    spec.tags
        .insert(CaseInsensitive::from("Team"), "ml".to_owned());
    let plan = good_plan(&spec, &live);
    assert!(plan.changes().all(|step| step.action == Action::Update));
    assert_eq!(plan.changes().count(), 7, "the subnet has no tags");
    let mut set = Tags::default();
    set.set("Team", "ml");
    for step in plan.changes() {
        assert_eq!(
            step.operations,
            [Operation::MergeTags {
                set: set.clone(),
                remove: Vec::new()
            }],
            "{}",
            step.address
        );
    }
}

#[test]
fn tags_of_others_are_kept_and_the_case_of_names_does_not_matter() {
    let mut spec = small();
    spec.tags
        .insert(CaseInsensitive::from("Team"), "ml".to_owned());
    let mut live = live_stack(&spec);
    for resource in &mut live.resources {
        if let Some(resource) = &mut resource.resource
            && resource.kind().takes_tags()
        {
            resource.tags.set("team", "ml");
            resource.tags.set("createdBy", "policy");
        }
    }
    assert_eq!(actions(&good_plan(&spec, &live)), []);
}

#[test]
fn a_resize_inside_the_family_restarts_and_another_needs_permission_to_stop() {
    let live = live_stack(&with_size("Standard_E8as_v5"));
    let plan = good_plan(&with_size("Standard_E16as_v5"), &live);
    assert_eq!(
        actions(&plan),
        [("pool.train[0].vm".to_owned(), Action::RestartUpdate)]
    );
    let step = plan.changes().next().expect("a change");
    assert_eq!(
        step.operations,
        [Operation::Patch {
            attributes: vec!["size".to_owned()]
        }]
    );

    let other = with_size("Standard_E16as_v6");
    let refused = planned(&other, &live);
    assert!(codes(&refused.diagnostics).contains(&"CHANGE001"));
    let mut options = options();
    options.permissions.allow_stop = true;
    let planned = planned_with(&other, model::catalog::Catalog::embedded(), &live, &options);
    let plan = planned.plan.expect("a plan");
    let step = plan.changes().next().expect("a change");
    assert_eq!(step.action, Action::StopUpdate);
    let patch = Operation::Patch {
        attributes: vec!["disk_controller".to_owned(), "size".to_owned()],
    };
    assert_eq!(
        step.operations,
        [Operation::Deallocate, patch, Operation::Start]
    );
}

#[test]
fn a_smaller_pool_loses_its_last_nodes_and_a_larger_one_gains_some() {
    let count = |count: u32| {
        let mut spec = small();
        if let Some(pool) = spec.pools.get_mut("train") {
            pool.count = Some(count);
        }
        spec
    };
    let live = live_stack(&count(3));
    let deleted = ("pool.train[2].vm".to_owned(), Action::Delete);
    assert_eq!(actions(&good_plan(&count(2), &live)), [deleted]);
    let created = ("pool.train[3].vm".to_owned(), Action::Create);
    assert_eq!(actions(&good_plan(&count(4), &live)), [created]);
}

#[test]
fn without_nat_the_subnet_lets_go_before_the_gateway_goes() {
    let live = live_stack(&small());
    let mut spec = small();
    if let Network::Own { outbound, .. } = &mut spec.network {
        *outbound = Outbound::None;
    }
    let plan = good_plan(&spec, &live);
    let expected = [
        ("network.subnet".to_owned(), Action::Update),
        ("network.nat".to_owned(), Action::Delete),
        ("network.nat_ip".to_owned(), Action::Delete),
    ];
    assert_eq!(actions(&plan), expected);
    let mut walk =
        model::plan::Walk::new(&plan.steps, model::plan::WalkLimits::default()).expect("no cycle");
    let mut order = Vec::new();
    while !walk.is_over() {
        for index in walk.ready() {
            order.push(plan.steps[index].address.to_string());
            walk.finished(index, Ok(()));
        }
    }
    assert_eq!(order, ["network.subnet", "network.nat", "network.nat_ip"]);
}

#[test]
fn data_disks_are_attached_by_lun_and_never_made_anew() {
    let disks = |size_gb: u32| {
        let mut spec = small();
        if let Some(pool) = spec.pools.get_mut("train") {
            pool.disks.data = vec![DataDisk {
                size_gb,
                disk_type: DiskType::Premium,
                lun: 3,
            }];
        }
        spec
    };
    let plan = good_plan(&disks(1024), &live_stack(&small()));
    let expected = [
        ("pool.train[0].data_disk[3]".to_owned(), Action::Create),
        ("pool.train[0].vm".to_owned(), Action::Update),
    ];
    assert_eq!(actions(&plan), expected);
}

#[test]
fn a_data_disk_grows_where_it_is_and_never_becomes_smaller() {
    let disks = |size_gb: u32| {
        let mut spec = small();
        if let Some(pool) = spec.pools.get_mut("train") {
            pool.disks.data = vec![DataDisk {
                size_gb,
                disk_type: DiskType::Premium,
                lun: 3,
            }];
        }
        spec
    };
    for (before, after) in [(1024, 2048), (2048, 4095), (5000, 8000)] {
        let plan = good_plan(&disks(after), &live_stack(&disks(before)));
        let disk = "pool.train[0].data_disk[3]".to_owned();
        assert_eq!(actions(&plan), [(disk, Action::Update)]);
        let step = plan.changes().next().expect("a change");
        let attributes = vec!["size_gb".to_owned()];
        assert_eq!(step.operations, [Operation::Patch { attributes }]);
    }
    for (before, after, why) in [
        (2048, 1024, "never becomes smaller"),
        (4095, 4096, "attached to nothing"),
    ] {
        let refused = planned(&disks(after), &live_stack(&disks(before)));
        let finding = refused.diagnostics.iter();
        let finding = finding.filter(|finding| finding.code.as_str() == "CHANGE002");
        let messages: Vec<&str> = finding.map(|finding| finding.message.as_str()).collect();
        assert!(
            matches!(messages[..], [message] if message.contains(why)),
            "{messages:?}"
        );
    }
}

#[test]
fn a_data_disk_of_others_stays_attached_and_is_named() {
    let mut live = live_stack(&small());
    let id = "/subscriptions/s/resourceGroups/rg-lab/providers/Microsoft.Compute/disks/scratch";
    let attached = DataDiskAttachment {
        disk: id.parse().expect("an id"),
        caching: "None".into(),
        delete_with_vm: false,
    };
    let machine = vm(&mut live, 0).resource.as_mut();
    let machine = machine.and_then(Resource::virtual_machine_mut);
    machine.expect("a VM").data_disks.insert(5, attached);
    let planned = planned(&small(), &live);
    let finding = planned.diagnostics.iter();
    let finding = finding.filter(|finding| finding.code.as_str() == "OWN008");
    let messages: Vec<&str> = finding.map(|finding| finding.message.as_str()).collect();
    assert!(
        matches!(messages[..], [message] if message.contains("`scratch`") && message.ends_with("lun 5")),
        "{messages:?}"
    );
    assert_eq!(actions(&planned.plan.expect("a plan")), []);
}

#[test]
fn what_is_made_anew_has_what_would_be_refused_on_what_exists() {
    let live = live_stack(&small());
    let mut spec = small();
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.disks.os_size_gb = Some(512);
    }
    let refused = planned(&spec, &live);
    let finding = refused.diagnostics.iter();
    let mut finding = finding.filter(|finding| finding.code.as_str() == "CHANGE002");
    let helps = finding.next().expect("a refusal").help.join("; ");
    assert!(helps.contains("--replace pool.train[0].vm"), "{helps}");
    assert!(helps.contains("the tool does not"), "{helps}");
    // By wish, and for the sake of something else.
    let mut options = options();
    options.permissions.replace = vec!["pool.train[0]".parse().expect("an address")];
    let mut moved = spec.clone();
    "operator".clone_into(&mut moved.access.user);
    if let Some(pool) = moved.pools.get_mut("train") {
        pool.allow_stop = true;
    }
    for planned in [
        planned_with(&spec, model::catalog::Catalog::embedded(), &live, &options),
        planned(&moved, &live),
    ] {
        assert!(!codes(&planned.diagnostics).contains(&"CHANGE002"));
        let plan = planned.plan.expect("a plan");
        let step = plan.changes().next().expect("a change");
        assert_eq!(step.action, Action::Replace);
        let mut attributes = step.reason.attributes.iter();
        assert!(attributes.any(|one| one.path == "os_disk.size_gb" && one.after == 512));
    }
}

#[test]
fn a_changed_admin_name_replaces_only_with_permission() {
    let live = live_stack(&small());
    let mut spec = small();
    "operator".clone_into(&mut spec.access.user);
    assert!(codes(&planned(&spec, &live).diagnostics).contains(&"CHANGE001"));
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.allow_stop = true;
    }
    let plan = good_plan(&spec, &live);
    let step = plan.changes().next().expect("a change");
    assert_eq!(
        (step.action, step.operations.as_slice()),
        (Action::Replace, &[Operation::Delete, Operation::Create][..])
    );
    assert_eq!(
        step.reason
            .attributes
            .first()
            .map(|change| change.path.as_str()),
        Some("admin_user")
    );
}

#[test]
fn a_protected_node_is_neither_replaced_nor_deleted() {
    let mut spec = small();
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.protect = true;
        pool.count = Some(2);
    }
    let live = live_stack(&spec);
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.count = Some(1);
    }
    let shrunk = planned(&spec, &live);
    assert!(codes(&shrunk.diagnostics).contains(&"CHANGE004"));
    assert_eq!(actions(&shrunk.plan.expect("a plan")), []);

    let mut options = options();
    options.destroy = true;
    let destroyed = planned_with(&spec, model::catalog::Catalog::embedded(), &live, &options);
    let kept = destroyed
        .diagnostics
        .iter()
        .filter(|finding| finding.code.as_str() == "CHANGE004");
    let severities: Vec<Severity> = kept.map(|finding| finding.severity).collect();
    assert_eq!(severities, [Severity::Warning, Severity::Warning]);
    let plan = destroyed.plan.expect("a plan");
    assert_eq!(actions(&plan), [], "what nodes need stays");
    assert_eq!(
        plan.cost.after, plan.cost.before,
        "what stays goes on costing"
    );
}

#[test]
fn destroy_runs_the_order_of_creation_backwards() {
    let spec = small();
    let live = live_stack(&spec);
    let mut options = options();
    options.destroy = true;
    let plan = planned_with(&spec, model::catalog::Catalog::embedded(), &live, &options)
        .plan
        .expect("a plan");
    assert_eq!(plan.breaches(), Vec::<String>::new());
    assert_eq!(plan.counts[&Action::Delete], 8);
    let position = |address: &str| {
        plan.steps
            .iter()
            .position(|step| step.address.to_string() == address)
    };
    assert!(position("pool.train[0].vm") < position("network.subnet"));
    assert!(position("network.subnet") < position("network.nat"));
    assert_eq!(position("resource_group"), Some(7));
    assert_eq!(plan.cost.after, model::plan::Total::default());
}

#[test]
fn a_group_with_something_foreign_stays() {
    let spec = small();
    let mut live = live_stack(&spec);
    live.resources.push(foreign("/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/RG-demo/providers/Microsoft.Compute/virtualMachines/jumpbox"));
    let mut options = options();
    options.destroy = true;
    let planned = planned_with(&spec, model::catalog::Catalog::embedded(), &live, &options);
    assert!(codes(&planned.diagnostics).contains(&"OWN004"));
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.counts[&Action::Delete], 7);
    assert!(
        plan.steps
            .iter()
            .all(|step| step.kind != ResourceKind::ResourceGroup)
    );
}

fn foreign(id: &str) -> LiveResource {
    let id: ArmId = id.parse().expect("an id");
    LiveResource {
        arm_type: id.resource_type(),
        id,
        owner: Owner::Foreign,
        tags: Tags::default(),
        resource: None,
        state: State::default(),
    }
}

#[test]
fn a_foreign_resource_under_our_name_is_refused_by_name() {
    let mut live = empty();
    live.resources.push(foreign("/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg-demo/providers/Microsoft.Compute/virtualMachines/DEMO-train-0"));
    let planned = planned(&small(), &live);
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "OWN001")
        .expect("a refusal");
    assert!(finding.message.contains("DEMO-train-0"), "{finding:?}");
}

#[test]
fn a_stack_does_not_move() {
    let live = live_stack(&small());
    let mut elsewhere = small();
    elsewhere.locations = vec![Region::new("westus2")];
    assert!(codes(&planned(&elsewhere, &live).diagnostics).contains(&"OWN002"));
    let mut renamed = small();
    "rg-other".clone_into(&mut renamed.resource_group);
    let planned = planned(&renamed, &live);
    assert!(codes(&planned.diagnostics).contains(&"OWN002"));
    assert_eq!(
        planned.plan.map(|plan| plan.counts[&Action::Create]),
        Some(0)
    );
}

#[test]
fn ids_sizes_and_enums_compare_without_case() {
    let spec = small();
    let mut live = live_stack(&spec);
    for resource in &mut live.resources {
        resource.id = resource.id.as_str().to_uppercase().parse().expect("an id");
        if let Owner::Child { of, .. } = &mut resource.owner {
            *of = of.as_str().to_uppercase().parse().expect("an id");
        }
    }
    if let Some(Properties::VirtualMachine(vm)) = vm(&mut live, 0)
        .resource
        .as_mut()
        .map(|resource| &mut resource.properties)
    {
        vm.size = SizeName::new(vm.size.key());
        let image = vm.image.marketplace_mut().expect("a marketplace image");
        image.publisher = CaseInsensitive::from("MICROSOFT-DSVM");
    }
    assert_eq!(actions(&good_plan(&spec, &live)), []);
}
