//! Runs of the tool: how long each took, and how much memory one had at most.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// How often a process is asked for its peak. Linux tells the highest so far, so that only what
/// is added after the last question is missed: a plan is printed and freed by then.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(1);

/// Fields of `/proc/self/stat` between the name and the times of children, in the program and in
/// the kernel.
const CHILDREN_TIMES: usize = 13;

/// What those times are counted in; the sums behind them are exact.
const TICK: Duration = Duration::from_millis(10);

/// Where a run puts its data.
const DATA: &str = "data";

/// Where a run puts everything else that it says.
const ERRORS: &str = "errors";

/// The tool under measurement.
pub(crate) fn tool() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_tensorform"))
}

/// A run of the tool in a folder, without our environment.
pub(crate) struct Run {
    folder: PathBuf,
    arguments: Vec<String>,
}

impl Run {
    /// With these arguments.
    pub(crate) fn new(folder: &Path, arguments: &[&str]) -> Self {
        Self {
            folder: folder.to_owned(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
        }
    }

    /// What it printed as data.
    pub(crate) fn data(&self) -> String {
        fs::read_to_string(self.folder.join(DATA)).expect("it ran")
    }

    /// How long it takes, from before the process exists to after it has ended.
    pub(crate) fn wall(&self) -> Duration {
        let begun = Instant::now();
        let child = self.start();
        self.end(child);
        begun.elapsed()
    }

    /// The most memory that is resident. The questions cost time, so that this run is not timed.
    pub(crate) fn peak_kib(&self) -> u64 {
        let mut child = self.start();
        let mut highest = 0;
        while child.try_wait().expect("it runs or has ended").is_none() {
            highest = peak_kib(child.id()).unwrap_or_default().max(highest);
            std::thread::sleep(BETWEEN_QUESTIONS);
        }
        self.end(child);
        assert!(highest > 0, "Linux tells the peak of a process");
        highest
    }

    fn start(&self) -> Child {
        let file = |name: &str| File::create(self.folder.join(name)).expect("a file");
        Command::new(tool())
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env_clear()
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .stdout(file(DATA))
            .stderr(file(ERRORS))
            .spawn()
            .expect("the tool runs")
    }

    /// Waits for the end, which must be a good one.
    fn end(&self, mut child: Child) {
        let status = child.wait().expect("it ends");
        let errors = || fs::read_to_string(self.folder.join(ERRORS)).unwrap_or_default();
        assert!(status.success(), "{:?}: {}", self.arguments, errors());
    }
}

/// Processor time of everything that this process started and that has ended.
pub(crate) fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux tells of processes");
    // The name of the process, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let ticks = fields.split_whitespace().skip(CHILDREN_TIMES).take(2);
    let ticks: u32 = ticks.filter_map(|ticks| ticks.parse::<u32>().ok()).sum();
    TICK * ticks
}

/// The most memory of a process so far; `None` once it has ended.
pub(crate) fn peak_kib(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().strip_suffix(" kB")?.parse().ok()
}
