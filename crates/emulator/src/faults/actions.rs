//! What a rule of a faults file does: `then`.

use std::collections::BTreeSet;

use super::{
    Action,
    allocation::{CODES, Shortage},
    effects::{Effect, Eviction, Order, QuotaChange},
    known::{self, Known},
    node::{Node, Tree},
    pattern::Pattern,
    reader::Reader,
    rules::{Fate, Staleness},
    tags::TagPolicy,
};
use crate::{
    routes::{
        compute::{self, guest::Ailment},
        network, services,
    },
    store::entry::Failure,
};

const ACTIONS: [&str; 14] = [
    "fail_at_begin",
    "fail_in_operation",
    "fail_allocation",
    "throttle",
    "drop_before",
    "drop_after_acceptance",
    "hang",
    "slow",
    "stale",
    "expire_token",
    "modify_tags",
    "evict",
    "set_quota",
    "guest",
];

/// The keys that tell machines by the hardware that they need.
pub(super) const OF_HARDWARE: [&str; 5] = ["size", "location", "zone", "priority", "grouping"];

impl Reader {
    pub(super) fn action(&mut self, node: &Node) -> Option<Action> {
        let empty = Node {
            line: node.line,
            column: node.column,
            value: Tree::Map(Vec::new()),
        };
        let (name, key, arguments) = match &node.value {
            Tree::Scalar(text, _) => (text.as_str(), node, &empty),
            Tree::Map(members) => {
                let [(key, value)] = members.as_slice() else {
                    let expected = format!(
                        "expected one of `{}`, found {} keys",
                        ACTIONS.join("`, `"),
                        members.len()
                    );
                    self.wrong(node, expected);
                    return None;
                };
                (key.text().unwrap_or_default(), key, value)
            }
            Tree::List(_) => {
                self.wrong(node, "expected one action, found a list");
                return None;
            }
        };
        match name {
            "fail_at_begin" => self.fail_at_begin(arguments),
            "fail_in_operation" => self.fail_in_operation(arguments),
            "fail_allocation" => self.fail_allocation(arguments),
            "throttle" => {
                let [seconds] = self.members(arguments, ["retry_after"]);
                let retry_after = seconds.and_then(|node| self.number(node)).unwrap_or(10);
                Some(Action::Fate(Fate::Throttle { retry_after }))
            }
            "slow" => {
                let [seconds] = self.members(arguments, ["seconds"]);
                let Some(seconds) = seconds else {
                    self.wrong(key, "expected `seconds`");
                    return None;
                };
                let seconds = self.number(seconds)?;
                Some(Action::Fate(Fate::Slow { seconds }))
            }
            "stale" => self.stale(key, arguments),
            "modify_tags" => self.modify_tags(key, arguments),
            "guest" => self.guest(key, arguments),
            "evict" => Some(self.evict(arguments)),
            "set_quota" => self.set_quota(key, arguments),
            "drop_before" => self.plain(arguments, Fate::DropBefore),
            "drop_after_acceptance" => self.plain(arguments, Fate::DropAfterAcceptance),
            "hang" => self.plain(arguments, Fate::Hang),
            "expire_token" => self.plain(arguments, Fate::ExpireToken),
            _ => {
                self.unknown(key, name, &ACTIONS);
                None
            }
        }
    }

    fn plain(&mut self, arguments: &Node, fate: Fate) -> Option<Action> {
        if arguments.is_empty() {
            return Some(Action::Fate(fate));
        }
        self.wrong(arguments, "expected nothing here");
        None
    }

    fn fail_at_begin(&mut self, node: &Node) -> Option<Action> {
        let [status, code, message, retry_after] =
            self.members(node, ["status", "code", "message", "retry_after"]);
        let code = self.required(node, code, "code")?;
        let known = known::find(&code);
        let status = match status {
            Some(given) => self.number(given)?,
            None => known::status(&code).map(u64::from).or_else(|| {
                self.wrong(
                    node,
                    format!("expected `status`, since `{code}` has no usual one"),
                );
                None
            })?,
        };
        let Some(status) = u16::try_from(status)
            .ok()
            .filter(|status| (400..600).contains(status))
        else {
            self.wrong(
                node,
                format!("expected a status from 400 to 599, found `{status}`"),
            );
            return None;
        };
        Some(Action::Fate(Fate::FailAtBegin {
            status,
            message: self.message(message, known),
            code,
            retry_after: retry_after.and_then(|node| self.number(node)),
        }))
    }

    fn fail_in_operation(&mut self, node: &Node) -> Option<Action> {
        let [code, message, allocated] = self.members(node, ["code", "message", "allocated"]);
        let code = self.required(node, code, "code")?;
        let known = known::find(&code);
        let allocated = match allocated {
            Some(given) => self.flag(given)?,
            None => known.is_some_and(|known| known.allocated),
        };
        Some(Action::Fate(Fate::FailInOperation(Failure {
            message: self.message(message, known),
            code,
            allocated,
        })))
    }

    fn message(&mut self, given: Option<&Node>, known: Option<&Known>) -> String {
        given
            .and_then(|node| self.text(node))
            .or_else(|| known.map(|known| known.message.to_owned()))
            .unwrap_or_else(|| "A fault rule of the sandbox says so.".to_owned())
    }

    fn fail_allocation(&mut self, node: &Node) -> Option<Action> {
        let [code, message, available] = self.members(node, ["code", "message", "available"]);
        let code = match code {
            None => None,
            Some(given) => {
                let text = self.text(given)?;
                if !CODES.contains(&text.as_str()) {
                    self.unknown(given, &text, &CODES);
                    return None;
                }
                Some(text)
            }
        };
        Some(Action::FailAllocation(Shortage {
            code,
            message: message.and_then(|node| self.text(node)),
            available: available.and_then(|node| self.number(node)).unwrap_or(0),
        }))
    }

    fn stale(&mut self, key: &Node, node: &Node) -> Option<Action> {
        let [seconds, reads] = self.members(node, ["seconds", "reads"]);
        let staleness = match (seconds, reads) {
            (Some(seconds), None) => Staleness::Seconds(self.number(seconds)?),
            (None, Some(reads)) => Staleness::Reads {
                reads: self.number(reads)?,
                held: std::collections::BTreeMap::new(),
            },
            (None, None) => {
                self.wrong(key, "expected `seconds` or `reads`");
                return None;
            }
            (Some(_), Some(reads)) => {
                self.wrong(reads, "expected either `seconds` or `reads`, found both");
                return None;
            }
        };
        Some(Action::Stale(staleness))
    }

    fn modify_tags(&mut self, key: &Node, node: &Node) -> Option<Action> {
        let [add, set, remove, on_write, later] =
            self.members(node, ["add", "set", "remove", "on_write", "later"]);
        let mut map =
            |node: Option<&Node>| node.map(|node| self.text_map(node)).unwrap_or_default();
        let given = add.or(set).or(remove);
        let (add, set) = (map(add), map(set));
        let remove = remove.map(|node| self.texts(node)).unwrap_or_default();
        if given.is_none() {
            self.wrong(key, "expected tags in `add`, `set` or `remove`");
            return None;
        }
        let later: BTreeSet<u64> = later.map(|node| self.numbers(node)).unwrap_or_default();
        Some(Action::Tags(TagPolicy {
            add,
            set,
            remove,
            on_write: on_write.and_then(|node| self.flag(node)).unwrap_or(true),
            later: later.into_iter().collect(),
        }))
    }

    fn guest(&mut self, key: &Node, node: &Node) -> Option<Action> {
        let [
            missing_gpus,
            partition_key,
            fabric_manager,
            all_reduce,
            output,
        ] = self.members(
            node,
            [
                "missing_gpus",
                "partition_key",
                "fabric_manager",
                "all_reduce",
                "output",
            ],
        );
        if node.is_empty() {
            self.wrong(key, "expected what the guest says, such as `missing_gpus`");
            return None;
        }
        let missing_gpus = missing_gpus.and_then(|node| self.number(node));
        let mut text = |node: Option<&Node>| node.and_then(|node| self.text(node));
        Some(Action::Fate(Fate::Guest(Box::new(Ailment {
            missing_gpus: missing_gpus.unwrap_or(0),
            partition_key: text(partition_key),
            fabric_manager: text(fabric_manager),
            all_reduce: text(all_reduce),
            output: text(output),
        }))))
    }

    fn evict(&mut self, node: &Node) -> Action {
        let [size, location, zone, name, group, count, order] = self.members(
            node,
            [
                "size", "location", "zone", "name", "group", "count", "order",
            ],
        );
        let order = order.map_or(Order::Name, |node| match node.text() {
            Some("name") => Order::Name,
            Some("oldest") => Order::Oldest,
            Some("newest") => Order::Newest,
            found => {
                let known = ["name", "oldest", "newest"];
                self.unknown(node, found.unwrap_or(node.kind()), &known);
                Order::Name
            }
        });
        let hardware = self.hardware([size, location, zone, None, None]);
        let mut pattern =
            |node: Option<&Node>| node.and_then(|node| self.text(node)).map(Pattern::new);
        let (name, group) = (pattern(name), pattern(group));
        Action::Happen(Effect::Evict(Eviction {
            hardware,
            name,
            group,
            count: count.and_then(|node| self.number(node)),
            order,
        }))
    }

    fn set_quota(&mut self, key: &Node, node: &Node) -> Option<Action> {
        let [subscription, location, limits] =
            self.members(node, ["subscription", "location", "limits"]);
        let (Some(location), Some(limits)) = (location, limits) else {
            self.wrong(key, "expected `location` and `limits`");
            return None;
        };
        if let Tree::Map(members) = &limits.value {
            let batch = services::QUOTAS.map(str::to_owned);
            let known: Vec<String> = compute::quota::names()
                .chain(network::usages::names())
                .chain(batch)
                .collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            for (counter, _) in members {
                let name = counter.text().unwrap_or_default();
                if !known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    self.strange(counter, "a counter of quota", name, &known);
                }
            }
        }
        Some(Action::Happen(Effect::SetQuota(QuotaChange {
            subscription: subscription.and_then(|node| self.text(node)),
            location: self.location(location)?,
            limits: self.map(limits, Self::number),
        })))
    }
}
