//! Paths in a spec, such as `pools.train.disks.data[0].type`.

use std::fmt;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A key of a mapping.
    Key(String),
    /// A position in a sequence, from 0.
    Index(usize),
}

/// Where a value stands in the spec; the empty path is the whole document.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpecPath(Vec<Segment>);

impl SpecPath {
    /// The whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of these keys.
    pub fn of(keys: &[&str]) -> Self {
        Self(
            keys.iter()
                .map(|key| Segment::Key((*key).to_owned()))
                .collect(),
        )
    }

    /// The path of these steps.
    pub(crate) fn from_segments(segments: Vec<Segment>) -> Self {
        Self(segments)
    }

    /// A key of a pool.
    pub fn pool(pool: &str, keys: &[&str]) -> Self {
        let mut path = Self::of(&["pools", pool]);
        path.0
            .extend(keys.iter().map(|key| Segment::Key((*key).to_owned())));
        path
    }

    /// This path and a key.
    pub fn key(&self, key: &str) -> Self {
        self.with(Segment::Key(key.to_owned()))
    }

    /// This path and a position.
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }

    /// The steps from the top.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The pool this belongs to, for `pools.<name>…`.
    pub fn pool_name(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Segment::Key(first), Segment::Key(pool), ..] if first == "pools" => Some(pool),
            _ => None,
        }
    }

    /// The path without its last step; `None` for the whole document.
    pub fn parent(&self) -> Option<Self> {
        let (_, front) = self.0.split_last()?;
        Some(Self(front.to_vec()))
    }
}

impl fmt::Display for SpecPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if position == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_keys_and_positions() {
        let path = SpecPath::pool("train", &["disks", "data"])
            .index(0)
            .key("type");
        assert_eq!(path.to_string(), "pools.train.disks.data[0].type");
        assert_eq!(
            path.parent().map(|path| path.to_string()).as_deref(),
            Some("pools.train.disks.data[0]")
        );
        assert_eq!(SpecPath::root().parent(), None);
    }
}
