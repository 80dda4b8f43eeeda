//! What a client needs to know before it can be made. The environment is among it: this crate
//! reads no variable that is not in [`Settings::environment`].

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc, time::Duration};

use azure_core::{Url, authority_hosts, resource_manager_endpoint};

use crate::{
    carrier::Carrier,
    clock::{Clock, SystemClock},
};

/// Which Azure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cloud {
    /// The public one.
    #[default]
    Public,
    /// Azure Government of the United States.
    UsGovernment,
    /// Azure in China, operated by 21Vianet.
    China,
}

impl Cloud {
    /// Every cloud.
    pub const ALL: [Self; 3] = [Self::Public, Self::UsGovernment, Self::China];

    /// The name on the command line and in plans.
    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::UsGovernment => "usgovernment",
            Self::China => "china",
        }
    }

    /// The address of its Resource Manager.
    pub(crate) fn endpoint(self) -> Url {
        match self {
            Self::Public => resource_manager_endpoint::AZURE_PUBLIC_CLOUD.clone(),
            Self::UsGovernment => resource_manager_endpoint::AZURE_US_GOVERNMENT_CLOUD.clone(),
            Self::China => resource_manager_endpoint::AZURE_CHINA_CLOUD.clone(),
        }
    }

    /// The address that gives tokens.
    pub(crate) fn authority(self) -> Url {
        match self {
            Self::Public => authority_hosts::AZURE_PUBLIC_CLOUD.clone(),
            Self::UsGovernment => authority_hosts::AZURE_US_GOVERNMENT_CLOUD.clone(),
            Self::China => authority_hosts::AZURE_CHINA_CLOUD.clone(),
        }
    }

    /// What tokens are asked for: always this cloud's Resource Manager, whatever endpoint is used.
    pub(crate) fn scope(self) -> String {
        format!(
            "{}/.default",
            self.endpoint().as_str().trim_end_matches('/')
        )
    }
}

impl fmt::Display for Cloud {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Cloud {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|cloud| cloud.name() == text)
            .ok_or_else(|| format!("expected `public`, `usgovernment` or `china`, found `{text}`"))
    }
}

/// A way to prove who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialName {
    /// The token in `TENSORFORM_ACCESS_TOKEN`.
    Token,
    /// A federated identity of a GitHub Actions job.
    GithubActions,
    /// A service connection of an Azure Pipelines job.
    AzurePipelines,
    /// A service principal with a secret, from the environment.
    ClientSecret,
    /// A federated token file, as AKS puts it into pods.
    WorkloadIdentity,
    /// The identity of the machine.
    ManagedIdentity,
    /// Whoever is logged in to the Azure CLI.
    AzureCli,
    /// Whoever is logged in to the Azure Developer CLI.
    Azd,
}

impl CredentialName {
    /// Every way.
    pub const ALL: [Self; 8] = [
        Self::Token,
        Self::GithubActions,
        Self::AzurePipelines,
        Self::ClientSecret,
        Self::WorkloadIdentity,
        Self::ManagedIdentity,
        Self::AzureCli,
        Self::Azd,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::GithubActions => "github-actions",
            Self::AzurePipelines => "azure-pipelines",
            Self::ClientSecret => "client-secret",
            Self::WorkloadIdentity => "workload-identity",
            Self::ManagedIdentity => "managed-identity",
            Self::AzureCli => "azure-cli",
            Self::Azd => "azd",
        }
    }
}

impl fmt::Display for CredentialName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CredentialName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|credential| credential.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(|name| format!("`{name}`")).join(", ");
                format!("expected one of {names}, found `{text}`")
            })
    }
}

/// How the credential is chosen.
#[derive(Clone, Default)]
pub enum CredentialChoice {
    /// The first that works: CI, then the environment, the machine's identity, developer tools.
    #[default]
    Auto,
    /// This one and no other.
    Named(CredentialName),
    /// This very token: for the embedded sandbox, which asks for none.
    Fixed(String),
}

impl fmt::Debug for CredentialChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("Auto"),
            Self::Named(name) => write!(f, "Named({name})"),
            Self::Fixed(_) => f.write_str("Fixed(…)"),
        }
    }
}

/// Limits of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most requests in any second, all kinds together.
    pub requests_per_second: Option<u32>,
    /// The longest wait for one answer. ARM itself gives up on a provider after 60 s, so that
    /// its 504 arrives before this.
    pub request_timeout: Duration,
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest time that one request waits because Azure throttles. Compute has been seen
    /// to ask for more than 20 minutes.
    pub throttle_patience: Duration,
    /// The longest time without any answer while an operation is followed. A network may be down
    /// for a while; Azure goes on meanwhile, and so does the next run.
    pub silence: Duration,
    /// The most pages of one list. Azure's hold up to a thousand items: a list with more pages
    /// than this has no end.
    pub pages: usize,
    /// The most bytes of one answer, unpacked. The largest of Azure's, all sizes of all regions,
    /// has a quarter of this.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: None,
            request_timeout: Duration::from_secs(100),
            connect_timeout: Duration::from_secs(10),
            throttle_patience: Duration::from_secs(3_600),
            silence: Duration::from_secs(300),
            pages: 5_000,
            answer_bytes: 256 << 20,
        }
    }
}

/// What a client needs to know.
#[derive(Clone)]
pub struct Settings {
    /// Which Azure.
    pub cloud: Cloud,
    /// Another Resource Manager than the cloud's own, such as a sandbox's.
    pub endpoint: Option<String>,
    /// How to prove who we are.
    pub credential: CredentialChoice,
    /// The subscription; `None` for the credential's own.
    pub subscription: Option<String>,
    /// The environment variables. Nothing here reads any others.
    pub environment: BTreeMap<String, String>,
    /// Limits.
    pub limits: Limits,
    /// The clock that retries and polls wait on.
    pub clock: Arc<dyn Clock>,
    /// Who carries requests instead of the network.
    pub carrier: Option<Arc<dyn Carrier>>,
}

impl Settings {
    /// The public cloud with the first credential that works.
    pub fn new(environment: BTreeMap<String, String>) -> Self {
        Self {
            cloud: Cloud::default(),
            endpoint: None,
            credential: CredentialChoice::default(),
            subscription: None,
            environment,
            limits: Limits::default(),
            clock: Arc::new(SystemClock::default()),
            carrier: None,
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for Settings {
    /// Leaves out the environment, which holds secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("cloud", &self.cloud)
            .field("endpoint", &self.endpoint)
            .field("credential", &self.credential)
            .field("subscription", &self.subscription)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cloud_has_its_own_endpoint_authority_and_scope() {
        let check = |cloud: Cloud, endpoint: &str, authority: &str| {
            assert_eq!(cloud.endpoint().as_str(), format!("{endpoint}/"));
            assert_eq!(cloud.authority().as_str(), format!("{authority}/"));
            assert_eq!(cloud.scope(), format!("{endpoint}/.default"));
            assert_eq!(cloud.name().parse(), Ok(cloud));
        };
        check(
            Cloud::Public,
            "https://management.azure.com",
            "https://login.microsoftonline.com",
        );
        check(
            Cloud::UsGovernment,
            "https://management.usgovcloudapi.net",
            "https://login.microsoftonline.us",
        );
        check(
            Cloud::China,
            "https://management.chinacloudapi.cn",
            "https://login.chinacloudapi.cn",
        );
        assert!("germany".parse::<Cloud>().is_err());
    }

    #[test]
    fn credentials_are_chosen_by_name() {
        for name in CredentialName::ALL {
            assert_eq!(name.name().parse(), Ok(name));
        }
        let error = "cli".parse::<CredentialName>().expect_err("no such name");
        assert!(error.contains("`azure-cli`"), "{error}");
    }

    #[test]
    fn debug_output_shows_no_secret() {
        let mut settings = Settings::new(BTreeMap::from([(
            "AZURE_CLIENT_SECRET".to_owned(),
            "hunter2".to_owned(),
        )]));
        settings.credential = CredentialChoice::Fixed("hunter3".to_owned());
        assert!(!format!("{settings:?}").contains("hunter"));
    }
}
