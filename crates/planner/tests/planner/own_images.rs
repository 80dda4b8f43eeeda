//! Images with a purchase plan, and images by their id.

use std::collections::BTreeSet;

use model::{
    address::Address,
    live::{Answer, ImageFact, ImageKind, Live, OwnImageQuestion, TermsFact},
    plan::Action,
    resource::{PurchasePlan, Resource, ResourceKind, System},
    spec::{ImageChoice, Pool, SecurityChoice, SizeChoice, Stage, Workload},
    units::{Region, SizeName},
};

use crate::{
    images::{CPU, GPU, errors, fact, with, world},
    support::{actions, applied, codes, empty, good_plan, planned, pool, spec, vm},
};

const PAID: &str = "nvidia:ngc_azure_17_11:ngc-base-version-24_03_4_gen2:latest";

pub(crate) fn purchase() -> PurchasePlan {
    PurchasePlan {
        publisher: "nvidia".into(),
        product: "ngc_azure_17_11".into(),
        name: "ngc-base-version-24_03_4_gen2".into(),
    }
}

/// A world whose marketplace sells an image, with these terms.
fn paid_world(terms: &Answer<TermsFact>) -> Live {
    let mut live = world(&[(
        PAID,
        Some(ImageFact {
            plan: Some(purchase()),
            ..fact(2, "x64", &[])
        }),
    )]);
    live.facts.terms.insert(purchase(), terms.clone());
    live
}

fn terms(accepted: bool) -> Answer<TermsFact> {
    Answer::Known(TermsFact {
        accepted,
        link: Some("https://example.org/terms".to_owned()),
    })
}

fn paid(accept_terms: bool) -> Pool {
    let mut pool = with(GPU, PAID);
    if let ImageChoice::Urn {
        accept_terms: accepts,
        ..
    } = &mut pool.image
    {
        *accepts = accept_terms;
    }
    pool
}

#[test]
fn terms_that_nobody_accepted_are_refused_by_name() {
    let planned = planned(&spec(paid(false)), &paid_world(&terms(false)));
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "IMAGE004")
        .expect("a finding");
    assert!(
        finding
            .message
            .contains("`nvidia:ngc_azure_17_11:ngc-base-version-24_03_4_gen2`"),
        "{}",
        finding.message
    );
    let help = finding.help.join("\n");
    assert!(help.contains("accept_terms: true"), "{help}");
    assert!(help.contains("https://example.org/terms"), "{help}");
}

#[test]
fn terms_are_a_step_before_the_nodes_that_need_them() {
    let plan = good_plan(&spec(paid(true)), &paid_world(&terms(false)));
    let address = Address::terms(&purchase());
    let step = plan
        .steps
        .iter()
        .find(|step| step.address == address)
        .expect("a step");
    assert_eq!(step.action, Action::Create);
    let vm = Address::vm("train", 0);
    let vm = plan.steps.iter().find(|step| step.address == vm);
    let vm = vm.expect("a VM");
    assert!(vm.needs.contains(&address), "{:?}", vm.needs);
    let machine = vm.after.as_ref().and_then(Resource::virtual_machine);
    assert_eq!(
        machine.and_then(|machine| machine.plan.clone()),
        Some(purchase())
    );
    // What the seller asks is not known, and not nothing.
    let cost = &plan.cost;
    let mut lines = cost.lines.iter();
    let line = lines.find(|line| line.item.contains("software of nvidia"));
    assert_eq!(
        line.map(|line| (line.known, line.hourly_micros)),
        Some((false, None))
    );
    assert!(!cost.complete);
}

#[test]
fn terms_that_are_accepted_or_unreadable_make_no_fuss() {
    for (accepts, answer) in [(false, terms(true)), (true, terms(true))] {
        let plan = good_plan(&spec(paid(accepts)), &paid_world(&answer));
        let kinds = plan.steps.iter().map(|step| step.kind);
        assert!(
            !kinds
                .into_iter()
                .any(|kind| kind == ResourceKind::MarketplaceTerms)
        );
    }
    let unread = Answer::Unknown {
        reason: "AuthorizationFailed".to_owned(),
    };
    let planned = planned(&spec(paid(false)), &paid_world(&unread));
    assert!(
        !planned.diagnostics.has_errors(),
        "{:?}",
        planned.diagnostics
    );
    assert!(codes(&planned.diagnostics).contains(&"IMAGE004"));
    // With leave to accept, the step looks for itself.
    let plan = good_plan(&spec(paid(true)), &paid_world(&unread));
    let mut kinds = plan.steps.iter().map(|step| step.kind);
    assert!(kinds.any(|kind| kind == ResourceKind::MarketplaceTerms));
}

#[test]
fn nodes_that_run_ask_nothing_of_their_terms() {
    let spec = spec(paid(true));
    let live = paid_world(&terms(false));
    let mut after = applied(&good_plan(&spec, &live), &live);
    // Terms are in no list.
    let is_listed = |resource: &model::live::LiveResource| {
        resource.arm_type != ResourceKind::MarketplaceTerms.arm_type()
    };
    after.resources.retain(is_listed);
    after.facts.images.clear();
    after.facts.terms.clear();
    let again = planned(&spec, &after);
    let plan = again.plan.expect("a plan");
    assert_eq!(actions(&plan), Vec::new());
    assert!(
        plan.cost
            .lines
            .iter()
            .any(|line| line.item.contains("software of"))
    );
}

const GALLERY: &str = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/images/providers/Microsoft.Compute/galleries/own/images/train";
const MANAGED: &str = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/images/providers/Microsoft.Compute/images/train";

fn own(size: &str, id: &str) -> Pool {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool.image = ImageChoice::Id(id.to_owned());
    pool
}

fn own_world(id: &str, fact: Option<ImageFact>) -> Live {
    let mut live = empty();
    let question = OwnImageQuestion {
        location: Region::new("eastus"),
        id: id.into(),
    };
    live.facts.own_images.insert(question, Answer::Known(fact));
    live
}

fn in_gallery(generation: u8, features: &[(&str, &str)]) -> ImageFact {
    ImageFact {
        version: "2.1.0".to_owned(),
        kind: ImageKind::Gallery,
        os: Some(System::Linux),
        ..fact(generation, "x64", features)
    }
}

#[test]
fn an_image_of_a_gallery_is_pinned_to_its_newest_version_and_stays() {
    let spec = spec(own(GPU, GALLERY));
    let live = own_world(GALLERY, Some(in_gallery(2, &[])));
    let plan = good_plan(&spec, &live);
    let image = &plan.pools["train"].image;
    assert_eq!(image.kind, "own");
    assert_eq!(image.urn, format!("{GALLERY}/versions/2.1.0"));
    // A newer version changes nothing that runs, whatever its case.
    let mut after = applied(&plan, &live);
    vm(&mut after, 0)
        .resource
        .as_mut()
        .and_then(Resource::virtual_machine_mut)
        .expect("a VM")
        .image = model::resource::ImageReference::Own(model::resource::OwnImage {
        id: format!("{GALLERY}/versions/2.1.0")
            .to_uppercase()
            .as_str()
            .into(),
    });
    assert_eq!(actions(&good_plan(&spec, &after)), Vec::new());
    // Another version by name does.
    let pinned = format!("{GALLERY}/versions/3.0.0");
    let mut newer = own_world(
        &pinned,
        Some(ImageFact {
            version: "3.0.0".to_owned(),
            ..in_gallery(2, &[])
        }),
    );
    newer.resources = after.resources;
    let other = crate::support::spec(own(GPU, &pinned));
    let planned = planned(&other, &newer);
    assert!(
        planned.plan.is_some_and(|plan| plan
            .steps
            .iter()
            .any(|step| { step.action == Action::Replace }))
            || planned.diagnostics.has_errors()
    );
}

#[test]
fn an_image_of_ones_own_is_held_against_the_size_too() {
    let refused = |pool: Pool, id: &str, fact: Option<ImageFact>, why: &str| {
        let message = errors(pool, &own_world(id, fact));
        assert!(message.contains(why), "{why}: {message}");
    };
    refused(
        own(GPU, GALLERY),
        GALLERY,
        Some(in_gallery(1, &[])),
        "is of generation 1",
    );
    let arm = ImageFact {
        architecture: Some("Arm64".to_owned()),
        ..in_gallery(2, &[])
    };
    refused(own(GPU, GALLERY), GALLERY, Some(arm), "is built for Arm64");
    let mut standard = own(CPU, GALLERY);
    standard.security = SecurityChoice::Standard;
    let only = in_gallery(2, &[("SecurityType", "TrustedLaunch")]);
    refused(
        standard,
        GALLERY,
        Some(only),
        "feature `SecurityType` is `TrustedLaunch`",
    );
    let mut trusted = own(CPU, MANAGED);
    trusted.security = SecurityChoice::TrustedLaunch;
    let managed = ImageFact {
        kind: ImageKind::Managed,
        ..fact(2, "x64", &[])
    };
    refused(
        trusted,
        MANAGED,
        Some(managed),
        "managed images know no security types",
    );
    let windows = ImageFact {
        os: Some(System::Windows),
        ..in_gallery(2, &[])
    };
    refused(own(CPU, GALLERY), GALLERY, Some(windows), "holds `windows`");
    let special = ImageFact {
        specialized: true,
        ..in_gallery(2, &[])
    };
    refused(own(CPU, GALLERY), GALLERY, Some(special), "is specialized");
    let elsewhere = ImageFact {
        regions: Some(BTreeSet::from([Region::new("westus2")])),
        ..in_gallery(2, &[])
    };
    refused(
        own(CPU, GALLERY),
        GALLERY,
        Some(elsewhere),
        "is not in eastus: it is in westus2",
    );
    refused(own(CPU, GALLERY), GALLERY, None, "has no version in eastus");
    refused(own(CPU, MANAGED), MANAGED, None, "there is no image");
}

#[test]
fn images_that_others_share_stand_under_their_own_names() {
    for id in [
        "/CommunityGalleries/hpc-1234/Images/ubuntu",
        "/SharedGalleries/abc-own/Images/ubuntu",
    ] {
        let plan = good_plan(
            &spec(own(CPU, id)),
            &own_world(id, Some(in_gallery(2, &[]))),
        );
        assert_eq!(
            plan.pools["train"].image.urn,
            format!("{id}/versions/2.1.0")
        );
    }
}

#[test]
fn an_image_of_a_gallery_that_names_no_controllers_is_for_scsi() {
    let refusal = |features: &[(&str, &str)]| {
        let live = own_world(GALLERY, Some(in_gallery(2, features)));
        let planned = planned(&spec(own("Standard_D8s_v6", GALLERY)), &live);
        let messages = planned.diagnostics.iter();
        let refused = messages.filter(|finding| finding.code.as_str() == "SIZE003");
        let refused: Vec<&str> = refused.map(|finding| finding.message.as_str()).collect();
        refused.join("\n")
    };
    let message = refusal(&[]);
    assert!(
        message.contains("drivers for the disk controllers SCSI, the size has NVMe"),
        "{message}"
    );
    assert_eq!(refusal(&[("DiskControllerTypes", "SCSI, NVMe")]), "");
}
