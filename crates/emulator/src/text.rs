//! Encodings of text: percent, base64, and texts made from a seed.

use std::fmt::Write as _;

/// Decodes percent escapes, and `+` as a blank in queries.
pub(crate) fn decode(text: &str, plus: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'+' if plus => bytes.push(b' '),
            b'%' => {
                let escape = after
                    .get(..2)
                    .and_then(|digits| std::str::from_utf8(digits).ok())
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                if let Some(decoded) = escape {
                    bytes.push(decoded);
                    rest = after.get(2..).unwrap_or_default();
                } else {
                    bytes.push(byte);
                }
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Encodes a value for a query the way ARM does in its next links: lower-case hex, `+` for blanks.
pub(crate) fn encode_query(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{byte:02x}");
            }
        }
    }
    encoded
}

/// Encodes a text for a path or a query, so that nothing but letters, digits and `-_.~` stay.
pub(crate) fn encode_path(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes bytes in base64 for URLs, without padding.
pub(crate) fn base64_url(bytes: &[u8]) -> String {
    let mut encoded = String::new();
    for chunk in bytes.chunks(3) {
        let mut word = [0u8; 3];
        for (place, byte) in word.iter_mut().zip(chunk) {
            *place = *byte;
        }
        let bits = u32::from_be_bytes([0, word[0], word[1], word[2]]);
        for (place, shift) in [18u32, 12, 6, 0].into_iter().enumerate() {
            if place <= chunk.len() {
                let digit = usize::try_from((bits >> shift) & 63).unwrap_or(0);
                encoded.push(ALPHABET.get(digit).map_or('A', |byte| char::from(*byte)));
            }
        }
    }
    encoded
}

/// Encodes bytes in plain base64, with padding.
pub(crate) fn base64_plain(bytes: &[u8]) -> String {
    let mut encoded: String = base64_url(bytes)
        .chars()
        .map(|digit| match digit {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    while !encoded.len().is_multiple_of(4) {
        encoded.push('=');
    }
    encoded
}

/// Decodes base64 in either alphabet, with or without padding; `None` for anything else.
pub(crate) fn base64_decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::new();
    let mut bits = 0u32;
    let mut held = 0u32;
    for byte in digits.bytes() {
        let plain = match byte {
            b'+' => b'-',
            b'/' => b'_',
            other => other,
        };
        let digit = ALPHABET.iter().position(|candidate| *candidate == plain)?;
        bits = (bits << 6) | u32::try_from(digit).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 255).ok()?);
        }
    }
    Some(bytes)
}

/// A stream of numbers that depends on nothing but its seed.
#[derive(Clone, Debug)]
pub(crate) struct Seeded(u64);

impl Seeded {
    /// The stream of a seed and any number of further words.
    pub(crate) fn new(words: &[u64]) -> Self {
        let mut stream = Self(0x9e37_79b9_7f4a_7c15);
        for word in words {
            stream.0 ^= *word;
            stream.0 = stream.next();
        }
        stream
    }

    /// The stream of a text.
    pub(crate) fn of_text(seed: u64, text: &str) -> Self {
        Self::new(&[seed, fnv(text.as_bytes())])
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Bytes of the stream.
    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0u8; N];
        for chunk in bytes.chunks_mut(8) {
            for (place, byte) in chunk.iter_mut().zip(self.next().to_be_bytes()) {
                *place = byte;
            }
        }
        bytes
    }

    /// A GUID of the stream.
    pub(crate) fn guid(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.bytes())
            .into_uuid()
            .to_string()
    }

    /// So many lower-case letters and digits.
    pub(crate) fn letters(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| {
                let digit = u32::try_from(self.next() % 36).unwrap_or(0);
                char::from_digit(digit, 36).unwrap_or('x')
            })
            .collect()
    }

    /// So many digits of base 32: lower-case letters, and 2 to 7.
    pub(crate) fn base32(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| {
                let digit = u8::try_from(self.next() % 32).unwrap_or(0);
                char::from(if digit < 26 {
                    b'a' + digit
                } else {
                    b'2' + (digit - 26)
                })
            })
            .collect()
    }

    /// So many characters of base64 for URLs.
    pub(crate) fn base64(&mut self, count: usize) -> String {
        let mut text = String::new();
        while text.len() < count {
            text.push_str(&base64_url(&self.bytes::<48>()));
        }
        text.truncate(count);
        text
    }
}

/// The 64-bit FNV-1a digest: tells a torn or edited record from a whole one.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_escapes_are_decoded_and_broken_ones_kept() {
        assert_eq!(decode("a%20b%2Fc+d", true), "a b/c d");
        assert_eq!(decode("a+b%", false), "a+b%");
        assert_eq!(decode("%zz%4", false), "%zz%4");
        assert_eq!(encode_query("a b'/x"), "a+b%27%2fx");
        assert_eq!(encode_path("a b/x"), "a%20b%2Fx");
    }

    #[test]
    fn base64_goes_both_ways() {
        for text in ["", "f", "fo", "foo", "foob", "fooba", "foobar"] {
            let encoded = base64_url(text.as_bytes());
            assert_eq!(base64_decode(&encoded).as_deref(), Some(text.as_bytes()));
        }
        assert_eq!(base64_url(b"foob"), "Zm9vYg");
        assert_eq!(base64_plain(b"foob>?"), "Zm9vYj4/");
        assert_eq!(base64_plain(b"foob"), "Zm9vYg==");
        assert_eq!(base64_decode("Zm9vYg==").as_deref(), Some(&b"foob"[..]));
        assert_eq!(base64_decode("not base64!"), None);
        assert_eq!(base64_decode("Zm9vY"), None);
    }

    #[test]
    fn seeded_texts_repeat_and_differ_by_seed() {
        let guid = Seeded::new(&[1, 2]).guid();
        assert_eq!(guid, Seeded::new(&[1, 2]).guid());
        assert_ne!(guid, Seeded::new(&[1, 3]).guid());
        assert_eq!(guid.len(), 36);
        assert_eq!(Seeded::new(&[7]).base64(100).len(), 100);
    }
}
