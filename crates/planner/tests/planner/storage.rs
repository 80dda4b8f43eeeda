//! Disk controllers, and OS disks on the node.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Catalog,
    live::{Answer, Live, SizeFact},
    plan::{Action, CostKind, Operation, Plan},
    resource::{InstanceOsDisk, VirtualMachine},
    spec::{
        DiskController, EphemeralOs, EphemeralPlacement, Eviction, Grouping, Pool, Priority,
        SecurityChoice, SizeChoice, Spec, Spot, Stage, Workload,
    },
    units::{Region, SizeName},
};

use crate::{
    images::{errors, fact, with, world},
    support::{
        applied, codes, empty, good_plan, live_stack, options, planned, planned_with, pool, spec,
        vm,
    },
};

fn on(size: &str) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool
}

fn ephemeral(size: &str, wanted: EphemeralOs) -> Pool {
    let mut pool = on(size);
    pool.disks.os_ephemeral = wanted;
    pool
}

fn machine(plan: &Plan) -> VirtualMachine {
    let mut steps = plan.steps.iter();
    let vm = steps.find_map(|step| step.after.as_ref()?.virtual_machine().cloned());
    vm.expect("a VM")
}

fn placed(pool: Pool) -> Option<EphemeralPlacement> {
    machine(&good_plan(&spec(pool), &empty())).os_disk.ephemeral
}

/// A world in which Azure lists one size with these capabilities.
fn listed(size: &str, capabilities: &[(&str, &str)]) -> Live {
    let pairs = capabilities.iter();
    let fact = SizeFact {
        name: SizeName::from(size),
        family: "family".to_owned(),
        zones: BTreeSet::new(),
        restricted: None,
        restricted_zones: BTreeSet::new(),
        capabilities: pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    };
    let mut live = empty();
    let sizes = BTreeMap::from([(fact.name.clone(), fact)]);
    live.facts
        .sizes
        .insert(Region::new("eastus"), Answer::Known(sizes));
    live
}

#[test]
fn an_os_disk_on_the_node_stands_where_the_size_has_room() {
    use EphemeralPlacement::{CacheDisk, NvmeDisk, ResourceDisk};
    let check = |size: &str, wanted: EphemeralOs, size_gb: Option<u32>, expected| {
        let mut pool = ephemeral(size, wanted);
        pool.disks.os_size_gb = size_gb;
        assert_eq!(placed(pool), Some(expected), "{size}: {wanted:?}");
    };
    check("Standard_D8ds_v6", EphemeralOs::Auto, None, NvmeDisk);
    check("Standard_D16ds_v5", EphemeralOs::Auto, None, CacheDisk);
    // 400 GiB of cache, 600 on the temporary disk.
    check(
        "Standard_D16ds_v5",
        EphemeralOs::Auto,
        Some(500),
        ResourceDisk,
    );
    check(
        "Standard_D16ds_v5",
        EphemeralOs::At(ResourceDisk),
        None,
        ResourceDisk,
    );
    assert_eq!(placed(on("Standard_D8ds_v6")), None);
}

#[test]
fn a_size_of_version_6_has_no_cache_disk() {
    let message = errors(
        ephemeral(
            "Standard_D8ds_v6",
            EphemeralOs::At(EphemeralPlacement::CacheDisk),
        ),
        &empty(),
    );
    assert_eq!(
        message,
        "`Standard_D8ds_v6` has no cache disk for the OS disk, it takes `nvme_disk`"
    );
    let at_cache = EphemeralOs::At(EphemeralPlacement::CacheDisk);
    let planned = planned(&spec(ephemeral("Standard_D8ds_v6", at_cache)), &empty());
    let finding = planned.diagnostics.iter().next().expect("a finding");
    assert_eq!(finding.help[0], "`ephemeral: auto` would do");
}

#[test]
fn an_os_disk_on_the_node_must_fit_and_be_taken_at_all() {
    let check = |size: &str, size_gb: u32, security: SecurityChoice, expected: &str| {
        let mut pool = ephemeral(size, EphemeralOs::Auto);
        pool.disks.os_size_gb = Some(size_gb);
        pool.security = security;
        assert_eq!(errors(pool, &empty()), expected);
    };
    check(
        "Standard_D16ds_v5",
        601,
        SecurityChoice::Auto,
        "`Standard_D16ds_v5` has 400 GiB of cache disk and 600 GiB of temporary disk, the OS disk on the node needs 601 GiB",
    );
    // The state of the guest takes one.
    check(
        "Standard_D16ds_v5",
        600,
        SecurityChoice::TrustedLaunch,
        "`Standard_D16ds_v5` has 400 GiB of cache disk and 600 GiB of temporary disk, the OS disk on the node needs 601 GiB",
    );
    check(
        "Standard_D8s_v6",
        128,
        SecurityChoice::Auto,
        "`Standard_D8s_v6` takes no OS disk on the node",
    );
}

#[test]
fn the_disk_of_the_image_must_fit_too() {
    // 50 GiB of cache and 75 of temporary disk; the image needs more.
    let message = errors(ephemeral("Standard_D2ds_v5", EphemeralOs::Auto), &empty());
    assert!(
        message.contains("has 50 GiB of cache disk and 75 GiB of temporary disk"),
        "{message}"
    );
}

#[test]
fn a_size_that_is_chosen_has_room_for_the_os_disk() {
    let mut pool = pool(Stage::Inference, Workload::Small);
    let plain = good_plan(&spec(pool.clone()), &empty());
    pool.disks.os_ephemeral = EphemeralOs::Auto;
    let plan = good_plan(&spec(pool), &empty());
    let size = |plan: &Plan| plan.pools["train"].size.clone();
    assert_ne!(size(&plain), size(&plan));
    assert!(machine(&plan).os_disk.ephemeral.is_some());
    let rejected = plan.pools["train"].candidates.iter().any(|candidate| {
        let mut reasons = candidate.reasons.iter();
        reasons.any(|reason| reason.code == "ephemeral_os_disk")
    });
    assert!(rejected, "sizes without room say so");
}

#[test]
fn an_os_disk_on_the_node_costs_nothing() {
    let disks = |pool: Pool| {
        let plan = good_plan(&spec(pool), &empty());
        let lines = plan.cost.lines.iter();
        lines.filter(|line| line.kind == CostKind::Disk).count()
    };
    let mut set = ephemeral("Standard_D8ds_v6", EphemeralOs::Auto);
    set.grouping = Grouping::ScaleSet;
    assert_eq!(disks(set), 0);
    assert_eq!(disks(ephemeral("Standard_D8ds_v6", EphemeralOs::Auto)), 0);
    assert_eq!(disks(on("Standard_D8ds_v6")), 1);
}

#[test]
fn instances_have_their_os_disk_on_the_node_and_stay() {
    let mut pool = ephemeral("Standard_D8ds_v6", EphemeralOs::Auto);
    pool.grouping = Grouping::ScaleSet;
    pool.count = Some(3);
    let spec = spec(pool);
    let live = live_stack(&spec);
    let plan = good_plan(&spec, &live);
    assert!(!plan.has_changes);
    let set = plan
        .steps
        .iter()
        .find_map(|step| step.after.as_ref()?.scale_set());
    let set = set.expect("a set");
    let InstanceOsDisk { ephemeral, .. } = set.os_disk;
    assert_eq!(
        (ephemeral, set.disk_controller),
        (
            Some(EphemeralPlacement::NvmeDisk),
            Some(DiskController::Nvme)
        )
    );
}

#[test]
fn what_azure_says_of_a_size_goes_first() {
    let size = "Standard_ND96isr_H100_v5";
    let told = [
        ("EphemeralOSDiskSupported", "True"),
        (
            "SupportedEphemeralOSDiskPlacements",
            "ResourceDisk,CacheDisk",
        ),
        ("CachedDiskBytes", "107374182400"),
        ("MaxResourceVolumeMB", "1048576"),
        ("DiskControllerTypes", "SCSI, NVMe"),
    ];
    let planned_as = |pool: Pool| machine(&good_plan(&spec(pool), &listed(size, &told)));
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool.disks.os_ephemeral = EphemeralOs::Auto;
    let chosen = planned_as(pool.clone());
    // 100 GiB of cache are too few for the image.
    assert_eq!(
        (chosen.os_disk.ephemeral, chosen.disk_controller),
        (Some(EphemeralPlacement::ResourceDisk), None)
    );
    pool.disk_controller = Some(DiskController::Nvme);
    assert_eq!(
        planned_as(pool.clone()).disk_controller,
        Some(DiskController::Nvme)
    );
    let live = listed(size, &[("EphemeralOSDiskSupported", "False")]);
    let message = errors(pool, &live);
    assert!(
        message.contains("takes no OS disk on the node"),
        "{message}"
    );
}

#[test]
fn a_change_that_needs_a_stop_makes_a_node_with_its_os_disk_on_it_anew() {
    let spot = |price: i64| {
        let mut pool = ephemeral("Standard_D8ds_v6", EphemeralOs::Auto);
        pool.priority = Priority::Spot(Spot {
            max_price: Some(price.into()),
            eviction: Eviction::Delete,
            fallback_to_regular: false,
        });
        spec(pool)
    };
    let live = live_stack(&spot(2));
    let refused = planned(&spot(3), &live);
    assert!(codes(&refused.diagnostics).contains(&"CHANGE001"));
    let mut options = options();
    options.permissions.allow_stop = true;
    let planned = planned_with(&spot(3), Catalog::embedded(), &live, &options);
    assert!(codes(&planned.diagnostics).contains(&"CHANGE007"));
    assert!(!planned.diagnostics.has_errors());
    let plan = planned.plan.expect("a plan");
    let step = plan.changes().next().expect("a change");
    assert_eq!(step.action, Action::Replace);
    assert_eq!(step.operations, [Operation::Delete, Operation::Create]);
    // Nor is a resize done in place: it would begin with an empty disk.
    let of = |size: &str| spec(ephemeral(size, EphemeralOs::Auto));
    let live = live_stack(&of("Standard_D8ds_v6"));
    let planned = planned_with(
        &of("Standard_D16ds_v6"),
        Catalog::embedded(),
        &live,
        &options,
    );
    let plan = planned.plan.expect("a plan");
    let step = plan.changes().next().expect("a change");
    assert_eq!(step.action, Action::Replace);
}

#[test]
fn turning_it_on_or_off_makes_the_node_anew() {
    let managed = spec(on("Standard_D8ds_v6"));
    let on_node = spec(ephemeral("Standard_D8ds_v6", EphemeralOs::Auto));
    for (from, to) in [(&managed, &on_node), (&on_node, &managed)] {
        let planned = planned(to, &live_stack(from));
        let messages: Vec<&str> = planned
            .diagnostics
            .iter()
            .filter(|finding| finding.code.as_str() == "CHANGE001")
            .map(|finding| finding.message.as_str())
            .collect();
        let [message] = messages.as_slice() else {
            panic!("one refusal: {:?}", planned.diagnostics);
        };
        assert!(message.contains("os_disk.ephemeral"), "{message}");
    }
}

#[test]
fn a_size_with_nvme_alone_gets_nvme_and_the_others_what_azure_takes() {
    let controller = |size: &str| machine(&good_plan(&spec(on(size)), &empty())).disk_controller;
    assert_eq!(controller("Standard_D8s_v6"), Some(DiskController::Nvme));
    assert_eq!(controller("Standard_D8s_v5"), None);
    assert_eq!(controller("Standard_E8bds_v5"), None);
}

#[test]
fn a_controller_that_is_asked_for_is_one_that_the_size_has() {
    let check = |size: &str, wanted: DiskController, refusal: Option<&str>| {
        let mut pool = on(size);
        pool.disk_controller = Some(wanted);
        match refusal {
            Some(expected) => assert_eq!(errors(pool, &empty()), expected),
            None => assert_eq!(
                machine(&good_plan(&spec(pool), &empty())).disk_controller,
                Some(wanted)
            ),
        }
    };
    check("Standard_E8bds_v5", DiskController::Nvme, None);
    check("Standard_E8bds_v5", DiskController::Scsi, None);
    check(
        "Standard_D8s_v5",
        DiskController::Nvme,
        Some("`Standard_D8s_v5` has no NVMe disk controller, it has SCSI"),
    );
    check(
        "Standard_D8s_v6",
        DiskController::Scsi,
        Some("`Standard_D8s_v6` has no SCSI disk controller, it has NVMe"),
    );
}

#[test]
fn a_size_with_nvme_alone_needs_an_image_that_drives_it() {
    let urn = "shop:linux:9:latest";
    let refusal = |features: &[(&str, &str)], size: &str, wanted: Option<DiskController>| {
        let mut pool = with(size, urn);
        pool.disk_controller = wanted;
        errors(pool, &world(&[(urn, Some(fact(2, "x64", features)))]))
    };
    let message = refusal(&[("DiskControllerTypes", "SCSI")], "Standard_D4s_v6", None);
    assert!(
        message.contains("has drivers for the disk controllers SCSI, the size has NVMe"),
        "{message}"
    );
    let message = refusal(
        &[("DiskControllerTypes", "SCSI")],
        "Standard_E8bds_v5",
        Some(DiskController::Nvme),
    );
    assert!(message.contains("the spec asks for NVMe"), "{message}");
}

#[test]
fn a_resize_takes_the_disk_controller_along() {
    let check = |from: &str, to: &str, told: DiskController, expected: DiskController| {
        let mut live = live_stack(&spec(on(from)));
        let resource = vm(&mut live, 0).resource.as_mut().expect("a VM");
        resource
            .virtual_machine_mut()
            .expect("a VM")
            .disk_controller = Some(told);
        // Nothing changes for what Azure says by itself.
        assert!(!good_plan(&spec(on(from)), &live).has_changes);
        let mut options = options();
        options.permissions.allow_stop = true;
        let to = spec(on(to));
        let planned = planned_with(&to, Catalog::embedded(), &live, &options);
        let plan = planned.plan.expect("a plan");
        let step = plan.changes().next().expect("a change");
        let patch = Operation::Patch {
            attributes: vec!["disk_controller".to_owned(), "size".to_owned()],
        };
        assert_eq!(
            (step.action, step.operations.as_slice()),
            (
                Action::StopUpdate,
                [Operation::Deallocate, patch, Operation::Start].as_slice()
            )
        );
        assert_eq!(machine(&plan).disk_controller, Some(expected));
        let live = applied(&plan, &live);
        assert!(!good_plan(&to, &live).has_changes);
    };
    let (scsi, nvme) = (DiskController::Scsi, DiskController::Nvme);
    check("Standard_D8s_v5", "Standard_D8s_v6", scsi, nvme);
    check("Standard_D8s_v6", "Standard_D8s_v5", nvme, scsi);
}

#[test]
fn a_controller_that_auto_left_to_azure_stays() {
    let spec: Spec = spec(on("Standard_E8bds_v5"));
    let mut live = live_stack(&spec);
    let resource = vm(&mut live, 0).resource.as_mut().expect("a VM");
    let machine = resource.virtual_machine_mut().expect("a VM");
    machine.disk_controller = Some(DiskController::Nvme);
    assert!(!good_plan(&spec, &live).has_changes);
}

#[test]
fn another_way_of_a_pool_has_the_controller_of_its_size() {
    let ways = |first: &str, second: &str| -> Vec<Option<DiskController>> {
        let mut pool = on(first);
        pool.fallback = vec![SizeName::from(second)];
        pool.zones = model::spec::Zones::None;
        let plan = good_plan(&spec(pool), &empty());
        let step = plan.steps.iter().find(|step| step.address.leaf() == "vm");
        let step = step.expect("a VM");
        let other = step.alternate(0).expect("another way");
        [step.after.clone().expect("a VM"), other]
            .map(|resource| resource.virtual_machine().expect("a VM").disk_controller)
            .into()
    };
    let nvme = Some(DiskController::Nvme);
    assert_eq!(ways("Standard_D8s_v5", "Standard_D8s_v6"), [None, nvme]);
    assert_eq!(ways("Standard_D8s_v6", "Standard_D8s_v5"), [nvme, None]);
}
