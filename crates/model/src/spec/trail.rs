//! The way from the top of a spec to the value at hand, without a copy for each step.

use std::fmt;

use super::show;
use crate::diag::{At, Segment, SpecPath};

/// A step on the way down, or the top.
#[derive(Clone, Copy)]
pub(crate) enum Trail<'a> {
    /// The whole document.
    Top,
    /// A key of what is above.
    Key(&'a Trail<'a>, &'a str),
    /// An item of what is above.
    Index(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    /// The path, to be kept.
    pub(crate) fn path(&self) -> SpecPath {
        let mut segments = Vec::new();
        let mut trail = self;
        loop {
            match trail {
                Self::Top => break,
                Self::Key(above, key) => {
                    segments.push(Segment::Key((*key).to_owned()));
                    trail = above;
                }
                Self::Index(above, index) => {
                    segments.push(Segment::Index(*index));
                    trail = above;
                }
            }
        }
        segments.reverse();
        SpecPath::from_segments(segments)
    }

    /// The place of the value.
    pub(crate) fn value(&self) -> At {
        At::Value(self.path())
    }

    /// The place of the key.
    pub(crate) fn key(&self) -> At {
        At::Key(self.path())
    }

    /// Where a block is, for sentences: ``in pool `train` ``.
    pub(crate) fn inside(&self) -> String {
        match self {
            Self::Top => "at the top level".to_owned(),
            Self::Key(Self::Key(Self::Top, "pools"), pool) => {
                format!("in pool `{}`", show::name(pool))
            }
            Self::Key(..) | Self::Index(..) => format!("in `{self}`"),
        }
    }
}

impl fmt::Display for Trail<'_> {
    /// The last key, with the positions behind it: `data[0]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top => f.write_str("the spec"),
            Self::Key(_, key) => f.write_str(&show::name(key)),
            Self::Index(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}
