//! Assertions that CI systems give to a job, to be exchanged for a token.

use std::sync::Arc;

use async_trait::async_trait;
use azure_core1::{
    Error, Result,
    credentials::Secret,
    error::ErrorKind,
    http::{ClientMethodOptions, HttpClient, Method, Request, Url},
};
use azure_identity::ClientAssertion;

use crate::{settings::Settings, transport::check_scheme};

/// The audience of assertions for Entra ID.
const AUDIENCE: &str = "api://AzureADTokenExchange";

/// A job's request for an assertion.
#[derive(Debug)]
pub(crate) struct JobAssertion {
    http: Arc<dyn HttpClient>,
    url: Url,
    method: Method,
    bearer: Secret,
    /// The member of the answer that is the assertion.
    member: &'static str,
    suppress_redirect: bool,
}

impl JobAssertion {
    /// Of a GitHub Actions job, or the name of the variable that is missing.
    pub(crate) fn github(
        settings: &Settings,
        http: &Arc<dyn HttpClient>,
    ) -> std::result::Result<Self, String> {
        let url = required(settings, "ACTIONS_ID_TOKEN_REQUEST_URL")?;
        let mut url = address(url, "ACTIONS_ID_TOKEN_REQUEST_URL")?;
        url.query_pairs_mut().append_pair("audience", AUDIENCE);
        Ok(Self {
            http: Arc::clone(http),
            url,
            method: Method::Get,
            bearer: required(settings, "ACTIONS_ID_TOKEN_REQUEST_TOKEN")?
                .to_owned()
                .into(),
            member: "value",
            suppress_redirect: false,
        })
    }

    /// Of an Azure Pipelines job, or the name of the variable that is missing.
    pub(crate) fn pipelines(
        settings: &Settings,
        http: &Arc<dyn HttpClient>,
        service_connection: &str,
    ) -> std::result::Result<Self, String> {
        let url = required(settings, "SYSTEM_OIDCREQUESTURI")?;
        let mut url = address(url, "SYSTEM_OIDCREQUESTURI")?;
        url.query_pairs_mut()
            .append_pair("api-version", "7.1")
            .append_pair("serviceConnectionId", service_connection);
        Ok(Self {
            http: Arc::clone(http),
            url,
            method: Method::Post,
            bearer: required(settings, "SYSTEM_ACCESSTOKEN")?.to_owned().into(),
            member: "oidcToken",
            suppress_redirect: true,
        })
    }
}

/// A variable's value, or a sentence that says it is missing.
pub(crate) fn required<'a>(
    settings: &'a Settings,
    name: &str,
) -> std::result::Result<&'a str, String> {
    settings
        .variable(name)
        .ok_or_else(|| format!("`{name}` is not set"))
}

fn address(text: &str, variable: &str) -> std::result::Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("`{variable}` is no address: {error}"))?;
    check_scheme(&url).map_err(|fault| format!("`{variable}`: {fault}"))?;
    Ok(url)
}

#[async_trait]
impl ClientAssertion for JobAssertion {
    async fn secret(&self, _options: Option<ClientMethodOptions<'_>>) -> Result<String> {
        let mut request = Request::new(self.url.clone(), self.method);
        request.insert_header("authorization", format!("Bearer {}", self.bearer.secret()));
        request.insert_header("accept", "application/json");
        if self.suppress_redirect {
            // A refused service connection answers 401 instead of a sign-in page.
            request.insert_header("x-tfs-fedauthredirect", "Suppress");
            request.insert_header("content-length", "0");
        }
        let answer = self.http.execute_request(&request).await?;
        let status = u16::from(answer.status());
        let body = answer.into_body().collect().await?;
        let failed = |why: String| Error::with_message(ErrorKind::Credential, why);
        if status != 200 {
            return Err(failed(format!(
                "the CI system answered {status} to the request for an assertion"
            )));
        }
        let document: serde_json::Value = serde_json::from_slice(&body)
            .map_err(|error| failed(format!("the CI system's answer is no JSON: {error}")))?;
        document
            .get(self.member)
            .and_then(serde_json::Value::as_str)
            .map(ToOwned::to_owned)
            .ok_or_else(|| failed(format!("the CI system's answer has no `{}`", self.member)))
    }
}
