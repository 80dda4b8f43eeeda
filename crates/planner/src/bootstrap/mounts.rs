//! Stores that nodes mount: a unit of systemd each, which mounts them at every start.

use std::collections::BTreeSet;

use model::spec::{Mount, MountKind};

/// The units of all mounts, as words of a shell.
pub(super) fn units(mounts: &[Mount]) -> String {
    let names: Vec<String> = mounts.iter().map(unit_name).collect();
    names.join(" ")
}

/// The clients that mounts need, as words of a shell.
pub(super) fn clients(mounts: &[Mount]) -> String {
    let clients: BTreeSet<&str> = mounts.iter().map(|mount| kind(mount.kind)).collect();
    clients.into_iter().collect::<Vec<_>>().join(" ")
}

/// The type of the file system. Blob containers speak plain NFS 3.
fn kind(kind: MountKind) -> &'static str {
    match kind {
        MountKind::BlobNfs | MountKind::Nfs => "nfs",
        MountKind::Lustre => "lustre",
    }
}

/// The name that systemd gives the unit of a path: dashes for slashes, and everything but letters,
/// digits, `:`, `_` and `.` by its number.
pub(super) fn unit_name(mount: &Mount) -> String {
    let mut name = String::new();
    for (position, byte) in mount.path.trim_start_matches('/').bytes().enumerate() {
        match byte {
            b'/' => name.push('-'),
            b'.' if position == 0 => name.push_str("\\x2e"),
            b':' | b'_' | b'.' => name.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            _ => {
                let number = format!("\\x{byte:02x}");
                name.push_str(&number);
            }
        }
    }
    name.push_str(".mount");
    name
}

/// The text of a mount's unit. A store that is away must not keep a node from starting.
pub(super) fn unit(mount: &Mount) -> String {
    let Mount { path, source, kind } = mount;
    let options = match kind {
        MountKind::BlobNfs => "_netdev,nofail,noatime,sec=sys,vers=3,nolock,proto=tcp",
        MountKind::Nfs => "_netdev,nofail,noatime",
        MountKind::Lustre => "_netdev,nofail,noatime,flock",
    };
    let kind = self::kind(*kind);
    let what = what(mount).unwrap_or_else(|| source.clone());
    format!(
        "[Unit]\nDescription=Store at {path}\nWants=network-online.target\nAfter=network-online.target\n\n\
         [Mount]\nWhat={what}\nWhere={path}\nType={kind}\nOptions={options}\nTimeoutSec=120\n\n\
         [Install]\nWantedBy=remote-fs.target\n"
    )
}

/// What is mounted of a blob container: its account and its name, at the account's host.
fn what(mount: &Mount) -> Option<String> {
    if mount.kind != MountKind::BlobNfs {
        return None;
    }
    let (host, container) = mount.source.strip_prefix("https://")?.split_once('/')?;
    let account = host.split('.').next()?;
    let container = container.trim_end_matches('/');
    Some(format!("{host}:/{account}/{container}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(path: &str, source: &str, kind: MountKind) -> Mount {
        Mount {
            path: path.to_owned(),
            source: source.to_owned(),
            kind,
        }
    }

    #[test]
    fn units_are_called_as_systemd_calls_them() {
        let check = |path: &str, expected: &str| {
            let mount = mount(path, "h:/e", MountKind::Nfs);
            assert_eq!(unit_name(&mount), expected);
        };
        check("/data", "data.mount");
        check("/mnt/my-data", "mnt-my\\x2ddata.mount");
        check("/.hidden/a_b.c", "\\x2ehidden-a_b.c.mount");
    }

    #[test]
    fn each_kind_is_mounted_in_its_way() {
        let check = |source: &str, kind: MountKind, lines: [&str; 2]| {
            let text = unit(&mount("/data", source, kind));
            for line in lines {
                assert!(text.lines().any(|found| found == line), "{line}: {text}");
            }
        };
        check(
            "https://acct.blob.core.windows.net/data/",
            MountKind::BlobNfs,
            ["What=acct.blob.core.windows.net:/acct/data", "Type=nfs"],
        );
        check("h:/e", MountKind::Nfs, ["What=h:/e", "Type=nfs"]);
        check(
            "10.0.0.4@tcp:/fs",
            MountKind::Lustre,
            ["What=10.0.0.4@tcp:/fs", "Type=lustre"],
        );
    }
}
