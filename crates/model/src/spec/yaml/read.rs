//! From text to tree: what `saphyr-parser` reports, kept with byte ranges, and the features
//! of YAML that specs do not use refused.

use std::{
    borrow::Cow,
    collections::{BTreeMap, btree_map},
    ops::Range,
};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::{
    explain::explain,
    lexical,
    node::{Content, Entry, Node, Reference, Scalar},
    offsets::Offsets,
};
use crate::{
    diag::{At, Code, Diagnostic},
    spec::{findings::Findings, show, spans::Lines},
};

/// Deepest nesting; the deepest value of a spec has seven levels.
const MOST_LEVELS: usize = 64;

/// Most values that anchors keep and aliases repeat. A thousand pools that share one block of
/// forty keys stay below it.
const MOST_REPEATED: usize = 200_000;

/// The tree of a text with what was found on the way; no tree where the text is no YAML.
pub(crate) fn read(text: &str) -> (Option<Node>, Findings) {
    if let Some(finding) = lexical::unreadable(text) {
        let mut findings = Findings::default();
        findings.push(finding);
        return (None, findings);
    }
    // A text that ends without a line feed could end inside a block of text, and the two
    // parsers differ on whether that text has one.
    let closed = if text.ends_with(['\n', '\r']) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{text}\n"))
    };
    let mut reader = Reader::new(&closed, text.len());
    match reader.run() {
        Ok(()) => {
            let tabs = lexical::tabs(text, &reader.scalars);
            reader.findings.extend(tabs);
            if !reader.findings.has_errors()
                && let Some(finding) = reader.refused_by_library()
            {
                reader.findings.push(finding);
                return (None, reader.findings);
            }
        }
        Err(finding) => {
            reader.findings.push(finding);
            return (None, reader.findings);
        }
    }
    let root = reader.root.unwrap_or_else(|| Node {
        span: 0..0,
        content: Content::Scalar(Scalar {
            text: String::new(),
            plain: true,
            reference: Reference::Absent,
        }),
    });
    (Some(root), reader.findings)
}

/// How much a node is, with all that its aliases repeat.
#[derive(Clone, Copy)]
struct Extent {
    /// The number of values.
    size: usize,
    /// The levels of nesting; 0 for a single value.
    depth: usize,
}

impl Extent {
    const SINGLE: Self = Self { size: 1, depth: 0 };
    const EMPTY: Self = Self { size: 1, depth: 1 };

    fn add(&mut self, inner: Self) {
        self.size = self.size.saturating_add(inner.size);
        self.depth = self.depth.max(inner.depth.saturating_add(1));
    }
}

/// A collection whose end is not reached.
struct Open {
    start: usize,
    anchor: usize,
    extent: Extent,
    collected: Collected,
}

enum Collected {
    Sequence(Vec<Node>),
    Mapping {
        entries: Vec<Entry>,
        /// Where each key stands first.
        keys: BTreeMap<String, Range<usize>>,
        next: Next,
    },
}

/// What the next node of a mapping is.
enum Next {
    Key,
    /// The value of this key.
    Value(String, Range<usize>),
    /// The value of a key that is refused.
    Refused,
}

struct Reader<'a> {
    text: &'a str,
    /// The length of the text as it was given.
    length: usize,
    offsets: Offsets,
    lines: Lines,
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Node, Extent)>,
    repeated: usize,
    root: Option<Node>,
    scalars: Vec<Range<usize>>,
    findings: Findings,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, length: usize) -> Self {
        Self {
            text,
            length,
            offsets: Offsets::new(text),
            lines: Lines::new(text),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            repeated: 0,
            root: None,
            scalars: Vec::new(),
            findings: Findings::default(),
        }
    }

    fn run(&mut self) -> Result<(), Diagnostic> {
        let mut parser = Parser::new_from_str(self.text);
        let mut documents = 0_usize;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| self.syntax(&error))?;
            let bytes = self.bytes(span);
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        self.findings.push(second_document(bytes));
                        return Ok(());
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    // What is not there has the place of the token behind it.
                    let absent = text.is_empty() && style == ScalarStyle::Plain && tag.is_none();
                    let end = if absent { bytes.start } else { bytes.end };
                    let bytes = bytes.start..end;
                    self.scalars.push(bytes.clone());
                    self.refuse_tag(tag.as_deref(), &bytes);
                    if style == ScalarStyle::Plain && text == "?" {
                        return Err(question_mark(bytes));
                    }
                    self.scalar(&text, style, anchor, bytes)?;
                }
                Event::SequenceStart(anchor, tag) => {
                    self.refuse_tag(tag.as_deref(), &bytes);
                    self.open(anchor, bytes, Collected::Sequence(Vec::new()))?;
                }
                Event::MappingStart(anchor, tag) => {
                    self.refuse_tag(tag.as_deref(), &bytes);
                    let mapping = Collected::Mapping {
                        entries: Vec::new(),
                        keys: BTreeMap::new(),
                        next: Next::Key,
                    };
                    self.open(anchor, bytes, mapping)?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.close(bytes)?,
                Event::Alias(anchor) => self.alias(anchor, bytes)?,
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        Ok(())
    }

    fn byte(&self, character: usize) -> usize {
        self.offsets.byte(self.text, character).min(self.length)
    }

    fn bytes(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        let end = self.byte(span.end.index());
        start..end.max(start)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        span: Range<usize>,
    ) -> Result<(), Diagnostic> {
        let node = Node {
            span,
            content: Content::Scalar(Scalar {
                text: text.to_owned(),
                plain: style == ScalarStyle::Plain,
                reference: Reference::Absent,
            }),
        };
        self.remember(anchor, &node, Extent::SINGLE)?;
        self.place(node, Extent::SINGLE);
        Ok(())
    }

    fn open(
        &mut self,
        anchor: usize,
        span: Range<usize>,
        collected: Collected,
    ) -> Result<(), Diagnostic> {
        if self.open.len() >= MOST_LEVELS {
            return Err(too_deep(span));
        }
        self.open.push(Open {
            start: span.start,
            anchor,
            extent: Extent::EMPTY,
            collected,
        });
        Ok(())
    }

    fn close(&mut self, end: Range<usize>) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let (content, last) = match open.collected {
            Collected::Sequence(items) => {
                let last = items.last().map(|item| item.span.end);
                (Content::Sequence(items), last)
            }
            Collected::Mapping { entries, .. } => {
                let last = entries.last().map(|entry| entry.value.span.end);
                (Content::Mapping(entries), last)
            }
        };
        // The end of a block is a place without text, behind the white space that follows it.
        let closed_by_text = !end.is_empty();
        let end = if closed_by_text {
            end.end
        } else {
            last.unwrap_or(open.start)
        };
        let node = Node {
            span: open.start..end.max(open.start),
            content,
        };
        self.remember(open.anchor, &node, open.extent)?;
        self.place(node, open.extent);
        Ok(())
    }

    /// Keeps a node that aliases may repeat.
    fn remember(&mut self, anchor: usize, node: &Node, extent: Extent) -> Result<(), Diagnostic> {
        if anchor != 0 {
            self.repeat(extent.size, &node.span)?;
            self.anchors.insert(anchor, (node.clone(), extent));
        }
        Ok(())
    }

    fn repeat(&mut self, size: usize, span: &Range<usize>) -> Result<(), Diagnostic> {
        self.repeated = self.repeated.saturating_add(size);
        if self.repeated > MOST_REPEATED {
            let message = format!("aliases repeat more than {MOST_REPEATED} values");
            return Err(
                Diagnostic::new(Code::SpecForbiddenYaml, at(span.clone()), message)
                    .with_help("write the values out, or use `count` for equal nodes"),
            );
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Range<usize>) -> Result<(), Diagnostic> {
        let Some((_, extent)) = self.anchors.get(&anchor) else {
            let message = "an alias stands inside the value that it repeats";
            return Err(Diagnostic::new(Code::SpecForbiddenYaml, at(span), message)
                .with_help("write the value out"));
        };
        let extent = *extent;
        if self.open.len() + extent.depth > MOST_LEVELS {
            return Err(too_deep(span));
        }
        self.repeat(extent.size, &span)?;
        if let Some((node, _)) = self.anchors.get(&anchor) {
            let node = node.clone();
            self.place(node, extent);
        }
        Ok(())
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, span: &Range<usize>) {
        let Some(tag) = tag else { return };
        let shown = if tag.is_yaml_core_schema() {
            format!("!!{}", tag.suffix)
        } else {
            format!("{}{}", tag.handle, tag.suffix)
        };
        let message = format!("specs have no tags, found {}", show::text(&shown));
        self.findings.push(
            Diagnostic::new(Code::SpecForbiddenYaml, at(span.clone()), message)
                .with_help("remove the tag; put a value in quotes to make it a text"),
        );
    }

    /// Puts a complete node where it belongs: into the innermost open collection.
    fn place(&mut self, node: Node, extent: Extent) {
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        parent.extent.add(extent);
        match &mut parent.collected {
            Collected::Sequence(items) => items.push(node),
            Collected::Mapping {
                entries,
                keys,
                next,
            } => match std::mem::replace(next, Next::Key) {
                Next::Key => match key_of(node, keys, &self.lines) {
                    Ok((key, span)) => *next = Next::Value(key, span),
                    Err(finding) => {
                        *next = Next::Refused;
                        self.findings.push(finding);
                    }
                },
                Next::Value(key, key_span) => entries.push(Entry {
                    key,
                    key_span,
                    value: node,
                }),
                Next::Refused => {}
            },
        }
    }

    /// The finding for a text that this parser takes and `serde_yaml` does not. They differ in
    /// corners of YAML, and a spec is what both read.
    fn refused_by_library(&self) -> Option<Diagnostic> {
        let mark = usize::from(self.text.starts_with('\u{feff}'));
        let text = self.text.trim_start_matches('\u{feff}');
        let error = serde_yaml::from_str::<serde::de::IgnoredAny>(text).err()?;
        let character = error.location().map_or(0, |location| location.index());
        let start = self.byte(character + mark);
        let message = error.to_string();
        // The place stands in the finding.
        let message = message.split(" at line ").next().unwrap_or_default();
        let (message, help) = explain(message, "", "", None);
        let finding = Diagnostic::new(Code::SpecSyntax, at(start..start), message);
        Some(help.into_iter().fold(finding, Diagnostic::with_help))
    }

    fn syntax(&self, error: &ScanError) -> Diagnostic {
        let offset = self.byte(error.marker().index());
        let (before, rest) = self.text.split_at(offset);
        if let Some(finding) = lexical::tab_near(self.text, offset, error.info()) {
            return finding;
        }
        let end = offset + rest.chars().next().map_or(0, char::len_utf8);
        if error.info().contains("recursion limit") {
            return too_deep(offset..end);
        }
        let bracket = self.open.last().and_then(|open| {
            let first = self.text.get(open.start..)?.chars().next();
            let bracket = first.filter(|first| matches!(first, '[' | '{'))?;
            Some((open.start, bracket))
        });
        let open = bracket.map(|(_, bracket)| bracket);
        let (message, help) = explain(error.info(), before, rest, open);
        let finding = Diagnostic::new(Code::SpecSyntax, at(offset..end), message);
        let finding = help.into_iter().fold(finding, Diagnostic::with_help);
        match bracket {
            Some((start, _)) => finding.with_related(at(start..start + 1), "opened here"),
            None => finding,
        }
    }
}

/// The key that a node is, in a mapping that has these keys already.
fn key_of(
    node: Node,
    keys: &mut BTreeMap<String, Range<usize>>,
    lines: &Lines,
) -> Result<(String, Range<usize>), Diagnostic> {
    let span = node.span;
    let Content::Scalar(scalar) = node.content else {
        let message = "a key is a text, found a list or a block";
        return Err(Diagnostic::new(Code::SpecWrongType, at(span), message)
            .with_help("put a text that begins with `[` or `{` in quotes"));
    };
    if scalar.plain && scalar.text.is_empty() {
        let message = "expected a key before `:`, found nothing";
        return Err(Diagnostic::new(Code::SpecWrongType, at(span), message)
            .with_help("write a key, or remove the line"));
    }
    if scalar.plain && scalar.text == "<<" {
        let message = "specs have no merge keys, found `<<`";
        return Err(Diagnostic::new(Code::SpecForbiddenYaml, at(span), message)
            .with_help("write the keys out in each block"));
    }
    match keys.entry(scalar.text.clone()) {
        btree_map::Entry::Vacant(vacant) => {
            vacant.insert(span.clone());
            Ok((scalar.text, span))
        }
        btree_map::Entry::Occupied(first) => {
            let message = format!(
                "key `{}` stands twice, on lines {} and {}",
                show::name(&scalar.text),
                lines.line(first.get().start),
                lines.line(span.start)
            );
            Err(Diagnostic::new(Code::SpecDuplicateKey, at(span), message)
                .with_related(at(first.get().clone()), "it stands here first")
                .with_help("keep one of them"))
        }
    }
}

fn at(span: Range<usize>) -> At {
    At::Text {
        start: span.start,
        end: span.end,
    }
}

fn too_deep(span: Range<usize>) -> Diagnostic {
    let message = format!("the spec is nested deeper than {MOST_LEVELS} levels");
    Diagnostic::new(Code::SpecForbiddenYaml, at(span), message)
        .with_help("no value of a spec is nested deeper than seven levels")
}

/// A lone question mark is a text for one parser, and the mark of a key for another.
fn question_mark(span: Range<usize>) -> Diagnostic {
    let message = "a value cannot be `?` without quotes";
    Diagnostic::new(Code::SpecSyntax, at(span), message).with_help("put it in quotes")
}

fn second_document(span: Range<usize>) -> Diagnostic {
    let message = "a spec is one document, found the start of a second one";
    Diagnostic::new(Code::SpecForbiddenYaml, at(span), message)
        .with_help("keep each stack in a file of its own")
}
