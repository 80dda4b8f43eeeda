//! Short conversations with a sandbox: each line says what is asked and what comes of it.
//!
//! `PUT vm/a zone=1 → 201 state=Creating` writes a VM and looks at the answer; `wait 8` moves the
//! clock. Names stand for paths, and bodies are the usual ones of these tests.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tensorform_emulator::{Faults, Options, Pages};

use crate::rig::{Reply, Rig, compute, disk, everywhere, group, id, machine, network, set, vm};

/// What follows from one conversation to the next line of it.
struct Talk {
    rig: Rig,
    subnet: String,
    /// The URL of the operation that began last.
    operation: String,
    /// The link of the list that was read last.
    next: String,
}

/// A line taken apart.
struct Line<'a> {
    method: &'a str,
    target: &'a str,
    given: Vec<(&'a str, &'a str)>,
    /// A status, `no answer` or `hangs`.
    outcome: &'a str,
    expected: Vec<(&'a str, &'a str)>,
}

/// Holds a conversation under the rules of a faults file.
pub(crate) async fn hold(faults: &str, lines: &str) {
    let short = lines
        .lines()
        .find_map(|line| line.strip_prefix("pages of ")?.strip_suffix(" VMs"))
        .map(|size| size.parse().expect("a number"));
    let rig = Rig::with(|options| Options {
        pages: Pages {
            virtual_machines: short.unwrap_or(options.pages.virtual_machines),
            ..options.pages
        },
        ..options
    })
    .await;
    let subnet = rig.ground().await;
    let faults = Faults::parse(faults, "faults.yaml").expect("rules");
    rig.sandbox.set_faults(faults);
    let mut talk = Talk {
        rig,
        subnet,
        operation: String::new(),
        next: String::new(),
    };
    for line in lines.lines().filter(|line| !line.starts_with("pages of ")) {
        match line.strip_prefix("wait ") {
            Some(seconds) => talk.rig.pass(seconds.parse().expect("seconds")),
            None => talk.say(&parsed(line), line).await,
        }
    }
}

fn parsed(line: &str) -> Line<'_> {
    let (asked, told) = line.split_once(" → ").expect(line);
    let mut asked = asked.split(' ');
    let method = asked.next().expect("a method");
    let target = asked.next().expect("a target");
    let pair = |word| str::split_once(word, '=').expect(word);
    let (outcome, expected) = match told {
        "no answer" | "hangs" => (told, ""),
        told => told.split_once(' ').unwrap_or((told, "")),
    };
    Line {
        method,
        target,
        given: asked.map(pair).collect(),
        outcome,
        expected: expected.split_whitespace().map(pair).collect(),
    }
}

fn value<'a>(pairs: &[(&str, &'a str)], key: &str) -> Option<&'a str> {
    let found = pairs.iter().find(|(known, _)| *known == key);
    found.map(|(_, value)| *value)
}

fn tags(given: &[(&str, &str)]) -> Value {
    let tags = given.iter().filter_map(|(key, value)| {
        let name = key.strip_prefix("tag.")?;
        Some((name.to_owned(), json!(value)))
    });
    Value::Object(tags.collect())
}

/// The body of a PATCH: sizes, numbers of instances, tags.
fn changes(given: &[(&str, &str)]) -> Value {
    if let Some(size) = value(given, "sku") {
        return json!({"sku": {"name": size}});
    }
    if let Some(size) = value(given, "size") {
        return json!({"properties": {"hardwareProfile": {"vmSize": size}}});
    }
    if let Some(capacity) = value(given, "capacity") {
        let capacity: u64 = capacity.parse().expect("a number");
        return json!({"sku": {"name": "Standard_D4s_v5", "capacity": capacity}});
    }
    json!({"tags": tags(given)})
}

impl Talk {
    async fn say(&mut self, line: &Line<'_>, text: &str) {
        let path = self.path(line);
        let body = self.body(line).map(|body| body.to_string());
        let token = format!("Bearer {}", value(&line.given, "token").unwrap_or("token"));
        let headers = [("authorization", token.as_str())];
        let asked = self
            .rig
            .try_send(line.method, &path, &headers, body.as_deref());
        let fired = self.fired().await;
        let reply = match (line.outcome, value(&line.expected, "after")) {
            ("hangs", _) => {
                tokio::select! {
                    reply = asked => panic!("{text}: answered {reply:?}"),
                    () = self.until_more_than(fired) => return,
                }
            }
            (_, Some(seconds)) => {
                let waiting = async {
                    self.until_more_than(fired).await;
                    self.rig.pass(seconds.parse().expect("seconds"));
                };
                let (reply, ()) = tokio::join!(asked, waiting);
                reply
            }
            (_, None) => asked.await,
        };
        if line.outcome == "no answer" {
            assert!(reply.is_none(), "{text}");
            return;
        }
        let reply = reply.expect(text);
        assert_eq!(
            reply.status.to_string(),
            line.outcome,
            "{text}: {}",
            reply.body
        );
        for (key, wanted) in line.expected.iter().filter(|(key, _)| *key != "after") {
            let found = found(line, &reply, key);
            assert_eq!(found, *wanted, "{text}: {key} in {}", reply.body);
        }
        let begun = reply.header("azure-asyncoperation");
        if !begun.is_empty() {
            begun.clone_into(&mut self.operation);
        }
        reply.text("/nextLink").clone_into(&mut self.next);
    }

    /// How often rules fired so far.
    async fn fired(&self) -> u64 {
        let rules = self.rig.get("/sandbox/faults").await.expect(200);
        let fired = rules
            .items()
            .iter()
            .filter_map(|rule| rule["fired"].as_u64());
        fired.sum()
    }

    /// Waits until a rule has a request that it keeps.
    async fn until_more_than(&self, fired: u64) {
        while self.fired().await <= fired {
            tokio::task::yield_now().await;
        }
    }

    fn path(&self, line: &Line<'_>) -> String {
        let own = |url: &str| url.replace(self.rig.sandbox.endpoint(), "");
        let mut parts = line.target.split('/');
        let (kind, name, rest) = (parts.next(), parts.next(), parts.next());
        match (kind.unwrap_or_default(), name, rest) {
            ("operation", ..) => own(&self.operation),
            ("next", ..) => own(&self.next),
            ("vms", ..) => compute("virtualMachines"),
            ("all-vms", ..) => everywhere("Microsoft.Compute", "virtualMachines", "2024-07-01"),
            ("group", Some(name), Some("tags")) => format!(
                "{}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01",
                id(&group(name))
            ),
            ("group", Some(name), None) => group(name),
            ("usage", ..) => {
                everywhere("Microsoft.Compute", "locations/eastus/usages", "2024-07-01")
            }
            ("vm", Some(name), Some("tags")) => format!(
                "{}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01",
                id(&vm(name))
            ),
            ("vm", Some(name), Some(action)) => {
                compute(&format!("virtualMachines/{name}/{action}"))
            }
            ("vm", Some(name), None) if line.method == "GET" => {
                format!("{}&$expand=instanceView", vm(name))
            }
            ("vm", Some(name), None) => vm(name),
            ("vmss", Some(name), Some("instances")) => {
                compute(&format!("virtualMachineScaleSets/{name}/virtualMachines"))
            }
            ("vmss", Some(name), Some(id)) if id.parse::<u64>().is_ok() => {
                let path = format!("virtualMachineScaleSets/{name}/virtualMachines/{id}");
                format!("{}&$expand=instanceView", compute(&path))
            }
            ("vmss", Some(name), Some(action)) => {
                compute(&format!("virtualMachineScaleSets/{name}/{action}"))
            }
            ("vmss", Some(name), None) => compute(&format!("virtualMachineScaleSets/{name}")),
            ("disk", Some(name), None) => disk(name),
            ("ppg", Some(name), None) => compute(&format!("proximityPlacementGroups/{name}")),
            ("ip", Some(name), None) => network(&format!("publicIPAddresses/{name}")),
            _ => panic!("no path is known for {}", line.target),
        }
    }

    fn body(&self, line: &Line<'_>) -> Option<Value> {
        let kind = line.target.split('/').next().unwrap_or_default();
        if line.target.ends_with("/tags") {
            return Some(json!({"properties": {"tags": tags(&line.given)}}));
        }
        match (line.method, kind) {
            ("PATCH", _) => Some(changes(&line.given)),
            ("POST", "vmss") if line.target.ends_with("/manualupgrade") => {
                Some(json!({"instanceIds": ["*"]}))
            }
            ("PUT", "vm") => Some(self.machine(&line.given)),
            ("PUT", "vmss") => Some(self.scale_set(&line.given)),
            ("PUT", "disk") => Some(json!({
                "location": "eastus",
                "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8},
            })),
            ("POST", "vm") if line.target.ends_with("/runcommand") => Some(json!({
                "commandId": "RunShellScript",
                "script": ["check gpus 60 'nvidia-smi'", "check infiniband 60 'cat'"],
            })),
            ("PUT", "ip" | "ppg") => Some(json!({"location": "eastus"})),
            _ => None,
        }
    }

    fn machine(&self, given: &[(&str, &str)]) -> Value {
        let mut body = machine("Standard_D4s_v5", &self.subnet);
        set(&mut body, "/tags", tags(given));
        for (key, value) in given {
            match *key {
                "zone" => set(&mut body, "/zones", json!([value])),
                "size" => set(
                    &mut body,
                    "/properties/hardwareProfile/vmSize",
                    json!(value),
                ),
                "priority" => set(&mut body, "/properties/priority", json!(value)),
                "eviction" => set(&mut body, "/properties/evictionPolicy", json!(value)),
                "ppg" => {
                    let group = id(&compute(&format!("proximityPlacementGroups/{value}")));
                    let place = "/properties/proximityPlacementGroup";
                    set(&mut body, place, json!({"id": group}));
                }
                _ => assert!(key.starts_with("tag."), "{key}"),
            }
        }
        body
    }

    fn scale_set(&self, given: &[(&str, &str)]) -> Value {
        let machine = machine("Standard_D4s_v5", &self.subnet);
        let mut profile = machine["properties"].clone();
        for (parent, gone) in [
            ("", "hardwareProfile"),
            ("/storageProfile/osDisk", "deleteOption"),
            ("/osProfile", "computerName"),
            (
                "/networkProfile/networkInterfaceConfigurations/0/properties",
                "deleteOption",
            ),
        ] {
            let parent = profile.pointer_mut(parent).and_then(Value::as_object_mut);
            parent.expect("the parent").remove(gone);
        }
        set(&mut profile, "/osProfile/computerNamePrefix", json!("n"));
        for (key, member) in [("priority", "/priority"), ("eviction", "/evictionPolicy")] {
            if let Some(value) = value(given, key) {
                set(&mut profile, member, json!(value));
            }
        }
        let number = |key: &str| value(given, key).map(|text| text.parse::<u64>().expect(key));
        let mut body = json!({
            "location": "eastus",
            "sku": {"name": "Standard_D4s_v5", "capacity": number("capacity").unwrap_or(1)},
            "properties": {
                "upgradePolicy": {"mode": "Manual"},
                "overprovision": false,
                "singlePlacementGroup": value(given, "single") == Some("true"),
                "virtualMachineProfile": profile,
            },
        });
        if value(given, "mode") == Some("Flexible") {
            body["properties"] = json!({
                "orchestrationMode": "Flexible",
                "platformFaultDomainCount": 1,
                "virtualMachineProfile": body["properties"]["virtualMachineProfile"],
            });
            set(
                &mut body,
                "/properties/virtualMachineProfile/networkProfile/networkApiVersion",
                json!("2020-11-01"),
            );
        }
        body
    }
}

/// What a guest printed, at the end of its operation.
fn guest(reply: &Reply) -> &str {
    reply.text("/properties/output/value/0/message")
}

/// The partition keys of a guest's ports.
fn keys(said: &str) -> String {
    let ports = said.lines().filter(|line| line.contains("InfiniBand"));
    let keys: BTreeSet<&str> = ports.filter_map(|line| line.rsplit(',').next()).collect();
    keys.into_iter().collect::<Vec<_>>().join("+")
}

/// What an answer says under a short name.
fn found(line: &Line<'_>, reply: &Reply, key: &str) -> String {
    let text = |pointer: &str| match reply.text(pointer) {
        "" => "-".to_owned(),
        text => text.to_owned(),
    };
    match key {
        "state" => text("/properties/provisioningState"),
        "code" => text("/error/code"),
        "size" => text("/properties/hardwareProfile/vmSize"),
        "message" => reply.text("/error/message").replace([' ', '\n'], "_"),
        "gpus" => guest(reply).matches("NVIDIA").count().to_string(),
        "keys" => keys(guest(reply)),
        "capacity" => reply
            .body
            .pointer("/sku/capacity")
            .map_or("-".to_owned(), Value::to_string),
        "retry-after" => reply.header("retry-after").to_owned(),
        "count" => reply.items().len().to_string(),
        "failed" => {
            let states = reply.items().iter();
            let states = states.filter_map(|item| item["properties"]["provisioningState"].as_str());
            states
                .filter(|state| *state == "Failed")
                .count()
                .to_string()
        }
        "power" => {
            let codes = reply.body.pointer("/properties/instanceView/statuses");
            let mut codes = codes.and_then(Value::as_array).into_iter().flatten();
            codes
                .find_map(|status| status["code"].as_str()?.strip_prefix("PowerState/"))
                .unwrap_or("-")
                .to_owned()
        }
        "limit" => {
            let counter = line.target.split('/').nth(1).unwrap_or_default();
            let found = reply
                .items()
                .iter()
                .find(|item| item["name"]["value"] == counter);
            found.expect(counter)["limit"].to_string()
        }
        _ => {
            let name = key.strip_prefix("tag.").expect(key);
            let own = if line.target.ends_with("/tags") {
                "/properties"
            } else {
                ""
            };
            text(&format!("{own}/tags/{name}"))
        }
    }
}
