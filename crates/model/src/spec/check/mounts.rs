//! Stores that nodes mount.

use std::collections::BTreeMap;

use super::Check;
use crate::{
    diag::{At, Code, SpecPath},
    spec::{Mount, MountKind, Pool},
};

/// Folders that the system needs as they are.
const SYSTEM: [&str; 14] = [
    "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/run",
    "/sbin", "/sys", "/usr",
];
/// Where the local disks are.
const SCRATCH: &str = "/scratch";

pub(super) fn check(check: &mut Check<'_>, name: &str, pool: &Pool) {
    let list = SpecPath::pool(name, &["mounts"]);
    let mut paths: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, mount) in pool.mounts.iter().enumerate() {
        let path = list.index(index);
        if !check.is_sound(&path) {
            continue;
        }
        if let Some(expected) = wrong_form(mount) {
            let message = format!("`source` is `{}`, expected {expected}", mount.source);
            let help = "`type` says how the store is mounted, and with it how it is named";
            let at = At::Value(path.key("source"));
            check.report(Code::SpecInvalidValue, at, message, help);
        }
        let is_of_system = |folder: &&str| {
            mount.path == **folder || mount.path.starts_with(&format!("{folder}/tensorform"))
        };
        if SYSTEM.iter().any(is_of_system) || mount.path == "/var" {
            let message = format!("`path: {}` is what the system needs itself", mount.path);
            let at = At::Value(path.key("path"));
            check.report(
                Code::SpecInvalidValue,
                at,
                message,
                "use a path such as `/data`",
            );
        }
        if pool.disks.scratch_nvme && mount.path == SCRATCH {
            check.conflict(
                path.key("path"),
                SpecPath::pool(name, &["disks", "scratch"]),
                format!("`{SCRATCH}` is where `scratch: nvme` puts the local disks"),
                "use another path",
            );
        }
        if let Some(first) = paths.insert(&mount.path, index) {
            check.conflict(
                path.key("path"),
                list.index(first).key("path"),
                format!("two stores are mounted at `{}`", mount.path),
                "use another path for one of them",
            );
        }
    }
}

/// What the source of a mount must be, where it is something else.
fn wrong_form(mount: &Mount) -> Option<&'static str> {
    let Mount {
        path: _,
        source,
        kind,
    } = mount;
    let plain = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-/$~".contains(&byte))
    };
    match kind {
        MountKind::BlobNfs => {
            let parts = source.strip_prefix("https://");
            let parts = parts.and_then(|rest| rest.split_once('/'));
            let fits = parts.is_some_and(|(host, container)| {
                host.contains(".blob.") && plain(host) && plain(container)
            });
            (!fits).then_some("`https://account.blob.core.windows.net/container`")
        }
        MountKind::Nfs => {
            let parts = source.split_once(":/");
            let fits = parts.is_some_and(|(host, export)| {
                plain(host) && !host.contains('/') && (export.is_empty() || plain(export))
            });
            (!fits).then_some("`host:/export`")
        }
        MountKind::Lustre => {
            let parts = source.split_once(":/");
            let fits = parts.is_some_and(|(servers, name)| {
                let mut servers = servers.split([',', ':']);
                let is_server = |server: &str| {
                    let parts = server.split_once('@');
                    parts.is_some_and(|(host, network)| plain(host) && plain(network))
                };
                plain(name) && servers.all(is_server)
            });
            (!fits).then_some("`address@tcp:/fsname`")
        }
    }
}
