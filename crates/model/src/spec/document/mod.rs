//! Documents made from the tables: the JSON schema, the reference, and specs to start from.

mod json_schema;

mod reference;

mod starter;

pub use self::{json_schema::json_schema, reference::reference, starter::starter};

use super::schema::kind::{Block, Kind};

/// All blocks below one, itself first, each once, in the order of the tables.
fn blocks(top: &'static Block) -> Vec<&'static Block> {
    let mut found: Vec<&'static Block> = vec![top];
    let mut next = 0;
    while let Some(block) = found.get(next) {
        let below = block.keys.iter().flat_map(|key| inner(&key.kind));
        let new: Vec<&'static Block> = below
            .filter(|inner| !found.iter().any(|block| block.name == inner.name))
            .collect();
        found.extend(new);
        next += 1;
    }
    found
}

/// The blocks that a kind leads to.
fn inner(kind: &Kind) -> Vec<&'static Block> {
    let of_list = kind.list.and_then(|list| list.item.block);
    let of_map = kind.map.and_then(|map| map.value.block);
    [kind.block, of_list, of_map]
        .into_iter()
        .flatten()
        .collect()
}
