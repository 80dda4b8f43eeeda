//! One table: CSV text to rows, and what is wrong with the lines that are none.

use std::{cmp::Ordering, str::FromStr};

use rust_decimal::Decimal;

/// What is wrong with one line of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{table}` line {line}: expected {expected}, found {found}")]
pub struct TableError {
    /// The table, such as `prices/vm/eastus.csv`.
    pub table: String,
    /// The line, from 1.
    pub line: u64,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// The rows of a table, and its errors. Rows with errors are left out.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    pub(super) rows: Vec<T>,
    pub(super) errors: Vec<TableError>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            errors: Vec::new(),
        }
    }
}

/// What a row reader found where it expected something else.
#[derive(Debug)]
pub(super) struct Mismatch {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Mismatch {
    pub(super) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// The fields of one line, taken in the order of the header.
pub(super) struct Fields<'a> {
    columns: &'static [&'static str],
    record: &'a csv::StringRecord,
    next: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self) -> (&'static str, &'a str) {
        let position = self.next;
        self.next += 1;
        (
            self.columns.get(position).copied().unwrap_or_default(),
            self.record.get(position).unwrap_or_default(),
        )
    }

    /// The next field, which may be empty.
    pub(super) fn text(&mut self) -> &'a str {
        self.take().1
    }

    /// The next field; `None` where it is empty.
    pub(super) fn optional(&mut self) -> Option<&'a str> {
        Some(self.text()).filter(|text| !text.is_empty())
    }

    /// The next field, which says something.
    pub(super) fn required(&mut self) -> Result<&'a str, Mismatch> {
        let (column, text) = self.take();
        if text.is_empty() {
            return Err(Mismatch::new(format!("a value in `{column}`"), "nothing"));
        }
        Ok(text)
    }

    /// The next field as a number.
    pub(super) fn number<N: FromStr>(&mut self) -> Result<N, Mismatch> {
        let (column, text) = self.take();
        parse(column, text)
    }

    /// The next field as a number; `None` where it is empty.
    pub(super) fn optional_number<N: FromStr>(&mut self) -> Result<Option<N>, Mismatch> {
        let (column, text) = self.take();
        if text.is_empty() {
            return Ok(None);
        }
        parse(column, text).map(Some)
    }

    /// The next field as an exact decimal that is not negative.
    pub(super) fn decimal(&mut self) -> Result<Decimal, Mismatch> {
        let (column, text) = self.take();
        parse_decimal(column, text)
    }

    /// The next field as an exact decimal; `None` where it is empty.
    pub(super) fn optional_decimal(&mut self) -> Result<Option<Decimal>, Mismatch> {
        let (column, text) = self.take();
        if text.is_empty() {
            return Ok(None);
        }
        parse_decimal(column, text).map(Some)
    }

    /// The next field as a price, which is never zero; `None` where it is empty.
    pub(super) fn optional_price(&mut self) -> Result<Option<Decimal>, Mismatch> {
        let column = self.columns.get(self.next).copied().unwrap_or_default();
        match self.optional_decimal()? {
            Some(price) if price.is_zero() => Err(Mismatch::new(
                format!("a price above 0, or nothing where none is known, in `{column}`"),
                quoted("0"),
            )),
            price => Ok(price),
        }
    }

    /// The next field as one of a few words.
    pub(super) fn choice<V: Clone>(&mut self, choices: &[(&str, V)]) -> Result<V, Mismatch> {
        let (column, text) = self.take();
        if let Some((_, value)) = choices.iter().find(|(word, _)| *word == text) {
            return Ok(value.clone());
        }
        let words: Vec<String> = choices.iter().map(|(word, _)| quoted(word)).collect();
        Err(Mismatch::new(
            format!("one of {} in `{column}`", words.join(", ")),
            quoted(text),
        ))
    }

    /// The next field as `yes` or `no`.
    pub(super) fn yes_or_no(&mut self) -> Result<bool, Mismatch> {
        self.choice(&[("yes", true), ("no", false)])
    }

    /// The next field as `yes`, `no`, or nothing where it is not known.
    pub(super) fn yes_no_or_unknown(&mut self) -> Result<Option<bool>, Mismatch> {
        self.choice(&[("yes", Some(true)), ("no", Some(false)), ("", None)])
    }

    /// The next field as the day a source stands for.
    pub(super) fn day(&mut self) -> Result<&'a str, Mismatch> {
        let (column, text) = self.take();
        parse_day(column, text)
    }

    /// The next field as a day; `None` where it is empty.
    pub(super) fn optional_day(&mut self) -> Result<Option<&'a str>, Mismatch> {
        let (column, text) = self.take();
        if text.is_empty() {
            return Ok(None);
        }
        parse_day(column, text).map(Some)
    }
}

fn parse_day<'a>(column: &str, text: &'a str) -> Result<&'a str, Mismatch> {
    if is_day(text) {
        return Ok(text);
    }
    Err(Mismatch::new(
        format!("a day such as `2026-08-01` in `{column}`"),
        quoted(text),
    ))
}

fn parse_decimal(column: &str, text: &str) -> Result<Decimal, Mismatch> {
    Decimal::from_str_exact(text)
        .ok()
        .filter(|number| !number.is_sign_negative())
        .ok_or_else(|| {
            Mismatch::new(
                format!("a decimal such as `98.32` in `{column}`"),
                quoted(text),
            )
        })
}

fn parse<N: FromStr>(column: &str, text: &str) -> Result<N, Mismatch> {
    text.parse()
        .map_err(|_| Mismatch::new(format!("a number in `{column}`"), quoted(text)))
}

pub(super) fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// Whether `text` is a day, a month, or the months between which a source was written.
pub(super) fn is_day(text: &str) -> bool {
    let is_date = |text: &str| {
        let mut parts = text.split('-');
        let digits = |part: Option<&str>, count: usize| {
            part.is_some_and(|part| {
                part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        let starts_well = digits(parts.next(), 4) && digits(parts.next(), 2);
        let day = parts.next();
        starts_well && (day.is_none() || digits(day, 2)) && parts.next().is_none()
    };
    text.split('/').count() <= 2 && text.split('/').all(is_date)
}

/// Reads a table; `read` makes one row of the fields of one line.
pub(super) fn read_table<T>(
    name: &str,
    text: &str,
    columns: &'static [&'static str],
    mut read: impl FnMut(&mut Fields<'_>) -> Result<T, Mismatch>,
) -> Table<(u64, T)> {
    let mut table = Table::default();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let mut at_header = true;
    loop {
        let line = reader.position().line();
        let outcome = match reader.read_record(&mut record) {
            Ok(false) if at_header => Err(Mismatch::new(header_of(columns), "an empty table")),
            Ok(false) => break,
            Ok(true) if at_header => check_header(columns, &record),
            Ok(true) => read_row(columns, &record, &mut read)
                .map(|row| table.rows.push((line_of(&record, line), row))),
            Err(error) => Err(Mismatch::new("a line of CSV", error.to_string())),
        };
        if let Err(Mismatch { expected, found }) = outcome {
            table.errors.push(TableError {
                table: name.to_owned(),
                line: line_of(&record, line),
                expected,
                found,
            });
            if at_header {
                break;
            }
        }
        at_header = false;
    }
    table
}

fn line_of(record: &csv::StringRecord, otherwise: u64) -> u64 {
    record.position().map_or(otherwise, csv::Position::line)
}

fn header_of(columns: &[&str]) -> String {
    format!("the header `{}`", columns.join(","))
}

fn check_header(columns: &[&str], record: &csv::StringRecord) -> Result<(), Mismatch> {
    if record.iter().eq(columns.iter().copied()) {
        return Ok(());
    }
    let found: Vec<&str> = record.iter().collect();
    Err(Mismatch::new(header_of(columns), quoted(&found.join(","))))
}

fn read_row<T>(
    columns: &'static [&'static str],
    record: &csv::StringRecord,
    read: &mut impl FnMut(&mut Fields<'_>) -> Result<T, Mismatch>,
) -> Result<T, Mismatch> {
    if record.len() != columns.len() {
        return Err(Mismatch::new(
            format!("{} fields", columns.len()),
            format!("{} fields", record.len()),
        ));
    }
    read(&mut Fields {
        columns,
        record,
        next: 0,
    })
}

impl<T> Table<(u64, T)> {
    /// Sorts by `compare` and reports rows that say of one thing twice; the first one stays.
    pub(super) fn sorted(
        mut self,
        name: &str,
        compare: impl Fn(&T, &T) -> Ordering,
        show: impl Fn(&T) -> String,
    ) -> Table<T> {
        self.rows.sort_by(|(_, a), (_, b)| compare(a, b));
        let errors = &mut self.errors;
        self.rows.dedup_by(|(line, row), (_, kept)| {
            let is_double = compare(row, kept) == Ordering::Equal;
            if is_double {
                errors.push(TableError {
                    table: name.to_owned(),
                    line: *line,
                    expected: "each row once".to_owned(),
                    found: format!("{} again", quoted(&show(row))),
                });
            }
            is_double
        });
        self.unnumbered()
    }

    /// The rows in their order, without their lines.
    pub(super) fn unnumbered(self) -> Table<T> {
        Table {
            rows: self.rows.into_iter().map(|(_, row)| row).collect(),
            errors: self.errors,
        }
    }
}
