//! Aligned columns.
//!
//! A table never takes more columns than the terminal has. Where there is no room, spare
//! columns are left out, then columns that can be broken give way, down to their longest word
//! and only then further, then those that can be cut; a last column for which too little is left
//! stands below its row instead.

use crate::{
    line::{Line, width},
    style::{Ink, Style},
};

/// Blanks between two columns.
const GAP: usize = 2;

/// How the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left.
    Left,
    /// At the right: whole numbers.
    Right,
    /// With their decimal points below each other; what has no digits stands at the right.
    Decimal,
}

/// What happens to a column for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is cut only when nothing else can give way.
    Keep,
    /// Its cells are cut.
    Cut,
    /// Its cells are broken into several lines.
    Wrap,
    /// It is left out as a whole, before any other column gives way.
    Spare,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading; a table whose columns have none has no line of headings.
    pub title: &'static str,
    /// How its cells stand.
    pub align: Align,
    /// What happens when there is no room.
    pub fit: Fit,
}

impl Column {
    /// Text at the left.
    pub const fn left(title: &'static str, fit: Fit) -> Self {
        Self {
            title,
            align: Align::Left,
            fit,
        }
    }

    /// Whole numbers.
    pub const fn right(title: &'static str) -> Self {
        Self {
            title,
            align: Align::Right,
            fit: Fit::Keep,
        }
    }

    /// Amounts.
    pub const fn decimal(title: &'static str) -> Self {
        Self {
            title,
            align: Align::Decimal,
            fit: Fit::Keep,
        }
    }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
    indent: usize,
    below: usize,
}

#[derive(Clone, Debug)]
enum Row {
    Cells(Vec<Line>),
    Across(Line),
}

impl Table {
    /// Without rows, each line behind `indent` blanks.
    pub fn new(columns: impl Into<Vec<Column>>, indent: usize) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
            indent,
            below: BELOW,
        }
    }

    /// With cells that stand below their row behind this many more blanks than the row.
    pub fn with_notes_at(self, below: usize) -> Self {
        Self { below, ..self }
    }

    /// Adds a row; cells that are missing are empty, cells beyond the last column are not
    /// shown.
    pub fn row(&mut self, cells: impl Into<Vec<Line>>) {
        self.rows.push(Row::Cells(cells.into()));
    }

    /// Adds a line across all columns; an empty one separates.
    pub fn across(&mut self, line: Line) {
        self.rows.push(Row::Across(line));
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines. Columns without any content are left out.
    pub fn lines(&self, style: Style) -> Vec<Line> {
        let most = style.columns();
        let Layout {
            columns,
            widths,
            below,
        } = self.layout(most);
        let mut lines = Vec::new();
        if columns.iter().any(|column| !column.title.is_empty()) {
            let titles: Vec<Vec<Line>> = columns
                .iter()
                .zip(&widths)
                .map(|(column, width)| vec![Line::inked(Ink::Faint, column.title).cut(*width)])
                .collect();
            lines.extend(self.joined(&columns, &widths, &titles, most));
        }
        for row in &self.rows {
            match row {
                Row::Across(line) => lines.push(line.indented(self.indent).cut(most)),
                Row::Cells(cells) => {
                    let parts: Vec<Vec<Line>> = columns
                        .iter()
                        .zip(&widths)
                        .map(|(column, width)| column.parts(cells, *width))
                        .collect();
                    lines.extend(self.joined(&columns, &widths, &parts, most));
                    lines.extend(
                        below
                            .iter()
                            .flat_map(|column| self.below(column, cells, most)),
                    );
                }
            }
        }
        lines
    }

    /// The cell of a column that stands below its row.
    fn below(&self, column: &Placed, cells: &[Line], most: usize) -> Vec<Line> {
        let Some(cell) = cells.get(column.index).filter(|cell| !cell.is_empty()) else {
            return Vec::new();
        };
        let indent = self.indent + self.below;
        cell.wrap_hard(most.saturating_sub(indent).max(1))
            .iter()
            .map(|part| part.indented(indent).cut(most))
            .collect()
    }

    fn layout(&self, most: usize) -> Layout {
        let mut columns = self.filled_columns();
        let mut widths: Vec<usize> = columns
            .iter()
            .map(|column| {
                let cells = self.cells(column.index).map(|cell| column.needs(cell));
                cells.chain([width(column.title)]).max().unwrap_or(0)
            })
            .collect();
        while self.indent + widths.iter().sum::<usize>() + columns.len() * GAP > most + GAP {
            let spare = columns.iter().rposition(|column| column.fit == Fit::Spare);
            let Some(spare) = spare else { break };
            columns.remove(spare);
            widths.remove(spare);
        }
        let mut below = None;
        if let ([.., last], [others @ .., needed]) = (columns.as_slice(), widths.as_slice())
            && last.fit == Fit::Wrap
            && !others.is_empty()
        {
            let taken = self.indent + others.iter().sum::<usize>() + others.len() * GAP;
            let readable = self.longest_word(last.index).clamp(READABLE, READABLE_WORD);
            if most.saturating_sub(taken) < readable.min(*needed) {
                below = columns.pop();
                widths.pop();
            }
        }
        self.fit(&columns, &mut widths, most);
        Layout {
            columns,
            widths,
            below,
        }
    }

    /// Makes columns narrower until they fit.
    fn fit(&self, columns: &[Placed], widths: &mut [usize], most: usize) {
        let gaps = columns.len().saturating_sub(1) * GAP + self.indent;
        let room = most.saturating_sub(gaps);
        if widths.iter().sum::<usize>() <= room {
            return;
        }
        // Words first: no column breaks one as long as another can give way.
        let wraps = |column: &Placed| column.fit == Fit::Wrap;
        let floors: Vec<Option<usize>> = columns
            .iter()
            .map(|column| wraps(column).then(|| self.longest_word(column.index).max(LEAST)))
            .collect();
        shrink(widths, room, |index| floors.get(index).copied().flatten());
        let stages: [(&[Fit], usize); 4] = [
            (&[Fit::Wrap], LEAST),
            (&[Fit::Wrap, Fit::Cut], LEAST),
            (&[Fit::Wrap, Fit::Cut, Fit::Keep], LEAST),
            (&[Fit::Wrap, Fit::Cut, Fit::Keep], 1),
        ];
        for (fits, least) in stages {
            shrink(widths, room, |index| {
                let column = columns.get(index)?;
                fits.contains(&column.fit).then_some(least)
            });
        }
    }

    fn filled_columns(&self) -> Vec<Placed> {
        let filled = |index: usize| {
            self.rows.iter().any(|row| match row {
                Row::Cells(cells) => cells.get(index).is_some_and(|cell| !cell.is_empty()),
                Row::Across(_) => false,
            })
        };
        let placed = |(index, column): (usize, &Column)| {
            let fractions = self.cells(index).map(|cell| fraction(&cell.text()));
            let fraction = match column.align {
                Align::Decimal => fractions.max().unwrap_or_default(),
                Align::Left | Align::Right => 0,
            };
            Placed {
                index,
                title: column.title,
                align: column.align,
                fit: column.fit,
                fraction,
            }
        };
        self.columns
            .iter()
            .enumerate()
            .filter(|(index, _)| filled(*index))
            .map(placed)
            .collect()
    }

    fn cells(&self, index: usize) -> impl Iterator<Item = &Line> {
        self.rows.iter().filter_map(move |row| match row {
            Row::Cells(cells) => cells.get(index),
            Row::Across(_) => None,
        })
    }

    /// Columns of the longest word of a column.
    fn longest_word(&self, index: usize) -> usize {
        self.cells(index).map(Line::longest_word).max().unwrap_or(0)
    }

    fn joined(
        &self,
        columns: &[Placed],
        widths: &[usize],
        parts: &[Vec<Line>],
        most: usize,
    ) -> Vec<Line> {
        let height = parts.iter().map(Vec::len).max().unwrap_or(0);
        let line = |level: usize| {
            let mut line = Line::default();
            line.blanks(self.indent);
            for (position, (column, width)) in columns.iter().zip(widths).enumerate() {
                if position > 0 {
                    line.blanks(GAP);
                }
                let empty = Line::default();
                let part = parts.get(position).and_then(|parts| parts.get(level));
                column.place(&mut line, part.unwrap_or(&empty), *width);
            }
            line.cut(most)
        };
        (0..height).map(line).collect()
    }
}

/// What a column keeps as long as others can give way.
const LEAST: usize = 12;

/// What must be left for a last column that can be broken; it stands below its row otherwise.
const READABLE: usize = 24;

/// The longest word that must have room there, too; one that is longer may be broken.
const READABLE_WORD: usize = 40;

/// Blanks before a cell that stands below its row, beyond those of the table, unless it says.
const BELOW: usize = 6;

/// Where everything goes.
struct Layout {
    columns: Vec<Placed>,
    widths: Vec<usize>,
    below: Option<Placed>,
}

/// A column that is shown.
struct Placed {
    index: usize,
    title: &'static str,
    align: Align,
    fit: Fit,
    fraction: usize,
}

impl Placed {
    /// Columns that a cell needs, decimals of the longest fraction included.
    fn needs(&self, cell: &Line) -> usize {
        cell.width() + self.behind(cell)
    }

    /// Blanks behind an amount so that its decimal point stands below the others.
    fn behind(&self, cell: &Line) -> usize {
        if self.align != Align::Decimal {
            return 0;
        }
        let text = cell.text();
        if text.ends_with(|last: char| last.is_ascii_digit()) {
            self.fraction - fraction(&text)
        } else {
            0
        }
    }

    fn parts(&self, cells: &[Line], width: usize) -> Vec<Line> {
        let empty = Line::default();
        let cell = cells.get(self.index).unwrap_or(&empty);
        match self.fit {
            Fit::Wrap => cell.wrap_hard(width),
            Fit::Keep | Fit::Cut | Fit::Spare => vec![cell.cut(width)],
        }
    }

    fn place(&self, line: &mut Line, part: &Line, width: usize) {
        let behind = self.behind(part);
        let blanks = width.saturating_sub(part.width());
        let (before, after) = match self.align {
            Align::Left => (0, blanks),
            Align::Right => (blanks, 0),
            Align::Decimal => (blanks.saturating_sub(behind), behind.min(blanks)),
        };
        line.blanks(before);
        line.append(part);
        line.blanks(after);
    }
}

/// The decimal point and what follows it, in columns.
fn fraction(text: &str) -> usize {
    match text.rsplit_once('.') {
        Some((_, fraction)) if fraction.bytes().all(|byte| byte.is_ascii_digit()) => {
            fraction.len() + 1
        }
        Some(_) | None => 0,
    }
}

/// Takes columns from the widest of those that have a floor until all fit into `room`.
fn shrink(widths: &mut [usize], room: usize, floor: impl Fn(usize) -> Option<usize>) {
    let mut excess = widths.iter().sum::<usize>().saturating_sub(room);
    while excess > 0 {
        let spare = |(index, width): (usize, &usize)| {
            let floor = floor(index)?;
            (*width > floor).then_some((index, *width, floor))
        };
        let mut spare: Vec<_> = widths.iter().enumerate().filter_map(spare).collect();
        spare.sort_by_key(|(index, width, _)| (std::cmp::Reverse(*width), *index));
        let Some((widest, width, floor)) = spare.first().copied() else {
            break;
        };
        let next = spare.get(1).map_or(floor, |(_, width, _)| *width);
        let target = next.max(floor).min(width - 1);
        let taken = (width - target).min(excess);
        if let Some(width) = widths.get_mut(widest) {
            *width -= taken;
        }
        excess -= taken;
    }
}
