//! Codes of sources, and what they stand for.

use std::collections::BTreeMap;

use super::{
    rows::SharedText,
    table::{Fields, Mismatch, Table, quoted, read_table},
};

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

    /// The newest day of a source whose code begins so.
    pub(super) fn newest(&self, code: &str) -> Option<&str> {
        self.by_code
            .iter()
            .filter(|(name, _)| name.starts_with(code))
            .map(|(_, source)| source.as_of.as_str())
            .max()
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

/// Resolves the `source` cells of one table. Neighbours mostly have the same one, and share it.
pub(super) struct Citations<'a> {
    sources: &'a Sources,
    cell: String,
    text: SharedText,
    day_of_source: SharedText,
    day: SharedText,
}

impl<'a> Citations<'a> {
    /// Nothing resolved yet.
    pub(super) fn new(sources: &'a Sources) -> Self {
        let nothing = SharedText::from("");
        Self {
            sources,
            cell: String::new(),
            text: nothing.clone(),
            day_of_source: nothing.clone(),
            day: nothing,
        }
    }

    /// The text of a cell with one code, or several joined by `+`.
    pub(super) fn source(&mut self, fields: &mut Fields<'_>) -> Result<SharedText, Mismatch> {
        let cell = fields.required()?;
        if cell != self.cell {
            let cited = cell
                .split('+')
                .map(|code| self.sources.of_code(code))
                .collect::<Result<Vec<_>, _>>()?;
            let texts: Vec<&str> = cited.iter().map(|source| &*source.text).collect();
            self.text = texts.join("; ").into();
            if let Some(first) = cited.first() {
                self.day_of_source = first.as_of.as_str().into();
            }
            cell.clone_into(&mut self.cell);
        }
        Ok(self.text.clone())
    }

    /// The day of the source that was resolved last; of several the first one's.
    pub(super) fn day_of_source(&self) -> SharedText {
        self.day_of_source.clone()
    }

    /// The next field as the day of the row.
    pub(super) fn day(&mut self, fields: &mut Fields<'_>) -> Result<SharedText, Mismatch> {
        let day = fields.day()?;
        if day != &*self.day {
            self.day = day.into();
        }
        Ok(self.day.clone())
    }
}
