//! The types of the tables: blocks of keys, and the kinds of values that a key takes.

use crate::diag::Code;

/// A block of keys.
pub(crate) struct Block {
    /// Its name in the reference and the JSON schema.
    pub(crate) name: &'static str,
    /// What it is about.
    pub(crate) doc: &'static str,
    /// Its keys, in the order of the reference.
    pub(crate) keys: &'static [Key],
}

/// A key of a block.
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) kind: Kind,
    /// Whether it must be there, and what its absence means.
    pub(crate) presence: Presence,
    /// What it does, with units and range where the kind does not say so.
    pub(crate) doc: &'static str,
    /// A value, as it would be written.
    pub(crate) example: &'static str,
    /// Whether this version acts on it.
    pub(crate) support: Support,
}

/// Whether a key must be there.
#[derive(Clone, Copy)]
pub(crate) enum Presence {
    /// It must.
    Required,
    /// It need not; without it there is nothing.
    Optional,
    /// It need not; without it this value holds.
    Default(&'static str),
}

/// Whether this version acts on a key or a value.
#[derive(Clone, Copy)]
pub(crate) enum Support {
    /// It does.
    Now,
    /// It understands it and refuses it.
    NotYet(&'static Later),
}

/// Why something is refused that will be supported.
pub(crate) struct Later {
    /// What this version does not do: the end of a sentence that begins with "this version".
    pub(crate) lacks: &'static str,
    /// What to do instead.
    pub(crate) instead: &'static str,
}

/// The values that a key takes. Unions are told apart by what stands there: a word, another
/// single value, a list or a block.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Words with a meaning of their own.
    pub(crate) words: &'static [Word],
    /// Other single values.
    pub(crate) scalar: Option<Form>,
    /// Lists.
    pub(crate) list: Option<&'static List>,
    /// Blocks with fixed keys.
    pub(crate) block: Option<&'static Block>,
    /// Blocks with free keys.
    pub(crate) map: Option<&'static Map>,
    /// Whether nothing (`null`) is a value too.
    pub(crate) null: bool,
    /// Words that people write here, each with what to write instead.
    pub(crate) mistakes: &'static [(&'static str, &'static str)],
    /// Whether a single value here would be a secret that must not stand in a spec.
    pub(crate) secret: bool,
}

/// A word with a meaning of its own.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    /// The word.
    pub(crate) text: &'static str,
    /// What it means.
    pub(crate) doc: &'static str,
    /// Whether this version acts on it.
    pub(crate) support: Support,
}

/// A form of single values.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer {
        /// The smallest.
        least: u32,
        /// The largest.
        most: u32,
    },
    /// An exact decimal number.
    Decimal(&'static Decimals),
    /// Text of a form.
    Text(&'static TextForm),
}

/// A form of decimal numbers.
pub(crate) struct Decimals {
    /// What is expected, for messages.
    pub(crate) expected: &'static str,
    /// Most digits behind the point.
    pub(crate) most_digits: u32,
    /// Whether `-1` is a value as well.
    pub(crate) minus_one: bool,
}

/// A form of texts.
pub(crate) struct TextForm {
    /// What is expected, for messages.
    pub(crate) expected: &'static str,
    /// A regular expression (ECMA 262) that every valid text matches.
    pub(crate) pattern: &'static str,
    /// Says what is wrong with a text.
    pub(crate) check: fn(&str) -> Verdict,
    /// Whether a number or a boolean is taken as the text that is written.
    pub(crate) as_written: bool,
    /// Whether messages must not repeat the text.
    pub(crate) private: bool,
}

/// What is wrong with a text; the message says what is expected and found.
pub(crate) type Verdict = Result<(), Refusal>;

/// Why a text is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The code; an invalid value unless it is something worse.
    pub(crate) code: Code,
    /// What exactly is wrong, behind "expected …, found …".
    pub(crate) reason: Option<String>,
    /// What to write instead.
    pub(crate) help: Option<String>,
}

/// A list.
pub(crate) struct List {
    /// What its items are called.
    pub(crate) nouns: &'static str,
    /// What its items are.
    pub(crate) item: Kind,
    /// Whether it needs an item.
    pub(crate) not_empty: bool,
    /// Whether no item may stand twice. Compared without case and spaces.
    pub(crate) distinct: bool,
}

/// A block with free keys.
pub(crate) struct Map {
    /// What one entry is called.
    pub(crate) noun: &'static str,
    /// The form of its keys.
    pub(crate) key: &'static TextForm,
    /// What its values are.
    pub(crate) value: Kind,
    /// Whether it needs an entry.
    pub(crate) not_empty: bool,
    /// Most entries.
    pub(crate) most: usize,
    /// What to do when there are more.
    pub(crate) too_many: &'static str,
}

impl Refusal {
    /// A refusal without more words.
    pub(crate) fn plain() -> Self {
        Self {
            code: Code::SpecInvalidValue,
            reason: None,
            help: None,
        }
    }

    /// A refusal with its reason.
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..Self::plain()
        }
    }

    /// A refusal with what to write instead.
    pub(crate) fn instead(help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..Self::plain()
        }
    }

    /// The same with help.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Kind {
    const NOTHING: Self = Self {
        words: &[],
        scalar: None,
        list: None,
        block: None,
        map: None,
        null: false,
        mistakes: &[],
        secret: false,
    };

    /// One of these words.
    pub(crate) const fn words(words: &'static [Word]) -> Self {
        Self::NOTHING.or_words(words)
    }

    /// A single value of this form.
    pub(crate) const fn form(form: Form) -> Self {
        Self {
            scalar: Some(form),
            ..Self::NOTHING
        }
    }

    /// A text of this form.
    pub(crate) const fn text(form: &'static TextForm) -> Self {
        Self::form(Form::Text(form))
    }

    /// `true` or `false`.
    pub(crate) const fn boolean() -> Self {
        Self::form(Form::Boolean)
    }

    /// A whole number in a range.
    pub(crate) const fn integer(least: u32, most: u32) -> Self {
        Self::form(Form::Integer { least, most })
    }

    /// A list.
    pub(crate) const fn list(list: &'static List) -> Self {
        Self {
            list: Some(list),
            ..Self::NOTHING
        }
    }

    /// A block with fixed keys.
    pub(crate) const fn block(block: &'static Block) -> Self {
        Self {
            block: Some(block),
            ..Self::NOTHING
        }
    }

    /// A block with free keys.
    pub(crate) const fn map(map: &'static Map) -> Self {
        Self {
            map: Some(map),
            ..Self::NOTHING
        }
    }

    /// Or one of these words.
    pub(crate) const fn or_words(mut self, words: &'static [Word]) -> Self {
        self.words = words;
        self
    }

    /// Or a list.
    pub(crate) const fn or_list(mut self, list: &'static List) -> Self {
        self.list = Some(list);
        self
    }

    /// Or a block.
    pub(crate) const fn or_block(mut self, block: &'static Block) -> Self {
        self.block = Some(block);
        self
    }

    /// Or nothing.
    pub(crate) const fn or_null(mut self) -> Self {
        self.null = true;
        self
    }

    /// With words that people write here, each with what to write instead.
    pub(crate) const fn not(mut self, mistakes: &'static [(&'static str, &'static str)]) -> Self {
        self.mistakes = mistakes;
        self
    }

    /// Where a single value would be a secret.
    pub(crate) const fn no_secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// What is expected, for messages: `` `auto`, a size such as … or a block ``.
    pub(crate) fn expected(&self) -> String {
        let mut parts: Vec<String> = self
            .words
            .iter()
            .map(|word| format!("`{}`", word.text))
            .collect();
        parts.extend(self.scalar.map(Form::expected));
        parts.extend(self.list.map(|list| format!("a list of {}", list.nouns)));
        if let Some(block) = self.block {
            let keys: Vec<String> = block
                .keys
                .iter()
                .map(|key| format!("`{}`", key.name))
                .collect();
            parts.push(format!("a block of {}", joined(&keys, "and")));
        }
        if let Some(map) = self.map {
            parts.push(format!("a block with a key for each {}", map.noun));
        }
        if self.null {
            parts.push("`null`".to_owned());
        }
        let expected = joined(&parts, "or");
        if self.words.len() == parts.len() && parts.len() > 1 {
            format!("one of {expected}")
        } else {
            expected
        }
    }
}

impl Form {
    /// What is expected, for messages.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Integer { least, most } if least == most => format!("the number `{least}`"),
            Self::Integer { least, most } => format!("a whole number from {least} to {most}"),
            Self::Decimal(form) => form.expected.to_owned(),
            Self::Text(form) => form.expected.to_owned(),
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn joined(parts: &[String], conjunction: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [front @ .., last] => format!("{} {conjunction} {last}", front.join(", ")),
    }
}
