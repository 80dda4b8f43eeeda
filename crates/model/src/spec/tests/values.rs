//! Values outside of their range or form, and the spelling that is offered.

use super::{BASE, check, check_help, pool, read, top};

/// Holds the only finding for a value of a pool's key.
fn refused(keys: &str, message: &str, help: &str) {
    let place = format!("SPEC006 8:{} {message}", keys.find(": ").unwrap_or(0) + 7);
    check(&pool(keys), &[place.as_str()]);
    let help: Vec<&str> = help.lines().collect();
    check_help(&pool(keys), &place, &help);
}

#[test]
fn words_are_those_of_the_table() {
    refused(
        "security: trusted",
        "`security` takes one of `auto`, `standard` or `trusted_launch`, found `trusted`",
        "did you mean `trusted_launch`?",
    );
    refused(
        "orchestrator: slurm",
        "`orchestrator` takes one of `manual`, `auto`, `batch`, `aks` or `cyclecloud`, found `slurm`",
        "write `orchestrator: cyclecloud` and `scheduler: slurm`",
    );
    refused(
        "priority: low",
        "`priority` takes `regular`, `spot` or a block of `spot`, found `low`",
        "write `spot`",
    );
    refused(
        "grouping: Auto",
        "`grouping` takes one of `auto`, `vms` or `scale_set`, found `Auto`",
        "did you mean `auto`?",
    );
    check_help(
        &BASE.replace("inference", "trainning"),
        "SPEC006 6:12 `stage` takes one of `training` or `inference`, found `trainning`",
        &["did you mean `training`?"],
    );
}

#[test]
fn sizes_are_spelt_with_their_prefix() {
    let takes = "`size` takes `auto`, a VM size such as `Standard_ND96isr_H100_v5` or a block of `family`, `gpu`, `min_gpu_memory`, `rdma` and `max_hourly`";
    for (value, help) in [
        ("D2s_v3", "write `Standard_D2s_v3`"),
        ("Standard-D2s_v3", "write `Standard_D2s_v3`"),
        ("H100", "write `size: {gpu: \"H100\"}`"),
        ("ND", "write `size: {family: \"ND\"}`"),
        ("80GB", "write `size: {min_gpu_memory: \"80GB\"}`"),
        ("atuo", "did you mean `auto`?"),
        ("huge", ""),
    ] {
        refused(
            &format!("size: {value}"),
            &format!("{takes}, found `{value}`"),
            help,
        );
    }
    check(&pool("size: standard_nd96isr_h100_V5"), &[]);
}

#[test]
fn gpu_names_are_exact() {
    for (value, help) in [
        ("A100", "write `A100-40` or `A100-80`"),
        ("h100", "did you mean `H100`?"),
        ("MI300", "write `MI300X`"),
        ("RTX6000", "did you mean `RTX-PRO-6000`?"),
        ("P40", ""),
    ] {
        let text = pool(&format!("size: {{gpu: [{value}]}}"));
        let place = format!(
            "SPEC006 8:18 `gpu[0]` takes one of `V100`, `T4`, `A10`, `A100-40`, `A100-80`, `H100`, `H100-NVL`, `H200`, `MI300X`, `GB200`, `GB300` or `RTX-PRO-6000`, found `{value}`"
        );
        check(&text, &[place.as_str()]);
        let found = read(&text);
        let finding = found.diagnostics.iter().next().expect("a finding");
        assert_eq!(finding.help.join(""), help, "{value}");
    }
    check(
        &pool(
            "size: {gpu: [H100, MI300X], family: ND, min_gpu_memory: 80GB, rdma: true, max_hourly: 98.32}",
        ),
        &[],
    );
}

#[test]
fn numbers_are_in_their_range() {
    check(
        &pool(
            "count: -1\nzones: [1, 4]\ndisks: {os: {size_gb: 5000}, data: [{size_gb: 0}, {size_gb: 4, lun: 64}]}",
        ),
        &[
            "SPEC006 8:12 `count` takes a whole number from 0 to 1000, found `-1`",
            "SPEC006 9:16 `zones[1]` takes a whole number from 1 to 3, found `4`",
            "SPEC006 10:27 `size_gb` takes a whole number from 30 to 4095, found `5000`",
            "SPEC006 10:51 `size_gb` takes a whole number from 1 to 65536, found `0`",
            "SPEC006 10:73 `lun` takes a whole number from 0 to 63, found `64`",
        ],
    );
    check(
        &pool("count: 1001"),
        &["SPEC006 8:12 `count` takes a whole number from 0 to 1000, found `1001`"],
    );
    check(
        &BASE.replace("version: 1", "version: 2"),
        &["SPEC006 1:10 `version` takes the number `1`, found `2`"],
    );
    let price = "takes `-1`, which is up to the regular price, or US dollars an hour above 0 with at most 5 decimals";
    for (value, wrong) in [
        ("-1", false),
        ("0.01234", false),
        ("1.500000", false),
        ("0", true),
        ("-2", true),
        ("1.123456", true),
        ("0x10", true),
        (".inf", true),
    ] {
        let text = pool(&format!("priority: {{spot: {{max_price: {value}}}}}"));
        let reason = if ["0x10", ".inf"].contains(&value) {
            ": it is no plain decimal number"
        } else {
            ""
        };
        let finding = format!("SPEC006 8:34 `max_price` {price}, found `{value}`{reason}");
        let expected: Vec<&str> = wrong.then_some(finding.as_str()).into_iter().collect();
        check(&text, &expected);
    }
    check(
        &top("budget: {hourly: 2000000000000, monthly: 0.1234567}"),
        &[
            "SPEC006 8:18 `hourly` takes an amount above 0 with at most 6 decimals, found `2000000000000`: it is above 1000000000000",
            "SPEC006 8:42 `monthly` takes an amount above 0 with at most 6 decimals, found `0.1234567`",
        ],
    );
}

#[test]
fn quantities_have_their_units() {
    for (keys, column, expected, help) in [
        (
            "model: {parameters: 70 B}",
            25,
            "a number of parameters such as `350M`, `1.5B`, `70B` or `7e9`, found `70 B`",
            "write `70B`",
        ),
        (
            "model: {parameters: lots}",
            25,
            "a number of parameters such as `350M`, `1.5B`, `70B` or `7e9`, found `lots`",
            "",
        ),
        (
            "model: {parameters: 0}",
            25,
            "a number of parameters such as `350M`, `1.5B`, `70B` or `7e9`, found `0`: it must be above 0",
            "",
        ),
        (
            "size: {min_gpu_memory: 80 GiB}",
            28,
            "an amount of memory such as `80GB`, found `80 GiB`",
            "write `80GB`",
        ),
    ] {
        let key = keys.split(['{', ':']).nth(2).unwrap_or_default().trim();
        let help: Vec<&str> = help.lines().collect();
        check_help(
            &pool(keys),
            &format!("SPEC006 8:{column} `{key}` takes {expected}"),
            &help,
        );
    }
    check_help(
        &pool("size: {min_gpu_memory: 80}"),
        "SPEC004 8:28 `min_gpu_memory` takes an amount of memory such as `80GB`, found the number `80`",
        &["write `80GB`"],
    );
    check(&pool("model: {parameters: 7e9, precision: bf16}"), &[]);
    check(&pool("model: {parameters: 70000000000}"), &[]);
}

#[test]
fn names_have_their_form() {
    check_help(
        &BASE.replace("name: demo", "name: My_Stack"),
        "SPEC006 2:7 `name` takes a name of 2 to 40 lower-case letters, digits and hyphens that begins with a letter and does not end with a hyphen, found `My_Stack`",
        &["write `my-stack`"],
    );
    for (name, right) in [
        ("ab", true),
        ("a", false),
        ("a-", false),
        ("1a", false),
        ("é-stack", false),
        (&"a".repeat(40), true),
        (&"a".repeat(41), false),
    ] {
        let parsed = read(&BASE.replace("name: demo", &format!("name: {name}")));
        assert_eq!(parsed.spec.is_some(), right, "{name}");
    }
    check_help(
        &BASE.replace("  p:", "  Big_Pool:"),
        "SPEC006 5:3 a key of `pools` takes a pool name of up to 16 lower-case letters, digits and hyphens that begins with a letter, found `Big_Pool`",
        &["write `big-pool`"],
    );
    check(
        &BASE.replace(
            "pools:\n",
            "pools:\n  1: {stage: training, workload: small}\n",
        ),
        &[
            "SPEC006 5:3 a key of `pools` takes a pool name of up to 16 lower-case letters, digits and hyphens that begins with a letter, found `1`",
        ],
    );
    for (user, reason, help) in [
        (
            "root",
            ": Azure does not take that name",
            "use another name, such as `azureuser`",
        ),
        (
            "Admin",
            ": Azure does not take that name",
            "use another name, such as `azureuser`",
        ),
        ("Jane", "", "write `jane`: images expect lower case"),
    ] {
        check_help(
            &top(&format!("access: {{user: {user}}}")),
            &format!(
                "SPEC006 8:16 `user` takes a user name of up to 32 lower-case letters, digits, `_` and `-` that begins with a letter or `_`, found `{user}`{reason}"
            ),
            &[help],
        );
    }
    check(
        &top("resource_group: rg.\nsubscription: mine"),
        &[
            "SPEC006 8:17 `resource_group` takes a resource group name of 1 to 90 letters, digits, `.`, `_`, `-`, `(` and `)` that does not end with a period, found `rg.`",
            "SPEC006 9:15 `subscription` takes a subscription id such as `00000000-0000-0000-0000-000000000000`, found `mine`",
        ],
    );
}

#[test]
fn locations_are_distinct_regions() {
    check(
        &BASE.replace("location: eastus", "location: [eastus, East US, west-us]"),
        &[
            "SPEC006 3:20 `location` has `East US` twice",
            "SPEC006 3:29 `location[2]` takes an Azure region such as `eastus`, found `west-us`",
        ],
    );
    check(
        &BASE.replace("location: eastus", "location: []"),
        &["SPEC006 3:11 `location` takes one or more regions, found an empty list"],
    );
    check(
        &BASE.replace("location: eastus", "location: East US 2"),
        &[],
    );
    check(
        &BASE.replace(
            "pools:\n  p:\n    stage: inference\n    workload: generative\n",
            "pools: {}\n",
        ),
        &["SPEC006 4:1 `pools` takes one or more pools, found none"],
    );
}

#[test]
fn tags_are_those_that_azure_takes() {
    let name = "a key of `tags` takes a tag name of 1 to 512 characters without `<>%&\\?/`";
    check(
        &top("tags: {a/b: 1, Microsoft-x: 1, tensorform-stack: 1, \"\": 1, v: [1], w: }"),
        &[
            &format!("SPEC006 8:8 {name}, found `a/b`: it has the character `/`"),
            &format!(
                "SPEC006 8:16 {name}, found `Microsoft-x`: names with `microsoft` are Azure's own"
            ),
            &format!(
                "SPEC006 8:32 {name}, found `tensorform-stack`: names with `tensorform-` are the tool's own"
            ),
            &format!("SPEC006 8:53 {name}, found ``: it is empty"),
            "SPEC004 8:63 `v` takes a tag value of up to 256 characters, found a list",
            "SPEC004 8:68 `w` has no value, expected a tag value of up to 256 characters",
        ],
    );
    let long = "x".repeat(257);
    check(
        &top(&format!("tags: {{a: {long}}}")),
        &[&format!(
            "SPEC006 8:11 `a` takes a tag value of up to 256 characters, found `{}…`: it has 257 characters",
            "x".repeat(60)
        )],
    );
    let many: Vec<String> = (0..43).map(|n| format!("t{n}: x")).collect();
    check(
        &top(&format!("tags: {{{}}}", many.join(", "))),
        &["SPEC006 8:1 `tags` takes 42 tags at most, found 43"],
    );
    check(
        &top("ignore_tags: [\"a*b\", \"tensorform-*\", \"hidden-*\", \"Hidden-*\"]"),
        &[
            "SPEC006 8:15 `ignore_tags[0]` takes a tag name, or the beginning of one and `*`, found `a*b`: `*` stands at the end only",
            "SPEC006 8:22 `ignore_tags[1]` takes a tag name, or the beginning of one and `*`, found `tensorform-*`: the tool cannot work without the tags it sets itself",
            "SPEC006 8:50 `ignore_tags` has `Hidden-*` twice",
        ],
    );
}

#[test]
fn address_spaces_are_private() {
    let takes = "`address_space` takes a private IPv4 block from /8 to /28 such as `10.40.0.0/16`";
    for (value, reason, help) in [
        (
            "10.40.1.0/16",
            ": the address is inside the block, not at its beginning",
            "write `10.40.0.0/16`",
        ),
        (
            "10.40.0.0",
            ": the length of its prefix is missing",
            "write `10.40.0.0/16`",
        ),
        (
            "20.0.0.0/16",
            ": it is not private",
            "choose inside `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16` or `100.64.0.0/10`",
        ),
        ("10.0.0.0/30", ": it has 4 addresses", ""),
    ] {
        let help: Vec<&str> = help.lines().collect();
        check_help(
            &top(&format!("network: {{address_space: {value}}}")),
            &format!("SPEC006 8:26 {takes}, found `{value}`{reason}"),
            &help,
        );
    }
}

#[test]
fn images_have_four_parts() {
    refused(
        "image: microsoft-dsvm:ubuntu-hpc:2204:latest",
        "`image` takes `auto`, `dsvm`, `hpc` or a block of `urn`, `accept_terms` and `id`, found `microsoft-dsvm:ubuntu-hpc:2204:latest`",
        "write `image: {urn: \"microsoft-dsvm:ubuntu-hpc:2204:latest\"}`",
    );
    check_help(
        &pool("image: {urn: \"a:b:c\"}"),
        "SPEC006 8:18 `urn` takes the name of a marketplace image as `publisher:offer:sku:version`, found `a:b:c`: the version is missing",
        &["write `a:b:c:latest`; plans name the version it stands for"],
    );
    check(
        &pool("image: {urn: \"a:b:c:1.2.3\", accept_terms: false}"),
        &[],
    );
}

#[test]
fn long_texts_are_cut_in_messages() {
    let parsed = read(&pool(&format!("security: {}", "é\u{200b}".repeat(500))));
    let finding = parsed.diagnostics.iter().next().expect("a finding");
    assert!(finding.message.chars().count() < 200, "{}", finding.message);
    assert!(finding.message.ends_with("…`"), "{}", finding.message);
}
