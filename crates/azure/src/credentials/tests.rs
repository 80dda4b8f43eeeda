//! Each credential at the wire: a scripted server stands for the authority, the CI system and
//! the metadata service; scripts stand for the command-line tools.

mod harmed;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use async_trait::async_trait;
use azure_core1::{
    Result,
    http::{AsyncRawResponse, HttpClient, Request, Url},
};
use serde_json::json;

use super::{
    chain::{Chosen, NoCredential, choose_over},
    http::IdentityHttp,
};
use crate::{
    Cloud, CredentialChoice, CredentialName, Settings,
    testing::{Act, Seen, Server},
};

const TENANT: &str = "22222222-2222-2222-2222-222222222222";
const CLIENT: &str = "44444444-4444-4444-4444-444444444444";

/// Sends everything to a server on loopback and tells it the host that was meant.
#[derive(Debug)]
struct Redirect {
    to: Url,
    inner: IdentityHttp,
}

#[async_trait]
impl HttpClient for Redirect {
    async fn execute_request(&self, request: &Request) -> Result<AsyncRawResponse> {
        let mut redirected = request.clone();
        let meant = request.url().host_str().unwrap_or_default().to_owned();
        redirected.insert_header("x-meant-for", meant);
        let mut url = request.url().clone();
        url.set_scheme("http").expect("another scheme");
        url.set_host(self.to.host_str()).expect("another host");
        url.set_port(self.to.port()).expect("another port");
        *redirected.url_mut() = url;
        self.inner.execute_request(&redirected).await
    }
}

fn settings(name: CredentialName, variables: &[(&str, &str)]) -> Settings {
    let pairs = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut settings = Settings::new(pairs.collect());
    settings.credential = CredentialChoice::Named(name);
    settings
}

async fn choose(
    server: &Server,
    settings: &Settings,
    on_azure_vm: bool,
) -> std::result::Result<Chosen, NoCredential> {
    choose_over(settings, &redirect(server), on_azure_vm).await
}

fn redirect(server: &Server) -> Arc<dyn HttpClient> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let client = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client");
    Arc::new(Redirect {
        to: Url::parse(&server.url()).expect("a url"),
        inner: IdentityHttp::new(client),
    })
}

async fn token(chosen: &Chosen) -> String {
    let token = chosen.credential.get_token(&["x/.default"], None).await;
    token.expect("a token").token.secret().to_owned()
}

/// Answers as the authority, the CI systems and the machine's token services do.
fn world(seen: &Seen) -> Act {
    let path = seen.target.split('?').next().unwrap_or_default();
    let far = "4102444800";
    match path {
        "/github" => Act::json(200, &json!({"value": "github-assertion"})),
        "/pipelines" => Act::json(200, &json!({"oidcToken": "pipelines-assertion"})),
        "/metadata/instance" => Act::empty(400),
        "/metadata/identity/oauth2/token" => Act::json(
            200,
            &json!({"access_token": "vm-token", "expires_on": far, "token_type": "Bearer", "resource": "r"}),
        ),
        "/msi" => Act::json(
            200,
            &json!({"access_token": "platform-token", "expires_on": far}),
        ),
        path if path.ends_with("/oauth2/v2.0/token") => Act::json(
            200,
            &json!({"token_type": "Bearer", "expires_in": 3599, "access_token": "entra-token"}),
        ),
        _ => Act::empty(404),
    }
}

/// The request that asked the authority for a token.
fn exchange(server: &Server) -> Seen {
    let mut all = server.seen();
    all.retain(|seen| seen.target.ends_with("/oauth2/v2.0/token"));
    all.into_iter().next().expect("a token request")
}

#[tokio::test]
async fn a_client_secret_is_exchanged() {
    let server = Server::start(world).await;
    let variables = [
        ("AZURE_TENANT_ID", TENANT),
        ("AZURE_CLIENT_ID", CLIENT),
        ("AZURE_CLIENT_SECRET", "s3cret"),
    ];
    let mut settings = settings(CredentialName::ClientSecret, &variables);
    let chosen = choose(&server, &settings, false)
        .await
        .expect("a credential");
    assert_eq!(token(&chosen).await, "entra-token");
    let seen = exchange(&server);
    assert_eq!(seen.target, format!("/{TENANT}/oauth2/v2.0/token"));
    assert_eq!(seen.header("x-meant-for"), "login.microsoftonline.com");
    for part in [
        "client_secret=s3cret",
        "grant_type=client_credentials",
        "scope=https%3A%2F%2Fmanagement.azure.com%2F.default",
    ] {
        assert!(seen.body.contains(part), "{part} in {}", seen.body);
    }
    // Another cloud has another authority and another audience.
    let server = Server::start(world).await;
    settings.cloud = Cloud::China;
    choose(&server, &settings, false)
        .await
        .expect("a credential");
    let seen = exchange(&server);
    assert_eq!(seen.header("x-meant-for"), "login.chinacloudapi.cn");
    assert!(
        seen.body.contains("management.chinacloudapi.cn"),
        "{}",
        seen.body
    );
}

#[tokio::test]
async fn a_federated_token_file_is_exchanged() {
    let server = Server::start(world).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, "pod-assertion").expect("a file");
    let variables = [
        ("AZURE_TENANT_ID", TENANT),
        ("AZURE_CLIENT_ID", CLIENT),
        ("AZURE_FEDERATED_TOKEN_FILE", file.to_str().expect("a path")),
    ];
    let settings = settings(CredentialName::WorkloadIdentity, &variables);
    let chosen = choose(&server, &settings, false)
        .await
        .expect("a credential");
    assert_eq!(token(&chosen).await, "entra-token");
    assert!(
        exchange(&server)
            .body
            .contains("client_assertion=pod-assertion")
    );
}

#[tokio::test]
async fn a_github_job_exchanges_its_assertion() {
    let server = Server::start(world).await;
    let url = format!("{}/github?v=1", server.url());
    let variables = [
        ("AZURE_TENANT_ID", TENANT),
        ("AZURE_CLIENT_ID", CLIENT),
        ("ACTIONS_ID_TOKEN_REQUEST_URL", url.as_str()),
        ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "job-token"),
    ];
    let settings = settings(CredentialName::GithubActions, &variables);
    choose(&server, &settings, false)
        .await
        .expect("a credential");
    let asked = server.seen().into_iter().next().expect("a request");
    assert_eq!(
        asked.target,
        "/github?v=1&audience=api%3A%2F%2FAzureADTokenExchange"
    );
    assert_eq!(asked.header("authorization"), "Bearer job-token");
    assert!(
        exchange(&server)
            .body
            .contains("client_assertion=github-assertion")
    );
}

#[tokio::test]
async fn a_pipelines_job_exchanges_its_assertion() {
    let server = Server::start(world).await;
    let url = format!("{}/pipelines", server.url());
    let variables = [
        ("AZURESUBSCRIPTION_TENANT_ID", TENANT),
        ("AZURESUBSCRIPTION_CLIENT_ID", CLIENT),
        ("AZURESUBSCRIPTION_SERVICE_CONNECTION_ID", "connection"),
        ("SYSTEM_OIDCREQUESTURI", url.as_str()),
        ("SYSTEM_ACCESSTOKEN", "job-token"),
    ];
    let settings = settings(CredentialName::AzurePipelines, &variables);
    choose(&server, &settings, false)
        .await
        .expect("a credential");
    let asked = server.seen().into_iter().next().expect("a request");
    assert_eq!(asked.method, "POST");
    assert_eq!(
        asked.target,
        "/pipelines?api-version=7.1&serviceConnectionId=connection"
    );
    assert_eq!(asked.header("x-tfs-fedauthredirect"), "Suppress");
    assert!(
        exchange(&server)
            .body
            .contains("client_assertion=pipelines-assertion")
    );
}

#[tokio::test]
async fn the_platform_gives_its_identity() {
    let server = Server::start(world).await;
    let url = format!("{}/msi", server.url());
    let variables = [
        ("IDENTITY_ENDPOINT", url.as_str()),
        ("IDENTITY_HEADER", "h"),
        ("AZURE_CLIENT_ID", CLIENT),
    ];
    let settings = settings(CredentialName::ManagedIdentity, &variables);
    let chosen = choose(&server, &settings, false)
        .await
        .expect("a credential");
    assert_eq!(token(&chosen).await, "platform-token");
    let asked = server.seen().into_iter().next().expect("a request");
    assert_eq!(asked.header("x-identity-header"), "h");
    for part in [
        "resource=https%3A%2F%2Fmanagement.azure.com",
        &format!("client_id={CLIENT}"),
    ] {
        assert!(asked.target.contains(part), "{part} in {}", asked.target);
    }
}

#[tokio::test]
async fn a_vm_gives_its_identity_and_a_laptop_is_not_asked() {
    let server = Server::start(world).await;
    let by_name = settings(CredentialName::ManagedIdentity, &[]);
    let chosen = choose(&server, &by_name, false)
        .await
        .expect("a credential");
    assert_eq!(token(&chosen).await, "vm-token");
    let asked = server.seen();
    assert!(
        asked
            .iter()
            .all(|seen| seen.header("x-meant-for") == "169.254.169.254")
    );
    assert_eq!(asked.last().expect("a request").header("metadata"), "true");

    let mut auto = Settings::new(BTreeMap::new());
    let chosen = choose(&server, &auto, true).await.expect("a credential");
    assert_eq!(chosen.name, "managed-identity");

    let laptop = Server::start(world).await;
    auto.environment
        .insert("PATH".to_owned(), "/nonexistent".to_owned());
    choose(&laptop, &auto, false)
        .await
        .expect_err("nothing works");
    assert!(laptop.seen().is_empty(), "nothing was sent");
}

/// Answers in turn, without a network.
#[derive(Debug)]
struct Busy(std::sync::atomic::AtomicUsize);

#[async_trait]
impl HttpClient for Busy {
    async fn execute_request(&self, request: &Request) -> Result<AsyncRawResponse> {
        let headers = azure_core1::http::headers::Headers::new;
        if !request.url().path().ends_with("/token") {
            return Ok(AsyncRawResponse::from_bytes(400.into(), headers(), ""));
        }
        match self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 | 1 => Ok(AsyncRawResponse::from_bytes(429.into(), headers(), "")),
            _ => {
                let body = json!({"access_token": "vm-token", "expires_on": "4102444800",
                    "token_type": "Bearer", "resource": "r"});
                Ok(AsyncRawResponse::from_bytes(
                    200.into(),
                    headers(),
                    body.to_string(),
                ))
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_throttled_metadata_service_is_asked_once_for_all_callers() {
    use azure_core::auth::TokenCredential;
    let busy = Arc::new(Busy(0.into()));
    let http: Arc<dyn HttpClient> = busy.clone();
    let settings = settings(CredentialName::ManagedIdentity, &[]);
    let credential = super::managed::metadata_service(&settings, &http).expect("a credential");
    let bridge = super::Bridge::new(credential);
    let calls = (0..20).map(|_| bridge.get_token(&["https://management.azure.com/.default"]));
    for token in futures::future::join_all(calls).await {
        assert_eq!(token.expect("a token").token.secret(), "vm-token");
    }
    assert_eq!(busy.0.load(std::sync::atomic::Ordering::SeqCst), 3);
}

fn script(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).expect("a script");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[tokio::test]
async fn the_tools_of_a_developer_are_found_on_the_given_path() {
    let server = Server::start(world).await;
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    script(
        folder.path(),
        "az",
        &format!(
            r#"echo "$@" > {}; echo '{{"accessToken": "az-token", "expires_on": 4102444800, "tokenType": "Bearer"}}'"#,
            log.display()
        ),
    );
    script(
        folder.path(),
        "azd",
        r#"echo '{"token": "azd-token", "expiresOn": "2100-01-01T00:00:00Z"}'"#,
    );
    let path = folder.path().to_str().expect("a path");
    for (name, expected) in [
        (CredentialName::AzureCli, "az-token"),
        (CredentialName::Azd, "azd-token"),
    ] {
        let mut settings = settings(name, &[("PATH", path)]);
        settings.subscription = Some("sub-a".to_owned());
        let chosen = choose(&server, &settings, false)
            .await
            .expect("a credential");
        assert_eq!(token(&chosen).await, expected);
        assert_eq!(chosen.name, name.name());
    }
    let arguments = std::fs::read_to_string(log).expect("a log");
    assert!(arguments.contains("--subscription sub-a"), "{arguments}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_given_token_is_used_only_when_asked_for() {
    let server = Server::start(world).await;
    let variables = [
        ("TENSORFORM_ACCESS_TOKEN", "given"),
        ("PATH", "/nonexistent"),
    ];
    let mut settings = settings(CredentialName::Token, &variables);
    let chosen = choose(&server, &settings, false)
        .await
        .expect("a credential");
    assert_eq!(token(&chosen).await, "given");
    settings.credential = CredentialChoice::Auto;
    choose(&server, &settings, false)
        .await
        .expect_err("nothing works");
}

#[tokio::test]
async fn when_nothing_works_each_credential_says_why_and_how_to_fix_it() {
    let server = Server::start(world).await;
    let mut settings = Settings::new(BTreeMap::new());
    settings
        .environment
        .insert("PATH".to_owned(), "/nonexistent".to_owned());
    let error = choose(&server, &settings, false)
        .await
        .expect_err("nothing works");
    let names: Vec<&str> = error
        .attempts
        .iter()
        .map(|attempt| attempt.name.name())
        .collect();
    assert_eq!(
        names,
        [
            "github-actions",
            "azure-pipelines",
            "client-secret",
            "workload-identity",
            "managed-identity",
            "azure-cli",
            "azd"
        ]
    );
    let text = error.to_string();
    for part in [
        "`ACTIONS_ID_TOKEN_REQUEST_URL` is not set",
        "`AZURE_CLIENT_SECRET` is not set",
        "az not found on PATH",
        "run `az login`",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[tokio::test]
async fn a_refused_service_principal_does_not_fall_through_to_somebody_else() {
    let refused = json!({"error": "invalid_client", "error_codes": [7_000_215],
        "error_description": "AADSTS7000215: Invalid client secret provided."});
    let server = Server::script(vec![Act::json(401, &refused)]).await;
    let folder = tempfile::tempdir().expect("a folder");
    script(
        folder.path(),
        "az",
        r#"echo '{"accessToken": "az-token", "expires_on": 4102444800, "tokenType": "Bearer"}'"#,
    );
    let mut settings = settings(
        CredentialName::ClientSecret,
        &[
            ("AZURE_TENANT_ID", TENANT),
            ("AZURE_CLIENT_ID", CLIENT),
            ("AZURE_CLIENT_SECRET", "wrong"),
            ("PATH", folder.path().to_str().expect("a path")),
        ],
    );
    settings.credential = CredentialChoice::Auto;
    let error = choose(&server, &settings, false)
        .await
        .expect_err("a refusal");
    let last = error.attempts.last().expect("an attempt");
    assert_eq!(
        (last.name, last.tried),
        (CredentialName::ClientSecret, true)
    );
    assert!(last.reason.contains("AADSTS7000215"), "{}", last.reason);
    assert!(!error.to_string().contains("wrong\n"));
}

async fn connected(
    variables: &[(&str, &str)],
    seen: serde_json::Value,
) -> std::result::Result<String, String> {
    let server = Server::script(vec![Act::json(200, &json!({ "value": seen }))]).await;
    let mut settings = settings(CredentialName::Token, variables);
    settings
        .environment
        .insert("TENSORFORM_ACCESS_TOKEN".to_owned(), "given".to_owned());
    settings.endpoint = Some(server.url());
    let client = crate::Client::connect(settings).await;
    client
        .map(|client| client.subscription().to_owned())
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn the_subscription_is_the_environments_or_the_only_one() {
    let one = json!({"subscriptionId": "a", "displayName": "One"});
    let two = json!({"subscriptionId": "b", "displayName": "Two"});
    let named = connected(&[("AZURE_SUBSCRIPTION_ID", "c")], json!([])).await;
    assert_eq!(named, Ok("c".to_owned()));
    assert_eq!(connected(&[], json!([one])).await, Ok("a".to_owned()));
    let error = connected(&[], json!([one, two])).await.expect_err("two");
    assert!(error.contains("a (One), b (Two)"), "{error}");
    let error = connected(&[], json!([])).await.expect_err("none");
    assert!(error.contains("`token` sees no subscription"), "{error}");
}
