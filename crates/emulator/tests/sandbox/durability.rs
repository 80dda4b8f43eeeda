//! Worlds in folders: they outlive the process that serves them.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::json;
use tensorform_emulator::{Clock, OpenError, Opened, Options, Sandbox, Speed, World};

use crate::{
    rig::{Rig, disk, group, machine, vm},
    scale_sets::{scale_set, uniform},
};

fn open(folder: &Path) -> World {
    match World::open(folder).expect("a whole folder") {
        Opened::Serve(world) => *world,
        Opened::Connect(url) => panic!("somebody serves it at {url}"),
    }
}

/// What a killed process leaves behind: the files as they are now.
fn left_behind(folder: &Path, into: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), into.join(entry.file_name())).expect("a copy");
    }
}

async fn serve(folder: &Path, clock: &Clock) -> Rig {
    Rig::serving(open(folder), clock.clone(), |options| options).await
}

#[tokio::test]
async fn instances_of_a_scale_set_outlive_their_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = tempfile::tempdir().expect("a folder");
    let clock = Clock::manual();
    let rig = serve(folder.path(), &clock).await;
    let subnet = rig.ground().await;
    let pool = scale_set("pool");
    rig.put(&pool, uniform("Standard_D4s_v5", &subnet, 3))
        .await
        .expect(201);
    let instances = scale_set("pool/virtualMachines");
    let before = rig.get(&instances).await.expect(200);
    left_behind(folder.path(), copy.path());
    let next = serve(copy.path(), &clock).await;
    assert_eq!(next.get(&instances).await.expect(200).body, before.body);
    next.pass(48);
    let shown = next.get(&pool).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
    // A snapshot instead of a log.
    next.sandbox.stop().await.expect("a clean stop");
    let last = serve(copy.path(), &clock).await;
    let view = last
        .get(&scale_set("pool/virtualMachines/2/instanceView"))
        .await
        .expect(200);
    assert_eq!(view.text("/statuses/1/code"), "PowerState/running");
}

#[tokio::test]
async fn an_operation_goes_on_in_the_next_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = tempfile::tempdir().expect("a folder");
    let clock = Clock::manual();
    let rig = serve(folder.path(), &clock).await;
    let subnet = rig.ground().await;
    let begun = rig
        .put(&vm("vm1"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    let status = begun
        .header("azure-asyncoperation")
        .replace(rig.sandbox.endpoint(), "");
    left_behind(folder.path(), copy.path());
    let next = serve(copy.path(), &clock).await;
    assert_eq!(
        next.get(&status).await.expect(200).text("/status"),
        "InProgress"
    );
    next.pass(8);
    assert_eq!(
        next.get(&status).await.expect(200).text("/status"),
        "Succeeded"
    );
    let made = next.get(&vm("vm1")).await.expect(200);
    assert_eq!(
        made.text("/properties/vmId"),
        begun.text("/properties/vmId")
    );
    // What ends while nobody serves has ended when somebody does again.
    next.delete(&vm("vm1")).await.expect(202);
    next.sandbox.stop().await.expect("a clean stop");
    rig.pass(27);
    let last = serve(copy.path(), &clock).await;
    last.get(&vm("vm1")).await.expect(404);
}

#[tokio::test]
async fn every_answer_that_was_given_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Clock::manual();
    let rig = serve(folder.path(), &clock).await;
    for at in 0..5 {
        rig.group(&format!("g{at}")).await;
        let copy = tempfile::tempdir().expect("a folder");
        left_behind(folder.path(), copy.path());
        let next = serve(copy.path(), &clock).await;
        for made in 0..=at {
            next.get(&group(&format!("g{made}"))).await.expect(200);
        }
        next.get(&group(&format!("g{}", at + 1))).await.expect(404);
    }
}

#[tokio::test]
async fn a_second_process_is_told_where_to_connect() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Clock::manual();
    let rig = serve(folder.path(), &clock).await;
    match World::open(folder.path()).expect("a served folder") {
        Opened::Connect(url) => assert_eq!(url, rig.sandbox.endpoint()),
        Opened::Serve(_) => panic!("two processes cannot serve one world"),
    }
    rig.group("rg").await;
    rig.sandbox.stop().await.expect("a clean stop");
    let again = serve(folder.path(), &clock).await;
    again.get(&group("rg")).await.expect(200);
}

#[tokio::test]
async fn a_damaged_folder_is_reported_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Clock::manual();
    let rig = serve(folder.path(), &clock).await;
    rig.group("rg").await;
    rig.sandbox.stop().await.expect("a clean stop");
    let snapshot = folder.path().join("world.jsonl");
    let text = std::fs::read_to_string(&snapshot).expect("a snapshot");
    let damaged = text.replace("eastus", "westus");
    assert_ne!(damaged, text);
    std::fs::write(&snapshot, &damaged).expect("a change");
    match World::open(folder.path()) {
        Err(OpenError::Damaged { file, line, .. }) => {
            assert_eq!(file, snapshot);
            assert!(line > 1, "the first line is the heading");
        }
        other => panic!("expected the damage to be found: {other:?}"),
    }
    assert_eq!(
        std::fs::read_to_string(&snapshot).expect("the same"),
        damaged
    );
}

/// A process that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It is gone already where the test got as far as to kill it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Names the folder for the process that the next test starts and kills.
const FOLDER: &str = "TENSORFORM_SANDBOX_TEST_FOLDER";

/// Starts this program once more to serve a folder; answers where it listens.
fn started(folder: &Path) -> (Killed, String) {
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "durability::serves_until_it_is_killed",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut child = Killed(child);
    let lines = BufReader::new(child.0.stdout.take().expect("its output")).lines();
    let endpoint = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("endpoint ").map(|(_, url)| url.to_owned()))
        .expect("an endpoint");
    (child, endpoint)
}

/// The other process of the tests below; on its own it does nothing.
#[tokio::test]
async fn serves_until_it_is_killed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let world = open(Path::new(&folder));
        let options = Options::new(world, Clock::real(Speed::REAL));
        let options = Options {
            throttling: false,
            ..options
        };
        let sandbox = Sandbox::start(options).await.expect("a sandbox");
        println!("endpoint {}", sandbox.endpoint());
        std::future::pending::<()>().await;
    }
}

const HEADERS: [(&str, &str); 1] = [("authorization", "Bearer t")];

#[tokio::test]
async fn a_killed_process_frees_its_folder_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (child, endpoint) = started(folder.path());
    let body = json!({"location": "eastus"}).to_string();
    let made = Rig::send_to(&endpoint, "PUT", &group("rg"), &HEADERS, Some(&body)).await;
    made.expect("an answer").expect(201);
    let told = World::open(folder.path()).expect("a served folder");
    assert!(matches!(told, Opened::Connect(url) if url == endpoint));
    drop(child);
    let next = serve(folder.path(), &Clock::real(Speed::REAL)).await;
    next.get(&group("rg")).await.expect(200);
}

/// Four clients make disks as fast as they can; answers the names of those whose making was
/// answered until the process was killed, after so many answers.
async fn killed_while_written(folder: &Path, after: usize) -> BTreeSet<String> {
    let (child, endpoint) = started(folder);
    let body = json!({"location": "eastus"}).to_string();
    let made = Rig::send_to(&endpoint, "PUT", &group("rg"), &HEADERS, Some(&body)).await;
    made.expect("an answer").expect(201);
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..4 {
        let (tell, endpoint) = (tell.clone(), endpoint.clone());
        clients.spawn(async move {
            let body = json!({"location": "eastus", "properties": {
                "creationData": {"createOption": "Empty"}, "diskSizeGB": 8,
            }});
            let body = body.to_string();
            let address = endpoint.trim_start_matches("http://").to_owned();
            for at in 0.. {
                let name = format!("c{client}-{at}");
                // Without a listener there is no connection, which `send_to` insists on.
                if tokio::net::TcpStream::connect(&address).await.is_err() {
                    break;
                }
                let sent = tokio::spawn({
                    let (endpoint, path, body) = (endpoint.clone(), disk(&name), body.clone());
                    async move { Rig::send_to(&endpoint, "PUT", &path, &HEADERS, Some(&body)).await }
                });
                let Ok(Some(reply)) = sent.await else { break };
                reply.expect(202);
                if tell.send(name).is_err() {
                    break;
                }
            }
        });
    }
    drop(tell);
    let mut answered = BTreeSet::new();
    let mut child = Some(child);
    while let Some(name) = told.recv().await {
        answered.insert(name);
        if answered.len() == after {
            child.take();
        }
    }
    assert!(child.is_none(), "it was killed");
    clients.join_all().await;
    answered
}

#[tokio::test]
async fn a_process_killed_amid_writes_keeps_all_that_it_answered() {
    for after in [1, 10, 40] {
        let folder = tempfile::tempdir().expect("a folder");
        let answered = killed_while_written(folder.path(), after).await;
        assert!(answered.len() >= after);
        let next = serve(folder.path(), &Clock::real(Speed::REAL)).await;
        let found = next.get(&disk("").replace("/disks/", "/disks")).await;
        let found = found.expect(200);
        let there: BTreeSet<String> = found
            .items()
            .iter()
            .filter_map(|disk| Some(disk["name"].as_str()?.to_owned()))
            .collect();
        let lost: Vec<&String> = answered.difference(&there).collect();
        assert!(lost.is_empty(), "{lost:?}");
        // What was under way may be there too: one disk of each client.
        assert!(there.len() <= answered.len() + 4, "{there:?}");
    }
}
