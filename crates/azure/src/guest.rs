//! Scripts run in guests: by the VM's agent, over ARM, without any way in over the network.

use std::time::Duration;

use azure_core::Method;
use futures::{StreamExt, stream};
use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{client::Client, error::chain, lro::drive, versions};

/// Guests that are asked at the same time. Azure lets one subscription write to 500 VMs a minute
/// in a region and each script takes a minute or so, so that this many stay far below it.
const AT_ONCE: usize = 48;
/// How long one guest may take. The script gives up by itself after ten minutes.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// A guest and the script for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestScript {
    /// The VM, or the instance of a Uniform scale set.
    pub machine: ArmId,
    /// What is run, by `sh`.
    pub script: String,
}

/// Runs scripts in guests, a bounded number at a time. For each: what it printed, or why nobody
/// knows. Azure keeps the last 4,096 bytes.
pub async fn run_in_guests(
    client: &Client,
    scripts: &[GuestScript],
) -> Vec<Result<String, String>> {
    stream::iter(scripts)
        .map(|script| run(client, script))
        .buffered(AT_ONCE)
        .collect()
        .await
}

async fn run(client: &Client, guest: &GuestScript) -> Result<String, String> {
    let path = format!("{}/runCommand", guest.machine);
    let query = [("api-version", versions::COMPUTE)];
    let call = client.call_at(Method::Post, &path, &query);
    let lines: Vec<&str> = guest.script.lines().collect();
    let call = call
        .map_err(|error| chain(&error))?
        .body(json!({"commandId": "RunShellScript", "script": lines}));
    let first = client.send(&call).await.map_err(|error| error.reason())?;
    let deadline = client.clock().now().saturating_add(PATIENCE);
    let done = drive::follow(client, &call, &first, deadline, &mut |_| {}).await;
    let result = done.map_err(|error| chain(&error))?;
    result
        .as_ref()
        .and_then(printed)
        .ok_or_else(|| "Azure's answer has no output of the script".to_owned())
}

/// What a script printed, from the message that has both of its outputs.
fn printed(result: &Value) -> Option<String> {
    let message = result.pointer("/value/0/message").and_then(Value::as_str)?;
    let (_, output) = message.split_once("[stdout]")?;
    let output = output
        .rsplit_once("[stderr]")
        .map_or(output, |(out, _)| out);
    Some(output.trim_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Act, Server};

    fn guest() -> GuestScript {
        let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/3";
        GuestScript {
            machine: id.parse().expect("an id"),
            script: "echo a\necho b\n".to_owned(),
        }
    }

    fn result(message: &str) -> Value {
        json!({"value": [{"code": "ProvisioningState/succeeded", "message": message}]})
    }

    #[test]
    fn what_is_printed_stands_between_the_marks() {
        let read = |message: &str| printed(&result(message));
        let said = "Enable succeeded: \n[stdout]\na\nb\n\n[stderr]\nwarning\n";
        assert_eq!(read(said), Some("a\nb".to_owned()));
        assert_eq!(read("[stdout]\n\n[stderr]\n"), Some(String::new()));
        assert_eq!(read("nothing of the kind"), None);
        assert_eq!(printed(&json!({})), None);
    }

    #[tokio::test]
    async fn the_output_comes_with_the_end_of_the_operation() {
        let done = json!({
            "status": "Succeeded",
            "properties": {"output": result("[stdout]\nhello\n[stderr]\n")},
        });
        let server = Server::start(move |seen| match seen.method.as_str() {
            "POST" => Act::empty(202).with("azure-asyncoperation", "/subscriptions/s/op"),
            _ => Act::json(200, &done),
        })
        .await;
        let (client, _) = server.client().await;
        let said = run_in_guests(&client, &[guest()]).await;
        assert_eq!(said, [Ok("hello".to_owned())]);
        let seen = server.seen();
        let posted = seen.iter().find(|seen| seen.method == "POST");
        let posted = posted.expect("a POST");
        assert!(posted.target.contains("/virtualMachines/3/runCommand?"));
        assert_eq!(posted.json()["script"], json!(["echo a", "echo b"]));
    }

    #[tokio::test]
    async fn a_guest_that_cannot_be_asked_is_not_one_that_is_well() {
        let server = Server::start(|_| Act::error(409, "OperationNotAllowed")).await;
        let (client, _) = server.client().await;
        let said = run_in_guests(&client, &[guest(), guest()]).await;
        assert_eq!(said.len(), 2);
        for answer in said {
            let reason = answer.expect_err("a reason");
            assert!(reason.contains("OperationNotAllowed"), "{reason}");
        }
    }
}
