//! A small client of a sandbox in this process, and what both benchmarks build with it.

use std::path::Path;

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tensorform_emulator::{Clock, Opened, Options, SUBSCRIPTION, Sandbox, Speed, World};
use tokio::net::TcpStream;

/// A client with one connection.
pub(crate) struct Client {
    pub(crate) sender: SendRequest<Full<Bytes>>,
    pub(crate) host: String,
}

impl Client {
    pub(crate) async fn connect(endpoint: &str) -> Self {
        let host = endpoint.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&host).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket option");
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .expect("a handshake");
        tokio::spawn(connection);
        Self { sender, host }
    }

    pub(crate) async fn send(&mut self, method: &str, path: &str, body: Option<Value>) -> Value {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.host)
            .header("authorization", "Bearer t")
            .body(Full::new(Bytes::from(body)))
            .expect("a request");
        self.sender.ready().await.expect("a connection");
        let response = self.sender.send_request(request).await.expect("an answer");
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.expect("a body");
        let bytes = bytes.to_bytes();
        assert!(status < 400, "{status} {}", String::from_utf8_lossy(&bytes));
        serde_json::from_slice(&bytes).unwrap_or(Value::Null)
    }
}

/// A path in the group `rg`.
pub(crate) fn in_group(rest: &str, version: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg{rest}?api-version={version}")
}

/// A VM that brings its interface along.
pub(crate) fn machine() -> Value {
    let subnet = in_group(
        "/providers/Microsoft.Network/virtualNetworks/net/subnets/one",
        "",
    );
    let subnet = subnet.split('?').next().unwrap_or_default();
    json!({
        "location": "eastus",
        "tags": {"cluster": "bench"},
        "properties": {
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
            "storageProfile": {
                "imageReference": {
                    "publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2204", "version": "latest",
                },
                "osDisk": {"createOption": "FromImage", "deleteOption": "Delete"},
            },
            "osProfile": {"adminUsername": "azureuser", "adminPassword": "Pass-word-1"},
            "networkProfile": {"networkApiVersion": "2020-11-01", "networkInterfaceConfigurations": [{
                "name": "nic",
                "properties": {"primary": true, "deleteOption": "Delete", "ipConfigurations": [{
                    "name": "ip", "properties": {"subnet": {"id": subnet}},
                }]},
            }]},
        },
    })
}

/// The world of a folder.
pub(crate) fn world(folder: &Path) -> World {
    match World::open(folder).expect("a folder") {
        Opened::Serve(world) => *world,
        Opened::Connect(url) => panic!("served at {url}"),
    }
}

/// A sandbox a thousand times as fast as Azure, and a client of it.
pub(crate) async fn start(folder: &Path) -> (Sandbox, Client) {
    let speed = Speed::new(1_000.0).expect("a speed");
    let options = Options {
        throttling: false,
        ..Options::new(world(folder), Clock::real(speed))
    };
    let sandbox = Sandbox::start(options).await.expect("a sandbox");
    let client = Client::connect(sandbox.endpoint()).await;
    (sandbox, client)
}

/// Makes a group and a network in it, and waits until the network is ready.
pub(crate) async fn lay_ground(client: &mut Client, network: &str) {
    let group = in_group("", "2021-04-01");
    client
        .send("PUT", &group, Some(json!({"location": "eastus"})))
        .await;
    let body = json!({"location": "eastus", "properties": {
        "addressSpace": {"addressPrefixes": ["10.0.0.0/8"]},
        "subnets": [{"name": "one", "properties": {"addressPrefix": "10.0.0.0/16"}}],
    }});
    client.send("PUT", network, Some(body)).await;
    // It takes 3 ms at this speed.
    let ready = Some(json!("Succeeded"));
    while client
        .send("GET", network, None)
        .await
        .pointer("/properties/provisioningState")
        .cloned()
        != ready
    {}
}
