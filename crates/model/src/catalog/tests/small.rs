//! Catalogues of a few rows, as other tests build them.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    catalog::{Catalog, CatalogParts, ItemPrice, Offer, PriceUnit, Size, VmPrice},
    units::{Region, SizeName},
};

fn real_size(name: &str) -> Size {
    Catalog::embedded()
        .size(&SizeName::from(name))
        .expect(name)
        .clone()
}

fn price(linux: &str) -> VmPrice {
    VmPrice {
        linux: Some(linux.parse().expect(linux)),
        spot: None,
        windows: None,
        savings_plan_1y: None,
        source: "a test".into(),
        as_of: "2026-01-02".into(),
        flags: Vec::new(),
    }
}

fn item(price: &str) -> ItemPrice {
    ItemPrice {
        item: "nat_gateway.hour".to_owned(),
        price: price.parse().expect(price),
        unit: PriceUnit::Hour,
        source: "a test".into(),
        as_of: "2026-01-02".into(),
        confidence: "recorded".to_owned(),
        notes: String::new(),
    }
}

fn parts() -> CatalogParts {
    let eastus = Region::new("eastus");
    let d2 = SizeName::from("Standard_D2s_v5");
    let offer = Offer {
        size: d2.clone(),
        zones: Arc::default(),
        spot: true,
        source: "a test".into(),
        as_of: "2026-01-03".into(),
    };
    CatalogParts {
        sizes: vec![
            real_size("Standard_ND96isr_H100_v5"),
            real_size("Standard_D2s_v5"),
        ],
        offers: BTreeMap::from([(eastus.clone(), vec![offer])]),
        vm_prices: BTreeMap::from([(
            eastus.clone(),
            vec![(d2.clone(), price("0.1")), (d2, price("0.2"))],
        )]),
        item_prices: BTreeMap::from([(eastus, vec![item("0.05")])]),
        item_prices_everywhere: vec![item("0.045")],
        ..CatalogParts::default()
    }
}

#[test]
fn rows_are_found_whatever_their_order() {
    let catalog = Catalog::of(parts());
    let (eastus, westus) = (Region::new("East US"), Region::new("westus"));
    let d2 = SizeName::from("standard_d2S_v5");
    assert!(catalog.size(&d2).is_some());
    assert!(
        catalog
            .size(&SizeName::from("Standard_ND96isr_H100_v5"))
            .is_some()
    );
    assert!(
        catalog
            .offers(&eastus)
            .is_some_and(|offers| offers.get(&d2).is_some())
    );
    assert!(catalog.offers(&westus).is_none());
    let linux = catalog.vm_price(&eastus, &d2).and_then(|price| price.linux);
    assert_eq!(linux.map(|price| price.to_string()).as_deref(), Some("0.1"));
    let nat = |region: &Region| {
        catalog
            .item_price(region, "nat_gateway.hour")
            .map(|item| item.price.to_string())
    };
    assert_eq!(nat(&eastus).as_deref(), Some("0.05"));
    assert_eq!(nat(&westus).as_deref(), Some("0.045"));
    assert!(catalog.errors().is_empty());
}

#[test]
fn facts_are_counted_from_the_rows() {
    let catalog = Catalog::of(parts());
    assert_eq!(catalog.prices_as_of(), "2026-01-02");
    assert_eq!(catalog.skus_as_of(), "2026-08-01");
    let names: Vec<(&str, usize)> = catalog
        .info()
        .iter()
        .map(|info| (info.name.as_str(), info.rows))
        .collect();
    assert_eq!(
        names,
        [
            ("offers", 1),
            ("prices/items", 2),
            ("prices/vm", 1),
            ("sizes", 2)
        ]
    );
    let empty = Catalog::of(CatalogParts::default());
    assert_eq!((empty.prices_as_of(), empty.info()), ("unknown", &[][..]));
}

#[test]
fn digests_tell_catalogues_apart() {
    let digest = |parts: CatalogParts| Catalog::of(parts).digest().to_owned();
    assert_eq!(digest(parts()), digest(parts()));
    let mut changed = parts();
    changed.item_prices_everywhere = vec![item("0.046")];
    assert_ne!(digest(parts()), digest(changed));
    assert_ne!(digest(parts()), Catalog::embedded().digest());
}
