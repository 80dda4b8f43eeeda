//! The last policy of the one pipeline: sends, counts, retries, and turns refusals into errors
//! that keep everything Azure said. Typed clients and raw calls both end here.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use azure_core::{
    Body, Context, Method, Policy, PolicyResult, Request, Response, StatusCode, Url,
    auth::TokenCredential,
    error::{Error, ErrorKind},
    headers::{AUTHORIZATION, CLIENT_REQUEST_ID, HeaderName, HeaderValue, Headers, RETRY_AFTER},
};

use crate::{
    carrier::{Carried, Carrier, Way},
    clock::Clock,
    counts::{RequestCounts, kind_of},
    credentials::Bridge,
    error::{ArmError, RequestFault, UNANSWERED},
    retry::{Attempt, History, Verdict},
    settings::Limits,
    throttle::{Class, Gates},
};

tokio::task_local! {
    /// The id of the request that a typed client is about to send: it has no place for one.
    pub(crate) static REQUEST_ID: String;
}

/// Sends requests to one Resource Manager.
pub(crate) struct ArmTransport {
    way: Way,
    endpoint: Url,
    /// Who gives tokens, and what they are asked for; nobody where none is needed.
    tokens: Option<(Arc<Bridge>, String)>,
    clock: Arc<dyn Clock>,
    gates: Gates,
    counts: Mutex<RequestCounts>,
    limits: Limits,
}

impl fmt::Debug for ArmTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArmTransport")
            .field("endpoint", &self.endpoint.as_str())
            .finish_non_exhaustive()
    }
}

/// An answer with its whole body.
struct Answer {
    status: StatusCode,
    headers: Headers,
    body: Vec<u8>,
}

impl ArmTransport {
    /// A transport to `endpoint`, with tokens for a scope where it asks for any.
    pub(crate) fn new(
        way: Way,
        endpoint: Url,
        tokens: Option<(Arc<Bridge>, String)>,
        clock: Arc<dyn Clock>,
        limits: Limits,
    ) -> Self {
        Self {
            way,
            endpoint,
            tokens,
            clock,
            gates: Gates::new(limits.requests_per_second),
            counts: Mutex::default(),
            limits,
        }
    }

    /// What has been sent so far.
    pub(crate) fn counts(&self) -> RequestCounts {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn send_until_it_stands(&self, request: &mut Request) -> Result<Answer, RequestFault> {
        check_destination(&self.endpoint, request.url())?;
        let method = *request.method();
        let kind = kind_of(method.as_ref(), request.url());
        let method = judged_as(method, request.url().path());
        let class = Class::of(method, request.url().path());
        if request
            .headers()
            .get_optional_str(&CLIENT_REQUEST_ID)
            .is_none()
        {
            let id = REQUEST_ID.try_with(Clone::clone);
            request.insert_header(CLIENT_REQUEST_ID, id.unwrap_or_else(|_| new_request_id()));
        }
        request.insert_header("x-ms-return-client-request-id", "true");
        let mut history = History::default();
        loop {
            self.gates.pass(&class, self.clock.as_ref()).await;
            self.authorize(request).await?;
            self.counts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(&kind);
            let sent = self.clock.now();
            let result = self.attempt(request).await;
            let verdict = self.judge(&mut history, method, &class, &kind, &result, sent);
            match verdict {
                Verdict::Stands => return finish(result, &history),
                Verdict::Again(wait) => self.clock.sleep(wait).await,
                // The gate holds this request too.
                Verdict::Pause(_) => {}
                Verdict::NewToken => {
                    if let Some((bridge, _)) = &self.tokens {
                        bridge.clear_cache().await.map_err(token_fault)?;
                    }
                }
            }
        }
    }

    fn judge(
        &self,
        history: &mut History,
        method: Method,
        class: &Class,
        kind: &str,
        result: &Result<Answer, RequestFault>,
        sent: Duration,
    ) -> Verdict {
        let refusal = result.as_ref().ok().and_then(Answer::refusal);
        let attempt = match (result, &refusal) {
            (Ok(answer), Some(error)) => Attempt::Refused {
                error,
                retry_after: retry_after(&answer.headers),
            },
            (Ok(_), None) => Attempt::Answered,
            (Err(RequestFault::NotConnected { .. }), _) => Attempt::NotConnected,
            (Err(RequestFault::Unanswered { .. }), _) => Attempt::Broken,
            (Err(_), _) => Attempt::Unusable,
        };
        self.gates.answered(class);
        if let Ok(answer) = result {
            let now = self.clock.now();
            self.gates.observe(class, &answer.headers, now);
        }
        let verdict = history.judge(method, &attempt, self.limits.throttle_patience);
        if let (Verdict::Pause(wait), Some(error)) = (verdict, &refusal) {
            self.gates.close(class, error, self.clock.now() + wait);
        }
        let status = result.as_ref().map_or(0, |answer| u16::from(answer.status));
        let milliseconds = self.clock.now().saturating_sub(sent).as_millis();
        match verdict {
            Verdict::Stands => {
                tracing::debug!(%method, kind, status, milliseconds, "answered");
            }
            Verdict::Again(wait) | Verdict::Pause(wait) => {
                let (seconds, code) = (
                    wait.as_secs_f64(),
                    refusal.as_ref().map(|error| error.code.as_str()),
                );
                tracing::info!(%method, kind, status, code, seconds, "waiting to send again");
            }
            Verdict::NewToken => tracing::debug!(%method, kind, status, "renewing the token"),
        }
        verdict
    }

    /// Puts a fresh token on the request: it may have waited longer than the last one lived.
    async fn authorize(&self, request: &mut Request) -> Result<(), RequestFault> {
        let Some((bridge, scope)) = &self.tokens else {
            return Ok(());
        };
        let token = bridge.get_token(&[scope]).await.map_err(token_fault)?;
        request.insert_header(AUTHORIZATION, format!("Bearer {}", token.token.secret()));
        Ok(())
    }

    async fn attempt(&self, request: &Request) -> Result<Answer, RequestFault> {
        match &self.way {
            Way::Network(http) => self.over_network(http, request).await,
            Way::Hand(carrier) => self.by_hand(carrier.as_ref(), request).await,
        }
    }

    async fn over_network(
        &self,
        http: &reqwest::Client,
        request: &Request,
    ) -> Result<Answer, RequestFault> {
        let method = reqwest::Method::from_bytes(request.method().as_ref().as_bytes())
            .map_err(|error| RequestFault::Sdk(error.into()))?;
        let mut outgoing = http
            .request(method, request.url().clone())
            .timeout(self.limits.request_timeout);
        for (name, value) in request.headers().iter() {
            outgoing = outgoing.header(name.as_str(), value.as_str());
        }
        let body = whole(request)?;
        let lost = |error: reqwest::Error| self.lost(error);
        let answer = outgoing.body(body).send().await.map_err(lost)?;
        let status = status_of(answer.status().as_u16())?;
        let mut headers = Headers::new();
        for (name, value) in answer.headers() {
            if let Ok(value) = value.to_str() {
                headers.insert(
                    HeaderName::from(name.as_str().to_owned()),
                    HeaderValue::from(value.to_owned()),
                );
            }
        }
        let body = self.whole_body(answer).await?;
        Ok(Answer {
            status,
            headers,
            body,
        })
    }

    async fn by_hand(
        &self,
        carrier: &dyn Carrier,
        request: &Request,
    ) -> Result<Answer, RequestFault> {
        let headers = request.headers().iter();
        let headers = headers.map(|(name, value)| {
            let name = name.as_str().to_lowercase();
            (name, value.as_str().to_owned())
        });
        let carried = Carried {
            method: request.method().to_string(),
            url: request.url().to_string(),
            headers: headers.collect(),
            body: whole(request)?,
        };
        let delivered = carrier.carry(carried).await;
        let delivered = delivered.map_err(|lost| RequestFault::Unanswered {
            host: self.endpoint.authority().to_owned(),
            source: Box::new(lost),
        })?;
        let mut headers = Headers::new();
        for (name, value) in delivered.headers {
            headers.insert(
                HeaderName::from(name.to_lowercase()),
                HeaderValue::from(value),
            );
        }
        Ok(Answer {
            status: status_of(delivered.status)?,
            headers,
            body: delivered.body,
        })
    }

    async fn whole_body(&self, mut answer: reqwest::Response) -> Result<Vec<u8>, RequestFault> {
        let most = self.limits.answer_bytes;
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(|error| self.lost(error))? {
            if body.len() + part.len() > most {
                let why = format!("it has more than {most} bytes");
                return Err(RequestFault::Unreadable(why));
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    fn lost(&self, error: reqwest::Error) -> RequestFault {
        if error.is_builder() {
            // A token with a line feed in it cannot stand in a header, for example.
            return RequestFault::Sdk(Box::new(error.without_url()));
        }
        let host = self.endpoint.authority().to_owned();
        let never_sent = error.is_connect();
        let source = Box::new(error.without_url());
        if never_sent {
            RequestFault::NotConnected { host, source }
        } else {
            RequestFault::Unanswered { host, source }
        }
    }
}

/// The body of a request.
fn whole(request: &Request) -> Result<Vec<u8>, RequestFault> {
    match request.body().clone() {
        Body::Bytes(body) => Ok(body.to_vec()),
        Body::SeekableStream(_) => Err(RequestFault::Sdk("the body is a stream".into())),
    }
}

fn status_of(status: u16) -> Result<StatusCode, RequestFault> {
    StatusCode::try_from(status)
        .map_err(|error| RequestFault::Unreadable(format!("status {status}: {error}")))
}

impl Answer {
    fn refusal(&self) -> Option<ArmError> {
        (!self.status.is_success())
            .then(|| ArmError::read(u16::from(self.status), &self.headers, &self.body))
    }
}

fn finish(result: Result<Answer, RequestFault>, history: &History) -> Result<Answer, RequestFault> {
    let mut answer = result?;
    if history.unanswered > 0 && !matches!(u16::from(answer.status), 500..=599) {
        answer
            .headers
            .insert(UNANSWERED, history.unanswered.to_string());
    }
    match answer.refusal() {
        Some(error) => Err(RequestFault::Refused(Box::new(error))),
        None => Ok(answer),
    }
}

fn token_fault(error: azure_core::Error) -> RequestFault {
    match error.into_inner() {
        Ok(source) => RequestFault::Token(source),
        Err(error) => RequestFault::Token(Box::new(error)),
    }
}

/// A new id that marks a request in Azure's logs.
pub(crate) fn new_request_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The seconds of `Retry-After`, which ARM sends as a whole number.
pub(crate) fn retry_after(headers: &Headers) -> Option<u64> {
    headers.get_optional_str(&RETRY_AFTER)?.trim().parse().ok()
}

/// Refuses destinations that must not see the token: other origins, and plain http beyond this
/// machine.
pub(crate) fn check_destination(endpoint: &Url, url: &Url) -> Result<(), RequestFault> {
    if url.origin() != endpoint.origin() {
        return Err(RequestFault::ForeignOrigin {
            found: url.origin().ascii_serialization(),
            expected: endpoint.origin().ascii_serialization(),
        });
    }
    check_scheme(url)
}

/// Refuses plain http beyond this machine.
pub(crate) fn check_scheme(url: &Url) -> Result<(), RequestFault> {
    let local = url.host_str().is_some_and(|host| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || bare
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    });
    match url.scheme() {
        "https" => Ok(()),
        "http" if local => Ok(()),
        _ => Err(RequestFault::PlainHttp(
            url.host_str().unwrap_or_default().to_owned(),
        )),
    }
}

#[async_trait]
impl Policy for ArmTransport {
    async fn send(
        &self,
        _context: &Context,
        request: &mut Request,
        _next: &[Arc<dyn Policy>],
    ) -> PolicyResult {
        match self.send_until_it_stands(request).await {
            Ok(answer) => {
                let body = futures::stream::once(std::future::ready(Ok(answer.body.into())));
                Ok(Response::new(answer.status, answer.headers, Box::pin(body)))
            }
            Err(fault) => Err(Error::new(error_kind(&fault), fault)),
        }
    }
}

/// The kind under which the SDK files a fault; we take the fault itself back out.
fn error_kind(fault: &RequestFault) -> ErrorKind {
    match fault {
        RequestFault::Refused(error) => match StatusCode::try_from(error.status) {
            Ok(status) => ErrorKind::http_response(status, Some(error.code.clone())),
            Err(_) => ErrorKind::Other,
        },
        RequestFault::NotConnected { .. } | RequestFault::Unanswered { .. } => ErrorKind::Io,
        RequestFault::Token(_) => ErrorKind::Credential,
        RequestFault::Unreadable(_) => ErrorKind::DataConversion,
        RequestFault::PlainHttp(_)
        | RequestFault::ForeignOrigin { .. }
        | RequestFault::InvalidName(_)
        | RequestFault::Sdk(_) => ErrorKind::Other,
    }
}

/// Questions that Azure takes by POST change nothing: they are tried again like reads.
fn judged_as(method: Method, path: &str) -> Method {
    let path = path.to_lowercase();
    let asks = ["/checkpolicyrestrictions", "/placementscores/spot/generate"];
    if method == Method::Post && asks.iter().any(|end| path.ends_with(end)) {
        Method::Get
    } else {
        method
    }
}
