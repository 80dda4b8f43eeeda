//! "Did you mean": the nearest key or word, and the block where a key belongs.

use super::{
    kind::{Block, Kind},
    stack::SPEC,
};
use crate::suggest::{folded, nearest};

/// Keys that other tools have, with what stands for them here.
const OTHER_NAMES: [(&str, &str); 36] = [
    ("region", "location"),
    ("regions", "location"),
    ("rg", "resource_group"),
    ("resourceGroup", "resource_group"),
    ("subscription_id", "subscription"),
    ("ttl", "lifetime"),
    ("vars", "variables"),
    ("vnet", "network"),
    ("subnet", "network.subnet_id"),
    ("ssh_key", "access.ssh_keys"),
    ("ssh_public_key", "access.ssh_keys"),
    ("admin_user", "access.user"),
    ("admin_username", "access.user"),
    ("public_ip", "access.via: public_ip"),
    ("nodes", "count"),
    ("node_count", "count"),
    ("replicas", "count"),
    ("instances", "count"),
    ("vm_size", "size"),
    ("instance_type", "size"),
    ("sku", "size"),
    ("vm_count", "count"),
    ("spot_max_price", "priority.spot.max_price"),
    ("eviction_policy", "priority.spot.eviction"),
    ("zone", "zones"),
    ("availability_zones", "zones"),
    ("os_disk", "disks.os"),
    ("data_disks", "disks.data"),
    ("container", "containers"),
    ("script", "bootstrap.script"),
    ("cloud_init", "bootstrap"),
    ("params", "model.parameters"),
    ("dtype", "model.precision"),
    ("gpus", "size.gpu"),
    ("gpu_type", "size.gpu"),
    ("type", "size"),
];

/// What an unknown key of a block may have meant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// A key of the same block.
    Here(&'static str),
    /// A key that belongs elsewhere, as a path from the block, or in words.
    Elsewhere(String),
}

/// What an unknown key of a block may have meant.
pub(crate) fn meant(block: &'static Block, unknown: &str) -> Option<Meant> {
    let here = |name: &str| block.keys.iter().find(|key| key.name == name);
    let same = folded(unknown);
    if let Some(key) = block.keys.iter().find(|key| folded(key.name) == same) {
        return Some(Meant::Here(key.name));
    }
    let other = OTHER_NAMES
        .iter()
        .find(|(name, _)| ["spec", "pool"].contains(&block.name) && folded(name) == same)
        .map(|(_, ours)| *ours);
    if let Some(ours) = other {
        let first = ours.split(['.', ':']).next().unwrap_or_default();
        match here(first) {
            Some(key) if ours == key.name => return Some(Meant::Here(key.name)),
            Some(_) => return Some(Meant::Elsewhere(format!("`{ours}`"))),
            None => {
                if let Some(place) = place_of(first) {
                    return Some(Meant::Elsewhere(format!("`{ours}` {place}")));
                }
            }
        }
    }
    if let Some(value) = as_word(block, unknown) {
        return Some(Meant::Elsewhere(format!("`{value}`")));
    }
    // What a pool has is meant before what stands deep inside of other blocks.
    let is_of_pools =
        block.name == SPEC.name && super::pool::POOL.keys.iter().any(|key| key.name == unknown);
    if is_of_pools {
        return Some(Meant::Elsewhere(format!("`{unknown}` in a pool")));
    }
    if let Some(path) = below(block, unknown) {
        return Some(Meant::Elsewhere(format!("`{path}`")));
    }
    // `size` where `size_gb` is a key: the unit was left out.
    let with_unit = block.keys.iter().find(|key| {
        key.name
            .strip_prefix(unknown)
            .is_some_and(|rest| rest.starts_with('_'))
    });
    if let Some(key) = with_unit {
        return Some(Meant::Here(key.name));
    }
    if let Some(place) = place_of(unknown) {
        return Some(Meant::Elsewhere(format!("`{unknown}` {place}")));
    }
    nearest(unknown, block.keys.iter().map(|key| key.name)).map(Meant::Here)
}

/// Where a key of the top level or of pools belongs, in words.
fn place_of(name: &str) -> Option<&'static str> {
    let has = |block: &Block| block.keys.iter().any(|key| key.name == name);
    if has(&SPEC) {
        Some("at the top level")
    } else if has(&super::pool::POOL) {
        Some("in a pool")
    } else {
        None
    }
}

/// The path of a key in the blocks below this one, not through blocks with free keys.
fn below(block: &'static Block, name: &str) -> Option<String> {
    block.keys.iter().find_map(|key| {
        let inner = inner_block(&key.kind)?;
        if inner.keys.iter().any(|inner| inner.name == name) {
            return Some(format!("{}.{name}", key.name));
        }
        below(inner, name).map(|path| format!("{}.{path}", key.name))
    })
}

fn inner_block(kind: &Kind) -> Option<&'static Block> {
    kind.block
}

/// The key of this block that takes `name` as a word: `spot` is said by `priority: spot`.
fn as_word(block: &'static Block, name: &str) -> Option<String> {
    block.keys.iter().find_map(|key| {
        let word = key.kind.words.iter().find(|word| word.text == name)?;
        let common = ["auto", "none", "existing"].contains(&word.text);
        (!common).then(|| format!("{}: {}", key.name, word.text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::schema::pool::POOL;

    #[test]
    fn close_names_are_suggested_and_others_are_not() {
        let names = ["location", "lifetime", "tags", "name"];
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(nearest(text, names), expected, "{text}");
        };
        check("loction", Some("location"));
        check("Location", Some("location"));
        check("lifetmie", Some("lifetime"));
        check("tag", Some("tags"));
        check("nmae", Some("name"));
        check("mars", None);
        check("", None);
    }

    #[test]
    fn keys_are_found_where_they_belong() {
        let check = |block: &'static Block, unknown: &str, expected: &str| {
            let found = match meant(block, unknown) {
                Some(Meant::Here(name)) => name.to_owned(),
                Some(Meant::Elsewhere(words)) => words,
                None => "nothing".to_owned(),
            };
            assert_eq!(found, expected, "{unknown}");
        };
        check(&POOL, "gpu", "`size.gpu`");
        check(&POOL, "eviction", "`priority.spot.eviction`");
        check(&POOL, "spot", "`priority: spot`");
        check(&POOL, "slurm", "`scheduler: slurm`");
        check(&POOL, "node_count", "count");
        check(&POOL, "nodeCount", "count");
        check(&POOL, "Stage", "stage");
        check(&POOL, "location", "`location` at the top level");
        check(&POOL, "region", "`location` at the top level");
        check(&POOL, "ssh_key", "`access.ssh_keys` at the top level");
        check(&SPEC, "stage", "`stage` in a pool");
        check(&SPEC, "region", "location");
        check(&SPEC, "outbound", "`network.outbound`");
        check(&SPEC, "loaction", "location");
        check(&SPEC, "frobnicate", "nothing");
    }

    #[test]
    fn other_names_lead_to_keys_that_exist() {
        for (_, ours) in OTHER_NAMES {
            let first = ours.split(['.', ':']).next().unwrap_or_default();
            assert!(place_of(first).is_some(), "{ours}");
        }
    }
}
