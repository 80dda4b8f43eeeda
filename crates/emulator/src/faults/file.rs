//! The faults file: reads it, and refuses mistakes with their place.

use std::{collections::BTreeSet, fmt, path::Path};

use super::{
    Action, Faults, Match, Rule,
    known::{self, Known},
    node::{self, Node, Tree},
};
use crate::{http::Method, store::entry::Failure};

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

    fn at(node: &Node, message: impl Into<String>) -> Self {
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

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

const ACTIONS: [&str; 7] = [
    "fail_at_begin",
    "fail_in_operation",
    "throttle",
    "drop_before",
    "drop_after_acceptance",
    "hang",
    "slow",
];

impl Reader {
    fn wrong(&mut self, node: &Node, message: impl Into<String>) {
        self.problems.push(Problem::at(node, message));
    }

    /// The members of a map by these keys; other keys are refused with the nearest one.
    fn members<'a, const N: usize>(
        &mut self,
        node: &'a Node,
        keys: [&str; N],
    ) -> [Option<&'a Node>; N] {
        let mut found = [None; N];
        let Tree::Map(members) = &node.value else {
            if !node.is_empty() {
                let expected = format!("expected a map, found {}", node.kind());
                self.wrong(node, expected);
            }
            return found;
        };
        for (key, value) in members {
            let name = key.text().unwrap_or_default();
            match keys.iter().position(|known| *known == name) {
                Some(at) => {
                    if let Some(place) = found.get_mut(at) {
                        *place = Some(value);
                    }
                }
                None => self.unknown(key, name, &keys),
            }
        }
        found
    }

    fn unknown(&mut self, node: &Node, name: &str, known: &[&str]) {
        let mut problem = Problem::at(
            node,
            format!("expected one of `{}`, found `{name}`", known.join("`, `")),
        );
        problem.help = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
        self.problems.push(problem);
    }

    fn faults(&mut self, node: &Node) -> Faults {
        let [expired, rules] = self.members(node, ["expired_tokens", "rules"]);
        let mut faults = Faults::none();
        if let Some(expired) = expired {
            faults.expired = self.texts(expired).into_iter().collect();
        }
        match rules.map(|node| (&node.value, node)) {
            None => {}
            Some((_, node)) if node.is_empty() => {}
            Some((Tree::List(items), _)) => {
                for (at, item) in items.iter().enumerate() {
                    if let Some(rule) = self.rule(item, at) {
                        faults.rules.push(rule);
                    }
                }
            }
            Some((_, node)) => {
                let expected = format!("expected a list of rules, found {}", node.kind());
                self.wrong(node, expected);
            }
        }
        faults
    }

    fn rule(&mut self, node: &Node, at: usize) -> Option<Rule> {
        let [name, matching, then] = self.members(node, ["name", "match", "then"]);
        let name = name
            .and_then(|name| self.text(name))
            .unwrap_or_else(|| format!("rule {}", at + 1));
        let matching = matching.map_or_else(Match::default, |node| self.matching(node));
        let Some(then) = then else {
            self.wrong(node, "expected `then`, which says what happens");
            return None;
        };
        let action = self.action(then)?;
        Some(Rule {
            name,
            matching,
            action,
            seen: 0,
            fired: 0,
        })
    }

    fn matching(&mut self, node: &Node) -> Match {
        let [method, kind, path, name, nth, after, count] = self.members(
            node,
            ["method", "type", "path", "name", "nth", "after", "count"],
        );
        Match {
            methods: method.map(|node| self.methods(node)).unwrap_or_default(),
            kind: kind.and_then(|node| self.text(node)),
            path: path.and_then(|node| self.text(node)),
            name: name.and_then(|node| self.text(node)),
            nth: nth.map(|node| self.numbers(node)).unwrap_or_default(),
            after: after.and_then(|node| self.number(node)).unwrap_or(0),
            count: count.and_then(|node| self.number(node)),
        }
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

    fn action(&mut self, node: &Node) -> Option<Action> {
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
            "throttle" => {
                let [seconds] = self.members(arguments, ["retry_after"]);
                let retry_after = seconds.and_then(|node| self.number(node)).unwrap_or(10);
                Some(Action::Throttle { retry_after })
            }
            "slow" => {
                let [seconds] = self.members(arguments, ["seconds"]);
                let Some(seconds) = seconds else {
                    self.wrong(key, "expected `seconds`");
                    return None;
                };
                self.number(seconds).map(|seconds| Action::Slow { seconds })
            }
            "drop_before" => self.plain(arguments, Action::DropBefore),
            "drop_after_acceptance" => self.plain(arguments, Action::DropAfterAcceptance),
            "hang" => self.plain(arguments, Action::Hang),
            _ => {
                self.unknown(key, name, &ACTIONS);
                None
            }
        }
    }

    fn plain(&mut self, arguments: &Node, action: Action) -> Option<Action> {
        if arguments.is_empty() {
            return Some(action);
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
            None => known
                .and_then(|known| known.status)
                .map(u64::from)
                .or_else(|| {
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
        Some(Action::FailAtBegin {
            status,
            message: self.message(message, known),
            code,
            retry_after: retry_after.and_then(|node| self.number(node)),
        })
    }

    fn fail_in_operation(&mut self, node: &Node) -> Option<Action> {
        let [code, message, allocated] = self.members(node, ["code", "message", "allocated"]);
        let code = self.required(node, code, "code")?;
        let known = known::find(&code);
        let allocated = match allocated {
            Some(given) => match given.text() {
                Some("true") => true,
                Some("false") => false,
                Some(_) | None => {
                    self.wrong(given, "expected `true` or `false`");
                    return None;
                }
            },
            None => known.is_some_and(|known| known.allocated),
        };
        Some(Action::FailInOperation(Failure {
            message: self.message(message, known),
            code,
            allocated,
        }))
    }

    fn message(&mut self, given: Option<&Node>, known: Option<&Known>) -> String {
        given
            .and_then(|node| self.text(node))
            .or_else(|| known.map(|known| known.message.to_owned()))
            .unwrap_or_else(|| "A fault rule of the sandbox says so.".to_owned())
    }

    fn required(&mut self, node: &Node, given: Option<&Node>, key: &str) -> Option<String> {
        let Some(given) = given else {
            self.wrong(node, format!("expected `{key}`"));
            return None;
        };
        self.text(given)
    }

    fn text(&mut self, node: &Node) -> Option<String> {
        let text = node.text().map(str::to_owned);
        if text.is_none() {
            let expected = format!("expected a text, found {}", node.kind());
            self.wrong(node, expected);
        }
        text
    }

    fn texts(&mut self, node: &Node) -> Vec<String> {
        items(node)
            .iter()
            .filter_map(|item| self.text(item))
            .collect()
    }

    fn number(&mut self, node: &Node) -> Option<u64> {
        let number = node.text().and_then(|text| text.parse().ok());
        if number.is_none() {
            let found = node.text().unwrap_or_else(|| node.kind());
            self.wrong(node, format!("expected a whole number, found `{found}`"));
        }
        number
    }

    fn numbers(&mut self, node: &Node) -> BTreeSet<u64> {
        items(node)
            .iter()
            .filter_map(|item| self.number(item))
            .collect()
    }
}

/// The items of a list, or the one value that stands for a list of one.
fn items(node: &Node) -> &[Node] {
    match &node.value {
        Tree::List(items) => items,
        Tree::Scalar(..) | Tree::Map(_) => std::slice::from_ref(node),
    }
}

fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}
