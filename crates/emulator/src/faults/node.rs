//! A YAML document as a tree with positions, as small as the faults file needs it.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::file::Problem;

/// A value and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    pub(crate) value: Tree,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    /// A scalar, and whether it stands without quotes.
    Scalar(String, bool),
    List(Vec<Node>),
    /// Keys with their places, in order.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// What kind of value it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Tree::Scalar(..) => "a single value",
            Tree::List(_) => "a list",
            Tree::Map(_) => "a map",
        }
    }

    /// The text of a scalar; `None` for anything else and for null.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Tree::Scalar(text, plain) if !(*plain && is_null(text)) => Some(text),
            Tree::Scalar(..) | Tree::List(_) | Tree::Map(_) => None,
        }
    }

    /// The value of a member of a map.
    pub(crate) fn member(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|(_, value)| value)
    }

    /// The key of a member of a map, for its place.
    pub(crate) fn key(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|(key, _)| key)
    }

    fn entry(&self, name: &str) -> Option<&(Node, Node)> {
        match &self.value {
            Tree::Map(members) => members.iter().find(|(key, _)| key.text() == Some(name)),
            Tree::Scalar(..) | Tree::List(_) => None,
        }
    }

    /// Whether it is null or an empty map.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.value {
            Tree::Scalar(text, plain) => *plain && is_null(text),
            Tree::Map(members) => members.is_empty(),
            Tree::List(_) => false,
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Nesting that no faults file needs.
const DEEPEST: usize = 32;

/// Reads one document; `None` for an empty one.
pub(crate) fn read(text: &str) -> Result<Option<Node>, Problem> {
    let mut events = Events {
        parser: Parser::new_from_str(text),
    };
    loop {
        match events.next()? {
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(None),
            (event, span) => {
                let node = events.node(event, span, 0)?;
                loop {
                    match events.next()? {
                        (Event::DocumentEnd | Event::Nothing, _) => {}
                        (Event::StreamEnd, _) => return Ok(Some(node)),
                        (_, span) => {
                            return Err(problem(span, "expected one document, found another"));
                        }
                    }
                }
            }
        }
    }
}

fn problem(span: Span, message: &str) -> Problem {
    Problem::new(span.start.line(), span.start.col() + 1, message)
}

struct Events<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
}

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(Problem::new(
                error.marker().line(),
                error.marker().col() + 1,
                error.info(),
            )),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Problem> {
        if depth > DEEPEST {
            return Err(problem(span, "expected less nesting"));
        }
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                if tag.is_some() {
                    return Err(problem(span, "expected no tag"));
                }
                Tree::Scalar(text.into_owned(), style == ScalarStyle::Plain)
            }
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
                Tree::List(items)
            }
            Event::MappingStart(..) => self.map(depth)?,
            Event::Alias(_) => return Err(problem(span, "expected no alias")),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(problem(span, "expected a value")),
        };
        Ok(Node {
            line: span.start.line(),
            column: span.start.col() + 1,
            value,
        })
    }

    fn map(&mut self, depth: usize) -> Result<Tree, Problem> {
        let mut members: Vec<(Node, Node)> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Tree::Map(members));
            }
            let key = self.node(event, span, depth + 1)?;
            let Some(name) = key.text() else {
                return Err(problem(span, "expected a key"));
            };
            if members.iter().any(|(other, _)| other.text() == Some(name)) {
                return Err(problem(span, &format!("the key `{name}` stands twice")));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            members.push((key, value));
        }
    }
}
