//! The sandbox as a process of its own: its log of requests, and its memory.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::measure;

/// How much faster than Azure it runs: a VM is made in some milliseconds.
const SPEED: &str = "1000";

/// A sandbox that serves the world of a folder.
pub(crate) struct Server {
    child: Child,
    endpoint: String,
}

impl Server {
    /// Starts it, and waits until it listens.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut child = Command::new(measure::tool())
            .args(["-o", "json", "sandbox", "serve", "--state", "world"])
            .args(["--speed", SPEED])
            .current_dir(folder)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the sandbox runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let told: Value = serde_json::from_str(&line).expect("where it listens");
        let endpoint = told["endpoint"].as_str().expect("an endpoint").to_owned();
        Self { child, endpoint }
    }

    fn request(&self, method: &str, path: &str) -> Value {
        let host = self.endpoint.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("somebody listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
        )
        .expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 20"), "{method} {path}: {head}");
        serde_json::from_str(body).unwrap_or_default()
    }

    /// Forgets the requests so far.
    pub(crate) fn forget(&self) {
        self.request("DELETE", "/sandbox/log");
    }

    /// Requests to ARM since the last time they were forgotten, of those in the log.
    pub(crate) fn requests(&self) -> u64 {
        let log = self.request("GET", "/sandbox/log");
        let records = log["value"].as_array().expect("records");
        let to_arm = records.iter().filter(|record| record["kind"] != "token");
        u64::try_from(to_arm.count()).expect("a small number")
    }

    /// The most memory that it had so far.
    pub(crate) fn peak_kib(&self) -> u64 {
        measure::peak_kib(self.child.id()).expect("Linux tells the peak of a process")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The world is whole at any moment; there is nothing to say good-bye to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
