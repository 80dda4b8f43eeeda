//! The wire: HTTP/1.1 over loopback, and over TLS on the same port where there is a certificate.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming as Stream},
    header::{HeaderMap, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::TokioIo,
    server::graceful::{GracefulShutdown, Watcher},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    error::ArmError,
    exchange::{Answered, Exchange},
    http::{Answer, Body, Incoming, Method, Query},
    record::{RequestKind, describe},
    service::{Reaction, Service},
    text::Seeded,
};

/// Bodies longer than this are refused, as ARM does.
const LONGEST_BODY: usize = 4 * 1024 * 1024;

/// How long connections may finish what they are doing when the sandbox stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// The connection is closed instead of an answer.
#[derive(Debug, thiserror::Error)]
#[error("a fault rule closes the connection")]
struct Dropped;

/// Serves until it is told to stop, then lets running requests finish.
pub(crate) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    tls: Option<TlsAcceptor>,
    stopping: watch::Receiver<bool>,
) {
    let address = listener.local_addr().ok();
    let graceful = GracefulShutdown::new();
    let mut stop = stopping.clone();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => continue,
            },
            _ = stop.wait_for(|stop| *stop) => break,
        };
        // Without it, small answers wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let wire = Wire {
            service: Arc::clone(&service),
            address,
        };
        let watcher = graceful.watcher();
        let Some(acceptor) = tls.clone() else {
            tokio::spawn(wire.speak(stream, "http", watcher));
            continue;
        };
        let mut stop = stopping.clone();
        tokio::spawn(async move {
            let secure = tokio::select! {
                secure = greets_in_tls(&stream) => secure,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            if !secure {
                wire.speak(stream, "http", watcher).await;
            } else if let Ok(stream) = acceptor.accept(stream).await {
                // A handshake that fails is a client that does not trust the certificate.
                wire.speak(stream, "https", watcher).await;
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(FAREWELL, graceful.shutdown()).await;
}

/// Whether a client begins with a TLS record; without TLS it begins with the name of a method.
async fn greets_in_tls(stream: &TcpStream) -> bool {
    const HANDSHAKE: u8 = 0x16;
    let mut first = [0u8; 1];
    stream.peek(&mut first).await.is_ok_and(|read| read == 1) && first == [HANDSHAKE]
}

/// What a connection needs to be served.
struct Wire {
    service: Arc<Service>,
    address: Option<SocketAddr>,
}

impl Wire {
    /// Serves one connection until either side ends it.
    async fn speak<S>(self, stream: S, scheme: &'static str, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { service, address } = self;
        let connection = http1::Builder::new().serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| {
                let service = Arc::clone(&service);
                async move { respond(&service, request, scheme, address).await }
            }),
        );
        // An error is a client that went away, or a rule that closed the connection.
        let _ = watcher.watch(connection).await;
    }
}

async fn respond(
    service: &Service,
    request: Request<Stream>,
    scheme: &str,
    address: Option<SocketAddr>,
) -> Result<Response<Full<Bytes>>, Dropped> {
    let (parts, stream) = request.into_parts();
    let headers = texts(&parts.headers);
    let host = headers
        .get("host")
        .cloned()
        .or_else(|| address.map(|address| address.to_string()))
        .unwrap_or_default();
    let body = Limited::new(stream, LONGEST_BODY).collect().await;
    let Ok(body) = body else {
        let error = ArmError::gateway(
            413,
            "RequestEntityTooLarge",
            format!("The request content size exceeds the maximum size of '{LONGEST_BODY}' bytes."),
        );
        return Ok(response(service, Answer::from(error), &headers));
    };
    let incoming = Incoming {
        method: Method::named(parts.method.as_str()),
        path: parts.uri.path().to_owned(),
        query: Query::parse(parts.uri.query().unwrap_or_default()),
        headers,
        body: body.to_bytes().to_vec(),
        base: format!("{scheme}://{host}"),
    };
    let Some(recording) = &service.recording else {
        let headers = incoming.headers.clone();
        return match service.react(incoming).await {
            Reaction::Answer(answer) => Ok(response(service, answer, &headers)),
            Reaction::Drop => Err(Dropped),
        };
    };
    let kept = incoming.clone();
    let kind = describe(&kept).kind;
    let answer = match service.react(incoming).await {
        Reaction::Answer(answer) => {
            let body = answer.body.bytes();
            Some((response(service, answer, &kept.headers), body))
        }
        Reaction::Drop => None,
    };
    if kind != RequestKind::Admin {
        recording.write(Exchange {
            at: service.clock.now(),
            kind,
            method: kept.method,
            url: format!("{}{}", kept.base, parts.uri),
            headers: &kept.headers,
            body: &kept.body,
            answer: answer.as_ref().map(|(response, body)| Answered {
                status: response.status().as_u16(),
                headers: texts(response.headers()),
                body: body.clone(),
            }),
        });
    }
    answer.map(|(response, _)| response).ok_or(Dropped)
}

/// Headers as text, under lower-case names.
fn texts(headers: &HeaderMap) -> BTreeMap<String, String> {
    headers
        .iter()
        .map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect()
}

/// Puts an answer on the wire.
fn response(
    service: &Service,
    answer: Answer,
    asked: &BTreeMap<String, String>,
) -> Response<Full<Bytes>> {
    let bytes = answer.body.bytes();
    let mut response = Response::new(Full::new(Bytes::from(bytes)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers_of(service, answer, asked) {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(&value),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// The headers of an answer, with those that every answer has.
pub(crate) fn headers_of(
    service: &Service,
    answer: Answer,
    asked: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let kind = match answer.body {
        Body::Empty => None,
        Body::Json(_) | Body::Text(_) => Some("application/json; charset=utf-8"),
    };
    let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
    let mut ids = Seeded::new(&[high, low]);
    let mut headers = answer.headers;
    let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
    add("Cache-Control", "no-cache".to_owned());
    add("Date", service.clock.now().http_date());
    add("x-ms-request-id", ids.guid());
    let correlation = asked
        .get("x-ms-correlation-request-id")
        .cloned()
        .unwrap_or_else(|| ids.guid());
    add("x-ms-correlation-request-id", correlation);
    if let Some(id) = asked.get("x-ms-client-request-id")
        && asked
            .get("x-ms-return-client-request-id")
            .is_some_and(|wish| wish.eq_ignore_ascii_case("true"))
    {
        add("x-ms-client-request-id", id.clone());
    }
    if let Some(kind) = kind {
        add("Content-Type", kind.to_owned());
    }
    headers
}
