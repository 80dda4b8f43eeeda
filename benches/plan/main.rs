//! Measures plans against a sandbox in a process of its own, and how fast the tool starts:
//! `benches/plan.sh`. Ends badly when requests or growth are not as promised; wall time and
//! memory depend on the machine, so that they are told and fail nothing.

#![expect(
    clippy::print_stdout,
    reason = "a benchmark prints what it measured, while it measures"
)]

mod measure;

mod sandbox;

mod machine;

mod report;

use std::{fs, path::Path, process::ExitCode, time::Duration};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    measure::Run,
    report::{Case, Report, Start, World},
    sandbox::Server,
};

/// Numbers of VMs that are measured unless `NODES` says.
const NODES: &[u32] = &[1, 100, 1_000];

/// Runs of each plan unless `RUNS` says.
const RUNS: usize = 7;

/// Runs of each plan that are asked for their memory.
const PEAK_RUNS: usize = 3;

/// Runs of what takes some milliseconds.
const SHORT_RUNS: usize = 31;

/// The smallest example, from the root of the repository.
const EXAMPLE: &str = "examples/training-small.yaml";

fn main() -> ExitCode {
    // Cargo adds an argument of its own.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let what = arguments.first().map_or("plan", String::as_str);
    let note = arguments.get(1).map_or("", String::as_str);
    let load = machine::load();
    let mut cases = Vec::new();
    for nodes in numbers("NODES", NODES) {
        cases.extend(plans(nodes));
    }
    let starts = starts();
    let report = Report {
        what: what.to_owned(),
        note: note.to_owned(),
        load_before: load,
        load_after: machine::load(),
        cases,
        starts,
    };
    let kept = report.keep(&root().join("benches/results"));
    print!("{}", report.text());
    println!("raw results: {}", kept.display());
    if report.holds() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The numbers of a variable of the environment, else the usual ones.
fn numbers(name: &str, usual: &[u32]) -> Vec<u32> {
    let Ok(text) = std::env::var(name) else {
        return usual.to_vec();
    };
    let number = |word: &str| word.parse().expect("a number of VMs");
    text.split_whitespace().map(number).collect()
}

fn runs() -> usize {
    let given = std::env::var("RUNS").ok();
    given.map_or(RUNS, |runs| runs.parse().expect("a number of runs"))
}

/// A folder with a spec of so many single VMs.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(nodes: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let spec = format!(
            "version: 1\n\
             name: bench\n\
             location: eastus\n\
             pools:\n  \
               nodes: {{stage: training, workload: small, count: {nodes}, grouping: vms}}\n"
        );
        fs::write(folder.path().join("tensorform.yaml"), spec).expect("a spec");
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A run of the tool in the world that a server serves.
    fn run(&self, arguments: &[&str]) -> Run {
        Run::new(self.path(), &[&["--sandbox=world"], arguments].concat())
    }

    /// Plans; sandbox and plan must agree on the requests, which are told too.
    fn plan<T>(&self, at: &Setting<'_>, measure: fn(&Run) -> T) -> (T, u64) {
        let run = self.run(&["plan", "-o", "json"]);
        at.server.forget();
        let measured = measure(&run);
        let seen = at.server.requests();
        let plan: Value = serde_json::from_str(&run.data()).expect("a plan");
        let told = plan["run"]["arm_requests"].as_u64();
        assert_eq!(told, Some(seen), "the plan tells what the sandbox saw");
        let (action, changes) = match at.world {
            World::Empty => ("create", true),
            World::NoChange => ("noop", false),
        };
        assert_eq!(plan["has_changes"].as_bool(), Some(changes));
        let steps = plan["steps"].as_array().expect("steps").iter();
        let vms = steps.filter(|step| {
            step["type"] == "Microsoft.Compute/virtualMachines" && step["action"] == action
        });
        assert_eq!(u32::try_from(vms.count()), Ok(at.nodes), "{action}");
        (measured, seen)
    }

    /// Plans often.
    fn plans(&self, at: &Setting<'_>) -> Case {
        let runs = runs();
        let before = measure::processor_time();
        let (walls, mut requests): (Vec<Duration>, Vec<u64>) =
            (0..runs).map(|_| self.plan(at, Run::wall)).unzip();
        let processor = measure::processor_time().saturating_sub(before);
        let (peaks_kib, seen): (Vec<u64>, Vec<u64>) =
            (0..PEAK_RUNS).map(|_| self.plan(at, Run::peak_kib)).unzip();
        requests.extend(seen);
        requests.dedup();
        let &[requests] = requests.as_slice() else {
            panic!("each run sends as many requests: {requests:?}");
        };
        Case {
            world: at.world,
            nodes: at.nodes,
            requests,
            walls,
            processor: processor / u32::try_from(runs).expect("not that many runs"),
            peaks_kib,
            server_peak_kib: at.server.peak_kib(),
        }
    }
}

/// What is planned, and against whom.
struct Setting<'a> {
    server: &'a Server,
    world: World,
    nodes: u32,
}

/// Plans so many VMs in the empty world, makes them, and plans them once more.
fn plans(nodes: u32) -> [Case; 2] {
    let place = Place::new(nodes);
    println!("{nodes} VMs: plans in the empty world");
    let server = Server::start(place.path());
    let empty = place.plans(&Setting {
        server: &server,
        world: World::Empty,
        nodes,
    });
    let made = place.run(&["apply", "--yes"]).wall();
    println!(
        "{nodes} VMs: made in {:.1} s; plans without a change",
        made.as_secs_f64()
    );
    // Another process, so that its peak is that of plans alone.
    drop(server);
    let server = Server::start(place.path());
    let no_change = place.plans(&Setting {
        server: &server,
        world: World::NoChange,
        nodes,
    });
    [empty, no_change]
}

/// What takes some milliseconds: the whole process.
fn starts() -> Vec<Start> {
    let example = root().join(EXAMPLE);
    let example = example.to_str().expect("a path that is text");
    let place = tempfile::tempdir().expect("a folder");
    let start = |name: &str, most_milliseconds: f64, arguments: &[&str]| Start {
        name: name.to_owned(),
        most_milliseconds,
        walls: (0..SHORT_RUNS)
            .map(|_| Run::new(place.path(), arguments).wall())
            .collect(),
    };
    let offline = format!("-f {EXAMPLE} plan --offline");
    vec![
        start(&offline, 30.0, &["-f", example, "plan", "--offline"]),
        start("--version", 10.0, &["--version"]),
    ]
}
