//! What people reported of other tools, done to this one.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::harness::{Place, SUBSCRIPTION, two_pools};

const GROUP: &str = "rg-duo";

fn group() -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}")
}

#[test]
fn a_saved_plan_outlives_an_apply_that_changes_nothing() {
    let place = Place::new(&two_pools("duo"));
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let spec = place.read("tensorform.yaml");
    let tagged = spec.replacen("location: eastus", "location: eastus\ntags: {team: ml}", 1);
    assert_ne!(spec, tagged);
    place.write("tensorform.yaml", &tagged);
    place.sandbox(&["plan", "--out", "saved"]).exits(0, "saved");
    place.write("tensorform.yaml", &spec);
    place.sandbox(&["apply", "--yes"]).exits(0, "nothing to do");
    place.write("tensorform.yaml", &tagged);
    let saved = ["apply", "saved", "--yes"];
    place.sandbox(&saved).exits(0, "as it was planned");
    let none = ["plan", "--detailed-exitcode"];
    place.sandbox(&none).exits(0, "all was done");
}

#[test]
fn validate_and_plan_refuse_a_missing_key_alike() {
    let place = Place::new(
        "version: 1
name: lack
location: eastus
pools:
  train:
    stage: training
    workload: generative
    priority: {spot: {max_price: }}
    disks: {data: [{type: premium}]}
",
    );
    let errors = |arguments: &[&str]| {
        let ran = place.run(arguments).exits(1, "refused");
        ran.stderr.replace("\n\n", "\n").trim().to_owned()
    };
    let validated = errors(&["validate"]);
    assert!(validated.contains("tensorform.yaml:9:20"), "{validated}");
    assert!(validated.contains("size_gb"), "{validated}");
    assert_eq!(validated, errors(&["--sandbox=world", "plan"]));
    assert_eq!(validated, errors(&["plan", "--offline"]));
}

#[test]
fn three_hundred_pools_are_all_in_the_plan() {
    let mut spec = "version: 1\nname: many\nlocation: eastus\npools:\n".to_owned();
    for pool in 0..300 {
        writeln!(
            spec,
            "  p{pool}: {{stage: inference, workload: small, count: 1, size: Standard_D2s_v5}}"
        )
        .expect("text grows");
    }
    let place = Place::new(&spec);
    let plan = place.run(&["-o", "json", "plan", "--offline"]);
    let plan = plan.exits(0, "a plan").json();
    let steps = plan["steps"].as_array().expect("steps");
    let is = |step: &&Value, action: &str| step["action"] == action;
    let made = steps.iter().filter(|step| is(step, "create")).count();
    assert_eq!(plan["counts"]["create"], json!(made));
    assert_eq!(plan["pools"].as_object().expect("pools").len(), 300);
    let addresses: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["address"].as_str())
        .collect();
    let text = place.run(&["plan", "--offline"]).exits(0, "text").stdout;
    for pool in 0..300 {
        let address = format!("pool.p{pool}[0].vm");
        assert!(addresses.contains(&address.as_str()), "{address}");
        assert!(text.contains(&address), "{address} is not in the text");
    }
}

#[test]
fn what_an_apply_makes_first_is_said_to_be_known_after_it() {
    let spec = two_pools("duo").replacen(
        "location: eastus",
        "location: eastus\naccess: {ssh_keys: generate}",
        1,
    );
    let place = Place::new(&spec);
    for arguments in [["plan", "-v"].as_slice(), &["-o", "json", "plan"]] {
        let plan = place.sandbox(arguments).exits(0, "a plan").stdout;
        for raw in ["${", "[resourceId", "[reference", "null)"] {
            assert!(!plan.contains(raw), "{raw} in\n{plan}");
        }
    }
    let plan = place.sandbox(&["-o", "json", "plan"]).exits(0, "a plan");
    assert!(plan.stdout.contains("(known after apply)"));
}

#[test]
fn text_in_another_unicode_form_is_no_endless_change() {
    // The same letter as one character, and as a letter with its accent.
    let (one, two) = ("\u{e9}quipe", "e\u{301}quipe");
    let spec = two_pools("duo");
    let tagged = |value: &str| {
        let tags = format!("location: eastus\ntags: {{owner: {value}}}");
        spec.replacen("location: eastus", &tags, 1)
    };
    let place = Place::new(&tagged(one));
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let none = ["plan", "--detailed-exitcode"];
    place.sandbox(&none).exits(0, "the same form");
    place.write("tensorform.yaml", &tagged(two));
    let plan = ["-o", "json", "plan"];
    let plan = place.sandbox(&plan).exits(0, "the other form").json();
    for action in ["create", "replace", "delete", "stop_update"] {
        assert_eq!(plan["counts"][action], json!(0), "{action}");
    }
    place.sandbox(&["apply", "--yes"]).exits(0, "settled");
    place.sandbox(&none).exits(0, "one change at most");

    let named = spec.replacen("name: duo", "name: du\u{f6}", 1);
    let place = Place::new(&named);
    let ran = place
        .run(&["validate"])
        .exits(1, "a name that Azure does not take");
    assert!(ran.stderr.contains("tensorform.yaml:2:"), "{}", ran.stderr);
}

#[test]
fn another_subscription_than_the_specs_is_refused_by_both_names() {
    let other = "22222222-2222-2222-2222-222222222222";
    let spec = two_pools("duo").replacen(
        "location: eastus",
        &format!("location: eastus\nsubscription: {SUBSCRIPTION}"),
        1,
    );
    let place = Place::new(&spec);
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    server.forget();
    for command in ["plan", "apply", "destroy"] {
        let mut words = vec!["--subscription", other, command];
        if command != "plan" {
            words.push("--yes");
        }
        let ran = place.sandbox(&words).exits(1, command);
        for name in [other, SUBSCRIPTION] {
            assert!(ran.stderr.contains(name), "{name}: {}", ran.stderr);
        }
    }
    assert_eq!(server.writes(), Vec::<String>::new());
}

#[test]
fn a_group_that_is_still_going_is_waited_for() {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(100);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let path = format!("{}?api-version=2021-04-01", group());
    let (status, answer) = server.request("DELETE", &path, None);
    assert_eq!(status, 202, "{answer}");
    place.sandbox(&["apply", "--yes"]).exits(0, "waited for");
    place.is_as_planned(&server, "made anew");
}
