//! The embedded tables are whole, cited and fresh.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::{
    catalog::{
        Catalog, Lifecycle, TableInfo,
        embedded::{DIGEST, TABLES},
        info,
        rows::GpuShare,
        table::is_day,
    },
    digest,
    units::{CaseInsensitive, Region},
};

fn unread() -> Catalog {
    let texts = TABLES
        .iter()
        .map(|(name, text)| ((*name).to_owned(), Cow::Borrowed(*text)));
    Catalog::of_texts(texts.collect())
}

#[test]
fn every_table_reads_without_an_error() {
    assert_eq!(Catalog::embedded().errors(), []);
}

#[test]
fn row_counts_are_those_of_the_sources() {
    let rows: BTreeMap<&str, usize> = Catalog::embedded()
        .info()
        .iter()
        .map(|info| (info.name.as_str(), info.rows))
        .collect();
    // 1,467 sizes of the ARM lists and 26 GPU sizes known from pages and prices only.
    assert_eq!(rows["sizes"], 1_467 + 26);
    assert_eq!(rows["offers"], 44_607);
    assert_eq!(rows["prices/vm"], 65_719);
    assert_eq!(rows["prices/commitments"], 1_687);
    assert_eq!(rows["prices/items"], 2_188);
    assert_eq!(rows["regions"], 65);
    assert_eq!(rows["quota_families"], 184);
    assert_eq!(rows["article"], 55);
    assert_eq!(rows["gpus"], 12);
    assert_eq!(rows["models"], 51);
    let catalog = Catalog::embedded();
    let listed = catalog.sizes().iter().filter(|size| size.family.is_some());
    assert_eq!(listed.count(), 1_467);
    assert_eq!(catalog.offers.len(), 45);
    assert_eq!(catalog.vm_prices.len(), 58);
    assert_eq!(catalog.item_prices.len(), 47 + 1);
}

#[test]
fn the_index_says_what_the_rows_say() {
    let catalog = Catalog::embedded();
    let expected: Vec<TableInfo> = info::of_rows(catalog).tables;
    assert_eq!(catalog.info(), expected);
}

#[test]
fn digests_are_those_of_the_texts() {
    let lines: Vec<String> = TABLES
        .iter()
        .map(|(name, text)| format!("{}  {name}", digest::of_text(text).replace("sha256:", "")))
        .collect();
    let stated: Vec<&str> = DIGEST
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert_eq!(stated, lines, "run `python3 manifests/generate.py`");
    let (copy, errors) = Catalog::from_tables(
        TABLES
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned())),
    );
    assert_eq!(errors, []);
    assert_eq!(Catalog::embedded().digest(), copy.digest());
    assert!(copy.digest().starts_with("sha256:"), "{}", copy.digest());
}

#[test]
fn every_table_of_the_folder_is_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    let mut found = BTreeSet::new();
    collect_tables(&folder, "", &mut found);
    let embedded: BTreeSet<String> = TABLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, embedded, "run `python3 manifests/generate.py`");
}

fn collect_tables(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder of the tables is in the repository") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("an ASCII name");
        if entry.path().is_dir() {
            collect_tables(&entry.path(), &format!("{prefix}{name}/"), found);
        } else if entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "csv")
        {
            found.insert(format!("{prefix}{name}"));
        }
    }
}

#[test]
fn facts_about_tables_do_not_parse_them() {
    let catalog = unread();
    assert_eq!(catalog.prices_as_of(), "2026-08-01");
    assert_eq!(catalog.skus_as_of(), "2026-08-01");
    assert!(!catalog.info().is_empty());
    assert_eq!(catalog.digest(), Catalog::embedded().digest());
    assert!(catalog.sizes.get().is_none() && catalog.sources.get().is_none());
    assert!(catalog.vm_prices.values().all(|cell| cell.get().is_none()));
    // Nor does one region parse another.
    let eastus = Region::new("eastus");
    assert!(
        catalog
            .vm_prices(&eastus)
            .is_some_and(|prices| !prices.is_empty())
    );
    let read = catalog
        .vm_prices
        .iter()
        .filter(|(_, cell)| cell.get().is_some());
    assert_eq!(
        read.map(|(region, _)| region).collect::<Vec<_>>(),
        [&eastus]
    );
}

#[test]
fn every_row_has_a_source_and_a_day() {
    let catalog = Catalog::embedded();
    let check = |what: &str, source: &str, as_of: &str| {
        assert!(
            source.len() > 5 && is_day(as_of),
            "{what}: `{source}` `{as_of}`"
        );
    };
    for row in catalog.sizes() {
        check(row.name.as_str(), &row.source, &row.as_of);
    }
    for row in catalog.gpus() {
        check(&row.name, &row.source, &row.as_of);
    }
    for row in catalog.images() {
        check(&row.sku, &row.source, &row.as_of);
    }
    for row in catalog.image_fits() {
        check(&row.family, &row.source, &row.as_of);
    }
    for row in catalog.image_families() {
        check(&row.name, &row.source, &row.as_of);
    }
    for row in catalog.quota_families() {
        check(row.family.as_str(), &row.source, &row.as_of);
    }
    for row in catalog.article() {
        check(&row.item, &row.source, &row.as_of);
    }
    for row in catalog.regions() {
        check(row.name.as_str(), &row.source, &row.as_of);
        for offer in catalog
            .offers(&row.name)
            .iter()
            .flat_map(|offers| offers.iter())
        {
            check(offer.size.as_str(), &offer.source, &offer.as_of);
        }
        for (size, price) in catalog
            .vm_prices(&row.name)
            .iter()
            .flat_map(|prices| prices.iter())
        {
            check(size.as_str(), &price.source, &price.as_of);
        }
        for price in catalog.item_prices(&row.name).unwrap_or_default() {
            check(&price.item, &price.source, &price.as_of);
        }
    }
}

#[test]
fn nothing_in_the_tables_belongs_to_one_subscription() {
    for (name, text) in TABLES {
        let text = text.to_lowercase();
        for word in ["restrict", "notavailablefor", "quotaid", "subscription"] {
            assert!(!text.contains(word), "`{name}` has `{word}`");
        }
    }
}

#[test]
fn tables_agree_with_each_other() {
    let catalog = Catalog::embedded();
    let regions: BTreeSet<&Region> = catalog.regions().iter().map(|row| &row.name).collect();
    for row in catalog.regions() {
        assert_eq!(
            row.has_offers,
            catalog.offers(&row.name).is_some(),
            "{}",
            row.name
        );
    }
    for region in catalog.offers.keys().chain(catalog.vm_prices.keys()) {
        assert!(regions.contains(region), "{region}");
    }
    for region in catalog.offers.keys() {
        let offers = catalog.offers(region).expect("a region of the list");
        assert!(offers.len() > 100, "{region}: {}", offers.len());
        for offer in offers.iter() {
            assert!(
                catalog.size(&offer.size).is_some(),
                "{region}: {}",
                offer.size
            );
        }
    }
    let families: BTreeSet<&CaseInsensitive> = catalog
        .sizes()
        .iter()
        .filter_map(|size| size.family.as_ref())
        .collect();
    for family in families {
        assert!(catalog.quota_family(family).is_some(), "{family}");
    }
}

#[test]
fn the_compatibility_matrix_has_every_cell() {
    let catalog = Catalog::embedded();
    let columns: BTreeSet<&str> = catalog
        .images()
        .iter()
        .map(|row| row.column.as_str())
        .collect();
    assert_eq!(columns.len(), 9);
    for family in catalog.image_families() {
        for column in &columns {
            assert!(
                catalog.image_fit(&family.name, column).is_some(),
                "{} {column}",
                family.name
            );
        }
    }
    assert_eq!(
        catalog.image_fits().len(),
        catalog.image_families().len() * columns.len()
    );
    for size in catalog.sizes() {
        assert!(
            catalog.image_family(&size.image_family).is_some(),
            "{}",
            size.name
        );
    }
    let kinds: BTreeSet<&str> = catalog
        .images()
        .iter()
        .map(|row| row.kind.as_str())
        .collect();
    assert_eq!(kinds, BTreeSet::from(["distribution", "dsvm", "hpc"]));
}

#[test]
fn gpu_sizes_are_complete() {
    // Known by name; nobody would train or serve a model on them, and no figures were collected.
    const WITHOUT_FIGURES: &[&str] = &["M60", "MI25", "V620", "V710"];
    let catalog = Catalog::embedded();
    let mut gpu_sizes = 0;
    for size in catalog.sizes() {
        let is_gpu_series = matches!(size.series.as_str(), "NC" | "NCC" | "ND" | "NG" | "NV");
        assert_eq!(size.gpu.is_some(), is_gpu_series, "{}", size.name);
        let Some(gpu) = &size.gpu else { continue };
        gpu_sizes += 1;
        assert!(
            catalog.gpu(&gpu.model).is_some() != WITHOUT_FIGURES.contains(&gpu.model.as_str()),
            "{}: {}",
            size.name,
            gpu.model
        );
        assert_eq!(
            gpu.share.is_some(),
            gpu.memory_gb.is_some(),
            "{}",
            size.name
        );
        if let Some(GpuShare::Whole(count)) = gpu.share {
            assert!(matches!(count, 1 | 2 | 4 | 8), "{}: {count}", size.name);
        }
        // What a size can be bought by is known whole.
        if size.family.is_some() && !size.name.as_str().contains("A10_v4") {
            assert!(gpu.total_memory_gb().is_some(), "{}", size.name);
        }
    }
    assert_eq!(gpu_sizes, 85);
    for name in [
        "V100",
        "T4",
        "A10",
        "A100-40",
        "A100-80",
        "H100",
        "H100-NVL",
        "H200",
        "MI300X",
        "GB200",
        "GB300",
        "RTX-PRO-6000",
    ] {
        let gpu = catalog.gpu(name).expect(name);
        let has_sizes = catalog.sizes().iter().any(|size| {
            size.gpu
                .as_ref()
                .is_some_and(|of_size| of_size.model == gpu.name)
        });
        assert!(has_sizes, "{name}");
    }
}

#[test]
fn sizes_of_the_arm_lists_have_every_capability() {
    for size in Catalog::embedded()
        .sizes()
        .iter()
        .filter(|size| size.family.is_some())
    {
        let known = size.memory_mib.is_some()
            && size.max_data_disks.is_some()
            && size.max_nics.is_some()
            && size.architecture.is_some()
            && !size.generations.is_empty()
            && size.accelerated_networking.is_some()
            && size.premium_disks.is_some()
            && size.ephemeral_os_disk.is_some()
            && size.encryption_at_host.is_some();
        assert!(known, "{}", size.name);
    }
}

#[test]
fn lifecycle_days_agree_with_the_day_of_the_tables() {
    const GENERATION_DAY: &str = "2026-11-30";
    let mut announced = 0;
    for size in Catalog::embedded().sizes() {
        match &size.lifecycle {
            Lifecycle::EndOfLife { retires } => {
                announced += 1;
                assert!(retires.as_str() >= GENERATION_DAY, "{}", size.name);
            }
            Lifecycle::Retired { since: Some(since) } => {
                assert!(since.as_str() < GENERATION_DAY, "{}", size.name);
            }
            Lifecycle::Retired { since: None } | Lifecycle::Current | Lifecycle::Extended => {}
        }
    }
    assert!(announced > 100, "{announced}");
}

#[test]
fn the_catalogue_of_another_cloud_has_everything_but_prices() {
    let (all, without) = (Catalog::embedded(), Catalog::unpriced());
    let (eastus, size) = (
        Region::new("eastus"),
        crate::units::SizeName::from("Standard_NC4as_T4_v3"),
    );
    assert!(all.vm_price(&eastus, &size).is_some());
    assert!(all.item_price(&eastus, "nat_gateway.hour").is_some());
    assert_eq!(without.vm_price(&eastus, &size), None);
    assert!(without.vm_price_row(&eastus, &size).is_none());
    assert_eq!(without.item_price(&eastus, "nat_gateway.hour"), None);
    assert_eq!(without.sizes(), all.sizes());
    assert!(without.offer(&eastus, &size).is_some());
    assert_ne!(without.digest(), all.digest());
    assert_eq!(without.errors(), []);
}
