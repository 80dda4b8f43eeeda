//! Each `auto`: what was decided, and the code of the reason.

use std::collections::BTreeMap;

use model::{
    catalog::Catalog,
    plan::{AutoChoice, PoolMemo},
    spec::{DiskController, EphemeralOs, Pool, SecurityChoice, SizeChoice, Stage, Workload},
    units::SizeName,
};
use tensorform_planner::{Input, memos};

use crate::{
    images::{fact, with, world},
    support::{empty, live_stack, options, planned_with, pool, spec},
};

fn memo(pool: Pool, live: &model::live::Live) -> PoolMemo {
    let options = options();
    let spec = spec(pool);
    let catalog = Catalog::embedded();
    let planned = planned_with(&spec, catalog, live, &options);
    let plan = planned.plan.expect("a plan");
    let input = Input {
        spec: &spec,
        catalog,
        live,
        options: &options,
    };
    memos(input, plan).remove("train").expect("a memo")
}

fn on(size: &str) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool
}

/// Keys with what was decided and the code of the reason.
fn decided(choices: &[AutoChoice]) -> BTreeMap<&str, (&str, &str)> {
    let choices = choices.iter();
    choices
        .map(|choice| {
            assert!(!choice.why.is_empty(), "{choice:?}");
            (
                choice.key.as_str(),
                (choice.value.as_str(), choice.code.as_str()),
            )
        })
        .collect()
}

#[test]
fn every_auto_is_explained_by_what_size_and_image_allow() {
    let check = |pool: Pool, key: &str, value: &str, code: &str| {
        let memo = memo(pool, &empty());
        let decided = decided(&memo.choices);
        assert_eq!(decided.get(key), Some(&(value, code)), "{decided:?}");
    };
    let v6 = || on("Standard_D8s_v6");
    let v5 = || on("Standard_D16ds_v5");
    check(v6(), "disk_controller", "NVMe", "controller_only_one");
    check(
        v5(),
        "disk_controller",
        "left to Azure",
        "controller_only_one",
    );
    check(
        on("Standard_E8bds_v5"),
        "disk_controller",
        "left to Azure",
        "controller_scsi_first",
    );
    check(
        on("Standard_NC40ads_H100_v5"),
        "disk_controller",
        "left to Azure",
        "controller_unknown",
    );
    check(
        v6(),
        "accelerated_networking",
        "true",
        "accelerated_size_has",
    );
    check(v6(), "security", "standard", "security_not_demanded");
    check(
        on("Standard_M32ms_v2"),
        "security",
        "standard",
        "security_size_lacks",
    );
    let mut fits = v5();
    fits.disks.os_ephemeral = EphemeralOs::Auto;
    check(fits, "disks.os.ephemeral", "cache_disk", "ephemeral_fits");
    let mut unknown = on("Standard_NC24ads_A100_v4");
    unknown.disks.os_ephemeral = EphemeralOs::Auto;
    check(
        unknown,
        "disks.os.ephemeral",
        "cache_disk",
        "ephemeral_room_unknown",
    );
    let dsvm = "microsoft-dsvm:ubuntu-2204:2204-gen2:99.1.1";
    check(v6(), "image", dsvm, "image_dsvm");
}

#[test]
fn the_image_for_hpc_is_explained_where_it_comes_instead() {
    let mut hpc = pool(Stage::Training, Workload::Generative);
    hpc.size = SizeChoice::Named(SizeName::from("Standard_ND96isr_H100_v5"));
    let hpc = memo(hpc, &empty());
    let decided = decided(&hpc.choices);
    assert_eq!(decided["image"].1, "image_hpc_instead");
    assert_eq!(
        decided.get("disk_controller"),
        Some(&("left to Azure", "controller_unknown"))
    );
}

#[test]
fn secure_boot_is_explained_wherever_trusted_launch_is() {
    let mut gpu = on("Standard_NC24ads_A100_v4");
    gpu.security = SecurityChoice::TrustedLaunch;
    let memo_of_gpu = memo(gpu, &empty());
    let decided_of_gpu = decided(&memo_of_gpu.choices);
    assert_eq!(decided_of_gpu.get("security"), None, "it was asked for");
    assert_eq!(
        decided_of_gpu.get("security.secure_boot"),
        Some(&("off", "secure_boot_gpu_drivers"))
    );
    assert_eq!(
        decided_of_gpu.get("security.vtpm"),
        Some(&("on", "vtpm_with_trusted_launch"))
    );
    let urn = "shop:linux:9:latest";
    let only = fact(2, "x64", &[("SecurityType", "TrustedLaunch")]);
    let live = world(&[(urn, Some(only))]);
    let memo_of_cpu = memo(with("Standard_D4s_v5", urn), &live);
    let decided_of_cpu = decided(&memo_of_cpu.choices);
    assert_eq!(
        decided_of_cpu.get("security"),
        Some(&("trusted_launch", "security_image_demands"))
    );
    assert_eq!(
        decided_of_cpu.get("security.secure_boot"),
        Some(&("on", "secure_boot_on"))
    );
}

#[test]
fn what_was_asked_for_is_no_decision_and_what_lives_is_kept() {
    let mut asked = on("Standard_E8bds_v5");
    asked.disk_controller = Some(DiskController::Nvme);
    asked.accelerated_networking = Some(true);
    asked.security = SecurityChoice::Standard;
    let memo_of_asked = memo(asked, &empty());
    let keys: Vec<&str> = decided(&memo_of_asked.choices).into_keys().collect();
    assert_eq!(keys, ["image"]);
    let plain = on("Standard_D8s_v6");
    let live = live_stack(&spec(plain.clone()));
    let memo_of_live = memo(plain, &live);
    let decided = decided(&memo_of_live.choices);
    assert_eq!(
        decided.get("disk_controller"),
        Some(&("NVMe", "controller_only_one"))
    );
}
