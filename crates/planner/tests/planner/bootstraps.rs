//! What nodes run when they start first: how plans record it, and what a change of it does.

use model::{
    diag::Code,
    live::{Live, Power, Readiness},
    plan::{Action, Operation, Plan, ReasonCode, Step},
    resource::{Resource, tags},
    spec::{
        Bootstrap, Checkpoint, CheckpointTarget, ContainerRuntime, Containers, Eviction, Mount,
        MountKind, OnBootstrapChange, Orchestrator, Pool, Priority, ScriptText, SizeChoice, Spec,
        Spot, Stage, Workload,
    },
    units::Span,
};
use tensorform_planner::{Planned, bootstrap};

use crate::{
    scale_sets::{fabric, set, step as set_step},
    support::{actions, applied, empty, good_plan, planned, pool, spec},
};

const OLD: &str = "#!/bin/sh\necho old\n";
const NEW: &str = "#!/bin/sh\necho new\n";

fn with_script(mut pool: Pool, text: &str, on_change: OnBootstrapChange) -> Spec {
    pool.bootstrap = Some(Bootstrap {
        script: "setup.sh".to_owned(),
        on_change,
        text: Some(ScriptText(text.to_owned())),
    });
    spec(pool)
}

fn codes(found: &Planned) -> Vec<Code> {
    let ours = [Code::Protected, Code::StopNotAllowed];
    let ours = |code: &Code| ours.contains(code) || code.as_str().starts_with("BOOT");
    let found = found.diagnostics.iter().map(|one| one.code);
    found.filter(ours).collect()
}

fn node() -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named("Standard_F4s_v2".into());
    pool.count = Some(1);
    pool
}

fn vm(plan: &Plan) -> &Step {
    let mut steps = plan.steps.iter();
    steps
        .find(|step| step.address.leaf() == "vm")
        .expect("a step for the node")
}

fn live_of(spec: &Spec) -> Live {
    applied(&good_plan(spec, &empty()), &empty())
}

#[test]
fn a_plan_has_the_digest_of_a_script_and_never_its_text() {
    let plan = good_plan(&with_script(node(), OLD, OnBootstrapChange::Warn), &empty());
    let after = vm(&plan).after.as_ref().expect("a node");
    let tag = after.tags.get(tags::BOOTSTRAP).expect("the tag");
    let recorded = &plan.bootstraps[tag];
    let script = recorded.script.as_ref().expect("the script");
    assert_eq!(script.digest, model::digest::of_text(OLD));
    let text = serde_json::to_string(&plan).expect("a document");
    assert!(!text.contains("echo old"), "{text}");
    let size = &plan.pools["train"].size;
    let data = bootstrap::custom_data(recorded, size, Some(OLD)).expect("what it runs");
    assert!(data.starts_with("#cloud-config\n") && data.contains("echo old"));
    assert_eq!(bootstrap::custom_data(recorded, size, Some(NEW)), None);
}

#[test]
fn nodes_that_run_nothing_carry_no_digest() {
    let plan = good_plan(&spec(node()), &empty());
    assert!(plan.bootstraps.is_empty());
    let after = vm(&plan).after.as_ref().expect("a node");
    assert_eq!(after.tags.get(tags::BOOTSTRAP), None);
    assert!(!after.virtual_machine().expect("a VM").reports_readiness);
}

#[test]
fn a_changed_script_is_said_in_every_plan_and_nothing_is_done() {
    let live = live_of(&with_script(node(), OLD, OnBootstrapChange::Warn));
    let changed = with_script(node(), NEW, OnBootstrapChange::Warn);
    for _ in 0..2 {
        let found = planned(&changed, &live);
        assert_eq!(codes(&found), [Code::BootstrapDiffers]);
        let plan = found.plan.expect("a plan");
        assert_eq!(actions(&plan), Vec::new());
        // The node keeps the digest of what it has run.
        let step = vm(&plan);
        let tags = |resource: &Option<Resource>| resource.clone().map(|one| one.tags);
        assert_eq!(tags(&step.after), tags(&step.before));
    }
    let back = with_script(node(), OLD, OnBootstrapChange::Warn);
    assert_eq!(codes(&planned(&back, &live)), Vec::new());
}

#[test]
fn a_script_that_comes_or_goes_is_said_too() {
    let check = |before: &Spec, after: &Spec, word: &str| {
        let found = planned(after, &live_of(before));
        let said: Vec<_> = found.diagnostics.iter().collect();
        assert!(
            said.iter().any(|one| one.message.contains(word)),
            "{said:?}"
        );
        assert_eq!(actions(&found.plan.expect("a plan")), Vec::new());
    };
    let script = with_script(node(), OLD, OnBootstrapChange::Replace);
    let none = spec(node());
    check(&script, &none, "the spec has none");
    let warned = with_script(node(), OLD, OnBootstrapChange::Warn);
    check(&none, &warned, "made without a bootstrap");
}

#[test]
fn a_changed_script_makes_nodes_anew_where_the_spec_says_so() {
    let live = live_of(&with_script(node(), OLD, OnBootstrapChange::Replace));
    let changed = with_script(node(), NEW, OnBootstrapChange::Replace);
    let plan = good_plan(&changed, &live);
    let step = vm(&plan);
    assert_eq!(
        (step.action, step.reason.code),
        (Action::Replace, ReasonCode::Bootstrap)
    );
    let after = applied(&plan, &live);
    assert_eq!(actions(&good_plan(&changed, &after)), Vec::new());
    // What is protected stays even so.
    let mut protected = changed.clone();
    protected.pools.get_mut("train").expect("the pool").protect = true;
    let found = planned(&protected, &live);
    assert!(
        codes(&found).contains(&Code::Protected),
        "{:?}",
        codes(&found)
    );
}

#[test]
fn a_changed_script_changes_the_profile_of_a_set_and_no_instance() {
    let live = live_of(&with_script(fabric(2), OLD, OnBootstrapChange::Replace));
    let changed = with_script(fabric(2), NEW, OnBootstrapChange::Replace);
    let found = planned(&changed, &live);
    assert!(codes(&found).contains(&Code::BootstrapOfNewNodes));
    let plan = good_plan(&changed, &live);
    let step = set_step(&plan);
    assert_eq!(step.action, Action::Update);
    // The profile before the tag: what is broken off between the two is done again.
    assert!(
        matches!(
            step.operations.as_slice(),
            [Operation::Patch { attributes }, Operation::MergeTags { .. }]
                if attributes.as_slice() == ["bootstrap"]
        ),
        "{:?}",
        step.operations
    );
    let after = applied(&plan, &live);
    assert_eq!(actions(&good_plan(&changed, &after)), Vec::new());
    assert!(set(&plan).reports_readiness);
}

#[test]
fn a_pool_of_batch_has_it_as_the_start_task_of_nodes_to_come() {
    let batch = |text| {
        let mut pool = node();
        pool.orchestrator = Orchestrator::Batch;
        pool.size = SizeChoice::Named("Standard_NC4as_T4_v3".into());
        // Batch runs these itself.
        pool.containers = Some(Containers {
            runtime: ContainerRuntime::Docker,
            images: vec!["ubuntu".to_owned()],
            registry: None,
            identity: None,
        });
        with_script(pool, text, OnBootstrapChange::Replace)
    };
    let plan = good_plan(&batch(OLD), &empty());
    let (tag, recorded) = plan.bootstraps.first_key_value().expect("a bootstrap");
    assert!(recorded.setup.start_task && recorded.setup.containers.is_none());
    let size = &plan.pools["train"].size;
    let given = bootstrap::custom_data(recorded, size, Some(OLD)).expect("what it runs");
    assert!(given.starts_with("#!/bin/bash\n") && given.contains("echo old"));
    let step = |plan: &Plan| {
        let mut steps = plan.steps.iter();
        let found = steps.find(|step| step.address.leaf() == "batch_pool");
        found.cloned().expect("a step for the pool")
    };
    let after = step(&plan).after.expect("a pool");
    assert_eq!(after.tags.get(tags::BOOTSTRAP), Some(tag.as_str()));

    let live = applied(&plan, &empty());
    assert!(codes(&planned(&batch(NEW), &live)).contains(&Code::BootstrapOfNewNodes));
    let changed = good_plan(&batch(NEW), &live);
    let step = step(&changed);
    assert_eq!(step.action, Action::Update);
    assert!(
        matches!(
            step.operations.as_slice(),
            [Operation::Patch { attributes }, Operation::MergeTags { .. }]
                if attributes.as_slice() == ["bootstrap"]
        ),
        "{:?}",
        step.operations
    );
    let after = applied(&changed, &live);
    assert_eq!(actions(&good_plan(&batch(NEW), &after)), Vec::new());
}

#[test]
fn training_on_spot_nodes_has_them_listen_for_the_notice() {
    let id = "/subscriptions/s/resourceGroups/r/providers/Microsoft.ManagedIdentity/userAssignedIdentities/jobs";
    let mut pool = pool(Stage::Training, Workload::Complex);
    pool.size = SizeChoice::Named("Standard_NC24ads_A100_v4".into());
    pool.count = Some(2);
    pool.priority = Priority::Spot(Spot {
        max_price: None,
        eviction: Eviction::Delete,
        fallback_to_regular: false,
    });
    pool.checkpoint = Some(Checkpoint {
        to: CheckpointTarget::Url("https://a.blob.core.windows.net/c".to_owned()),
        every: Some(Span::from_seconds(1800)),
        hook: "/data/save".to_owned(),
        identity: id.parse().ok(),
        protect: true,
    });
    let plan = good_plan(&spec(pool), &empty());
    let (_, recorded) = plan.bootstraps.first_key_value().expect("a bootstrap");
    let data = bootstrap::custom_data(recorded, &plan.pools["train"].size, None);
    let data = data.expect("what it runs");
    for part in [
        "tensorform-checkpoint.service",
        "CHECKPOINT_URL='https://a.blob.core.windows.net/c'",
        &format!("CHECKPOINT_IDENTITY='{id}'"),
        "CHECKPOINT_HOOK='/data/save'",
        "CHECKPOINT_EVERY='1800'",
    ] {
        assert!(data.contains(part), "{part}: {data}");
    }
}

#[test]
fn a_failed_bootstrap_is_tried_again_on_the_node() {
    let spec = with_script(node(), OLD, OnBootstrapChange::Warn);
    let mut live = live_of(&spec);
    for resource in &mut live.resources {
        if resource.state.power == Some(Power::Running) {
            resource.state.readiness = Some(Readiness::Failed("step `script` failed".to_owned()));
        }
    }
    let found = planned(&spec, &live);
    assert_eq!(codes(&found), [Code::NotReady]);
    let plan = found.plan.expect("a plan");
    let step = vm(&plan);
    assert_eq!(
        (step.action, step.reason.code),
        (Action::Repair, ReasonCode::NotReady)
    );
    let attributes = vec!["reports_readiness".to_owned()];
    assert_eq!(step.operations, [Operation::Patch { attributes }]);
}

#[test]
fn a_node_that_lost_its_report_gets_it_back() {
    let spec = with_script(node(), OLD, OnBootstrapChange::Warn);
    let mut live = live_of(&spec);
    for resource in &mut live.resources {
        if let Some(vm) = resource
            .resource
            .as_mut()
            .and_then(|one| one.virtual_machine_mut())
        {
            vm.reports_readiness = false;
        }
    }
    let plan = good_plan(&spec, &live);
    assert_eq!(vm(&plan).action, Action::Update);
    assert_eq!(
        actions(&good_plan(&spec, &applied(&plan, &live))),
        Vec::new()
    );
}

#[test]
fn what_is_longer_than_azure_takes_is_refused_with_how_much() {
    let long = format!("#!/bin/sh\n# {}\n", "x".repeat(70_000));
    let found = planned(
        &with_script(node(), &long, OnBootstrapChange::Warn),
        &empty(),
    );
    let said = found
        .diagnostics
        .iter()
        .find(|one| one.code == Code::BootstrapTooLong)
        .expect("a refusal");
    let numbers: Vec<usize> = said
        .message
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect();
    let [length, over, limit] = numbers.as_slice() else {
        panic!("three numbers: {}", said.message);
    };
    assert_eq!((length - over, *limit), (65_535, 65_535));
    assert!(*length > 70_000);
}

#[test]
fn local_disks_are_taken_where_the_size_has_them() {
    let check = |size: &str, expected: &[Code]| {
        let mut pool = node();
        pool.size = SizeChoice::Named(size.into());
        pool.disks.scratch_nvme = true;
        let found = planned(&spec(pool), &empty());
        let found: Vec<Code> = codes(&found)
            .into_iter()
            .filter(|code| code.as_str().starts_with("BOOT"))
            .collect();
        assert_eq!(found, expected, "{size}");
    };
    check("Standard_D4s_v5", &[Code::ScratchImpossible]);
    check("Standard_D4ds_v5", &[Code::ScratchImpossible]);
    check("Standard_D4ds_v6", &[]);
    check("Standard_NC24ads_A100_v4", &[]);
    check("Standard_NC40ads_H100_v5", &[Code::ScratchUnknown]);
}

#[test]
fn a_newer_count_of_local_disks_makes_no_node_an_old_one() {
    let mut pool = fabric(2);
    pool.disks.scratch_nvme = true;
    let plan = good_plan(&spec(pool), &empty());
    let (tag, recorded) = plan.bootstraps.first_key_value().expect("a bootstrap");
    let size = &plan.pools["train"].size;
    assert_eq!(recorded.sizes[size].local_disks, Some(8));
    assert_eq!(*tag, model::plan::Bootstrap::tag(&recorded.setup, None));
}

#[test]
fn stores_and_containers_are_part_of_what_nodes_have_run() {
    let asked = |image: &str| {
        let mut pool = node();
        pool.mounts = vec![Mount {
            path: "/mnt/my-data".to_owned(),
            source: "https://acct.blob.core.windows.net/data".to_owned(),
            kind: MountKind::BlobNfs,
        }];
        pool.containers = Some(Containers {
            runtime: ContainerRuntime::Docker,
            images: vec![image.to_owned()],
            registry: None,
            identity: None,
        });
        spec(pool)
    };
    let plan = good_plan(&asked("ubuntu:24.04"), &empty());
    let (_, recorded) = plan.bootstraps.first_key_value().expect("a bootstrap");
    let size = &plan.pools["train"].size;
    let data = bootstrap::custom_data(recorded, size, None).expect("what it runs");
    for part in [
        r"mnt-my\\x2ddata.mount",
        "What=acct.blob.core.windows.net:/acct/data",
        "CONTAINER_IMAGES='docker.io/library/ubuntu:24.04'",
    ] {
        assert!(data.contains(part), "{part}: {data}");
    }
    let live = applied(&plan, &empty());
    assert_eq!(codes(&planned(&asked("ubuntu:24.04"), &live)), Vec::new());
    let other = planned(&asked("ubuntu:22.04"), &live);
    assert_eq!(codes(&other), [Code::BootstrapDiffers]);
}
