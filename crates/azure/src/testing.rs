//! A tiny HTTP server on loopback that answers as a test says, and clients that talk to it.

pub(crate) mod odd;
pub(crate) mod stage;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{Client, CredentialChoice, Settings, clock::testing::TestClock};

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// By lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Seen {
    /// A header's value; empty where there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Answers.
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// Closes the connection without an answer.
    HangUp,
}

impl Act {
    /// An answer with a JSON body.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string().into_bytes(),
        }
    }

    /// An answer without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self::Answer {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// An error answer.
    pub(crate) fn error(status: u16, code: &str) -> Self {
        let body =
            serde_json::json!({"error": {"code": code, "message": format!("{code} happened")}});
        Self::json(status, &body)
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), format!("{value}")));
        }
        self
    }
}

type Handler = dyn Fn(&Seen) -> Act + Send + Sync;

/// A server on loopback.
#[derive(Clone)]
pub(crate) struct Server {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server that answers as `handler` says.
    pub(crate) async fn start(handler: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = Self {
            address: listener.local_addr().expect("an address").to_string(),
            seen: Arc::default(),
            connections: Arc::default(),
        };
        let (shared, handler) = (server.clone(), Arc::new(handler));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, handler) = (shared.clone(), Arc::clone(&handler));
                tokio::spawn(async move { shared.serve(stream, handler.as_ref()).await });
            }
        });
        server
    }

    /// Starts a server that answers with these in turn, and with the last for ever after.
    pub(crate) async fn script(acts: Vec<Act>) -> Self {
        let next = AtomicUsize::new(0);
        Self::start(move |_| {
            let at = next.fetch_add(1, Ordering::SeqCst).min(acts.len() - 1);
            acts[at].clone()
        })
        .await
    }

    /// Its address with scheme.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no thread panics").clone()
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    async fn serve(&self, stream: TcpStream, handler: &Handler) {
        let mut stream = BufReader::new(stream);
        while let Some(seen) = read_request(&mut stream).await {
            self.seen
                .lock()
                .expect("no thread panics")
                .push(seen.clone());
            let Act::Answer {
                status,
                headers,
                body,
            } = handler(&seen)
            else {
                return;
            };
            let mut answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                answer.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
            }
            answer.push_str("\r\n");
            let mut bytes = answer.into_bytes();
            bytes.extend(body);
            if stream.get_mut().write_all(&bytes).await.is_err() {
                return;
            }
        }
    }

    /// A client of this server, and the clock it waits on.
    pub(crate) async fn client(&self) -> (Client, Arc<TestClock>) {
        self.client_with(|_| {}).await
    }

    /// The same with changed settings.
    pub(crate) async fn client_with(
        &self,
        change: impl FnOnce(&mut Settings),
    ) -> (Client, Arc<TestClock>) {
        let clock = Arc::new(TestClock::default());
        let mut settings = Settings::new(BTreeMap::new());
        settings.endpoint = Some(self.url());
        settings.credential = CredentialChoice::Fixed("sesame".to_owned());
        settings.subscription = Some("s".to_owned());
        settings.clock = clock.clone();
        change(&mut settings);
        (Client::connect(settings).await.expect("a client"), clock)
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut line = String::new();
    stream
        .read_line(&mut line)
        .await
        .ok()
        .filter(|read| *read > 0)?;
    let mut parts = line.split(' ');
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.insert(name.to_lowercase(), value.trim().to_owned());
            }
            None => break,
        }
    }
    let length = headers
        .get("content-length")
        .and_then(|text: &String| text.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Seen {
        method,
        target,
        headers,
        body: String::from_utf8(body).ok()?,
    })
}
