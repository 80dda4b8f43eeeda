//! "Did you mean": the nearest of some names.

/// Similarity above which a name is worth suggesting, from 0 to 1. Our judgement: one or two
/// wrong letters in a word of usual length stay above it, another word does not.
const CLOSE: f64 = 0.85;

/// The name most like `text`, where one is close enough.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(text);
    let scored = names.into_iter().map(|name| {
        let name_folded = folded(name);
        let score = if name_folded == wanted {
            1.0
        } else {
            strsim::jaro_winkler(&wanted, &name_folded)
        };
        (score, name)
    });
    let best = scored.fold(None, |best: Option<(f64, &str)>, candidate| match best {
        Some(best) if best.0 >= candidate.0 => Some(best),
        _ => Some(candidate),
    })?;
    let swapped = strsim::damerau_levenshtein(&wanted, &folded(best.1)) <= 1;
    (best.0 > CLOSE || (swapped && wanted.chars().count() > 2)).then_some(best.1)
}

/// Without case and separators, so that `nodeCount` and `node-count` are `node_count`.
pub(crate) fn folded(text: &str) -> String {
    text.chars()
        .filter(|character| !matches!(character, '-' | '_' | ' '))
        .take(64)
        .map(|character| character.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested_and_others_are_not() {
        let check = |text: &str, expected: Option<&str>| {
            let names = ["eastus", "eastus2", "westeurope", "node_count"];
            assert_eq!(nearest(text, names), expected, "{text}");
        };
        check("eastsu", Some("eastus"));
        check("WestEurop", Some("westeurope"));
        check("eastus", Some("eastus"));
        check("nodeCount", Some("node_count"));
        check("mars", None);
    }
}
