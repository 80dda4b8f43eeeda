//! Worlds that a test serves itself: the sandbox in this process, whose log a test reads, and a
//! server that answers everything alike.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use emulator::{Clock, Opened, Options, RequestKind, Sandbox, Speed, World};
use tokio::runtime::{Builder, Runtime};

/// How much faster than time the sandbox of a test usually runs.
pub(crate) const SPEED: f64 = 1_000.0;

/// The sandbox, served by the test.
#[derive(Debug)]
pub(crate) struct Served {
    runtime: Runtime,
    sandbox: Option<Sandbox>,
}

impl Served {
    /// Serves the world of a folder, so that the binary connects to it.
    pub(crate) fn start(folder: &Path, speed: f64) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let Opened::Serve(world) = World::open(folder).expect("a world") else {
            panic!("{} is served already", folder.display());
        };
        let speed = Speed::new(speed).expect("a speed");
        let sandbox = runtime
            .block_on(Sandbox::start(Options::new(*world, Clock::real(speed))))
            .expect("the sandbox starts");
        Self {
            runtime,
            sandbox: Some(sandbox),
        }
    }

    fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("it runs until it is dropped")
    }

    /// Where it listens.
    pub(crate) fn endpoint(&self) -> String {
        self.sandbox().endpoint().to_owned()
    }

    /// How many requests so far would have changed something.
    pub(crate) fn writes(&self) -> u64 {
        let counters = self.sandbox().counters();
        let kinds = [RequestKind::Write, RequestKind::Delete, RequestKind::Action];
        let count = |kind: RequestKind| counters.by_kind.get(kind.as_str()).copied().unwrap_or(0);
        kinds.into_iter().map(count).sum()
    }

    /// Sends a request as any client could; answers the status and the body.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let endpoint = self.endpoint();
        let host = endpoint.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("the sandbox answers");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer test\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream
            .write_all(request.as_bytes())
            .expect("the request is sent");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .expect("the answer is text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        (status.expect("a status"), body.to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(sandbox) = self.sandbox.take() {
            self.runtime
                .block_on(sandbox.stop())
                .expect("the sandbox stops");
        }
    }
}

/// A server of one thread, which a test stops.
#[derive(Debug)]
pub(crate) struct Listening {
    address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Gives this status and body to all.
    pub(crate) fn answering(status: u16, body: String) -> Self {
        Self::start(move |stream| {
            read_message(stream);
            let answer = format!(
                "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n\
                 x-ms-request-id: 11111111-2222-3333-4444-555555555555\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            // A client that left early is no matter of the server.
            let _ = stream.write_all(answer.as_bytes());
        })
    }

    /// Hands everything on to another server, and puts one text for another in its answers.
    pub(crate) fn rewriting(upstream: &str, old: String, new: String) -> Self {
        let host = upstream.trim_start_matches("http://").to_owned();
        Self::start(move |stream| {
            let (head, body) = read_message(stream);
            let Some(head) = head.strip_suffix("\r\n\r\n") else {
                return;
            };
            let lines = head.split("\r\n");
            let kept: Vec<&str> = lines
                .filter(|line| !line.to_lowercase().starts_with("connection:"))
                .collect();
            let request = format!("{}\r\nConnection: close\r\n\r\n", kept.join("\r\n"));
            let mut other = TcpStream::connect(&host).expect("the other server listens");
            other
                .write_all(request.as_bytes())
                .expect("the request is handed on");
            other.write_all(&body).expect("the body is handed on");
            let (head, body) = read_message(&mut other);
            let body = String::from_utf8_lossy(&body).replace(&old, &new);
            let lines = head.trim_end().split("\r\n");
            let kept: Vec<&str> = lines
                .filter(|line| !line.to_lowercase().starts_with("content-length:"))
                .collect();
            let answer = format!(
                "{}\r\nContent-Length: {}\r\n\r\n{body}",
                kept.join("\r\n"),
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        })
    }

    fn start(serve: impl Fn(&mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(mut stream) = stream {
                    serve(&mut stream);
                }
            }
        });
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }

    /// Where it listens.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// The head of a message with its empty line, and as much of a body as it announces.
fn read_message(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.extend(byte);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head
        .to_lowercase()
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    let complete = stream.read_exact(&mut body).is_ok();
    (head, if complete { body } else { Vec::new() })
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread up, which then sees that it is over.
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
