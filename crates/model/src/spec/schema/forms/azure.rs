//! Names and ids of Azure: regions, groups, sizes, images and resources.

use super::{form, plain};
use crate::{
    ids::ArmId,
    spec::{
        parts::Urn,
        schema::kind::{Refusal, TextForm, Verdict},
    },
    units::Region,
};

/// What every VM size's name begins with.
const SIZE_PREFIX: &str = "Standard_";

pub(crate) const REGION: TextForm = form(
    "an Azure region such as `eastus`",
    "^[A-Za-z][A-Za-z0-9 ]{1,40}$",
    |text| {
        plain(
            text,
            2..=41,
            |byte| byte.is_ascii_alphabetic(),
            |byte| byte.is_ascii_alphanumeric() || byte == b' ',
        )
        .map_err(|refusal| {
            let tight: String = text
                .chars()
                .filter(|character| !matches!(character, '-' | '_' | '.'))
                .collect();
            let letters = tight.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let begins = tight
                .bytes()
                .next()
                .is_some_and(|byte| byte.is_ascii_alphabetic());
            if letters && begins && tight.len() > 1 {
                refusal.with_help(format!("write `{}`", Region::new(&tight)))
            } else {
                refusal
            }
        })
    },
);

pub(crate) const RESOURCE_GROUP: TextForm = form(
    "a resource group name of 1 to 90 letters, digits, `.`, `_`, `-`, `(` and `)` that does not end with a period",
    "^[\\w.()-]{0,89}[\\w()-]$",
    |text| {
        let plain = text
            .chars()
            .all(|character| character.is_alphanumeric() || "._-()".contains(character));
        let count = text.chars().count();
        if plain && (1..=90).contains(&count) && !text.ends_with('.') {
            Ok(())
        } else {
            Err(Refusal::plain())
        }
    },
);

pub(crate) const SUBSCRIPTION: TextForm = form(
    "a subscription id such as `00000000-0000-0000-0000-000000000000`",
    "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$",
    subscription,
);

pub(crate) const SIZE: TextForm = form(
    "a VM size such as `Standard_ND96isr_H100_v5`",
    "^Standard_[A-Za-z]{1,5}[0-9][A-Za-z0-9_-]{0,59}$",
    size,
);

pub(crate) const FAMILY: TextForm = form(
    "the letters of a size family such as `ND`",
    "^[A-Z]{1,3}$",
    |text| {
        plain(
            text,
            1..=3,
            |byte| byte.is_ascii_uppercase(),
            |byte| byte.is_ascii_uppercase(),
        )
        .map_err(|refusal| {
            let name = text.strip_prefix(SIZE_PREFIX).unwrap_or(text);
            let upper = name.bytes().take_while(u8::is_ascii_uppercase).count();
            let letters = match upper {
                0 => name.bytes().take_while(u8::is_ascii_alphabetic).count(),
                upper => upper,
            };
            let letters = name.get(..letters).unwrap_or_default().to_ascii_uppercase();
            if (1..=3).contains(&letters.len()) {
                refusal.with_help(format!("write `{letters}`"))
            } else {
                refusal
            }
        })
    },
);

pub(crate) const URN: TextForm = form(
    "the name of a marketplace image as `publisher:offer:sku:version`",
    "^[A-Za-z0-9._-]+:[A-Za-z0-9._-]+:[A-Za-z0-9._-]+:[A-Za-z0-9._-]+$",
    |text| match text.parse::<Urn>() {
        Ok(_) => Ok(()),
        Err(_) if format!("{text}:latest").parse::<Urn>().is_ok() => Err(Refusal::because(
            "the version is missing",
        )
        .with_help(format!(
            "write `{text}:latest`; plans name the version it stands for"
        ))),
        Err(_) => Err(Refusal::plain()),
    },
);

pub(crate) const SUBNET_ID: TextForm = form(
    "the id of a subnet: `/subscriptions/…/resourceGroups/…/providers/Microsoft.Network/virtualNetworks/…/subnets/…`",
    "^/[Ss]ubscriptions/[^/]+/[Rr]esource[Gg]roups/[^/]+/providers/[^/]+/[^/]+/[^/]+/[^/]+/[^/]+$",
    |text| resource_id(text, &["Microsoft.Network/virtualNetworks/subnets"]),
);

pub(crate) const IDENTITY_ID: TextForm = form(
    "the id of a user-assigned identity: `/subscriptions/…/providers/Microsoft.ManagedIdentity/userAssignedIdentities/…`",
    "^/[Ss]ubscriptions/[^/]+/[Rr]esource[Gg]roups/[^/]+/providers/[^/]+/[^/]+/[^/]+$",
    |text| resource_id(text, &["Microsoft.ManagedIdentity/userAssignedIdentities"]),
);

pub(crate) const RESERVATION_ID: TextForm = form(
    "the id of a capacity reservation group: `/subscriptions/…/providers/Microsoft.Compute/capacityReservationGroups/…`",
    "^/[Ss]ubscriptions/[^/]+/[Rr]esource[Gg]roups/[^/]+/providers/[^/]+/[^/]+/[^/]+$",
    |text| resource_id(text, &["Microsoft.Compute/capacityReservationGroups"]),
);

pub(crate) const PROXIMITY_ID: TextForm = form(
    "the id of a proximity placement group: `/subscriptions/…/providers/Microsoft.Compute/proximityPlacementGroups/…`",
    "^/[Ss]ubscriptions/[^/]+/[Rr]esource[Gg]roups/[^/]+/providers/[^/]+/[^/]+/[^/]+$",
    |text| resource_id(text, &["Microsoft.Compute/proximityPlacementGroups"]),
);

pub(crate) const IMAGE_ID: TextForm = form(
    "the id of an image, or of an image or version in a gallery: `/subscriptions/…/providers/Microsoft.Compute/…`",
    "^/[A-Za-z]+/.+$",
    image_id,
);

fn subscription(text: &str) -> Verdict {
    let groups: Vec<&str> = text.split('-').collect();
    let hexadecimal = groups
        .iter()
        .all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    if hexadecimal && lengths == [8, 4, 4, 4, 12] {
        return Ok(());
    }
    match text.strip_prefix("/subscriptions/") {
        Some(id) if subscription(id).is_ok() => Err(Refusal::instead(format!("write `{id}`"))),
        _ => Err(Refusal::instead(
            "`az account show --query id` prints the id of a subscription by name",
        )),
    }
}

fn size(text: &str) -> Verdict {
    let has_prefix = text
        .get(..SIZE_PREFIX.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(SIZE_PREFIX));
    let name = if has_prefix {
        text.get(SIZE_PREFIX.len()..).unwrap_or_default()
    } else {
        text
    };
    let is_size = is_size_name(name);
    if has_prefix && is_size {
        return Ok(());
    }
    let bare = name
        .strip_prefix("Standard")
        .or_else(|| name.strip_prefix("standard"))
        .unwrap_or(name)
        .trim_start_matches(['_', '-', ' ', '.']);
    let spelling: String = bare
        .chars()
        .map(|character| match character {
            ' ' | '.' => '_',
            other => other,
        })
        .collect();
    if is_size_name(&spelling) && spelling.contains(|c: char| c.is_ascii_digit()) {
        Err(Refusal::instead(format!("write `{SIZE_PREFIX}{spelling}`")))
    } else {
        Err(Refusal::plain())
    }
}

/// Whether a text is the name of a size behind its prefix: letters, a digit, more.
fn is_size_name(name: &str) -> bool {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let rest = name.as_bytes().get(letters..).unwrap_or_default();
    (1..=5).contains(&letters)
        && rest.first().is_some_and(u8::is_ascii_digit)
        && rest.len() <= 60
        && rest
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
}

/// Accepts the id of a resource of one of these types.
fn resource_id(text: &str, types: &[&str]) -> Verdict {
    let Ok(id) = text.parse::<ArmId>() else {
        return Err(Refusal::plain());
    };
    let found = id.resource_type();
    if types
        .iter()
        .any(|wanted| wanted.eq_ignore_ascii_case(&found))
        && is_complete(&id)
    {
        Ok(())
    } else {
        Err(Refusal::because(format!("that is a `{found}`")))
    }
}

/// Whether an id names a group and, behind the provider, pairs of types and names.
fn is_complete(id: &ArmId) -> bool {
    let behind = id.as_str().split('/').skip(1).count();
    id.group().is_some() && behind.is_multiple_of(2)
}

fn image_id(text: &str) -> Verdict {
    let lower = text.to_ascii_lowercase();
    let shared = ["/communitygalleries/", "/sharedgalleries/"]
        .iter()
        .any(|start| lower.starts_with(start));
    if shared && !text.contains("//") && text.split('/').count() >= 5 {
        return Ok(());
    }
    resource_id(
        text,
        &[
            "Microsoft.Compute/images",
            "Microsoft.Compute/galleries/images",
            "Microsoft.Compute/galleries/images/versions",
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(form: &TextForm, text: &str) -> Option<String> {
        (form.check)(text).expect_err(text).help
    }

    #[test]
    fn sizes_are_names_with_their_prefix() {
        for right in [
            "Standard_ND96isr_H100_v5",
            "standard_nd96isr_h100_V5",
            "Standard_D2s_v5",
            "Standard_E32-8s_v5",
            "Standard_NC128lds_xl_RTXPRO6000BSE_v6",
        ] {
            assert_eq!((SIZE.check)(right), Ok(()), "{right}");
        }
        for (wrong, spelling) in [
            ("D2s_v3", Some("write `Standard_D2s_v3`")),
            ("ND96isr_H100_v5", Some("write `Standard_ND96isr_H100_v5`")),
            (
                "Standard ND96isr H100 v5",
                Some("write `Standard_ND96isr_H100_v5`"),
            ),
            ("Standard-D2s_v3", Some("write `Standard_D2s_v3`")),
            ("Standard_", None),
            ("Standard_ND", None),
            ("big", None),
            ("D2s_v3!", None),
            ("", None),
        ] {
            assert_eq!(help(&SIZE, wrong).as_deref(), spelling, "{wrong}");
        }
    }

    #[test]
    fn ids_have_their_type() {
        let group = "/subscriptions/s/resourceGroups/g/providers";
        let subnet = format!("{group}/Microsoft.Network/virtualNetworks/v/subnets/s");
        assert_eq!((SUBNET_ID.check)(&subnet), Ok(()));
        assert_eq!((SUBNET_ID.check)(&subnet.to_lowercase()), Ok(()));
        let network = format!("{group}/Microsoft.Network/virtualNetworks/v");
        assert_eq!(
            (SUBNET_ID.check)(&network),
            Err(Refusal::because(
                "that is a `Microsoft.Network/virtualNetworks`"
            ))
        );
        let cut = format!("{group}/Microsoft.Network/virtualNetworks/v/subnets");
        assert!((SUBNET_ID.check)(&cut).is_err());
        assert!((SUBNET_ID.check)("subnet").is_err());
        let gallery = format!("{group}/Microsoft.Compute/galleries/g/images/i/versions/1.0.0");
        assert_eq!((IMAGE_ID.check)(&gallery), Ok(()));
        assert_eq!(
            (IMAGE_ID.check)("/CommunityGalleries/g/Images/i/Versions/latest"),
            Ok(())
        );
        assert!((IMAGE_ID.check)("/CommunityGalleries/g").is_err());
    }

    #[test]
    fn other_names_get_a_spelling() {
        for (form, wrong, spelling) in [
            (&REGION, "east-us", Some("write `eastus`")),
            (&REGION, "eastus,westus", None),
            (&FAMILY, "nd", Some("write `ND`")),
            (&FAMILY, "NDv5", Some("write `ND`")),
            (&FAMILY, "96", None),
            (&FAMILY, "NC96", Some("write `NC`")),
            (
                &URN,
                "Canonical:offer:sku",
                Some("write `Canonical:offer:sku:latest`; plans name the version it stands for"),
            ),
            (
                &SUBSCRIPTION,
                "/subscriptions/00000000-0000-0000-0000-000000000000",
                Some("write `00000000-0000-0000-0000-000000000000`"),
            ),
        ] {
            assert_eq!(help(form, wrong).as_deref(), spelling, "{wrong}");
        }
        assert_eq!((REGION.check)("East US 2"), Ok(()));
        assert_eq!((RESOURCE_GROUP.check)("rg-é_(1)"), Ok(()));
        assert!((RESOURCE_GROUP.check)("rg.").is_err());
    }
}
