//! Servers of one thread that are no Azure: one answers everything alike, one hands on.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

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
