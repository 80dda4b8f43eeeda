//! IPv4 blocks.

use std::fmt;

use super::Cidr;

impl Cidr {
    /// The lower half of the block; a block of one address stays as it is.
    pub fn lower_half(self) -> Self {
        Self {
            first: self.first,
            prefix: self.prefix.saturating_add(1).min(32),
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.first.to_be_bytes();
        write!(f, "{a}.{b}.{c}.{d}/{}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_print_in_cidr_form() {
        let block = Cidr {
            first: 0x0a28_0000,
            prefix: 16,
        };
        assert_eq!(
            (
                block.to_string().as_str(),
                block.lower_half().to_string().as_str()
            ),
            ("10.40.0.0/16", "10.40.0.0/17")
        );
    }
}
