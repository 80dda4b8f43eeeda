//! Secrets stay where they are: no output, log, journal, plan file or world repeats them.

use serde_json::json;

use crate::harness::{Place, two_pools};

/// A word that nothing would say by chance.
const PLANTED: &str = "h7nter2-pl4nted-s3cret";

/// Everything that runs printed, and everything that they wrote; the key pair is meant to be there.
struct Witness {
    place: Place,
    printed: Vec<(String, String)>,
}

impl Witness {
    fn of(place: Place) -> Self {
        Self {
            place,
            printed: Vec::new(),
        }
    }

    /// Runs a command at the highest verbosity, in text and in JSON, and keeps what it prints.
    fn run(&mut self, arguments: &[&str], code: i32) {
        for form in [
            &["-vvv"][..],
            &["-vvv", "-o", "json", "--log-format", "json"],
        ] {
            let all = [form, arguments].concat();
            let ran = self.place.run(&all).exits(code, &all.join(" "));
            self.printed.push((all.join(" "), ran.stdout + &ran.stderr));
        }
    }

    /// Runs a command once: in text.
    fn once(&mut self, arguments: &[&str], code: i32) {
        let all = [&["-vvv"], arguments].concat();
        let ran = self.place.run(&all).exits(code, &all.join(" "));
        self.printed.push((all.join(" "), ran.stdout + &ran.stderr));
    }

    /// Nothing that was printed, and no file but those allowed to, has any of these words.
    fn saw_none_of(&self, words: &[&str], allowed: &[&str]) {
        for word in words {
            for (command, text) in &self.printed {
                assert!(!text.contains(word), "`{command}` prints `{word}`:\n{text}");
            }
            for (path, bytes) in self.place.files() {
                let may = allowed.iter().any(|name| path.ends_with(name));
                let text = String::from_utf8_lossy(&bytes);
                assert!(
                    may || !text.contains(word),
                    "{} has `{word}`",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn a_token_is_sent_and_never_told() {
    let mut place = Place::new(&format!("{}    zones: none\n", two_pools("quiet")));
    let server = place.serve(1_000);
    let planted = |name: &str| (name.to_owned(), PLANTED.to_owned());
    place
        .environment
        .extend(["TENSORFORM_ACCESS_TOKEN", "AZURE_CLIENT_SECRET"].map(planted));
    let mut witness = Witness::of(place);
    let subscription = crate::harness::SUBSCRIPTION;
    let azure = [
        "--endpoint",
        server.endpoint.as_str(),
        "--credential",
        "token",
        "--subscription",
        subscription,
    ];
    let with = |rest: &[&'static str]| -> Vec<String> {
        azure
            .iter()
            .chain(rest)
            .map(|part| (*part).to_owned())
            .collect()
    };
    let mut run = |rest: &[&'static str], code: i32| {
        let all = with(rest);
        witness.once(&all.iter().map(String::as_str).collect::<Vec<_>>(), code);
    };
    run(&["plan"], 0);
    run(&["-o", "json", "--log-format", "json", "plan"], 0);
    run(&["plan", "--out", "saved"], 0);
    server.set_faults(&json!({"rules": [
        {"match": {"method": "PUT", "name": "quiet-serve-0", "count": 1}, "then": {"fail_in_operation": {"code": "AllocationFailed"}}},
        {"match": {"method": "PUT", "name": "quiet-train-0", "count": 1}, "then": "drop_after_acceptance"},
        {"match": {"method": "GET", "name": "quiet-nat", "count": 1}, "then": {"fail_at_begin": {"code": "InternalServerError"}}},
    ]}));
    run(&["apply", "saved", "--yes", "--events", "events"], 3);
    run(
        &[
            "-o",
            "json",
            "--log-format",
            "json",
            "apply",
            "--yes",
            "--events",
            "more",
        ],
        0,
    );
    server.set_faults(
        &json!({"rules": [{"then": {"fail_at_begin": {"code": "AuthorizationFailed"}}}]}),
    );
    run(&["plan"], 1);
    run(&["-o", "json", "apply", "--yes"], 1);
    server.calm();
    run(&["destroy", "--yes"], 0);
    witness.saw_none_of(&[PLANTED], &[]);
    assert!(server.everything().is_empty());
}

#[test]
fn the_secret_of_a_machine_is_sent_and_never_told() {
    let mut place = Place::new(&two_pools("quiet"));
    let server = place.serve(1_000);
    let endpoint = format!("{}/msi/token", server.endpoint);
    place
        .environment
        .insert("IDENTITY_ENDPOINT".to_owned(), endpoint);
    place
        .environment
        .insert("IDENTITY_HEADER".to_owned(), PLANTED.to_owned());
    let mut witness = Witness::of(place);
    let chosen = [
        "--endpoint",
        &server.endpoint,
        "--credential",
        "managed-identity",
        "plan",
    ];
    witness.run(&chosen, 0);
    // What every token of the sandbox begins with.
    witness.saw_none_of(&[PLANTED, "eyJ0eXAi"], &[]);
}

#[test]
fn a_client_secret_that_gets_no_token_is_not_told() {
    let mut place = Place::new(&two_pools("quiet"));
    let server = place.serve(1_000);
    let variables = [
        ("AZURE_TENANT_ID", "22222222-2222-2222-2222-222222222222"),
        ("AZURE_CLIENT_ID", "33333333-3333-3333-3333-333333333333"),
        ("AZURE_CLIENT_SECRET", PLANTED),
    ];
    place
        .environment
        .extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // Nobody speaks TLS there.
    let authority = server.endpoint.replace("http:", "https:");
    place
        .environment
        .insert("AZURE_AUTHORITY_HOST".to_owned(), authority);
    let mut witness = Witness::of(place);
    let endpoint = ["-o", "json", "--endpoint", &server.endpoint];
    witness.once(&[&endpoint[2..], &["plan"]].concat(), 1);
    let named = ["--credential", "client-secret", "apply", "--yes"];
    witness.once(&[&endpoint[..], &named].concat(), 1);
    witness.saw_none_of(&[PLANTED], &[]);
}

#[test]
fn a_secret_in_the_spec_is_refused_and_not_repeated() {
    let private = format!(
        "-----BEGIN OPENSSH PRIVATE KEY-----\n        {PLANTED}\n        -----END OPENSSH PRIVATE KEY-----\n"
    );
    let spec = two_pools("quiet");
    let cases = [
        spec.replace(
            "pools:",
            &format!("access:\n  ssh_keys:\n    - |\n        {private}pools:"),
        ),
        format!("{spec}    os: windows\n    password: {PLANTED}\n"),
        format!("{spec}    passwrd: {PLANTED}\n"),
        format!(
            "{spec}    checkpoint: {{to: 'https://a.blob.core.windows.net/c?sv=1&sig={PLANTED}'}}\n"
        ),
        format!(
            "{spec}    mounts: [{{path: /data, source: 'https://a.blob.core.windows.net/c?sig={PLANTED}', type: blob_nfs}}]\n"
        ),
        spec.replace("count: 1", "count: ${env.PLANTED}"),
        spec.replace("count: 1", "count: 1\n    allow_stop: ${env.PLANTED}"),
        spec.replace(
            "version: 1",
            "version: 1\nvariables: {word: {default: '${env.PLANTED}', allowed: [a]}}",
        ),
    ];
    for spec in cases {
        let mut place = Place::new(&spec);
        place
            .environment
            .insert("PLANTED".to_owned(), PLANTED.to_owned());
        let mut witness = Witness::of(place);
        witness.run(&["validate"], 1);
        witness.run(&["--sandbox=world", "plan"], 1);
        witness.run(&["--sandbox=world", "apply", "--yes"], 1);
        witness.run(&["--sandbox=world", "destroy", "--yes"], 1);
        witness.saw_none_of(&[PLANTED], &["tensorform.yaml"]);
    }
}

#[test]
fn a_private_key_in_a_file_is_refused_and_not_repeated() {
    let spec = two_pools("quiet").replace("pools:", "access: {ssh_keys: [key.pub]}\npools:");
    let place = Place::new(&spec);
    let private = format!(
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{PLANTED}\n-----END OPENSSH PRIVATE KEY-----\n"
    );
    place.write("key.pub", &private);
    let mut witness = Witness::of(place);
    witness.run(&["--sandbox=world", "plan"], 1);
    witness.place.write("key.pub", &format!("{PLANTED}\n"));
    witness.run(&["--sandbox=world", "apply", "--yes"], 1);
    witness.saw_none_of(&[PLANTED], &["key.pub"]);
}

#[test]
fn the_generated_private_key_stays_in_its_file() {
    let mut witness = Witness::of(Place::new(&two_pools("quiet")));
    witness.once(
        &["--sandbox=world", "apply", "--yes", "--events", "events"],
        0,
    );
    witness.once(
        &["--sandbox=world", "plan", "--destroy", "--out", "saved"],
        0,
    );
    let file = ".tensorform/keys/quiet/id_ed25519";
    let key = std::fs::read_to_string(witness.place.path(file)).expect("a key");
    let lines: Vec<&str> = key.lines().filter(|line| !line.contains("-----")).collect();
    assert!(lines.len() > 3, "a key in lines");
    // The first lines hold the kind and the public part, which may be anywhere.
    witness.saw_none_of(&lines[2..], &[file]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(witness.place.path(file))
            .expect("a file")
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}

#[test]
fn the_password_of_windows_nodes_reaches_azure_alone() {
    let spec = "version: 1\nname: quiet\nlocation: eastus\npools:\n  win: {stage: inference, workload: small, size: Standard_F4as_v6, zones: none, os: windows, password: {from_env: ADMIN_PASSWORD}}\n";
    let mut place = Place::new(spec);
    let server = place.serve(1_000);
    let password = format!("{PLANTED}-Aa1");
    place
        .environment
        .insert("ADMIN_PASSWORD".to_owned(), password.clone());
    place
        .environment
        .insert("TENSORFORM_ACCESS_TOKEN".to_owned(), "any".to_owned());
    let mut witness = Witness::of(place);
    let azure = [
        "--endpoint",
        server.endpoint.as_str(),
        "--credential",
        "token",
    ];
    let with = |rest: &[&'static str]| -> Vec<&str> { [&azure[..], rest].concat() };
    server.set_faults(&json!({"rules": [
        {"match": {"method": "PUT", "name": "quiet-win-0", "count": 1}, "then": {"fail_in_operation": {"code": "AllocationFailed"}}},
    ]}));
    witness.run(&with(&["plan"]), 0);
    witness.once(&with(&["plan", "--out", "saved"]), 0);
    witness.once(&with(&["apply", "saved", "--yes", "--events", "events"]), 3);
    server.calm();
    witness.once(&with(&["apply", "--yes"]), 0);
    witness.run(&with(&["plan"]), 0);
    witness.saw_none_of(&[PLANTED, &password], &[]);
    witness.once(&with(&["destroy", "--yes"]), 0);
    assert!(server.everything().is_empty());
}

#[test]
fn what_nodes_run_has_no_secret_and_nobody_repeats_a_script() {
    let spec = "version: 1\nname: quiet\nlocation: eastus\npools:\n  work: {stage: inference, workload: small, size: Standard_D4ds_v6, zones: none, disks: {scratch: nvme}, bootstrap: {script: setup.sh}}\n";
    let mut place = Place::new(spec);
    let secret = format!("{PLANTED}-of-the-environment");
    let planted = |name: &str| (name.to_owned(), secret.clone());
    place
        .environment
        .extend(["TENSORFORM_ACCESS_TOKEN", "AZURE_CLIENT_SECRET"].map(planted));
    let script = format!("#!/bin/sh\necho {PLANTED}\n");
    place.write("setup.sh", &script);
    let data = place.run(&["bootstrap", "--offline"]).exits(0, "bootstrap");
    assert!(data.stdout.contains(PLANTED), "the script is part of it");
    assert!(!data.stdout.contains(&secret), "{}", data.stdout);
    let mut witness = Witness::of(place);
    witness.once(&["--sandbox=world", "plan", "--out", "saved"], 0);
    witness.run(&["--sandbox=world", "plan"], 0);
    witness.once(
        &[
            "--sandbox=world",
            "apply",
            "saved",
            "--yes",
            "--events",
            "events",
        ],
        0,
    );
    witness.run(&["--sandbox=world", "status"], 0);
    witness.saw_none_of(&[PLANTED, &secret], &["setup.sh"]);
    // A script with what is plainly a secret in it is given to no node.
    let key = "-----BEGIN EC PRIVATE KEY-----";
    witness
        .place
        .write("setup.sh", &format!("{script}# {key}\n"));
    witness.once(&["bootstrap", "--offline"], 1);
    witness.once(&["--sandbox=world", "apply", "--yes"], 1);
    witness.saw_none_of(&[PLANTED, key], &["setup.sh"]);
}
