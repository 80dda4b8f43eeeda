//! A sandbox with a clock that stands still, and a client as small as it gets.

use std::{collections::BTreeMap, time::Duration};

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tensorform_emulator::{Clock, Faults, Options, Recording, Sandbox, World};
use tokio::net::TcpStream;

/// A folder that whole exchanges are written to, for a check against the official schemas.
const RECORDINGS: &str = "TENSORFORM_TEST_RECORDINGS";

/// Records what a sandbox does, where somebody wants it.
fn recorded(options: Options) -> Options {
    if options.recording.is_some() {
        return options;
    }
    let recording = std::env::var_os(RECORDINGS).map(|folder| {
        let file = format!("{}.jsonl", uuid::Uuid::new_v4());
        Recording::create(&std::path::Path::new(&folder).join(file)).expect("a new file")
    });
    Options {
        recording,
        ..options
    }
}

/// The subscription of a new world.
pub(crate) const SUBSCRIPTION: &str = tensorform_emulator::SUBSCRIPTION;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Under lower-case names.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Reply {
    /// The text at a JSON pointer; empty where there is none.
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.body
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> &[Value] {
        let list = self.body.get("value").and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    /// The error code, wherever it stands.
    pub(crate) fn code(&self) -> &str {
        self.text("/error/code")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The answer, if it has this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }
}

/// A running sandbox.
pub(crate) struct Rig {
    pub(crate) sandbox: Sandbox,
    pub(crate) clock: Clock,
}

impl Rig {
    /// A sandbox with a world of its own.
    pub(crate) async fn new() -> Self {
        Self::with(|options| options).await
    }

    /// A sandbox with other options than the usual ones.
    pub(crate) async fn with(change: impl FnOnce(Options) -> Options) -> Self {
        Self::serving(World::in_memory(7), Clock::manual(), change).await
    }

    pub(crate) async fn serving(
        world: World,
        clock: Clock,
        change: impl FnOnce(Options) -> Options,
    ) -> Self {
        let options = change(Options::new(world, clock.clone()));
        let options = recorded(options);
        let sandbox = Sandbox::start(options).await.expect("a sandbox");
        Self { sandbox, clock }
    }

    /// A sandbox with a group named `rg` in eastus, and rules from a faults file.
    pub(crate) async fn faulty(faults: &str) -> Self {
        let faults = Faults::parse(faults, "faults.yaml").expect("rules");
        let rig = Self::with(|options| Options { faults, ..options }).await;
        rig.group("rg").await;
        rig
    }

    /// Lets so many seconds pass.
    pub(crate) fn pass(&self, seconds: u64) {
        assert!(self.clock.advance(Duration::from_secs(seconds)));
    }

    /// Sends a request; `None` where the connection was closed instead of an answer.
    pub(crate) async fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Option<Reply> {
        Self::send_to(self.sandbox.endpoint(), method, path, headers, body).await
    }

    /// Sends a request to a sandbox at this URL.
    pub(crate) async fn send_to(
        endpoint: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Option<Reply> {
        let address = endpoint.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&address).await.expect("a connection");
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .expect("a handshake");
        let driver = tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::from(body.unwrap_or_default().to_owned()));
        let response = sender
            .send_request(request.body(body).expect("a request"))
            .await
            .ok()?;
        let (parts, stream) = response.into_parts();
        let bytes = stream.collect().await.ok()?.to_bytes();
        drop(sender);
        let _ = driver.await;
        Some(Reply {
            status: parts.status.as_u16(),
            headers: parts
                .headers
                .iter()
                .map(|(name, value)| {
                    (
                        name.as_str().to_owned(),
                        value.to_str().unwrap_or_default().to_owned(),
                    )
                })
                .collect(),
            body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        })
    }

    /// Sends a request with a token.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        self.send_with(method, path, &[], body).await
    }

    pub(crate) async fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Reply {
        let mut all = vec![("authorization", "Bearer token")];
        all.extend(headers);
        let text = body.map(|body| body.to_string());
        self.try_send(method, path, &all, text.as_deref())
            .await
            .expect("an answer")
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, None).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.send("PUT", path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        self.send("PATCH", path, Some(body)).await
    }

    pub(crate) async fn post(&self, path: &str) -> Reply {
        self.send("POST", path, None).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, None).await
    }

    /// Follows a URL that an answer gave.
    pub(crate) async fn follow(&self, url: &str) -> Reply {
        let path = url
            .strip_prefix(self.sandbox.endpoint())
            .expect("a URL of this sandbox");
        self.get(path).await
    }

    /// Makes a group in eastus.
    pub(crate) async fn group(&self, name: &str) {
        self.put(&group(name), json!({"location": "eastus"}))
            .await
            .expect(201);
    }

    /// Makes a network `net` with a subnet `default` in the group `rg`; answers the subnet's id.
    pub(crate) async fn network(&self) -> String {
        self.put(
            &network("virtualNetworks/net"),
            json!({
                "location": "eastus",
                "properties": {
                    "addressSpace": {"addressPrefixes": ["10.40.0.0/16"]},
                    "subnets": [{"name": "default", "properties": {"addressPrefix": "10.40.0.0/22"}}],
                },
            }),
        )
        .await
        .expect(201);
        self.pass(3);
        id(&network("virtualNetworks/net/subnets/default"))
    }

    /// Makes a VM in a subnet and waits until it runs.
    pub(crate) async fn vm(&self, name: &str, subnet: &str) {
        self.put(&vm(name), machine("Standard_D4s_v5", subnet))
            .await
            .expect(201);
        self.pass(8);
    }

    /// Makes a group `rg` and its network; answers the subnet's id.
    pub(crate) async fn ground(&self) -> String {
        self.group("rg").await;
        self.network().await
    }
}

/// Sets the member at a path in an object whose parents are there.
pub(crate) fn set(body: &mut Value, path: &str, value: Value) {
    let (parent, name) = path.rsplit_once('/').expect("a path");
    let parent = body.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.expect("the parent").insert(name.to_owned(), value);
}

/// A path without its query: a resource id.
pub(crate) fn id(path: &str) -> String {
    path.split('?').next().unwrap_or_default().to_owned()
}

/// The path of a group.
pub(crate) fn group(name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}?api-version=2021-04-01")
}

/// A path of Microsoft.Network in the group `rg`.
pub(crate) fn network(rest: &str) -> String {
    provider("Microsoft.Network", rest, "2024-03-01")
}

/// A path of Microsoft.Compute in the group `rg`.
pub(crate) fn compute(rest: &str) -> String {
    provider("Microsoft.Compute", rest, "2024-07-01")
}

/// A disk of the group `rg`.
pub(crate) fn disk(name: &str) -> String {
    provider("Microsoft.Compute", &format!("disks/{name}"), "2024-03-02")
}

/// A VM of the group `rg`.
pub(crate) fn vm(name: &str) -> String {
    compute(&format!("virtualMachines/{name}"))
}

fn provider(namespace: &str, rest: &str, version: &str) -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/{namespace}/{rest}?api-version={version}"
    )
}

/// A path of a namespace in the whole subscription.
pub(crate) fn everywhere(namespace: &str, rest: &str, version: &str) -> String {
    let joint = if rest.contains('?') { '&' } else { '?' };
    format!(
        "/subscriptions/{SUBSCRIPTION}/providers/{namespace}/{rest}{joint}api-version={version}"
    )
}

/// A public key that reads.
pub(crate) const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN0Sv4SQ3eh1SwPVqPnmXVmXlFGTGQaBvr+kD3FLtNQF test";

/// A VM body that brings its interface along.
pub(crate) fn machine(size: &str, subnet: &str) -> Value {
    json!({
        "location": "eastus",
        "tags": {"team": "ml"},
        "properties": {
            "hardwareProfile": {"vmSize": size},
            "storageProfile": {
                "imageReference": {
                    "publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2204", "version": "latest",
                },
                "osDisk": {"createOption": "FromImage", "deleteOption": "Delete"},
            },
            "osProfile": {
                "computerName": "node",
                "adminUsername": "azureuser",
                "customData": "I2Nsb3VkLWNvbmZpZwo=",
                "linuxConfiguration": {
                    "disablePasswordAuthentication": true,
                    "ssh": {"publicKeys": [{
                        "path": "/home/azureuser/.ssh/authorized_keys", "keyData": KEY,
                    }]},
                },
            },
            "networkProfile": {
                "networkApiVersion": "2020-11-01",
                "networkInterfaceConfigurations": [{
                    "name": "nic",
                    "properties": {
                        "primary": true,
                        "deleteOption": "Delete",
                        "ipConfigurations": [{
                            "name": "ip",
                            "properties": {"primary": true, "subnet": {"id": subnet}},
                        }],
                    },
                }],
            },
        },
    })
}
