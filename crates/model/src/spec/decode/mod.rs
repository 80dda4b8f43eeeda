//! From tree to spec. What is wrong in the tree is reported elsewhere: here it reads as if it
//! were not there, so that checks can look at the rest.

mod reader;

mod stack;

mod batch;

mod kubernetes;

mod cyclecloud;

pub(crate) mod pool;

use self::reader::Reader;
use super::{schema::stack::SPEC, types::Spec, yaml::node::Node};

/// The spec of a document, with defaults for what is not there or wrong.
pub(crate) fn spec(root: &Node) -> Spec {
    stack::spec(Reader::new(Some(root), &SPEC))
}
