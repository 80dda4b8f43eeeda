//! The identity of the machine we run on.
//!
//! Two services give its tokens: one that the platform names in `IDENTITY_ENDPOINT` (App
//! Service, Container Apps), and the instance metadata service of a VM at a fixed address. On a
//! machine that is no Azure VM the second does not answer, not even to say so. It is therefore
//! asked only when the machine says it is an Azure VM or the user asks for it by name, and then
//! it gets one second to show that it is there.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use azure_core1::{
    Error, Result,
    credentials::{AccessToken, TokenCredential, TokenRequestOptions},
    error::ErrorKind,
    http::{HttpClient, Method, Request, Url},
    time::OffsetDateTime,
};
use azure_identity::{ManagedIdentityCredential, ManagedIdentityCredentialOptions, UserAssignedId};

use super::http::client_options;
use crate::{settings::Settings, transport::check_scheme};

/// What Azure writes into the chassis tag of every VM.
const CHASSIS_TAG: &str = "7783-7084-3265-9085-8269-3286-77";
/// Where Linux shows it.
const CHASSIS_FILE: &str = "/sys/class/dmi/id/chassis_asset_tag";
/// The metadata service of a VM.
const METADATA: &str = "http://169.254.169.254/metadata/instance?api-version=2021-02-01";
/// How long it may take to show that it is there.
const PROBE: Duration = Duration::from_secs(1);

/// The platform's token service, where it names one.
#[derive(Debug)]
pub(crate) struct PlatformIdentity {
    http: Arc<dyn HttpClient>,
    endpoint: Url,
    header: azure_core1::credentials::Secret,
    client_id: Option<String>,
}

impl PlatformIdentity {
    /// The service that `IDENTITY_ENDPOINT` names; `None` where the platform names none.
    pub(crate) fn new(
        settings: &Settings,
        http: &Arc<dyn HttpClient>,
    ) -> Option<std::result::Result<Self, String>> {
        let endpoint = settings.variable("IDENTITY_ENDPOINT")?;
        let header = settings.variable("IDENTITY_HEADER")?;
        Some(Self::at(settings, http, endpoint, header))
    }

    fn at(
        settings: &Settings,
        http: &Arc<dyn HttpClient>,
        endpoint: &str,
        header: &str,
    ) -> std::result::Result<Self, String> {
        let endpoint = Url::parse(endpoint)
            .map_err(|error| format!("`IDENTITY_ENDPOINT` is no address: {error}"))?;
        check_scheme(&endpoint).or_else(|fault| {
            // Platforms serve it on a link-local address too.
            let link_local = endpoint
                .host_str()
                .is_some_and(|host| host.starts_with("169.254."));
            if link_local {
                Ok(())
            } else {
                Err(format!("`IDENTITY_ENDPOINT`: {fault}"))
            }
        })?;
        Ok(Self {
            http: Arc::clone(http),
            endpoint,
            header: header.to_owned().into(),
            client_id: settings.variable("AZURE_CLIENT_ID").map(ToOwned::to_owned),
        })
    }
}

#[async_trait]
impl TokenCredential for PlatformIdentity {
    async fn get_token(
        &self,
        scopes: &[&str],
        _options: Option<TokenRequestOptions<'_>>,
    ) -> Result<AccessToken> {
        let failed = |why: String| Error::with_message(ErrorKind::Credential, why);
        let [scope] = scopes else {
            return Err(failed("exactly one scope is supported".to_owned()));
        };
        let mut url = self.endpoint.clone();
        let resource = scope.strip_suffix("/.default").unwrap_or(scope);
        url.query_pairs_mut()
            .append_pair("api-version", "2019-08-01")
            .append_pair("resource", resource);
        if let Some(client_id) = &self.client_id {
            url.query_pairs_mut().append_pair("client_id", client_id);
        }
        let mut request = Request::new(url, Method::Get);
        request.insert_header("x-identity-header", self.header.secret().to_owned());
        let answer = self.http.execute_request(&request).await?;
        let status = u16::from(answer.status());
        let body = answer.into_body().collect().await?;
        if status != 200 {
            return Err(failed(format!(
                "the platform's token service answered {status}"
            )));
        }
        let document: serde_json::Value = serde_json::from_slice(&body)
            .map_err(|error| failed(format!("the token service's answer is no JSON: {error}")))?;
        let token = document
            .get("access_token")
            .and_then(serde_json::Value::as_str);
        let expires = document.get("expires_on").and_then(seconds);
        let (Some(token), Some(expires)) = (token, expires) else {
            return Err(failed("the token service's answer has no token".to_owned()));
        };
        let expires = OffsetDateTime::from_unix_timestamp(expires)
            .map_err(|error| failed(format!("the token's end is no time: {error}")))?;
        Ok(AccessToken::new(token.to_owned(), expires))
    }
}

/// Seconds that stand as a number or as text.
fn seconds(value: &serde_json::Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// The credential of the instance metadata service.
pub(crate) fn metadata_service(
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
) -> Result<Arc<dyn TokenCredential>> {
    let user_assigned_id = settings
        .variable("AZURE_CLIENT_ID")
        .map(|id| UserAssignedId::ClientId(id.to_owned()));
    let credential = ManagedIdentityCredential::new(Some(ManagedIdentityCredentialOptions {
        user_assigned_id,
        client_options: client_options(settings, http),
    }))?;
    Ok(credential)
}

/// Whether the metadata service is there. It answers 400 at once to a request without its
/// header, which is enough.
pub(crate) async fn metadata_service_answers(http: &Arc<dyn HttpClient>) -> bool {
    let Ok(url) = Url::parse(METADATA) else {
        return false;
    };
    let request = Request::new(url, Method::Get);
    matches!(
        tokio::time::timeout(PROBE, http.execute_request(&request)).await,
        Ok(Ok(_))
    )
}

/// Whether this machine says that it is an Azure VM: a file read, nothing that can hang.
pub(crate) fn is_azure_vm() -> bool {
    is_azure_tag(Path::new(CHASSIS_FILE))
}

fn is_azure_tag(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|tag| tag.trim() == CHASSIS_TAG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_told_by_its_chassis_tag() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("chassis_asset_tag");
        assert!(!is_azure_tag(&file));
        std::fs::write(&file, "No Asset Tag\n").expect("a file");
        assert!(!is_azure_tag(&file));
        std::fs::write(&file, format!("{CHASSIS_TAG}\n")).expect("a file");
        assert!(is_azure_tag(&file));
    }
}
