//! What a guest would say to the checks of a node. There is none: it is made from the catalogue's
//! row of the size, and says so.

use model::{
    acceptance::{PART, part},
    catalog::GpuShare,
};
use serde_json::{Value, json};

use crate::{catalogue, text::Seeded};

/// Azure keeps the end of what a command prints.
const KEPT: usize = 4_096;
/// The driver of GPUs that do not exist.
const DRIVER: &str = "0.0-sandbox";

/// What a fault makes of a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ailment {
    /// So many GPUs are missing.
    pub(crate) missing_gpus: u64,
    /// The partition key of its ports.
    pub(crate) partition_key: Option<String>,
    /// The state of its fabric manager.
    pub(crate) fabric_manager: Option<String>,
    /// The bandwidth of its all-reduce, which no sandbox measures.
    pub(crate) all_reduce: Option<String>,
    /// All that it says, instead of anything else.
    pub(crate) output: Option<String>,
}

/// A machine whose guest is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host<'a> {
    /// Its size.
    pub(crate) size: &'a str,
    /// What it shares a fabric with: the id of its scale set, or its own.
    pub(crate) fabric: &'a str,
}

/// The result of a run command.
pub(crate) fn result(host: Host<'_>, given: &Value, ailment: Option<&Ailment>) -> Value {
    let script: Vec<&str> = crate::json::items(given, "/script")
        .iter()
        .filter_map(Value::as_str)
        .flat_map(str::lines)
        .collect();
    let message = match output(host, &script, ailment) {
        Some(output) => format!(
            "Enable succeeded: \n[stdout]\n{}\n[stderr]\n",
            last_bytes(&output)
        ),
        None => "Enable succeeded: \n[stdout]\n\n[stderr]\nThe sandbox has no guest to run it \
                 in.\n"
            .to_owned(),
    };
    json!({"value": [{
        "code": "ProvisioningState/succeeded",
        "level": "Info",
        "displayStatus": "Provisioning succeeded",
        "message": message,
    }]})
}

/// The end of a text, as much as Azure keeps.
fn last_bytes(text: &str) -> &str {
    let from = text.len().saturating_sub(KEPT);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at));
    from.and_then(|from| text.get(from..)).unwrap_or_default()
}

/// What a guest prints; `None` for scripts that nobody can answer without running them.
fn output(host: Host<'_>, script: &[&str], ailment: Option<&Ailment>) -> Option<String> {
    if let Some(output) = ailment.and_then(|ailment| ailment.output.as_ref()) {
        return Some(output.clone());
    }
    let asked: Vec<&str> = script
        .iter()
        .filter_map(|line| line.strip_prefix("check ")?.split(' ').next())
        .collect();
    if asked.is_empty() {
        return None;
    }
    let well = Ailment::default();
    let ailment = ailment.unwrap_or(&well);
    let mut output = format!(
        "{PART}{}\n\n{PART}{}\nno guest: made from the catalogue's row of {}\n",
        part::BEGIN,
        part::SANDBOX,
        host.size
    );
    for name in asked {
        output.push_str(&part_of(name, &answer(host, name, ailment)));
    }
    output.push_str(&part_of(part::END, ""));
    Some(output)
}

fn part_of(name: &str, text: &str) -> String {
    format!("\n{PART}{name}\n{text}")
}

fn answer(host: Host<'_>, name: &str, ailment: &Ailment) -> String {
    match name {
        part::GPUS => gpus(host, ailment),
        part::DRIVER if vendor(host).as_deref() == Some("AMD") => format!("{DRIVER}\n"),
        part::FABRIC_MANAGER => {
            let state = ailment.fabric_manager.as_deref().unwrap_or("active");
            format!("{state}\n")
        }
        part::INFINIBAND => ports(host, ailment),
        part::NVME => disks(host),
        part::ALL_REDUCE => match &ailment.all_reduce {
            Some(bandwidth) => {
                format!("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {bandwidth}\n")
            }
            None => "absent\n".to_owned(),
        },
        _ => format!("sh: 1: {name}: not found\n"),
    }
}

fn vendor(host: Host<'_>) -> Option<String> {
    let gpu = catalogue::size(host.size)?.gpu.as_ref()?;
    catalogue::gpu(&gpu.model).map(|gpu| gpu.vendor.clone())
}

/// The GPUs of the size, as its vendor's tool lists them.
fn gpus(host: Host<'_>, ailment: &Ailment) -> String {
    let Some(gpu) = catalogue::size(host.size).and_then(|size| size.gpu.as_ref()) else {
        return "sh: 1: nvidia-smi: not found\n".to_owned();
    };
    let there = match gpu.share {
        Some(GpuShare::Whole(count)) => u64::from(count),
        Some(GpuShare::Part(_)) | None => 1,
    };
    let left = 0..there.saturating_sub(ailment.missing_gpus);
    if vendor(host).as_deref() == Some("AMD") {
        let head = "device,Device Name,Device ID".to_owned();
        let cards = left.map(|card| format!("card{card},AMD {},0x0000", gpu.model));
        return lines(std::iter::once(head).chain(cards));
    }
    let memory = u64::from(gpu.memory_gb.unwrap_or_default()) * 1_024;
    lines(left.map(|index| format!("{index}, NVIDIA {}, {DRIVER}, {memory} MiB", gpu.model)))
}

/// The ports of the size; one where nobody counted them. All that share a fabric have one key.
fn ports(host: Host<'_>, ailment: &Ailment) -> String {
    let row = catalogue::acceptance(host.size);
    let count = row.and_then(|row| row.infiniband_ports).unwrap_or(1);
    let rate = row.and_then(|row| row.infiniband_gbit_s).unwrap_or(100);
    let number = Seeded::of_text(0, &host.fabric.to_lowercase()).next() % 0x7ffe;
    let own = format!("{:#06x}", 0x8001 + number);
    let key = ailment.partition_key.as_ref().unwrap_or(&own);
    lines((0..count).map(|port| format!("mlx5_ib{port},InfiniBand,4: ACTIVE,{rate} Gb/sec,{key}")))
}

fn disks(host: Host<'_>) -> String {
    let row = catalogue::acceptance(host.size);
    let count = row.and_then(|row| row.nvme_disks).unwrap_or(0);
    lines((0..count).map(|disk| format!("nvme{disk}n1 0 Microsoft NVMe Direct Disk")))
}

/// Lines as a tool prints them.
fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Host<'_> = Host {
        size: "Standard_ND96isr_H100_v5",
        fabric: "/a",
    };
    const SCRIPT: &[&str] = &["#!/bin/sh", "check gpus 60 'x'", "check infiniband 60 'y'"];

    #[test]
    fn an_answer_says_that_nobody_gave_it() {
        let said = output(HOST, SCRIPT, None).expect("an answer");
        assert!(said.contains("%% sandbox\nno guest"), "{said}");
        assert_eq!(said.matches("NVIDIA H100").count(), 8, "{said}");
        assert_eq!(said.matches("InfiniBand").count(), 8, "{said}");
        assert_eq!(output(HOST, &["nvidia-smi"], None), None);
    }

    #[test]
    fn machines_without_gpus_have_none() {
        let host = Host {
            size: "Standard_D4s_v5",
            ..HOST
        };
        let said = output(host, SCRIPT, None).expect("an answer");
        assert!(said.contains("nvidia-smi: not found"), "{said}");
    }

    #[test]
    fn a_fabric_has_one_key() {
        let key = |fabric| {
            let said = ports(Host { fabric, ..HOST }, &Ailment::default());
            said.lines().next().map(str::to_owned)
        };
        assert_eq!(key("/a"), key("/A"));
        assert_ne!(key("/a"), key("/b"));
    }

    #[test]
    fn the_end_of_a_long_text_is_kept() {
        let long = format!("{}end", "ä".repeat(4_000));
        let kept = last_bytes(&long);
        assert!(kept.len() <= KEPT && kept.len() > KEPT - 4);
        assert!(kept.ends_with("end"));
        assert_eq!(last_bytes("short"), "short");
    }
}
