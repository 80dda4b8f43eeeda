//! SSH keys: reads those that the spec gives, makes a pair where it gives none.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use model::{
    diag::{At, Code, Diagnostic, Diagnostics, SpecPath},
    spec::{Spec, SshKeys, check_public_key},
};
use ssh_key::{Algorithm, LineEnding, PrivateKey, PublicKey, rand_core::OsRng};

use crate::{app::App, stop::Stop};

/// The public keys that the spec gives, in OpenSSH form without comments; `None` for `generate`.
///
/// # Errors
/// A file cannot be read, or is no public key that Azure takes.
pub(crate) fn given(app: &App, spec: &Spec) -> Result<Option<Vec<String>>, Stop> {
    let SshKeys::Given(keys) = &spec.access.ssh_keys else {
        return Ok(None);
    };
    let mut found = Vec::new();
    let mut findings = Diagnostics::default();
    for (index, key) in keys.iter().enumerate() {
        let at = At::Value(SpecPath::of(&["access", "ssh_keys"]).index(index));
        match read(app, key) {
            Ok(key) => found.push(key),
            Err(message) => {
                let finding = Diagnostic::new(Code::KeyUnusable, at, message);
                findings.push(finding.with_help("name a public key file, such as `~/.ssh/id_ed25519.pub`, or use `ssh_keys: generate`"));
            }
        }
    }
    if findings.has_errors() {
        Err(Stop::with(findings))
    } else {
        Ok(Some(found))
    }
}

fn read(app: &App, key: &str) -> Result<String, String> {
    if key.starts_with("ssh-") {
        return without_comment(key);
    }
    let path = expand(app, key);
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("the key file `{key}` cannot be read: {error}"))?;
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or_default();
    check_public_key(line).map_err(|problem| {
        format!("the key file `{key}` holds no public key that Azure takes: {problem}")
    })?;
    without_comment(line)
}

fn without_comment(key: &str) -> Result<String, String> {
    let mut parts = key.split_whitespace();
    match (parts.next(), parts.next()) {
        (Some(kind), Some(data)) => Ok(format!("{kind} {data}")),
        _ => Err("expected a public key in OpenSSH form".to_owned()),
    }
}

/// `~` is the home folder; other relative paths begin at the spec's folder.
pub(crate) fn expand(app: &App, path: &str) -> PathBuf {
    expand_beside(app, &app.global.file, path)
}

/// The same beside another spec.
pub(crate) fn expand_beside(app: &App, spec: &Path, path: &str) -> PathBuf {
    let home = app
        .environment
        .get("HOME")
        .or_else(|| app.environment.get("USERPROFILE"));
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => spec.parent().unwrap_or_else(|| Path::new("")).join(path),
    }
}

/// The folder of a stack's key pair.
fn folder(stack: &str) -> PathBuf {
    Path::new(".tensorform").join("keys").join(stack)
}

/// The file of the private key of a stack's own pair.
pub(crate) fn private_file(stack: &str) -> PathBuf {
    folder(stack).join("id_ed25519")
}

/// The public key of the stack's own pair, made where there is none yet.
///
/// # Errors
/// The pair cannot be read or written.
pub(crate) fn generated(stack: &str) -> Result<String, Stop> {
    let folder = folder(stack);
    let private = private_file(stack);
    let unusable = |what: &str, error: &dyn std::fmt::Display| {
        Stop::because(
            Code::KeyUnusable,
            format!("the key pair `{}` {what}: {error}", private.display()),
        )
        .help("put the right file back, or move the pair away to have a new one made; nodes keep the key they were made with")
    };
    if private.exists() {
        let text =
            fs::read_to_string(&private).map_err(|error| unusable("cannot be read", &error))?;
        let key = PrivateKey::from_openssh(text).map_err(|error| unusable("is damaged", &error))?;
        return openssh(key.public_key()).map_err(|error| unusable("is damaged", &error));
    }
    let mut key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519)
        .map_err(|error| unusable("cannot be made", &error))?;
    key.set_comment(format!("tensorform-{stack}"));
    let text = key
        .to_openssh(LineEnding::LF)
        .map_err(|error| unusable("cannot be made", &error))?;
    fs::create_dir_all(&folder).map_err(|error| unusable("cannot be written", &error))?;
    write_private(&private, text.as_bytes())
        .map_err(|error| unusable("cannot be written", &error))?;
    let public = openssh(key.public_key()).map_err(|error| unusable("cannot be made", &error))?;
    fs::write(
        folder.join("id_ed25519.pub"),
        format!("{public} tensorform-{stack}\n"),
    )
    .map_err(|error| unusable("cannot be written", &error))?;
    Ok(public)
}

fn openssh(key: &PublicKey) -> Result<String, ssh_key::Error> {
    let text = key.to_openssh()?;
    Ok(text
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" "))
}

/// Writes a file that only its owner may read, all of it or nothing.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let unfinished = path.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}
