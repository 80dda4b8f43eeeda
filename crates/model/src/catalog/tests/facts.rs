//! Single rows, compared with what their sources say.

use rust_decimal::Decimal;

use crate::{
    catalog::{
        Architecture, Catalog, CommitmentPlan, Fit, GpuShare, ImageOs, Lifecycle, PriceUnit, Size,
        TrustedLaunch,
    },
    units::{Region, SizeName},
};

fn size(name: &str) -> &'static Size {
    Catalog::embedded().size(&SizeName::from(name)).expect(name)
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect(text)
}

#[test]
fn prices_of_sizes() {
    let check = |region: &str, size: &str, linux: &str, spot: &str, windows: &str, day: &str| {
        let price = Catalog::embedded()
            .vm_price(&Region::new(region), &SizeName::from(size))
            .expect(size);
        let known = |text: &str| (!text.is_empty()).then(|| decimal(text));
        assert_eq!(
            (price.linux, price.spot, price.windows, &*price.as_of),
            (known(linux), known(spot), known(windows), day),
            "{region} {size}"
        );
    };
    let day = "2026-08-01";
    check(
        "eastus",
        "Standard_ND96isr_H100_v5",
        "98.32",
        "18.169536",
        "102.736",
        day,
    );
    check(
        "East US",
        "standard_nd96amsr_a100_V4",
        "32.77",
        "8.5202",
        "37.186",
        day,
    );
    check(
        "eastus",
        "Standard_NC40ads_H100_v5",
        "6.98",
        "1.289904",
        "8.82",
        day,
    );
    check("eastus", "Standard_A10", "0.78", "", "", "2026-06-18");
}

#[test]
fn what_is_not_known_has_no_price() {
    let catalog = Catalog::embedded();
    let price =
        |region: &str, size: &str| catalog.vm_price(&Region::new(region), &SizeName::from(size));
    assert_eq!(price("eastus", "Standard_ND128isr_GB300_v6"), None);
    assert_eq!(price("nowhere", "Standard_D2s_v5"), None);
    let taiwan = Region::new("taiwannorth");
    assert!(catalog.offers(&taiwan).is_some() && catalog.vm_prices(&taiwan).is_none());
    let mut withheld = 0;
    for region in catalog.regions() {
        let prices = catalog.vm_prices(&region.name);
        for (size, price) in prices.iter().flat_map(|prices| prices.iter()) {
            let is_withheld = price.flags.iter().any(|flag| flag == "cs_withheld");
            assert_eq!(price.linux.is_none(), is_withheld, "{} {size}", region.name);
            withheld += usize::from(is_withheld);
        }
    }
    assert_eq!(withheld, 370);
}

#[test]
fn prices_of_items() {
    let check = |region: &str, item: &str, price: &str, unit: PriceUnit, confidence: &str| {
        let found = Catalog::embedded()
            .item_price(&Region::new(region), item)
            .expect(item);
        assert_eq!(
            (found.price, found.unit, found.confidence.as_str()),
            (decimal(price), unit, confidence),
            "{region} {item}"
        );
    };
    check(
        "eastus",
        "disk.premium_ssd.P10.lrs",
        "19.71",
        PriceUnit::Month,
        "recorded",
    );
    check(
        "eastus",
        "public_ip.standard.static.hour",
        "0.005",
        PriceUnit::Hour,
        "recorded",
    );
    check(
        "eastus",
        "nat_gateway.hour",
        "0.045",
        PriceUnit::Hour,
        "recorded",
    );
    check(
        "taiwannorth",
        "nat_gateway.data_gb",
        "0.045",
        PriceUnit::Gb,
        "derived",
    );
    check(
        "eastus",
        "bastion.basic.hour",
        "0.19",
        PriceUnit::Hour,
        "reported",
    );
    check(
        "australiaeast",
        "bastion.basic.hour",
        "0.19",
        PriceUnit::Hour,
        "derived",
    );
    let italy = Region::new("italynorth");
    let v2 = |item: &str| Catalog::embedded().item_price(&italy, item);
    assert_eq!(v2("disk.premium_v2.capacity_gib_hour"), None);
    assert!(v2("disk.premium_v2.capacity_gib_hour.unsure").is_some());
}

#[test]
fn sizes_and_their_gpus() {
    let check = |name: &str, model: &str, share: GpuShare, total_gb: u32| {
        let gpu = size(name).gpu.as_ref().expect(name);
        assert_eq!(
            (gpu.model.as_str(), gpu.share, gpu.total_memory_gb()),
            (model, Some(share), Some(total_gb)),
            "{name}"
        );
    };
    check("Standard_ND96isr_H100_v5", "H100", GpuShare::Whole(8), 640);
    check(
        "Standard_ND96isr_H200_v5",
        "H200",
        GpuShare::Whole(8),
        1_128,
    );
    check(
        "Standard_NC80adis_H100_v5",
        "H100-NVL",
        GpuShare::Whole(2),
        188,
    );
    check("Standard_NV6ads_A10_v5", "A10", GpuShare::Part(6), 4);
    check("Standard_NV72ads_A10_v5", "A10", GpuShare::Whole(2), 48);
    check(
        "Standard_NC24lds_xl_RTXPRO6000BSE_v6",
        "RTX-PRO-6000",
        GpuShare::Part(4),
        24,
    );
    // ARM's own `GPUs` is missing or 0 for these.
    check(
        "Standard_ND128isr_GB300_v6",
        "GB300",
        GpuShare::Whole(4),
        1_152,
    );
    check(
        "Standard_ND128isr_NDR_GB200_v6",
        "GB200",
        GpuShare::Whole(4),
        768,
    );
    check(
        "Standard_ND96is_MI300X_v5",
        "MI300X",
        GpuShare::Whole(8),
        1_536,
    );
    check("Standard_NV12ads_V710_v5", "V710", GpuShare::Part(2), 12);
    // ARM counts one, which may be a part.
    assert_eq!(
        size("Standard_NC8ads_A10_v4")
            .gpu
            .as_ref()
            .expect("a GPU")
            .share,
        None
    );
}

#[test]
fn what_names_of_sizes_tell() {
    let check = |name: &str, series: &str, version: Option<u8>, rdma: bool, family: &str| {
        let size = size(name);
        assert_eq!(
            (
                size.series.as_str(),
                size.version,
                size.rdma,
                size.image_family.as_str()
            ),
            (series, version, rdma, family),
            "{name}"
        );
    };
    check("Standard_ND96isr_H100_v5", "ND", Some(5), true, "nd-h100");
    check(
        "Standard_ND96is_noIB_H100_v5",
        "ND",
        Some(5),
        false,
        "nd-h100",
    );
    check("Standard_NC24ads_A100_v4", "NC", Some(4), false, "nc-a100");
    check("Standard_NG32adms_V620_v1", "NG", Some(1), false, "nv-amd");
    check("Standard_E64-16as_v5", "E", Some(5), false, "cpu");
    check("Standard_DS11_v2_Promo", "D", Some(2), false, "cpu");
    check("Standard_FX96mds_v2", "FX", Some(2), false, "cpu");
    check("Standard_F4s", "F", None, false, "cpu");
    check("Standard_M416s_8_v2", "M", Some(2), false, "cpu-m");
    check("Standard_HB176rs_v4", "HB", Some(4), true, "cpu-rdma");
    check("Standard_D2pls_v5", "D", Some(5), false, "cpu-arm64");
    check("Standard_DC4as_v5", "DC", Some(5), false, "confidential");
    check("Standard_DC4s_v3", "DC", Some(3), false, "cpu");
}

#[test]
fn stages_of_life() {
    let check = |name: &str, expected: Lifecycle| {
        assert_eq!(size(name).lifecycle, expected, "{name}");
    };
    let retires = |day: &str| Lifecycle::EndOfLife {
        retires: day.to_owned(),
    };
    let since = |day: &str| Lifecycle::Retired {
        since: Some(day.to_owned()),
    };
    check("Standard_NC24rs_v3", since("2025-09-30"));
    check("Standard_NV12s_v3", since("2026-09-30"));
    check("Standard_DC4ads_cc_v5", since("2026-09-01"));
    check(
        "Standard_NC128ds_xl_RTXPRO6000BSE_v6",
        Lifecycle::Retired { since: None },
    );
    check("Standard_F4s_v2", retires("2028-11-15"));
    check("Standard_E8-4s_v3", retires("2029-11-15"));
    check("Standard_HC44rs", retires("2027-05-31"));
    check("Standard_ND40rs_v2", Lifecycle::Extended);
    check("Standard_E8s_v5", Lifecycle::Extended);
    check("Standard_E8s_v6", Lifecycle::Current);
    check("Standard_B16als_v2", Lifecycle::Current);
    check("Standard_ND96isr_H100_v5", Lifecycle::Current);
}

#[test]
fn capabilities_of_a_size() {
    let size = size("standard_ND96ISR_h100_v5");
    assert_eq!(size.name.to_string(), "Standard_ND96isr_H100_v5");
    assert_eq!(
        size.family.as_ref().map(ToString::to_string).as_deref(),
        Some("standardNDSH100v5Family")
    );
    assert_eq!((size.vcpus, size.memory_mib), (96, Some(1_900 * 1_024)));
    assert_eq!((size.max_data_disks, size.max_nics), (Some(16), Some(8)));
    assert_eq!(size.architecture, Some(Architecture::X64));
    assert_eq!(size.generations.iter().copied().collect::<Vec<_>>(), [2]);
    assert_eq!(size.local_nvme.as_deref(), Some("8 disks, 28 TiB total"));
    assert!(
        size.source.contains("azurehpc-health-checks@0e0a1ac"),
        "{}",
        size.source
    );
    // A size without an ARM row keeps what nobody says unknown.
    let unlisted = self::size("Standard_ND96is_H100_v5");
    assert_eq!(
        (
            unlisted.memory_mib,
            unlisted.architecture,
            unlisted.premium_disks
        ),
        (None, None, None)
    );
    assert!(unlisted.generations.is_empty());
}

#[test]
fn offers_have_zones_and_spot() {
    let offers = Catalog::embedded()
        .offers(&Region::new("eastus"))
        .expect("a known region");
    let offer = offers
        .get(&SizeName::from("STANDARD_A1_V2"))
        .expect("an offered size");
    assert_eq!(
        offer.zones.iter().map(String::as_str).collect::<Vec<_>>(),
        ["1", "2", "3"]
    );
    assert!(offer.spot);
    let t4 = offers
        .get(&SizeName::from("Standard_NC4as_T4_v3"))
        .expect("an offered size");
    assert!(!t4.spot);
    let zoneless = Catalog::embedded()
        .offers(&Region::new("australiacentral"))
        .expect("a region");
    assert!(zoneless.iter().all(|offer| offer.zones.is_empty()));
}

#[test]
fn images_and_the_matrix() {
    let catalog = Catalog::embedded();
    let check = |family: &str, column: &str, verdict: Fit, driver: Option<&str>| {
        let fit = catalog.image_fit(family, column).expect(family);
        assert_eq!(
            (fit.verdict, fit.driver.as_deref()),
            (verdict, driver),
            "{family} {column}"
        );
    };
    check("cpu", "dsvm", Fit::Ok, None);
    check("nd-a100", "dsvm", Fit::No, None);
    check("nd-h100", "hpc-2404", Fit::Ok, None);
    check("nd-mi300x", "hpc-rocm", Fit::Ok, None);
    check("nd-mi300x", "hpc-2404", Fit::No, None);
    check("nd-gb", "hpc-gb", Fit::Ok, None);
    check("nd-v100", "hpc-2204", Fit::No, None);
    check("nd-v100", "hpc-v100", Fit::Ok, None);
    check("nv-a10", "dsvm", Fit::No, None);
    check("nc-rtxpro6000", "ubuntu", Fit::NeedsDriver, None);
    check(
        "nc-t4",
        "ubuntu",
        Fit::NeedsDriver,
        Some("NvidiaGpuDriverLinux"),
    );
    check(
        "nv-amd",
        "ubuntu",
        Fit::NeedsDriver,
        Some("AmdGpuDriverLinux"),
    );
    let launch = |family: &str| catalog.image_family(family).expect(family).trusted_launch;
    assert_eq!(launch("cpu"), TrustedLaunch::Supported);
    assert_eq!(launch("cpu-m"), TrustedLaunch::Unsupported);
    assert_eq!(launch("nd-a100"), TrustedLaunch::Unsupported);
    assert_eq!(launch("nd-h100"), TrustedLaunch::SecureBootOff);
    let first = catalog.images().first().expect("an image");
    assert_eq!(
        (
            first.sku.as_str(),
            first.version.as_deref(),
            first.os,
            first.has_plan
        ),
        ("2204-gen2", Some("25.06.18"), ImageOs::Linux, Some(false))
    );
    assert_eq!(
        (first.os_disk_floor_gb, first.os_disk_default_gb),
        (128, 256)
    );
    let old = catalog
        .images()
        .iter()
        .filter(|image| image.offer == "ubuntu-2004");
    assert!(old.clone().count() == 2 && old.clone().all(|image| !image.usable));
}

#[test]
fn other_lookups() {
    let catalog = Catalog::embedded();
    let region = catalog.region(&Region::new("East US")).expect("a region");
    assert_eq!(
        (region.display_name.as_str(), region.geography.as_deref()),
        ("East US", Some("US"))
    );
    let family = catalog
        .quota_family(&"STANDARD NCASV3_T4 FAMILY".into())
        .expect("a family");
    assert_eq!(
        family.localized_name.as_deref(),
        Some("Standard NCASv3_T4 Family vCPUs")
    );
    assert!(family.confirmed);
    let row = catalog.article_row(4).expect("a row");
    assert_eq!(
        (row.section.as_str(), row.item.as_str()),
        ("table", "training + generative")
    );
    assert_eq!(catalog.article_row(56), None);
    let gpu = catalog.gpu("A100-80").expect("a GPU");
    assert_eq!(
        (gpu.dense_tflops, gpu.bandwidth_tb_s),
        (decimal("312"), decimal("1.94"))
    );
    assert_eq!((gpu.memory_gb, gpu.fp8_tflops), (80, None));
    let order = |name: &str| catalog.gpu(name).expect(name).generation;
    assert!(order("GB300") > order("GB200") && order("GB200") > order("H200"));
    assert!(order("H200") == order("MI300X") && order("H200") > order("H100"));
    assert!(order("H100") > order("A100-80") && order("A100-40") > order("V100"));
}

#[test]
fn commitments_have_a_price_for_their_term() {
    let check =
        |region: &str, size: &str, plan: CommitmentPlan, years: u32, expected: Option<&str>| {
            let size = SizeName::from(size);
            let row = Catalog::embedded().commitment(&Region::new(region), &size, plan, years);
            let price = row.map(|row| row.price.to_string());
            assert_eq!(price.as_deref(), expected, "{region} {size} {years}");
        };
    let reservation = CommitmentPlan::Reservation;
    check(
        "eastus2",
        "Standard_NC48ads_A100_v4",
        reservation,
        1,
        Some("42066"),
    );
    check(
        "eastus2",
        "standard_nc48ads_a100_V4",
        reservation,
        3,
        Some("71642"),
    );
    check("eastus2", "Standard_NC24ads_A100_v4", reservation, 3, None);
    check("eastus", "Standard_NC48ads_A100_v4", reservation, 3, None);
    let plan = CommitmentPlan::SavingsPlan;
    check(
        "australiacentral",
        "Standard_B16als_v2",
        plan,
        3,
        Some("0.34323"),
    );
    // Where two sources have a row, the newer one is taken; other clouds are left out.
    assert!(
        Catalog::embedded()
            .commitments(&Region::new("usgovvirginia"))
            .is_none()
    );
}
