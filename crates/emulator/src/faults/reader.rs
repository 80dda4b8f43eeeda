//! Values of a faults file: what was expected, and where something else was found.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    file::Problem,
    node::{Node, Tree},
    time::When,
};

/// Reads a tree and collects what is wrong with it.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) problems: Vec<Problem>,
}

impl Reader {
    pub(super) fn wrong(&mut self, node: &Node, message: impl Into<String>) {
        self.problems.push(Problem::at(node, message));
    }

    /// The members of a map by these keys; other keys are refused with the nearest one.
    pub(super) fn members<'a, const N: usize>(
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

    /// Refuses a name that is none of a few.
    pub(super) fn unknown(&mut self, node: &Node, name: &str, known: &[&str]) {
        let expected = match known {
            [] => "nothing here".to_owned(),
            [one] => format!("`{one}`"),
            _ => format!("one of `{}`", known.join("`, `")),
        };
        self.strange(node, &expected, name, known);
    }

    /// Refuses a name, and offers the nearest of those that are known.
    pub(super) fn strange(&mut self, node: &Node, expected: &str, found: &str, known: &[&str]) {
        let mut problem = Problem::at(node, format!("expected {expected}, found `{found}`"));
        problem.help = nearest(found, known).map(|near| format!("did you mean `{near}`?"));
        self.problems.push(problem);
    }

    pub(super) fn required(
        &mut self,
        node: &Node,
        given: Option<&Node>,
        key: &str,
    ) -> Option<String> {
        let Some(given) = given else {
            self.wrong(node, format!("expected `{key}`"));
            return None;
        };
        self.text(given)
    }

    pub(super) fn text(&mut self, node: &Node) -> Option<String> {
        let text = node.text().map(str::to_owned);
        if text.is_none() {
            let expected = format!("expected a text, found {}", node.kind());
            self.wrong(node, expected);
        }
        text
    }

    pub(super) fn texts(&mut self, node: &Node) -> Vec<String> {
        items(node)
            .iter()
            .filter_map(|item| self.text(item))
            .collect()
    }

    pub(super) fn number(&mut self, node: &Node) -> Option<u64> {
        let number = node.text().and_then(|text| text.parse().ok());
        if number.is_none() {
            let found = node.text().unwrap_or_else(|| node.kind());
            self.wrong(node, format!("expected a whole number, found `{found}`"));
        }
        number
    }

    pub(super) fn numbers(&mut self, node: &Node) -> BTreeSet<u64> {
        items(node)
            .iter()
            .filter_map(|item| self.number(item))
            .collect()
    }

    pub(super) fn flag(&mut self, node: &Node) -> Option<bool> {
        match node.text() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) | None => {
                self.wrong(node, "expected `true` or `false`");
                None
            }
        }
    }

    pub(super) fn time(&mut self, node: &Node) -> Option<When> {
        let when = node.text().and_then(When::parse);
        if when.is_none() {
            let found = node.text().unwrap_or_else(|| node.kind());
            let expected = "seconds or a time such as `2026-08-01T00:10:00Z`";
            self.wrong(node, format!("expected {expected}, found `{found}`"));
        }
        when
    }

    /// A map of texts; every value that is no text is refused.
    pub(super) fn text_map(&mut self, node: &Node) -> BTreeMap<String, String> {
        self.map(node, Self::text)
    }

    /// A map whose values are read in one way.
    pub(super) fn map<T>(
        &mut self,
        node: &Node,
        read: fn(&mut Self, &Node) -> Option<T>,
    ) -> BTreeMap<String, T> {
        let Tree::Map(members) = &node.value else {
            let expected = format!("expected a map, found {}", node.kind());
            self.wrong(node, expected);
            return BTreeMap::new();
        };
        let mut found = BTreeMap::new();
        for (key, value) in members {
            if let (Some(key), Some(value)) = (key.text(), read(self, value)) {
                found.insert(key.to_owned(), value);
            }
        }
        found
    }
}

/// The items of a list, or the one value that stands for a list of one.
pub(super) fn items(node: &Node) -> &[Node] {
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
