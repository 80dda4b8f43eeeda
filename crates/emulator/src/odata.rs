//! `$filter` expressions, as far as the served APIs use them.

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    And(Box<Filter>, Box<Filter>),
    Or(Box<Filter>, Box<Filter>),
    Not(Box<Filter>),
    /// A field compared with a literal: `eq`, `ne`, `gt`, `ge`, `lt`, `le`.
    Compare(String, String, String),
    /// A function of a field and a literal: `contains`, `startswith`, `endswith`.
    Call(String, String, String),
}

/// Why a filter does not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at `{found}`")]
pub(crate) struct FilterError {
    expected: &'static str,
    found: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Literal(String),
    Mark(char),
}

fn tokens(text: &str) -> Result<Vec<Token>, FilterError> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        if "(),".contains(c) {
            tokens.push(Token::Mark(c));
        } else if c == '\'' {
            let mut literal = String::new();
            loop {
                match chars.next() {
                    Some('\'') if chars.peek() == Some(&'\'') => {
                        chars.next();
                        literal.push('\'');
                    }
                    Some('\'') => break,
                    Some(other) => literal.push(other),
                    None => {
                        return Err(FilterError {
                            expected: "a closing quote",
                            found: literal,
                        });
                    }
                }
            }
            tokens.push(Token::Literal(literal));
        } else {
            let mut word = String::from(c);
            while let Some(next) = chars.peek()
                && !next.is_whitespace()
                && !"(),'".contains(*next)
            {
                word.push(*next);
                chars.next();
            }
            tokens.push(Token::Word(word));
        }
    }
    Ok(tokens)
}

/// The most words, values and marks of a filter: reading and asking it goes as deep.
const MOST_TOKENS: usize = 500;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.at += 1;
        token
    }

    fn word(&mut self, word: &str) -> bool {
        let there =
            matches!(self.peek(), Some(Token::Word(found)) if found.eq_ignore_ascii_case(word));
        if there {
            self.at += 1;
        }
        there
    }

    fn mark(&mut self, mark: char) -> bool {
        let there = self.peek() == Some(&Token::Mark(mark));
        if there {
            self.at += 1;
        }
        there
    }

    fn expected(&self, expected: &'static str) -> FilterError {
        let found = match self.peek() {
            Some(Token::Word(text) | Token::Literal(text)) => text.clone(),
            Some(Token::Mark(mark)) => mark.to_string(),
            None => "the end".to_owned(),
        };
        FilterError { expected, found }
    }

    fn any_of(&mut self) -> Result<Filter, FilterError> {
        let mut left = self.all_of()?;
        while self.word("or") {
            left = Filter::Or(Box::new(left), Box::new(self.all_of()?));
        }
        Ok(left)
    }

    fn all_of(&mut self) -> Result<Filter, FilterError> {
        let mut left = self.one()?;
        while self.word("and") {
            left = Filter::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Filter, FilterError> {
        if self.word("not") {
            return Ok(Filter::Not(Box::new(self.one()?)));
        }
        if self.mark('(') {
            let inner = self.any_of()?;
            return if self.mark(')') {
                Ok(inner)
            } else {
                Err(self.expected("`)`"))
            };
        }
        let Some(Token::Word(first)) = self.next() else {
            self.at -= 1;
            return Err(self.expected("a field or a function"));
        };
        if self.mark('(') {
            return self.call(&first);
        }
        let Some(Token::Word(operator)) = self.next() else {
            self.at -= 1;
            return Err(self.expected("an operator such as `eq`"));
        };
        let operator = operator.to_lowercase();
        if !["eq", "ne", "gt", "ge", "lt", "le"].contains(&operator.as_str()) {
            self.at -= 1;
            return Err(self.expected("an operator such as `eq`"));
        }
        let literal = self.literal()?;
        Ok(Filter::Compare(first, operator, literal))
    }

    fn literal(&mut self) -> Result<String, FilterError> {
        match self.next() {
            Some(Token::Literal(text) | Token::Word(text)) => Ok(text),
            Some(Token::Mark(_)) | None => {
                self.at -= 1;
                Err(self.expected("a value"))
            }
        }
    }

    /// `contains(field, 'x')`, and the older `substringof('x', field)`.
    fn call(&mut self, function: &str) -> Result<Filter, FilterError> {
        let function = function.to_lowercase();
        let first = self.literal()?;
        if !self.mark(',') {
            return Err(self.expected("`,`"));
        }
        let second = self.literal()?;
        if !self.mark(')') {
            return Err(self.expected("`)`"));
        }
        match function.as_str() {
            "contains" | "startswith" | "endswith" => Ok(Filter::Call(function, first, second)),
            "substringof" => Ok(Filter::Call("contains".to_owned(), second, first)),
            _ => Err(FilterError {
                expected: "`contains`, `startswith`, `endswith` or `substringof`",
                found: function,
            }),
        }
    }
}

impl Filter {
    /// Reads a filter.
    pub(crate) fn parse(text: &str) -> Result<Self, FilterError> {
        let tokens = tokens(text)?;
        if tokens.len() > MOST_TOKENS {
            return Err(FilterError {
                expected: "a filter of at most 500 words, values and marks",
                found: text.chars().take(20).collect(),
            });
        }
        let mut parser = Parser { tokens, at: 0 };
        let filter = parser.any_of()?;
        if parser.peek().is_some() {
            return Err(parser.expected("`and`, `or` or the end"));
        }
        Ok(filter)
    }

    /// Whether a thing fits, by the values of its fields; a field it does not have fits nothing.
    ///
    /// Values compare without case; as numbers where both are some.
    pub(crate) fn fits(&self, field: &dyn Fn(&str) -> Option<String>) -> bool {
        match self {
            Self::And(left, right) => left.fits(field) && right.fits(field),
            Self::Or(left, right) => left.fits(field) || right.fits(field),
            Self::Not(inner) => !inner.fits(field),
            Self::Compare(name, operator, literal) => {
                field(name).is_some_and(|value| compare(&value, operator, literal))
            }
            Self::Call(function, name, literal) => field(name).is_some_and(|value| {
                let (value, literal) = (value.to_lowercase(), literal.to_lowercase());
                match function.as_str() {
                    "contains" => value.contains(&literal),
                    "startswith" => value.starts_with(&literal),
                    _ => value.ends_with(&literal),
                }
            }),
        }
    }

    /// The value that the filter demands of a field in every case, if it does.
    pub(crate) fn demanded(&self, name: &str) -> Option<&str> {
        match self {
            Self::And(left, right) => left.demanded(name).or_else(|| right.demanded(name)),
            Self::Compare(field, operator, literal)
                if field.eq_ignore_ascii_case(name) && operator == "eq" =>
            {
                Some(literal)
            }
            Self::Compare(..) | Self::Or(..) | Self::Not(_) | Self::Call(..) => None,
        }
    }
}

fn compare(value: &str, operator: &str, literal: &str) -> bool {
    let order = match (value.parse::<f64>(), literal.parse::<f64>()) {
        (Ok(value), Ok(literal)) => value.total_cmp(&literal),
        _ => value.to_lowercase().cmp(&literal.to_lowercase()),
    };
    match operator {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "gt" => order.is_gt(),
        "ge" => order.is_ge(),
        "lt" => order.is_lt(),
        _ => order.is_le(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(filter: &str) -> bool {
        let field = |name: &str| match name.to_lowercase().as_str() {
            "location" => Some("EastUS".to_owned()),
            "price" => Some("10.5".to_owned()),
            "name" => Some("it's a vm".to_owned()),
            _ => None,
        };
        Filter::parse(filter).expect(filter).fits(&field)
    }

    #[test]
    fn long_and_deep_filters_are_refused() {
        let term = "name eq 'x'";
        let long = [term; 200].join(" or ");
        for filter in ["(".repeat(100_000), "not ".repeat(100_000), long] {
            let error = Filter::parse(&filter)
                .expect_err("it is too long")
                .to_string();
            assert!(
                error.starts_with("expected a filter of at most 500"),
                "{error}"
            );
        }
        let fair = format!("{}{term}{}", "(".repeat(200), ")".repeat(200));
        assert!(Filter::parse(&fair).is_ok());
    }

    #[test]
    fn filters_are_evaluated() {
        for yes in [
            "location eq 'eastus'",
            "Location EQ 'eastus' and price gt 9",
            "location eq 'x' or (price le 10.5 and not (price eq 3))",
            "contains(name, 'S A')",
            "substringof('vm', name) and startswith(name,'it')",
            "name eq 'it''s a vm'",
        ] {
            assert!(fits(yes), "{yes}");
        }
        for no in [
            "location ne 'EASTUS'",
            "other eq 'x'",
            "endswith(name, 'a')",
        ] {
            assert!(!fits(no), "{no}");
        }
    }

    #[test]
    fn broken_filters_are_refused() {
        for broken in [
            "",
            "location",
            "location eq",
            "location like 'x'",
            "location eq 'x",
            "(location eq 'x'",
            "location eq 'x' location",
            "has(name, 'x')",
            "contains(name)",
        ] {
            assert!(Filter::parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn demanded_values_are_found_below_and() {
        let filter = Filter::parse("tagName eq 'a' and (tagValue eq 'b')").expect("a filter");
        assert_eq!(filter.demanded("tagname"), Some("a"));
        assert_eq!(filter.demanded("tagValue"), Some("b"));
        let either = Filter::parse("name eq 'a' or name eq 'b'").expect("a filter");
        assert_eq!(either.demanded("name"), None);
    }
}
