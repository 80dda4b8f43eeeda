//! The life of each example: planned, applied, unchanged, changed, destroyed. After each change
//! the plan does what must be done for it and nothing else.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::harness::{Place, Server, root};

/// A change of a spec, and what it leads to.
struct Change {
    /// A part of the spec, and what stands there afterwards.
    edit: (&'static str, &'static str),
    /// Whether it is refused, and nothing written, until `--allow-stop` is given.
    needs_permission: bool,
    /// Every step that does something, as `address: action`.
    expected: &'static [&'static str],
}

impl Change {
    const fn new(old: &'static str, new: &'static str, expected: &'static [&'static str]) -> Self {
        Self {
            edit: (old, new),
            needs_permission: false,
            expected,
        }
    }

    const fn with_permission(mut self) -> Self {
        self.needs_permission = true;
        self
    }
}

/// The examples that are lived through.
const LIVES: &[(&str, &[Change])] = &[
    (
        "training-generative",
        &[
            // A subnet takes no tags.
            Change::new(
                "team: language",
                "team: speech",
                &[
                    "resource_group: update",
                    "network.nat_ip: update",
                    "network.nsg: update",
                    "network.vnet: update",
                    "network.nat: update",
                    "access.ssh_key: update",
                    "pool.train[0].data_disk[0]: update",
                    "pool.train[0].vm: update",
                ],
            ),
            // Other hardware.
            Change::new(
                "    count: 1",
                "    count: 1\n    size: Standard_ND96amsr_A100_v4",
                &["pool.train[0].vm: stop_update"],
            )
            .with_permission(),
        ],
    ),
    (
        "training-cluster",
        &[
            Change::new("count: 4", "count: 6", &["pool.train.scale_set: update"]),
            Change::new(
                "team: language",
                "team: speech",
                &[
                    "resource_group: update",
                    "network.nat_ip: update",
                    "network.nsg: update",
                    "network.vnet: update",
                    "network.nat: update",
                    "access.ssh_key: update",
                    "pool.train.scale_set: update",
                ],
            ),
            Change::new("count: 6", "count: 3", &["pool.train.scale_set: update"]),
            // Other hardware for all of them.
            Change::new(
                "gpu: [H100]",
                "gpu: [A100-80]",
                &["pool.train.scale_set: replace"],
            )
            .with_permission(),
        ],
    ),
    (
        "training-lora",
        &[
            Change::new("count: 1", "count: 2", &["pool.tune[1].vm: create"]),
            // Set up otherwise, and the spec says what happens then.
            Change::new(
                "disks: {scratch: nvme}",
                "disks: {scratch: none}",
                &["pool.tune[0].vm: replace", "pool.tune[1].vm: replace"],
            ),
        ],
    ),
    (
        "training-spot",
        &[
            // What is written is never deleted by chance, until the spec says so.
            Change::new(
                "hook: /opt/tensorform/save",
                "hook: /opt/tensorform/save, protect: false",
                &["checkpoint.account: update"],
            ),
            Change::new("count: 2", "count: 3", &["pool.train[2].vm: create"]),
        ],
    ),
    (
        "training-complex",
        &[
            Change::new(
                "lun: 1}",
                "lun: 1}\n        - {size_gb: 256, type: premium, lun: 2}",
                &[
                    "pool.train[0].data_disk[2]: create",
                    "pool.train[0].vm: update",
                ],
            ),
            Change::new(
                "security: trusted_launch",
                "security: standard",
                &["pool.train[0].vm: replace"],
            )
            .with_permission(),
        ],
    ),
    (
        "training-small",
        &[
            Change::new("count: 2", "count: 3", &["pool.train[2].vm: create"]),
            // The same hardware.
            Change::new(
                "    count: 3",
                "    count: 3\n    size: Standard_E16s_v7",
                &[
                    "pool.train[0].vm: restart_update",
                    "pool.train[1].vm: restart_update",
                    "pool.train[2].vm: restart_update",
                ],
            ),
            Change::new(
                "count: 3",
                "count: 1",
                &["pool.train[1].vm: delete", "pool.train[2].vm: delete"],
            ),
        ],
    ),
    (
        "inference-generative",
        &[
            Change::new(
                "    count: 2",
                "    count: 2\n    image: {urn: \"microsoft-dsvm:ubuntu-hpc:2204:latest\"}",
                &["pool.serve[0].vm: replace", "pool.serve[1].vm: replace"],
            )
            .with_permission(),
            Change::new("count: 2", "count: 1", &["pool.serve[1].vm: delete"]),
        ],
    ),
    (
        "inference-complex",
        &[
            Change::new(
                "{eviction: delete}",
                "{eviction: delete, max_price: 0.4}",
                &[
                    "pool.serve[0].vm: stop_update",
                    "pool.serve[1].vm: stop_update",
                    "pool.serve[2].vm: stop_update",
                ],
            )
            .with_permission(),
            Change::new(
                "{spot: {eviction: delete, max_price: 0.4}}",
                "regular",
                &[
                    "pool.serve[0].vm: replace",
                    "pool.serve[1].vm: replace",
                    "pool.serve[2].vm: replace",
                ],
            )
            .with_permission(),
        ],
    ),
    (
        "aks",
        &[
            Change::new("count: 8", "count: 9", &["pool.serve.agent_pool: update"]),
            Change::new(
                "{labels: {team: language}}",
                "{labels: {team: speech}}",
                &["pool.train.agent_pool: update"],
            ),
            Change::new("{count: 2}", "{count: 3}", &["aks.cluster: update"]),
            Change::new(
                "tags: {team: language}",
                "tags: {team: speech}",
                &[
                    "resource_group: update",
                    "network.nat_ip: update",
                    "network.nsg: update",
                    "network.vnet: update",
                    "network.nat: update",
                    "aks.cluster: update",
                    "pool.serve.agent_pool: update",
                    "pool.train.agent_pool: update",
                ],
            ),
            // Who installs the driver is decided when a pool is made.
            Change::new(
                "aks: {labels: {team: speech}}",
                "aks: {labels: {team: speech}, gpu_driver: none}",
                &["pool.train.agent_pool: replace"],
            )
            .with_permission(),
        ],
    ),
    (
        "cyclecloud",
        &[
            Change::new("count: 4", "count: 6", &["pool.train.node_array: update"]),
            Change::new(
                "size: Standard_F4s_v2",
                "size: Standard_F8s_v2",
                &["pool.small.node_array: update"],
            ),
            Change::new(
                "name: sims\n",
                "name: sims\ntags: {team: physics}\n",
                &[
                    "resource_group: update",
                    "network.nat_ip: update",
                    "network.nsg: update",
                    "network.vnet: update",
                    "network.nat: update",
                    "access.ssh_key: update",
                    "pool.cyclecloud-server[0].vm: update",
                    "pool.small.node_array: update",
                    "pool.train.node_array: update",
                ],
            ),
        ],
    ),
    (
        "batch",
        &[
            Change::new("count: 2", "count: 3", &["pool.train.batch_pool: update"]),
            Change::new("min: 0", "min: 1", &["pool.score.batch_pool: update"]),
            Change::new(
                "team: language",
                "team: speech",
                &[
                    "resource_group: update",
                    "network.nat_ip: update",
                    "network.nsg: update",
                    "network.vnet: update",
                    "network.nat: update",
                    "batch.account: update",
                    "pool.score.batch_pool: update",
                    "pool.train.batch_pool: update",
                ],
            ),
            // Other hardware for all of them.
            Change::new(
                "gpu: [A100-80]",
                "gpu: [H100]",
                &["pool.train.batch_pool: replace"],
            )
            .with_permission(),
        ],
    ),
    (
        "inference-node-disks",
        &[
            // From a SCSI controller to an NVMe one, which goes along.
            Change::new(
                "Standard_D4s_v5",
                "Standard_D4s_v6",
                &["pool.tools[0].vm: stop_update"],
            )
            .with_permission(),
            // What is on the node does not outlive a resize.
            Change::new(
                "Standard_D8ds_v6",
                "Standard_D16ds_v6",
                &["pool.serve[0].vm: replace", "pool.serve[1].vm: replace"],
            )
            .with_permission(),
            Change::new(
                "disks: {os: {ephemeral: auto}}",
                "disks: {os: {ephemeral: none}}",
                &["pool.serve[0].vm: replace", "pool.serve[1].vm: replace"],
            )
            .with_permission(),
        ],
    ),
    (
        "inference-small",
        &[
            Change::new(
                "default: \"3\"",
                "default: \"2\"",
                &["pool.serve[2].vm: delete"],
            ),
            Change::new(
                "outbound: none",
                "outbound: nat",
                &[
                    "network.nat_ip: create",
                    "network.nat: create",
                    "network.subnet: update",
                ],
            ),
        ],
    ),
];

fn text(name: &str) -> String {
    let path = root().join("examples").join(format!("{name}.yaml"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The steps of a plan that do something.
fn doing(plan: &Value) -> BTreeSet<String> {
    let word = |value: &Value| value.as_str().expect("text").to_owned();
    let steps = plan["steps"].as_array().expect("steps").iter();
    steps
        .filter(|step| step["action"] != "noop")
        .map(|step| format!("{}: {}", word(&step["address"]), word(&step["action"])))
        .collect()
}

/// A plan that must end with this code.
#[track_caller]
fn planned(place: &Place, flags: &[&str], code: i32, what: &str) -> Value {
    let arguments = ["plan", "--detailed-exitcode", "-o", "json"];
    let ran = place.sandbox(&[&arguments, flags].concat());
    ran.exits(code, what).json()
}

#[track_caller]
fn nothing_to_do(place: &Place, what: &str) {
    let plan = planned(place, &[], 0, what);
    assert!(!plan["steps"].as_array().expect("steps").is_empty());
    assert_eq!(doing(&plan), BTreeSet::new(), "{what}");
}

/// Makes a change, once it is planned as expected.
fn change(place: &Place, server: &Server, what: &str, change: &Change) {
    let Change {
        edit: (old, new),
        needs_permission,
        expected,
    } = *change;
    let what = &format!("{what}: {old} => {new}");
    let spec = fs::read_to_string(place.path("tensorform.yaml")).expect("the spec");
    assert_eq!(spec.matches(old).count(), 1, "{what}: it stands there once");
    place.write("tensorform.yaml", &spec.replacen(old, new, 1));
    if needs_permission {
        server.forget();
        let refused = place.sandbox(&["apply", "--yes"]).exits(4, what);
        assert!(refused.stderr.contains("error[CHANGE001]"), "{what}");
        assert_eq!(server.writes(), Vec::<String>::new(), "{what}");
    }
    let flags: &[&str] = if needs_permission {
        &["--allow-stop"]
    } else {
        &[]
    };
    let plan = planned(place, flags, 2, what);
    let expected: BTreeSet<String> = expected.iter().map(|step| (*step).to_owned()).collect();
    assert_eq!(doing(&plan), expected, "{what}");
    place
        .sandbox(&[&["apply", "--yes"], flags].concat())
        .exits(0, what);
    nothing_to_do(place, what);
}

/// Makes the identities that a spec names, and tells what is there then: they are there before a
/// stack that uses them, and stay.
fn make_identities(server: &Server, spec: &str) -> Vec<String> {
    let ids = spec.lines().filter_map(|line| {
        let id = line.trim().strip_prefix("identity: ")?;
        id.starts_with('/').then_some(id)
    });
    let place = json!({"location": "eastus"});
    for id in ids {
        let (group, _) = id.split_once("/providers/").expect("the id of an identity");
        for (path, version) in [(group, "2021-04-01"), (id, "2023-01-31")] {
            let path = format!("{path}?api-version={version}");
            let (status, answer) = server.request("PUT", &path, Some(&place));
            assert!(status < 300, "{answer}");
        }
    }
    server.forget();
    server.everything()
}

/// Lives through an example.
fn live(name: &str, changes: &[Change]) {
    let place = Place::new(&text(name));
    assert!(!place.path(".ssh").exists(), "the home has no keys");
    let server = place.serve(1_000);
    let beside = make_identities(&server, &text(name));
    let first = planned(&place, &[], 2, name);
    let counts = first["counts"].as_object().expect("counts");
    let others = counts.iter().filter(|(action, _)| *action != "create");
    assert!(
        others.clone().count() > 3 && others.clone().all(|(_, count)| *count == 0),
        "{name}: {counts:?}"
    );
    assert_eq!(server.everything(), beside, "{name}: a plan writes nothing");
    place.sandbox(&["apply", "--yes"]).exits(0, name);
    nothing_to_do(&place, name);
    for one in changes {
        change(&place, &server, name, one);
    }
    place.is_as_planned(&server, name);
    place.sandbox(&["destroy", "--yes"]).exits(0, name);
    assert_eq!(server.everything(), beside, "{name}: nothing is left");
}

/// A test for each example, so that they run side by side.
macro_rules! lives {
    ($($test:ident = $example:literal,)+) => {
        const TESTED: &[&str] = &[$($example,)+];

        $(#[test]
        fn $test() {
            let (name, changes) = LIVES
                .iter()
                .find(|(name, _)| *name == $example)
                .expect("a life for each test");
            live(name, changes);
        })+
    };
}

lives! {
    training_generative_lives = "training-generative",
    training_cluster_lives = "training-cluster",
    training_complex_lives = "training-complex",
    training_lora_lives = "training-lora",
    training_spot_lives = "training-spot",
    training_small_lives = "training-small",
    inference_generative_lives = "inference-generative",
    inference_complex_lives = "inference-complex",
    inference_node_disks_lives = "inference-node-disks",
    inference_small_lives = "inference-small",
    batch_lives = "batch",
    aks_lives = "aks",
    cyclecloud_lives = "cyclecloud",
}

#[test]
fn every_example_is_lived_through() {
    let files = fs::read_dir(root().join("examples")).expect("the examples");
    let found: BTreeSet<String> = files
        .flatten()
        .filter_map(|entry| {
            Some(
                entry
                    .file_name()
                    .to_str()?
                    .strip_suffix(".yaml")?
                    .to_owned(),
            )
        })
        .collect();
    let tested: BTreeSet<String> = TESTED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, tested);
}
