//! Tables of others: what is wrong with them is said, and nothing panics.

use proptest::prelude::*;

use crate::{
    catalog::{Catalog, VmPrices, embedded::TABLES, table::is_day},
    units::{Region, SizeName},
};

const SOURCES: &str = "code,repository,commit,path,as_of,licence\n\
    D,owner/data,abc,file.json,2026-08-01,MIT\n\
    K,owner/prices,,file.go,2026-06-18,MIT\n";

fn read(name: &str, text: &str) -> (Catalog, Vec<String>) {
    let tables = [("sources.csv", SOURCES), (name, text)];
    let (catalog, errors) =
        Catalog::from_tables(tables.map(|(name, text)| (name.to_owned(), text.to_owned())));
    (catalog, errors.iter().map(ToString::to_string).collect())
}

#[test]
fn wrong_lines_are_named_and_left_out() {
    let check = |lines: &str, expected: &[&str]| {
        let text = format!("size,linux,spot,windows,savings_plan_1y,source,flags\n{lines}");
        let (_, errors) = read("prices/vm/eastus.csv", &text);
        assert_eq!(errors, expected, "{lines}");
    };
    check("D2s_v5,0.096,,0.188,,D,\n", &[]);
    check(
        "D2s_v5,dear,,,,D,\n",
        &[
            "`prices/vm/eastus.csv` line 2: expected a decimal such as `98.32` in `linux`, found `dear`",
        ],
    );
    check(
        "D2s_v5,0.1,,,,D,\nD4s_v5,-0.1,,,,D,\n",
        &[
            "`prices/vm/eastus.csv` line 3: expected a decimal such as `98.32` in `linux`, found `-0.1`",
        ],
    );
    check(
        "D2s_v5,0.096\n",
        &["`prices/vm/eastus.csv` line 2: expected 7 fields, found 2 fields"],
    );
    check(
        "\"\",0.096,,,,D,\n",
        &["`prices/vm/eastus.csv` line 2: expected a value in `size`, found nothing"],
    );
    check(
        "D2s_v5,0.1,,,,X,\n",
        &["`prices/vm/eastus.csv` line 2: expected the code of a source, found `X`"],
    );
    check(
        "D2s_v5,0.1,,,,D,\nB1s,0.1,,,,D,\nd2S_v5,0.2,,,,D,\n",
        &["`prices/vm/eastus.csv` line 4: expected each row once, found `Standard_d2S_v5` again"],
    );
    check(
        "D2s_v5,0.12345678901234567890123456789012345,,,,D,\n",
        &[
            "`prices/vm/eastus.csv` line 2: expected a decimal such as `98.32` in `linux`, found `0.12345678901234567890123456789012345`",
        ],
    );
}

#[test]
fn rows_beside_wrong_lines_stay() {
    let text = "size,linux,spot,windows,savings_plan_1y,source,flags\n\
        D4s_v5,x,,,,D,\nD2s_v5,0.096,,,,D+K,a b\nD2s_v5,1,,,,D,\n";
    let (catalog, errors) = read("prices/vm/eastus.csv", text);
    assert_eq!(errors.len(), 2, "{errors:?}");
    let eastus = Region::new("eastus");
    let price = catalog
        .vm_price(&eastus, &SizeName::from("standard_d2s_v5"))
        .expect("a price");
    assert_eq!(
        price.linux.map(|price| price.to_string()).as_deref(),
        Some("0.096")
    );
    assert_eq!(price.flags, ["a", "b"]);
    assert_eq!(
        &*price.source,
        "owner/data@abc: file.json; owner/prices: file.go"
    );
    assert_eq!(&*price.as_of, "2026-08-01");
    assert_eq!(
        catalog.vm_prices(&eastus).map(super::super::VmPrices::len),
        Some(1)
    );
}

#[test]
fn headers_and_names_are_checked() {
    let (_, errors) = read("regions.csv", "name,display\neastus,East US\n");
    assert_eq!(
        errors,
        [
            "`regions.csv` line 1: expected the header `name,display_name,geography,has_offers,source,as_of`, found `name,display`"
        ]
    );
    let (_, errors) = read("regions.csv", "");
    assert_eq!(
        errors,
        [
            "`regions.csv` line 1: expected the header `name,display_name,geography,has_offers,source,as_of`, found an empty table"
        ]
    );
    for name in [
        "sizes",
        "offers/East US.csv",
        "offers/.csv",
        "prices/eastus.csv",
        "../x.csv",
    ] {
        let (_, errors) = read(name, "");
        let expected = format!(
            "`{name}` line 1: expected the name of a table of the catalogue, found `{name}`"
        );
        assert_eq!(errors, [expected]);
    }
}

#[test]
fn wrong_sizes_are_told_apart() {
    const COLUMNS: &str = "name,family,series,version,vcpus,memory_mib,max_data_disks,max_nics,\
        architecture,generations,accelerated_networking,premium_disks,ephemeral_os_disk,\
        encryption_at_host,gpu,gpu_share,gpu_memory_gb,gpu_interconnect,rdma,local_nvme,\
        lifecycle,lifecycle_day,image_family,notes,source,as_of";
    let good = "Standard_X1,f,X,1,4,1024,4,2,x64,2,yes,yes,no,no,A10,1/6,4,,no,,current,,cpu,,D,\
        2026-08-01";
    let check = |column: usize, value: &str, expected: &str| {
        let mut line: Vec<&str> = good.split(',').collect();
        line[column] = value;
        let (catalog, errors) = read("sizes.csv", &format!("{COLUMNS}\n{}\n", line.join(",")));
        if expected.is_empty() {
            assert_eq!(errors, Vec::<String>::new());
            assert_eq!(catalog.sizes().len(), 1);
        } else {
            assert_eq!(errors, [format!("`sizes.csv` line 2: expected {expected}")]);
            assert!(catalog.sizes().is_empty());
        }
    };
    check(0, "Standard_X1", "");
    check(5, "", "");
    check(3, "300", "a number in `version`, found `300`");
    check(4, "many", "a number in `vcpus`, found `many`");
    check(
        8,
        "mips",
        "one of `x64`, `arm64`, `` in `architecture`, found `mips`",
    );
    check(
        10,
        "true",
        "one of `yes`, `no`, `` in `accelerated_networking`, found `true`",
    );
    check(14, "", "a GPU for its share, found `1/6`");
    check(
        15,
        "1/0",
        "a number of GPUs such as `8` or `1/6` in `gpu_share`, found `1/0`",
    );
    check(
        15,
        "0",
        "a number of GPUs such as `8` or `1/6` in `gpu_share`, found `0`",
    );
    let stages = "`current` or `extended` without a day, `end_of_life` with one, or `retired`";
    check(
        20,
        "end_of_life",
        &format!("{stages}, found `end_of_life` and ``"),
    );
    check(
        21,
        "2027-01-01",
        &format!("{stages}, found `current` and `2027-01-01`"),
    );
    check(20, "old", &format!("{stages}, found `old` and ``"));
    check(
        25,
        "yesterday",
        "a day such as `2026-08-01` in `as_of`, found `yesterday`",
    );
}

#[test]
fn days_are_days() {
    for day in ["2026-08-01", "2026-08", "2024-07/2026-08"] {
        assert!(is_day(day), "{day}");
    }
    for other in [
        "",
        "2026",
        "26-08-01",
        "2026-8-1",
        "2026-08-01-02",
        "a/b",
        "2026-08/",
        "2026-08/2026-09/2026-10",
    ] {
        assert!(!is_day(other), "{other}");
    }
}

proptest! {
    #[test]
    fn random_bytes_as_a_table_do_not_panic(
        table in 0..TABLES.len(),
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        keep_header in any::<bool>(),
    ) {
        let (name, text) = TABLES[table];
        let header = if keep_header { text.lines().next().unwrap_or_default() } else { "" };
        let text = format!("{header}\n{}", String::from_utf8_lossy(&bytes));
        let (catalog, _) = read(name, &text);
        prop_assert!(!catalog.digest().is_empty());
        catalog.info();
    }

    #[test]
    fn spoiled_lines_do_not_panic(
        table in 0..TABLES.len(),
        position in 0..4_000_usize,
        junk in "[\\PC,\"\n+/|]{0,6}",
    ) {
        let (name, text) = TABLES[table];
        let mut spoiled: String = text.chars().take(4_000).collect();
        let boundary = (0..=position.min(spoiled.len())).rev().find(|at| spoiled.is_char_boundary(*at));
        spoiled.insert_str(boundary.unwrap_or(0), &junk);
        let (catalog, _) = read(name, &spoiled);
        catalog.info();
    }
}

#[test]
fn a_machine_that_costs_nothing_is_an_error() {
    let text = "size,linux,spot,windows,savings_plan_1y,source,flags\nD2s_v5,0.0,,,,D,\n";
    let (catalog, errors) = read("prices/vm/eastus.csv", text);
    let expected = "`prices/vm/eastus.csv` line 2: expected a price above 0, or nothing where none is known, in `linux`, found `0`";
    assert_eq!(errors, [expected]);
    let prices = catalog.vm_prices(&Region::new("eastus"));
    assert_eq!(prices.map(VmPrices::len), Some(0));
}
