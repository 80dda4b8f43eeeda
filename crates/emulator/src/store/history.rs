//! What a world was a while ago, for answers that are behind.

use std::collections::VecDeque;

use super::{entry::Entry, world::World};
use crate::{clock::Instant, faults::Point};

/// How much of the past is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// So many seconds of Azure's time.
    pub(crate) seconds: u64,
    /// Whether the last changes are remembered, whenever they were.
    pub(crate) changes: bool,
}

/// So many changes are remembered whenever they were.
const CHANGES_KEPT: usize = 2_000;

/// The changes of the past, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    memory: Memory,
    changes: VecDeque<Change>,
}

/// A change, by what it undid.
#[derive(Debug)]
struct Change {
    number: u64,
    at: Instant,
    undo: Vec<(String, Option<Entry>)>,
}

impl History {
    /// Takes note of a change, and forgets what nobody needs any more.
    pub(super) fn add(
        &mut self,
        number: u64,
        (at, oldest): (Instant, Instant),
        undo: Vec<(String, Option<Entry>)>,
    ) {
        if self.memory == Memory::default() {
            return;
        }
        self.changes.push_back(Change { number, at, undo });
        while let Some(first) = self.changes.front() {
            let recent = self.memory.changes && self.changes.len() <= CHANGES_KEPT;
            if recent || first.at >= oldest {
                break;
            }
            self.changes.pop_front();
        }
    }
}

impl World {
    /// Remembers so much of the past from now on.
    pub(crate) fn remember(&mut self, memory: Memory) {
        self.history.memory = memory;
        if memory == Memory::default() {
            self.history.changes.clear();
        }
    }

    /// What was remembered before this is forgotten.
    pub(super) fn horizon(&self) -> Instant {
        let facts = self.facts();
        let span = std::time::Duration::from_secs(self.history.memory.seconds);
        let span = i64::try_from(facts.speed.shrink(span).as_micros()).unwrap_or(i64::MAX);
        Instant::from_unix_micros(self.now().unix_micros().saturating_sub(span))
    }

    /// The number of the last change of what a path reads, given in lower case.
    pub(crate) fn last_change(&self, path: &str) -> Option<u64> {
        let concerns = |change: &&Change| {
            let mut keys = change.undo.iter().map(|(key, _)| key.as_str());
            keys.any(|key| is_read_by(path, key))
        };
        let found = self.history.changes.iter().rev().find(concerns);
        found.map(|change| change.number)
    }

    /// Does something with the world as it was, and leaves it as it is.
    pub(crate) fn in_past<T>(&mut self, point: Point, act: impl FnOnce(&mut Self) -> T) -> T {
        let back: Vec<(String, Option<Entry>)> = self
            .history
            .changes
            .iter()
            .rev()
            .take_while(|change| match point {
                Point::At(at) => change.at > at,
                Point::Before(number) => change.number >= number,
            })
            .flat_map(|change| change.undo.iter().rev())
            .cloned()
            .collect();
        self.rehearse(|world| {
            for (key, entry) in back {
                match entry {
                    Some(entry) => world.put(entry),
                    None => world.remove(&key),
                }
            }
            act(world)
        })
    }
}

/// Whether a path reads what stands under a key: the resource itself, something of it, or a list
/// that it is in.
fn is_read_by(path: &str, key: &str) -> bool {
    let Some(id) = key.strip_prefix("resource ") else {
        // `group SUBSCRIPTION NAME` of `/subscriptions/SUBSCRIPTION/resourcegroups/NAME`.
        let mut words = key.splitn(3, ' ');
        let group = words.next() == Some("group");
        let (subscription, name) = (words.next(), words.next());
        let list = subscription.map(|id| format!("/subscriptions/{id}/resourcegroups"));
        let one = list
            .as_ref()
            .zip(name)
            .map(|(list, name)| format!("{list}/{name}"));
        return group
            && [list, one]
                .iter()
                .any(|known| known.as_deref() == Some(path));
    };
    let path = path.trim_end_matches('/');
    let below = |whole: &str, start: &str| {
        whole
            .strip_prefix(start)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if below(path, id) || below(id, path) {
        return true;
    }
    if let Some(scope) = path.strip_suffix("/resources") {
        return below(id, scope);
    }
    // A list of a whole subscription.
    path.split_once("/providers/").is_some_and(|(scope, kind)| {
        below(id, scope) && id.contains(&format!("/providers/{kind}/"))
    })
}

#[cfg(test)]
mod tests {
    use super::is_read_by;

    #[test]
    fn paths_read_what_they_name_and_what_their_lists_hold() {
        let vm = "resource /subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/vm1";
        let in_group = "/subscriptions/s/resourcegroups/rg";
        let cases = [
            (
                "{g}/providers/microsoft.compute/virtualmachines/vm1",
                vm,
                true,
            ),
            (
                "{g}/providers/microsoft.compute/virtualmachines/vm1/instanceview",
                vm,
                true,
            ),
            ("{g}/providers/microsoft.compute/virtualmachines", vm, true),
            (
                "/subscriptions/s/providers/microsoft.compute/virtualmachines",
                vm,
                true,
            ),
            ("{g}/resources", vm, true),
            ("/subscriptions/s/resources", vm, true),
            (
                "{g}/providers/microsoft.compute/virtualmachines/vm",
                vm,
                false,
            ),
            (
                "{g}/providers/microsoft.compute/virtualmachines/vm10",
                vm,
                false,
            ),
            (
                "/subscriptions/s/providers/microsoft.compute/disks",
                vm,
                false,
            ),
            ("/subscriptions/other/resources", vm, false),
            ("{g}", "group s rg", true),
            ("/subscriptions/s/resourcegroups", "group s rg", true),
            ("/subscriptions/s/resourcegroups/r", "group s rg", false),
            ("{g}", "operation 1", false),
        ];
        for (path, key, reads) in cases {
            let path = path.replace("{g}", in_group);
            assert_eq!(is_read_by(&path, key), reads, "{path} {key}");
        }
    }
}
