//! The spec as a file: its text, its findings, and where they stand.

use std::{cell::OnceCell, collections::BTreeMap, path::Path};

use model::{
    diag::{At, Code, Diagnostic, DiagnosticDocument, Diagnostics, SpecPath},
    digest,
    plan::SpecReference,
    spec::{Inputs, SpanIndex, Spec, parse, referenced_environment},
    transformer,
};
use render::{
    Style,
    diagnostics::{self, SourceText},
};

use crate::{app::App, bootstraps, files, keys, stop::Stop};

/// A spec that was read.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its path as given.
    pub(crate) file: String,
    /// Where everything stands.
    spans: SpanIndex,
    /// What it says; `None` where something is wrong.
    spec: Option<Spec>,
    /// Warnings about it.
    pub(crate) findings: OnceCell<Diagnostics>,
}

impl Source {
    /// Reads the spec of a run, with what was found.
    ///
    /// # Errors
    /// A file cannot be read, or a variable on the command line is no variable.
    pub(crate) fn read(app: &App) -> Result<(Self, Diagnostics), Stop> {
        let file = files::name(&app.global.file);
        let text = match files::read(&app.global.file) {
            Ok(bytes) => decode(bytes, &file)?,
            Err(_) if app.global.file.is_dir() => return Err(is_folder(&app.global.file)),
            Err(error) => {
                let stop = Stop::because(
                    Code::SpecUnreadable,
                    format!("`{file}` cannot be read: {error}"),
                );
                return Err(stop.help(
                    "`tensorform init` writes a starter spec; `-f FILE` names another file",
                ));
            }
        };
        let inputs = Inputs {
            variables: variables(app)?,
            environment: environment(app, &text),
        };
        let mut parsed = parse(&text, &inputs);
        if let Some(spec) = &mut parsed.spec {
            read_configs(app, spec, &mut parsed.diagnostics);
            bootstraps::read_scripts(app, spec, &mut parsed.diagnostics);
        }
        let source = Self {
            file,
            spans: parsed.spans,
            spec: parsed.spec,
            findings: OnceCell::new(),
        };
        Ok((source, parsed.diagnostics))
    }

    /// The stack that the spec names; `None` where there is no valid spec.
    pub(crate) fn stack(app: &App) -> Option<String> {
        if !files::is_standard(&app.global.file) && !app.global.file.exists() {
            return None;
        }
        let (source, _) = Self::read(app).ok()?;
        Some(source.spec?.name)
    }

    /// Stands for the spec where none was read.
    pub(crate) fn nowhere() -> Self {
        Self {
            file: String::new(),
            spans: SpanIndex::of_text(""),
            spec: None,
            findings: OnceCell::new(),
        }
    }

    /// What the spec says.
    ///
    /// # Errors
    /// Something is wrong with it, which was said when it was read.
    pub(crate) fn spec(&self) -> Result<&Spec, Stop> {
        self.spec.as_ref().ok_or_else(|| {
            Stop::because(
                Code::SpecUnreadable,
                format!("`{}` is no valid spec", self.file),
            )
        })
    }

    /// How plans refer to the spec.
    pub(crate) fn reference(&self) -> SpecReference {
        SpecReference {
            digest: digest::of_text(self.spans.text()),
            path: self.file.clone(),
        }
    }

    /// Warnings about the spec.
    pub(crate) fn warnings(&self) -> Diagnostics {
        self.findings.get().cloned().unwrap_or_default()
    }

    /// Findings for people.
    pub(crate) fn text(&self, findings: &[Diagnostic], style: Style) -> String {
        let source = SourceText {
            file: &self.file,
            text: self.spans.text(),
        };
        diagnostics::text(findings, &source, &|at: &At| self.spans.range(at), style)
    }

    /// Findings as documents.
    pub(crate) fn documents(&self, findings: &[Diagnostic]) -> Vec<DiagnosticDocument> {
        let source = SourceText {
            file: &self.file,
            text: self.spans.text(),
        };
        diagnostics::documents(findings, &source, &|at: &At| self.spans.range(at))
    }
}

/// Reads the `config.json` that models of the spec name.
fn read_configs(app: &App, spec: &mut Spec, findings: &mut Diagnostics) {
    for (name, pool) in &mut spec.pools {
        let Some(model) = &mut pool.model else {
            continue;
        };
        let Some(path) = &model.config else {
            continue;
        };
        let at = At::Value(SpecPath::pool(name, &["model", "config"]));
        let read = files::read(&keys::expand(app, path)).map_err(|error| error.to_string());
        let text = read.and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
        });
        let found = match text {
            Ok(text) => transformer::of_config(&text)
                .map_err(|error| format!("`{path}` gives no shape: {error}")),
            Err(reason) => Err(format!("`{path}` cannot be read: {reason}")),
        };
        match found {
            Ok(transformer) => model.transformer = Some(transformer),
            Err(message) => {
                let finding = Diagnostic::new(Code::ConfigUnusable, at, message);
                let help = "expected the `config.json` of a model in the form of Hugging Face";
                findings.push(finding.with_help(help));
            }
        }
    }
    findings.sort();
}

fn is_folder(path: &Path) -> Stop {
    let message = format!("`{}` is a folder, expected a file", path.display());
    let inside = path.join("tensorform.yaml");
    Stop::because(Code::SpecUnreadable, message).help(format!(
        "name the spec inside it, as in `-f {}`",
        inside.display()
    ))
}

/// Whether bytes are text of two bytes a character, as some editors save it: they begin with
/// its mark, or every other one of the first is zero.
fn is_utf16(bytes: &[u8]) -> bool {
    let zeros = |first: &[u8; 4]| first.map(|byte| byte == 0);
    match bytes.first_chunk::<4>() {
        Some([0xff, 0xfe, ..] | [0xfe, 0xff, ..]) => true,
        Some(first) => matches!(
            zeros(first),
            [false, true, false, true] | [true, false, true, false]
        ),
        None => false,
    }
}

fn decode(bytes: Vec<u8>, file: &str) -> Result<String, Stop> {
    if is_utf16(&bytes) {
        let message = format!("`{file}` is UTF-16, expected UTF-8");
        return Err(Stop::because(Code::SpecUnreadable, message)
            .help("save the file as UTF-8 text, as in `iconv -f UTF-16 -t UTF-8`"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Stop::because(
            Code::SpecUnreadable,
            format!("`{file}` is not UTF-8: byte {at} begins no character"),
        )
        .help("save the file as UTF-8 text")
    })
}

/// Variables of the command line; those of the file first, so that `--var` wins.
fn variables(app: &App) -> Result<BTreeMap<String, String>, Stop> {
    let mut variables = BTreeMap::new();
    let mut add = |assignment: &str, place: &str| match assignment.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            variables.insert(name.trim().to_owned(), value.to_owned());
            Ok(())
        }
        _ => Err(format!(
            "{place}: expected NAME=VALUE, found `{assignment}`"
        )),
    };
    if let Some(path) = &app.global.var_file {
        let file = path.display();
        let text = files::text(path)?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                add(line, &format!("{file}:{}", number + 1))
                    .map_err(|problem| Stop::because(Code::SpecVariable, problem))?;
            }
        }
    }
    for assignment in &app.global.var {
        add(assignment, "--var").map_err(Stop::usage)?;
    }
    Ok(variables)
}

/// Only those variables of the environment that the spec refers to.
fn environment(app: &App, text: &str) -> BTreeMap<String, String> {
    let wanted = referenced_environment(text);
    app.environment
        .iter()
        .filter(|(name, _)| wanted.contains(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
