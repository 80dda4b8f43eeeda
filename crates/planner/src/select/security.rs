//! The security type: none, or Trusted Launch, by the size and what the image says (R3).

use model::{
    catalog::{Architecture, Size, TrustedLaunch},
    diag::{At, Code, Diagnostic, SpecPath},
    live::{ImageFact, ImageKind},
    resource::Security,
    spec::SecurityChoice,
};

use super::{Context, Findings};

/// The feature of an image that says which security types it is for.
const FEATURE: &str = "SecurityType";

/// Chooses the security type. GPU images have unsigned drivers, so Secure Boot is off wherever
/// there is a GPU; `auto` sends no security profile at all unless the image demands one.
pub(super) fn choose(
    context: Context<'_>,
    size: &Size,
    image: Option<&ImageFact>,
    findings: &mut Findings,
) -> Security {
    let only = image.and_then(|fact| fact.feature(FEATURE));
    let is = |word: &str| only.is_some_and(|only| only.eq_ignore_ascii_case(word));
    let mut refuse = |code: Code, message: String, help: &str| {
        let at = At::Value(SpecPath::pool(context.name, &["security"]));
        findings
            .diagnostics
            .push(Diagnostic::new(code, at, message).with_help(help));
    };
    if is("ConfidentialVM") {
        let message = "the image is for confidential VMs only (its feature `SecurityType` is `ConfidentialVM`), which this version does not make";
        refuse(
            Code::ImageDoesNotFit,
            message.to_owned(),
            "choose another image",
        );
    }
    let wants = match context.pool.security {
        SecurityChoice::Auto => is("TrustedLaunch"),
        SecurityChoice::Standard => {
            if is("TrustedLaunch") {
                let message = "the image is for Trusted Launch only (its feature `SecurityType` is `TrustedLaunch`), the spec has `security: standard`";
                refuse(
                    Code::ImageDoesNotFit,
                    message.to_owned(),
                    "use `security: auto` or `trusted_launch`, or another image",
                );
            }
            false
        }
        SecurityChoice::TrustedLaunch => true,
    };
    if !wants {
        return Security::Standard;
    }
    let support = support(context, size);
    if let Some(reason) = &support.against {
        let message = format!("`{}` {reason}", size.name);
        refuse(Code::SizeLacks, message, "use `security: standard`");
    } else if let Some(message) = image.and_then(against_image) {
        refuse(
            Code::ImageDoesNotFit,
            message,
            "use `security: standard`, or another image",
        );
    }
    Security::TrustedLaunch {
        secure_boot: support.secure_boot,
        vtpm: true,
    }
}

/// What a size does with Trusted Launch.
pub(super) struct Support {
    /// Why it does not take it.
    pub(super) against: Option<String>,
    /// Whether Secure Boot can be on.
    secure_boot: bool,
}

pub(super) fn support(context: Context<'_>, size: &Size) -> Support {
    let family = context.catalog.image_family(&size.image_family);
    let (support, reason) = family.map_or(
        (TrustedLaunch::Unknown, "nothing is known of the family"),
        |family| (family.trusted_launch, family.reason.as_str()),
    );
    let disabled = context.size_fact(size).is_some_and(|fact| {
        let value = fact.capabilities.get("TrustedLaunchDisabled");
        value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
    });
    let against = if size.architecture == Some(Architecture::Arm64) {
        Some("has Arm processors, for which there is no Trusted Launch".to_owned())
    } else if !size.generations.contains(&2) {
        Some("does not support Trusted Launch: it boots generation 1 only".to_owned())
    } else if disabled {
        Some("does not support Trusted Launch: Azure lists it as disabled".to_owned())
    } else {
        match support {
            TrustedLaunch::Unsupported => {
                Some(format!("does not support Trusted Launch: {reason}"))
            }
            TrustedLaunch::Unknown => {
                Some(format!("is not known to support Trusted Launch: {reason}"))
            }
            TrustedLaunch::Supported | TrustedLaunch::SecureBootOff => None,
        }
    };
    Support {
        against,
        secure_boot: support == TrustedLaunch::Supported && size.gpu.is_none(),
    }
}

/// Why an image cannot be started with Trusted Launch, by what Azure says of it.
fn against_image(fact: &ImageFact) -> Option<String> {
    let without = |why: &str| {
        Some(format!(
            "the image cannot be used with Trusted Launch: {why}"
        ))
    };
    if fact
        .architecture
        .as_deref()
        .is_some_and(|architecture| architecture.eq_ignore_ascii_case("Arm64"))
    {
        return without("it is built for Arm64");
    }
    if fact.kind == ImageKind::Managed {
        return without("managed images know no security types; one in a gallery does");
    }
    if fact.generation == Some(1) {
        return without("it is of generation 1");
    }
    match fact.feature(FEATURE) {
        Some(kinds) if kinds.to_lowercase().contains("trustedlaunch") => None,
        Some(kinds) => without(&format!("its feature `SecurityType` is `{kinds}`")),
        // Azure lists the features of an image; one that it does not list is not there.
        None if !fact.features.is_empty() || fact.kind == ImageKind::Gallery => {
            without("it does not list the feature `SecurityType`")
        }
        None => None,
    }
}
