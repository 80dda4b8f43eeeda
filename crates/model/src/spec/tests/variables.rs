//! `${var.NAME}` and `${env.NAME}`.

use std::collections::BTreeSet;

use super::{BASE, Inputs, Parsed, findings, parse, top};
use crate::spec::{SizeChoice, referenced_environment};

fn inputs(variables: &[(&str, &str)], environment: &[(&str, &str)]) -> Inputs {
    let map = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    Inputs {
        variables: map(variables),
        environment: map(environment),
    }
}

fn with(text: &str, variables: &[(&str, &str)], environment: &[(&str, &str)]) -> Parsed {
    parse(text, &inputs(variables, environment))
}

fn check(text: &str, variables: &[(&str, &str)], environment: &[(&str, &str)], expected: &[&str]) {
    let parsed = with(text, variables, environment);
    assert_eq!(findings(&parsed), expected, "{text}");
    assert_eq!(parsed.spec.is_none(), !expected.is_empty(), "{text}");
}

const SPEC: &str = "\
version: 1
name: demo-${var.env}
location: ${env.REGION}
tags: {env: \"${var.env}\", version: \"${var.version}\", home: \"$${HOME} ${env.REGION}\"}
variables:
  env: {default: dev, allowed: [dev, prod]}
  version: {default: 1.10}
  nodes: {default: 4}
pools:
  p: {stage: training, workload: generative, count: \"${var.nodes}\", protect: '${var.protect}'}
";

#[test]
fn references_are_replaced_and_typed_as_if_they_stood_there() {
    let text = SPEC.replace("  nodes:", "  protect: {}\n  nodes:");
    let parsed = with(
        &text,
        &[("protect", "true"), ("env", "prod")],
        &[("REGION", "East US")],
    );
    assert_eq!(findings(&parsed), Vec::<String>::new());
    let spec = parsed.spec.expect("a spec");
    assert_eq!(spec.name, "demo-prod");
    assert_eq!(spec.locations[0].as_str(), "eastus");
    let tags: Vec<String> = spec
        .tags
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(tags, ["env=prod", "home=${HOME} East US", "version=1.10"]);
    let pool = spec.pools.get("p").expect("a pool");
    assert_eq!((pool.count, pool.protect), (Some(4), true));
}

#[test]
fn values_that_do_not_fit_are_refused_where_they_are_used() {
    let text = format!(
        "{BASE}    count: ${{var.n}}\n    size: ${{env.SIZE}}\nvariables: {{n: {{default: many}}}}\n"
    );
    check(
        &text,
        &[],
        &[("SIZE", "hunter2")],
        &[
            "SPEC004 8:12 `count` takes a whole number from 0 to 1000, found the text `many` (`${var.n}`)",
            "SPEC006 9:11 `size` takes `auto`, a VM size such as `Standard_ND96isr_H100_v5` or a block of `family`, `gpu`, `min_gpu_memory`, `rdma` and `max_hourly`, found the value of `${env.SIZE}`",
        ],
    );
    let parsed = with(&text, &[("n", "3")], &[("SIZE", "Standard_D2s_v5")]);
    let spec = parsed.spec.expect("a spec");
    assert!(matches!(spec.pools["p"].size, SizeChoice::Named(_)));
}

#[test]
fn what_the_environment_holds_is_never_shown() {
    let secret = [("S", "hunter2-hunter2")];
    for keys in [
        "tags: {a: [\"${env.S}\"]}",
        "access: {user: \"${env.S}!\", ssh_keys: [\"ssh-rsa ${env.S}\"]}",
        "location: \"${env.S}!\"",
        "budget: {hourly: \"${env.S}\", currency: \"${env.S}\"}",
        "ignore_tags: [\"${env.S}\", \"${env.S}\"]",
        "access: {ssh_from: [\"${env.S}\"]}\nnetwork: {address_space: \"${env.S}\"}",
        "variables: {v: {default: \"${env.S}\", allowed: [x]}}",
        "subscription: ${var.v}\nvariables: {v: {default: \"${env.S}\"}}",
        "subscription: ${env.S}\nresource_group: \"${env.S}?\"",
        "pools: {q: {stage: \"${env.S}\", workload: small, size: \"${env.S}\", image: {urn: \"${env.S}:a:b\"}}}",
    ] {
        let text = if keys.starts_with("location") {
            BASE.replace("location: eastus", keys)
        } else if keys.starts_with("pools") {
            format!("version: 1\nname: demo\nlocation: eastus\n{keys}\n")
        } else {
            top(keys)
        };
        let parsed = with(&text, &[], &secret);
        assert!(!parsed.diagnostics.is_empty(), "{text}");
        for finding in parsed.diagnostics.iter() {
            assert!(!format!("{finding:?}").contains("hunter2"), "{finding:?}");
        }
    }
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    check(
        &top(
            "tags: {a: \"${var.nme}\", b: \"${foo}\", c: \"${var.x\", d: \"${env.NOPE}\", e: \"x ${ var.name }\"}\nvariables: {name: {default: x}}",
        ),
        &[],
        &[],
        &[
            "SPEC010 8:11 the spec has no variable `nme`",
            "SPEC010 8:28 expected `${var.NAME}` or `${env.NAME}`, found `${foo}`",
            "SPEC010 8:41 a reference has no end",
            "SPEC010 8:55 the environment variable `NOPE` is not set",
            "SPEC010 8:73 expected `${var.NAME}` or `${env.NAME}`, found `${ var.name }`",
        ],
    );
    check(
        &top("tags: {\"${var.a}\": b}\nvariables: {a: {default: x}}"),
        &[],
        &[],
        &["SPEC010 8:8 a reference stands in a key: `${var.a}`"],
    );
    check(
        &top("variables: {a: {default: x}, b: {default: \"${var.a}\"}}"),
        &[],
        &[],
        &["SPEC010 8:43 variable `a` is used where variables are declared"],
    );
}

#[test]
fn a_variable_without_value_is_reported_once() {
    check(
        &top("tags: {a: \"${var.v}\", b: \"${var.v}\"}\nvariables: {v: {}}"),
        &[],
        &[],
        &["SPEC010 9:13 variable `v` has no value"],
    );
}

#[test]
fn given_values_are_held_against_what_is_allowed() {
    let text = top("variables: {env: {default: dev, allowed: [dev, prod]}}");
    check(&text, &[("env", "prod")], &[], &[]);
    check(
        &text,
        &[("env", "test")],
        &[],
        &["SPEC010 8:13 variable `env` takes `dev` or `prod`, was given `test`"],
    );
    check(
        &text,
        &[("evn", "dev"), ("other", "x")],
        &[],
        &[
            "SPEC010 - the spec has no variable `evn`",
            "SPEC010 - the spec has no variable `other`",
        ],
    );
    let parsed = with(&text, &[("evn", "dev")], &[]);
    let finding = parsed.diagnostics.iter().next().expect("a finding");
    assert_eq!(finding.help, ["did you mean `env`?"]);
    check(
        &top("variables: {env: {default: test, allowed: [dev]}}"),
        &[],
        &[],
        &["SPEC010 8:28 variable `env` takes `dev`, its default is `test`"],
    );
    check(
        &top("variables: {1a: {default: x}, b: x}"),
        &[],
        &[],
        &[
            "SPEC006 8:13 a key of `variables` takes a name of letters, digits, `_` and `-` that begins with a letter, found `1a`",
            "SPEC010 8:31 variable `b` has no value",
            "SPEC004 8:34 `b` takes a block of `default` and `allowed`, found the text `x`",
        ],
    );
}

#[test]
fn values_cannot_grow_without_bound() {
    let long = "x".repeat(1 << 20);
    let text = top("tags: {a: \"${env.L}${env.L}${env.L}${env.L}${env.L}\"}");
    check(
        &text,
        &[],
        &[("L", &long)],
        &["SPEC010 8:11 references add more than 4194304 bytes"],
    );
}

#[test]
fn the_environment_that_is_asked_for_is_listed() {
    let names = referenced_environment(SPEC);
    assert_eq!(names, BTreeSet::from(["REGION".to_owned()]));
    let names = referenced_environment("a: [\"${env.A}-${env.B}\", {b: '$${env.C}'}]\n");
    assert_eq!(names, BTreeSet::from(["A".to_owned(), "B".to_owned()]));
    assert!(referenced_environment("a: [").is_empty());
}
