//! How the time of a step grows with what is there already: `cargo bench -p tensorform-emulator --bench growth`.
//!
//! Twice as many VMs may take twice as long; a ratio far above 2 is work that is done again and again.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod client;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tensorform_emulator::SUBSCRIPTION;

use self::client::{Client, in_group, lay_ground, machine, start, world};

/// Each is twice the one before. Others can be given: `… --bench growth -- 8000`.
const COUNTS: [usize; 4] = [500, 1_000, 2_000, 4_000];

fn compute(rest: &str) -> String {
    let rest = format!("/providers/Microsoft.Compute/{rest}");
    in_group(&rest, "2024-07-01")
}

fn network(rest: &str) -> String {
    let rest = format!("/providers/Microsoft.Network/{rest}");
    in_group(&rest, "2024-03-01")
}

/// The steps that are timed, and what each took.
struct Times(Vec<(&'static str, Duration)>);

impl Times {
    async fn of(&mut self, name: &'static str, act: impl Future<Output = ()>) {
        let begun = Instant::now();
        act.await;
        self.0.push((name, begun.elapsed()));
    }
}

/// An interface of its own in the only subnet.
fn interface() -> Value {
    let subnet = machine()
        .pointer("/properties/networkProfile/networkInterfaceConfigurations/0/properties/ipConfigurations/0/properties/subnet")
        .cloned();
    json!({"location": "eastus", "properties": {"ipConfigurations": [
        {"name": "ip", "properties": {"subnet": subnet}},
    ]}})
}

async fn many(
    client: &mut Client,
    method: &str,
    path: impl Fn(usize) -> String,
    count: usize,
    body: Option<Value>,
) {
    for at in 0..count {
        client.send(method, &path(at), body.clone()).await;
    }
}

/// Follows the links of a list to its end.
async fn pages(client: &mut Client, first: String) {
    let mut next = Some(first);
    while let Some(path) = next {
        let page = client.send("GET", &path, None).await;
        let link = page.get("nextLink").and_then(Value::as_str);
        next = link.map(|link| link.replace(&format!("http://{}", client.host), ""));
    }
}

/// The life of so many VMs in a world that is kept in a folder.
async fn live(count: usize) -> Times {
    let folder = tempfile::tempdir().expect("a folder");
    let (sandbox, mut client) = start(folder.path()).await;
    let client = &mut client;
    lay_ground(client, &network("virtualNetworks/net")).await;
    let mut times = Times(Vec::new());
    let vm = |at: usize| compute(&format!("virtualMachines/vm{at:05}"));
    let nic = |at: usize| network(&format!("networkInterfaces/own{at:05}"));
    times
        .of(
            "interfaces made",
            many(client, "PUT", nic, count, Some(interface())),
        )
        .await;
    times
        .of("VMs made", many(client, "PUT", vm, count, Some(machine())))
        .await;
    let list = format!(
        "/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachines?api-version=2024-07-01"
    );
    times
        .of("VMs read one by one", many(client, "GET", vm, count, None))
        .await;
    times.of("VMs listed", pages(client, list)).await;
    times
        .of(
            "VMs tagged",
            many(
                client,
                "PATCH",
                vm,
                count,
                Some(json!({"tags": {"a": "b"}})),
            ),
        )
        .await;
    times
        .of("VMs deleted", many(client, "DELETE", vm, count, None))
        .await;
    times
        .of(
            "interfaces deleted",
            many(client, "DELETE", nic, count, None),
        )
        .await;
    times
        .of("stop", async {
            sandbox.stop().await.expect("a clean stop");
        })
        .await;
    times
        .of("opened again", async { drop(world(folder.path())) })
        .await;
    times
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut counts: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    if counts.is_empty() {
        counts.extend(COUNTS);
    }
    let mut before: Option<(usize, Times)> = None;
    for count in counts {
        let times = runtime.block_on(live(count));
        println!("{count} VMs");
        for (at, (name, took)) in times.0.iter().enumerate() {
            let was = before
                .as_ref()
                .and_then(|(count, times)| Some((count, times.0.get(at)?)));
            let ratio = was.map_or(String::new(), |(count, (_, was))| {
                let ratio = took.as_secs_f64() / was.as_secs_f64();
                format!(", {ratio:.1} times as long as {count}")
            });
            println!("  {name}: {:.2} s{ratio}", took.as_secs_f64());
        }
        before = Some((count, times));
    }
}
