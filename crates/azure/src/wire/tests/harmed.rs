//! Answers with something wrong in them: an error or a resource, never a panic.

use super::*;
use crate::{
    testing::odd,
    wire::{is_run_tag, os_disk_id, os_disk_of, set_tags, tags_of},
};

/// Recorded answers of every kind.
fn samples() -> Vec<Value> {
    vec![
        sample!("group"),
        sample!("vnet"),
        sample!("subnet"),
        sample!("nsg"),
        sample!("public-ip"),
        sample!("nat-gateway"),
        sample!("ssh-key"),
        sample!("disk-zrs"),
        sample!("vm-in-list"),
        sample!("vm-low-priority"),
        sample!("vm-password"),
        sample!("vm-trusted-launch"),
        sample!("vm-with-view"),
    ]
}

/// Does with a body all that is done with the body of a live resource of any kind.
fn handled(body: &Value) -> Result<(), TestCaseError> {
    let mut disks = VmDisks::default();
    disks.add(body);
    let state = state::of_body(body);
    prop_assert_eq!(state::of_body(body), state);
    let machine = ArmId::resource_group("s", "rg").in_group("Microsoft.Compute/disks", "d");
    let _ = (os_disk_id(body), os_disk_of(&machine, body));
    let mut tagged = body.clone();
    set_tags(
        &mut tagged,
        &Tags::from_iter([("a".into(), "b".to_owned())]),
    );
    prop_assert_eq!(tagged.is_object(), tags_of(&tagged).get("a") == Some("b"));
    for kind in ResourceKind::ALL {
        match decode_with(*kind, body, &disks) {
            Ok(resource) => {
                prop_assert_eq!(resource.kind(), *kind);
                let tags = &resource.tags;
                prop_assert!(tags.iter().all(|(name, _)| !is_run_tag(name.as_str())));
                let _ = encode(&resource);
            }
            Err(error) => prop_assert!(error.to_string().starts_with('`')),
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_harmed_answer_is_an_error_or_a_resource(body in odd::harmed(samples())) {
        handled(&body)?;
    }

    #[test]
    fn any_json_is_an_error_or_a_resource(body in odd::json()) {
        handled(&body)?;
    }

    #[test]
    fn a_harmed_body_of_our_own_is_an_error_or_a_resource(
        body in resource().prop_flat_map(|resource| {
            odd::harmed(vec![encode(&resource).expect("a body")])
        })
    ) {
        handled(&body)?;
    }
}

#[test]
fn a_member_that_is_needed_is_never_made_up() {
    for (kind, sample, members) in [
        (
            ResourceKind::ResourceGroup,
            sample!("group"),
            &["/location"][..],
        ),
        (
            ResourceKind::VirtualNetwork,
            sample!("vnet"),
            &["/location"],
        ),
        (
            ResourceKind::Subnet,
            sample!("subnet"),
            &["/properties/addressPrefix"],
        ),
        (
            ResourceKind::VirtualMachine,
            sample!("vm-trusted-launch"),
            &[
                "/location",
                "/properties/hardwareProfile/vmSize",
                "/properties/osProfile/computerName",
                "/properties/storageProfile/imageReference/version",
            ],
        ),
    ] {
        decode(kind, &sample).expect("a resource");
        for place in members {
            for wrong in [Value::Null, json!(7), json!([]), json!({})] {
                let mut body = sample.clone();
                *body.pointer_mut(place).expect("a member") = wrong.clone();
                let error = decode(kind, &body).expect_err(place);
                assert!(matches!(error, DecodeError::Missing(_)), "{place} {wrong}");
            }
        }
    }
}
