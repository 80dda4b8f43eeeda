//! Plan files that earlier versions of the tool wrote: they are read, or refused with a reason,
//! and never misread.

use serde_json::Value;

use crate::harness::Place;

/// Files of format 1.0, as they were written when it was new: what makes, what changes in each
/// way, and what deletes.
const OF_1_0: [(&str, &str); 3] = [
    ("create", include_str!("../plans/1.0/create.plan")),
    ("change", include_str!("../plans/1.0/change.plan")),
    ("destroy", include_str!("../plans/1.0/destroy.plan")),
];

#[test]
fn plans_of_format_1_0_are_still_read() {
    for (name, text) in OF_1_0 {
        let place = Place::empty();
        place.write("old.plan", text);
        let written: Value = serde_json::from_str(text).expect("a document");
        let shown = place.run(&["-o", "json", "show", "old.plan"]);
        let shown = shown.exits(0, name).json();
        assert_eq!(shown, written, "{name}: nothing is lost or made up");
        let text = place.run(&["show", "old.plan"]).exits(0, name).stdout;
        for step in written["steps"].as_array().expect("steps") {
            if step["action"] != "noop" {
                let address = step["address"].as_str().expect("an address");
                assert!(text.contains(address), "{name}: {address} in\n{text}");
            }
        }
    }
}

#[test]
fn what_was_changed_or_is_of_another_format_is_refused_with_the_reason() {
    let (_, text) = OF_1_0[0];
    let edits = [
        (
            "\"count\": 2",
            "\"count\": 3",
            "changed after it was written",
        ),
        (
            "\"format_version\": \"1.0\"",
            "\"format_version\": \"2.0\"",
            "`2.0`, this tool reads `1.0`",
        ),
        (
            "\"format_version\": \"1.0\"",
            "\"format_version\": \"0.9\"",
            "`0.9`, this tool reads `1.0`",
        ),
        ("\"stack\":", "\"stacks\":", "not a plan"),
    ];
    for (old, new, reason) in edits {
        let place = Place::empty();
        assert!(text.contains(old), "{old}");
        place.write("old.plan", &text.replacen(old, new, 1));
        let commands: [&[&str]; 2] = [
            &["show", "old.plan"],
            &["--sandbox=world", "apply", "old.plan", "--yes"],
        ];
        for command in commands {
            let ran = place.run(command).exits(1, reason);
            let said = ran.stderr.replace('\n', " ");
            assert!(
                said.contains("PLAN003") && said.contains(reason),
                "{reason}: {said}"
            );
        }
    }
}
