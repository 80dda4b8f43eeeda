//! The forms of texts: what each expects, the pattern that stands in the JSON schema, and the
//! check that says exactly what is wrong.

pub(crate) mod batch;

pub(crate) mod kubernetes;

pub(crate) mod names;

pub(crate) mod quantities;

pub(crate) mod azure;

pub(crate) mod places;

use super::kind::{Refusal, TextForm, Verdict};

/// A form whose messages may show the text, for texts that YAML reads as texts.
const fn form(
    expected: &'static str,
    pattern: &'static str,
    check: fn(&str) -> Verdict,
) -> TextForm {
    TextForm {
        expected,
        pattern,
        check,
        as_written: false,
        private: false,
    }
}

/// The same for texts that may look like numbers.
const fn form_as_written(
    expected: &'static str,
    pattern: &'static str,
    check: fn(&str) -> Verdict,
) -> TextForm {
    let mut form = form(expected, pattern, check);
    form.as_written = true;
    form
}

/// Accepts a text that begins and goes on with these bytes and has a length in this range.
fn plain(
    text: &str,
    lengths: std::ops::RangeInclusive<usize>,
    first: fn(u8) -> bool,
    other: fn(u8) -> bool,
) -> Verdict {
    let mut bytes = text.bytes();
    let begins = bytes.next().is_some_and(first);
    if begins && bytes.all(other) && lengths.contains(&text.len()) {
        Ok(())
    } else {
        Err(Refusal::plain())
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

    use super::*;

    /// Forms whose pattern says all that the check says.
    fn exact() -> Vec<(&'static str, &'static TextForm)> {
        vec![
            ("stack", &names::STACK),
            ("pool", &names::POOL),
            ("variable", &names::VARIABLE),
            ("environment", &names::ENVIRONMENT),
            ("family", &azure::FAMILY),
            ("size", &azure::SIZE),
            ("region", &azure::REGION),
            ("subscription", &azure::SUBSCRIPTION),
            ("memory", &quantities::MEMORY),
            ("urn", &azure::URN),
            ("tag pattern", &names::TAG_PATTERN),
        ]
    }

    #[test]
    fn what_a_pattern_makes_is_accepted() {
        let mut runner = TestRunner::deterministic();
        for (name, form) in exact() {
            let pattern = form.pattern.trim_start_matches('^').trim_end_matches('$');
            let strategy = proptest::string::string_regex(pattern).expect(pattern);
            for _ in 0..200 {
                let text = strategy.new_tree(&mut runner).expect(name).current();
                let verdict = (form.check)(&text);
                assert!(verdict.is_ok(), "{name}: `{text}` {verdict:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn checks_never_panic(text in ".{0,40}") {
            for (_, form) in exact() {
                let _ = (form.check)(&text);
            }
        }
    }
}
