//! Specs of random stacks, and random changes to them.

use std::fmt::Write as _;

use crate::harness::Seeded;

/// Sizes of one quota family and of others, all offered in every zone.
const SIZES: [&str; 4] = [
    "Standard_D2s_v5",
    "Standard_D4s_v5",
    "Standard_E8s_v5",
    "Standard_F8s_v2",
];

/// A pool of a random stack.
#[derive(Clone, Debug)]
struct Pool {
    name: &'static str,
    count: usize,
    set: bool,
    size: &'static str,
    zones: &'static str,
    spot: bool,
    disks: usize,
    fallback: bool,
    rollback: bool,
}

/// A random stack.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    nat: bool,
    tags: usize,
    pools: Vec<Pool>,
}

/// One of these.
pub(super) fn one_of<T: Copy>(random: &mut Seeded, all: &[T]) -> T {
    all[random.below(all.len())]
}

/// True once in so many times.
pub(super) fn once_in(random: &mut Seeded, times: usize) -> bool {
    random.below(times) == 0
}

impl Pool {
    fn random(random: &mut Seeded, name: &'static str) -> Self {
        let set = once_in(random, 3);
        Self {
            name,
            count: random.below(4),
            set,
            size: one_of(random, &SIZES),
            zones: one_of(random, &["none", "none", "[1]", "[1, 2]", "auto"]),
            spot: !set && once_in(random, 5),
            disks: if once_in(random, 3) {
                1 + random.below(2)
            } else {
                0
            },
            fallback: once_in(random, 2),
            rollback: once_in(random, 3),
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "  {}:\n    stage: inference\n    workload: small\n    count: {}\n    grouping: {}\n    \
             size: {}\n    zones: {}\n    allow_stop: true\n",
            self.name,
            self.count,
            if self.set { "scale_set" } else { "vms" },
            self.size,
            self.zones,
        );
        let mut add = |line: &str| writeln!(text, "    {line}").expect("text grows");
        if self.spot {
            add("priority: {spot: {eviction: deallocate}}");
        }
        match self.disks {
            0 => {}
            1 => add("disks: {data: [{size_gb: 64, type: premium, lun: 0}]}"),
            _ => add("disks: {data: [{size_gb: 64, type: premium, lun: 0}, \
                 {size_gb: 32, type: standard_ssd, lun: 3}]}"),
        }
        if self.fallback {
            add("fallback: [Standard_D8s_v5]");
        }
        if self.rollback {
            add("capacity: {on_partial: rollback}");
        }
        text
    }
}

impl Stack {
    /// One to three pools.
    pub(super) fn random(random: &mut Seeded) -> Self {
        let names = ["train", "serve", "batch"];
        let count = 1 + random.below(3);
        Self {
            nat: !once_in(random, 3),
            tags: random.below(3),
            pools: names
                .into_iter()
                .take(count)
                .map(|name| Pool::random(random, name))
                .collect(),
        }
    }

    /// The same with some wishes changed that a live stack can follow.
    pub(super) fn changed(&self, random: &mut Seeded) -> Self {
        let mut changed = self.clone();
        for _ in 0..random.below(4) {
            match random.below(6) {
                0 => changed.tags = random.below(3),
                1 => changed.nat = !changed.nat,
                2 if changed.pools.len() > 1 => {
                    let at = random.below(changed.pools.len());
                    changed.pools.remove(at);
                }
                kind => {
                    let at = random.below(changed.pools.len());
                    let pool = &mut changed.pools[at];
                    match kind {
                        3 => pool.count = random.below(5),
                        4 => pool.size = one_of(random, &SIZES),
                        _ => pool.rollback = !pool.rollback,
                    }
                }
            }
        }
        changed
    }

    /// As a spec.
    pub(super) fn text(&self) -> String {
        let tags = [
            "{}",
            "{team: ml}",
            "{Team: research, Cost-Center: \"0042\"}",
        ][self.tags];
        let pools: String = self.pools.iter().map(Pool::text).collect();
        format!(
            "version: 1\nname: proof\nlocation: eastus\ntags: {tags}\n\
             network: {{outbound: {}}}\npools:\n{pools}",
            if self.nat { "nat" } else { "none" },
        )
    }
}
