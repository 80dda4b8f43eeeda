//! What Azure demands of an administrator's password on Windows.

/// Least and most characters.
const LENGTH: std::ops::RangeInclusive<usize> = 12..=123;

/// Kinds of characters of which a password needs three.
const KINDS_NEEDED: usize = 3;

/// Why a password is refused, without a word of it.
pub fn weakness(password: &str) -> Option<String> {
    let length = password.chars().count();
    if !LENGTH.contains(&length) {
        return Some(format!(
            "it has {length} characters, and must have {} to {}",
            LENGTH.start(),
            LENGTH.end()
        ));
    }
    let has = |kind: fn(char) -> bool| password.chars().any(kind);
    let kinds = [
        has(|letter| letter.is_ascii_lowercase()),
        has(|letter| letter.is_ascii_uppercase()),
        has(|letter| letter.is_ascii_digit()),
        has(|letter| !letter.is_ascii_alphanumeric()),
    ];
    let found = kinds.iter().filter(|found| **found).count();
    (found < KINDS_NEEDED).then(|| {
        format!(
            "it has {found} of the four kinds lower case, upper case, digit and other, and must have {KINDS_NEEDED}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_need_length_and_three_kinds() {
        for (password, refused) in [
            ("", true),
            ("Sh0rt!", true),
            ("alllowercaseletters", true),
            ("lower-case-and-hyphens", true),
            ("Upper-and-lower", false),
            ("upper0lower-one", false),
        ] {
            assert_eq!(weakness(password).is_some(), refused, "{password}");
        }
        let long = "aB3".repeat(42);
        assert!(weakness(&long).is_some_and(|why| !why.contains("aB3")));
    }
}
