//! The chain itself: what is tried, in which order, and what is said when nothing works.

use std::{error::Error as _, fmt, sync::Arc};

use async_trait::async_trait;
use azure_core1::{
    credentials::{AccessToken, Secret, TokenCredential, TokenRequestOptions},
    http::HttpClient,
    time::{Duration, OffsetDateTime},
};
use azure_identity::{
    AzureCliCredential, AzureCliCredentialOptions, AzureDeveloperCliCredential,
    AzureDeveloperCliCredentialOptions, ClientAssertionCredential,
    ClientAssertionCredentialOptions, ClientSecretCredential, ClientSecretCredentialOptions,
    WorkloadIdentityCredential, WorkloadIdentityCredentialOptions,
};

use super::{
    assertion::{JobAssertion, required},
    developer::Tools,
    http::{IdentityHttp, client_options},
    managed::{self, PlatformIdentity},
};
use crate::{
    error::{RequestError, chain},
    settings::{CredentialChoice, CredentialName, Settings},
};

/// The order in which credentials are tried. `token` is not among them: it is used only when
/// asked for.
const ORDER: [CredentialName; 7] = [
    CredentialName::GithubActions,
    CredentialName::AzurePipelines,
    CredentialName::ClientSecret,
    CredentialName::WorkloadIdentity,
    CredentialName::ManagedIdentity,
    CredentialName::AzureCli,
    CredentialName::Azd,
];

/// A credential that works.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The credential.
    pub(crate) credential: Arc<dyn TokenCredential>,
    /// Its name.
    pub(crate) name: String,
}

/// Why no connection could be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No credential works.
    #[error(transparent)]
    NoCredential(#[from] NoCredential),
    /// The endpoint is not acceptable.
    #[error("the endpoint `{endpoint}` cannot be used: {reason}")]
    Endpoint {
        /// The endpoint.
        endpoint: String,
        /// Why not.
        reason: String,
    },
    /// There is no HTTP stack, for want of trusted certificates.
    #[error("no HTTP client could be made")]
    Http(#[source] reqwest::Error),
    /// The subscriptions of the credential could not be listed.
    #[error("could not find out which subscription to use")]
    Subscriptions(#[source] RequestError),
    /// The credential sees no subscription.
    #[error("the credential `{credential}` sees no subscription")]
    NoSubscription {
        /// The credential.
        credential: String,
    },
    /// The credential sees several subscriptions, and nobody says which.
    #[error("the credential sees several subscriptions, and none is chosen: {}", found.join(", "))]
    ManySubscriptions {
        /// Their ids and names.
        found: Vec<String>,
    },
}

/// No credential gives a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NoCredential {
    /// Each credential, in the order of trying.
    pub attempts: Vec<CredentialAttempt>,
}

/// What came of one credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialAttempt {
    /// Which.
    pub name: CredentialName,
    /// Whether it was configured, so that a token was asked for.
    pub tried: bool,
    /// Why it gave none.
    pub reason: String,
    /// What would make it work.
    pub fix: &'static str,
}

impl fmt::Display for NoCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no credential gives a token for Azure")?;
        for attempt in &self.attempts {
            let verb = if attempt.tried { "failed" } else { "not tried" };
            write!(f, "\n  {}: {verb}: {}", attempt.name, attempt.reason)?;
            write!(f, "\n    to use it: {}", attempt.fix)?;
        }
        Ok(())
    }
}

/// Finds the credential to use.
pub(crate) async fn choose(settings: &Settings) -> Result<Chosen, ConnectError> {
    if let CredentialChoice::Fixed(token) = &settings.credential {
        return Ok(Chosen {
            credential: Arc::new(StaticToken(token.clone().into())),
            name: "sandbox".to_owned(),
        });
    }
    let client = reqwest::Client::builder()
        .connect_timeout(settings.limits.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(ConnectError::Http)?;
    let http: Arc<dyn HttpClient> = Arc::new(IdentityHttp::new(client));
    Ok(choose_over(settings, &http, managed::is_azure_vm()).await?)
}

/// The same over a given HTTP stack and on a given kind of machine.
pub(super) async fn choose_over(
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
    on_azure_vm: bool,
) -> Result<Chosen, NoCredential> {
    let names: &[CredentialName] = match &settings.credential {
        CredentialChoice::Named(name) => std::slice::from_ref(name),
        CredentialChoice::Auto | CredentialChoice::Fixed(_) => &ORDER,
    };
    let by_name = matches!(settings.credential, CredentialChoice::Named(_));
    let scope = settings.cloud.scope();
    let mut attempts = Vec::new();
    for name in names.iter().copied() {
        let made = make(name, settings, http, by_name || on_azure_vm).await;
        let (tried, reason) = match made {
            Err(reason) => (false, reason),
            Ok(credential) => match credential.get_token(&[&scope], None).await {
                Ok(_) => {
                    return Ok(Chosen {
                        credential,
                        name: name.to_string(),
                    });
                }
                // The outermost error only repeats the credential's name and a link.
                Err(error) => (true, error.source().map_or_else(|| chain(&error), chain)),
            },
        };
        attempts.push(CredentialAttempt {
            name,
            tried,
            reason,
            fix: fix(name),
        });
        if tried && ends_the_chain(name) {
            break;
        }
    }
    Err(NoCredential { attempts })
}

/// Whether a refusal of this credential, which somebody configured on purpose, is final.
fn ends_the_chain(name: CredentialName) -> bool {
    match name {
        CredentialName::Token
        | CredentialName::GithubActions
        | CredentialName::AzurePipelines
        | CredentialName::ClientSecret
        | CredentialName::WorkloadIdentity => true,
        CredentialName::ManagedIdentity | CredentialName::AzureCli | CredentialName::Azd => false,
    }
}

/// Makes a credential, or says what keeps it from being made.
async fn make(
    name: CredentialName,
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
    ask_metadata_service: bool,
) -> Result<Arc<dyn TokenCredential>, String> {
    match name {
        CredentialName::Token => {
            let token = required(settings, "TENSORFORM_ACCESS_TOKEN")?.to_owned();
            Ok(Arc::new(StaticToken(token.into())))
        }
        CredentialName::GithubActions => {
            let assertion = JobAssertion::github(settings, http)?;
            let (tenant, client) = service_principal(settings)?;
            assertion_credential(settings, http, tenant, client, assertion)
        }
        CredentialName::AzurePipelines => azure_pipelines(settings, http),
        CredentialName::ClientSecret => client_secret(settings, http),
        CredentialName::WorkloadIdentity => workload_identity(settings, http),
        CredentialName::ManagedIdentity => {
            managed_identity(settings, http, ask_metadata_service).await
        }
        CredentialName::AzureCli => azure_cli(settings),
        CredentialName::Azd => azd(settings),
    }
}

fn service_principal(settings: &Settings) -> Result<(&str, &str), String> {
    let tenant = required(settings, "AZURE_TENANT_ID")?;
    Ok((tenant, required(settings, "AZURE_CLIENT_ID")?))
}

fn assertion_credential(
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
    tenant: &str,
    client: &str,
    assertion: JobAssertion,
) -> Result<Arc<dyn TokenCredential>, String> {
    let options = ClientAssertionCredentialOptions {
        client_options: client_options(settings, http),
    };
    let credential = ClientAssertionCredential::new(
        tenant.to_owned(),
        client.to_owned(),
        assertion,
        Some(options),
    );
    Ok(credential.map_err(|error| chain(&error))?)
}

fn azure_pipelines(
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
) -> Result<Arc<dyn TokenCredential>, String> {
    required(settings, "SYSTEM_OIDCREQUESTURI")?;
    // The task's own variables first: they belong to the service connection of this step.
    let either = |task: &str, own: &str| match settings.variable(task) {
        Some(value) => Ok(value.to_owned()),
        None => required(settings, own).map(ToOwned::to_owned),
    };
    let connection = either(
        "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID",
        "AZURE_SERVICE_CONNECTION_ID",
    )?;
    let tenant = either("AZURESUBSCRIPTION_TENANT_ID", "AZURE_TENANT_ID")?;
    let client = either("AZURESUBSCRIPTION_CLIENT_ID", "AZURE_CLIENT_ID")?;
    let assertion = JobAssertion::pipelines(settings, http, &connection)?;
    assertion_credential(settings, http, &tenant, &client, assertion)
}

fn client_secret(
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
) -> Result<Arc<dyn TokenCredential>, String> {
    let secret = required(settings, "AZURE_CLIENT_SECRET")?.to_owned();
    let (tenant, client) = service_principal(settings)?;
    let options = ClientSecretCredentialOptions {
        client_options: client_options(settings, http),
    };
    let credential =
        ClientSecretCredential::new(tenant, client.to_owned(), secret.into(), Some(options));
    Ok(credential.map_err(|error| chain(&error))?)
}

fn workload_identity(
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
) -> Result<Arc<dyn TokenCredential>, String> {
    let file = required(settings, "AZURE_FEDERATED_TOKEN_FILE")?;
    let (tenant, client) = service_principal(settings)?;
    let credential = WorkloadIdentityCredential::new(Some(WorkloadIdentityCredentialOptions {
        credential_options: ClientAssertionCredentialOptions {
            client_options: client_options(settings, http),
        },
        client_id: Some(client.to_owned()),
        tenant_id: Some(tenant.to_owned()),
        token_file_path: Some(file.into()),
    }));
    Ok(credential.map_err(|error| chain(&error))?)
}

async fn managed_identity(
    settings: &Settings,
    http: &Arc<dyn HttpClient>,
    ask_metadata_service: bool,
) -> Result<Arc<dyn TokenCredential>, String> {
    if let Some(platform) = PlatformIdentity::new(settings, http) {
        return Ok(Arc::new(platform?));
    }
    if !ask_metadata_service {
        return Err("this machine does not say that it is an Azure VM".to_owned());
    }
    if !managed::metadata_service_answers(http).await {
        return Err("the instance metadata service does not answer".to_owned());
    }
    managed::metadata_service(settings, http).map_err(|error| chain(&error))
}

fn azure_cli(settings: &Settings) -> Result<Arc<dyn TokenCredential>, String> {
    let tenant_id = settings.variable("AZURE_TENANT_ID").map(ToOwned::to_owned);
    let credential = AzureCliCredential::new(Some(AzureCliCredentialOptions {
        // The CLI takes one of the two.
        subscription: settings
            .subscription
            .clone()
            .filter(|_| tenant_id.is_none()),
        tenant_id,
        executor: Some(Arc::new(Tools::new(&settings.environment))),
    }));
    Ok(credential.map_err(|error| chain(&error))?)
}

fn azd(settings: &Settings) -> Result<Arc<dyn TokenCredential>, String> {
    let credential = AzureDeveloperCliCredential::new(Some(AzureDeveloperCliCredentialOptions {
        executor: Some(Arc::new(Tools::new(&settings.environment))),
        tenant_id: settings.variable("AZURE_TENANT_ID").map(ToOwned::to_owned),
    }));
    Ok(credential.map_err(|error| chain(&error))?)
}

/// What makes a credential work.
fn fix(name: CredentialName) -> &'static str {
    match name {
        CredentialName::Token => {
            "set `TENSORFORM_ACCESS_TOKEN`, for example to the output of `az account get-access-token --query accessToken -o tsv`"
        }
        CredentialName::GithubActions => {
            "give the job `permissions: id-token: write`, and set `AZURE_TENANT_ID` and `AZURE_CLIENT_ID` of an application with a federated credential for this repository"
        }
        CredentialName::AzurePipelines => {
            "run inside an `AzureCLI@2` step with a workload identity service connection, and map `SYSTEM_ACCESSTOKEN: $(System.AccessToken)` into its environment"
        }
        CredentialName::ClientSecret => {
            "set `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_CLIENT_SECRET` of a service principal"
        }
        CredentialName::WorkloadIdentity => {
            "run in a pod with workload identity, or set `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_FEDERATED_TOKEN_FILE`"
        }
        CredentialName::ManagedIdentity => {
            "run on an Azure VM with an identity; set `AZURE_CLIENT_ID` to choose a user-assigned one"
        }
        CredentialName::AzureCli => "install the Azure CLI (2.54 or newer) and run `az login`",
        CredentialName::Azd => "install the Azure Developer CLI and run `azd auth login`",
    }
}

/// A token that somebody else got.
#[derive(Debug)]
struct StaticToken(Secret);

#[async_trait]
impl TokenCredential for StaticToken {
    async fn get_token(
        &self,
        _scopes: &[&str],
        _options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core1::Result<AccessToken> {
        // When it ends, Azure says so.
        let expires = OffsetDateTime::now_utc() + Duration::hours(1);
        Ok(AccessToken::new(self.0.clone(), expires))
    }
}
