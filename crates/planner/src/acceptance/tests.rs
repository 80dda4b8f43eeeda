//! What guests say, and what is thought of it.

use model::{
    acceptance::{CheckKind, NodeOutcome, Verdict},
    catalog::Catalog,
    units::SizeName,
};
use rust_decimal::Decimal;

use super::{
    answer::{self, AllReduce, Gpus},
    *,
};

const H100: &str = "Standard_ND96isr_H100_v5";
const NCCL: &str = "
# nThread 1 nGpus 8 minBytes 17179869184 maxBytes 17179869184 step: 1048576(bytes) warmup iters: 5
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
 17179869184    4294967296     float     sum      -1    62520  274.79  480.88      0    62530  274.75  480.80      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 480.84
#";

fn lines(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .collect()
}

/// A healthy node with eight H100.
fn h100() -> String {
    let eight = |line: &dyn Fn(u32) -> String| {
        let lines: Vec<String> = (0..8).map(line).collect();
        lines.join("\n") + "\n"
    };
    let gpus = eight(&|gpu| format!("{gpu}, NVIDIA H100 80GB HBM3, 550.54.15, 81559 MiB"));
    let ports =
        eight(&|port| format!("mlx5_ib{port},InfiniBand,4: ACTIVE,400 Gb/sec (4X NDR),0x8001"));
    let disks = eight(&|disk| format!("nvme{disk}n1 3840755982336 Microsoft NVMe Direct Disk"));
    format!(
        "%% begin\n\n%% gpus\n{gpus}\n%% fabric_manager\nactive\n\n%% infiniband\n\
         mlx5_an0,Ethernet,4: ACTIVE,100 Gb/sec (2X HDR),0xffff\n{ports}\n%% nvme\nsda 137438953472 \
         Virtual Disk\n{disks}\n%% all_reduce\n{NCCL}\n\n%% end\n"
    )
}

fn asked(name: &str, size: &str, answer: Answer) -> Asked {
    Asked {
        address: "pool.train.scale_set".to_owned(),
        pool: "train".to_owned(),
        name: name.to_owned(),
        size: SizeName::new(size),
        answer,
    }
}

/// The checks of nodes with these answers: kind, verdict, found.
fn check(size: &str, answers: &[String]) -> Vec<Vec<(CheckKind, Verdict, String)>> {
    let nodes: Vec<Asked> = answers
        .iter()
        .enumerate()
        .map(|(at, said)| asked(&format!("n{at}"), size, Answer::Said(said.clone())))
        .collect();
    let judged = judge(Catalog::embedded(), &nodes);
    let of_node = |node: &model::acceptance::NodeAcceptance| {
        let checks = node.checks().iter();
        checks
            .map(|check| (check.check, check.verdict, check.found.clone()))
            .collect()
    };
    judged.iter().map(of_node).collect()
}

fn only(checks: &[(CheckKind, Verdict, String)], kind: CheckKind) -> (Verdict, &str) {
    let mut found = checks.iter().filter(|(check, ..)| *check == kind);
    let (_, verdict, text) = found.next().expect("the check");
    assert!(found.next().is_none(), "{kind:?} stands once");
    (*verdict, text)
}

#[test]
fn a_healthy_node_passes_every_check() {
    let all = check(H100, &[h100()]);
    let [checks] = all.as_slice() else {
        panic!("{all:?}");
    };
    let expected = [
        (CheckKind::Gpus, "8"),
        (CheckKind::Driver, "550.54.15"),
        (CheckKind::FabricManager, "active"),
        (CheckKind::InfinibandPorts, "8 at 400 Gb/s"),
        (CheckKind::PartitionKey, "0x8001"),
        (CheckKind::NvmeDisks, "8"),
        (CheckKind::AllReduce, "480.84 GB/s"),
    ];
    let expected: Vec<_> = expected
        .map(|(kind, found)| (kind, Verdict::Passed, found.to_owned()))
        .into();
    assert_eq!(*checks, expected);
}

/// What is changed in the answer of a healthy node, the check that fails then, and what it finds.
const SICK: &[(&str, &str, CheckKind, &str)] = &[
    (
        "7, NVIDIA H100 80GB HBM3, 550.54.15, 81559 MiB\n",
        "",
        CheckKind::Gpus,
        "7",
    ),
    (
        "7, NVIDIA H100 80GB HBM3, 550.54.15, 81559 MiB",
        "Unable to determine the device handle for GPU0000:C1:00.0: Unknown Error",
        CheckKind::Gpus,
        "7: Unable to determine the device handle for GPU0000:C1:00.0: Unknown Error",
    ),
    (
        "\nactive\n",
        "\nfailed\n",
        CheckKind::FabricManager,
        "failed",
    ),
    (
        "mlx5_ib3,InfiniBand,4: ACTIVE",
        "mlx5_ib3,InfiniBand,1: DOWN",
        CheckKind::InfinibandPorts,
        "8 at 400 Gb/s, `mlx5_ib3` is `DOWN`",
    ),
    (
        "mlx5_ib3,InfiniBand,4: ACTIVE,400 Gb/sec (4X NDR)",
        "mlx5_ib3,InfiniBand,4: ACTIVE,100 Gb/sec (4X EDR)",
        CheckKind::InfinibandPorts,
        "8 at 100 and 400 Gb/s, `mlx5_ib3` is slower",
    ),
    ("0x8001", "0x7fff", CheckKind::PartitionKey, "0x7fff"),
    ("0x8001", "0x0000", CheckKind::PartitionKey, "0x0000"),
    (
        "nvme7n1 3840755982336 Microsoft NVMe Direct Disk\n",
        "nvme7n1 1099511627776 MSFT NVMe Accelerator v1.0\n",
        CheckKind::NvmeDisks,
        "7",
    ),
    (
        "bandwidth    : 480.84",
        "bandwidth    : 459.99",
        CheckKind::AllReduce,
        "459.99 GB/s",
    ),
    (
        "values : 0 OK",
        "values : 3 FAILED",
        CheckKind::AllReduce,
        "480.84 GB/s, and sums are wrong",
    ),
    (
        NCCL,
        "\nn0: Test NCCL failure all_reduce.cu:44 'unhandled system error'\n",
        CheckKind::AllReduce,
        "no result: n0: Test NCCL failure all_reduce.cu:44 'unhandled system error'",
    ),
];

#[test]
fn what_a_sick_node_says_fails_the_check_that_it_belongs_to() {
    for (from, to, kind, found) in SICK {
        let healthy = h100();
        assert!(healthy.contains(*from), "{from}");
        let sick = healthy.replace(*from, to);
        let all = check(H100, &[sick]);
        let [checks] = all.as_slice() else {
            panic!("{all:?}");
        };
        assert_eq!(only(checks, *kind), (Verdict::Failed, *found));
        let failed = checks.iter().filter(|check| check.1 == Verdict::Failed);
        assert_eq!(failed.count(), 1, "{checks:?}");
    }
}

#[test]
fn partition_key_and_driver_are_those_of_most_nodes() {
    let other_key = h100().replace("0x8001", "0x8002");
    let other_driver = h100().replace("550.54.15", "570.86.15");
    let all = check(H100, &[other_key, h100(), other_driver, h100()]);
    let verdicts = |kind| {
        let of_kind = all.iter().map(|checks| only(checks, kind).0);
        of_kind.collect::<Vec<_>>()
    };
    let (good, bad) = (Verdict::Passed, Verdict::Failed);
    assert_eq!(verdicts(CheckKind::PartitionKey), [bad, good, good, good]);
    assert_eq!(verdicts(CheckKind::Driver), [good, good, bad, good]);
    assert_eq!(verdicts(CheckKind::Gpus), [good; 4]);
}

#[test]
fn a_size_without_a_threshold_is_measured_and_not_failed() {
    let said = h100().replace("bandwidth    : 480.84", "bandwidth    : 3.5");
    for (size, gpus) in [
        ("Standard_ND96isrf_H100_v5", Verdict::Passed),
        ("Standard_ND999_Unheard_v9", Verdict::Measured),
    ] {
        let all = check(size, std::slice::from_ref(&said));
        let [checks] = all.as_slice() else {
            panic!("{all:?}");
        };
        let reduced = only(checks, CheckKind::AllReduce);
        assert_eq!(reduced, (Verdict::Measured, "3.5 GB/s"), "{size}");
        assert_eq!(only(checks, CheckKind::Gpus), (gpus, "8"), "{size}");
        let ports = only(checks, CheckKind::InfinibandPorts);
        assert_eq!(ports, (Verdict::Measured, "8 at 400 Gb/s"), "{size}");
    }
}

#[test]
fn thresholds_differ_by_size() {
    let said = h100().replace("bandwidth    : 480.84", "bandwidth    : 470");
    let passes = |size: &str| {
        let all = check(size, std::slice::from_ref(&said));
        all.first()
            .map(|checks| only(checks, CheckKind::AllReduce).0)
    };
    assert_eq!(passes(H100), Some(Verdict::Passed));
    assert_eq!(passes("Standard_ND96isr_H200_v5"), Some(Verdict::Failed));
    assert_eq!(passes("Standard_ND96asr_v4"), Some(Verdict::Passed));
}

#[test]
fn gpus_in_use_are_left_alone() {
    for (said, reason) in [
        ("\nbusy\n", "the GPUs are in use"),
        ("\nabsent\n", "`all_reduce_perf` is not installed"),
    ] {
        let all = check(H100, &[h100().replace(NCCL, said)]);
        let [checks] = all.as_slice() else {
            panic!("{all:?}");
        };
        let reduced = only(checks, CheckKind::AllReduce);
        assert_eq!(reduced, (Verdict::Skipped, reason));
    }
}

#[test]
fn a_machine_without_a_driver_says_so() {
    for said in [
        "sh: 1: nvidia-smi: not found",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "No devices were found",
    ] {
        let gpus = answer::nvidia(&[said]);
        let none = Gpus {
            complaint: Some(said.to_owned()),
            ..Gpus::default()
        };
        assert_eq!(gpus, none);
    }
}

#[test]
fn tools_of_amd_are_read() {
    let csv = "device,Device Name,Device ID,Device Rev,Subsystem ID,GUID
card0,AMD Instinct MI300X VF,0x74b5,0x00,0x74a1,28851
card1,AMD Instinct MI300X VF,0x74b5,0x00,0x74a1,51499";
    let gpus = answer::amd(&lines(csv));
    assert_eq!((gpus.count, gpus.complaint), (2, None));
    let said = format!(
        "%% begin\n%% gpus\n{csv}\n%% driver\n6.8.5\n%% infiniband\n%% nvme\n%% all_reduce\nabsent\n%% end"
    );
    let all = check("Standard_ND96isr_MI300X_v5", &[said]);
    let [checks] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(only(checks, CheckKind::Gpus), (Verdict::Failed, "2"));
    let driver = only(checks, CheckKind::Driver);
    assert_eq!(driver, (Verdict::Passed, "6.8.5"));
    let ports = only(checks, CheckKind::InfinibandPorts);
    assert_eq!(ports, (Verdict::Failed, "0"));
    assert_eq!(only(checks, CheckKind::NvmeDisks), (Verdict::Failed, "0"));
}

#[test]
fn outputs_of_all_reduce_perf_are_read() {
    let done = AllReduce::Done {
        bandwidth: Decimal::new(48_084, 2),
        right: true,
    };
    assert_eq!(answer::all_reduce(&lines(NCCL)), done);
    assert_eq!(answer::all_reduce(&["absent"]), AllReduce::Absent);
    assert_eq!(answer::all_reduce(&["busy"]), AllReduce::Busy);
    let broken = |said: &str| AllReduce::Broken(said.to_owned());
    assert_eq!(answer::all_reduce(&[]), broken("nothing"));
    let unread = ["# Avg bus bandwidth    : nan"];
    assert_eq!(answer::all_reduce(&unread), broken("nothing"));
}

#[test]
fn an_answer_that_is_cut_off_is_no_answer() {
    let whole = h100();
    let cut = |text: &str| match judge(
        Catalog::embedded(),
        &[asked("n", H100, Answer::Said(text.to_owned()))],
    )
    .as_slice()
    {
        [node] => matches!(node.outcome, NodeOutcome::Unanswered(_)),
        _ => false,
    };
    assert!(!cut(&whole));
    assert!(cut(whole.split_once("%% nvme").map_or("", |(_, end)| end)));
    assert!(cut(whole
        .split_once("%% nvme")
        .map_or("", |(start, _)| start)));
    assert!(cut(""));
    assert!(whole.len() < 4_096, "Azure keeps the last 4,096 bytes");
}

#[test]
fn a_script_asks_what_the_size_has() {
    let catalog = Catalog::embedded();
    let names = |size: &str| {
        let text = script(&Expectation::of(catalog, &SizeName::new(size)));
        let asks = text.lines().filter_map(|line| line.strip_prefix("check "));
        asks.filter_map(|ask| ask.split(' ').next().map(str::to_owned))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        names(H100),
        "gpus fabric_manager infiniband nvme all_reduce"
    );
    assert_eq!(names("Standard_NC4as_T4_v3"), "gpus nvme");
    assert_eq!(names("Standard_NC48ads_A100_v4"), "gpus nvme all_reduce");
    assert_eq!(
        names("Standard_ND96isr_MI300X_v5"),
        "gpus driver infiniband nvme all_reduce"
    );
    assert_eq!(names("Standard_D4s_v5"), "nvme");
    assert_eq!(names("Standard_Unheard"), "gpus nvme");
    let text = script(&Expectation::of(catalog, &SizeName::new(H100)));
    assert!(text.contains("-b 16G -e 16G -g 8"), "{text}");
}
