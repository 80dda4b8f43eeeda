//! A folder of its own for each scenario, and the real binary run in it with nothing of this
//! machine's environment.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// Set to write anew what tests compare with.
pub(crate) const UPDATE: &str = "UPDATE_GOLDENS";

/// Whether files are written anew instead of compared.
pub(crate) fn updates() -> bool {
    std::env::var_os(UPDATE).is_some()
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares with a file of the repository, or writes it anew.
pub(crate) fn compare(path: &Path, found: &str) {
    let kept = fs::read_to_string(path).unwrap_or_default();
    if kept == found {
        return;
    }
    if updates() {
        let folder = path
            .parent()
            .expect("files of the repository are in a folder");
        fs::create_dir_all(folder).expect("the folder is made");
        fs::write(path, found).expect("the file is written");
        return;
    }
    let difference = similar::TextDiff::from_lines(kept.as_str(), found);
    panic!(
        "{} differs; run the tests with {UPDATE}=1 and look at the difference:\n{}",
        path.strip_prefix(root()).unwrap_or(path).display(),
        difference.unified_diff().context_radius(3)
    );
}

/// What a run of the binary gave.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// The arguments.
    pub(crate) arguments: Vec<String>,
    /// The exit code.
    pub(crate) exit: i32,
    /// Data.
    pub(crate) stdout: String,
    /// Progress and findings.
    pub(crate) stderr: String,
}

/// Exit codes that the tool promises.
const PROMISED: &[i32] = &[0, 1, 2, 3, 4, 64, 130];

/// What no output ever has: it would be a crash, or colour where nobody asked for it.
const NEVER: &[&str] = &[
    "panicked at",
    "stack backtrace",
    "RUST_BACKTRACE",
    "\u{1b}[",
];

impl Ran {
    /// Checks what holds for every run.
    fn check(self) -> Self {
        assert!(
            PROMISED.contains(&self.exit),
            "exit code {} is none of those promised: {self:#?}",
            self.exit
        );
        for text in [&self.stdout, &self.stderr] {
            for word in NEVER {
                assert!(!text.contains(word), "{word:?} in the output: {self:#?}");
            }
        }
        if self.asked_for_json() {
            self.json();
        }
        self
    }

    /// Whether data was asked for as JSON, by a command that was run at all.
    fn asked_for_json(&self) -> bool {
        let json = |pair: &[String]| matches!(pair, [flag, format] if (flag == "-o" || flag == "--output") && format == "json");
        let prints_itself = ["--help", "--version"];
        self.arguments.windows(2).any(json)
            && !self
                .arguments
                .iter()
                .any(|argument| prints_itself.contains(&argument.as_str()))
    }

    /// The one JSON document on stdout.
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(document) => document,
            Err(error) => panic!("stdout is not one JSON document ({error}): {self:#?}"),
        }
    }
}

/// A folder and an environment to run the binary in.
#[derive(Debug)]
pub(crate) struct Bench {
    folder: TempDir,
    /// The whole environment of the binary but for `HOME`.
    pub(crate) environment: BTreeMap<String, String>,
}

impl Bench {
    /// An empty folder, an empty home, an empty environment.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        fs::create_dir(folder.path().join("home")).expect("an empty home");
        Self {
            folder,
            environment: BTreeMap::new(),
        }
    }

    /// Where the binary runs.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A file in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file in the folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("the folder of the file");
        }
        fs::write(path, text).expect("the file is written");
    }

    /// Reads a file of the folder.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Replaces a part of a file, which must be there once.
    pub(crate) fn replace(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert_eq!(
            text.matches(old).count(),
            1,
            "`{old}` stands once in {name}:\n{text}"
        );
        self.write(name, &text.replacen(old, new, 1));
    }

    /// Runs the binary, and checks what holds for every run.
    pub(crate) fn run<S: AsRef<str>>(&self, arguments: &[S]) -> Ran {
        let arguments: Vec<String> = arguments
            .iter()
            .map(|argument| argument.as_ref().to_owned())
            .collect();
        let output = Command::new(env!("CARGO_BIN_EXE_tensorform"))
            .args(&arguments)
            .current_dir(self.folder())
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .envs(&self.environment)
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        let ran = Ran {
            arguments,
            exit: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        ran.check()
    }

    /// Takes out of an output what differs between runs and machines.
    pub(crate) fn filtered(&self, text: &str) -> String {
        let folder = self.folder();
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let text = text
            .replace(&real.display().to_string(), "[FOLDER]")
            .replace(&folder.display().to_string(), "[FOLDER]")
            .replace(&self.folder.path().display().to_string(), "[TEMPORARY]");
        crate::filters::filtered(&text)
    }
}
