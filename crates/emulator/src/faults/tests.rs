//! What is read from faults files, what is refused, and which rule acts.

use super::{Action, Fate, Faults, Request, Subject};
use crate::{
    clock::{Instant, Speed},
    http::Method,
};

fn subject(name: &str) -> Subject<'_> {
    Subject {
        method: Method::Put,
        kind: "Microsoft.Compute/virtualMachines",
        path: "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm",
        name,
        page: None,
        reads: false,
    }
}

/// The rules that act on a write of a VM at so many seconds.
fn acting(faults: &mut Faults, name: &str, seconds: i64) -> Vec<String> {
    let decision = faults.decide(&Request {
        subject: subject(name),
        tagged: subject(name),
        writes: true,
        now: Instant::from_unix_micros(seconds * 1_000_000),
        speed: Speed::REAL,
        changed: &|_| None,
    });
    decision.rules
}

fn read(text: &str) -> Faults {
    let mut faults = Faults::parse(text, "f").expect("rules");
    faults.start(Instant::from_unix_micros(0), Speed::REAL);
    faults
}

#[test]
fn rules_count_what_fits_them_and_the_first_acts() {
    let mut faults = read(
        "rules:\n\
         - {name: second, match: {method: PUT, nth: 2}, then: hang}\n\
         - {name: rest, match: {name: 'vm*', after: 1, count: 2}, then: {throttle: {retry_after: 3}}}\n",
    );
    let names: Vec<Vec<String>> = (0..5).map(|_| acting(&mut faults, "vm1", 0)).collect();
    let expected: [&[&str]; 5] = [&[], &["second"], &["rest"], &["rest"], &[]];
    assert_eq!(names, expected);
    assert!(acting(&mut faults, "other", 0).is_empty());
}

#[test]
fn rules_keep_to_their_time_and_follow_others() {
    let mut faults = read(
        "rules:\n\
         - {name: early, match: {until: 10}, then: hang}\n\
         - {name: late, match: {from: '1970-01-01T00:00:20Z', until: 30}, then: hang}\n\
         - {name: after, match: {follows: late}, then: hang}\n",
    );
    for (seconds, rules) in [
        (0, ["early"].as_slice()),
        (9, &["early"]),
        (10, &[]),
        (19, &[]),
        (20, &["late"]),
        (29, &["late"]),
        (30, &["after"]),
    ] {
        assert_eq!(acting(&mut faults, "vm", seconds), rules, "{seconds}");
    }
}

#[test]
fn some_rules_act_beside_others() {
    let mut faults = read(
        "rules:\n\
         - {name: tag, then: {modify_tags: {set: {a: b}}}}\n\
         - {name: spot, match: {nth: 1}, then: {evict: {}}}\n\
         - {name: busy, then: throttle}\n\
         - {name: never, then: hang}\n",
    );
    assert_eq!(acting(&mut faults, "vm", 5), ["tag", "spot", "busy"]);
    assert_eq!(
        faults.next_due(),
        Some(Instant::from_unix_micros(5_000_000))
    );
    assert_eq!(acting(&mut faults, "vm", 6), ["tag", "busy"]);
}

#[test]
fn json_is_taken_and_known_codes_bring_their_message() {
    let text =
        r#"{"rules": [{"then": {"fail_in_operation": {"code": "VMExtensionProvisioningError"}}}]}"#;
    let faults = read(text);
    let Some(Action::Fate(Fate::FailInOperation(failure))) =
        faults.rules.first().map(|rule| &rule.action)
    else {
        panic!("expected a failure in operations");
    };
    assert!(failure.allocated);
    assert!(failure.message.contains("processing an extension"));
    let names: Vec<&str> = faults.fired().map(|(name, _)| name).collect();
    assert_eq!(names, ["rule 1"]);
}

#[test]
fn mistakes_are_refused_with_their_place_and_the_nearest_name() {
    let cases = [
        (
            "rules:\n  - match: {methd: PUT}\n    then: hang",
            "f:2:13: expected one of",
            "`method`",
        ),
        (
            "rules:\n  - then: {fail_at_begn: {code: X}}",
            "f:2:12: expected one of",
            "`fail_at_begin`",
        ),
        (
            "rules:\n  - match: {method: PUTT}\n    then: hang",
            "f:2:21: expected one of",
            "`PUT`",
        ),
        ("rules:\n  - match: {}", "f:2:5: expected `then`", ""),
        ("rules: 3", "f:1:8: expected a list of rules", ""),
        (
            "rules:\n  - then: {fail_at_begin: {code: New}}",
            "expected `status`",
            "",
        ),
        (
            "rules:\n  - then: {throttle: {retry_after: soon}}",
            "expected a whole number, found `soon`",
            "",
        ),
        ("rules: [\n", "f:2:1", ""),
        ("a: 1\na: 2", "f:2:1: the key `a` stands twice", ""),
        ("- 1", "expected a map, found a list", ""),
    ];
    for (text, message, help) in cases {
        let error = Faults::parse(text, "f").expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
        assert!(error.contains(help), "{text}: {error}");
    }
}

/// What is refused of rules about hardware, the past, tags, evictions and quota: the whole text.
const REFUSALS: &[(&str, &str)] = &[
    (
        "then: {fail_allocation: {code: AllocationFailure}}",
        "1:43: expected one of `SkuNotAvailable`, `AllocationFailed`, `ZonalAllocationFailed`, `OverconstrainedAllocationRequest`, `OverconstrainedZonalAllocationRequest`, found `AllocationFailure` (did you mean `AllocationFailed`?)",
    ),
    (
        "then: {fail_allocation: {available: many}}",
        "1:48: expected a whole number, found `many`",
    ),
    (
        "match: {size: Standard_D4_v55}, then: fail_allocation",
        "1:26: expected a size of the catalogue or a pattern, found `Standard_D4_v55` (did you mean `Standard_D4_v5`?)",
    ),
    (
        "match: {location: eastuss}, then: fail_allocation",
        "1:30: expected a region, found `eastuss` (did you mean `eastus`?)",
    ),
    (
        "match: {priority: cheap}, then: fail_allocation",
        "1:30: expected one of `spot`, `regular`, found `cheap`",
    ),
    (
        "match: {grouping: scaleset}, then: fail_allocation",
        "1:30: expected one of `scale_set`, `availability_set`, `proximity_placement_group`, `capacity_reservation_group`, `none`, found `scaleset` (did you mean `scale_set`?)",
    ),
    (
        "match: {zone: 1}, then: hang",
        "1:20: expected `then: fail_allocation` with `zone`",
    ),
    (
        "match: {until: soon}, then: hang",
        "1:27: expected seconds or a time such as `2026-08-01T00:10:00Z`, found `soon`",
    ),
    (
        "match: {page: 0}, then: hang",
        "1:26: expected pages counted from 1, found `0`",
    ),
    (
        "match: {nth: [1, 0]}, then: hang",
        "1:25: expected requests counted from 1, found `0`",
    ),
    (
        "match: {count: 0}, then: hang",
        "1:27: expected at least 1, found `0`",
    ),
    (
        "match: {from: 20, until: 20}, then: hang",
        "1:37: expected a time after `from`",
    ),
    (
        "name: a, match: {follows: a}, then: hang",
        "1:38: expected another rule, found `a` itself",
    ),
    (
        "name: a, match: {follows: b}, then: hang",
        "1:38: expected `a`, found `b`",
    ),
    ("then: stale", "1:18: expected `seconds` or `reads`"),
    (
        "then: {stale: {seconds: 1, reads: 2}}",
        "1:46: expected either `seconds` or `reads`, found both",
    ),
    (
        "then: {modify_tags: {later: 5}}",
        "1:19: expected tags in `add`, `set` or `remove`",
    ),
    (
        "then: {modify_tags: {add: [a]}}",
        "1:38: expected a map, found a list",
    ),
    (
        "then: {modify_tags: {remove: a, on_write: no}}",
        "1:54: expected `true` or `false`",
    ),
    (
        "at: 5, then: {evict: {order: random}}",
        "1:41: expected one of `name`, `oldest`, `newest`, found `random`",
    ),
    (
        "at: 5, then: {evict: {sise: x}}",
        "1:34: expected one of `size`, `location`, `zone`, `name`, `group`, `count`, `order`, found `sise` (did you mean `size`?)",
    ),
    (
        "at: 5, match: {}, then: {evict: {}}",
        "1:26: expected either `at` or `match`, found both",
    ),
    (
        "at: 5, then: hang",
        "1:16: expected `then: evict` or `then: set_quota` with `at`",
    ),
    (
        "at: [], then: {evict: {}}",
        "1:16: expected a time, found an empty list",
    ),
    (
        "at: 5, then: {set_quota: {location: eastus}}",
        "1:26: expected `location` and `limits`",
    ),
    (
        "at: 5, then: {set_quota: {location: eastus, limits: {core: 1}}}",
        "1:65: expected a counter of quota, found `core` (did you mean `cores`?)",
    ),
    (
        "at: 5, then: {set_quota: {location: eastus, limits: {cores: -1}}}",
        "1:72: expected a whole number, found `-1`",
    ),
    ("then: {expire_token: 5}", "1:33: expected nothing here"),
];

#[test]
fn refusals_of_what_a_rule_does_are_whole() {
    for (rule, refusal) in REFUSALS {
        let text = format!("rules: [ {{ {rule} }} ]");
        let error = Faults::parse(&text, "f").expect_err(rule).to_string();
        assert_eq!(error, format!("f:{refusal}"), "{text}");
    }
}

/// The examples of the documentation with one character less, or another one, here and there.
#[test]
fn no_slip_of_the_pen_breaks_the_reader() {
    const PAGE: &str = include_str!("../../../../docs/sandbox.md");
    let examples = PAGE.split("```yaml\n").skip(1);
    let mut refused = 0;
    for example in examples.filter_map(|rest| rest.split("\n```").next()) {
        let letters: Vec<char> = example.chars().collect();
        for at in (0..letters.len()).step_by(23) {
            for slip in ["", ":"] {
                let before: String = letters.iter().take(at).collect();
                let after: String = letters.iter().skip(at + 1).collect();
                let Err(error) = Faults::parse(&format!("{before}{slip}{after}"), "f") else {
                    continue;
                };
                refused += 1;
                assert!(!error.problems.is_empty());
                for problem in &error.problems {
                    assert!(problem.line > 0 && problem.column > 0, "{error}");
                }
            }
        }
    }
    assert!(refused > 20, "{refused}");
}
