//! Plays a transcript: a text that says what is done, and what the binary printed.
//!
//! | line | does |
//! |---|---|
//! | `# text` | says something to the reader |
//! | `% file NAME` … `% end` | writes a file |
//! | `% example NAME` | copies a spec of `examples` to `tensorform.yaml` |
//! | `% replace FILE: OLD => NEW` | replaces a part of a file |
//! | `% grow FILE BYTES` | adds a comment of so many bytes to a script |
//! | `% copy FROM TO`, `% remove FILE` | copies, removes a file or folder of the scenario |
//! | `% set NAME=VALUE` | sets a variable of the environment |
//! | `% serve SPEED` | serves the sandbox, so that writes are counted |
//! | `% request METHOD PATH` … `% end` | sends a request to the sandbox, past the tool; `\|` filters its answer |
//! | `% settle PATH` | asks for a resource until nothing is under way on it, or it is gone |
//! | `% answer STATUS` … `% end` | starts a server that gives this answer to all |
//! | `% rewrite OLD => NEW` | starts a server that hands on to the sandbox and rewrites its answers |
//! | `$ tensorform …` | runs the binary; `{endpoint}` is the server's, `{folder}` the scenario's |
//!
//! Behind a command, `| FILTER` shows a part of stdout and `2| FILTER` a part of stderr:
//! `json POINTER…`, `head N`, `tail N`, `grep TEXT`, `from TEXT`, `none`.

use std::{fmt::Write, fs, path::Path};

use serde_json::{Map, Value};

use crate::harness::{Listening, Place, Ran, Server, compare, root};

/// How much faster than time the sandbox usually runs.
const SPEED: &str = "1000";

/// A scenario while it is played.
struct Stage {
    // Before the folder in which it keeps its world: fields are dropped in this order.
    served: Option<Server>,
    other: Option<Listening>,
    place: Place,
    written: String,
}

/// Plays the transcript of this name, and compares what comes out with what it says.
pub(crate) fn play(name: &str) {
    let path = root().join("tests/transcripts").join(format!("{name}.txt"));
    let script = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut stage = Stage {
        served: None,
        other: None,
        place: Place::empty(),
        written: String::new(),
    };
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        stage.keep(line);
        if let Some(directive) = line.strip_prefix("% ") {
            let block = has_block(directive).then(|| stage.block(&mut lines));
            stage.direct(directive, block.as_deref().unwrap_or_default());
            if is_answered(directive) {
                skip(&mut lines, "--- status");
            }
        } else if let Some(command) = line.strip_prefix("$ tensorform") {
            skip(&mut lines, "--- exit");
            stage.command(command);
        } else {
            assert!(
                line.is_empty() || line.starts_with("# "),
                "{name}: no line of a transcript: `{line}`"
            );
        }
    }
    compare(&path, &stage.written);
}

fn has_block(directive: &str) -> bool {
    ["file ", "request ", "answer "]
        .iter()
        .any(|start| directive.starts_with(start))
}

fn is_answered(directive: &str) -> bool {
    directive.starts_with("request ")
}

/// Leaves out what was recorded before.
fn skip<'a>(lines: &mut (impl Iterator<Item = &'a str> + Clone), end: &str) {
    let ahead = lines.clone();
    let recorded = ahead.take_while(|line| !line.starts_with("$ ") && !line.starts_with("% "));
    let length = recorded
        .enumerate()
        .find(|(_, line)| line.starts_with(end))
        .map(|(at, _)| at);
    if let Some(length) = length {
        // What stands before the end mark, and the mark itself.
        let _ = lines.nth(length);
    }
}

/// Two words with something between.
fn two<'a>(text: &'a str, between: &str) -> (&'a str, &'a str) {
    text.split_once(between)
        .unwrap_or_else(|| panic!("expected `{between}` in `{text}`"))
}

impl Stage {
    fn keep(&mut self, line: &str) {
        self.written.push_str(line);
        self.written.push('\n');
    }

    fn block<'a>(&mut self, lines: &mut impl Iterator<Item = &'a str>) -> String {
        let mut text = String::new();
        for line in lines {
            self.keep(line);
            if line == "% end" {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    fn direct(&mut self, directive: &str, block: &str) {
        let (verb, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        match verb {
            "file" => self.place.write(rest, block),
            "example" => {
                let example = root().join("examples").join(format!("{rest}.yaml"));
                let text = fs::read_to_string(example).expect("an example");
                self.place.write("tensorform.yaml", &text);
            }
            "replace" => {
                let (file, change) = two(rest, ": ");
                let (old, new) = two(change, " => ");
                self.place.replace(file, &unescaped(old), &unescaped(new));
            }
            "grow" => {
                let (file, bytes) = two(rest, " ");
                let more = "x".repeat(bytes.parse().expect("a number of bytes"));
                let text = format!("{}# {more}\n", self.place.read(file));
                self.place.write(file, &text);
            }
            "copy" => {
                let (from, to) = two(rest, " ");
                let text = self.place.read(from);
                self.place.write(to, &text);
            }
            "remove" => remove(&self.place.path(rest)),
            "set" => {
                let (name, value) = two(rest, "=");
                let value = self.filled(value);
                self.place.environment.insert(name.to_owned(), value);
            }
            "serve" => {
                let speed = if rest.is_empty() { SPEED } else { rest };
                self.served = Some(self.place.serve_world(".tensorform/sandbox", speed));
            }
            "unserve" => self.served = None,
            "answer" => {
                let status = rest.parse().expect("a status");
                self.other = Some(Listening::answering(status, block.to_owned()));
            }
            "rewrite" => {
                let (old, new) = two(rest, " => ");
                let served = self.served.as_ref().expect("`% serve` comes first");
                let (old, new) = (old.to_owned(), new.to_owned());
                self.other = Some(Listening::rewriting(&served.endpoint, old, new));
            }
            "request" => self.request(rest, block),
            "settle" => {
                let served = self.served.as_ref().expect("`% serve` comes first");
                while served.is_busy(rest) {}
            }
            other => panic!("no directive `{other}`"),
        }
    }

    fn request(&mut self, line: &str, body: &str) {
        let (request, filter) = line.split_once(" | ").unwrap_or((line, "none"));
        let (method, path) = two(request, " ");
        let served = self.served.as_ref().expect("`% serve` comes first");
        let (status, answer) = served.send(method, path, body);
        let shown = shown(&answer, filter);
        let filtered = self.place.filtered(&shown);
        self.written.push_str(&filtered);
        self.keep(&format!("--- status {status}"));
    }

    /// With the places of this run filled in.
    fn filled(&self, text: &str) -> String {
        let other = self.other.as_ref().map(Listening::endpoint);
        let served = || Some(self.served.as_ref()?.endpoint.clone());
        let endpoint = other.or_else(served).unwrap_or_default();
        text.replace("{endpoint}", &endpoint)
            .replace("{folder}", &self.place.folder().display().to_string())
    }

    fn command(&mut self, line: &str) {
        let (rest, of_stderr) = line.split_once(" 2| ").unwrap_or((line, ""));
        let (words, of_stdout) = rest.split_once(" | ").unwrap_or((rest, ""));
        let arguments: Vec<String> = split(words).iter().map(|word| self.filled(word)).collect();
        if let Some(served) = &self.served {
            served.forget();
        }
        let ran = self.place.run(&arguments);
        let writes = self.served.as_ref().map(|served| served.writes().len());
        self.record(&ran, of_stdout, of_stderr);
        let writes = match writes {
            None => String::new(),
            Some(0) => ", wrote nothing".to_owned(),
            Some(writes) => format!(", {writes} writes"),
        };
        self.keep(&format!("--- exit {}{writes}", ran.exit));
    }

    fn record(&mut self, ran: &Ran, of_stdout: &str, of_stderr: &str) {
        let stdout = self.place.filtered(&ran.stdout);
        self.written.push_str(&shown(&stdout, of_stdout));
        let stderr = self.place.filtered(&ran.stderr);
        let stderr = shown(&stderr, of_stderr);
        if !stderr.is_empty() {
            self.keep("--- stderr");
            self.written.push_str(&stderr);
        }
    }
}

fn remove(path: &Path) {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    removed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}

/// Words between blanks; single quotes hold blanks together.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (part, is_quoted) in line.split('\'').zip([false, true].into_iter().cycle()) {
        if is_quoted {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(ToOwned::to_owned));
        }
    }
    words
}

/// The part of an output that a filter shows, with a line feed at its end.
fn shown(text: &str, filter: &str) -> String {
    let (verb, rest) = filter.split_once(' ').unwrap_or((filter, ""));
    let lines: Vec<&str> = text.lines().collect();
    let number = || rest.parse::<usize>().expect("a number of lines");
    let lines = match verb {
        "" => lines,
        "none" => Vec::new(),
        "head" => lines.into_iter().take(number()).collect(),
        "tail" => {
            let skipped = lines.len().saturating_sub(number());
            lines.into_iter().skip(skipped).collect()
        }
        "grep" => lines
            .into_iter()
            .filter(|line| line.contains(rest))
            .collect(),
        "from" => lines
            .into_iter()
            .skip_while(|line| !line.starts_with(rest))
            .collect(),
        "json" => return pointed(text, rest),
        other => panic!("no filter `{other}`"),
    };
    let mut shown = String::new();
    for line in lines {
        writeln!(shown, "{line}").expect("text takes text");
    }
    shown
}

/// Members of a JSON document, by their pointers.
fn pointed(text: &str, pointers: &str) -> String {
    let document: Value =
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    if pointers.is_empty() {
        return format!("{document:#}\n");
    }
    let members: Map<String, Value> = pointers
        .split(' ')
        .map(|pointer| {
            let found = document.pointer(pointer).cloned();
            (pointer.to_owned(), found.unwrap_or(Value::Null))
        })
        .collect();
    format!("{:#}\n", Value::Object(members))
}
