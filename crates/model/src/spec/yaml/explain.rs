//! The parser's messages in our words, with what to do.

/// Parts of the parser's messages, each with what they mean and what to do; the first that
/// is found holds.
const MEANINGS: [(&str, &str, &str); 16] = [
    (
        "mapping values are not allowed",
        "expected the end of a value, found `:`",
        "put a value that contains `: ` in quotes, and indent the keys of one block equally",
    ),
    (
        "unknown anchor",
        "an alias has no anchor that it could repeat",
        "put a text that begins with `*` in quotes",
    ),
    (
        "anchor",
        "`&` or `*` begins a value without a name behind it",
        "put a text that begins with `&` or `*` in quotes",
    ),
    (
        "quoted scalar, found unexpected end of stream",
        "a quoted text has no end",
        "close the quotes",
    ),
    (
        "escape",
        "a text in double quotes has an escape that YAML does not know",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    (
        "hexadecimal",
        "a text in double quotes has an escape without its digits",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    (
        "double-quoted scalar",
        "expected the end of a value behind its quotes",
        "put the whole value in quotes, and write `\\\"` for a quote in it",
    ),
    (
        "flow sequence",
        "a list in `[…]` has no end or lacks a comma",
        "separate its items with `,` and close it with `]`",
    ),
    (
        "flow mapping",
        "a block in `{…}` has no end or lacks a comma",
        "separate its keys with `,` and close it with `}`",
    ),
    (
        "flow construct",
        "a line inside `[…]` or `{…}` is not indented more than its key",
        "indent it, or close the bracket before it",
    ),
    (
        "bracket",
        "a bracket closes nothing",
        "remove it, or put the value in quotes",
    ),
    (
        "block sequence entries",
        "a list begins on the line of its key",
        "begin the list on the next line, or write it as `[…]`",
    ),
    (
        "block scalar",
        "the lines of a text behind `|` or `>` are not indented equally",
        "indent them more than the key and equally",
    ),
    (
        "block collection",
        "the keys or items of a block do not line up",
        "indent the keys of one block equally, and begin each item of a list with `- `",
    ),
    (
        "block mapping",
        "the keys or items of a block do not line up",
        "indent the keys of one block equally, and begin each item of a list with `- `",
    ),
    (
        "simple key",
        "expected `:` behind a key",
        "write `key: value`, and indent what belongs to the key above",
    ),
];

/// What a message of the parser means, and what to do. `before` and `rest` are the text on
/// both sides of its place, `open` the bracket that is open there.
pub(super) fn explain(
    info: &str,
    before: &str,
    rest: &str,
    open: Option<char>,
) -> (String, Option<String>) {
    let help = |message: &str, help: &str| (message.to_owned(), Some(help.to_owned()));
    if before.ends_with('$') && rest.starts_with('{') {
        return help(
            "`${…}` stands without quotes inside `[…]` or `{…}`",
            "put it in quotes: `\"${var.name}\"`; it is still read as a number where one is expected",
        );
    }
    let found = rest.chars().next().filter(|found| !found.is_control());
    if let (true, Some(found)) = (info.contains("unexpected character"), found) {
        return (
            format!("a value cannot begin with `{found}`"),
            Some("put it in quotes".to_owned()),
        );
    }
    let info = match (info.contains("illegal placement of ':'"), open) {
        (true, Some('[')) => "flow sequence",
        (true, Some('{')) => "flow mapping",
        (true, _) => "mapping values are not allowed",
        (false, _) => info,
    };
    match MEANINGS.iter().find(|(part, _, _)| info.contains(part)) {
        Some((_, message, what)) => help(message, what),
        None => help(
            &format!("the spec is no valid YAML: {info}"),
            "look at this line and the one above: indentation, quotes and brackets",
        ),
    }
}
