//! Secrets are refused, and neither messages nor the text that is shown repeat them.

use super::{check_help, findings, pool, read, top};
use crate::spec::ssh::tests::key;

const PRIVATE: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n        c2VjcmV0LXNlY3JldA==\n        -----END OPENSSH PRIVATE KEY-----\n";

fn shows_no(secret: &str, text: &str) {
    let parsed = read(text);
    for finding in parsed.diagnostics.iter() {
        assert!(!format!("{finding:?}").contains(secret), "{finding:?}");
    }
    assert!(
        !parsed.spans.text().contains(secret),
        "{}",
        parsed.spans.text()
    );
    assert_eq!(parsed.spans.text().len(), text.len());
    assert_eq!(parsed.spans.text().lines().count(), text.lines().count());
}

#[test]
fn private_keys_are_refused_and_not_shown() {
    for keys in [
        format!("access:\n  ssh_keys:\n    - |\n        {PRIVATE}"),
        format!("access:\n  ssh_keys: |\n        {PRIVATE}"),
        format!("access:\n  user: |\n        {PRIVATE}"),
        format!("nmae: |\n        {PRIVATE}"),
        format!("access: [\n\n        {PRIVATE}"),
    ] {
        shows_no("c2VjcmV0", &top(&keys));
    }
    let found = findings(&read(&top(&format!(
        "access:\n  ssh_keys:\n    - |\n        {PRIVATE}"
    ))));
    assert_eq!(
        found,
        [
            "SPEC012 11:9 `ssh_keys[0]` takes a public key or its file such as `~/.ssh/id_ed25519.pub`, found a text with a secret: this is a private key"
        ]
    );
}

#[test]
fn public_keys_are_of_a_kind_that_azure_takes() {
    let ed25519 = key("ssh-ed25519", &[&[7; 32]]);
    let spec = read(&top(&format!(
        "access: {{ssh_keys: [{ed25519}, ~/.ssh/b.pub]}}"
    )))
    .spec;
    assert!(spec.is_some());
    let short = key("ssh-rsa", &[&[1, 0, 1], &[0xff; 128]]);
    let takes = "`ssh_keys[0]` takes a public key or its file such as `~/.ssh/id_ed25519.pub`, found something else";
    for (given, reason, help) in [
        (
            short,
            ": the RSA key has 1024 bits, Azure takes 2048 or more",
            "make a key with `ssh-keygen -t ed25519`, or use `ssh_keys: generate`",
        ),
        (
            key("ssh-dss", &[&[1; 128]]),
            ": keys of type `ssh-dss` are not taken by Azure",
            "make a key with `ssh-keygen -t ed25519`, or use `ssh_keys: generate`",
        ),
        (
            "ssh-rsa AAAA".to_owned(),
            ": this is no complete key of the form `ssh-ed25519 AAAA… comment`",
            "copy the one line of the `.pub` file as a whole",
        ),
        (
            "~/.ssh/id_ed25519".to_owned(),
            ": that is the name of a private key's file",
            "write `~/.ssh/id_ed25519.pub`",
        ),
        (
            "generate".to_owned(),
            "",
            "write `ssh_keys: generate`, without a list",
        ),
    ] {
        check_help(
            &top(&format!("access: {{ssh_keys: [{given}]}}")),
            &format!("SPEC006 8:21 {takes}{reason}"),
            &[help],
        );
    }
}

#[test]
fn passwords_come_from_the_environment() {
    let text = pool("os: windows\npassword: hunter2");
    let found = findings(&read(&text));
    assert!(
        found.contains(
            &"SPEC012 9:15 `password` takes a block of `from_env`, found a text that may be a secret"
                .to_owned()
        ),
        "{found:?}"
    );
    shows_no("hunter2", &text);
    shows_no("hunter2", &pool("password: 'hunter2' # x"));
}

#[test]
fn urls_carry_no_keys() {
    let text = pool("checkpoint: {to: \"https://a.blob.core.windows.net/c?sv=1&sig=hunter2\"}");
    let found = findings(&read(&text));
    assert!(
        found
            .iter()
            .any(|finding| finding.starts_with("SPEC012 8:22 `to` takes")),
        "{found:?}"
    );
    shows_no("hunter2", &text);
}

#[test]
fn values_of_unknown_keys_that_sound_secret_are_not_shown() {
    for key in [
        "passwrd",
        "admin_password",
        "client-secret",
        "accessToken",
        "account_key",
    ] {
        shows_no("hunter2", &pool(&format!("{key}: hunter2")));
        shows_no("hunter2", &pool(&format!("disks: {{{key}: hunter2}}")));
        shows_no("hunter2", &pool(&format!("{key}: {{a: [hunter2]}}")));
    }
    let text = pool("sizee: hunter2");
    assert!(read(&text).spans.text().contains("hunter2"));
}
