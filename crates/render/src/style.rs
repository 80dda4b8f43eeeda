//! How text is drawn: with or without colour, and how wide.

/// The narrowest width that is drawn for; narrower terminals wrap by themselves.
const NARROWEST: usize = 20;

/// How text is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours are written.
    pub color: bool,
    /// Columns of the terminal; fewer than 20 count as 20.
    pub width: usize,
}

impl Style {
    /// Without colour, for a width.
    pub const fn plain(width: usize) -> Self {
        Self {
            color: false,
            width,
        }
    }

    /// Columns that may be filled.
    pub(crate) fn columns(self) -> usize {
        self.width.max(NARROWEST)
    }
}

/// What a piece of text is, which gives its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ink {
    /// Text.
    #[default]
    Plain,
    /// A heading, or the name of something.
    Strong,
    /// What may be skipped.
    Faint,
    /// What is made, or is well.
    Good,
    /// What is changed, or wants a look.
    Caution,
    /// What is deleted, or is wrong.
    Bad,
    /// What stands for something else: addresses, codes.
    Accent,
}

impl Ink {
    /// The text in this ink.
    pub(crate) fn paint(self, text: &str, style: Style) -> String {
        let codes = match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Good => Some("32"),
            Self::Caution => Some("33"),
            Self::Bad => Some("31"),
            Self::Accent => Some("36"),
        };
        match codes {
            Some(codes) if style.color && !text.is_empty() => {
                format!("\u{1b}[{codes}m{text}\u{1b}[0m")
            }
            Some(_) | None => text.to_owned(),
        }
    }
}
