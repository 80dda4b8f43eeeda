//! Addresses: the stack's own names for resources, such as `pool.train[0].vm`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::resource::PurchasePlan;

/// The name of the subnet that the nodes are in. Subnets carry no tags, so that this name, in a
/// network of the stack, is what tells whose it is.
pub const SUBNET_OF_NODES: &str = "nodes";

/// The name that Azure asks of the subnet of a Bastion host.
pub const SUBNET_OF_BASTION: &str = "AzureBastionSubnet";

/// The name of a resource inside its stack. Orders by name and then by number, so that
/// `pool.train[2]` comes before `pool.train[10]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Part {
    name: String,
    index: Option<u32>,
}

impl Address {
    /// The resource group of the stack.
    pub fn resource_group() -> Self {
        Self::top("resource_group")
    }

    /// The subnet with this name in a network of the stack, where it is one that the tool makes.
    pub fn of_subnet(name: &str) -> Option<Self> {
        let parts = [
            (SUBNET_OF_NODES, "subnet"),
            (SUBNET_OF_BASTION, "bastion_subnet"),
        ];
        let found = parts
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, part)| Self::network(part))
    }

    /// A part of the stack's network: `vnet`, `subnet`, `nsg`, `nat`, `nat_ip`, `bastion`,
    /// `bastion_ip`, `bastion_subnet`.
    pub fn network(part: &str) -> Self {
        Self::top("network").join(part)
    }

    /// The public key that all pools share.
    pub fn ssh_key() -> Self {
        Self::top("access").join("ssh_key")
    }

    /// A pool as a whole.
    pub fn pool(pool: &str) -> Self {
        Self::top("pool").join(pool)
    }

    /// The VM of one node of a pool.
    pub fn vm(pool: &str, index: u32) -> Self {
        Self::pool(pool).at(index).join("vm")
    }

    /// One node of a pool, whatever it is made of.
    pub fn node(pool: &str, index: u32) -> Self {
        Self::pool(pool).at(index)
    }

    /// The scale set that a pool is.
    pub fn scale_set(pool: &str) -> Self {
        Self::pool(pool).join("scale_set")
    }

    /// The proximity placement group of a pool's own.
    pub fn proximity_placement_group(pool: &str) -> Self {
        Self::pool(pool).join("proximity_placement_group")
    }

    /// The account of Batch that all pools of Batch share.
    pub fn batch_account() -> Self {
        Self::top("batch").join("account")
    }

    /// The pool of Batch that a pool is.
    pub fn batch_pool(pool: &str) -> Self {
        Self::pool(pool).join("batch_pool")
    }

    /// The cluster of Kubernetes that all agent pools share.
    pub fn kubernetes_cluster() -> Self {
        Self::top("aks").join("cluster")
    }

    /// The agent pool that a pool is.
    pub fn agent_pool(pool: &str) -> Self {
        Self::pool(pool).join("agent_pool")
    }

    /// The node array that a pool is.
    pub fn node_array(pool: &str) -> Self {
        Self::pool(pool).join("node_array")
    }

    /// A part of where checkpoints go: `account`, `container`, `identity` or `role`.
    pub fn checkpoint(part: &str) -> Self {
        Self::top("checkpoint").join(part)
    }

    /// A data disk of one node of a pool, by its logical unit number.
    pub fn data_disk(pool: &str, index: u32, lun: u32) -> Self {
        Self::pool(pool).at(index).join("data_disk").at(lun)
    }

    /// The terms of a purchase plan. Names of plans may have dots, addresses may not.
    pub fn terms(plan: &PurchasePlan) -> Self {
        let PurchasePlan {
            publisher,
            product,
            name,
        } = plan;
        let parts = [publisher, product, name].map(|part| part.key().replace('.', "_"));
        parts
            .iter()
            .fold(Self::top("terms"), |address, part| address.join(part))
    }

    fn top(name: &str) -> Self {
        Self(vec![Part {
            name: name.to_owned(),
            index: None,
        }])
    }

    /// This address with one more part.
    pub fn join(mut self, name: &str) -> Self {
        self.0.push(Part {
            name: name.to_owned(),
            index: None,
        });
        self
    }

    fn at(mut self, index: u32) -> Self {
        if let Some(part) = self.0.last_mut() {
            part.index = Some(index);
        }
        self
    }

    /// The pool this belongs to, for `pool.<name>…`.
    pub fn pool_name(&self) -> Option<&str> {
        match self.0.as_slice() {
            [first, pool, ..] if first.name == "pool" => Some(&pool.name),
            _ => None,
        }
    }

    /// The node's number inside its pool.
    pub fn node_index(&self) -> Option<u32> {
        self.pool_name()?;
        self.0.get(1)?.index
    }

    /// The last part without its number: `vm`, `data_disk`, `vnet`.
    pub fn leaf(&self) -> &str {
        self.0.last().map_or("", |part| part.name.as_str())
    }

    /// The number of the last part: the LUN of a data disk.
    pub fn leaf_index(&self) -> Option<u32> {
        self.0.last()?.index
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, part) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            f.write_str(&part.name)?;
            if let Some(index) = part.index {
                write!(f, "[{index}]")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("expected an address such as `pool.train[0].vm`, found `{text}`");
        let parts = text.split('.').map(|part| {
            let (name, index) = match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
                Some((name, index)) if index.bytes().all(|byte| byte.is_ascii_digit()) => {
                    (name, Some(index.parse().map_err(|_| wrong())?))
                }
                Some(_) => return Err(wrong()),
                None => (part, None),
            };
            let plain = name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
            if name.is_empty() || !plain {
                return Err(wrong());
            }
            Ok(Part {
                name: name.to_owned(),
                index,
            })
        });
        parts.collect::<Result<_, _>>().map(Self)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip_and_tell_their_parts() {
        let disk = Address::data_disk("train", 12, 3);
        assert_eq!(disk.to_string(), "pool.train[12].data_disk[3]");
        assert_eq!(disk.to_string().parse(), Ok(disk.clone()));
        assert_eq!(
            (
                disk.pool_name(),
                disk.node_index(),
                disk.leaf(),
                disk.leaf_index()
            ),
            (Some("train"), Some(12), "data_disk", Some(3))
        );
        assert_eq!(Address::network("vnet").pool_name(), None);
    }

    #[test]
    fn numbers_order_as_numbers() {
        let mut addresses: Vec<Address> =
            [10, 2, 1].map(|index| Address::vm("train", index)).into();
        addresses.sort();
        assert_eq!(
            addresses,
            [1, 2, 10].map(|index| Address::vm("train", index))
        );
    }

    #[test]
    fn wrong_addresses_are_refused() {
        for wrong in [
            "",
            ".",
            "pool..vm",
            "pool.train[",
            "pool.train[x].vm",
            "pool.train[99999999999].vm",
            "a b",
            "pool.t[-1]",
            "pool.[1]",
        ] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
