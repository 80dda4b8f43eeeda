//! A command under way, told about by its events.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command},
};

use serde_json::Value;

use super::ran::Ran;

/// A command under way.
pub(crate) struct Running {
    arguments: Vec<String>,
    child: Option<Child>,
    events: BufReader<ChildStdout>,
}

impl Running {
    /// Of a process whose events come through its stdout.
    pub(crate) fn of(arguments: Vec<String>, mut child: Child) -> Self {
        let stdout = child.stdout.take().expect("a pipe");
        Self {
            arguments,
            child: Some(child),
            events: BufReader::new(stdout),
        }
    }

    /// Waits for the next event; `None` at the end of the run.
    pub(crate) fn event(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.events.read_line(&mut line).expect("an event");
        // A killed process may leave half a line.
        serde_json::from_str(&line).ok()
    }

    /// Waits for the event with this name.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, name: &str) -> Value {
        while let Some(event) = self.event() {
            if event["event"] == name {
                return event;
            }
        }
        let child = self.child.take().expect("it runs until it is ended");
        let output = child.wait_with_output().expect("it ends");
        panic!("the run ended without `{name}`: {output:?}");
    }

    /// Waits for so many events; answers whether there were as many.
    pub(crate) fn pass(&mut self, count: usize) -> bool {
        (0..count).all(|_| self.event().is_some())
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it runs until it is ended")
    }

    /// Ends the process as the kernel does.
    pub(crate) fn kill(mut self) {
        self.child().kill().expect("it can be killed");
        self.child().wait().expect("it ends");
        self.child = None;
    }

    /// Sends the process a signal.
    pub(crate) fn signal(&mut self, name: &str) {
        let process = self.child().id().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &process])
            .status()
            .expect("`kill` runs");
        assert!(sent.success(), "the process takes {name}");
    }

    /// Waits for the end; the rest of the events comes along.
    pub(crate) fn end(mut self) -> (Ran, Vec<Value>) {
        let mut events = Vec::new();
        while let Some(event) = self.event() {
            events.push(event);
        }
        let child = self.child.take().expect("it runs until it is ended");
        let output = child.wait_with_output().expect("it ends");
        (Ran::of(std::mem::take(&mut self.arguments), output), events)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // A test that failed leaves no process behind; one that is gone already is as well.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
