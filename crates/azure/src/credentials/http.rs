//! The HTTP stack under the identity library, which has none of its own here.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use azure_core1::{
    Error, Result,
    cloud::{CloudConfiguration, CustomConfiguration},
    error::ErrorKind,
    http::{
        AsyncRawResponse, Body, ClientOptions, ExponentialRetryOptions, HttpClient, Request,
        RetryOptions, Transport, Url,
        headers::{HeaderName, HeaderValue, Headers},
    },
};

use crate::settings::Settings;

/// The longest wait for a token.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The longest life of a token, in seconds, that is believed: a year, when they live for a day.
const LONGEST_LIFE: i64 = 365 * 24 * 3_600;

/// Tries after the first. With the library's own eight, somebody whose authority is down or
/// misspelt waits for more than a minute before the reason is told.
const RETRIES: u32 = 4;

/// Sends the requests of identity credentials.
#[derive(Debug)]
pub(crate) struct IdentityHttp {
    client: reqwest::Client,
}

impl IdentityHttp {
    /// One that sends to where the requests say.
    pub(crate) fn new(client: reqwest::Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl HttpClient for IdentityHttp {
    async fn execute_request(&self, request: &Request) -> Result<AsyncRawResponse> {
        let method = reqwest::Method::from_bytes(request.method().as_str().as_bytes())
            .map_err(|error| Error::new(ErrorKind::Other, error))?;
        let Body::Bytes(body) = request.body().clone() else {
            return Err(Error::with_message(
                ErrorKind::Other,
                "the body is a stream",
            ));
        };
        let mut outgoing = self
            .client
            .request(method, request.url().clone())
            .timeout(TIMEOUT)
            .body(body);
        for (name, value) in request.headers().iter() {
            outgoing = outgoing.header(name.as_str(), value.as_str());
        }
        let answer = outgoing.send().await.map_err(lost)?;
        let status = answer.status().as_u16().into();
        let mut headers = Headers::new();
        for (name, value) in answer.headers() {
            if let Ok(value) = value.to_str() {
                headers.insert(
                    HeaderName::from(name.as_str().to_owned()),
                    HeaderValue::from(value.to_owned()),
                );
            }
        }
        let body = answer.bytes().await.map_err(lost)?;
        check_lifetime(&body)?;
        Ok(AsyncRawResponse::from_bytes(status, headers, body))
    }
}

/// Refuses a token whose life is no time span: the library would add it to the time of day, and
/// end the process where the sum is no date.
fn check_lifetime(body: &[u8]) -> Result<()> {
    let document: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let seconds = document
        .get("expires_in")
        .and_then(serde_json::Value::as_i64);
    if seconds.is_some_and(|seconds| !(0..=LONGEST_LIFE).contains(&seconds)) {
        return Err(Error::with_message(
            ErrorKind::Credential,
            "the token service gave a token that does not live for a sensible time",
        ));
    }
    Ok(())
}

/// The address stays out of the message: it may carry an assertion.
fn lost(error: reqwest::Error) -> Error {
    let kind = if error.is_connect() {
        ErrorKind::Connection
    } else {
        ErrorKind::Io
    };
    let host = error
        .url()
        .and_then(Url::host_str)
        .unwrap_or("the token service")
        .to_owned();
    Error::with_error(
        kind,
        error.without_url(),
        format!("no answer from `{host}`"),
    )
}

/// Options that every credential gets: our transport and the cloud's authority.
pub(crate) fn client_options(settings: &Settings, http: &Arc<dyn HttpClient>) -> ClientOptions {
    let mut custom = CustomConfiguration::default();
    custom.authority_host = settings
        .variable("AZURE_AUTHORITY_HOST")
        .map_or_else(|| settings.cloud.authority().to_string(), ToOwned::to_owned);
    ClientOptions {
        transport: Some(Transport::new(Arc::clone(http))),
        retry: RetryOptions::exponential(ExponentialRetryOptions {
            max_retries: RETRIES,
            ..ExponentialRetryOptions::default()
        }),
        cloud: Some(Arc::new(CloudConfiguration::Custom(custom))),
        ..ClientOptions::default()
    }
}
