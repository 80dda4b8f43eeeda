//! IPv4 prefixes and the addresses in them.

use std::{collections::BTreeSet, net::Ipv4Addr};

use crate::{error::ArmError, store::addresses::Used};

/// An IPv4 prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    first: u32,
    length: u32,
}

impl Prefix {
    /// Reads a prefix; one with bits set behind its length is refused, as Azure does.
    pub(crate) fn parse(text: &str) -> Result<Self, ArmError> {
        let wrong = || {
            ArmError::network(
                "InvalidAddressPrefixFormat",
                format!(
                    "Address prefix {text} of resource is not formatted correctly. It should \
                     follow CIDR notation, for example 10.0.0.0/24."
                ),
            )
        };
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let address: Ipv4Addr = address.parse().map_err(|_| wrong())?;
        let length: u32 = length.parse().map_err(|_| wrong())?;
        if length > 32 {
            return Err(wrong());
        }
        let prefix = Self {
            first: u32::from(address),
            length,
        };
        if prefix.first & !prefix.mask() == 0 {
            return Ok(prefix);
        }
        let fitting = Ipv4Addr::from(prefix.first & prefix.mask());
        Err(ArmError::network(
            "InvalidCIDRNotation",
            format!(
                "The address prefix {text} in resource has an invalid CIDR notation. For the \
                 given prefix length, the address prefix should be {fitting}/{length}."
            ),
        ))
    }

    fn mask(self) -> u32 {
        u32::MAX.checked_shl(32 - self.length).unwrap_or(0)
    }

    fn last(self) -> u32 {
        self.first | !self.mask()
    }

    /// Whether the other prefix lies inside this one.
    pub(crate) fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last() <= self.last()
    }

    /// Whether they have an address in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first <= other.last() && other.first <= self.last()
    }

    /// The addresses that are neither Azure's (the first four and the last) nor used or taken.
    pub(crate) fn free(self, used: &Used, taken: &BTreeSet<u32>) -> impl Iterator<Item = u32> {
        used.free(self.first.saturating_add(4), self.last(), taken)
    }

    /// Whether an address may be given out here.
    pub(crate) fn gives(self, address: Ipv4Addr) -> Result<(), Given> {
        let address = u32::from(address);
        if address < self.first || address > self.last() {
            return Err(Given::Outside);
        }
        if address < self.first.saturating_add(4) || address == self.last() {
            return Err(Given::Reserved);
        }
        Ok(())
    }
}

/// Why a static address cannot be given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Outside,
    Reserved,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix::parse(text).expect(text)
    }

    #[test]
    fn prefixes_are_read_and_compared() {
        assert!(prefix("10.0.0.0/8").holds(prefix("10.40.0.0/16")));
        assert!(!prefix("10.40.0.0/16").holds(prefix("10.0.0.0/8")));
        assert!(prefix("10.0.0.0/24").overlaps(prefix("10.0.0.128/25")));
        assert!(!prefix("10.0.0.0/24").overlaps(prefix("10.0.1.0/24")));
        assert!(prefix("0.0.0.0/0").holds(prefix("255.255.255.255/32")));
        for (wrong, code) in [
            ("10.0.0.0", "InvalidAddressPrefixFormat"),
            ("10.0.0.0/33", "InvalidAddressPrefixFormat"),
            ("10.0.0/24", "InvalidAddressPrefixFormat"),
            ("10.0.0.1/24", "InvalidCIDRNotation"),
        ] {
            assert_eq!(Prefix::parse(wrong).expect_err(wrong).code, code);
        }
    }

    #[test]
    fn addresses_start_behind_those_azure_keeps() {
        let subnet = prefix("10.0.0.0/29");
        let shown = |found: Vec<u32>| -> Vec<String> {
            found
                .into_iter()
                .map(|address| Ipv4Addr::from(address).to_string())
                .collect()
        };
        let all = shown(subnet.free(&Used::default(), &BTreeSet::new()).collect());
        assert_eq!(all, ["10.0.0.4", "10.0.0.5", "10.0.0.6"]);
        let mut used = Used::default();
        used.add(u32::from(Ipv4Addr::new(10, 0, 0, 4)));
        let taken = BTreeSet::from([u32::from(Ipv4Addr::new(10, 0, 0, 6))]);
        let left = shown(subnet.free(&used, &taken).collect());
        assert_eq!(left, ["10.0.0.5"]);
        assert_eq!(
            subnet.gives(Ipv4Addr::new(10, 0, 0, 3)),
            Err(Given::Reserved)
        );
        assert_eq!(
            subnet.gives(Ipv4Addr::new(10, 0, 0, 8)),
            Err(Given::Outside)
        );
        assert_eq!(subnet.gives(Ipv4Addr::new(10, 0, 0, 6)), Ok(()));
    }
}
