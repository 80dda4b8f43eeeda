//! Each kind of hardware: the image it gets, the driver that is left to the user, the
//! architecture, and what keeps nodes together; or the one reason why it is not made.

use model::{
    catalog::{Architecture, Catalog},
    plan::PoolPlan,
    spec::{ImageChoice, Pool, SizeChoice, Stage, Workload},
    units::{Region, SizeName},
};

use crate::support::{empty, planned, pool, spec};

const UBUNTU: &str = "Canonical:ubuntu-24_04-lts:server:latest";
const UBUNTU_ARM: &str = "Canonical:ubuntu-24_04-lts:server-arm64:latest";

enum Expected {
    /// The kind of the image and the beginning of its SKU; words of what is said of its driver;
    /// what keeps two nodes together.
    Made(
        &'static str,
        &'static str,
        Option<&'static str>,
        &'static str,
    ),
    /// Words of the refusal.
    Refused(&'static str),
}

use Expected::{Made, Refused};

/// Sizes, the image that the spec names, the architecture, and what comes of two nodes.
const TABLE: &[(&str, Option<&str>, Architecture, Expected)] = &[
    // AMD over InfiniBand: ROCm.
    (
        "Standard_ND96isr_MI300X_v5",
        None,
        Architecture::X64,
        Made("hpc", "2404-rocm|2204-rocm", None, "single_placement_group"),
    ),
    (
        "Standard_ND96isr_MI300X_v5",
        Some("microsoft-dsvm:ubuntu-hpc:2404:latest"),
        Architecture::X64,
        Refused("it has the driver of NVIDIA only: use a `-rocm` image"),
    ),
    // A part of an A10: GRID, which no image brings.
    (
        "Standard_NV6ads_A10_v5",
        None,
        Architecture::X64,
        Refused("the size needs the GRID driver"),
    ),
    (
        "Standard_NV6ads_A10_v5",
        Some(UBUNTU),
        Architecture::X64,
        Made(
            "marketplace",
            "server",
            Some("install it with the extension `NvidiaGpuDriverLinux`"),
            "none",
        ),
    ),
    (
        "Standard_NC8ads_A10_v4",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", Some("expected to work"), "none"),
    ),
    (
        "Standard_NV4ads_V710_v5",
        Some(UBUNTU),
        Architecture::X64,
        Made(
            "marketplace",
            "server",
            Some("install it with the extension `AmdGpuDriverLinux`"),
            "none",
        ),
    ),
    // Blackwell without a published image.
    (
        "Standard_NC144lds_xl_RTXPRO6000BSE_v6",
        None,
        Architecture::X64,
        Refused("which needs GRID 595"),
    ),
    (
        "Standard_NC144lds_xl_RTXPRO6000BSE_v6",
        Some(UBUNTU),
        Architecture::X64,
        Made(
            "marketplace",
            "server",
            Some("GRID 595 with open modules has to be installed by hand"),
            "none",
        ),
    ),
    // Racks are not made.
    (
        "Standard_ND128isr_NDR_GB200_v6",
        None,
        Architecture::Arm64,
        Refused("sold by the rack of 18 VMs"),
    ),
    (
        "Standard_ND128isr_GB300_v6",
        None,
        Architecture::Arm64,
        Refused("sold by the rack of 18 VMs"),
    ),
    // NVSwitch over InfiniBand: the HPC image.
    (
        "Standard_ND96isr_H100_v5",
        None,
        Architecture::X64,
        Made("hpc", "2404|2204", None, "single_placement_group"),
    ),
    (
        "Standard_ND96isr_H200_v5",
        None,
        Architecture::X64,
        Made("hpc", "2404|2204", None, "single_placement_group"),
    ),
    (
        "Standard_ND96amsr_A100_v4",
        None,
        Architecture::X64,
        Made("hpc", "2404|2204", None, "single_placement_group"),
    ),
    // GPUs of their own over Ethernet.
    (
        "Standard_NC24ads_A100_v4",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", None, "none"),
    ),
    (
        "Standard_NC40ads_H100_v5",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", Some("expected to work"), "none"),
    ),
    (
        "Standard_NC4as_T4_v3",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", None, "none"),
    ),
    // CPUs need no driver.
    (
        "Standard_E8s_v6",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", None, "none"),
    ),
    (
        "Standard_F8s_v2",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", None, "none"),
    ),
    (
        "Standard_FX4ms_v2",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", None, "none"),
    ),
    (
        "Standard_M32ms_v2",
        None,
        Architecture::X64,
        Made("dsvm", "2204-gen2", None, "none"),
    ),
    (
        "Standard_D8ps_v6",
        None,
        Architecture::Arm64,
        Refused("is built for X64, the size has Arm64"),
    ),
    (
        "Standard_D8ps_v6",
        Some(UBUNTU_ARM),
        Architecture::Arm64,
        Made("marketplace", "server-arm64", None, "none"),
    ),
];

/// A region that offers a size; the first one, so that it is always the same.
fn home(size: &SizeName) -> Region {
    let catalog = Catalog::embedded();
    let regions = catalog.regions().iter().map(|row| row.name.clone());
    let mut offering = regions.filter(|region| {
        let offers = catalog.offers(region);
        offers.is_some_and(|offers| offers.get(size).is_some())
    });
    offering.next().unwrap_or_else(|| Region::new("eastus"))
}

fn two(size: &str, image: Option<&str>) -> Pool {
    let stage = if size.contains("ND") {
        Stage::Training
    } else {
        Stage::Inference
    };
    let mut pool = pool(stage, Workload::Generative);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool.count = Some(2);
    if let Some(urn) = image {
        pool.image = ImageChoice::Urn {
            urn: urn.parse().expect("a URN"),
            accept_terms: false,
        };
    }
    pool
}

fn check(pool: &PoolPlan, expected: (&str, &str, Option<&str>, &str), what: &str) {
    let (kind, skus, driver, placement) = expected;
    assert_eq!(pool.image.kind, kind, "{what}");
    let sku = pool.image.urn.split(':').nth(2).unwrap_or_default();
    let is_expected = skus.split('|').any(|expected| sku == expected);
    assert!(is_expected, "{what}: {}", pool.image.urn);
    assert_eq!(pool.placement, placement, "{what}");
    let said = pool.why.join("\n");
    let of_driver = said.contains("brings no driver") || said.contains("expected to work");
    assert_eq!(of_driver, driver.is_some(), "{what}: {said}");
    assert!(said.contains(driver.unwrap_or_default()), "{what}: {said}");
}

#[test]
fn each_kind_of_hardware_is_decided_rightly() {
    for (size, image, architecture, expected) in TABLE {
        let what = format!("{size} with {image:?}");
        let name = SizeName::from(*size);
        let row = Catalog::embedded().size(&name).expect(size);
        assert_eq!(row.architecture, Some(*architecture), "{what}");
        let mut spec = spec(two(size, *image));
        spec.locations = vec![home(&name)];
        let planned = planned(&spec, &empty());
        let errors: Vec<&str> = planned
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == model::diag::Severity::Error)
            .map(|finding| finding.message.as_str())
            .collect();
        match expected {
            Made(kind, sku, driver, placement) => {
                assert_eq!(errors, Vec::<&str>::new(), "{what}");
                let plan = planned.plan.expect("a plan");
                check(
                    &plan.pools["train"],
                    (*kind, *sku, *driver, *placement),
                    &what,
                );
            }
            Refused(words) => {
                let [error] = errors.as_slice() else {
                    panic!("{what}: one error, found {errors:?}");
                };
                assert!(error.contains(words), "{what}: {error}");
            }
        }
    }
}

#[test]
fn a_size_that_no_image_with_a_driver_runs_on_offers_the_plain_image() {
    let helps = |size: &str, region: &str| {
        let mut spec = spec(two(size, None));
        spec.locations = vec![Region::new(region)];
        let planned = planned(&spec, &empty());
        let finding = planned.diagnostics.iter().next().expect("a finding");
        finding.help.join("\n")
    };
    let offered = "`image: {urn: \"Canonical:ubuntu-24_04-lts:server:latest\"}`";
    let help = helps("Standard_NV6ads_A10_v5", "eastus");
    assert!(help.contains(offered), "{help}");
    let help = helps("Standard_D8ps_v6", "eastus");
    assert!(help.contains("server-arm64"), "{help}");
}

#[test]
fn windows_on_gpus_behind_nvswitch_is_offered_linux() {
    let mut pool = two("Standard_ND96isr_H100_v5", None);
    pool.os = model::spec::OperatingSystem::Windows {
        password_from_env: Some("PASSWORD".to_owned()),
    };
    pool.count = Some(1);
    let planned = planned(&spec(pool), &empty());
    let finding = planned.diagnostics.iter().next().expect("a finding");
    assert!(finding.message.contains("fabric manager"), "{finding:?}");
    assert!(
        finding.help.contains(&"`os: linux` would do".to_owned()),
        "{:?}",
        finding.help
    );
}
