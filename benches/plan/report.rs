//! What was measured, beside what is promised: as a table, and as a file that is kept.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::json;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::machine;

/// The plan without a change that limits are promised for.
const PROMISED_NODES: u32 = 1_000;
/// Most requests to ARM that it sends.
const MOST_REQUESTS: u64 = 50;
/// Most time that it takes.
const MOST_WALL: Duration = Duration::from_millis(500);
/// Most memory that it has.
const MOST_MEGABYTES: f64 = 80.0;

/// Room for noise and for caches that a larger world does not fit in. A quadratic part of the work
/// would show as ten times too much where the number of VMs grows tenfold.
const ROOM: f64 = 1.25;

/// The world that is planned in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum World {
    /// Nothing exists.
    Empty,
    /// Everything exists as the spec says.
    NoChange,
}

impl World {
    fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NoChange => "no change",
        }
    }
}

/// Plans of one number of VMs in one world.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) world: World,
    pub(crate) nodes: u32,
    pub(crate) requests: u64,
    pub(crate) walls: Vec<Duration>,
    /// Processor time of a run of the client: the mean.
    pub(crate) processor: Duration,
    pub(crate) peaks_kib: Vec<u64>,
    pub(crate) server_peak_kib: u64,
}

/// A whole process that takes some milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) most_milliseconds: f64,
    pub(crate) walls: Vec<Duration>,
    /// Processor time of a run: the mean.
    pub(crate) processor: Duration,
}

/// Everything.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) what: String,
    pub(crate) note: String,
    pub(crate) load_before: String,
    pub(crate) load_after: String,
    pub(crate) cases: Vec<Case>,
    pub(crate) starts: Vec<Start>,
}

/// Something promised, and whether it is so.
struct Check {
    text: String,
    met: bool,
    /// Whether it depends on the machine, so that it fails nothing.
    of_machine: bool,
}

impl Report {
    /// Whether everything is as promised that does not depend on the machine.
    pub(crate) fn holds(&self) -> bool {
        self.checks()
            .iter()
            .all(|check| check.met || check.of_machine)
    }

    /// As it is printed.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "\n{:<10} {:>5} {:>9}   {:>24}   {:>9} {:>12} {:>10} {:>10}\n",
            "world",
            "VMs",
            "requests",
            "wall ms: median min max",
            "ms per VM",
            "processor ms",
            "client MB",
            "server MB"
        );
        for case in &self.cases {
            let _ = writeln!(
                text,
                "{:<10} {:>5} {:>9}   {}   {:>9.3} {:>12.0} {:>10.1} {:>10.1}",
                case.world.name(),
                case.nodes,
                case.requests,
                spread(&case.walls),
                milliseconds(median(&case.walls)) / f64::from(case.nodes),
                milliseconds(case.processor),
                megabytes(highest_kib(case)),
                megabytes(case.server_peak_kib),
            );
        }
        for start in &self.starts {
            let _ = writeln!(
                text,
                "{:<26}   {}   {:>9} {:>12.0}   {}",
                "start",
                spread(&start.walls),
                "",
                milliseconds(start.processor),
                start.name
            );
        }
        text.push('\n');
        for check in self.checks() {
            let met = if check.met { "met" } else { "not met" };
            let _ = writeln!(text, "{met:<8} {}", check.text);
        }
        let _ = writeln!(
            text,
            "load of the machine before and after: {}; {}",
            self.load_before, self.load_after
        );
        text
    }

    fn checks(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        let promised = |case: &&Case| case.world == World::NoChange && case.nodes == PROMISED_NODES;
        for case in self.cases.iter().filter(promised) {
            checks.extend(limits(case));
        }
        for world in [World::Empty, World::NoChange] {
            let cases: Vec<&Case> = self
                .cases
                .iter()
                .filter(|case| case.world == world)
                .collect();
            for pair in cases.windows(2) {
                if let [fewer, more] = pair {
                    checks.push(growth(fewer, more));
                }
            }
        }
        for start in &self.starts {
            let took = milliseconds(median(&start.walls));
            checks.push(Check {
                text: format!(
                    "`{}`: {took:.1} ms, at most {} ms",
                    start.name, start.most_milliseconds
                ),
                met: took <= start.most_milliseconds,
                of_machine: true,
            });
        }
        checks
    }

    /// Keeps everything, raw samples included, in a new file of the folder.
    pub(crate) fn keep(&self, folder: &Path) -> PathBuf {
        let now = OffsetDateTime::now_utc();
        let name = format!("{}-{}", now.date(), self.what);
        let mut names = std::iter::once(name.clone()).chain((2..).map(|at| format!("{name}-{at}")));
        let free = names.find_map(|name| {
            let path = folder.join(format!("{name}.json"));
            (!path.exists()).then_some(path)
        });
        let path = free.expect("there is always another number");
        let document = json!({
            "what": self.what,
            "measured_at": now.format(&Rfc3339).expect("a time has a text"),
            "note": self.note,
            "machine": machine::facts(),
            "load": {"before": self.load_before, "after": self.load_after},
            "checks": self.checks().iter().map(|check| json!({
                "text": check.text,
                "met": check.met,
                "fails_the_run": !check.of_machine,
            })).collect::<Vec<_>>(),
            "plans": self.cases.iter().map(|case| json!({
                "world": case.world.name(),
                "vms": case.nodes,
                "arm_requests": case.requests,
                "wall_us": raw(&case.walls),
                "client_processor_us": microseconds(case.processor),
                "client_peak_kib": case.peaks_kib,
                "server_peak_kib": case.server_peak_kib,
            })).collect::<Vec<_>>(),
            "starts": self.starts.iter().map(|start| json!({
                "name": start.name,
                "wall_us": raw(&start.walls),
                "processor_us": microseconds(start.processor),
            })).collect::<Vec<_>>(),
        });
        let text = serde_json::to_string_pretty(&document).expect("a document has a text");
        fs::create_dir_all(folder).expect("a folder");
        fs::write(&path, text + "\n").expect("a file");
        path
    }
}

/// The limits that a case is promised to stay in.
fn limits(case: &Case) -> [Check; 3] {
    let what = format!("no change, {} VMs", case.nodes);
    let wall = median(&case.walls);
    let memory = megabytes(highest_kib(case));
    [
        Check {
            text: format!(
                "{what}: {} requests, at most {MOST_REQUESTS}",
                case.requests
            ),
            met: case.requests <= MOST_REQUESTS,
            of_machine: false,
        },
        Check {
            text: format!(
                "{what}: {:.1} ms, at most {:.1} ms",
                milliseconds(wall),
                milliseconds(MOST_WALL)
            ),
            met: wall <= MOST_WALL,
            of_machine: true,
        },
        Check {
            text: format!("{what}: {memory:.1} MB, at most {MOST_MEGABYTES} MB"),
            met: memory <= MOST_MEGABYTES,
            of_machine: true,
        },
    ]
}

/// Work grows at most as the number of VMs does. It is processor time that is compared: others on
/// the machine hardly change it.
fn growth(fewer: &Case, more: &Case) -> Check {
    let most = f64::from(more.nodes) / f64::from(fewer.nodes) * ROOM;
    let work = milliseconds(more.processor) / milliseconds(fewer.processor);
    Check {
        text: format!(
            "{}: {} VMs take {work:.1} times the processor time of {}, at most {most:.1} times",
            fewer.world.name(),
            more.nodes,
            fewer.nodes
        ),
        met: work <= most,
        of_machine: false,
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).expect("less than thousands of years")
}

fn raw(walls: &[Duration]) -> Vec<u64> {
    walls.iter().copied().map(microseconds).collect()
}

fn sorted(walls: &[Duration]) -> Vec<Duration> {
    let mut walls = walls.to_vec();
    walls.sort();
    walls
}

fn median(walls: &[Duration]) -> Duration {
    let walls = sorted(walls);
    walls.get(walls.len() / 2).copied().unwrap_or_default()
}

/// Median, least and most, in milliseconds.
fn spread(walls: &[Duration]) -> String {
    let sorted = sorted(walls);
    let at = |wall: Option<&Duration>| milliseconds(wall.copied().unwrap_or_default());
    format!(
        "{:>8.1} {:>7.1} {:>7.1}",
        milliseconds(median(walls)),
        at(sorted.first()),
        at(sorted.last())
    )
}

fn highest_kib(case: &Case) -> u64 {
    case.peaks_kib.iter().copied().max().unwrap_or_default()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Megabytes of a million bytes.
fn megabytes(kib: u64) -> f64 {
    let kib = u32::try_from(kib).expect("less than 4 TiB");
    f64::from(kib) * 1_024.0 / 1_000_000.0
}
