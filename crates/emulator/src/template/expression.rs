//! Expressions of templates: `[concat(parameters('name'), '-nic')]`.

use serde_json::Value;

/// Expressions may be nested this deep.
const DEEPEST: usize = 64;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A value, as written or as found out.
    Literal(Value),
    /// A function and what it is given.
    Call(String, Vec<Node>),
    /// `thing.member`.
    Member(Box<Node>, String),
    /// `thing[index]`.
    Index(Box<Node>, Box<Node>),
}

/// What a text of a template is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Text {
    /// Itself, without the bracket that escapes one.
    Plain(String),
    /// An expression.
    Expression(Node),
}

/// Tells plain texts and expressions apart.
pub(crate) fn parse(text: &str) -> Result<Text, String> {
    let Some(inner) = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
    else {
        return Ok(Text::Plain(text.to_owned()));
    };
    if inner.starts_with('[') {
        return Ok(Text::Plain(text.get(1..).unwrap_or_default().to_owned()));
    }
    let mut parser = Parser {
        rest: inner.chars().collect(),
        at: 0,
    };
    let node = parser.node(0)?;
    parser.blanks();
    match parser.peek() {
        None => Ok(Text::Expression(node)),
        Some(found) => Err(format!(
            "The language expression '{inner}' is not valid: the string character '{found}' at \
             position '{}' is not expected.",
            parser.at
        )),
    }
}

struct Parser {
    rest: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Steps over a character, if it is the next one.
    fn takes(&mut self, wanted: char) -> bool {
        self.blanks();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    fn wrong(&self, expected: &str) -> String {
        let text: String = self.rest.iter().collect();
        let found = self
            .peek()
            .map_or_else(|| "its end".to_owned(), |found| format!("'{found}'"));
        format!(
            "The language expression '{text}' is not valid: expected {expected} at position '{}' \
             and found {found}.",
            self.at
        )
    }

    fn node(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(self.wrong("fewer nested functions"));
        }
        self.blanks();
        let mut node = match self.peek() {
            Some('\'') => Node::Literal(Value::from(self.quoted()?)),
            Some(first) if first.is_ascii_digit() || first == '-' => self.number()?,
            Some(first) if first.is_ascii_alphabetic() || first == '_' => self.call(depth)?,
            _ => return Err(self.wrong("a value or a function")),
        };
        loop {
            if self.takes('.') {
                node = Node::Member(Box::new(node), self.name()?);
            } else if self.takes('[') {
                let index = self.node(depth + 1)?;
                if !self.takes(']') {
                    return Err(self.wrong("']'"));
                }
                node = Node::Index(Box::new(node), Box::new(index));
            } else {
                return Ok(node);
            }
        }
    }

    fn name(&mut self) -> Result<String, String> {
        self.blanks();
        let mut name = String::new();
        while let Some(c) = self.peek()
            && (c.is_ascii_alphanumeric() || "_$-".contains(c))
        {
            name.push(c);
            self.at += 1;
        }
        if name.is_empty() {
            return Err(self.wrong("a name"));
        }
        Ok(name)
    }

    /// A function; functions that a template defines have a namespace before a dot.
    fn call(&mut self, depth: usize) -> Result<Node, String> {
        let mut name = self.name()?;
        while self.peek() == Some('.') {
            self.at += 1;
            name = format!("{name}.{}", self.name()?);
        }
        if !self.takes('(') {
            return Err(self.wrong("'('"));
        }
        let mut given = Vec::new();
        if self.takes(')') {
            return Ok(Node::Call(name, given));
        }
        loop {
            given.push(self.node(depth + 1)?);
            if self.takes(')') {
                return Ok(Node::Call(name, given));
            }
            if !self.takes(',') {
                return Err(self.wrong("',' or ')'"));
            }
        }
    }

    fn number(&mut self) -> Result<Node, String> {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self
            .rest
            .get(start..self.at)
            .unwrap_or_default()
            .iter()
            .collect();
        digits
            .parse::<i64>()
            .map(|number| Node::Literal(Value::from(number)))
            .map_err(|_| self.wrong("a whole number"))
    }

    /// A text in single quotes, which are doubled inside of it.
    fn quoted(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(self.wrong("a closing quote")),
                Some('\'') if self.rest.get(self.at + 1) == Some(&'\'') => {
                    text.push('\'');
                    self.at += 2;
                }
                Some('\'') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(other) => {
                    text.push(other);
                    self.at += 1;
                }
            }
        }
    }
}

/// Writes an expression that still waits for something, so that it reads as the same again.
pub(crate) fn print(node: &Node) -> String {
    fn part(node: &Node) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        match node {
            Node::Literal(Value::String(text)) => quoted(text),
            Node::Literal(Value::Number(number)) if number.is_i64() => number.to_string(),
            Node::Literal(value) => format!("json({})", quoted(&value.to_string())),
            Node::Call(name, given) => {
                let given: Vec<String> = given.iter().map(part).collect();
                format!("{name}({})", given.join(", "))
            }
            Node::Member(of, name) => format!("{}.{name}", part(of)),
            Node::Index(of, index) => format!("{}[{}]", part(of), part(index)),
        }
    }
    format!("[{}]", part(node))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn expression(text: &str) -> Node {
        match parse(text) {
            Ok(Text::Expression(node)) => node,
            other => panic!("expected an expression in {text}, found {other:?}"),
        }
    }

    #[test]
    fn texts_are_plain_unless_they_stand_in_brackets() {
        for (text, plain) in [
            ("vm", "vm"),
            ("", ""),
            ("[[not('one')]", "[not('one')]"),
            ("[open", "[open"),
            ("a[0]", "a[0]"),
        ] {
            assert_eq!(parse(text), Ok(Text::Plain(plain.to_owned())), "{text}");
        }
    }

    #[test]
    fn expressions_are_taken_apart_and_written_again() {
        let text = "[ providers('Microsoft.Compute', 'it''s').apiVersions[ add(0, -1) ].x ]";
        let node = expression(text);
        assert_eq!(
            print(&node),
            "[providers('Microsoft.Compute', 'it''s').apiVersions[add(0, -1)].x]"
        );
        assert_eq!(expression(&print(&node)), node);
        let folded = Node::Call("f".to_owned(), vec![Node::Literal(json!({"a": ["it's"]}))]);
        assert_eq!(print(&folded), "[f(json('{\"a\":[\"it''s\"]}'))]");
        assert_eq!(
            expression("[contoso.unique('a')]"),
            Node::Call("contoso.unique".to_owned(), vec![Node::Literal(json!("a"))])
        );
    }

    #[test]
    fn mistakes_are_told() {
        for (text, told) in [
            (
                "[]",
                "expected a value or a function at position '0' and found its end",
            ),
            ("[f(]", "expected a value or a function"),
            ("[f('a']", "expected ',' or ')'"),
            ("[f('a)]", "expected a closing quote"),
            ("[f]", "expected '('"),
            (
                "[f() g()]",
                "the string character 'g' at position '4' is not expected",
            ),
            ("[f().]", "expected a name"),
            ("[f()[0]", "expected ']'"),
            ("[99999999999999999999]", "expected a whole number"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
        assert!(parse(&format!("[{}", "f(".repeat(1_000))).is_ok());
        assert!(parse(&format!("[{}]", "f(".repeat(1_000))).is_err());
    }
}
