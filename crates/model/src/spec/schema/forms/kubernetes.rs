//! Texts that Kubernetes reads.

use super::{form, form_as_written};
use crate::spec::schema::kind::{Refusal, TextForm, Verdict};

/// The longest name of a label, and its longest value.
const LONGEST_NAME: usize = 63;
const LONGEST_PREFIX: usize = 253;

pub(crate) const LABEL: TextForm = form_as_written(
    "the name of a label such as `team` or `example.com/team`",
    "^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$",
    label,
);

pub(crate) const LABEL_VALUE: TextForm = form_as_written(
    "the value of a label: at most 63 letters, digits, `.`, `_` and `-`",
    "^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$",
    |text| verdict(text.is_empty() || is_name(text)),
);

pub(crate) const TAINT: TextForm = form(
    "a taint such as `sku=gpu:NoSchedule`",
    "^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?(=([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?)?:(NoSchedule|PreferNoSchedule|NoExecute)$",
    taint,
);

fn verdict(is_sound: bool) -> Verdict {
    if is_sound {
        Ok(())
    } else {
        Err(Refusal::plain())
    }
}

fn is_name(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    text.len() <= LONGEST_NAME
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

fn is_prefix(text: &str) -> bool {
    let is_end = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let bytes = text.as_bytes();
    text.len() <= LONGEST_PREFIX
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(byte))
}

fn label(text: &str) -> Verdict {
    let name = match text.split_once('/') {
        Some((prefix, _)) if !is_prefix(prefix) => return verdict(false),
        Some((_, name)) => name,
        None => text,
    };
    verdict(is_name(name))
}

fn taint(text: &str) -> Verdict {
    let Some((rest, effect)) = text.rsplit_once(':') else {
        return verdict(false);
    };
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    verdict(effects.contains(&effect) && label(key).is_ok() && (value.is_empty() || is_name(value)))
}
