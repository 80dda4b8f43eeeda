//! JSON as ARM reads it: with comments, names without quotes, single quotes, line breaks in
//! texts and commas at the end of lists. The Azure CLI sends template files as they are.

use serde_json::{Map, Number, Value};

/// Values may be nested this deep.
const DEEPEST: usize = 100;

/// Why a text does not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}, line {line}, position {position}")]
pub(crate) struct Unreadable {
    message: String,
    line: usize,
    position: usize,
}

/// Reads a text.
pub(crate) fn read(text: &str) -> Result<Value, Unreadable> {
    let mut reader = Reader {
        rest: text.chars().collect(),
        at: 0,
    };
    let value = reader.value(0)?;
    reader.blanks()?;
    match reader.peek() {
        None => Ok(value),
        Some(other) => Err(reader.wrong(&format!(
            "Additional text encountered after finished reading JSON content: {other}"
        ))),
    }
}

struct Reader {
    rest: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        if next.is_some() {
            self.at += 1;
        }
        next
    }

    fn wrong(&self, message: &str) -> Unreadable {
        let before = self.rest.get(..self.at).unwrap_or_default();
        let line = before.iter().filter(|c| **c == '\n').count() + 1;
        let position = before.iter().rev().take_while(|c| **c != '\n').count();
        Unreadable {
            message: message.to_owned(),
            line,
            position,
        }
    }

    fn ended(&self) -> Unreadable {
        self.wrong("Unexpected end of content")
    }

    fn unexpected(&self, found: char, expected: &str) -> Unreadable {
        self.wrong(&format!(
            "Unexpected character encountered: {found}, expected {expected}"
        ))
    }

    /// Skips blanks and comments.
    fn blanks(&mut self) -> Result<(), Unreadable> {
        loop {
            match (self.peek(), self.rest.get(self.at + 1)) {
                (Some(blank), _) if blank.is_whitespace() || blank == '\u{feff}' => self.at += 1,
                (Some('/'), Some('/')) => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                (Some('/'), Some('*')) => {
                    self.at += 2;
                    loop {
                        match self.next() {
                            Some('*') if self.peek() == Some('/') => break,
                            Some(_) => {}
                            None => return Err(self.ended()),
                        }
                    }
                    self.at += 1;
                }
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Unreadable> {
        if depth > DEEPEST {
            return Err(self.wrong("The content is nested too deep"));
        }
        self.blanks()?;
        match self.peek() {
            None => Err(self.ended()),
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(Value::from),
            Some(other) => {
                let word = self.word();
                match word.as_str() {
                    "null" | "undefined" => Ok(Value::Null),
                    "true" => Ok(Value::Bool(true)),
                    "false" => Ok(Value::Bool(false)),
                    _ => word
                        .parse::<Number>()
                        .map(Value::Number)
                        .map_err(|_| self.unexpected(other, "a value")),
                }
            }
        }
    }

    /// Letters, digits and signs up to the next blank, comma or bracket.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek()
            && (c.is_alphanumeric() || "_$+-.".contains(c))
        {
            word.push(c);
            self.at += 1;
        }
        word
    }

    fn object(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 1;
        let mut members = Map::new();
        loop {
            self.blanks()?;
            let name = match self.peek() {
                None => return Err(self.ended()),
                Some('}') => break,
                Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
                Some(other) => {
                    let word = self.word();
                    if word.is_empty() {
                        return Err(self.unexpected(other, "the name of a member"));
                    }
                    word
                }
            };
            self.blanks()?;
            match self.next() {
                Some(':') => {}
                Some(other) => return Err(self.unexpected(other, "':'")),
                None => return Err(self.ended()),
            }
            let value = self.value(depth + 1)?;
            members.insert(name, value);
            if self.comma('}')? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::Object(members))
    }

    fn list(&mut self, depth: usize) -> Result<Value, Unreadable> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.peek() == Some(']') {
                break;
            }
            items.push(self.value(depth + 1)?);
            if self.comma(']')? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::Array(items))
    }

    /// Steps over a comma; answers whether the bracket follows instead.
    fn comma(&mut self, bracket: char) -> Result<bool, Unreadable> {
        self.blanks()?;
        match self.peek() {
            None => Err(self.ended()),
            Some(',') => {
                self.at += 1;
                Ok(false)
            }
            Some(found) if found == bracket => Ok(true),
            Some(found) => Err(self.unexpected(found, &format!("',' or '{bracket}'"))),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, Unreadable> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.wrong("Unterminated string")),
                Some(end) if end == quote => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Unreadable> {
        match self.next() {
            None => Err(self.ended()),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('u') => {
                let high = self.unit()?;
                if !(0xd800..0xdc00).contains(&high) {
                    return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                // The second half of a pair stands in an escape of its own.
                if self.next() != Some('\\') || self.next() != Some('u') {
                    return Err(self.wrong("Half of a surrogate pair"));
                }
                let low = self.unit()?;
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            Some(plain @ ('"' | '\'' | '\\' | '/')) => Ok(plain),
            Some(other) => Err(self.wrong(&format!("Bad JSON escape sequence: \\{other}"))),
        }
    }

    fn unit(&mut self) -> Result<u32, Unreadable> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|c| c.to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.wrong("Bad Unicode escape sequence"))?;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_json_reads_as_ever() {
        for text in [
            "null",
            "[]",
            "{}",
            r#"{"a": [1, -2.5e3, true, "x\ny\u00e4\ud83d\ude00", {"b": null}]}"#,
        ] {
            let expected: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_the_azure_cli_sends_reads_too() {
        let text = "{\"properties\": {\"mode\": \"Incremental\", template:{\n  // a comment\n  \
                    \"$schema\": \"s\", /* another */ 'name': \"two\nlines\",\n  \"list\": [1, 2,],\n}}}";
        assert_eq!(
            read(text),
            Ok(json!({"properties": {"mode": "Incremental", "template": {
                "$schema": "s", "name": "two\nlines", "list": [1, 2],
            }}}))
        );
    }

    #[test]
    fn what_does_not_read_is_told_with_its_place() {
        for (text, told) in [
            ("", "Unexpected end of content, line 1, position 0"),
            (
                "{\"a\":\n ?}",
                "Unexpected character encountered: ?, expected a value, line 2, position 1",
            ),
            (
                "{\"a\" 1}",
                "Unexpected character encountered: 1, expected ':', line 1, position 6",
            ),
            ("[1 2]", "expected ',' or ']', line 1, position 3"),
            ("[\"a", "Unterminated string, line 1, position 3"),
            ("{} x", "Additional text encountered"),
            (r#"["\x"]"#, "Bad JSON escape sequence: \\x"),
            ("[/*", "Unexpected end of content"),
            (r#"["\ud800x"]"#, "surrogate pair"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
        assert!(read(&"[".repeat(5_000)).is_err());
    }
}
