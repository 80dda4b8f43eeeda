//! Images that live nodes have and keep.

use std::collections::BTreeSet;

use model::{
    catalog::{Fit, Size},
    diag::{At, Code, Diagnostic, SpecPath},
    resource::{ImageReference, MarketplaceImage},
};

use crate::select::{Context, Findings};

/// Says of images that nodes keep where the catalogue knows that they do not run on the size. No
/// row ever moves what runs, so that more than that is not done.
pub fn say_misfit<'a>(
    context: Context<'_>,
    size: &Size,
    live: impl Iterator<Item = &'a ImageReference>,
    findings: &mut Findings,
) {
    let misfits: BTreeSet<String> = live
        .filter_map(|image| match image {
            ImageReference::Marketplace(image) => misfit(context, size, image),
            ImageReference::Own(_) => None,
        })
        .collect();
    let at = At::Value(SpecPath::pool(context.name, &["image"]));
    for message in misfits {
        let finding = Diagnostic::new(Code::ImageMisfitsLive, at.clone(), message);
        findings.diagnostics.push(
            finding.with_help("`--reselect` chooses their image anew, which makes the nodes anew"),
        );
    }
}

fn misfit(context: Context<'_>, size: &Size, image: &MarketplaceImage) -> Option<String> {
    let catalog = context.catalog;
    let row = catalog.images().iter().find(|row| {
        image
            .publisher
            .as_str()
            .eq_ignore_ascii_case(&row.publisher)
            && image.offer.as_str().eq_ignore_ascii_case(&row.offer)
            && image.sku.as_str().eq_ignore_ascii_case(&row.sku)
    })?;
    let cell = catalog.image_fit(&size.image_family, &row.column)?;
    (cell.verdict == Fit::No).then(|| {
        format!(
            "live nodes have `{}:{}:{}`, which does not run on `{}`: {}",
            row.publisher, row.offer, row.sku, size.name, cell.reason
        )
    })
}
