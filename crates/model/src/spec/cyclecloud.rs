//! What a spec says of Azure CycleCloud.

use serde::{Deserialize, Serialize};

use crate::{ids::ArmId, units::SizeName};

/// The server of a stack, which makes the nodes of all pools of CycleCloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its size.
    pub size: SizeName,
    /// Whether the terms of its image may be accepted.
    pub accept_terms: bool,
    /// The identity by which it makes nodes and reaches its locker.
    pub identity: Option<ArmId>,
    /// The container that is its locker: what its nodes fetch when they start.
    pub locker: Option<Locker>,
    /// Whether the cluster is started once it is imported.
    pub start: bool,
}

/// A container of blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locker {
    /// The storage account.
    pub account: String,
    /// The container.
    pub container: String,
}

impl Locker {
    /// From the URL of a container.
    pub fn of_url(url: &str) -> Option<Self> {
        let (host, path) = url.strip_prefix("https://")?.split_once('/')?;
        let (account, _) = host.split_once(".blob.")?;
        let container = path.trim_end_matches('/');
        let is_plain = |text: &str, more: &str| {
            let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(c);
            !text.is_empty() && text.chars().all(known)
        };
        (is_plain(account, "") && is_plain(container, "-")).then(|| Self {
            account: account.to_owned(),
            container: container.to_owned(),
        })
    }
}

/// How the server is set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSetup {
    /// Who may sign in to it: the administrator of its machine.
    pub user: String,
    /// The identity by which it makes nodes and reaches its locker.
    pub identity: ArmId,
    /// Its locker.
    pub locker: Locker,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locker_is_read_from_the_url_of_its_container() {
        let check = |url: &str, expected: Option<(&str, &str)>| {
            let locker = Locker::of_url(url);
            let found = locker.as_ref();
            let found = found.map(|one| (one.account.as_str(), one.container.as_str()));
            assert_eq!(found, expected, "{url}");
        };
        let container = "https://acct.blob.core.windows.net/cyclecloud";
        check(container, Some(("acct", "cyclecloud")));
        check(&format!("{container}/"), Some(("acct", "cyclecloud")));
        check(
            "https://acct.blob.core.chinacloudapi.cn/a-b",
            Some(("acct", "a-b")),
        );
        check("https://acct.blob.core.windows.net/a/b", None);
        check("https://acct.file.core.windows.net/a", None);
        check("https://Acct'.blob.core.windows.net/a", None);
        check("acct", None);
    }
}
