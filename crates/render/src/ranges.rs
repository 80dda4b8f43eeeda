//! Addresses that differ only in their node, as one text: `pool.train[0-7,9].vm`.

use std::collections::{BTreeMap, BTreeSet};

use model::address::Address;

/// Texts for these addresses, in the order in which each group begins.
pub(crate) fn of<'a>(addresses: impl IntoIterator<Item = &'a Address>) -> Vec<String> {
    let mut order: Vec<(String, String)> = Vec::new();
    let mut groups: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
    for address in addresses {
        let (around, node) = split(address);
        if !groups.contains_key(&around) {
            order.push(around.clone());
        }
        let nodes = groups.entry(around).or_default();
        nodes.extend(node);
    }
    order
        .into_iter()
        .map(|around| {
            let nodes = groups.get(&around).cloned().unwrap_or_default();
            let (front, back) = around;
            if nodes.is_empty() {
                front
            } else {
                format!("{front}[{}]{back}", numbers(&nodes))
            }
        })
        .collect()
}

/// What stands before and behind the node's number, and the number. An address without one is
/// all front.
pub(crate) fn split(address: &Address) -> ((String, String), Option<u32>) {
    let text = address.to_string();
    let parts = address.node_index().and_then(|node| {
        let (front, rest) = text.split_once('[')?;
        let (_, back) = rest.split_once(']')?;
        Some(((front.to_owned(), back.to_owned()), Some(node)))
    });
    parts.unwrap_or_else(|| ((text.clone(), String::new()), None))
}

/// Numbers with runs joined: `0-7,9`.
pub(crate) fn numbers(numbers: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            Some(_) | None => runs.push((*number, *number)),
        }
    }
    runs.iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_joined_and_order_is_kept() {
        let check = |given: &[&str], expected: &[&str]| {
            let addresses: Vec<Address> = given
                .iter()
                .map(|text| text.parse().expect("an address"))
                .collect();
            assert_eq!(of(&addresses), expected);
        };
        check(
            &[
                "pool.a[3].vm",
                "network.vnet",
                "pool.a[2].vm",
                "pool.a[0].vm",
            ],
            &["pool.a[0,2-3].vm", "network.vnet"],
        );
        check(
            &[
                "pool.a[0].data_disk[1]",
                "pool.a[1].data_disk[1]",
                "pool.a[1].data_disk[2]",
            ],
            &["pool.a[0-1].data_disk[1]", "pool.a[1].data_disk[2]"],
        );
        check(&[], &[]);
    }
}
