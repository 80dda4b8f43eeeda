//! What a VM of a size counts for: live Azure says it for every size that it has, the catalogue
//! stands in where nobody could ask.

use std::collections::BTreeMap;

use model::{
    catalog::Catalog,
    live::{Answer, Live, SizeFact},
    units::{Region, SizeName},
};

/// What is known of sizes in a region.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a> {
    catalog: &'a Catalog,
    live: Option<&'a BTreeMap<SizeName, SizeFact>>,
}

impl<'a> Weights<'a> {
    /// Of a region.
    pub(crate) fn of(catalog: &'a Catalog, live: &'a Live, location: &Region) -> Self {
        let live = live.facts.sizes.get(location).and_then(Answer::known);
        Self { catalog, live }
    }

    /// vCPUs of a VM; `None` for a size that neither knows.
    pub(crate) fn vcpus(self, size: &SizeName) -> Option<u32> {
        let known = self.catalog.size(size).map(|size| size.vcpus);
        known.or_else(|| self.fact(size)?.capabilities.get("vCPUs")?.parse().ok())
    }

    /// The counter of its family.
    pub(crate) fn family(self, size: &SizeName) -> Option<String> {
        let live = self.fact(size).map(|fact| fact.family.clone());
        live.filter(|family| !family.is_empty()).or_else(|| {
            let family = self.catalog.size(size)?.family.as_ref()?;
            let row = self.catalog.quota_family(family);
            Some(row.map_or(family, |row| &row.usage_name).to_string())
        })
    }

    fn fact(self, size: &SizeName) -> Option<&'a SizeFact> {
        self.live?.get(size)
    }
}
