//! Public SSH keys as Azure takes them: what they are, and what must not stand in their place.

/// Fewest bits of an RSA key that Azure takes.
const FEWEST_RSA_BITS: usize = 2048;

/// Names of key types that OpenSSH writes in front of a key.
const KEY_TYPES: [&str; 12] = [
    "ssh-rsa",
    "ssh-ed25519",
    "ssh-dss",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa-cert-v01@openssh.com",
    "ssh-ed25519-cert-v01@openssh.com",
    "rsa-sha2-256",
    "rsa-sha2-512",
];

/// Why a text is no public key for a node. No variant repeats the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// It is a private key, which must never leave its owner's machine.
    #[error("this is a private key")]
    PrivateKey,
    /// It is of a type that Azure does not take.
    #[error("keys of type `{0}` are not taken by Azure")]
    Type(&'static str),
    /// It is too short.
    #[error("the RSA key has {0} bits, Azure takes {FEWEST_RSA_BITS} or more")]
    Short(usize),
    /// It is damaged, or nothing of the kind.
    #[error("this is no complete key of the form `ssh-ed25519 AAAA… comment`")]
    Malformed,
}

impl KeyProblem {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::PrivateKey => {
                "give the public key, the file that ends in `.pub`; replace this key pair if the spec was shared"
            }
            Self::Type(_) | Self::Short(_) => {
                "make a key with `ssh-keygen -t ed25519`, or use `ssh_keys: generate`"
            }
            Self::Malformed => "copy the one line of the `.pub` file as a whole",
        }
    }
}

/// Checks one public key in OpenSSH's one-line form: RSA of at least 2048 bits, or Ed25519.
///
/// # Errors
///
/// Says what is wrong with it, without repeating it.
pub fn check_public_key(text: &str) -> Result<(), KeyProblem> {
    if is_private(text) {
        return Err(KeyProblem::PrivateKey);
    }
    let text = text.trim();
    if text.contains(['\n', '\r']) {
        return Err(KeyProblem::Malformed);
    }
    let mut parts = text.split_ascii_whitespace();
    let kind = parts.next().unwrap_or_default();
    let kind = KEY_TYPES
        .iter()
        .find(|known| **known == kind)
        .ok_or(KeyProblem::Malformed)?;
    if !matches!(*kind, "ssh-rsa" | "ssh-ed25519") {
        return Err(KeyProblem::Type(kind));
    }
    let blob = parts
        .next()
        .and_then(decode_base64)
        .ok_or(KeyProblem::Malformed)?;
    let fields = fields(&blob).ok_or(KeyProblem::Malformed)?;
    match (*kind, fields.as_slice()) {
        ("ssh-ed25519", [name, point]) if *name == kind.as_bytes() && point.len() == 32 => Ok(()),
        ("ssh-rsa", [name, exponent, modulus])
            if *name == kind.as_bytes() && !exponent.is_empty() =>
        {
            let bits = bits(modulus);
            if bits < FEWEST_RSA_BITS {
                Err(KeyProblem::Short(bits))
            } else {
                Ok(())
            }
        }
        _ => Err(KeyProblem::Malformed),
    }
}

/// Whether an item of `access.ssh_keys` is a key itself, not the name of a file with one.
pub fn is_literal_key(text: &str) -> bool {
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    is_private(text)
        || text.contains(['\n', '\r'])
        || text.trim_start().starts_with("--")
        || KEY_TYPES.contains(&first)
}

/// Whether a text has a private key in it, in the formats of OpenSSH, OpenSSL and `PuTTY`.
pub(crate) fn is_private(text: &str) -> bool {
    text.contains("PRIVATE KEY") || text.contains("PuTTY-User-Key-File")
}

/// The length-prefixed fields of a key; `None` where lengths do not add up.
fn fields(blob: &[u8]) -> Option<Vec<&[u8]>> {
    let mut fields = Vec::new();
    let mut rest = blob;
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (field, behind) = behind.split_at_checked(length)?;
        fields.push(field);
        rest = behind;
    }
    Some(fields)
}

/// The length of a big-endian number in bits.
fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    match number.get(zeros) {
        Some(first) => {
            let unused = usize::try_from(first.leading_zeros()).unwrap_or(0);
            (number.len() - zeros) * 8 - unused
        }
        None => 0,
    }
}

/// Decodes base64 with its padding; `None` for anything else.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || !text.len().is_multiple_of(4) {
        return None;
    }
    let mut decoded = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let mut buffer = 0_u32;
    let mut held = 0;
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        buffer = (buffer << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push(u8::try_from(buffer >> held & 0xff).ok()?);
        }
        buffer &= 0xffff;
    }
    Some(decoded)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A key of this type with these fields, as OpenSSH writes it.
    pub(crate) fn key(kind: &str, fields: &[&[u8]]) -> String {
        let mut blob = Vec::new();
        for field in std::iter::once(&kind.as_bytes()).chain(fields) {
            blob.extend(u32::try_from(field.len()).expect("short").to_be_bytes());
            blob.extend(*field);
        }
        format!("{kind} {} me@here", encode(&blob))
    }

    fn encode(bytes: &[u8]) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let group = chunk
                .iter()
                .chain(std::iter::repeat(&0))
                .take(3)
                .fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
            for place in 0..4 {
                let digit = usize::try_from(group >> (18 - 6 * place) & 63).expect("small");
                text.push(if place <= chunk.len() {
                    char::from(DIGITS[digit])
                } else {
                    '='
                });
            }
        }
        text
    }

    fn rsa(bytes: usize) -> String {
        let mut modulus = vec![0];
        modulus.resize(bytes + 1, 0xff);
        key("ssh-rsa", &[&[1, 0, 1], &modulus])
    }

    #[test]
    fn keys_that_azure_takes_are_accepted() {
        // Made with `ssh-keygen`; the private halves were thrown away.
        let ed25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINB4wFVMQxJ8wr/8wk5/pLIQ11ZO7oqU9oWDt+w7Q9Zn someone@host";
        let rsa_2048 = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC5P/U4HAQ4cXUcRWhehLUeL0JBuypZJdJb0FV2/gKfgeucjVHo6fPzZZJoDm9U3iJRhvQhU4HCttnC1QGwCOqCjRxXutInu9gfkM9vyFsYPZstGlKvfINs9xYiXF5rOXHDfLaZkuz6e1MYkxbtxQfDRk7e9Tawdou84SP2T1ndR6SfdP+d05ae4uXKKwZ3Kv+J5N2yDm9+0Ngf4AAbpRvjfwuVHRAs9OPpc6rpR17y2nSf76mxd1hVi1cB+HDAIGkIWHyQhH49QdqVEk81XtwhRyZH1U4uR6vW4x+RxzpAu86rc+dXguD2toAmw6Yz/LOc+xJ39NgAKULjBsR8oJYt";
        assert_eq!(check_public_key(ed25519), Ok(()));
        assert_eq!(check_public_key(rsa_2048), Ok(()));
        assert_eq!(check_public_key(&rsa(256)), Ok(()));
        assert_eq!(check_public_key(&format!("{}\n", rsa(512))), Ok(()));
        assert_eq!(check_public_key(&key("ssh-ed25519", &[&[7; 32]])), Ok(()));
    }

    #[test]
    fn other_keys_are_refused() {
        let check = |text: &str, problem: KeyProblem| {
            assert_eq!(check_public_key(text), Err(problem), "{text}");
        };
        check(&rsa(128), KeyProblem::Short(1024));
        check(&key("ssh-dss", &[&[1; 128]]), KeyProblem::Type("ssh-dss"));
        check(
            &key("ecdsa-sha2-nistp256", &[b"nistp256", &[4; 65]]),
            KeyProblem::Type("ecdsa-sha2-nistp256"),
        );
        check(
            "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n",
            KeyProblem::PrivateKey,
        );
        check("PuTTY-User-Key-File-3: ssh-ed25519", KeyProblem::PrivateKey);
        let cut = key("ssh-ed25519", &[&[7; 32]]).replace(" me@here", "");
        check(&cut[..cut.len() - 4], KeyProblem::Malformed);
        check(&key("ssh-ed25519", &[&[7; 31]]), KeyProblem::Malformed);
        let renamed = key("ssh-rsa", &[&[7; 32]]).replace("ssh-rsa ", "ssh-ed25519 ");
        check(&renamed, KeyProblem::Malformed);
        for text in ["", "ssh-ed25519", "ssh-ed25519 %%%%", "ssh-rsa AAAA", "x"] {
            check(text, KeyProblem::Malformed);
        }
    }

    #[test]
    fn files_and_keys_are_told_apart() {
        assert!(!is_literal_key("~/.ssh/id_ed25519.pub"));
        assert!(!is_literal_key("keys/ssh-rsa key.pub"));
        assert!(is_literal_key("ssh-rsa AAAA"));
        assert!(is_literal_key("-----BEGIN RSA PRIVATE KEY-----"));
        assert!(is_literal_key("---- BEGIN SSH2 PUBLIC KEY ----"));
    }
}
