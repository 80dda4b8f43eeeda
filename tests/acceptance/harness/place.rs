//! A folder of its own for each scenario, and the real binary run in it with nothing of this
//! machine's environment.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{filters, ran::Ran, running::Running, server::Server};

/// Two pools, data disks, and everything that goes along; `NAME` is the stack.
const TWO_POOLS: &str = "version: 1
name: NAME
location: eastus
pools:
  train:
    stage: training
    workload: small
    count: 2
    grouping: vms
    size: Standard_E8s_v5
    disks: {data: [{size_gb: 64, type: premium, lun: 0}]}
  serve:
    stage: inference
    workload: small
    count: 1
    size: Standard_F8s_v2
";

/// The spec of the two-pool stack.
pub(crate) fn two_pools(name: &str) -> String {
    TWO_POOLS.replace("NAME", name)
}

/// A third pool, which has other ways where there is no capacity.
const THIRD_POOL: &str = "  batch:
    stage: training
    workload: small
    count: 2
    size: Standard_D8s_v5
    zones: none
    fallback: [Standard_F8s_v2]
    capacity: {on_partial: rollback}
";

/// The spec of the two-pool stack with a third pool.
pub(crate) fn three_pools(name: &str) -> String {
    format!("{}{THIRD_POOL}", two_pools(name))
}

/// A folder and an environment to run the binary in.
#[derive(Debug)]
pub(crate) struct Place {
    folder: TempDir,
    /// The whole environment of the binary but for `HOME`.
    pub(crate) environment: BTreeMap<String, String>,
}

impl Place {
    /// An empty folder, an empty home, an empty environment.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        fs::create_dir(folder.path().join("home")).expect("an empty home");
        Self {
            folder,
            environment: BTreeMap::new(),
        }
    }

    /// The same with this spec.
    pub(crate) fn new(spec: &str) -> Self {
        let place = Self::empty();
        place.write("tensorform.yaml", spec);
        place
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
        self.bring_scripts(text);
    }

    /// Puts the scripts of the examples beside a spec that names them.
    fn bring_scripts(&self, spec: &str) {
        let named = spec.split("script: ").skip(1);
        let named = named.filter_map(|rest| rest.split([',', '}', '\n']).next());
        for name in named {
            let script = super::root().join("examples").join(name);
            if script.is_file() {
                fs::copy(script, self.path(name)).expect("the script is copied");
            }
        }
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

    /// Every file that is there, the home included, with its bytes.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(self.folder.path())
    }

    /// The binary with these arguments, in the folder, without our environment.
    fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tensorform"));
        command
            .args(arguments)
            .current_dir(self.folder())
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .envs(&self.environment)
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end, and checks what holds for every run.
    pub(crate) fn run<S: AsRef<str>>(&self, arguments: &[S]) -> Ran {
        let arguments = owned(arguments);
        let output = self.command(&arguments).output().expect("the binary runs");
        Ran::of(arguments, output)
    }

    /// Runs a command in the sandbox world of the folder.
    pub(crate) fn sandbox(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["--sandbox=world"], arguments].concat())
    }

    /// Starts a command whose events come through its stdout.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let events = ["--yes", "--events", "/dev/stdout"];
        let arguments = owned(&[arguments, events.as_slice()].concat());
        let child = self
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        Running::of(arguments, child)
    }

    /// Serves the world of the folder from a process of its own.
    pub(crate) fn serve(&self, speed: u32) -> Server {
        self.serve_world("world", &speed.to_string())
    }

    /// Serves a world of the folder from a process of its own.
    pub(crate) fn serve_world(&self, world: &str, speed: &str) -> Server {
        let arguments = [
            "-vvv", "-o", "json", "sandbox", "serve", "--state", world, "--speed", speed,
        ];
        let log = File::create(self.path("serve.log")).expect("a file");
        let child = self
            .command(&owned(&arguments))
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("the sandbox runs");
        Server::of(child)
    }

    /// Applies what is left to do; then there must be nothing left, and nothing but the stack.
    #[track_caller]
    pub(crate) fn converge(&self, server: &Server, what: &str) {
        self.sandbox(&["apply", "--yes"]).exits(0, what);
        self.is_as_planned(server, what);
    }

    /// The plan is empty, and all there is in the groups of the plan belongs to it.
    #[track_caller]
    pub(crate) fn is_as_planned(&self, server: &Server, what: &str) {
        self.is_as_planned_beside(server, &[], what);
    }

    /// The same with resources of others in the group.
    #[track_caller]
    pub(crate) fn is_as_planned_beside(&self, server: &Server, others: &[&str], what: &str) {
        let plan = self.sandbox(&["plan", "--detailed-exitcode", "-o", "json"]);
        let plan = plan.exits(0, what).json();
        let steps = plan["steps"].as_array().expect("steps");
        let planned: BTreeSet<String> = steps
            .iter()
            .map(|step| step["id"].as_str().expect("an id").to_lowercase())
            .collect();
        let group = plan["scope"]["resource_group"].as_str().expect("a group");
        let mut orphans = server.orphans(group, &planned);
        orphans.retain(|id| !others.iter().any(|other| other.eq_ignore_ascii_case(id)));
        assert!(orphans.is_empty(), "{what}: orphans {orphans:?}");
    }

    /// Destroys what is left; then there must be nothing in the world.
    #[track_caller]
    pub(crate) fn vanish(&self, server: &Server, what: &str) {
        self.sandbox(&["destroy", "--yes"]).exits(0, what);
        let left = server.everything();
        assert!(left.is_empty(), "{what}: left {left:?}");
    }

    /// Takes out of an output what differs between runs and machines.
    pub(crate) fn filtered(&self, text: &str) -> String {
        let folder = self.folder();
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let text = text
            .replace(&real.display().to_string(), "[FOLDER]")
            .replace(&folder.display().to_string(), "[FOLDER]")
            .replace(&self.folder.path().display().to_string(), "[TEMPORARY]");
        filters::filtered(&text)
    }
}

fn owned<S: AsRef<str>>(arguments: &[S]) -> Vec<String> {
    let owned = |argument: &S| argument.as_ref().to_owned();
    arguments.iter().map(owned).collect()
}

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let bytes = fs::read(&path).expect("a file");
                found.push((path, bytes));
            }
        }
    }
    found
}
