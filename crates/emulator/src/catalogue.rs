//! What the sandbox's Azure offers: the embedded catalogue, as the routes ask for it.
//!
//! This is the only module that knows the catalogue's tables. Where a table has no value, the
//! sandbox leaves the matching check out; what it makes up instead is said here.

use std::{collections::BTreeMap, sync::LazyLock};

use model::{
    catalog::{
        Acceptance, Architecture, Catalog, Commitment, Gpu, ImageOs, ImageRow, ItemPrice, Offer,
        RegionOffers, RegionRow, Size, TrustedLaunch, VmPrice,
    },
    units::{Region, SizeName},
};

use crate::store::entry::Image;

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

/// The names of all sizes.
pub(crate) fn size_names() -> impl Iterator<Item = &'static str> {
    catalog().sizes().iter().map(|size| size.name.as_str())
}

/// A GPU by its exact name.
pub(crate) fn gpu(name: &str) -> Option<&'static Gpu> {
    catalog().gpu(name)
}

/// What a node of a size must show, where the catalogue says it.
pub(crate) fn acceptance(size: &str) -> Option<&'static Acceptance> {
    catalog().acceptance(&SizeName::new(size))
}

/// All regions.
pub(crate) fn regions() -> &'static [RegionRow] {
    catalog().regions()
}

/// The region of this name in any spelling.
pub(crate) fn region(name: &str) -> Option<&'static RegionRow> {
    catalog().region(&Region::new(name))
}

/// Short names of all regions, as error texts list them.
pub(crate) fn region_list() -> String {
    let names: Vec<&str> = regions().iter().map(|row| row.name.as_str()).collect();
    names.join(",")
}

/// The size of this name.
pub(crate) fn size(name: &str) -> Option<&'static Size> {
    catalog().size(&SizeName::new(name))
}

/// The sizes that a region offers; none where the catalogue has no list of them.
pub(crate) fn offers(region: &str) -> Option<RegionOffers<'static>> {
    catalog().offers(&Region::new(region))
}

/// A size as a region offers it.
pub(crate) fn offer(region: &str, size: &str) -> Option<&'static Offer> {
    offers(region)?.get(&SizeName::new(size))
}

/// All zones that any size of a region has.
pub(crate) fn zones(region: &str) -> &'static [String] {
    // Every new VM asks, and a region has a thousand sizes.
    static ZONES: LazyLock<BTreeMap<&str, Vec<String>>> = LazyLock::new(|| {
        let of_region = |row: &'static RegionRow| {
            let name = row.name.as_str();
            let mut zones: Vec<String> = offers(name)
                .into_iter()
                .flat_map(RegionOffers::iter)
                .flat_map(|offer| offer.zones.iter().cloned())
                .collect();
            zones.sort();
            zones.dedup();
            (name, zones)
        };
        regions().iter().map(of_region).collect()
    });
    let name = self::region(region).map(|row| row.name.as_str());
    name.and_then(|name| ZONES.get(name))
        .map_or(&[], Vec::as_slice)
}

/// The prices of a size in a region.
pub(crate) fn price(region: &str, size: &SizeName) -> Option<&'static VmPrice> {
    catalog().vm_price(&Region::new(region), size)
}

/// All priced sizes of a region.
pub(crate) fn prices(
    region: &Region,
) -> impl Iterator<Item = (&'static SizeName, &'static VmPrice)> + use<> {
    catalog()
        .vm_prices(region)
        .into_iter()
        .flat_map(model::catalog::VmPrices::iter)
}

/// What one can commit to for a size in a region.
pub(crate) fn commitments(
    region: &Region,
    size: &SizeName,
) -> impl Iterator<Item = &'static Commitment> {
    let rows = catalog().commitments(region).unwrap_or_default();
    let first = rows.partition_point(|row| row.size < *size);
    let size = size.clone();
    let rows = rows.iter().skip(first);
    rows.take_while(move |row| row.size == size)
}

/// All priced disks and addresses of a region.
pub(crate) fn item_prices(region: &Region) -> &'static [ItemPrice] {
    catalog().item_prices(region).unwrap_or_default()
}

/// Whether a size's family takes Trusted Launch; `None` where that is not known.
pub(crate) fn takes_trusted_launch(size: &Size) -> Option<bool> {
    match catalog().image_family(&size.image_family)?.trusted_launch {
        TrustedLaunch::Supported | TrustedLaunch::SecureBootOff => Some(true),
        TrustedLaunch::Unsupported => Some(false),
        TrustedLaunch::Unknown => None,
    }
}

/// A quota counter: its name, and its name for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) name: String,
    pub(crate) title: String,
}

/// The counter of a size's family; `None` for sizes whose family is not known.
pub(crate) fn family(size: &Size) -> Option<Counter> {
    let family = size.family.as_ref()?;
    let row = catalog().quota_family(family);
    let name = row
        .map_or(family, |row| &row.usage_name)
        .as_str()
        .to_owned();
    let title = row
        .and_then(|row| row.localized_name.clone())
        .unwrap_or_else(|| format!("{name} vCPUs"));
    Some(Counter { name, title })
}

/// The counters of all families.
pub(crate) fn families() -> Vec<Counter> {
    let mut counters: Vec<Counter> = catalog().sizes().iter().filter_map(family).collect();
    counters.sort_by(|a, b| a.name.cmp(&b.name));
    counters.dedup_by(|a, b| a.name == b.name);
    counters
}

/// `x64` or `Arm64`, as capabilities and images spell it.
pub(crate) fn architecture(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X64 => "x64",
        Architecture::Arm64 => "Arm64",
    }
}

/// An image of the sandbox's marketplace.
#[derive(Clone, Debug)]
pub(crate) struct MarketImage {
    pub(crate) publisher: &'static str,
    pub(crate) offer: &'static str,
    pub(crate) sku: &'static str,
    /// The newest version that was seen; where none was, the day of the row in its form.
    pub(crate) version: String,
    pub(crate) image: Image,
    pub(crate) has_plan: bool,
    /// The size of its OS disk.
    pub(crate) disk_gb: u32,
}

/// Images of the marketplace that the catalogue does not list: publisher, offer, SKU, version,
/// generation, and whether they have a purchase plan. Seen in use in public repositories.
const OTHER_IMAGES: [OtherImage; 3] = [
    (
        "azurecyclecloud",
        "azure-cyclecloud",
        "cyclecloud8-gen2",
        "8.9.120260630",
        2,
        true,
    ),
    (
        "nvidia",
        "ngc_azure_17_11",
        "ngc-base-version-24_03_4_gen2",
        "24.03.4",
        2,
        true,
    ),
    (
        "Canonical",
        "0001-com-ubuntu-server-jammy",
        "22_04-lts",
        "22.04.202404160",
        1,
        false,
    ),
];

type OtherImage = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    u8,
    bool,
);

/// All images that may still be used.
pub(crate) fn images() -> impl Iterator<Item = MarketImage> {
    let listed = catalog().images().iter().filter(|row| row.usable);
    listed
        .map(market_image)
        .chain(OTHER_IMAGES.into_iter().map(other_image))
}

fn other_image((publisher, offer, sku, version, generation, has_plan): OtherImage) -> MarketImage {
    MarketImage {
        publisher,
        offer,
        sku,
        image: Image {
            os: "Linux".to_owned(),
            generation,
            architecture: architecture(Architecture::X64).to_owned(),
            offer: offer.to_owned(),
            version: version.to_owned(),
            ..Image::default()
        },
        version: version.to_owned(),
        has_plan,
        disk_gb: 30,
    }
}

fn market_image(row: &'static ImageRow) -> MarketImage {
    let version = row
        .version
        .clone()
        .unwrap_or_else(|| made_up_version(&row.as_of));
    let os = match row.os {
        ImageOs::Linux => "Linux",
        ImageOs::Windows => "Windows",
    };
    MarketImage {
        publisher: &row.publisher,
        offer: &row.offer,
        sku: &row.sku,
        image: Image {
            os: os.to_owned(),
            generation: row.generation,
            architecture: architecture(row.architecture).to_owned(),
            offer: row.offer.clone(),
            version: version.clone(),
            ..Image::default()
        },
        version,
        has_plan: row.has_plan == Some(true),
        disk_gb: row.os_disk_floor_gb,
    }
}

/// A version of three numbers from a day: `2026-10` gives `2026.10.0`.
fn made_up_version(day: &str) -> String {
    let mut parts: Vec<u32> = day
        .split('-')
        .filter_map(|part| part.parse().ok())
        .collect();
    parts.resize(3, 0);
    let parts: Vec<String> = parts.iter().map(u32::to_string).collect();
    parts.join(".")
}

/// The image of these names, whatever its version.
pub(crate) fn image(publisher: &str, offer: &str, sku: &str) -> Option<MarketImage> {
    images().find(|image| {
        image.publisher.eq_ignore_ascii_case(publisher)
            && image.offer.eq_ignore_ascii_case(offer)
            && image.sku.eq_ignore_ascii_case(sku)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_answers() {
        assert!(region("East US").is_some() || region("eastus").is_some());
        let size = size("standard_nc24ads_a100_V4").expect("a size");
        assert_eq!(size.vcpus, 24);
        assert!(family(size).is_some());
        assert!(image("Microsoft-DSVM", "ubuntu-hpc", "2204").is_some());
        assert!(image("microsoft-dsvm", "ubuntu-2004", "2004").is_none());
        assert_eq!(made_up_version("2026-10"), "2026.10.0");
        assert_eq!(made_up_version("2026-08-29"), "2026.8.29");
    }
}
