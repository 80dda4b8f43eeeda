//! Where a member stands in the text of a JSON document, for messages that say so.

/// A step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Member(String),
    Item(usize),
}

/// The path as messages print it: `properties.ipConfigurations[0].name`.
pub(crate) fn print(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Member(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Item(at) => {
                text.push('[');
                text.push_str(&at.to_string());
                text.push(']');
            }
        }
    }
    text
}

/// Line and position, both as Json.NET counts them, right after the colon of the member at this path.
///
/// The text must be a well-formed document; the start of the document is given for a path that
/// is not in it.
pub(crate) fn locate(text: &str, path: &[Step]) -> (usize, usize) {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    let found = scanner.value(path).unwrap_or(0);
    let before = text.get(..found).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let position = before.get(start..).unwrap_or_default().chars().count();
    (line, position)
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, expected: u8) -> bool {
        let there = self.peek() == Some(expected);
        if there {
            self.at += 1;
        }
        there
    }

    /// Reads over a value; answers where the path ends if it ends in here.
    fn value(&mut self, path: &[Step]) -> Option<usize> {
        match self.peek()? {
            b'{' => self.object(path),
            b'[' => self.array(path),
            b'"' => {
                self.string();
                None
            }
            _ => {
                while self
                    .bytes
                    .get(self.at)
                    .is_some_and(|byte| !b",]}".contains(byte) && !byte.is_ascii_whitespace())
                {
                    self.at += 1;
                }
                None
            }
        }
    }

    fn object(&mut self, path: &[Step]) -> Option<usize> {
        self.skip(b'{');
        while self.peek()? == b'"' {
            let name = self.string();
            self.skip(b':');
            let after = match path.split_first() {
                Some((Step::Member(wanted), after)) if *wanted == name => Some(after),
                Some(_) | None => None,
            };
            if after.is_some_and(<[Step]>::is_empty) {
                return Some(self.at);
            }
            if let Some(found) = self.value(after.unwrap_or_default()) {
                return Some(found);
            }
            self.skip(b',');
        }
        self.skip(b'}');
        None
    }

    fn array(&mut self, path: &[Step]) -> Option<usize> {
        self.skip(b'[');
        let mut item = 0;
        while self.peek()? != b']' {
            let after = match path.split_first() {
                Some((Step::Item(wanted), after)) if *wanted == item => after,
                Some(_) | None => &[],
            };
            if let Some(found) = self.value(after) {
                return Some(found);
            }
            self.skip(b',');
            item += 1;
        }
        self.skip(b']');
        None
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let raw = self.bytes.get(start..self.at).unwrap_or_default();
        serde_json::from_slice(raw).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Step {
        Step::Member(name.to_owned())
    }

    #[test]
    fn members_are_located_after_their_colon() {
        let text = r#"{"a":{"b":[1,{"c\"":true,"é":2}]}}"#;
        let path = [member("a"), member("b"), Step::Item(1), member("é")];
        assert_eq!(locate(text, &path), (1, 29));
        assert_eq!(print(&path), "a.b[1].é");
        assert_eq!(locate("{\n  \"a\": 1\n}", &[member("a")]), (2, 6));
        assert_eq!(locate(text, &[member("missing")]), (1, 0));
    }
}
