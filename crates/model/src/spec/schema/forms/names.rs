//! Names that people give: stacks, pools, users, variables and tags.

use super::{form, form_as_written, plain};
use crate::{
    resource::tags,
    spec::schema::kind::{Refusal, TextForm, Verdict},
};

/// Names that Azure refuses for administrators, from the API's own description
/// (`osProfile.adminUsername`).
pub const RESERVED_USERS: [&str; 32] = [
    "administrator",
    "admin",
    "user",
    "user1",
    "test",
    "user2",
    "test1",
    "user3",
    "admin1",
    "1",
    "123",
    "a",
    "actuser",
    "adm",
    "admin2",
    "aspnet",
    "backup",
    "console",
    "david",
    "guest",
    "john",
    "owner",
    "root",
    "server",
    "sql",
    "support",
    "support_388945a0",
    "sys",
    "test2",
    "test3",
    "user4",
    "user5",
];

/// Characters that no tag name has.
const FORBIDDEN_IN_TAGS: [char; 7] = ['<', '>', '%', '&', '\\', '?', '/'];

/// Beginnings of tag names that Azure keeps for itself.
const AZURE_PREFIXES: [&str; 3] = ["microsoft", "azure", "windows"];

pub(crate) const STACK: TextForm = form(
    "a name of 2 to 40 lower-case letters, digits and hyphens that begins with a letter and does not end with a hyphen",
    "^[a-z][a-z0-9-]{0,38}[a-z0-9]$",
    stack,
);

pub(crate) const POOL: TextForm = form_as_written(
    "a pool name of up to 16 lower-case letters, digits and hyphens that begins with a letter",
    "^[a-z][a-z0-9-]{0,15}$",
    |text| {
        plain(text, 1..=16, is_lower, is_name_byte).map_err(|refusal| with_spelling(refusal, text))
    },
);

pub(crate) const USER: TextForm = form(
    "a user name of up to 32 lower-case letters, digits, `_` and `-` that begins with a letter or `_`",
    "^[a-z_][a-z0-9_-]{0,31}$",
    user,
);

pub(crate) const VARIABLE: TextForm = form_as_written(
    "a name of letters, digits, `_` and `-` that begins with a letter",
    "^[A-Za-z][A-Za-z0-9_-]{0,63}$",
    |text| {
        plain(text, 1..=64, is_letter, |byte| {
            byte.is_ascii_alphanumeric() || b"_-".contains(&byte)
        })
    },
);

pub(crate) const VARIABLE_VALUE: TextForm = form_as_written("a single value", "", |_| Ok(()));

pub(crate) const ENVIRONMENT: TextForm = form(
    "the name of an environment variable",
    "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
    |text| {
        plain(
            text,
            1..=128,
            |byte| byte.is_ascii_alphabetic() || byte == b'_',
            |byte| byte.is_ascii_alphanumeric() || byte == b'_',
        )
    },
);

pub(crate) const TAG_NAME: TextForm = form_as_written(
    "a tag name of 1 to 512 characters without `<>%&\\?/`",
    "^[^<>%&\\\\?/\\u0000-\\u001f\\u007f-\\u009f]{1,512}$",
    tag_name,
);

pub(crate) const TAG_VALUE: TextForm = form_as_written(
    "a tag value of up to 256 characters",
    "^[\\s\\S]{0,256}$",
    |text| match text.chars().count() {
        0..=256 => Ok(()),
        count => Err(Refusal::because(format!("it has {count} characters"))),
    },
);

pub(crate) const TAG_PATTERN: TextForm = form(
    "a tag name, or the beginning of one and `*`",
    "^(\\*|[^<>%&\\\\?/*\\u0000-\\u001f\\u007f-\\u009f]{1,511}\\*?)$",
    tag_pattern,
);

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase()
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

fn stack(text: &str) -> Verdict {
    plain(text, 2..=40, is_lower, is_name_byte)
        .and_then(|()| {
            if text.ends_with('-') {
                Err(Refusal::plain())
            } else {
                Ok(())
            }
        })
        .map_err(|refusal| with_spelling(refusal, text))
}

/// Adds a spelling that would be valid, where the text is one but for case and separators.
fn with_spelling(refusal: Refusal, text: &str) -> Refusal {
    let spelling: String = text
        .chars()
        .map(|character| match character {
            '_' | ' ' | '.' => '-',
            other => other.to_ascii_lowercase(),
        })
        .collect();
    let spelling = spelling.trim_matches('-');
    if spelling != text && plain(spelling, 2..=16, is_lower, is_name_byte).is_ok() {
        refusal.with_help(format!("write `{spelling}`"))
    } else {
        refusal
    }
}

fn user(text: &str) -> Verdict {
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_other = |byte: u8| is_name_byte(byte) || byte == b'_';
    let lower = text.to_ascii_lowercase();
    if RESERVED_USERS.contains(&lower.as_str()) {
        return Err(Refusal::because("Azure does not take that name")
            .with_help("use another name, such as `azureuser`"));
    }
    plain(text, 1..=32, is_first, is_other).map_err(|refusal| {
        if plain(&lower, 1..=32, is_first, is_other).is_ok() {
            refusal.with_help(format!("write `{lower}`: images expect lower case"))
        } else {
            refusal
        }
    })
}

fn tag_name(text: &str) -> Verdict {
    let lower = text.to_lowercase();
    if lower.starts_with(tags::PREFIX) {
        return Err(Refusal::because(format!(
            "names with `{}` are the tool's own",
            tags::PREFIX
        )));
    }
    if let Some(prefix) = AZURE_PREFIXES
        .iter()
        .find(|prefix| lower.starts_with(**prefix))
    {
        return Err(Refusal::because(format!(
            "names with `{prefix}` are Azure's own"
        )));
    }
    tag_characters(text, 512)
}

fn tag_characters(text: &str, most: usize) -> Verdict {
    if let Some(found) = text
        .chars()
        .find(|character| FORBIDDEN_IN_TAGS.contains(character) || character.is_control())
    {
        return Err(Refusal::because(format!(
            "it has the character `{}`",
            found.escape_default()
        )));
    }
    match text.chars().count() {
        0 => Err(Refusal::because("it is empty")),
        count if count > most => Err(Refusal::because(format!("it has {count} characters"))),
        _ => Ok(()),
    }
}

fn tag_pattern(text: &str) -> Verdict {
    let name = text.strip_suffix('*').unwrap_or(text);
    if name.contains('*') {
        return Err(Refusal::because("`*` stands at the end only"));
    }
    if name.to_lowercase().starts_with(tags::PREFIX) {
        return Err(Refusal::because(
            "the tool cannot work without the tags it sets itself",
        ));
    }
    if name.is_empty() && text == "*" {
        return Ok(());
    }
    tag_characters(name, 511)
}
