//! Recording whole exchanges: everything is there but what is secret.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tensorform_emulator::{Options, Recording};

use crate::rig::{Reply, Rig, compute, machine, set, vm};

fn read(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .expect("the recording")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect()
}

async fn recording(path: &Path) -> Rig {
    let recording = Recording::create(path).expect("a new file");
    Rig::with(|options| Options {
        recording: Some(recording),
        ..options
    })
    .await
}

#[tokio::test]
async fn exchanges_are_written_with_requests_and_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("exchanges.jsonl");
    let rig = recording(&file).await;
    rig.group("rg").await;
    rig.get("/sandbox/counters").await.expect(200);
    let etag = [("If-Match", "\"1\""), ("X-Api-Key", "S1"), ("Cookie", "S2")];
    rig.send_with("GET", &vm("vm1"), &etag, None)
        .await
        .expect(404);
    let lines = read(&file);
    assert_eq!(lines.len(), 2, "the sandbox's own paths are not recorded");
    let Some([made, missing]) = lines.first_chunk() else {
        panic!("expected two lines");
    };
    let at = |value: &Value, pointer: &str| value.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(at(made, "/number"), 1);
    assert_eq!(at(made, "/kind"), "write");
    assert_eq!(at(made, "/request/method"), "PUT");
    assert_eq!(at(made, "/request/body"), json!({"location": "eastus"}));
    let url = at(made, "/request/url");
    let url = url.as_str().expect("a URL");
    assert!(url.starts_with(rig.sandbox.endpoint()), "{url}");
    assert!(
        url.ends_with("/resourceGroups/rg?api-version=2021-04-01"),
        "{url}"
    );
    assert_eq!(at(made, "/response/status"), 201);
    assert_eq!(at(made, "/response/body/name"), "rg");
    assert_eq!(
        at(made, "/response/headers/content-type"),
        "application/json; charset=utf-8"
    );
    assert_eq!(at(missing, "/number"), 2);
    assert_eq!(at(missing, "/request/headers/if-match"), "\"1\"");
    assert_eq!(missing.pointer("/request/body"), None);
    assert_eq!(
        at(missing, "/response/headers/x-ms-failure-cause"),
        "gateway"
    );
    assert_eq!(at(missing, "/response/body/error/code"), "ResourceNotFound");
}

#[tokio::test]
async fn tokens_and_passwords_never_reach_a_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("exchanges.jsonl");
    let rig = recording(&file).await;
    let subnet = rig.ground().await;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let sign_in = "grant_type=client_credentials&client_id=me&client_secret=HIDE-1&scope=x";
    let path = "/22222222-2222-2222-2222-222222222222/oauth2/v2.0/token";
    let token = rig
        .try_send("POST", path, &form, Some(sign_in))
        .await
        .expect("an answer")
        .expect(200);
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/osProfile/adminPassword",
        json!("HIDE-2-Passw0rd!"),
    );
    set(
        &mut body,
        "/properties/osProfile/customData",
        json!("SElERS0z"),
    );
    let bearer = [("authorization", "Bearer HIDE-4")];
    rig.try_send("PUT", &vm("vm1"), &bearer, Some(&body.to_string()))
        .await
        .expect("an answer")
        .expect(201);
    rig.pass(10);
    write_other_secrets(&rig).await;
    let pair = generated_pair(&rig).await;
    let text = fs::read_to_string(&file).expect("the recording");
    for secret in [token.text("/access_token"), pair.text("/privateKey")] {
        assert!(secret.len() > 20, "{secret}");
        let shown = json!(secret).to_string();
        assert!(!text.contains(shown.trim_matches('"')), "{shown}");
    }
    for secret in ["HIDE", "SElERS0z"] {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    assert!(text.contains("azureuser"), "what is no secret stays");
    assert!(text.lines().count() >= 7, "{text}");
}

/// Protected settings of an extension, and a secure parameter of a deployment.
async fn write_other_secrets(rig: &Rig) {
    let extension = json!({"location": "eastus", "properties": {
        "publisher": "Microsoft.Azure.Extensions", "type": "CustomScript",
        "typeHandlerVersion": "2.1", "settings": {},
        "protectedSettings": {"commandToExecute": "HIDE-5"},
    }});
    rig.put(&compute("virtualMachines/vm1/extensions/run"), extension)
        .await
        .expect(201);
    let deployment = json!({"properties": {
        "mode": "Incremental",
        "template": {
            "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
            "contentVersion": "1.0.0.0",
            "parameters": {"pass": {"type": "securestring"}},
            "resources": [],
        },
        "parameters": {"pass": {"value": "HIDE-6"}},
    }});
    let path =
        "/resourcegroups/rg/providers/Microsoft.Resources/deployments/d?api-version=2022-09-01";
    rig.put(
        &format!("/subscriptions/{}{path}", crate::rig::SUBSCRIPTION),
        deployment,
    )
    .await
    .expect(201);
}

/// A key pair that the sandbox made.
async fn generated_pair(rig: &Rig) -> Reply {
    rig.put(
        &compute("sshPublicKeys/made"),
        json!({"location": "eastus"}),
    )
    .await
    .expect(201);
    let generate = compute("sshPublicKeys/made/generateKeyPair");
    let body = json!({"encryptionType": "Ed25519"});
    rig.send("POST", &generate, Some(body)).await.expect(200)
}

#[tokio::test]
async fn a_connection_that_is_closed_is_an_exchange_without_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("exchanges.jsonl");
    let rig = recording(&file).await;
    let rules = r#"{"rules": [{"match": {"method": "GET"}, "then": "drop_before"}]}"#;
    rig.try_send("PUT", "/sandbox/faults", &[], Some(rules))
        .await
        .expect("an answer")
        .expect(204);
    let closed = rig.try_send("GET", &vm("vm1"), &[], None).await;
    assert!(closed.is_none());
    let lines = read(&file);
    let line = lines.first().expect("an exchange");
    assert_eq!(line.get("response"), Some(&Value::Null));
}

#[test]
fn a_recording_does_not_replace_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("exchanges.jsonl");
    fs::write(&file, "kept").expect("a file");
    let refused = Recording::create(&file).expect_err("the file is there");
    assert_eq!(refused.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&file).expect("the file"), "kept");
}
