//! Keys and values that contradict each other, and sums that do not fit.

use super::{BASE, check, check_help, pool, read, top};

/// Holds the conflicts of a text against those expected; what is not supported yet is left out.
pub(super) fn conflicts(text: &str, expected: &[&str]) {
    let found: Vec<String> = super::findings(&read(text))
        .into_iter()
        .filter(|finding| !finding.starts_with("SPEC008"))
        .collect();
    assert_eq!(found, expected, "{text}");
}

pub(super) fn training(keys: &str) -> String {
    pool(keys).replace("inference", "training")
}

#[test]
fn stage_and_model_fit() {
    conflicts(
        &pool("model: {method: lora, tokens: 1B}\ndeadline: 3d"),
        &[
            "SPEC009 8:21 `method` says what is trained, and `stage: inference` trains nothing",
            "SPEC009 8:35 `tokens` means nothing with `stage: inference`",
            "SPEC009 9:15 `deadline` is for training, and `stage: inference` has no end",
        ],
    );
    conflicts(&pool("model: {method: full}"), &[]);
    conflicts(
        &training("model: {concurrency: 4, precision: int4}"),
        &[
            "SPEC009 8:26 `concurrency` means nothing with `stage: training`",
            "SPEC009 8:40 `precision: int4` cannot be trained with `method: full`",
        ],
    );
    conflicts(&training("model: {precision: int4, method: qlora}"), &[]);
    conflicts(&pool("model: {precision: int4}"), &[]);
    conflicts(
        &pool("model: {name: llama-3.1-8b, config: config.json}"),
        &["SPEC009 8:41 `config` and `name` both say the model's shape"],
    );
    conflicts(
        &pool("model: {parameters: 7B, active_parameters: 8B}"),
        &["SPEC009 8:48 `active_parameters` is more than `parameters`"],
    );
    conflicts(
        &training("deadline: 3d"),
        &["SPEC005 8:15 `deadline` needs `model.tokens`: without it there is no end to reach"],
    );
    conflicts(
        &training("deadline: 3d\nmodel: {tokens: 1B}"),
        &["SPEC005 8:15 `deadline` needs a model whose size is known: `model` says no parameters"],
    );
    let small = training("deadline: 3d\nmodel: {tokens: 1B, parameters: 7B}");
    conflicts(
        &small.replace("generative", "small"),
        &[
            "SPEC009 8:15 `deadline` needs GPUs, and `workload: small` runs on CPUs, whose speed is not estimated",
        ],
    );
    for known in [
        "parameters: 7B",
        "name: llama-3.1-8b",
        "config: config.json",
    ] {
        let keys = format!("deadline: 3d\nmodel: {{tokens: 1B, {known}}}");
        conflicts(&training(&keys), &[]);
    }
}

#[test]
fn a_wrong_value_contradicts_nothing() {
    conflicts(
        &pool("model: {method: lora}").replace("inference", "infernce"),
        &["SPEC006 6:12 `stage` takes one of `training` or `inference`, found `infernce`"],
    );
    conflicts(
        &pool("priority: spot").replace("stage: inference", "stage:"),
        &["SPEC004 6:5 `stage` has no value, expected one of `training` or `inference`"],
    );
}

const GROUP: &str = "/subscriptions/s/resourceGroups/g/providers";

#[test]
fn reservations_exclude_other_ways() {
    let reservation =
        format!("capacity_reservation: {GROUP}/Microsoft.Compute/capacityReservationGroups/c\n");
    conflicts(
        &pool(&format!("{reservation}priority: spot")),
        &["SPEC009 8:27 `capacity_reservation` cannot be used with spot capacity"],
    );
    conflicts(
        &pool(&format!(
            "{reservation}disks: {{data: [{{size_gb: 8, type: ultra}}]}}"
        )),
        &["SPEC009 8:27 `capacity_reservation` cannot be used with Ultra Disk"],
    );
    conflicts(
        &pool(&format!("{reservation}size: {{rdma: true}}")),
        &[
            "SPEC009 8:27 `capacity_reservation` cannot be used with `rdma`: RDMA needs one placement group, reservations exclude it",
        ],
    );
    conflicts(&pool(&reservation), &[]);
}

#[test]
fn orchestrators_have_their_own_keys() {
    conflicts(
        &pool("scheduler: slurm"),
        &["SPEC009 8:16 `scheduler` needs `orchestrator: cyclecloud`"],
    );
    conflicts(
        &pool("scheduler: slurm\norchestrator: aks"),
        &["SPEC009 8:16 `scheduler` needs `orchestrator: cyclecloud`"],
    );
}

#[test]
fn systems_have_their_own_keys() {
    conflicts(
        &pool("password: {from_env: PW}"),
        &["SPEC009 8:15 `password` is for `os: windows`; Linux nodes have SSH keys only"],
    );
    conflicts(
        &pool("os: windows"),
        &["SPEC005 8:9 `os: windows` needs `password`"],
    );
    conflicts(
        &pool("os: windows\npassword: {from_env: PW}\nimage: hpc"),
        &["SPEC009 10:12 `image: hpc` is Linux"],
    );
    conflicts(&pool("os: windows\npassword: {from_env: PW}"), &[]);
}

#[test]
fn images_have_one_name() {
    let id = format!("{GROUP}/Microsoft.Compute/images/i");
    conflicts(
        &pool(&format!("image: {{urn: \"a:b:c:d\", id: {id}}}")),
        &["SPEC009 8:33 `image` has both `urn` and `id`"],
    );
    conflicts(
        &pool("image: {}"),
        &["SPEC005 8:5 `image` needs `urn` or `id`"],
    );
    conflicts(
        &pool(&format!("image: {{id: {id}, accept_terms: true}}")),
        &["SPEC009 8:103 `accept_terms` is for marketplace images"],
    );
}

#[test]
fn disks_fit_their_type_and_have_their_own_numbers() {
    check(
        &pool(
            "disks:\n  data:\n    - {size_gb: 40000}\n    - {size_gb: 3, type: ultra}\n    - {size_gb: 40000, type: premium_v2, lun: 5}\n    - {size_gb: 1, lun: 5}",
        ),
        &[
            "SPEC006 10:21 a disk of that type has 32767 GiB at most, found `40000`",
            "SPEC006 11:21 an Ultra Disk has 4 GiB or more, found `3`",
            "SPEC009 13:29 `lun: 5` is used by two disks",
        ],
    );
    check_help(
        &pool("disks: {os: {type: ultra}}"),
        "SPEC006 8:24 `type` takes one of `premium`, `standard_ssd` or `standard_hdd`, found `ultra`",
        &["Ultra Disk is for data disks only"],
    );
    let many = vec!["{size_gb: 1}"; 65].join(", ");
    check(
        &pool(&format!("disks: {{data: [{many}]}}")),
        &["SPEC006 8:13 `data` takes 64 disks at most, found 65"],
    );
}

#[test]
fn sizes_ask_for_something() {
    check(
        &pool("size: {}"),
        &["SPEC006 8:11 `size` is an empty block, which asks for nothing"],
    );
    check(
        &pool("size: {rdma: true}\nzones: [1, 2]"),
        &["SPEC009 9:12 nodes with RDMA share one zone"],
    );
    check(&pool("size: {rdma: true}\nzones: [1]"), &[]);
    check(&pool("size: {gpu: H100}\nzones: [1, 2]"), &[]);
}

#[test]
fn budgets_have_an_amount() {
    check_help(
        &top("budget: {on_exceed: warn}"),
        "SPEC005 8:1 `budget` needs `hourly` or `monthly`",
        &["add `hourly: 100`, or remove `budget`"],
    );
    check(
        &top("budget: {}"),
        &["SPEC005 8:1 `budget` needs `hourly` or `monthly`"],
    );
    check(
        &top("budget: []"),
        &[
            "SPEC004 8:9 `budget` takes a block of `hourly`, `monthly`, `currency` and `on_exceed`, found an empty list",
        ],
    );
}

#[test]
fn networks_are_new_or_there_already() {
    let subnet = format!("subnet_id: {GROUP}/Microsoft.Network/virtualNetworks/v/subnets/s");
    conflicts(
        &top(&format!(
            "network:\n  address_space: 10.0.0.0/16\n  outbound: nat\n  {subnet}"
        )),
        &[
            "SPEC009 9:18 `address_space` makes a network, and `subnet_id` names an existing one",
            "SPEC009 10:13 `outbound: nat` changes the network, and the subnet of `subnet_id` is not the stack's",
        ],
    );
    conflicts(
        &top("network: {outbound: existing}"),
        &["SPEC009 8:21 `outbound: existing` needs `subnet_id`: a new network has no way out yet"],
    );
    conflicts(
        &top(&format!("network: {{outbound: existing, {subnet}}}")),
        &[],
    );
    conflicts(
        &top("access: {via: existing}"),
        &[
            "SPEC009 8:15 `via: existing` needs `network.subnet_id`: a new network has no way in yet",
        ],
    );
}

#[test]
fn networks_have_room_and_leave_infiniband_alone() {
    check(
        &pool("count: 120").replace(
            "location: eastus",
            "location: eastus\nnetwork: {address_space: 10.0.0.0/24}",
        ),
        &[],
    );
    check_help(
        &pool("count: 124").replace(
            "location: eastus",
            "location: eastus\nnetwork: {address_space: 10.0.0.0/24}",
        ),
        "SPEC009 4:26 `address_space: 10.0.0.0/24` has room for 123 nodes, the pools have 124",
        &[
            "use a larger block: nodes get the lower half of it, less the 5 addresses that Azure keeps",
        ],
    );
    check_help(
        &top("network: {address_space: 172.16.0.0/20}"),
        "warning SPEC013 8:26 `address_space: 172.16.0.0/20` overlaps 172.16.0.0/16, which InfiniBand uses inside of nodes",
        &["use another block, such as `10.40.0.0/16`"],
    );
    assert!(
        read(&top("network: {address_space: 172.16.0.0/20}"))
            .spec
            .is_some()
    );
    check(&top("network: {address_space: 172.17.0.0/16}"), &[]);
}

#[test]
fn ssh_comes_in_by_a_public_address() {
    conflicts(
        &top("access: {ssh_from: [203.0.113.0/24]}"),
        &["SPEC009 8:20 `ssh_from` needs `via: public_ip`: otherwise there is no address to reach"],
    );
    conflicts(
        &top("access: {via: public_ip, ssh_from: [203.0.113.0/24]}"),
        &[],
    );
    conflicts(
        &top("access: {via: public_ip, ssh_from: [\"*\", 0.0.0.0/0, 203.0.113.7, 128.0.0.0/1]}"),
        &[
            "SPEC006 8:37 `ssh_from[0]` takes an IPv4 block such as `203.0.113.0/24`, found `*`: that is the whole internet",
            "SPEC006 8:42 `ssh_from[1]` takes an IPv4 block such as `203.0.113.0/24`, found `0.0.0.0/0`: that is the whole internet",
            "SPEC006 8:53 `ssh_from[2]` takes an IPv4 block such as `203.0.113.0/24`, found `203.0.113.7`: the length of its prefix is missing",
            "SPEC006 8:66 `ssh_from[3]` takes an IPv4 block such as `203.0.113.0/24`, found `128.0.0.0/1`: a prefix below /8 is a part of the internet, not a network",
        ],
    );
}

#[test]
fn a_stack_has_a_thousand_single_vms_at_most() {
    let two = format!(
        "{BASE}    count: 600\n    grouping: vms\n  q: {{stage: inference, workload: small, grouping: vms, count: 401}}\n"
    );
    check_help(
        &two,
        "SPEC009 4:1 the pools have 1001 nodes, a stack can have 1000 single VMs",
        &["use `grouping: scale_set`, or split the stack"],
    );
    check(&two.replace("401", "400"), &[]);
    // One write makes a set, however many nodes it has.
    check(&two.replace("vms, count", "scale_set, count"), &[]);
}

#[test]
fn tags_are_set_or_ignored() {
    check_help(
        &top("tags: {Created-by: me}\nignore_tags: [x, \"created*\"]"),
        "SPEC009 8:8 tag `Created-by` is set here and ignored by `ignore_tags`",
        &["remove the tag, or the pattern"],
    );
    check(&top("tags: {a: b}\nignore_tags: [ab, \"b*\"]"), &[]);
    check(&top("ignore_tags: [\"*\"]"), &[]);
}

#[test]
fn an_os_disk_on_the_node_goes_with_the_hardware() {
    conflicts(
        &pool("disks: {os: {ephemeral: auto}}\npriority: {spot: {eviction: deallocate}}"),
        &[
            "SPEC009 9:33 `eviction: deallocate` needs an OS disk that stays, and `ephemeral` makes one that goes with the hardware",
        ],
    );
    conflicts(
        &pool("disks: {os: {ephemeral: cache_disk, size_gb: 2041}}"),
        &["SPEC009 8:50 an ephemeral OS disk has 2040 GiB at most, found `2041`"],
    );
    conflicts(
        &pool("disks: {os: {ephemeral: nvme_disk, size_gb: 2040}}\npriority: spot"),
        &[],
    );
    conflicts(
        &pool(
            "disks: {os: {ephemeral: none, size_gb: 4095}}\npriority: {spot: {eviction: deallocate}}",
        ),
        &[],
    );
}

#[test]
fn ways_in_fit_the_network() {
    conflicts(
        &top("access: {via: public_ip}"),
        &["SPEC005 8:15 `via: public_ip` needs `ssh_from`: nobody gets in from anywhere else"],
    );
    conflicts(
        &top("access: {via: public_ip, ssh_from: [203.0.113.0/24]}"),
        &[],
    );
    conflicts(
        &top("access: {bastion_sku: basic}"),
        &["SPEC009 8:23 `bastion_sku` needs `via: bastion`: otherwise there is no Bastion host"],
    );
    conflicts(&top("access: {via: bastion, bastion_sku: basic}"), &[]);
    conflicts(
        &top("access: {via: bastion}\nnetwork: {address_space: 10.0.0.0/26}"),
        &[
            "SPEC009 9:26 `address_space: 10.0.0.0/26` has no room for a Bastion host beside the nodes: its subnet is a /26",
        ],
    );
    let subnet = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub/subnets/gpu";
    for via in ["bastion", "public_ip, ssh_from: [203.0.113.0/24]"] {
        let word = via.split(',').next().unwrap_or_default();
        conflicts(
            &top(&format!(
                "access: {{via: {via}}}\nnetwork: {{subnet_id: {subnet}}}"
            )),
            &[&format!(
                "SPEC009 8:15 `via: {word}` changes the network, and the subnet of `subnet_id` is not the stack's"
            )],
        );
    }
    conflicts(
        &top(&format!(
            "access: {{via: existing}}\nnetwork: {{subnet_id: {subnet}, outbound: existing}}"
        )),
        &[],
    );
}
