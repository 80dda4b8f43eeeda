//! A plan right after an apply is empty, however Azure spells what it answers: letter case,
//! order, members that it adds or leaves out, tags of others.
//!
//! `TENSORFORM_TEST_DRAWS` says how many plans are made; each reads every resource of a stack in
//! a spelling of its own.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use serde_json::{Map, Value, json};

use super::{
    plans::{changes, good, spec},
    stacks::once_in,
    stage::{Stage, run},
};
use crate::harness::Seeded;

/// Plans unless `TENSORFORM_TEST_DRAWS` says. Each is some dozens of resources.
const DRAWS: usize = 300;

/// The least number of resources that are read in a spelling of their own.
const RESOURCES: usize = 10_000;

/// One of each kind, in each of its forms.
pub(super) const EVERYTHING: &str = r#"
version: 1
name: proof
location: eastus
tags: {Team: ml, cost-center: "0042"}
ignore_tags: ["hidden-*", createdBy]
pools:
  nodes:
    stage: training
    workload: small
    count: 2
    grouping: vms
    size: Standard_D4s_v5
    zones: [1, 2]
    disks: {os: {size_gb: 128, type: premium}, data: [{size_gb: 64, type: premium, lun: 0}, {size_gb: 32, type: standard_ssd, lun: 12}]}
  spot:
    stage: inference
    workload: small
    count: 1
    grouping: vms
    size: Standard_E8s_v5
    zones: [1]
    disks: {os: {size_gb: 128, type: premium}}
    priority: {spot: {max_price: 0.25, eviction: deallocate}}
    proximity_placement_group: own
  set:
    stage: inference
    workload: small
    count: 2
    grouping: scale_set
    size: Standard_F8s_v2
    accelerated_networking: true
    zones: [1, 2]
    disks: {os: {size_gb: 128, type: premium}, data: [{size_gb: 64, type: premium, lun: 1}]}
  fabric:
    stage: training
    workload: generative
    count: 2
    size: Standard_ND96isr_H100_v5
    accelerated_networking: true
    disks: {os: {size_gb: 256, type: premium}}
  desktop:
    stage: inference
    workload: small
    os: windows
    password: {from_env: NODE_PASSWORD}
    count: 1
    grouping: vms
    size: Standard_D4s_v5
    zones: [2]
    disks: {os: {size_gb: 256, type: premium}}
"#;

/// One of each kind that a stack has beside its own machines: a Bastion host with its address and
/// its subnet, terms of an image, where checkpoints go, an account of Batch and pools of it.
pub(super) const BESIDE: &str = r#"
version: 1
name: proof
location: eastus
tags: {Team: ml, cost-center: "0042"}
ignore_tags: ["hidden-*", createdBy]
access: {via: bastion}
pools:
  paid:
    stage: inference
    workload: small
    count: 1
    grouping: vms
    size: Standard_D4s_v5
    zones: [1]
    image: {urn: "nvidia:ngc_azure_17_11:ngc-base-version-24_03_4_gen2:latest", accept_terms: true}
    checkpoint: {to: blob, hook: /opt/save}
  fixed:
    stage: training
    workload: small
    count: 2
    size: Standard_D4s_v5
    accelerated_networking: true
    disks: {os: {size_gb: 256, type: premium}}
    orchestrator: batch
    batch: {inter_node: false, task_slots: 1}
  scaled:
    stage: inference
    workload: small
    count: 3
    size: Standard_D2s_v5
    priority: spot
    orchestrator: batch
    batch: {autoscale: {min: 0, every: 10m}, task_slots: 2}
"#;

/// Members whose values are words of a list, which Azure spells as it likes.
const WORDS: [&str; 27] = [
    "access",
    "allocationMethod",
    "caching",
    "createOption",
    "deleteOption",
    "direction",
    "evictionPolicy",
    "exactVersion",
    "hyperVGeneration",
    "location",
    "mode",
    "offer",
    "orchestrationMode",
    "osType",
    "patchMode",
    "priority",
    "protocol",
    "provisioningState",
    "publicIPAddressVersion",
    "publicIPAllocationMethod",
    "publisher",
    "securityType",
    "sku",
    "storageAccountType",
    "tier",
    "type",
    "vmSize",
];

/// Lists whose order means nothing.
const SETS: [&str; 12] = [
    "addressPrefixes",
    "dataDisks",
    "destinationPortRanges",
    "ipConfigurations",
    "networkInterfaces",
    "publicIpAddresses",
    "publicKeys",
    "securityRules",
    "sourceAddressPrefixes",
    "statuses",
    "subnets",
    "value",
];

/// Members with the value that they have where Azure leaves them out.
fn defaults() -> [(&'static str, Value); 4] {
    [
        ("priority", json!("Regular")),
        ("idleTimeoutInMinutes", json!(4)),
        ("defaultOutboundAccess", json!(true)),
        ("securityType", json!("Standard")),
    ]
}

/// The text with some letters in the other case.
fn other_case(random: &mut Seeded, text: &str) -> String {
    text.chars()
        .map(
            |letter| match (random.below(3), letter.is_ascii_lowercase()) {
                (0, true) => letter.to_ascii_uppercase(),
                (0, false) => letter.to_ascii_lowercase(),
                _ => letter,
            },
        )
        .collect()
}

/// Spells an answer anew; answers how many resources were in it.
fn distort(random: &mut Seeded, body: &mut Value) -> usize {
    let mut resources = 0;
    match body {
        Value::Object(members) => {
            resources += usize::from(members.contains_key("id") && members.contains_key("name"));
            distort_members(random, members);
            for (name, member) in members.iter_mut().filter(|(name, _)| *name != "tags") {
                if let Value::Array(items) = member
                    && (SETS.contains(&name.as_str()) || name == "zones")
                {
                    shuffle(random, items);
                }
                resources += distort(random, member);
            }
        }
        Value::Array(items) => {
            for item in items {
                resources += distort(random, item);
            }
        }
        Value::String(text) if text.starts_with("/subscriptions/") => {
            *text = other_case(random, text);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    resources
}

fn distort_members(random: &mut Seeded, members: &mut Map<String, Value>) {
    for (name, default) in defaults() {
        if once_in(random, 2) && members.get(name) == Some(&default) {
            members.remove(name);
        }
    }
    for (name, member) in members.iter_mut() {
        let Value::String(text) = member else {
            continue;
        };
        let is_word = WORDS.contains(&name.as_str());
        if is_word && once_in(random, 2) {
            *text = other_case(random, text);
        }
        if name == "location" && text.eq_ignore_ascii_case("eastus") && once_in(random, 4) {
            "East US".clone_into(text);
        }
    }
    // Sizes are names too, where a SKU has them.
    if let Some(Value::String(name)) = members.get_mut("sku").and_then(|sku| sku.get_mut("name")) {
        *name = other_case(random, name);
    }
    let is_resource = members.contains_key("id") && members.contains_key("properties");
    if is_resource && let Some(Value::Object(tags)) = members.get_mut("tags") {
        distort_tags(random, tags);
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for (name, value) in [
            ("etag", json!("W/\"9\"")),
            (
                "resourceGuid",
                json!("2f1a1f0e-0000-4000-8000-000000000000"),
            ),
            ("timeCreated", json!("2026-08-01T00:00:00.0000000+00:00")),
            ("uniqueId", json!(random.below(1_000_000))),
            ("xyz", json!({"of": ["a", "future", {"version": null}]})),
            ("licenseType", Value::Null),
        ] {
            if once_in(random, 3) {
                properties.entry(name).or_insert(value);
            }
        }
    }
    if is_resource && once_in(random, 3) {
        members
            .entry("systemData")
            .or_insert(json!({"createdBy": "x", "createdAt": "2026-08-01T00:00:00Z"}));
        members.entry("managedBy2").or_insert(Value::Null);
        members.entry("plan").or_insert(Value::Null);
    }
}

fn distort_tags(random: &mut Seeded, tags: &mut Map<String, Value>) {
    let spelt = std::mem::take(tags);
    for (name, value) in spelt {
        tags.insert(other_case(random, &name), value);
    }
    for (name, value) in [
        ("createdBy", "somebody"),
        ("hidden-link:/app", "Resource"),
        ("owner", "ops"),
        ("Environment", ""),
    ] {
        if once_in(random, 2) {
            tags.insert(other_case(random, name), json!(value));
        }
    }
}

fn shuffle(random: &mut Seeded, items: &mut [Value]) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at + 1));
    }
}

/// A stage on which everything was made.
pub(super) async fn made(text: &str) -> Stage {
    let stage = Stage::with(|options| options.throttling = false).await;
    let spec = spec(text);
    let plan = good(stage.plan(&spec, false).await.expect("a world")).expect("a plan");
    let outcome = stage.apply(&plan, "made").await;
    assert!(outcome.reached(), "{outcome:#?}");
    stage
}

/// What a plan says beside its steps.
fn said(planned: &planner::Planned) -> Vec<String> {
    planned
        .diagnostics
        .iter()
        .map(|finding| format!("{} {:?}", finding.code.as_str(), finding.at).to_lowercase())
        .collect()
}

/// Plans so often, each time with answers of another spelling; answers the number of resources.
async fn draw(text: &str, from: u64, next: &AtomicUsize, draws: usize) -> (usize, Vec<String>) {
    let stage = made(text).await;
    let spec = spec(text);
    let planned = stage.plan(&spec, false).await.expect("a world");
    let usual = said(&planned);
    assert_eq!(
        changes(&good(planned).expect("a plan")),
        Vec::<String>::new()
    );
    let (mut resources, mut failed) = (0, Vec::new());
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= draws || failed.len() > 4 {
            return (resources, failed);
        }
        let seed = from.wrapping_add(u64::try_from(at).expect("a small number"));
        let (random, count) = (Mutex::new(Seeded::of(seed)), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        stage.change_answers(Some(Box::new(move |_, body| {
            let mut random = random.lock().expect("no panic here");
            counted.fetch_add(distort(&mut random, body), Ordering::Relaxed);
        })));
        let planned = stage.plan(&spec, false).await.expect("a world");
        stage.change_answers(None);
        stage.take_sent();
        resources += count.load(Ordering::Relaxed);
        let told = said(&planned);
        let open = match good(planned) {
            Ok(plan) => changes(&plan),
            Err(why) => vec![why],
        };
        if !open.is_empty() || told != usual {
            let new: Vec<_> = told.iter().filter(|told| !usual.contains(told)).collect();
            failed.push(format!("seed {seed}: {open:#?} {new:?}"));
        }
    }
}

#[test]
fn no_spelling_of_azure_makes_noise() {
    draw_of(EVERYTHING, RESOURCES);
}

#[test]
fn no_spelling_of_bastion_batch_and_terms_makes_noise() {
    draw_of(BESIDE, 1_000);
}

/// Draws plans of a stack, which must be empty, and of so many resources at least.
#[expect(clippy::print_stdout, reason = "a test tells what it tried")]
fn draw_of(text: &str, least: usize) {
    let draws = std::env::var("TENSORFORM_TEST_DRAWS").ok();
    let draws = draws.map_or(DRAWS, |draws| draws.parse().expect("a number of draws"));
    let (from, begun, next) = (Seeded::new().seed(), Instant::now(), AtomicUsize::new(0));
    let (resources, failed) = thread::scope(|scope| {
        let work = || run(draw(text, from, &next, draws));
        let other = scope.spawn(work);
        let (mut resources, mut failed) = work();
        let (more, others) = other.join().expect("no panic there");
        resources += more;
        failed.extend(others);
        (resources, failed)
    });
    let seconds = begun.elapsed().as_secs_f64();
    println!("{draws} plans of {resources} resources from the seed {from} in {seconds:.1} s");
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(
        draws < DRAWS || resources >= least,
        "{resources} resources are too few"
    );
}

#[test]
fn a_spelling_that_means_something_else_is_seen() {
    run(async {
        let stage = made(EVERYTHING).await;
        stage.change_answers(Some(Box::new(|_, body| {
            let text = body.to_string().replace("\"0042\"", "\"0O42\"");
            *body = serde_json::from_str(&text).expect("JSON");
        })));
        let spec = spec(EVERYTHING);
        let planned = stage.plan(&spec, false).await.expect("a world");
        let open = changes(&good(planned).expect("a plan"));
        assert!(
            !open.is_empty() && open.iter().all(|change| change.contains("cost-center")),
            "{open:#?}"
        );
    });
}
