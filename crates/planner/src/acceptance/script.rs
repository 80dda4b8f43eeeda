//! The script that asks a guest. It changes nothing, ends by itself, and its answer is small: Azure
//! keeps only the last 4,096 bytes of what a command prints.

use std::fmt::Write;

use model::acceptance::{PART, part};

use super::expectation::{Expectation, Vendor};

/// Seconds after which a question is given up.
const PATIENCE: u32 = 60;
/// Seconds after which the all-reduce is given up.
const PATIENCE_OF_ALL_REDUCE: u32 = 240;
/// The message of an all-reduce where no source names one; every GPU has room for it.
const USUAL_MESSAGE: &str = "1G";

/// The script for a node of which this is expected.
pub fn script(expectation: &Expectation<'_>) -> String {
    let mark = PART.replace('%', "%%");
    let mut script = format!(
        "#!/bin/sh\n\
         # Looks at this node, and lets its GPUs add up something together where they are idle.\n\
         # shellcheck disable=SC2016\n\
         PATH=\"$PATH:/usr/sbin:/sbin:/opt/rocm/bin\"\n\
         export PATH\n\
         check() {{ printf '\\n{mark}%s\\n' \"$1\"; timeout \"$2\" sh -c \"$3\" 2>&1 | tail -c 900; }}\n\
         printf '{mark}{}\\n'\n",
        part::BEGIN
    );
    for (name, seconds, command) in questions(expectation) {
        let _ = writeln!(script, "check {name} {seconds} '{command}'");
    }
    let _ = writeln!(script, "printf '\\n{mark}{}\\n'", part::END);
    script
}

/// What is asked: the part of the answer, how long it may take, and the command.
fn questions(expectation: &Expectation<'_>) -> Vec<(&'static str, u32, String)> {
    let mut questions = Vec::new();
    let mut ask = |name, seconds, command: String| questions.push((name, seconds, command));
    match expectation.vendor {
        Some(Vendor::Nvidia) => ask(part::GPUS, PATIENCE, NVIDIA_GPUS.to_owned()),
        Some(Vendor::Amd) => {
            ask(part::GPUS, PATIENCE, AMD_GPUS.to_owned());
            ask(part::DRIVER, PATIENCE, AMD_DRIVER.to_owned());
        }
        None => {}
    }
    if expectation.needs_fabric_manager() {
        ask(part::FABRIC_MANAGER, PATIENCE, FABRIC_MANAGER.to_owned());
    }
    if expectation.infiniband {
        ask(part::INFINIBAND, PATIENCE, INFINIBAND.to_owned());
    }
    ask(part::NVME, PATIENCE, NVME.to_owned());
    if let (Some(vendor), true) = (expectation.vendor, expectation.can_reduce()) {
        let command = all_reduce(vendor, expectation);
        ask(part::ALL_REDUCE, PATIENCE_OF_ALL_REDUCE, command);
    }
    questions
}

const NVIDIA_GPUS: &str =
    "nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader";
const AMD_GPUS: &str = "rocm-smi --showid --csv";
const AMD_DRIVER: &str = "cat /sys/module/amdgpu/version";
const FABRIC_MANAGER: &str = "systemctl is-active nvidia-fabricmanager";
const INFINIBAND: &str = "for device in /sys/class/infiniband/*; do port=$device/ports/1; \
     [ -e \"$port/state\" ] && echo \"${device##*/},$(cat \"$port/link_layer\"),$(cat \
     \"$port/state\"),$(cat \"$port/rate\"),$(cat \"$port/pkeys/0\")\"; done";
const NVME: &str = "lsblk -dbno NAME,SIZE,MODEL";

/// One message over all GPUs, unless somebody uses them.
fn all_reduce(vendor: Vendor, expectation: &Expectation<'_>) -> String {
    let (folder, idle) = match vendor {
        Vendor::Nvidia => (
            "/opt/nccl-tests/build",
            "[ -z \"$(nvidia-smi --query-compute-apps=pid --format=csv,noheader)\" ]",
        ),
        Vendor::Amd => (
            "/opt/rccl-tests/build",
            "rocm-smi --showpids | grep -q \"No KFD PIDs\"",
        ),
    };
    let message = expectation
        .row
        .and_then(|row| row.all_reduce_message.as_deref())
        .unwrap_or(USUAL_MESSAGE);
    let gpus = expectation.gpus.unwrap_or_default();
    format!(
        "program=$(command -v all_reduce_perf || command -v {folder}/all_reduce_perf) || {{ echo \
         {ABSENT}; exit; }}; {idle} || {{ echo {BUSY}; exit; }}; \"$program\" -b {message} -e \
         {message} -g {gpus}"
    )
}

/// What the all-reduce says where its program is not installed.
pub(super) const ABSENT: &str = "absent";
/// What the all-reduce says where the GPUs are in use.
pub(super) const BUSY: &str = "busy";
