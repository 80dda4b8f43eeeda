//! Values with parts: blocks of addresses, names of marketplace images, and groups of a pool's own
//! or others'.

use std::{fmt, str::FromStr};

use crate::{ids::ArmId, units::CaseInsensitive};

/// The security type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityChoice {
    /// The planner decides.
    Auto,
    /// None.
    Standard,
    /// Trusted Launch.
    TrustedLaunch,
}

/// A proximity placement group of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProximityGroup {
    /// One that the tool makes for the pool.
    Own,
    /// An existing one.
    Existing(ArmId),
}

/// An IPv4 block such as `10.40.0.0/16`, with no bits set outside the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cidr {
    /// The first address, as a number.
    pub first: u32,
    /// Length of the prefix in bits, 0 to 32.
    pub prefix: u8,
}

impl Cidr {
    /// The whole range of addresses.
    pub fn addresses(self) -> u64 {
        1 << (32 - u32::from(self.prefix.min(32)))
    }

    /// The last address, as a number.
    pub fn last(self) -> u32 {
        self.first | host_bits(self.prefix)
    }

    /// Whether both have addresses in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last() && other.first <= self.last()
    }

    /// Whether all addresses of `other` are in this block.
    pub fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last() <= self.last()
    }

    /// The last block inside with a prefix of this length; `None` where this one is smaller.
    pub fn last_block(self, prefix: u8) -> Option<Self> {
        let fits = (self.prefix..=32).contains(&prefix);
        fits.then(|| Self {
            first: self.last() & !host_bits(prefix),
            prefix,
        })
    }

    /// The first half of the block; a single address stays as it is.
    pub fn lower_half(self) -> Self {
        Self {
            first: self.first,
            prefix: (self.prefix + 1).min(32),
        }
    }
}

fn host_bits(prefix: u8) -> u32 {
    u32::MAX.checked_shr(u32::from(prefix)).unwrap_or(0)
}

/// Why a text is no block of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCidr {
    /// It has another form.
    #[error("expected four numbers and a prefix, such as `10.40.0.0/16`")]
    Form,
    /// It is an address without prefix.
    #[error("the prefix is missing")]
    NoPrefix,
    /// Its address is inside the block, not its beginning.
    #[error("the block of that size begins at `{0}`")]
    HostBits(Cidr),
}

impl FromStr for Cidr {
    type Err = InvalidCidr;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: std::net::Ipv4Addr = address.parse().map_err(|_| InvalidCidr::Form)?;
        let prefix = prefix.ok_or(InvalidCidr::NoPrefix)?;
        let digits = prefix.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || prefix.len() > 2 || (prefix.len() == 2 && prefix.starts_with('0')) {
            return Err(InvalidCidr::Form);
        }
        let prefix: u8 = prefix.parse().map_err(|_| InvalidCidr::Form)?;
        if prefix > 32 {
            return Err(InvalidCidr::Form);
        }
        let bits = u32::from(address);
        let block = Self {
            first: bits & !host_bits(prefix),
            prefix,
        };
        if block.first == bits {
            Ok(block)
        } else {
            Err(InvalidCidr::HostBits(block))
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}",
            std::net::Ipv4Addr::from(self.first),
            self.prefix
        )
    }
}

/// `publisher:offer:sku:version` of a marketplace image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urn {
    /// Who publishes it.
    pub publisher: CaseInsensitive,
    /// The product.
    pub offer: CaseInsensitive,
    /// The variant.
    pub sku: CaseInsensitive,
    /// A version, or `latest`.
    pub version: String,
}

/// A text that is no `publisher:offer:sku:version`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `publisher:offer:sku:version`, found `{0}`")]
pub struct InvalidUrn(String);

impl FromStr for Urn {
    type Err = InvalidUrn;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split(':').collect();
        let plain = |part: &&str| {
            let mut bytes = part.bytes();
            !part.is_empty()
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        match parts.as_slice() {
            [publisher, offer, sku, version] if parts.iter().all(plain) => Ok(Self {
                publisher: CaseInsensitive::from(*publisher),
                offer: CaseInsensitive::from(*offer),
                sku: CaseInsensitive::from(*sku),
                version: (*version).to_owned(),
            }),
            _ => Err(InvalidUrn(text.to_owned())),
        }
    }
}

impl fmt::Display for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}:{}",
            self.publisher, self.offer, self.sku, self.version
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Cidr {
        text.parse().expect(text)
    }

    #[test]
    fn blocks_read_and_print() {
        for text in ["0.0.0.0/0", "10.40.0.0/16", "192.168.1.1/32", "128.0.0.0/1"] {
            assert_eq!(block(text).to_string(), text);
        }
        assert_eq!(
            "10.40.1.0/16".parse::<Cidr>(),
            Err(InvalidCidr::HostBits(block("10.40.0.0/16")))
        );
        assert_eq!("10.40.0.0".parse::<Cidr>(), Err(InvalidCidr::NoPrefix));
        for wrong in [
            "",
            "*",
            "10.0.0/8",
            "10.0.0.0/33",
            "10.0.0.0/08",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "fd00::/8",
            "256.0.0.0/8",
            "10.0.0.0/8/8",
        ] {
            assert_eq!(wrong.parse::<Cidr>(), Err(InvalidCidr::Form), "{wrong}");
        }
    }

    #[test]
    fn blocks_know_their_range() {
        let check = |a: &str, b: &str, overlaps: bool, contains: bool| {
            let (a, b) = (block(a), block(b));
            assert_eq!((a.overlaps(b), a.contains(b)), (overlaps, contains));
        };
        check("10.0.0.0/8", "10.40.0.0/16", true, true);
        check("10.40.0.0/16", "10.0.0.0/8", true, false);
        check("172.16.0.0/16", "172.17.0.0/16", false, false);
        check("0.0.0.0/0", "255.255.255.255/32", true, true);
        assert_eq!(block("10.40.0.0/16").addresses(), 65_536);
        assert_eq!(block("0.0.0.0/0").addresses(), 1 << 32);
        assert_eq!(block("10.40.0.0/16").lower_half(), block("10.40.0.0/17"));
        assert_eq!(block("10.0.0.1/32").lower_half(), block("10.0.0.1/32"));
        let last = |of: &str, prefix| block(of).last_block(prefix);
        assert_eq!(last("10.40.0.0/16", 26), Some(block("10.40.255.192/26")));
        assert_eq!(last("10.0.0.0/26", 26), Some(block("10.0.0.0/26")));
        assert_eq!(last("10.0.0.0/27", 26), None);
        assert_eq!(last("0.0.0.0/0", 33), None);
    }

    #[test]
    fn urns_have_four_parts() {
        let text = "Canonical:ubuntu-24_04-lts:server:24.04.202601010";
        let urn: Urn = text.parse().expect(text);
        assert_eq!(urn.to_string(), text);
        for wrong in ["", "a:b:c", "a:b:c:d:e", "a:b::d", "a:b:c:d e"] {
            assert!(wrong.parse::<Urn>().is_err(), "{wrong}");
        }
    }
}
