//! A line of text in pieces of different ink.
//!
//! Everything that is printed passes through [`Line`], so that text of others (names, answers
//! of Azure) can neither move the cursor nor break a line.

use std::{borrow::Cow, ops::Range};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::style::{Ink, Style};

/// Stands for what was cut off.
const CUT: &str = "…";

/// Marks behind which a word can be broken so that its parts can still be read.
const MARKS: [char; 9] = [':', '/', '-', '_', '.', ',', ';', '=', '@'];

/// A piece of a word that fills less than this part of its line is a scrap.
const SCRAP: usize = 3;

/// One line, without its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    ink: Ink,
    text: String,
}

/// Text without anything that moves the cursor, changes its colour or its direction: line
/// ends and tabs become blanks, other control characters `�`.
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_simple(text) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    let clean = text.chars().map(|character| match character {
        '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        control if control.is_control() => '\u{fffd}',
        other => other,
    });
    Cow::Owned(clean.collect())
}

/// Whether text has nothing but characters of ASCII that take one column each.
fn is_simple(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Columns that text takes on a terminal.
pub fn width(text: &str) -> usize {
    if is_simple(text) {
        return text.len();
    }
    text.width()
}

impl Line {
    /// Of plain text.
    pub fn of(text: impl AsRef<str>) -> Self {
        Self::default().then(Ink::Plain, text)
    }

    /// Of text in one ink.
    pub fn inked(ink: Ink, text: impl AsRef<str>) -> Self {
        Self::default().then(ink, text)
    }

    /// With one more piece.
    pub fn then(mut self, ink: Ink, text: impl AsRef<str>) -> Self {
        self.push(ink, text);
        self
    }

    /// Adds a piece.
    pub fn push(&mut self, ink: Ink, text: impl AsRef<str>) {
        self.add(ink, &clean(text.as_ref()));
    }

    /// Adds all pieces of another line.
    pub fn append(&mut self, other: &Self) {
        for piece in &other.0 {
            self.add(piece.ink, &piece.text);
        }
    }

    /// Adds blanks.
    pub fn blanks(&mut self, count: usize) {
        self.add(Ink::Plain, &" ".repeat(count));
    }

    fn add(&mut self, ink: Ink, clean: &str) {
        match self.0.last_mut() {
            Some(last) if last.ink == ink => last.text.push_str(clean),
            Some(_) | None if clean.is_empty() => {}
            Some(_) | None => self.0.push(Piece {
                ink,
                text: clean.to_owned(),
            }),
        }
    }

    /// This line after some blanks.
    pub fn indented(&self, blanks: usize) -> Self {
        let mut line = Self::default();
        line.blanks(blanks);
        line.append(self);
        line
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| piece.text.trim().is_empty())
    }

    /// The text without ink.
    pub fn text(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// The same, without a copy where it is in one piece.
    fn whole(&self) -> Cow<'_, str> {
        match self.0.as_slice() {
            [] => Cow::Borrowed(""),
            [piece] => Cow::Borrowed(&piece.text),
            _ => Cow::Owned(self.text()),
        }
    }

    /// Columns that the line takes.
    pub fn width(&self) -> usize {
        width(&self.whole())
    }

    /// The line as it is printed, without blanks at its end and without a line feed.
    pub fn draw(&self, style: Style) -> String {
        let mut pieces: Vec<(Ink, &str)> = self
            .0
            .iter()
            .map(|piece| (piece.ink, piece.text.as_str()))
            .collect();
        while let Some((ink, text)) = pieces.pop() {
            let trimmed = text.trim_end_matches(' ');
            if !trimmed.is_empty() {
                pieces.push((ink, trimmed));
                break;
            }
        }
        pieces
            .into_iter()
            .map(|(ink, text)| ink.paint(text, style))
            .collect()
    }

    /// Columns of the widest word.
    pub fn longest_word(&self) -> usize {
        let text = self.whole();
        let words = words(&text).into_iter();
        words.map(|word| word.width(&text)).max().unwrap_or(0)
    }

    /// The line, or its beginning and `…` where it takes more than `most` columns.
    pub fn cut(&self, most: usize) -> Self {
        if self.width() <= most {
            return self.clone();
        }
        let mut line = Self::default();
        let mut text = String::new();
        'pieces: for piece in &self.0 {
            for character in piece.text.chars() {
                text.push(character);
                if width(&text) >= most {
                    break 'pieces;
                }
                line.add(piece.ink, character.encode_utf8(&mut [0; 4]));
            }
        }
        if most > 0 {
            let ink = line.0.last().map_or(Ink::Plain, |piece| piece.ink);
            line.add(ink, CUT);
        }
        line
    }

    /// The line broken at blanks, and between wide characters, into lines of at most `most`
    /// columns, each behind the blanks that the line begins with. A word that is longer stays
    /// whole, so that ids can be copied.
    pub fn wrap(&self, most: usize) -> Vec<Self> {
        let indent = self.leading_blanks(most);
        let parts = self.broken(most - indent);
        if indent == 0 {
            return parts;
        }
        parts.iter().map(|part| part.indented(indent)).collect()
    }

    /// As [`Self::wrap`], but words that are longer than `most` columns are broken too.
    pub fn wrap_hard(&self, most: usize) -> Vec<Self> {
        let indent = self.leading_blanks(most);
        let parts = self.broken(most - indent).into_iter();
        parts
            .flat_map(|part| part.chop(most - indent))
            .map(|part| match indent {
                0 => part,
                blanks => part.indented(blanks),
            })
            .collect()
    }

    /// Blanks before the first word, as long as they leave room for words.
    fn leading_blanks(&self, most: usize) -> usize {
        let text = self.whole();
        let blanks = text.len() - text.trim_start_matches(' ').len();
        if blanks < most / 2 { blanks } else { 0 }
    }

    fn broken(&self, most: usize) -> Vec<Self> {
        let mut lines = vec![Self::default()];
        let mut filled = 0;
        let mut blanks = 0;
        let text = self.whole();
        for word in words(&text) {
            let columns = word.width(&text);
            let breaks =
                filled > 0 && filled + blanks + columns > most && (blanks > 0 || word.may_break);
            if breaks {
                lines.push(Self::default());
                filled = 0;
            } else if filled > 0 {
                filled += blanks;
                if let Some(line) = lines.last_mut() {
                    line.add(self.ink_at(word.start), &" ".repeat(blanks));
                }
            }
            filled += columns;
            blanks = word.blanks;
            if let Some(line) = lines.last_mut() {
                self.copy(word.start..word.end, line);
            }
        }
        lines
    }

    /// Pieces of at most `most` columns: behind a mark inside of the word, where there is one
    /// that leaves no scrap, else between any two characters.
    fn chop(self, most: usize) -> Vec<Self> {
        let mut rest = self;
        let mut lines = Vec::new();
        while rest.width() > most {
            let text = rest.text();
            let (head, tail) = rest.split(cut_place(&text, most));
            lines.push(head);
            rest = tail;
        }
        lines.push(rest);
        lines
    }

    /// The line before and behind a byte of its text.
    fn split(&self, at: usize) -> (Self, Self) {
        let (mut head, mut tail) = (Self::default(), Self::default());
        let mut position = 0;
        for piece in &self.0 {
            let inside = at.saturating_sub(position).min(piece.text.len());
            let (before, behind) = piece.text.split_at(inside);
            head.add(piece.ink, before);
            tail.add(piece.ink, behind);
            position += piece.text.len();
        }
        (head, tail)
    }

    /// Adds a range of the text's bytes to another line.
    fn copy(&self, range: Range<usize>, into: &mut Self) {
        let mut position = 0;
        for piece in &self.0 {
            let inside = |at: usize| at.saturating_sub(position).min(piece.text.len());
            let part = piece.text.get(inside(range.start)..inside(range.end));
            if let Some(part) = part.filter(|part| !part.is_empty()) {
                into.add(piece.ink, part);
            }
            position += piece.text.len();
        }
    }

    /// The ink of the byte of the text.
    fn ink_at(&self, at: usize) -> Ink {
        let mut end = 0;
        let found = self.0.iter().find(|piece| {
            end += piece.text.len();
            at < end
        });
        found.map_or(Ink::Plain, |piece| piece.ink)
    }
}

/// The words of a text, each with the blanks after it.
fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (start, character) in text.char_indices() {
        if character == ' ' {
            if let Some(word) = words.last_mut() {
                word.blanks += 1;
            }
            continue;
        }
        let columns = character.width().unwrap_or(0);
        let wide = columns > 1;
        let end = start + character.len_utf8();
        match words.last_mut() {
            Some(word) if word.blanks == 0 && (columns == 0 || (!wide && !word.wide)) => {
                word.end = end;
            }
            last => {
                let may_break = wide || last.is_some_and(|word| word.wide);
                words.push(Word {
                    start,
                    end,
                    blanks: 0,
                    wide,
                    may_break,
                });
            }
        }
    }
    words
}

/// Where text that takes more than `most` columns is cut, in bytes: at least one character
/// stays before it.
fn cut_place(text: &str, most: usize) -> usize {
    let mut last = 0;
    let mut behind_mark = None;
    for (start, character) in text.char_indices() {
        let end = start + character.len_utf8();
        let columns = text.get(..end).map_or(0, width);
        if columns > most && last > 0 {
            break;
        }
        last = end;
        if MARKS.contains(&character) && columns.saturating_mul(SCRAP) >= most && columns <= most {
            behind_mark = Some(end);
        }
    }
    behind_mark.unwrap_or(last)
}

/// A word: where it is in the text, in bytes.
struct Word {
    start: usize,
    end: usize,
    blanks: usize,
    wide: bool,
    may_break: bool,
}

impl Word {
    fn width(&self, text: &str) -> usize {
        text.get(self.start..self.end).map_or(0, width)
    }
}
