//! Reads the keys of a block, with the defaults of its table.

use rust_decimal::Decimal;

use crate::spec::{
    schema::{
        forms::quantities,
        kind::{Block, Key, Presence},
        words,
    },
    yaml::{
        node::{Node, Reference, Scalar},
        scalar::{Typed, resolve},
    },
};

/// A block of the spec, there or not, with its table.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    node: Option<&'a Node>,
    block: &'static Block,
}

impl<'a> Reader<'a> {
    pub(super) fn new(node: Option<&'a Node>, block: &'static Block) -> Self {
        Self { node, block }
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.block.keys.iter().find(|key| key.name == name)
    }

    /// The value of a key, where one is given.
    pub(super) fn given(&self, name: &str) -> Option<&'a Node> {
        self.node?.get(name)
    }

    /// The single value of a key, where one is given.
    pub(super) fn scalar(&self, name: &str) -> Option<&'a Scalar> {
        self.given(name).and_then(scalar)
    }

    /// What `read` makes of the given value, or of the default where that is nothing.
    pub(super) fn read<T>(&self, name: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let given = self.scalar(name).and_then(|scalar| read(&scalar.text));
        given.or_else(|| match self.key(name)?.presence {
            Presence::Default(default) => read(default),
            Presence::Required | Presence::Optional => None,
        })
    }

    /// The text of a key.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.read(name, |text| Some(text.to_owned()))
    }

    /// The value of a word.
    pub(super) fn word<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Option<T> {
        self.read(name, |text| words::value_of(values, text))
    }

    /// A whole number.
    pub(super) fn integer(&self, name: &str) -> Option<u32> {
        self.scalar(name).and_then(integer)
    }

    /// `true` or `false`, where it is given.
    pub(super) fn boolean(&self, name: &str) -> Option<bool> {
        match resolve(self.scalar(name)?) {
            Typed::Boolean(value) => Some(value),
            Typed::Null | Typed::Integer(_) | Typed::Float(_) | Typed::Text => None,
        }
    }

    /// A decimal number.
    pub(super) fn decimal(&self, name: &str) -> Option<Decimal> {
        self.read(name, quantities::decimal)
    }

    /// The items of a list.
    pub(super) fn items(&self, name: &str) -> &'a [Node] {
        self.given(name).map(Node::items).unwrap_or_default()
    }

    /// The single values of a list; a single value is a list of one.
    pub(super) fn texts(&self, name: &str) -> Vec<&'a str> {
        let single = self.scalar(name);
        let listed = self.items(name).iter().filter_map(scalar);
        single
            .into_iter()
            .chain(listed)
            .map(|scalar| scalar.text.as_str())
            .collect()
    }

    /// A block inside this one, there or not.
    pub(super) fn inner(&self, name: &str) -> Self {
        let block = self.key(name).and_then(|key| key.kind.block);
        Self {
            node: self.given(name).filter(|node| !node.entries().is_empty()),
            block: block.unwrap_or(self.block),
        }
    }

    /// Whether the block is there and has a key.
    pub(super) fn is_there(&self) -> bool {
        self.node.is_some()
    }
}

/// A single value that says something.
pub(super) fn scalar(node: &Node) -> Option<&Scalar> {
    node.scalar()
        .filter(|scalar| scalar.reference != Reference::Broken && resolve(scalar) != Typed::Null)
}

/// A whole number.
pub(super) fn integer(scalar: &Scalar) -> Option<u32> {
    match resolve(scalar) {
        Typed::Integer(value) => u32::try_from(value).ok(),
        Typed::Null | Typed::Boolean(_) | Typed::Float(_) | Typed::Text => None,
    }
}
