//! The verdict on what guests answered: each node by its size, and all nodes of a pool together.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    acceptance::{Check, CheckKind, NodeAcceptance, NodeOutcome, Verdict, part},
    catalog::Catalog,
    units::SizeName,
};

use super::{
    answer::{self, AllReduce, Port},
    expectation::{Expectation, Vendor},
};

/// A node that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The address of the VM, or of the scale set that it is an instance of.
    pub address: String,
    /// Its pool, whose nodes are compared.
    pub pool: String,
    /// Its name.
    pub name: String,
    /// Its size.
    pub size: SizeName,
    /// What it answered.
    pub answer: Answer,
}

/// What a node answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The output of the script.
    Said(String),
    /// It was not asked, for this reason.
    Skipped(String),
    /// It did not answer, for this reason.
    Unanswered(String),
}

/// What a node says of itself that must be the same on all nodes of its pool.
#[derive(Clone, Debug, Default)]
struct Traits {
    drivers: BTreeSet<String>,
    keys: BTreeSet<u16>,
}

/// Judges the answers of nodes, in their order.
pub fn judge(catalog: &Catalog, nodes: &[Asked]) -> Vec<NodeAcceptance> {
    let judged: Vec<(NodeAcceptance, Traits)> =
        nodes.iter().map(|node| alone(catalog, node)).collect();
    let mut pools: BTreeMap<&str, Vec<&Traits>> = BTreeMap::new();
    for (node, (_, traits)) in nodes.iter().zip(&judged) {
        pools.entry(&node.pool).or_default().push(traits);
    }
    let usual: BTreeMap<&str, Traits> = pools
        .into_iter()
        .map(|(pool, traits)| {
            let drivers = most_common(traits.iter().map(|one| &one.drivers));
            let keys = most_common(traits.iter().map(|one| &one.keys));
            (pool, Traits { drivers, keys })
        })
        .collect();
    let mut all = Vec::new();
    for (asked, (mut node, traits)) in nodes.iter().zip(judged) {
        if let (NodeOutcome::Checked(checks), Some(usual)) =
            (&mut node.outcome, usual.get(asked.pool.as_str()))
        {
            checks.extend(driver(&traits.drivers, &usual.drivers));
            checks.extend(partition_key(&traits.keys, &usual.keys));
            checks.sort_by_key(|check| check.check);
        }
        all.push(node);
    }
    all
}

/// What most nodes have; of equally common ones the first.
fn most_common<'a, T: Clone + Ord + 'a>(
    sets: impl Iterator<Item = &'a BTreeSet<T>>,
) -> BTreeSet<T> {
    let mut counts: BTreeMap<&BTreeSet<T>, usize> = BTreeMap::new();
    for set in sets.filter(|set| !set.is_empty()) {
        *counts.entry(set).or_default() += 1;
    }
    let mut best: Option<(&BTreeSet<T>, usize)> = None;
    for (set, count) in counts {
        if best.is_none_or(|(_, most)| count > most) {
            best = Some((set, count));
        }
    }
    best.map(|(set, _)| set.clone()).unwrap_or_default()
}

/// A node by itself.
fn alone(catalog: &Catalog, node: &Asked) -> (NodeAcceptance, Traits) {
    let said = match &node.answer {
        Answer::Said(text) => match answer::parts(text) {
            Some(parts) => Ok(parts),
            None => Err(NodeOutcome::Unanswered(
                "its answer is cut off, or not that of the script".to_owned(),
            )),
        },
        Answer::Skipped(reason) => Err(NodeOutcome::Skipped(reason.clone())),
        Answer::Unanswered(reason) => Err(NodeOutcome::Unanswered(reason.clone())),
    };
    let emulated = said
        .as_ref()
        .is_ok_and(|parts| parts.contains_key(part::SANDBOX));
    let (outcome, traits) = match said {
        Ok(parts) => {
            let expectation = Expectation::of(catalog, &node.size);
            let (checks, traits) = checks(&expectation, &parts);
            (NodeOutcome::Checked(checks), traits)
        }
        Err(outcome) => (outcome, Traits::default()),
    };
    let node = NodeAcceptance {
        address: node.address.clone(),
        pool: node.pool.clone(),
        name: node.name.clone(),
        size: node.size.to_string(),
        emulated,
        outcome,
    };
    (node, traits)
}

fn checks(
    expectation: &Expectation<'_>,
    parts: &BTreeMap<&str, Vec<&str>>,
) -> (Vec<Check>, Traits) {
    let mut checks = Vec::new();
    let mut traits = Traits::default();
    let lines = |name: &str| parts.get(name).map(Vec::as_slice);
    if let (Some(vendor), Some(lines_of_gpus)) = (expectation.vendor, lines(part::GPUS)) {
        let gpus = match vendor {
            Vendor::Nvidia => answer::nvidia(lines_of_gpus),
            Vendor::Amd => answer::amd(lines_of_gpus),
        };
        checks.push(gpu_count(&gpus, expectation.gpus));
        traits.drivers = gpus.drivers;
    }
    if let Some([version, ..]) = lines(part::DRIVER)
        && version.starts_with(|first: char| first.is_ascii_digit())
    {
        traits.drivers.insert((*version).to_owned());
    }
    if let Some(lines) = lines(part::FABRIC_MANAGER) {
        checks.push(fabric_manager(lines));
    }
    if let Some(lines) = lines(part::INFINIBAND) {
        let ports = answer::infiniband(lines);
        traits.keys = ports.iter().filter_map(|port| port.key).collect();
        checks.push(infiniband(&ports, expectation));
    }
    if let Some(lines) = lines(part::NVME) {
        let found = answer::local_nvme(lines);
        let expected = expectation.row.and_then(|row| row.nvme_disks);
        checks.extend(nvme(found, expected));
    }
    if let Some(lines) = lines(part::ALL_REDUCE) {
        checks.push(all_reduce(answer::all_reduce(lines), expectation));
    }
    (checks, traits)
}

fn gpu_count(gpus: &answer::Gpus, expected: Option<u32>) -> Check {
    let found = match &gpus.complaint {
        Some(complaint) => format!("{}: {complaint}", gpus.count),
        None => gpus.count.to_string(),
    };
    let verdict = match expected {
        None => Verdict::Measured,
        Some(expected) if expected == gpus.count && gpus.complaint.is_none() => Verdict::Passed,
        Some(_) => Verdict::Failed,
    };
    check(
        CheckKind::Gpus,
        verdict,
        found,
        expected.map(|count| count.to_string()),
    )
}

fn fabric_manager(lines: &[&str]) -> Check {
    let state = lines.first().map_or("nothing", |line| line.trim());
    let verdict = passes(state == "active");
    let expected = Some("active".to_owned());
    check(
        CheckKind::FabricManager,
        verdict,
        state.to_owned(),
        expected,
    )
}

/// Every port active and at its rate, and as many as the size has, or at least one.
fn infiniband(ports: &[Port], expectation: &Expectation<'_>) -> Check {
    let row = expectation.row;
    let rate = row.and_then(|row| row.infiniband_gbit_s);
    let is_slow = |port: &Port| rate.is_some_and(|rate| port.gbit_s.is_none_or(|has| has < rate));
    let down = ports.iter().find(|port| !port.active);
    let slow = ports.iter().find(|port| is_slow(port));
    let rates: BTreeSet<u32> = ports.iter().filter_map(|port| port.gbit_s).collect();
    let rates: Vec<String> = rates.iter().map(u32::to_string).collect();
    let mut found = match rates.as_slice() {
        [] => ports.len().to_string(),
        rates => format!("{} at {} Gb/s", ports.len(), rates.join(" and ")),
    };
    if let Some(port) = down {
        found = format!("{found}, `{}` is `{}`", port.device, port.state);
    } else if let Some(port) = slow {
        found = format!("{found}, `{}` is slower", port.device);
    }
    let count = row.and_then(|row| row.infiniband_ports);
    let expected = match (count, rate) {
        (Some(count), Some(rate)) => Some(format!("{count} active at {rate} Gb/s")),
        (Some(count), None) => Some(format!("{count} active")),
        (None, _) => None,
    };
    let counted = u32::try_from(ports.len()).ok();
    let verdict = match count {
        _ if ports.is_empty() || down.is_some() || slow.is_some() => Verdict::Failed,
        Some(_) => passes(counted == count),
        None => Verdict::Measured,
    };
    check(CheckKind::InfinibandPorts, verdict, found, expected)
}

/// Nothing to say where there are none and nobody knows of any.
fn nvme(found: usize, expected: Option<u32>) -> Option<Check> {
    let verdict = match expected {
        Some(expected) => passes(u32::try_from(found).is_ok_and(|found| found == expected)),
        None if found == 0 => return None,
        None => Verdict::Measured,
    };
    let expected = expected.map(|count| count.to_string());
    Some(check(
        CheckKind::NvmeDisks,
        verdict,
        found.to_string(),
        expected,
    ))
}

fn all_reduce(said: AllReduce, expectation: &Expectation<'_>) -> Check {
    let least = expectation.row.and_then(|row| row.all_reduce_gb_s);
    let (verdict, found) = match said {
        AllReduce::Absent => (
            Verdict::Skipped,
            "`all_reduce_perf` is not installed".to_owned(),
        ),
        AllReduce::Busy => (Verdict::Skipped, "the GPUs are in use".to_owned()),
        AllReduce::Broken(last) => (Verdict::Failed, format!("no result: {last}")),
        AllReduce::Done {
            bandwidth,
            right: false,
        } => (
            Verdict::Failed,
            format!("{bandwidth} GB/s, and sums are wrong"),
        ),
        AllReduce::Done {
            bandwidth,
            right: true,
        } => {
            let verdict = least.map_or(Verdict::Measured, |least| passes(bandwidth >= least));
            (verdict, format!("{bandwidth} GB/s"))
        }
    };
    let expected = least.map(|least| format!("at least {least} GB/s"));
    check(CheckKind::AllReduce, verdict, found, expected)
}

/// The driver, where a tool says it, against that of most nodes.
fn driver(found: &BTreeSet<String>, usual: &BTreeSet<String>) -> Option<Check> {
    let words = |drivers: &BTreeSet<String>| {
        let drivers: Vec<&str> = drivers.iter().map(String::as_str).collect();
        drivers.join(" and ")
    };
    if found.is_empty() {
        return None;
    }
    let verdict = passes(found == usual && found.len() == 1);
    let expected = Some(format!("{} on all nodes", words(usual)));
    Some(check(CheckKind::Driver, verdict, words(found), expected))
}

/// The partition key of a node's ports against that of most nodes. What no partition has is the
/// default, 0x7fff or 0xffff, and 0.
fn partition_key(found: &BTreeSet<u16>, usual: &BTreeSet<u16>) -> Option<Check> {
    let words = |keys: &BTreeSet<u16>| {
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:#06x}")).collect();
        keys.join(" and ")
    };
    if found.is_empty() {
        return None;
    }
    let is_default = |key: &u16| matches!(*key & 0x7fff, 0x7fff | 0);
    let verdict = passes(found == usual && found.len() == 1 && !found.iter().any(is_default));
    let expected = if usual.iter().any(is_default) {
        "a key other than the default".to_owned()
    } else {
        format!("{} on all nodes", words(usual))
    };
    Some(check(
        CheckKind::PartitionKey,
        verdict,
        words(found),
        Some(expected),
    ))
}

fn passes(passes: bool) -> Verdict {
    if passes {
        Verdict::Passed
    } else {
        Verdict::Failed
    }
}

fn check(check: CheckKind, verdict: Verdict, found: String, expected: Option<String>) -> Check {
    Check {
        check,
        verdict,
        found,
        expected,
    }
}
