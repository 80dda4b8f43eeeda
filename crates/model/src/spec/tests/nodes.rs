//! What nodes are given, and what that needs of the stack.

use super::{findings, pool, read};

/// Holds the findings of a text against those expected.
fn conflicts(text: &str, expected: &[&str]) {
    assert_eq!(findings(&read(text)), expected, "{text}");
}

#[test]
fn ways_in_need_nodes_that_can_be_reached() {
    let way = |via: &str, more: &str| {
        format!(
            "version: 1\nname: x1\nlocation: eastus\naccess: {{via: {via}}}\npools:\n  p: {{stage: inference, workload: complex, count: 1, orchestrator: batch}}\n{more}"
        )
    };
    let blocks = "public_ip, ssh_from: [203.0.113.0/24]";
    for (via, word) in [("bastion", "bastion"), (blocks, "public_ip")] {
        let message = format!(
            "SPEC009 4:15 `via: {word}` has no effect with `orchestrator: batch`: nodes of Batch have no public address and no user who could sign in"
        );
        conflicts(&way(via, ""), &[&message]);
        // Nodes of another pool are reached by it.
        let other = "  q: {stage: inference, workload: complex, count: 1}\n";
        conflicts(&way(via, other), &[]);
    }
    conflicts(&way("none", ""), &[]);
}

#[test]
fn pools_of_batch_are_set_up_as_others_are() {
    conflicts(
        &pool(
            "orchestrator: batch\ndisks: {scratch: nvme}\nbootstrap: {script: setup.sh}\nmounts: [{path: /data, source: \"h:/e\", type: nfs}]",
        ),
        &[],
    );
}

#[test]
fn a_registry_needs_an_identity_and_something_that_pulls() {
    let registry = |runtime: &str| {
        pool(&format!(
            "containers: {{runtime: {runtime}, images: [r.azurecr.io/a], registry: r.azurecr.io}}"
        ))
    };
    let needs = |at: &str| {
        format!("SPEC009 {at} `registry` needs `identity`: the registry knows nodes by it")
    };
    conflicts(&registry("docker"), &[&needs("8:71")]);
    let nothing = "SPEC009 8:69 `registry` has no effect with `runtime: none`: nodes pull nothing";
    let images = "SPEC009 8:41 `images` need a runtime that pulls them";
    conflicts(&registry("none"), &[images, nothing, &needs("8:69")]);
    let id = "/subscriptions/s/resourceGroups/r/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i";
    let text = registry("containerd").replace(
        "location: eastus",
        &format!("location: eastus\nidentity: {id}"),
    );
    conflicts(&text, &[]);
    let spec = read(&text).spec.expect("a spec");
    let found = spec.pools["p"].containers.as_ref().expect("containers");
    assert_eq!(found.identity, id.parse().ok());
    let batch =
        text.replace("runtime: containerd", "runtime: docker") + "    orchestrator: batch\n";
    conflicts(
        &batch,
        &[
            "SPEC008 9:71 `registry` is not supported yet with `orchestrator: batch`: this version makes pools without it",
        ],
    );
}

#[test]
fn checkpoints_need_an_identity_that_may_write_them() {
    let checkpoint = "checkpoint: {to: \"https://a.blob.core.windows.net/c\", hook: /data/save}";
    let text = pool(&format!("priority: spot\n{checkpoint}")).replace("inference", "training");
    conflicts(
        &text,
        &["SPEC009 9:17 `checkpoint` needs `identity`: nodes write to the container by it"],
    );
    let id = "/subscriptions/s/resourceGroups/r/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i";
    let text = text.replace(
        "location: eastus",
        &format!("location: eastus\nidentity: {id}"),
    );
    conflicts(&text, &[]);
    // What the tool makes has an identity of its own, and only that can be protected.
    let blob = pool("checkpoint: {to: blob, hook: /data/save, protect: false}");
    conflicts(&blob, &[]);
    conflicts(
        &text.replace("hook: /data/save", "hook: /data/save, protect: true"),
        &[
            "SPEC009 10:86 `protect` has no effect on a container that exists: the tool never deletes it",
        ],
    );
    let spec = read(&text).spec.expect("a spec");
    let found = spec.pools["p"].checkpoint.as_ref().expect("a checkpoint");
    assert_eq!(found.identity, id.parse().ok());
}
