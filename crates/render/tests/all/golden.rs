//! Golden texts: files that hold what a text must be, byte for byte.
//!
//! `UPDATE_GOLDENS=1 cargo test -p tensorform-render` writes them anew.

use std::path::Path;

/// Compares a text with `tests/goldens/<name>.txt`, and checks what holds for every text:
/// no blanks at the end of a line, and one line feed at the end.
#[expect(
    clippy::disallowed_methods,
    reason = "goldens are files; only this test helper reads and writes them"
)]
pub(crate) fn check(name: &str, text: &str) {
    check_blanks(name, text);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/goldens")
        .join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(&path, text).expect("the golden can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        text, expected,
        "{name}: run with UPDATE_GOLDENS=1 and read the difference"
    );
}

/// Panics where a line ends with blanks.
pub(crate) fn check_blanks(name: &str, text: &str) {
    for line in without_colours(text).split('\n') {
        assert_eq!(
            line,
            line.trim_end_matches([' ', '\t']),
            "{name}: blanks at the end of {line:?}"
        );
    }
}

/// The text without colour codes.
pub(crate) fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = code.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}
