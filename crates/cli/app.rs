//! What every command has at hand.

use std::{cell::OnceCell, collections::BTreeMap};

use azure::Cloud;
use model::{
    catalog::Catalog,
    diag::{At, Code, Diagnostic, DiagnosticDocument, Diagnostics},
};

use crate::{
    VERSION,
    args::Global,
    cache::Cache,
    exit::Exit,
    output::{self, Output},
    source::Source,
    stop::Stop,
    world,
};

/// Options, output, environment, and the spec once it was read.
#[derive(Debug)]
pub(crate) struct App {
    /// Options of every command.
    pub(crate) global: Global,
    /// Where to print.
    pub(crate) output: Output,
    /// The command that runs, as it is typed.
    pub(crate) command: &'static str,
    /// The environment; read once, here.
    pub(crate) environment: BTreeMap<String, String>,
    source: OnceCell<Source>,
    /// The catalogue with the user's cache, or why that is not used; `None` without a cache.
    cached: OnceCell<Result<Option<Catalog>, String>>,
}

impl App {
    /// As the options say.
    pub(crate) fn new(global: Global, command: &'static str) -> Self {
        let output = Output::new(&global);
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let environment = std::env::vars_os().filter_map(text).collect();
        Self {
            global,
            output,
            command,
            environment,
            source: OnceCell::new(),
            cached: OnceCell::new(),
        }
    }

    /// The spec, read when first asked for.
    ///
    /// # Errors
    /// It cannot be read, or something is wrong with it.
    pub(crate) fn source(&self) -> Result<&Source, Stop> {
        if self.source.get().is_none() {
            let (source, findings) = Source::read(self)?;
            let source = self.source.get_or_init(|| source);
            if findings.has_errors() {
                return Err(Stop::with(findings));
            }
            let _ = source.findings.set(findings);
        }
        self.source
            .get()
            .ok_or_else(|| Stop::with(Diagnostics::default()))
    }

    /// The catalogue: with the user's cache over it, unless the run is offline. The embedded prices are
    /// those of the public cloud, so that the prices of another are unknown without a cache.
    pub(crate) fn catalog(&self, offline: bool) -> &Catalog {
        let embedded = match world::cloud(self) {
            Cloud::Public => Catalog::embedded(),
            Cloud::UsGovernment | Cloud::China => Catalog::unpriced(),
        };
        if offline {
            return embedded;
        }
        let cached = self.cached.get_or_init(|| match Cache::of(self) {
            Some(cache) => cache.open(),
            None => Ok(None),
        });
        match cached {
            Ok(Some(catalog)) => catalog,
            Ok(None) | Err(_) => embedded,
        }
    }

    /// Whether there is a cache of which nothing is used.
    pub(crate) fn is_cache_unusable(&self) -> bool {
        matches!(self.cached.get(), Some(Err(_)))
    }

    /// What of the user's cache could not be used, as far as it was asked for.
    pub(crate) fn cache_findings(&self) -> Diagnostics {
        let help = "run `tensorform catalog refresh`; embedded rows are used meanwhile";
        let finding = |message: String| {
            Diagnostic::new(Code::CacheUnusable, At::Nowhere, message).with_help(help)
        };
        match self.cached.get() {
            None | Some(Ok(None)) => Diagnostics::default(),
            Some(Err(reason)) => [finding(reason.clone())].into_iter().collect(),
            Some(Ok(Some(catalog))) => {
                let errors = catalog.cache_errors().into_iter();
                let messages = errors.map(|error| format!("the catalogue's cache: {error}"));
                messages.map(finding).collect()
            }
        }
    }

    /// Findings as they stand in JSON documents.
    pub(crate) fn documents(&self, findings: &Diagnostics) -> Vec<DiagnosticDocument> {
        let findings: Vec<Diagnostic> = findings.iter().cloned().collect();
        match self.source.get() {
            Some(source) => source.documents(&findings),
            None => Source::nowhere().documents(&findings),
        }
    }

    /// Prints findings for people.
    pub(crate) fn say(&self, findings: &Diagnostics) {
        self.tell(findings, "");
    }

    fn tell(&self, findings: &Diagnostics, before: &str) {
        let quiet = self.output.quiet;
        let told = findings
            .iter()
            .filter(|finding| !(quiet && finding.severity == model::diag::Severity::Note));
        let told: Vec<Diagnostic> = told.cloned().collect();
        if told.is_empty() {
            return;
        }
        let style = self.output.stderr;
        let text = match self.source.get() {
            Some(source) => source.text(&told, style),
            None => Source::nowhere().text(&told, style),
        };
        self.output.note(before);
        self.output.say(&text);
    }

    /// Prints the findings of what was just printed, with a line between; a JSON document
    /// carries its own.
    pub(crate) fn say_below(&self, findings: &Diagnostics) {
        if !self.output.is_json() {
            self.tell(findings, "\n");
        }
    }

    /// How the process ends: data that could not be printed is no success, unless something was
    /// written to Azure, which the exit code tells of.
    pub(crate) fn end(&self, exit: Exit) -> Exit {
        let Some(reason) = self.output.lost() else {
            return exit;
        };
        self.say(&Stop::because(Code::FileUnusable, output::unwritable(&reason)).diagnostics);
        match (self.command, exit) {
            ("apply" | "destroy", _) => exit,
            (_, Exit::Done | Exit::Changes) => Exit::Error,
            (_, _) => exit,
        }
    }

    /// Prints why a command ended.
    pub(crate) fn report(&self, stop: &Stop) -> Exit {
        if self.output.is_json() {
            let documents = self.documents(&stop.diagnostics);
            self.output
                .data(&render::failure::json(&documents, self.command, VERSION));
        } else {
            self.say(&stop.diagnostics);
        }
        stop.exit
    }
}
