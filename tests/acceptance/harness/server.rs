//! The sandbox in a process of its own, and its raw API, past the tool and the SDK.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::Child,
};

use serde_json::Value;

/// The subscription of a new sandbox.
pub(crate) const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// A sandbox in a process of its own.
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) endpoint: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The world is whole at any moment; there is nothing to say good-bye to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Of a process that has just started, and says where it listens.
    pub(crate) fn of(mut child: Child) -> Self {
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let told: Value = serde_json::from_str(&line).expect("where it listens");
        let endpoint = told["endpoint"].as_str().expect("an endpoint").to_owned();
        Self { child, endpoint }
    }

    /// One request; answers the status and the text.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let host = self.endpoint.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("somebody listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer raw\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        (status.expect("a status"), body.to_owned())
    }

    /// Whether something is under way on a resource.
    pub(crate) fn is_busy(&self, path: &str) -> bool {
        let (status, body) = self.request("GET", path, None);
        let state = body["properties"]["provisioningState"].as_str();
        // Who asks too often is told nothing.
        status == 429 || status == 200 && state.is_some_and(|state| state.ends_with("ing"))
    }

    /// The same with documents.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let text = body.map(Value::to_string).unwrap_or_default();
        let (status, answer) = self.send(method, path, &text);
        (status, serde_json::from_str(&answer).unwrap_or_default())
    }

    /// Sets the faults; their counts start over.
    pub(crate) fn set_faults(&self, faults: &Value) {
        let (status, answer) = self.request("PUT", "/sandbox/faults", Some(faults));
        assert_eq!(status, 204, "{answer}");
    }

    /// How often each rule acted.
    pub(crate) fn fired(&self) -> u64 {
        let (_, faults) = self.request("GET", "/sandbox/faults", None);
        let rules = faults["value"].as_array().expect("rules");
        rules.iter().filter_map(|rule| rule["fired"].as_u64()).sum()
    }

    /// Ends all faults.
    pub(crate) fn calm(&self) {
        let (status, _) = self.request("DELETE", "/sandbox/faults", None);
        assert_eq!(status, 204);
    }

    /// Forgets the requests so far.
    pub(crate) fn forget(&self) {
        let (status, _) = self.request("DELETE", "/sandbox/log", None);
        assert_eq!(status, 204);
    }

    /// The requests since the last time they were forgotten.
    pub(crate) fn log(&self) -> Vec<Value> {
        let (_, log) = self.request("GET", "/sandbox/log", None);
        log["value"].as_array().expect("records").clone()
    }

    /// The writes among them, as `METHOD path`.
    pub(crate) fn writes(&self) -> Vec<String> {
        let log = self.log();
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        log.iter()
            .filter(|record| is_write(record))
            .map(|record| format!("{} {}", text(&record["method"]), text(&record["path"])))
            .collect()
    }

    fn list(&self, path: &str) -> Vec<Value> {
        let (status, answer) = self.request("GET", path, None);
        if status == 404 {
            return Vec::new();
        }
        assert!(
            answer.get("nextLink").is_none(),
            "small worlds have one page"
        );
        answer["value"].as_array().expect("a list").clone()
    }

    /// The groups and resources of the subscription.
    pub(crate) fn everything(&self) -> Vec<String> {
        let below = format!("/subscriptions/{SUBSCRIPTION}");
        let mut all = self.list(&format!("{below}/resourcegroups?api-version=2021-04-01"));
        all.extend(self.list(&format!("{below}/resources?api-version=2021-04-01")));
        all.iter().map(id).collect()
    }

    /// Resources of a group that neither are in a plan nor belong to a VM that is.
    pub(super) fn orphans(&self, group: &str, planned: &BTreeSet<String>) -> Vec<String> {
        let below = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}");
        let all = self.list(&format!("{below}/resources?api-version=2021-04-01"));
        let others = all.iter().map(id).filter(|id| !planned.contains(id));
        others.filter(|id| !self.is_part(id, planned)).collect()
    }

    fn is_part(&self, id: &str, planned: &BTreeSet<String>) -> bool {
        // What tells how the bootstrap of a node ended goes with the node.
        if let Some(machine) = id.strip_suffix("/extensions/tensorform-ready") {
            return planned.contains(machine);
        }
        let (version, owner) = if id.contains("/microsoft.compute/disks/") {
            ("2024-03-02", "/managedBy")
        } else if id.contains("/microsoft.network/networkinterfaces/") {
            ("2024-07-01", "/properties/virtualMachine/id")
        } else if id.contains("/microsoft.compute/virtualmachines/") {
            ("2024-07-01", "/properties/virtualMachineScaleSet/id")
        } else {
            return false;
        };
        let (_, part) = self.request("GET", &format!("{id}?api-version={version}"), None);
        let owner = part.pointer(owner).and_then(Value::as_str);
        // Disks and interfaces of an instance belong to its set.
        owner
            .map(str::to_lowercase)
            .is_some_and(|owner| planned.contains(&owner) || self.is_part(&owner, planned))
    }

    /// Makes a group with a security group in it, by nobody's stack; answers the id of the latter.
    pub(crate) fn stranger(&self, group: &str, name: &str) -> String {
        let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}");
        if self.body(&group).is_none() {
            let body = serde_json::json!({"location": "eastus"});
            let path = format!("{group}?api-version=2021-04-01");
            assert_eq!(self.request("PUT", &path, Some(&body)).0, 201);
        }
        let id = format!("{group}/providers/Microsoft.Network/networkSecurityGroups/{name}");
        let body = serde_json::json!({"location": "eastus", "tags": {"whose": "a stranger's"}});
        let (status, answer) =
            self.request("PUT", &format!("{id}?api-version=2024-07-01"), Some(&body));
        assert_eq!(status, 201, "{answer}");
        while self.body(&id).expect("it was made")["properties"]["provisioningState"] != "Succeeded"
        {
            std::thread::yield_now();
        }
        id
    }

    /// Makes an interface of nobody's stack in a subnet; answers its id.
    pub(crate) fn strange_interface(&self, group: &str, name: &str, subnet: &str) -> String {
        let id = format!(
            "/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Network/networkInterfaces/{name}"
        );
        let body = serde_json::json!({"location": "eastus", "properties": {"ipConfigurations": [
            {"name": "primary", "properties": {"subnet": {"id": subnet}}}]}});
        let (status, answer) =
            self.request("PUT", &format!("{id}?api-version=2024-07-01"), Some(&body));
        assert_eq!(status, 201, "{answer}");
        id
    }

    /// What is at an id; nothing where it is absent.
    pub(crate) fn body(&self, id: &str) -> Option<Value> {
        let version = if id.contains("/providers/") {
            "2024-07-01"
        } else {
            "2021-04-01"
        };
        let (status, body) = self.request("GET", &format!("{id}?api-version={version}"), None);
        (status == 200).then_some(body)
    }
}

fn id(resource: &Value) -> String {
    resource["id"].as_str().expect("an id").to_lowercase()
}

/// Whether a request of the log may change something. Some questions are asked by POST.
pub(crate) fn is_write(record: &Value) -> bool {
    let path = record["path"].as_str().unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let asks = ["/checkPolicyRestrictions", "/placementScores/spot/generate"];
    record["method"] != "GET"
        && record["kind"] != "token"
        && !asks.iter().any(|end| path.ends_with(end))
}
