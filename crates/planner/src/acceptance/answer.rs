//! Reads what a guest answered: the outputs of `nvidia-smi`, `rocm-smi`, `systemctl`, `lsblk`,
//! `all_reduce_perf`, and the files of InfiniBand. Nothing that they may say is an error here.

use std::collections::{BTreeMap, BTreeSet};

use model::acceptance::{PART, part};
use rust_decimal::Decimal;

/// The parts of a guest's answer by name; `None` where the answer is cut off.
pub(super) fn parts(answer: &str) -> Option<BTreeMap<&str, Vec<&str>>> {
    let mut parts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = None;
    for line in answer.lines().map(str::trim_end) {
        if let Some(name) = line.strip_prefix(PART) {
            current = Some(name);
            parts.entry(name).or_default();
        } else if let Some(name) = current
            && !line.trim().is_empty()
        {
            parts.entry(name).or_default().push(line);
        }
    }
    let whole = parts.contains_key(part::BEGIN) && parts.contains_key(part::END);
    whole.then_some(parts)
}

/// GPUs that a tool lists, with what it says instead of some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gpus {
    /// How many.
    pub(super) count: u32,
    /// Their drivers; the tool may not say one.
    pub(super) drivers: BTreeSet<String>,
    /// The first line that lists no GPU.
    pub(super) complaint: Option<String>,
}

impl Gpus {
    fn complain(&mut self, line: &str) {
        self.complaint.get_or_insert_with(|| line.trim().to_owned());
    }
}

/// Reads `nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader`.
pub(super) fn nvidia(lines: &[&str]) -> Gpus {
    let mut gpus = Gpus::default();
    for line in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        match cells.as_slice() {
            [index, _, driver, memory]
                if index.parse::<u32>().is_ok() && memory.ends_with("MiB") =>
            {
                gpus.count += 1;
                gpus.drivers.insert((*driver).to_owned());
            }
            _ => gpus.complain(line),
        }
    }
    gpus
}

/// Reads `rocm-smi --showid --csv`, whose first line names the columns.
pub(super) fn amd(lines: &[&str]) -> Gpus {
    let mut gpus = Gpus::default();
    for line in lines {
        let device = line.split(',').next().unwrap_or_default();
        let number = device.strip_prefix("card");
        if number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            gpus.count += 1;
        } else if device != "device" {
            gpus.complain(line);
        }
    }
    gpus
}

/// A port of InfiniBand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    /// The device.
    pub(super) device: String,
    /// Whether it is active.
    pub(super) active: bool,
    /// What the device says of its state.
    pub(super) state: String,
    /// Its rate in Gb/s.
    pub(super) gbit_s: Option<u32>,
    /// Its first partition key.
    pub(super) key: Option<u16>,
}

/// Reads lines of device, link layer, state, rate and partition key; what speaks Ethernet is no
/// InfiniBand.
pub(super) fn infiniband(lines: &[&str]) -> Vec<Port> {
    let port = |line: &&str| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let [device, "InfiniBand", state, rate, key] = cells.as_slice() else {
            return None;
        };
        // `4: ACTIVE`, `400 Gb/sec (4X NDR)`, `0x8001`.
        let word = state.rsplit(':').next().unwrap_or_default().trim();
        let rate = rate.split_whitespace().next().unwrap_or_default();
        let digits = key.strip_prefix("0x").unwrap_or_default();
        Some(Port {
            device: (*device).to_owned(),
            active: word == "ACTIVE",
            state: word.to_owned(),
            gbit_s: rate.parse().ok(),
            key: u16::from_str_radix(digits, 16).ok(),
        })
    };
    lines.iter().filter_map(port).collect()
}

/// Counts the local disks of `lsblk -dbno NAME,SIZE,MODEL`: NVMe disks that are no remote ones,
/// which are NVMe too on newer sizes.
pub(super) fn local_nvme(lines: &[&str]) -> usize {
    let local = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with("nvme") && !line.contains("Accelerator")
    };
    lines.iter().filter(local).count()
}

/// What an all-reduce says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AllReduce {
    /// Its average bus bandwidth in GB/s, and whether the sums were right.
    Done {
        /// GB/s.
        bandwidth: Decimal,
        /// Whether every sum was right.
        right: bool,
    },
    /// There is no program for it.
    Absent,
    /// The GPUs are in use.
    Busy,
    /// It ended without a result; what it said last.
    Broken(String),
}

/// Reads the output of `all_reduce_perf`.
pub(super) fn all_reduce(lines: &[&str]) -> AllReduce {
    let last = lines.last().map_or("", |line| line.trim());
    match last {
        super::script::ABSENT => return AllReduce::Absent,
        super::script::BUSY => return AllReduce::Busy,
        _ => {}
    }
    let value = |label: &str| {
        let line = lines.iter().find(|line| line.contains(label))?;
        line.split_once(':').map(|(_, value)| value.trim())
    };
    let bandwidth = value("Avg bus bandwidth").and_then(|text| text.parse().ok());
    let Some(bandwidth) = bandwidth else {
        let said = lines.iter().rev().find(|line| !line.starts_with('#'));
        return AllReduce::Broken(said.map_or("nothing", |line| line.trim()).to_owned());
    };
    // `0 OK`, or `3 FAILED`.
    let wrong = value("Out of bounds values").is_some_and(|text| !text.ends_with("OK"));
    AllReduce::Done {
        bandwidth,
        right: !wrong,
    }
}
