//! Images against sizes: generation, architecture, driver, security type, disk controller.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    live::{Answer, ImageFact, ImageQuestion, Live, SizeFact},
    resource::Security,
    spec::{ImageChoice, Pool, SecurityChoice, SizeChoice, SizeConstraints, Stage, Workload},
    units::{Region, SizeName},
};

use crate::support::{NEWEST, codes, empty, good_plan, live_stack, planned, pool, spec};

pub(crate) const GPU: &str = "Standard_NC24ads_A100_v4";
const MI300X: &str = "Standard_ND96isr_MI300X_v5";
/// An x64 size that boots both generations.
pub(crate) const CPU: &str = "Standard_D4s_v5";

pub(crate) fn with(size: &str, urn: &str) -> Pool {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool.image = ImageChoice::Urn {
        urn: urn.parse().expect("a URN"),
        accept_terms: false,
    };
    pool
}

fn question(urn: &str) -> ImageQuestion {
    let urn: model::spec::Urn = urn.parse().expect("a URN");
    ImageQuestion {
        location: Region::new("eastus"),
        publisher: urn.publisher.to_string(),
        offer: urn.offer.to_string(),
        sku: urn.sku.to_string(),
        version: (urn.version != "latest").then_some(urn.version),
    }
}

pub(crate) fn fact(generation: u8, architecture: &str, features: &[(&str, &str)]) -> ImageFact {
    let pairs = features.iter();
    ImageFact {
        version: NEWEST.to_owned(),
        generation: Some(generation),
        architecture: Some(architecture.to_owned()),
        features: pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..ImageFact::default()
    }
}

/// A world in which Azure says this of these images.
pub(crate) fn world(images: &[(&str, Option<ImageFact>)]) -> Live {
    let mut live = empty();
    for (urn, fact) in images {
        live.facts
            .images
            .insert(question(urn), Answer::Known(fact.clone()));
    }
    live
}

/// Messages of the errors of a pool, all in one.
pub(crate) fn errors(pool: Pool, live: &Live) -> String {
    let planned = planned(&spec(pool), live);
    assert!(planned.diagnostics.has_errors(), "no error");
    let messages = planned.diagnostics.iter();
    let messages: Vec<&str> = messages.map(|finding| finding.message.as_str()).collect();
    messages.join("\n")
}

#[test]
fn an_image_of_generation_1_offers_its_sku_of_generation_2() {
    // The catalogue knows both SKUs of this offer.
    let message = errors(
        with(GPU, "microsoft-dsvm:ubuntu-2204:2204:latest"),
        &empty(),
    );
    assert!(message.contains("generation 1"), "{message}");
    assert!(
        message.contains("use `microsoft-dsvm:ubuntu-2204:2204-gen2`"),
        "{message}"
    );
    // Of this one it knows nothing: Azure tells, and is asked for the other SKU.
    let live = world(&[
        ("shop:linux:9:latest", Some(fact(1, "x64", &[]))),
        ("shop:linux:9-gen2:latest", Some(fact(2, "x64", &[]))),
    ]);
    let message = errors(with(GPU, "shop:linux:9:latest"), &live);
    assert!(message.contains("use `shop:linux:9-gen2`"), "{message}");
    // Where there is none, none is named.
    let live = world(&[
        ("shop:linux:9:latest", Some(fact(1, "x64", &[]))),
        ("shop:linux:9-gen2:latest", None),
        ("shop:linux:9-g2:latest", None),
        ("shop:linux:9gen2:latest", None),
    ]);
    let message = errors(with(GPU, "shop:linux:9:latest"), &live);
    assert!(!message.contains("use `shop"), "{message}");
}

#[test]
fn an_image_of_generation_2_does_not_boot_on_a_size_of_generation_1() {
    let live = world(&[
        ("shop:linux:9-gen2:latest", Some(fact(2, "x64", &[]))),
        ("shop:linux:9:latest", Some(fact(1, "x64", &[]))),
    ]);
    let mut old = with("Standard_A8m_v2", "shop:linux:9-gen2:latest");
    old.workload = Workload::Small;
    let message = errors(old, &live);
    assert!(
        message
            .contains("is of generation 2, the size boots only generation 1: use `shop:linux:9`"),
        "{message}"
    );
}

#[test]
fn sizes_of_generation_2_only_get_an_image_of_generation_2_by_default() {
    for size in [GPU, "Standard_D4s_v6", "Standard_ND96isr_H100_v5"] {
        let mut pool = pool(Stage::Training, Workload::Generative);
        pool.size = SizeChoice::Named(SizeName::from(size));
        let plan = good_plan(&spec(pool), &empty());
        let urn = &plan.pools["train"].image.urn;
        let sku = urn.split(':').nth(2).expect("a SKU");
        let catalog = model::catalog::Catalog::embedded();
        let row = catalog.images().iter().find(|row| row.sku == sku);
        assert_eq!(row.map(|row| row.generation), Some(2), "{size}: {urn}");
    }
}

#[test]
fn an_image_for_arm_does_not_run_on_x64() {
    let live = world(&[("shop:linux:arm:latest", Some(fact(2, "Arm64", &[])))]);
    let message = errors(with(CPU, "shop:linux:arm:latest"), &live);
    assert!(
        message.contains("shop:linux:arm is built for Arm64, the size has x64"),
        "{message}"
    );
    let message = errors(
        with(CPU, "Canonical:ubuntu-24_04-lts:server-arm64:latest"),
        &empty(),
    );
    assert!(
        message.contains("use `Canonical:ubuntu-24_04-lts:server`"),
        "{message}"
    );
}

#[test]
fn amd_gpus_get_rocm_and_refuse_an_image_for_nvidia() {
    let mut auto = pool(Stage::Training, Workload::Generative);
    auto.size = SizeChoice::Named(SizeName::from(MI300X));
    let mut auto = spec(auto);
    auto.locations = vec![Region::new("westus")];
    let plan = good_plan(&auto, &empty());
    assert!(
        plan.pools["train"].image.urn.contains("-rocm:"),
        "{}",
        plan.pools["train"].image.urn
    );
    let message = errors(
        with(MI300X, "microsoft-dsvm:ubuntu-hpc:2204:latest"),
        &empty(),
    );
    assert!(message.contains("driver of NVIDIA only"), "{message}");
}

#[test]
fn a_live_image_without_a_driver_for_the_size_stays_and_is_said() {
    let mut named = pool(Stage::Training, Workload::Small);
    named.size = SizeChoice::Named(SizeName::from(GPU));
    let spec = spec(named);
    let mut live = live_stack(&spec);
    let vm = live
        .resources
        .iter_mut()
        .find_map(|one| one.resource.as_mut()?.virtual_machine_mut())
        .expect("a VM");
    let image = vm.image.marketplace_mut().expect("a marketplace image");
    image.offer = "ubuntu-hpc".into();
    image.sku = "2204-ROCM".into();
    let planned = planned(&spec, &live);
    assert!(!planned.plan.expect("a plan").has_changes);
    let said: Vec<String> = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.code == model::diag::Code::ImageMisfitsLive)
        .map(|finding| finding.message.clone())
        .collect();
    assert_eq!(
        said,
        [
            "live nodes have `microsoft-dsvm:ubuntu-hpc:2204-rocm`, which does not run on `Standard_NC24ads_A100_v4`: it has the driver of AMD MI300X only"
        ]
    );
}

#[test]
fn what_azure_says_of_an_image_moves_a_pool_to_a_size_that_runs_it() {
    // Generation 1 on a size that was to be chosen: one is taken that boots it.
    let live = world(&[("shop:linux:9:latest", Some(fact(1, "x64", &[])))]);
    let mut pool = with(GPU, "shop:linux:9:latest");
    pool.workload = Workload::Small;
    pool.size = SizeChoice::Auto;
    let plan = good_plan(&spec(pool), &live);
    let catalog = model::catalog::Catalog::embedded();
    let size = catalog.size(&plan.pools["train"].size).expect("a size");
    assert!(size.generations.contains(&1), "{}", size.name);
    let rejected = &plan.pools["train"].candidates;
    let says = |candidate: &model::plan::Candidate| {
        let mut reasons = candidate.reasons.iter();
        reasons.any(|reason| reason.message.contains("is of generation 1"))
    };
    assert!(rejected.iter().any(says), "{rejected:#?}");
}

#[test]
fn a_size_for_confidential_vms_alone_is_no_candidate() {
    let message = errors(
        {
            let mut pool = pool(Stage::Training, Workload::Small);
            pool.size = SizeChoice::Named(SizeName::from("Standard_DC16ads_v6"));
            pool.security = SecurityChoice::Standard;
            pool
        },
        &empty(),
    );
    assert!(message.contains("confidential VM"), "{message}");
}

#[test]
fn bad_releases_are_warned_of() {
    for (version, warned) in [
        ("22.04.2025093001", true),
        ("22.04.2025100901", true),
        ("22.04.2026010100", false),
    ] {
        let urn = format!("microsoft-dsvm:ubuntu-hpc:2204:{version}");
        let planned = planned(&spec(with(GPU, &urn)), &empty());
        let codes = codes(&planned.diagnostics);
        assert_eq!(codes.contains(&"IMAGE005"), warned, "{version}: {codes:?}");
        assert!(planned.plan.is_some());
    }
    let other = planned(
        &spec(with(GPU, "shop:linux:9:1.0.20250930")),
        &world(&[("shop:linux:9:1.0.20250930", Some(fact(2, "x64", &[])))]),
    );
    assert!(!codes(&other.diagnostics).contains(&"IMAGE005"));
}

/// The security type that a pool gets, or the errors.
fn secured(choice: SecurityChoice, image: ImageFact) -> Result<Security, String> {
    let live = world(&[("shop:linux:9:latest", Some(image))]);
    let mut pool = with(CPU, "shop:linux:9:latest");
    pool.security = choice;
    let planned = planned(&spec(pool), &live);
    let findings = &planned.diagnostics;
    if findings.has_errors() {
        return Err(format!("{findings:?}"));
    }
    let plan = planned.plan.expect("a plan");
    let vms = plan.steps.iter();
    let mut vms = vms.filter_map(|step| step.after.as_ref()?.virtual_machine().cloned());
    Ok(vms.next().expect("a VM").security)
}

#[test]
fn an_image_for_trusted_launch_alone_decides_the_security_type() {
    let demanding = || fact(2, "x64", &[("SecurityType", "TrustedLaunch")]);
    let message = secured(SecurityChoice::Standard, demanding()).expect_err("a refusal");
    assert!(message.contains("its feature `SecurityType`"), "{message}");
    let trusted = Security::TrustedLaunch {
        secure_boot: true,
        vtpm: true,
    };
    assert_eq!(
        secured(SecurityChoice::Auto, demanding()),
        Ok(trusted.clone())
    );
    assert_eq!(
        secured(SecurityChoice::TrustedLaunch, demanding()),
        Ok(trusted.clone())
    );
    let able = || fact(2, "x64", &[("SecurityType", "TrustedLaunchSupported")]);
    assert_eq!(
        secured(SecurityChoice::Auto, able()),
        Ok(Security::Standard)
    );
    assert_eq!(secured(SecurityChoice::TrustedLaunch, able()), Ok(trusted));
}

#[test]
fn trusted_launch_needs_an_image_that_takes_it() {
    for (image, why) in [
        (fact(1, "x64", &[]), "of generation 1"),
        (
            fact(2, "x64", &[("IsAcceleratedNetworkSupported", "True")]),
            "does not list the feature",
        ),
        (
            fact(2, "x64", &[("SecurityType", "ConfidentialVM")]),
            "confidential VMs only",
        ),
    ] {
        let message = secured(SecurityChoice::TrustedLaunch, image).expect_err(why);
        assert!(message.contains(why), "{message}");
    }
}

#[test]
fn there_is_no_trusted_launch_on_arm() {
    let mut pool = pool(Stage::Training, Workload::Small);
    pool.size = SizeChoice::Named(SizeName::from("Standard_D4ps_v5"));
    pool.image = ImageChoice::Urn {
        urn: "Canonical:ubuntu-24_04-lts:server-arm64:latest"
            .parse()
            .expect("a URN"),
        accept_terms: false,
    };
    let plan = good_plan(&spec(pool.clone()), &empty());
    let vm = plan
        .steps
        .iter()
        .find_map(|step| step.after.as_ref()?.virtual_machine().cloned());
    assert_eq!(vm.expect("a VM").security, Security::Standard);
    pool.security = SecurityChoice::TrustedLaunch;
    let message = errors(pool, &empty());
    assert!(message.contains("no Trusted Launch"), "{message}");
}

#[test]
fn an_image_without_a_driver_for_the_disk_controller_does_not_fit() {
    let urn = "shop:linux:9:latest";
    let check = |controllers: &str, fits: bool| {
        let mut live = world(&[(
            urn,
            Some(fact(2, "x64", &[("DiskControllerTypes", controllers)])),
        )]);
        let size = SizeFact {
            name: SizeName::from("Standard_D4s_v6"),
            family: "StandardDsv6Family".to_owned(),
            zones: BTreeSet::new(),
            restricted: None,
            restricted_zones: BTreeSet::new(),
            capabilities: BTreeMap::from([("DiskControllerTypes".to_owned(), "NVMe".to_owned())]),
        };
        live.facts.sizes.insert(
            Region::new("eastus"),
            Answer::Known(BTreeMap::from([(size.name.clone(), size)])),
        );
        let planned = planned(&spec(with("Standard_D4s_v6", urn)), &live);
        assert_eq!(
            planned.diagnostics.has_errors(),
            !fits,
            "{controllers}: {:?}",
            planned.diagnostics
        );
    };
    check("SCSI", false);
    check("SCSI, NVMe", true);
}

#[test]
fn a_size_without_infiniband_is_no_candidate_where_it_is_asked_for() {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.size = SizeChoice::Constrained(SizeConstraints {
        rdma: Some(true),
        ..SizeConstraints::default()
    });
    let plan = good_plan(&spec(pool), &empty());
    let catalog = model::catalog::Catalog::embedded();
    let chosen = &plan.pools["train"];
    let has = |name: &SizeName| catalog.size(name).is_some_and(|size| size.rdma);
    assert!(has(&chosen.size), "{}", chosen.size);
    let (with, without): (Vec<_>, Vec<_>) = chosen
        .candidates
        .iter()
        .partition(|candidate| has(&candidate.size));
    assert!(!with.is_empty() && !without.is_empty());
    assert!(without.iter().all(|candidate| candidate.rank.is_none()));
}
