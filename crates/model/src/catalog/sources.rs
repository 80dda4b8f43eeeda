//! Codes of sources, and what they stand for.

use std::collections::BTreeMap;

use super::table::{Fields, Mismatch, Table, quoted, read_table};

const COLUMNS: &[&str] = &["code", "repository", "commit", "path", "as_of", "licence"];

/// Everything that the `source` columns of other tables name by its code.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    by_code: BTreeMap<String, Source>,
}

/// One source: a file of a repository at a commit.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Repository, commit and path, for people.
    text: String,
    /// The day its figures stand for.
    as_of: String,
}

impl Sources {
    /// Reads `sources.csv`.
    pub(super) fn read(name: &str, text: &str) -> (Self, Table<()>) {
        let table = read_table(name, text, COLUMNS, read_source).sorted(
            name,
            |(a, _), (b, _)| a.cmp(b),
            |(code, _)| code.clone(),
        );
        let sources = Self {
            by_code: table.rows.into_iter().collect(),
        };
        let errors = Table {
            rows: Vec::new(),
            errors: table.errors,
        };
        (sources, errors)
    }

    /// Every source: its text and its day.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_code
            .values()
            .map(|source| (source.text.as_str(), source.as_of.as_str()))
    }

    fn of_code(&self, code: &str) -> Result<&Source, Mismatch> {
        self.by_code
            .get(code)
            .ok_or_else(|| Mismatch::new("the code of a source", quoted(code)))
    }
}

fn read_source(fields: &mut Fields<'_>) -> Result<(String, Source), Mismatch> {
    let code = fields.required()?.to_owned();
    let repository = fields.required()?;
    let commit = fields.text();
    let path = fields.required()?;
    let as_of = fields.day()?.to_owned();
    fields.required()?;
    let text = if commit.is_empty() {
        format!("{repository}: {path}")
    } else {
        format!("{repository}@{commit}: {path}")
    };
    Ok((code, Source { text, as_of }))
}

/// Resolves the `source` cells of one table. Neighbours mostly have the same one.
pub(super) struct Citations<'a> {
    sources: &'a Sources,
    cell: String,
    text: String,
    as_of: String,
}

impl<'a> Citations<'a> {
    /// Nothing resolved yet.
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self {
            sources,
            cell: String::new(),
            text: String::new(),
            as_of: String::new(),
        }
    }

    /// The text and the day of a cell with one code or several joined by `+`; the day is the
    /// first one's.
    pub(super) fn resolve(
        &mut self,
        fields: &mut Fields<'_>,
    ) -> Result<(String, String), Mismatch> {
        let cell = fields.required()?;
        if cell != self.cell {
            self.cell.clear();
            let mut text = String::new();
            let mut as_of = None;
            for code in cell.split('+') {
                let source = self.sources.of_code(code)?;
                if !text.is_empty() {
                    text.push_str("; ");
                }
                text.push_str(&source.text);
                as_of = as_of.or(Some(&source.as_of));
            }
            self.text = text;
            self.as_of = as_of.cloned().unwrap_or_default();
            cell.clone_into(&mut self.cell);
        }
        Ok((self.text.clone(), self.as_of.clone()))
    }

    /// The text of a cell, and the day in the field after it.
    pub(super) fn resolve_dated(
        &mut self,
        fields: &mut Fields<'_>,
    ) -> Result<(String, String), Mismatch> {
        let (text, _) = self.resolve(fields)?;
        Ok((text, fields.day()?.to_owned()))
    }
}
