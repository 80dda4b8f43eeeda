//! The real binary in a folder of its own, the sandbox as another process, and its raw API.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// The subscription of a new sandbox.
pub(crate) const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

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

/// A folder with a spec and, in `world`, the world of a sandbox.
pub(crate) struct Place {
    folder: TempDir,
    /// Variables that every run sees.
    pub(crate) environment: BTreeMap<String, String>,
}

/// What a run of the binary gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::from_utf8(output.stderr).expect("stderr is text"),
        }
    }

    /// The exit code must be this one.
    #[track_caller]
    pub(crate) fn exits(self, code: i32, what: &str) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "{what}\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Stdout as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}:\n{}\n{}", self.stdout, self.stderr))
    }
}

impl Place {
    /// A new folder with this spec.
    pub(crate) fn new(spec: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("tensorform.yaml"), spec).expect("a spec");
        Self {
            folder,
            environment: BTreeMap::new(),
        }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in the folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    /// The binary with these arguments, in the folder, without our environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tensorform"));
        command
            .env_clear()
            .env("HOME", self.folder.path())
            .envs(&self.environment)
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().expect("the binary runs"))
    }

    /// Runs a command in the sandbox world of the folder.
    pub(crate) fn sandbox(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["--sandbox=world"], arguments].concat())
    }

    /// Starts a command whose events come through its stdout.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let events = ["--yes", "--events", "/dev/stdout"];
        let mut child = self
            .command(&[arguments, events.as_slice()].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let stdout = child.stdout.take().expect("a pipe");
        Running {
            child: Some(child),
            events: BufReader::new(stdout),
        }
    }

    /// Serves the world of the folder from a process of its own.
    pub(crate) fn serve(&self, speed: u32) -> Server {
        let speed = speed.to_string();
        let mut child = self
            .command(&[
                "-vvv", "-o", "json", "sandbox", "serve", "--state", "world", "--speed", &speed,
            ])
            .stdout(Stdio::piped())
            .stderr(File::create(self.path("serve.log")).expect("a file"))
            .spawn()
            .expect("the sandbox runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let told: Value = serde_json::from_str(&line).expect("where it listens");
        let endpoint = told["endpoint"].as_str().expect("an endpoint").to_owned();
        Server { child, endpoint }
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
}

/// A command under way.
pub(crate) struct Running {
    child: Option<Child>,
    events: BufReader<ChildStdout>,
}

impl Running {
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
        panic!("the run ended without `{name}`");
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
        (Ran::of(child.wait_with_output().expect("it ends")), events)
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

/// A sandbox in a process of its own.
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) endpoint: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The world is whole at any moment; there is nothing to say good-bye to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// One request, past the SDK.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let host = self.endpoint.trim_start_matches("http://");
        let text = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(host).expect("somebody listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer raw\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        )
        .expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        (
            status.expect("a status"),
            serde_json::from_str(body).unwrap_or_default(),
        )
    }

    /// Sets the faults; their counts start over.
    pub(crate) fn set_faults(&self, faults: &Value) {
        let (status, answer) = self.request("PUT", "/sandbox/faults", Some(faults));
        assert_eq!(status, 204, "{answer}");
    }

    /// How often each rule acted.
    pub(crate) fn fired(&self) -> u64 {
        let (_, faults) = self.request("GET", "/sandbox/faults", None);
        let rules = faults["value"].as_array().expect("rules");
        rules.iter().filter_map(|rule| rule["fired"].as_u64()).sum()
    }

    /// Ends all faults.
    pub(crate) fn calm(&self) {
        let (status, _) = self.request("DELETE", "/sandbox/faults", None);
        assert_eq!(status, 204);
    }

    /// Forgets the requests so far.
    pub(crate) fn forget(&self) {
        let (status, _) = self.request("DELETE", "/sandbox/log", None);
        assert_eq!(status, 204);
    }

    /// The requests since the last time they were forgotten.
    pub(crate) fn log(&self) -> Vec<Value> {
        let (_, log) = self.request("GET", "/sandbox/log", None);
        log["value"].as_array().expect("records").clone()
    }

    /// The writes among them, as `METHOD path`.
    pub(crate) fn writes(&self) -> Vec<String> {
        let log = self.log();
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        log.iter()
            .filter(|record| record["method"] != "GET" && record["kind"] != "token")
            .map(|record| format!("{} {}", text(&record["method"]), text(&record["path"])))
            .collect()
    }

    fn list(&self, path: &str) -> Vec<Value> {
        let (status, answer) = self.request("GET", path, None);
        if status == 404 {
            return Vec::new();
        }
        assert!(
            answer.get("nextLink").is_none(),
            "small worlds have one page"
        );
        answer["value"].as_array().expect("a list").clone()
    }

    /// The groups and resources of the subscription.
    pub(crate) fn everything(&self) -> Vec<String> {
        let below = format!("/subscriptions/{SUBSCRIPTION}");
        let mut all = self.list(&format!("{below}/resourcegroups?api-version=2021-04-01"));
        all.extend(self.list(&format!("{below}/resources?api-version=2021-04-01")));
        all.iter().map(id).collect()
    }

    /// Resources of a group that neither are in a plan nor belong to a VM that is.
    fn orphans(&self, group: &str, planned: &BTreeSet<String>) -> Vec<String> {
        let below = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}");
        let all = self.list(&format!("{below}/resources?api-version=2021-04-01"));
        let others = all.iter().map(id).filter(|id| !planned.contains(id));
        others.filter(|id| !self.is_part(id, planned)).collect()
    }

    fn is_part(&self, id: &str, planned: &BTreeSet<String>) -> bool {
        let (version, owner) = if id.contains("/microsoft.compute/disks/") {
            ("2024-03-02", "/managedBy")
        } else if id.contains("/microsoft.network/networkinterfaces/") {
            ("2024-07-01", "/properties/virtualMachine/id")
        } else {
            return false;
        };
        let (_, part) = self.request("GET", &format!("{id}?api-version={version}"), None);
        let owner = part.pointer(owner).and_then(Value::as_str);
        owner.is_some_and(|owner| planned.contains(&owner.to_lowercase()))
    }

    /// Makes a group with a security group in it, by nobody's stack; answers the id of the latter.
    pub(crate) fn stranger(&self, group: &str, name: &str) -> String {
        let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}");
        if self.body(&group).is_none() {
            let body = serde_json::json!({"location": "eastus"});
            let path = format!("{group}?api-version=2021-04-01");
            assert_eq!(self.request("PUT", &path, Some(&body)).0, 201);
        }
        let id = format!("{group}/providers/Microsoft.Network/networkSecurityGroups/{name}");
        let body = serde_json::json!({"location": "eastus", "tags": {"whose": "a stranger's"}});
        let (status, answer) =
            self.request("PUT", &format!("{id}?api-version=2024-07-01"), Some(&body));
        assert_eq!(status, 201, "{answer}");
        while self.body(&id).expect("it was made")["properties"]["provisioningState"] != "Succeeded"
        {
            std::thread::yield_now();
        }
        id
    }

    /// What is at an id; nothing where it is absent.
    pub(crate) fn body(&self, id: &str) -> Option<Value> {
        let version = if id.contains("/providers/") {
            "2024-07-01"
        } else {
            "2021-04-01"
        };
        let (status, body) = self.request("GET", &format!("{id}?api-version={version}"), None);
        (status == 200).then_some(body)
    }
}

fn id(resource: &Value) -> String {
    resource["id"].as_str().expect("an id").to_lowercase()
}

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Seeded(u64);

impl Seeded {
    /// From `TENSORFORM_TEST_SEED`, else the usual seed.
    pub(crate) fn new() -> Self {
        let given = std::env::var("TENSORFORM_TEST_SEED").ok();
        Self(
            given
                .and_then(|seed| seed.parse().ok())
                .unwrap_or(20_261_130),
        )
    }

    /// The seed, to be printed.
    pub(crate) fn seed(&self) -> u64 {
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ (mixed >> 31);
        let end = u64::try_from(end.max(1)).expect("a small number");
        usize::try_from(mixed % end).expect("a small number")
    }
}

/// Every file below a folder, with its bytes.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
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
