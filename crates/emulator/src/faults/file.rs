//! The faults file: reads it, and refuses mistakes with their place.

use std::{collections::BTreeSet, fmt, path::Path};

use super::{
    Action, Faults,
    actions::OF_HARDWARE,
    allocation::Hardware,
    demand::Grouping,
    matching::{Match, Pages},
    node::{self, Node, Tree},
    pattern::Pattern,
    reader::{Reader, items},
    rules::{Rule, Trigger},
    time::When,
};
use crate::{catalogue, http::Method};

/// A mistake in a faults file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
    /// What may have been meant.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            column,
            message: message.into(),
            help: None,
        }
    }

    pub(super) fn at(node: &Node, message: impl Into<String>) -> Self {
        Self::new(node.line, node.column, message)
    }
}

/// A faults file that does not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FaultFileError {
    /// Its name.
    pub file: String,
    /// Every mistake found.
    pub problems: Vec<Problem>,
}

impl fmt::Display for FaultFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            let Problem {
                line,
                column,
                message,
                help,
            } = problem;
            write!(f, "{end}{}:{line}:{column}: {message}", self.file)?;
            if let Some(help) = help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl Faults {
    /// Reads rules from a file.
    pub fn read(path: &Path) -> Result<Self, FaultFileError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &file),
            Err(error) => Err(FaultFileError {
                file,
                problems: vec![Problem::new(1, 1, format!("cannot be read: {error}"))],
            }),
        }
    }

    /// Reads rules from text in YAML or JSON.
    pub fn parse(text: &str, file: &str) -> Result<Self, FaultFileError> {
        let mut reader = Reader::default();
        let faults = match node::read(text) {
            Ok(Some(node)) => reader.faults(&node),
            Ok(None) => Self::none(),
            Err(problem) => {
                reader.problems.push(problem);
                Self::none()
            }
        };
        if reader.problems.is_empty() {
            Ok(faults)
        } else {
            Err(FaultFileError {
                file: file.to_owned(),
                problems: reader.problems,
            })
        }
    }
}

/// The keys of `match`.
const MATCH: [&str; 16] = [
    "method", "type", "path", "name", "page", "size", "location", "zone", "priority", "grouping",
    "from", "until", "follows", "nth", "after", "count",
];

impl Reader {
    fn faults(&mut self, node: &Node) -> Faults {
        let [expired, rules] = self.members(node, ["expired_tokens", "rules"]);
        let mut faults = Faults::none();
        if let Some(expired) = expired {
            faults.expired = self.texts(expired).into_iter().collect();
        }
        match rules.map(|node| (&node.value, node)) {
            None => {}
            Some((_, node)) if node.is_empty() => {}
            Some((Tree::List(list), _)) => {
                for (at, item) in list.iter().enumerate() {
                    if let Some(rule) = self.rule(item, at) {
                        faults.rules.push(rule);
                    }
                }
                self.check_order(&faults, list);
            }
            Some((_, node)) => {
                let expected = format!("expected a list of rules, found {}", node.kind());
                self.wrong(node, expected);
            }
        }
        faults
    }

    /// A rule can follow one that is there.
    fn check_order(&mut self, faults: &Faults, list: &[Node]) {
        let names: Vec<&str> = faults.rules.iter().map(|rule| rule.name.as_str()).collect();
        for item in list {
            let follows = item.member("match").and_then(|node| node.member("follows"));
            let own = item.member("name").and_then(Node::text);
            if let Some(node) = follows
                && let Some(name) = node.text()
            {
                if own == Some(name) {
                    self.wrong(
                        node,
                        format!("expected another rule, found `{name}` itself"),
                    );
                } else if !names.contains(&name) {
                    self.unknown(node, name, &names);
                }
            }
        }
    }

    fn rule(&mut self, node: &Node, at: usize) -> Option<Rule> {
        let [name, times, matching, then] = self.members(node, ["name", "at", "match", "then"]);
        let name = name
            .and_then(|name| self.text(name))
            .unwrap_or_else(|| format!("rule {}", at + 1));
        let read = matching.map_or_else(Match::default, |node| self.matching(node));
        let Some(then) = then else {
            self.wrong(node, "expected `then`, which says what happens");
            return None;
        };
        let action = self.action(then)?;
        if let (Some(matching), false) = (matching, matches!(action, Action::FailAllocation(_))) {
            self.check_hardware(matching);
        }
        let trigger = match times {
            None => Trigger::Requests(Box::new(read)),
            Some(times) => self.times(times, matching, &action)?,
        };
        Some(Rule {
            name,
            trigger,
            action,
            seen: 0,
            fired: 0,
        })
    }

    /// What a rule about other things than hardware cannot match.
    fn check_hardware(&mut self, matching: &Node) {
        for key in OF_HARDWARE {
            if let Some(node) = matching.key(key) {
                let text = format!("expected `then: fail_allocation` with `{key}`");
                self.wrong(node, text);
            }
        }
    }

    fn times(&mut self, times: &Node, matching: Option<&Node>, action: &Action) -> Option<Trigger> {
        if let Some(matching) = matching {
            self.wrong(matching, "expected either `at` or `match`, found both");
            return None;
        }
        if !matches!(action, Action::Happen(_)) {
            self.wrong(
                times,
                "expected `then: evict` or `then: set_quota` with `at`",
            );
            return None;
        }
        let read: Vec<When> = items(times)
            .iter()
            .filter_map(|item| self.time(item))
            .collect();
        if read.is_empty() && items(times).is_empty() {
            self.wrong(times, "expected a time, found an empty list");
        }
        Some(Trigger::Times(read))
    }

    fn matching(&mut self, node: &Node) -> Match {
        let [
            method,
            kind,
            path,
            name,
            page,
            size,
            location,
            zone,
            priority,
            grouping,
            from,
            until,
            follows,
            nth,
            after,
            count,
        ] = self.members(node, MATCH);
        let hardware = self.hardware([size, location, zone, priority, grouping]);
        let mut pattern =
            |node: Option<&Node>| node.and_then(|node| self.text(node)).map(Pattern::new);
        let (kind, path, name) = (pattern(kind), pattern(path), pattern(name));
        let span = [from, until].map(|node| node.and_then(|node| self.time(node)));
        if let ([Some(from), Some(until)], Some(node)) = (span, until)
            && from.is_not_before(until)
        {
            self.wrong(node, "expected a time after `from`");
        }
        let [from, until] = span;
        Match {
            methods: method.map(|node| self.methods(node)).unwrap_or_default(),
            kind,
            path,
            name,
            pages: page.map(|node| self.pages(node)),
            hardware,
            from,
            until,
            follows: follows.and_then(|node| self.text(node)),
            nth: nth
                .map(|node| self.ordinals(node, "requests"))
                .unwrap_or_default(),
            after: after.and_then(|node| self.number(node)).unwrap_or(0),
            count: count.and_then(|node| self.count(node)),
        }
    }

    fn count(&mut self, node: &Node) -> Option<u64> {
        let count = self.number(node)?;
        if count == 0 {
            self.wrong(node, "expected at least 1, found `0`");
        }
        Some(count)
    }

    /// Numbers that are counted from 1.
    fn ordinals(&mut self, node: &Node, what: &str) -> BTreeSet<u64> {
        let numbers = self.numbers(node);
        if numbers.contains(&0) {
            self.wrong(node, format!("expected {what} counted from 1, found `0`"));
        }
        numbers
    }

    fn pages(&mut self, node: &Node) -> Pages {
        if node.text() == Some("linked") {
            return Pages::Linked;
        }
        Pages::These(self.ordinals(node, "pages"))
    }

    fn methods(&mut self, node: &Node) -> BTreeSet<Method> {
        let mut methods = BTreeSet::new();
        for item in items(node) {
            let text = item.text().unwrap_or_default().to_uppercase();
            match Method::named(&text) {
                Method::Other => {
                    let known = Method::ALL.map(Method::as_str);
                    self.unknown(item, &text, &known);
                }
                method @ (Method::Get
                | Method::Head
                | Method::Put
                | Method::Patch
                | Method::Post
                | Method::Delete) => {
                    methods.insert(method);
                }
            }
        }
        methods
    }

    /// Machines by size, location, zone, priority and grouping.
    pub(super) fn hardware(&mut self, keys: [Option<&Node>; 5]) -> Hardware {
        let [size, location, zone, priority, grouping] = keys;
        Hardware {
            sizes: size.map(|node| self.sizes(node)).unwrap_or_default(),
            locations: location
                .map(|node| self.locations(node))
                .unwrap_or_default(),
            zones: zone
                .map(|node| self.texts(node).into_iter().collect())
                .unwrap_or_default(),
            spot: priority.and_then(|node| match node.text() {
                Some("spot") => Some(true),
                Some("regular") => Some(false),
                found => {
                    self.unknown(node, found.unwrap_or(node.kind()), &["spot", "regular"]);
                    None
                }
            }),
            groupings: grouping
                .map(|node| self.groupings(node))
                .unwrap_or_default(),
        }
    }

    fn sizes(&mut self, node: &Node) -> Vec<Pattern> {
        let mut sizes = Vec::new();
        for item in items(node) {
            let Some(text) = self.text(item) else {
                continue;
            };
            if Pattern::is_plain(&text) && catalogue::size(&text).is_none() {
                let known: Vec<&str> = catalogue::size_names().collect();
                self.strange(item, "a size of the catalogue or a pattern", &text, &known);
            }
            sizes.push(Pattern::new(text));
        }
        sizes
    }

    pub(super) fn locations(&mut self, node: &Node) -> BTreeSet<String> {
        items(node)
            .iter()
            .filter_map(|item| self.location(item))
            .collect()
    }

    /// The short name of a region.
    pub(super) fn location(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        let region = catalogue::region(&text).map(|region| region.name.as_str());
        if region.is_none() {
            let known: Vec<&str> = catalogue::regions()
                .iter()
                .map(|row| row.name.as_str())
                .collect();
            self.strange(node, "a region", &text, &known);
        }
        region.map(str::to_owned)
    }

    fn groupings(&mut self, node: &Node) -> BTreeSet<Option<Grouping>> {
        let mut groupings = BTreeSet::new();
        for item in items(node) {
            let Some(text) = self.text(item) else {
                continue;
            };
            let found = Grouping::ALL.iter().find(|(name, _)| *name == text);
            match found {
                Some((_, grouping)) => {
                    groupings.insert(Some(*grouping));
                }
                None if text == "none" => {
                    groupings.insert(None);
                }
                None => {
                    let all = Grouping::ALL.iter().map(|(name, _)| *name);
                    let known: Vec<&str> = all.chain(["none"]).collect();
                    self.unknown(item, &text, &known);
                }
            }
        }
        groupings
    }
}
