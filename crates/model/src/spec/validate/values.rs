//! Holds single values against the forms that a key takes.

use crate::{
    diag::{At, Code, Diagnostic},
    spec::{
        findings::Findings,
        schema::{
            forms::quantities,
            kind::{Decimals, Form, Key, Kind, Refusal, Support, TextForm},
        },
        show,
        trail::Trail,
        yaml::{
            node::{Node, Reference, Scalar},
            scalar::{Typed, resolve},
        },
    },
    suggest,
};

use super::{BOOLEANS_OF_YAML_1_1, wrong_type};

/// Holds a single value against what a key takes.
pub(super) fn scalar(
    scalar: &Scalar,
    node: &Node,
    name: &str,
    kind: &Kind,
    trail: &Trail<'_>,
    findings: &mut Findings,
) {
    let typed = resolve(scalar);
    if typed == Typed::Null {
        if !kind.null {
            findings.push(no_value(name, kind, trail));
        }
        return;
    }
    if kind.secret {
        findings.push(secret(name, kind, trail));
        return;
    }
    if let Some(word) = kind.words.iter().find(|word| word.text == scalar.text) {
        if let Support::NotYet(later) = word.support {
            let message = format!(
                "`{name}: {}` is not supported yet: this version {}",
                word.text, later.lacks
            );
            findings.push(
                Diagnostic::new(Code::SpecNotSupportedYet, trail.value(), message)
                    .with_help(later.instead),
            );
        }
        return;
    }
    if let Some((_, instead)) = kind.mistakes.iter().find(|(word, _)| *word == scalar.text) {
        let finding = invalid(scalar, name, kind, trail);
        findings.push(finding.with_help(*instead));
        return;
    }
    if let Some(problem) = problem(scalar, &typed, kind) {
        findings.push(problem.finding(scalar, node, name, kind, trail));
    }
}

fn problem(scalar: &Scalar, typed: &Typed, kind: &Kind) -> Option<Problem> {
    match kind.scalar {
        Some(Form::Boolean) => boolean(scalar, typed).err(),
        Some(Form::Integer { least, most }) => integer(scalar, typed, least, most).err(),
        Some(Form::Decimal(form)) => decimal(scalar, typed, form).err(),
        Some(Form::Text(form)) => text(scalar, typed, form).err(),
        None if !kind.words.is_empty() && *typed == Typed::Text => {
            Some(Problem::Value(Refusal::plain()))
        }
        None => Some(Problem::Type(list_of_one(scalar, kind))),
    }
}

/// What is wrong with a single value.
enum Problem {
    /// It is of another type; what may help.
    Type(Option<String>),
    /// It is outside of its form.
    Value(Refusal),
}

impl Problem {
    fn finding(
        self,
        scalar: &Scalar,
        node: &Node,
        name: &str,
        kind: &Kind,
        trail: &Trail<'_>,
    ) -> Diagnostic {
        let problem = if comes_from_environment(scalar) {
            self.without_words()
        } else {
            self
        };
        match problem {
            Self::Type(help) if is_private(kind) => {
                let found = show::found_privately(node);
                let message = format!("`{name}` takes {}, found {found}", kind.expected());
                let finding = Diagnostic::new(Code::SpecWrongType, trail.value(), message);
                help.into_iter().fold(finding, Diagnostic::with_help)
            }
            Self::Type(help) => {
                let finding = wrong_type(node, name, kind, trail);
                help.into_iter().fold(finding, Diagnostic::with_help)
            }
            Self::Value(refusal) if refusal.code == Code::SpecSecret => {
                let expected = kind.expected();
                let message = format!("`{name}` takes {expected}, found a text with a secret");
                refused(refusal, trail.value(), message)
            }
            Self::Value(refusal) => {
                let help = refusal.help.or_else(|| near_word(scalar, kind));
                let help = in_block(scalar, name, kind).or(help);
                let message = invalid(scalar, name, kind, trail).message;
                refused(Refusal { help, ..refusal }, trail.value(), message)
            }
        }
    }

    /// The same without what may repeat the value.
    fn without_words(self) -> Self {
        match self {
            Self::Type(_) => Self::Type(None),
            Self::Value(refusal) if refusal.code == Code::SpecSecret => Self::Value(refusal),
            Self::Value(refusal) => Self::Value(Refusal {
                reason: None,
                help: None,
                ..refusal
            }),
        }
    }
}

fn comes_from_environment(scalar: &Scalar) -> bool {
    matches!(
        scalar.reference,
        Reference::Replaced {
            from_environment: true,
            ..
        }
    )
}

fn no_value(name: &str, kind: &Kind, trail: &Trail<'_>) -> Diagnostic {
    let message = format!("`{name}` has no value, expected {}", kind.expected());
    Diagnostic::new(Code::SpecWrongType, trail.value(), message)
        .with_help(format!("give it a value, or remove `{name}`"))
}

fn secret(name: &str, kind: &Kind, trail: &Trail<'_>) -> Diagnostic {
    let message = format!(
        "`{name}` takes {}, found a text that may be a secret",
        kind.expected()
    );
    Diagnostic::new(Code::SpecSecret, trail.value(), message)
        .with_help(format!(
            "write `{name}: {{from_env: NAME}}`, and put the secret in that environment variable"
        ))
        .with_help("change the secret if the spec was shared")
}

fn invalid(scalar: &Scalar, name: &str, kind: &Kind, trail: &Trail<'_>) -> Diagnostic {
    let message = format!(
        "`{name}` takes {}, found {}",
        kind.expected(),
        shown(scalar, kind)
    );
    Diagnostic::new(Code::SpecInvalidValue, trail.value(), message)
}

/// A finding from a refusal.
pub(super) fn refused(refusal: Refusal, at: At, message: String) -> Diagnostic {
    let message = match refusal.reason {
        Some(reason) => format!("{message}: {reason}"),
        None => message,
    };
    let finding = Diagnostic::new(refusal.code, at, message);
    refusal
        .help
        .into_iter()
        .fold(finding, Diagnostic::with_help)
}

fn is_private(kind: &Kind) -> bool {
    matches!(kind.scalar, Some(Form::Text(form)) if form.private)
}

/// A single value as messages show it; nothing of it where it could be a secret.
pub(super) fn shown(scalar: &Scalar, kind: &Kind) -> String {
    if is_private(kind) {
        "something else".to_owned()
    } else {
        show::scalar(scalar)
    }
}

/// Help for a text that a key of the kind's block takes: `size: H100` is `size: {gpu: H100}`.
fn in_block(scalar: &Scalar, name: &str, kind: &Kind) -> Option<String> {
    if comes_from_environment(scalar) {
        return None;
    }
    let text = scalar.text.as_str();
    let takes = |inner: &&Key| match inner.kind.scalar {
        Some(Form::Text(form)) => !form.as_written && (form.check)(text).is_ok(),
        Some(Form::Boolean | Form::Integer { .. } | Form::Decimal(_)) | None => {
            inner.kind.words.iter().any(|word| word.text == text)
        }
    };
    let inner = kind.block?.keys.iter().find(takes)?;
    Some(format!("write `{name}: {{{}: {text:?}}}`", inner.name))
}

/// Help for a text that is nearly a word.
fn near_word(scalar: &Scalar, kind: &Kind) -> Option<String> {
    if comes_from_environment(scalar) {
        return None;
    }
    suggest::nearest(&scalar.text, kind.words.iter().map(|word| word.text))
        .map(|word| format!("did you mean `{word}`?"))
}

/// Help for a single value where a list is expected.
fn list_of_one(scalar: &Scalar, kind: &Kind) -> Option<String> {
    let list = kind.list?;
    let may_be_shown = !is_private(&list.item) && scalar.text.len() < 60;
    may_be_shown.then(|| format!("write `[{}]` for a list of one", scalar.text))
}

fn boolean(scalar: &Scalar, typed: &Typed) -> Result<(), Problem> {
    match typed {
        Typed::Boolean(_) => Ok(()),
        Typed::Null | Typed::Integer(_) | Typed::Float(_) => {
            Err(Problem::Type(Some("use true or false".to_owned())))
        }
        Typed::Text if BOOLEANS_OF_YAML_1_1.contains(&scalar.text.as_str()) => {
            Err(Problem::Type(Some(format!(
                "use true or false: `{}` is a text in YAML 1.2",
                scalar.text
            ))))
        }
        Typed::Text if ["true", "false"].contains(&scalar.text.as_str()) => {
            Err(Problem::Type(Some("remove the quotes".to_owned())))
        }
        Typed::Text => Err(Problem::Type(Some("use true or false".to_owned()))),
    }
}

fn integer(scalar: &Scalar, typed: &Typed, least: u32, most: u32) -> Result<(), Problem> {
    match typed {
        Typed::Integer(value) if (i128::from(least)..=i128::from(most)).contains(value) => Ok(()),
        Typed::Integer(_) => Err(Problem::Value(Refusal::plain())),
        Typed::Null | Typed::Boolean(_) | Typed::Float(_) => Err(Problem::Type(None)),
        Typed::Text => Err(Problem::Type(number_in_text(scalar))),
    }
}

/// Help for a text that would be a number without what it has around.
fn number_in_text(scalar: &Scalar) -> Option<String> {
    let digits = scalar.text.as_str();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    match (scalar.plain, significant) {
        (_, "") => None,
        (true, value) if value != digits => Some(format!(
            "write `{value}`: a number has no leading zeros, and they do not make it octal"
        )),
        (true, _) => None,
        (false, value) => Some(format!("write `{value}` without quotes")),
    }
}

fn decimal(scalar: &Scalar, typed: &Typed, form: &Decimals) -> Result<(), Problem> {
    match typed {
        Typed::Integer(_) | Typed::Float(_) => {}
        Typed::Null | Typed::Boolean(_) => return Err(Problem::Type(None)),
        Typed::Text => {
            let number = scalar
                .text
                .trim_start_matches(['$', '€'])
                .replace([',', '_'], "");
            let help = quantities::decimal(&number).map(|_| format!("write `{number}`"));
            return Err(Problem::Type(help));
        }
    }
    let Some(value) = quantities::decimal(&scalar.text) else {
        return Err(Problem::Value(Refusal::because(
            "it is no plain decimal number",
        )));
    };
    if form.minus_one && value == rust_decimal::Decimal::NEGATIVE_ONE {
        return Ok(());
    }
    if value <= rust_decimal::Decimal::ZERO || value.normalize().scale() > form.most_digits {
        return Err(Problem::Value(Refusal::plain()));
    }
    if value > rust_decimal::Decimal::from(MOST_MONEY) {
        return Err(Problem::Value(Refusal::because(format!(
            "it is above {MOST_MONEY}"
        ))));
    }
    Ok(())
}

/// Largest amount of money, which stays exact in micro-units.
const MOST_MONEY: u64 = 1_000_000_000_000;

fn text(scalar: &Scalar, typed: &Typed, form: &TextForm) -> Result<(), Problem> {
    let is_text = *typed == Typed::Text || form.as_written;
    let verdict = (form.check)(&scalar.text);
    match (is_text, verdict) {
        (true, verdict) => verdict.map_err(Problem::Value),
        (false, Ok(())) if !form.private => Err(Problem::Type(Some(format!(
            "put it in quotes to make it a text: `\"{}\"`",
            scalar.text
        )))),
        (false, Err(refusal)) if !form.private => Err(Problem::Type(refusal.help)),
        (false, _) => Err(Problem::Type(None)),
    }
}
