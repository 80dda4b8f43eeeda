//! Lines of `slurm.conf`: nodes and partitions. What a node has is what the catalogue knows of its
//! size; nothing is guessed.

use std::fmt::Write as _;

/// Memory that a scheduler does not give away: the system's own, and what firmware keeps. Slurm
/// drains a node that has less than its line says.
const HEADROOM_MIB: u64 = 1_024;

/// The share of memory that is kept where that is more.
const HEADROOM_SHARE: u64 = 20;

/// What a node has, where it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hardware {
    /// Virtual CPUs.
    pub(crate) vcpus: Option<u32>,
    /// Memory in MiB.
    pub(crate) memory_mib: Option<u64>,
    /// GPUs.
    pub(crate) gpus: Option<u32>,
}

impl Hardware {
    /// Whether it is known to have GPUs.
    pub(crate) fn has_gpus(self) -> bool {
        self.gpus.is_some_and(|gpus| gpus > 0)
    }
}

/// The line of a node, or of nodes that are alike. Sockets and cores are not said, as nobody knows
/// them before a node runs: `slurmd -C` on the node tells.
pub(crate) fn node(names: &str, settings: &str, hardware: Hardware, state: &str) -> String {
    let mut line = format!("NodeName={names}{settings}");
    if let Some(vcpus) = hardware.vcpus {
        let _ = write!(line, " CPUs={vcpus}");
    }
    if let Some(memory) = hardware.memory_mib {
        let _ = write!(line, " RealMemory={}", real_memory(memory));
    }
    if let Some(gpus) = hardware.gpus.filter(|gpus| *gpus > 0) {
        let _ = write!(line, " Gres=gpu:{gpus}");
    }
    let _ = writeln!(line, " State={state}");
    line
}

/// The line of a partition.
pub(crate) fn partition(name: &str, nodes: &str, is_default: bool) -> String {
    let default = if is_default { " Default=YES" } else { "" };
    format!("PartitionName={name} Nodes={nodes}{default} MaxTime=INFINITE State=UP\n")
}

/// Memory in MiB that jobs may have of a node.
fn real_memory(memory: u64) -> u64 {
    let kept = HEADROOM_MIB.max(memory / HEADROOM_SHARE);
    memory.saturating_sub(kept).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_leaves_a_twentieth_or_a_gibibyte() {
        assert_eq!(real_memory(1_945_600), 1_848_320);
        assert_eq!(real_memory(8_192), 7_168);
        assert_eq!(real_memory(512), 1);
    }
}
