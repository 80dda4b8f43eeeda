//! Patterns of `*` and `?`.

/// A pattern that texts fit or do not, without regard to case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// Whether nothing but itself fits it.
    pub(super) fn is_plain(text: &str) -> bool {
        !text.contains(['*', '?'])
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        glob(&self.0, text)
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
}
