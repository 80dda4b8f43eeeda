//! Places: blocks of addresses, files, mount points, stores, registries and keys.

use super::{form, form_as_written};
use crate::{
    diag::Code,
    spec::{
        cyclecloud::Locker,
        parts::{Cidr, InvalidCidr},
        schema::kind::{Refusal, TextForm, Verdict},
        ssh,
    },
};

/// Blocks that private networks use: RFC 1918, and RFC 6598 which Azure takes as well.
const PRIVATE: [Cidr; 4] = [
    block(10, 0, 8),
    block(172, 16, 12),
    block(192, 168, 16),
    block(100, 64, 10),
];

const fn block(first: u32, second: u32, prefix: u8) -> Cidr {
    Cidr {
        first: first << 24 | second << 16,
        prefix,
    }
}

pub(crate) const ADDRESS_SPACE: TextForm = form(
    "a private IPv4 block from /8 to /28 such as `10.40.0.0/16`",
    "^[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}/([89]|1[0-9]|2[0-8])$",
    address_space,
);

pub(crate) const SSH_SOURCE: TextForm = form(
    "an IPv4 block such as `203.0.113.0/24`",
    "^[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}/([89]|[12][0-9]|3[0-2])$",
    ssh_source,
);

const SSH_KEY_EXPECTED: &str = "a public key or its file such as `~/.ssh/id_ed25519.pub`";

pub(crate) const SSH_KEY: TextForm = TextForm {
    private: true,
    ..form(SSH_KEY_EXPECTED, "^[^\\r\\n]+$", ssh_key)
};

pub(crate) const FILE: TextForm = form("the path of a file", "^[^\\r\\n]+$", |text| {
    if text.is_empty() || text.contains(char::is_control) {
        Err(Refusal::plain())
    } else {
        Ok(())
    }
});

pub(crate) const MOUNT_PATH: TextForm = form(
    "an absolute path on the nodes such as `/data`",
    "^/[A-Za-z0-9._/-]+$",
    |text| {
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte));
        let inside = text
            .split('/')
            .skip(1)
            .all(|part| !part.is_empty() && part != "..");
        if text.starts_with('/') && text.len() > 1 && plain && inside {
            Ok(())
        } else {
            Err(Refusal::plain())
        }
    },
);

pub(crate) const HOOK: TextForm = form(
    "the absolute path of a program on the nodes such as `/data/save`",
    "^/[A-Za-z0-9._/-]+$",
    |text| (MOUNT_PATH.check)(text),
);

pub(crate) const MOUNT_SOURCE: TextForm = form(
    "a store: `https://account.blob.core.windows.net/container`, `host:/export` or `address@tcp:/fsname`",
    "^[^\\s]+$",
    |text| {
        let plain =
            !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        let known = is_https(text) || text.contains(":/");
        if plain && known {
            no_signature(text)
        } else {
            Err(Refusal::plain())
        }
    },
);

pub(crate) const LOCKER_URL: TextForm = form(
    "the URL of a blob container such as `https://account.blob.core.windows.net/cyclecloud`",
    "^https://[a-z0-9]+\\.blob\\.[^\\s/]+/[a-z0-9-]+/?$",
    |text| {
        if Locker::of_url(text).is_some() {
            Ok(())
        } else {
            Err(Refusal::plain())
        }
    },
);

pub(crate) const CONTAINER_URL: TextForm = form(
    "the URL of a blob container such as `https://account.blob.core.windows.net/checkpoints`",
    "^https://[^\\s/]+/[^\\s]+$",
    |text| {
        let has_container = text
            .strip_prefix("https://")
            .and_then(|rest| rest.split_once('/'))
            .is_some_and(|(host, container)| !host.is_empty() && !container.is_empty());
        if has_container && is_https(text) {
            no_signature(text)
        } else {
            Err(Refusal::plain())
        }
    },
);

pub(crate) const CONTAINER_IMAGE: TextForm = form(
    "a container image such as `nvcr.io/nvidia/pytorch:24.07-py3`",
    "^[A-Za-z0-9][A-Za-z0-9._/:@-]*$",
    |text| {
        let begins = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._/:@-".contains(&byte));
        if text.contains("://") {
            Err(Refusal::instead(
                "leave the `://` and what is before it out",
            ))
        } else if begins && plain && text.len() <= 512 {
            Ok(())
        } else {
            Err(Refusal::plain())
        }
    },
);

pub(crate) const REGISTRY: TextForm = form(
    "the host of a registry such as `example.azurecr.io`",
    "^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?$",
    |text| {
        let (host, port) = text.split_once(':').unwrap_or((text, "1"));
        let plain = host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
        let begins = host
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if plain && begins && port.parse::<u16>().is_ok() {
            Ok(())
        } else {
            Err(Refusal::plain())
        }
    },
);

pub(crate) const MODEL_NAME: TextForm = form_as_written(
    "the name of a model such as `llama-3.1-70b`",
    "^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$",
    |text| {
        let begins = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte));
        if begins && plain && text.len() <= 128 {
            Ok(())
        } else {
            Err(Refusal::plain())
        }
    },
);

fn is_https(text: &str) -> bool {
    text.starts_with("https://") && !text.contains(char::is_whitespace)
}

/// Refuses URLs that carry a key: shared access signatures and passwords.
fn no_signature(text: &str) -> Verdict {
    let signed = text.contains("sig=") || text.contains("SharedAccessSignature");
    let user = text.split_once("://").is_some_and(|(_, rest)| {
        rest.split('/')
            .next()
            .is_some_and(|host| host.contains('@'))
    });
    if signed || user {
        Err(Refusal {
            code: Code::SpecSecret,
            reason: Some("it carries a key".to_owned()),
            help: Some("give the URL without it; nodes come in by their identity".to_owned()),
        })
    } else {
        Ok(())
    }
}

fn cidr(text: &str) -> Result<Cidr, Refusal> {
    text.parse().map_err(|problem| match problem {
        InvalidCidr::Form => Refusal::plain(),
        InvalidCidr::NoPrefix => Refusal::because("the length of its prefix is missing"),
        InvalidCidr::HostBits(block) => {
            Refusal::because("the address is inside the block, not at its beginning")
                .with_help(format!("write `{block}`"))
        }
    })
}

fn address_space(text: &str) -> Verdict {
    let block = cidr(text).map_err(|refusal| match refusal.reason.as_deref() {
        Some(_) if !text.contains('/') => refusal.with_help(format!("write `{text}/16`")),
        _ => refusal,
    })?;
    if !(8..=28).contains(&block.prefix) {
        return Err(Refusal::because(format!(
            "it has {} addresses",
            block.addresses()
        )));
    }
    if !PRIVATE.iter().any(|private| private.contains(block)) {
        return Err(Refusal::because("it is not private").with_help(
            "choose inside `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16` or `100.64.0.0/10`",
        ));
    }
    Ok(())
}

/// Shortest prefix from which SSH may come; shorter ones are the internet in pieces.
const SHORTEST_SOURCE_PREFIX: u8 = 8;

fn ssh_source(text: &str) -> Verdict {
    let open = ["*", "any", "internet", "0.0.0.0/0", "::/0"];
    if open.contains(&text.to_ascii_lowercase().as_str()) {
        return Err(Refusal::because("that is the whole internet")
            .with_help("give the block of your own network, or of your VPN"));
    }
    let block = cidr(text).map_err(|refusal| match refusal.reason.as_deref() {
        Some(_) if !text.contains('/') => refusal.with_help(format!("write `{text}/32`")),
        _ => refusal,
    })?;
    if block.prefix < SHORTEST_SOURCE_PREFIX {
        return Err(Refusal::because(format!(
            "a prefix below /{SHORTEST_SOURCE_PREFIX} is a part of the internet, not a network"
        )));
    }
    Ok(())
}

fn ssh_key(text: &str) -> Verdict {
    if ssh::is_literal_key(text) {
        return ssh::check_public_key(text).map_err(|problem| Refusal {
            code: match problem {
                ssh::KeyProblem::PrivateKey => Code::SpecSecret,
                ssh::KeyProblem::Type(_)
                | ssh::KeyProblem::Short(_)
                | ssh::KeyProblem::Malformed => Code::SpecInvalidValue,
            },
            reason: Some(problem.to_string()),
            help: Some(problem.help().to_owned()),
        });
    }
    if text == "generate" {
        return Err(Refusal::instead(
            "write `ssh_keys: generate`, without a list",
        ));
    }
    let file = text.rsplit(['/', '\\']).next().unwrap_or_default();
    if file.is_empty() || text.contains(char::is_control) {
        return Err(Refusal::plain());
    }
    let private = ["id_rsa", "id_ed25519", "id_ecdsa", "id_dsa"];
    if private.contains(&file) {
        return Err(Refusal::because("that is the name of a private key's file")
            .with_help(format!("write `{text}.pub`")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(form: &TextForm, text: &str) -> Option<String> {
        (form.check)(text).expect_err(text).reason
    }

    #[test]
    fn address_spaces_are_private_blocks() {
        for right in [
            "10.40.0.0/16",
            "172.20.0.0/16",
            "192.168.0.0/24",
            "100.64.0.0/10",
            "10.0.0.0/8",
        ] {
            assert_eq!((ADDRESS_SPACE.check)(right), Ok(()), "{right}");
        }
        for (wrong, expected) in [
            ("10.40.0.0", Some("the length of its prefix is missing")),
            (
                "10.40.1.0/16",
                Some("the address is inside the block, not at its beginning"),
            ),
            ("8.8.8.0/24", Some("it is not private")),
            ("172.0.0.0/8", Some("it is not private")),
            ("0.0.0.0/0", Some("it has 4294967296 addresses")),
            ("10.0.0.0/29", Some("it has 8 addresses")),
            ("fd00::/8", None),
            ("ten", None),
        ] {
            assert_eq!(
                reason(&ADDRESS_SPACE, wrong).as_deref(),
                expected,
                "{wrong}"
            );
        }
    }

    #[test]
    fn ssh_comes_from_networks_not_from_the_internet() {
        assert_eq!((SSH_SOURCE.check)("203.0.113.7/32"), Ok(()));
        for wrong in [
            "*",
            "Internet",
            "0.0.0.0/0",
            "0.0.0.0/1",
            "128.0.0.0/1",
            "203.0.113.7",
            "::/0",
        ] {
            assert!((SSH_SOURCE.check)(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn private_keys_and_signatures_are_secrets() {
        let check = |form: &TextForm, text: &str| {
            assert_eq!(
                (form.check)(text).expect_err("a secret").code,
                Code::SpecSecret
            );
        };
        check(&SSH_KEY, "-----BEGIN OPENSSH PRIVATE KEY-----\nx");
        check(
            &CONTAINER_URL,
            "https://a.blob.core.windows.net/c?sv=1&sig=x",
        );
        check(&MOUNT_SOURCE, "https://user:word@host/c");
        assert!((SSH_KEY.check)("~/.ssh/id_ed25519").is_err());
        assert_eq!((SSH_KEY.check)("~/.ssh/id_ed25519.pub"), Ok(()));
        assert_eq!((MOUNT_SOURCE.check)("10.0.0.4@tcp:/lustrefs"), Ok(()));
        assert_eq!((MOUNT_SOURCE.check)("nfs.example:/export"), Ok(()));
    }

    #[test]
    fn places_have_their_form() {
        let check = |form: &TextForm, right: &[&str], wrong: &[&str]| {
            for text in right {
                assert_eq!((form.check)(text), Ok(()), "{text}");
            }
            for text in wrong {
                assert!((form.check)(text).is_err(), "{text}");
            }
        };
        check(&FILE, &["setup.sh", "a b/설정.sh"], &["", "a\nb"]);
        check(
            &MOUNT_PATH,
            &["/data", "/mnt/a.b-c"],
            &["data", "/", "/a//b", "/a/../b", "/a b", "/a/"],
        );
        check(
            &CONTAINER_URL,
            &["https://a.blob.core.windows.net/c"],
            &["http://a/c", "https://a", "blob2"],
        );
        check(
            &CONTAINER_IMAGE,
            &["nvcr.io/nvidia/pytorch:24.07-py3", "a@sha256:00"],
            &["", "docker://x", "a b"],
        );
        check(
            &REGISTRY,
            &["example.azurecr.io", "localhost:5000"],
            &["", "https://x", "x:99999"],
        );
        check(
            &MODEL_NAME,
            &["llama-3.1-70b", "org/model"],
            &["", "a b", "-x"],
        );
    }
}
