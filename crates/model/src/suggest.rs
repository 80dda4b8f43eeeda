//! "Did you mean": the nearest of some names.

/// Similarity above which a name is worth suggesting, from 0 to 1. Our judgement: one or two
/// wrong letters in a word of usual length stay above it, another word does not.
const CLOSE: f64 = 0.8;

/// The name most like `text`, compared without case, where one is close enough.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = text.to_lowercase();
    let scored = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name));
    let best = scored.fold(None, |best: Option<(f64, &str)>, scored| match best {
        Some(best) if best.0 >= scored.0 => Some(best),
        _ => Some(scored),
    })?;
    (best.0 > CLOSE).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested_and_others_are_not() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                nearest(text, ["eastus", "eastus2", "westeurope"]),
                expected,
                "{text}"
            );
        };
        check("eastsu", Some("eastus"));
        check("WestEurop", Some("westeurope"));
        check("eastus", Some("eastus"));
        check("mars", None);
    }
}
