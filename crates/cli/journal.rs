//! Where events of an apply go: the journal, the events file, and progress on stderr.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};

use azure::{Sink, SinkError};
use model::{
    diag::{At, Code, Diagnostic},
    plan::Event,
    units::Timestamp,
};
use render::{
    Style,
    events::{self, Board, Heartbeats},
};

use crate::{app::App, planning::now, stop::Stop};

/// Seconds between two lines about one resource that still waits.
const HEARTBEAT_SECONDS: f64 = 30.0;

/// Lines that progress takes on a terminal.
const BOARD_HEIGHT: usize = 12;

/// Records between two syncs to the disk. Every record is in the kernel before its write is
/// sent, which outlives the process; a sync outlives the machine.
const RECORDS_PER_SYNC: u32 = 16;

/// A file for events as JSON lines.
#[derive(Clone, Copy)]
pub(crate) struct Events<'a> {
    /// Where.
    pub(crate) path: &'a Path,
    /// Whether an earlier round of this command has begun it.
    pub(crate) goes_on: bool,
}

impl Events<'_> {
    fn open(self) -> io::Result<File> {
        if self.goes_on {
            OpenOptions::new().append(true).open(self.path)
        } else {
            File::create(self.path)
        }
    }
}

/// Takes the events of one run.
pub(crate) struct Journal {
    /// Where the journal is.
    pub(crate) path: PathBuf,
    started: Instant,
    style: Style,
    state: Mutex<State>,
    /// Why an event could not be recorded, once one could not.
    failure: OnceLock<String>,
}

struct State {
    journal: File,
    unsynced: u32,
    events: Option<File>,
    progress: Progress,
}

enum Progress {
    Quiet,
    Lines(Heartbeats),
    Board { board: Board, drawn: usize },
}

impl Journal {
    /// Opens the journal of a run, and the events file where one is asked for.
    ///
    /// # Errors
    /// Either cannot be written; nothing may be sent to Azure then.
    pub(crate) fn open(
        app: &App,
        stack: &str,
        nonce: &str,
        events: Option<Events<'_>>,
    ) -> Result<Self, Stop> {
        let folder = Path::new(".tensorform").join("journal");
        let time = now().to_string().replace([':', '-'], "");
        let path = folder.join(format!("{time}-{stack}-{nonce}.jsonl"));
        let unwritable = |path: &Path, error: &io::Error| {
            Stop::because(
                Code::JournalUnwritable,
                format!("`{}` cannot be written: {error}", path.display()),
            )
            .help("each write to Azure is recorded before it is sent; nothing was sent")
        };
        let journal = fs::create_dir_all(&folder)
            .and_then(|()| File::create(&path))
            .map_err(|error| unwritable(&path, &error))?;
        let events = events
            .map(|events| {
                let opened = events.open();
                opened.map_err(|error| unwritable(events.path, &error))
            })
            .transpose()?;
        let progress = match (app.output.quiet, app.output.live) {
            (true, _) => Progress::Quiet,
            (false, true) => Progress::Board {
                board: Board::new(),
                drawn: 0,
            },
            (false, false) => Progress::Lines(Heartbeats::every(HEARTBEAT_SECONDS)),
        };
        let state = State {
            journal,
            unsynced: 0,
            events,
            progress,
        };
        Ok(Self {
            path,
            started: Instant::now(),
            style: app.output.stderr,
            state: Mutex::new(state),
            failure: OnceLock::new(),
        })
    }

    /// What is said where an event could not be recorded, after which the run wrote nothing more.
    pub(crate) fn failure(&self) -> Option<Diagnostic> {
        let message = format!("an event could not be recorded: {}", self.failure.get()?);
        let finding = Diagnostic::new(Code::JournalUnwritable, At::Nowhere, message);
        Some(finding.with_help(
            "nothing more was sent after it; make room on the disk, and run the command again",
        ))
    }

    /// Seconds since the run began.
    pub(crate) fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Draws progress anew on a terminal.
    pub(crate) fn redraw(&self) {
        let elapsed = self.elapsed();
        self.lock().redraw(elapsed, self.style);
    }

    /// Takes progress off the terminal, and everything to the disk.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        if let Progress::Board { drawn, .. } = &mut state.progress {
            erase(*drawn);
            *drawn = 0;
        }
        // What cannot be synced any more is still with the kernel.
        let _ = state.journal.sync_data();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Journal {
    fn emit(&self, event: &Event) -> Result<(), SinkError> {
        let elapsed = self.elapsed();
        let mut state = self.lock();
        if let Err(error) = state.record(event, now()) {
            self.failure.get_or_init(|| error.to_string());
            return Err(SinkError(Box::new(error)));
        }
        state.tell(event, elapsed, self.style);
        Ok(())
    }
}

impl State {
    fn record(&mut self, event: &Event, time: Timestamp) -> io::Result<()> {
        let line = events::json_line(event, time);
        self.journal.write_all(line.as_bytes())?;
        self.unsynced += 1;
        if self.unsynced >= RECORDS_PER_SYNC {
            self.journal.sync_data()?;
            self.unsynced = 0;
        }
        match &mut self.events {
            Some(file) => file.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }

    fn tell(&mut self, event: &Event, elapsed: f64, style: Style) {
        match &mut self.progress {
            Progress::Quiet => {}
            Progress::Lines(heartbeats) => {
                if heartbeats.admits(event, elapsed)
                    && let Some(line) = events::line(event, elapsed, style)
                {
                    write(&format!("{line}\n"));
                }
            }
            Progress::Board { board, drawn } => {
                board.feed(event, elapsed);
                let ends = matches!(
                    event,
                    Event::StepFinished { .. }
                        | Event::Moved { .. }
                        | Event::Paused { .. }
                        | Event::Interrupted
                );
                if ends && let Some(line) = events::line(event, elapsed, style) {
                    erase(*drawn);
                    *drawn = 0;
                    write(&format!("{line}\n"));
                }
            }
        }
    }

    fn redraw(&mut self, elapsed: f64, style: Style) {
        if let Progress::Board { board, drawn } = &mut self.progress {
            let lines = board.lines(elapsed, style, BOARD_HEIGHT);
            erase(*drawn);
            let mut text = lines.join("\n");
            if !lines.is_empty() {
                text.push('\n');
            }
            write(&text);
            *drawn = lines.len();
        }
    }
}

/// Takes lines off the terminal.
fn erase(lines: usize) {
    if lines > 0 {
        write(&format!("\x1b[{lines}A\x1b[J"));
    }
}

/// Progress that nobody can read any more is no reason to stop.
fn write(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
