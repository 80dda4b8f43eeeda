//! The script of acceptance checks, run by a shell among tools that answer as those of a GPU node.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};

use model::{
    acceptance::{CheckKind, Verdict},
    catalog::Catalog,
    units::SizeName,
};
use planner::acceptance::{Answer, Asked, Expectation, judge, script};

use crate::harness::Place;

/// Puts a tool into the folder that the script's `PATH` begins with.
fn tool(place: &Place, name: &str, text: &str) {
    let path = place.path(name);
    place.write(name, &format!("#!/bin/sh\n{text}\n"));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, mode).expect("a tool that runs");
}

/// The checks of a node of a size on which these tools are, as kind, verdict and what was found.
fn checked(place: &Place, size: &str) -> Vec<(CheckKind, Verdict, String)> {
    let size = SizeName::new(size);
    let catalog = Catalog::embedded();
    let script = script(&Expectation::of(catalog, &size));
    let path = std::env::var("PATH").expect("a path");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("PATH", format!("{}:{path}", place.folder().display()))
        .output()
        .expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let asked = Asked {
        address: "pool.train.scale_set".to_owned(),
        pool: "train".to_owned(),
        name: "train_0".to_owned(),
        size,
        answer: Answer::Said(String::from_utf8_lossy(&output.stdout).into_owned()),
    };
    let judged = judge(catalog, &[asked]);
    let checks = judged
        .iter()
        .flat_map(model::acceptance::NodeAcceptance::checks);
    checks
        .map(|check| (check.check, check.verdict, check.found.clone()))
        .collect()
}

const H100: &str = "Standard_ND96isr_H100_v5";

fn gpu_node() -> Place {
    let place = Place::empty();
    let smi = "case \"$1\" in\n\
        --query-gpu=*) for gpu in 0 1 2 3 4 5 6 7; do echo \"$gpu, NVIDIA H100 80GB HBM3, 550.54.15, 81559 MiB\"; done ;;\n\
        --query-compute-apps=*) cat \"$(dirname \"$0\")/users\" ;;\n\
        esac";
    tool(&place, "nvidia-smi", smi);
    tool(&place, "systemctl", "echo inactive; exit 3");
    tool(
        &place,
        "lsblk",
        "for disk in 0 1 2 3 4 5 6 7; do echo \"nvme${disk}n1 3840755982336 Microsoft NVMe Direct Disk\"; done",
    );
    tool(
        &place,
        "all_reduce_perf",
        "echo \"# $*\"; echo '# Out of bounds values : 0 OK'; echo '# Avg bus bandwidth    : 481.5'",
    );
    place.write("users", "");
    place
}

#[test]
fn the_script_of_checks_runs_in_a_shell() {
    let place = gpu_node();
    let expected = [
        (CheckKind::Gpus, Verdict::Passed, "8"),
        (CheckKind::Driver, Verdict::Passed, "550.54.15"),
        (CheckKind::FabricManager, Verdict::Failed, "inactive"),
        // This machine has no InfiniBand.
        (CheckKind::InfinibandPorts, Verdict::Failed, "0"),
        (CheckKind::NvmeDisks, Verdict::Passed, "8"),
        (CheckKind::AllReduce, Verdict::Passed, "481.5 GB/s"),
    ];
    let expected = expected.map(|(kind, verdict, found)| (kind, verdict, found.to_owned()));
    assert_eq!(checked(&place, H100), expected);
}

#[test]
fn the_all_reduce_leaves_gpus_alone_that_somebody_uses() {
    let place = gpu_node();
    place.write("users", "4711\n");
    let found = checked(&place, H100);
    let reduced = (
        CheckKind::AllReduce,
        Verdict::Skipped,
        "the GPUs are in use".to_owned(),
    );
    assert!(found.contains(&reduced), "{found:?}");
}

#[test]
fn a_plain_machine_is_no_gpu_node() {
    let found = checked(&Place::empty(), "Standard_NC4as_T4_v3");
    let (kind, verdict, said) = found.first().expect("a check");
    assert_eq!((*kind, *verdict), (CheckKind::Gpus, Verdict::Failed));
    assert!(said.contains("not found"), "{said}");
}
