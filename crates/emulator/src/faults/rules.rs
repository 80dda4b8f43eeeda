//! Rules: which requests they fit, and what they do.

use std::collections::BTreeSet;

use crate::{http::Method, store::entry::Failure};

/// Rules that make requests fail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    pub(super) rules: Vec<Rule>,
    /// Bearer tokens that count as expired.
    pub(super) expired: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(super) name: String,
    pub(super) matching: Match,
    pub(super) action: Action,
    /// Requests that matched so far.
    pub(super) seen: u64,
    /// Requests that it acted on so far.
    pub(super) fired: u64,
}

/// Which requests a rule is about; what is left out fits everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Match {
    pub(super) methods: BTreeSet<Method>,
    /// Pattern of the type, with the action at its end for actions.
    pub(super) kind: Option<String>,
    /// Pattern of the whole path.
    pub(super) path: Option<String>,
    /// Pattern of the last name.
    pub(super) name: Option<String>,
    /// Only these of the matching requests, counted from 1.
    pub(super) nth: BTreeSet<u64>,
    /// Only after so many matching requests.
    pub(super) after: u64,
    /// So many times at most.
    pub(super) count: Option<u64>,
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    FailAtBegin {
        status: u16,
        code: String,
        message: String,
        retry_after: Option<u64>,
    },
    FailInOperation(Failure),
    Throttle {
        retry_after: u64,
    },
    /// The connection is closed and nothing is done.
    DropBefore,
    /// The work is done and the connection is closed instead of an answer.
    DropAfterAcceptance,
    /// There is never an answer.
    Hang,
    /// The answer takes so many seconds of Azure's time.
    Slow {
        seconds: u64,
    },
}

/// What rules look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) method: Method,
    pub(crate) kind: &'a str,
    pub(crate) path: &'a str,
    pub(crate) name: &'a str,
}

impl Faults {
    /// No faults at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Names of the rules, with how often each fired.
    pub fn fired(&self) -> impl Iterator<Item = (&str, u64)> {
        self.rules
            .iter()
            .map(|rule| (rule.name.as_str(), rule.fired))
    }

    /// Adds the rules and tokens of others behind these.
    pub fn extend(&mut self, others: Self) {
        self.rules.extend(others.rules);
        self.expired.extend(others.expired);
    }

    pub(crate) fn is_expired(&self, token: &str) -> bool {
        self.expired.contains(token)
    }

    /// The rule that acts on a request, and what it does. Every rule counts what fits it; the first acts.
    pub(crate) fn decide(&mut self, subject: Subject<'_>) -> Option<(String, Action)> {
        let mut decided = None;
        for rule in &mut self.rules {
            if !rule.matching.fits(subject) {
                continue;
            }
            rule.seen += 1;
            let matching = &rule.matching;
            let acts = rule.seen > matching.after
                && (matching.nth.is_empty() || matching.nth.contains(&rule.seen))
                && matching.count.is_none_or(|count| rule.fired < count);
            if acts && decided.is_none() {
                rule.fired += 1;
                decided = Some((rule.name.clone(), rule.action.clone()));
            }
        }
        decided
    }
}

impl Match {
    fn fits(&self, subject: Subject<'_>) -> bool {
        let pattern = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| glob(pattern, text))
        };
        (self.methods.is_empty() || self.methods.contains(&subject.method))
            && pattern(&self.kind, subject.kind)
            && pattern(&self.path, subject.path)
            && pattern(&self.name, subject.name)
    }
}

/// Whether a text fits a pattern of `*` and `?`, without regard to case.
fn glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let text: Vec<char> = text.to_lowercase().chars().collect();
    let (mut at, mut place) = (0, 0);
    // Where to go on after a mismatch: the last star, and the text it has swallowed so far.
    let mut retry: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at, place));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || text.get(place) == Some(&wanted) => {
                at += 1;
                place += 1;
            }
            Some(_) | None => match retry {
                Some((star, swallowed)) => {
                    retry = Some((star, swallowed + 1));
                    at = star + 1;
                    place = swallowed + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str) -> Subject<'_> {
        Subject {
            method: Method::Put,
            kind: "Microsoft.Compute/virtualMachines",
            path: "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm",
            name,
        }
    }

    #[test]
    fn patterns_fit_without_regard_to_case() {
        for (pattern, text, fits) in [
            ("*", "", true),
            (
                "Microsoft.Compute/*",
                "microsoft.compute/virtualMachines",
                true,
            ),
            ("*-train-?", "x-train-1", true),
            ("*-train-?", "x-train-10", false),
            ("*a*b", "aaxbab", true),
            ("a", "", false),
            ("?*", "", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn rules_count_what_fits_them_and_the_first_acts() {
        let mut faults = Faults::parse(
            "rules:\n\
             - {name: second, match: {method: PUT, nth: 2}, then: hang}\n\
             - {name: rest, match: {name: 'vm*', after: 1, count: 2}, then: {throttle: {retry_after: 3}}}\n",
            "f",
        )
        .expect("rules");
        let names: Vec<Option<String>> = (0..5)
            .map(|_| faults.decide(subject("vm1")).map(|(name, _)| name))
            .collect();
        let expected = [None, Some("second"), Some("rest"), Some("rest"), None];
        assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
        assert_eq!(faults.decide(subject("other")), None);
    }

    #[test]
    fn json_is_taken_and_known_codes_bring_their_message() {
        let faults = Faults::parse(
            r#"{"rules": [{"then": {"fail_in_operation": {"code": "VMExtensionProvisioningError"}}}]}"#,
            "f",
        )
        .expect("rules");
        let mut faults = faults;
        let Some((name, Action::FailInOperation(failure))) = faults.decide(subject("vm")) else {
            panic!("expected the rule to act");
        };
        assert_eq!(name, "rule 1");
        assert!(failure.allocated);
        assert!(failure.message.contains("processing an extension"));
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
}
