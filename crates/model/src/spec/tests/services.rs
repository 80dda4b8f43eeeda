//! Keys of pools that a service runs: Batch and AKS.

use super::{conflicts::conflicts, pool};

#[test]
fn pools_of_batch_have_their_own_keys() {
    conflicts(
        &pool("batch: {task_slots: 2}"),
        &["SPEC009 8:12 `batch` needs `orchestrator: batch` or `auto`"],
    );
    let batch = |keys: &str| pool(&format!("orchestrator: batch\n{keys}"));
    conflicts(
        &batch("count: 4\nbatch: {autoscale: {min: 4, every: 5m}, task_slots: 2}"),
        &[],
    );
    conflicts(
        &batch("zones: [1]\ngrouping: vms\nfallback: [Standard_D4s_v5]\ncapacity: {wait: 1h}"),
        &[
            "SPEC009 9:12 `zones` cannot be listed with `orchestrator: batch`: a pool is regional",
            "SPEC009 10:15 `grouping` means nothing with `orchestrator: batch`: Batch groups the nodes itself",
            "SPEC009 11:15 `fallback` is not supported yet with `orchestrator: batch`: a pool has one size",
            "SPEC009 12:22 `wait` is not supported yet with `orchestrator: batch`",
        ],
    );
    conflicts(
        &batch("disk_controller: nvme\ndisks: {os: {ephemeral: auto}}"),
        &[
            "SPEC009 9:22 `disk_controller` means nothing with `orchestrator: batch`: Batch decides it",
            "SPEC009 10:29 `ephemeral` is not supported yet with `orchestrator: batch`",
        ],
    );
    conflicts(
        &batch("priority: {spot: {max_price: 1}}\nbatch: {inter_node: true, autoscale: {min: 1}}"),
        &[
            "SPEC009 9:34 `max_price` cannot be used with `orchestrator: batch`: Batch has no such setting for spot nodes",
            "SPEC009 10:25 `inter_node: true` needs a fixed number of nodes",
            "SPEC009 10:25 `inter_node: true` cannot be used with spot nodes: Batch takes dedicated ones alone",
        ],
    );
    conflicts(
        &batch("count: 2\nbatch: {autoscale: {min: 3, every: 90s}}"),
        &[
            "SPEC009 10:30 `min: 3` is more than `count: 2`",
            "SPEC006 10:40 Batch evaluates a formula each 5 minutes at most and each 7 days at least, in whole minutes; found `90s`",
        ],
    );
    conflicts(
        &format!("{}network: {{outbound: none}}\n", batch("count: 1")),
        &[
            "SPEC009 10:21 `orchestrator: batch` needs a way out: nodes tell Batch of themselves, and `outbound: none` lets nothing out",
        ],
    );
}

#[test]
fn agent_pools_have_their_own_keys() {
    conflicts(
        &pool("aks: {autoscale: {min: 0}}"),
        &["SPEC009 8:10 `aks` needs `orchestrator: aks` or `auto`"],
    );
    let aks = |keys: &str| pool(&format!("orchestrator: aks\n{keys}"));
    conflicts(
        &aks(
            "count: 4\naks: {mig: 1g, autoscale: {min: 4}, labels: {a.b/c: D}, taints: [\"a=b:NoExecute\"]}",
        ),
        &[],
    );
    conflicts(
        &aks("grouping: vms\nimage: hpc\ncapacity: {wait: 1h}"),
        &[
            "SPEC009 9:15 `grouping` means nothing with `orchestrator: aks`: AKS groups the nodes itself",
            "SPEC009 10:12 `image` cannot be chosen with `orchestrator: aks`: nodes boot an image of AKS",
            "SPEC009 11:22 `wait` is not supported yet with `orchestrator: aks`",
        ],
    );
    conflicts(
        &aks("count: 2\naks: {autoscale: {min: 3}}"),
        &["SPEC009 10:28 `min: 3` is more than `count: 2`"],
    );
}

#[test]
fn settings_of_agent_pools_stand_beside_an_open_choice_and_not_beside_those_of_batch() {
    conflicts(&pool("orchestrator: auto\naks: {autoscale: {min: 0}}"), &[]);
    conflicts(
        &pool("orchestrator: auto\naks: {mig: 1g}\ngrouping: vms"),
        &[
            "SPEC009 10:15 `grouping` means nothing with `orchestrator: aks`: AKS groups the nodes itself",
        ],
    );
    conflicts(
        &pool("orchestrator: auto\naks: {mig: 1g}\nbatch: {task_slots: 2}"),
        &["SPEC009 9:10 `aks` and `batch` ask for two orchestrators of one pool"],
    );
    let cluster = |keys: &str| format!("{}aks: {{tier: standard}}\n", pool(keys));
    conflicts(
        &cluster("orchestrator: auto\ncontainers: {runtime: containerd}"),
        &[],
    );
    conflicts(&cluster("orchestrator: aks"), &[]);
}

#[test]
fn nobody_signs_in_to_nodes_of_services() {
    let with = |via: &str, orchestrator: &str| {
        format!(
            "{}access: {{via: {via}}}\n",
            pool(&format!("orchestrator: {orchestrator}"))
        )
    };
    conflicts(
        &with("bastion", "aks"),
        &[
            "SPEC009 9:15 `via: bastion` has no effect with `orchestrator: aks`: nodes of AKS have no public address and no user who could sign in",
        ],
    );
    conflicts(
        &with("bastion", "batch"),
        &[
            "SPEC009 9:15 `via: bastion` has no effect with `orchestrator: batch`: nodes of Batch have no public address and no user who could sign in",
        ],
    );
    conflicts(&with("bastion", "manual"), &[]);
}

#[test]
fn the_driver_of_an_agent_pool_has_one_owner() {
    let aks = |keys: &str| pool(&format!("orchestrator: aks\n{keys}"));
    conflicts(
        &aks("bootstrap: {script: setup.sh}\naks: {gpu_driver: install}"),
        &[
            "SPEC009 9:16 two owners of the driver: AKS installs it, and `bootstrap` is a script that could do so too",
        ],
    );
    conflicts(
        &format!(
            "{}tags: {{SkipGPUDriverInstall: \"true\"}}\n",
            aks("count: 1")
        ),
        &[
            "SPEC009 10:30 AKS does not look at the tag `SkipGPUDriverInstall` any more: it would install the driver all the same",
        ],
    );
}

#[test]
fn a_managed_driver_excludes_scaling() {
    let text = pool("orchestrator: aks\naks: {gpu_driver: managed, autoscale: {min: 0}}");
    let found = super::findings(&super::read(&text));
    let told = |beginning: &str| found.iter().any(|finding| finding.contains(beginning));
    assert!(
        told("`autoscale` cannot be used with `gpu_driver: managed`"),
        "{found:?}"
    );
    assert!(
        told("`gpu_driver: managed` is not supported yet"),
        "{found:?}"
    );
}

#[test]
fn containers_of_batch_run_with_docker() {
    let batch = |keys: &str| pool(&format!("orchestrator: batch\n{keys}"));
    conflicts(&pool("containers: {runtime: docker}"), &[]);
    conflicts(
        &batch("containers: {runtime: containerd}"),
        &[
            "SPEC009 9:27 `runtime: containerd` cannot be used with `orchestrator: batch`: Batch runs containers with Docker",
        ],
    );
    conflicts(
        &batch("containers: {images: [ubuntu]}"),
        &["SPEC009 9:26 `images` need a runtime that pulls them"],
    );
    conflicts(
        &batch("containers: {runtime: docker, images: [ubuntu]}"),
        &[],
    );
}
