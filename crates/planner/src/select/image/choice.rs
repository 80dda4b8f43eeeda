//! Which image a size gets.

use model::{
    catalog::{Fit, ImageOs, ImageRow, Size},
    live::{Answer, ImageFact, ImageQuestion},
    resource::ImageReference,
    spec::{ImageChoice, Urn},
    units::CaseInsensitive,
};

use super::fit::{self, boots};
use crate::select::Context;

/// The word for a version that nobody could tell.
pub const UNKNOWN_VERSION: &str = "unknown";

/// Smallest OS disk in GiB for an image that the catalogue does not know.
const OTHER_IMAGE_OS_DISK_GB: u32 = 128;

/// An image that fits a size, before its version is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `dsvm`, `hpc` or `marketplace`.
    pub kind: String,
    pub(super) publisher: String,
    pub(super) offer: String,
    pub(super) sku: String,
    pub(super) pinned: Option<String>,
    pub(super) last_seen: Option<String>,
    /// Size of the OS disk in GiB that the tool asks for.
    pub os_disk_gb: u32,
    /// Smallest size of the OS disk in GiB.
    pub os_disk_floor_gb: u32,
    /// Why another image than the Data Science VM was taken, or what is not documented.
    pub notes: Vec<String>,
}

/// The image for a size, or why there is none.
///
/// # Errors
/// No image of those that the spec allows runs on the size.
pub fn choose(context: Context<'_>, size: &Size) -> Result<Choice, String> {
    match &context.pool.image {
        ImageChoice::Auto => match of_kind(context, size, "dsvm") {
            Ok(choice) => Ok(choice),
            Err(why_not) => {
                let mut choice =
                    of_kind(context, size, "hpc").map_err(|hpc| format!("{why_not}; {hpc}"))?;
                choice.notes.insert(
                    0,
                    format!("the HPC image instead of the Data Science VM: {why_not}"),
                );
                Ok(choice)
            }
        },
        ImageChoice::Dsvm => of_kind(context, size, "dsvm"),
        ImageChoice::Hpc => of_kind(context, size, "hpc"),
        ImageChoice::Urn { urn, .. } => marketplace(context, size, urn),
        ImageChoice::Id(id) => Err(format!("image `{id}` is not supported yet")),
    }
}

fn of_kind(context: Context<'_>, size: &Size, kind: &str) -> Result<Choice, String> {
    let rows = context
        .catalog
        .images()
        .iter()
        .filter(|row| row.kind == kind && row.usable && row.os == ImageOs::Linux);
    let mut best: Option<(Fit, Choice)> = None;
    let mut reasons: Vec<String> = Vec::new();
    for row in rows {
        match try_row(context, size, row) {
            Ok((fit, choice)) => {
                if best.as_ref().is_none_or(|(other, _)| better(fit, *other)) {
                    best = Some((fit, choice));
                }
            }
            Err(reason) if reasons.contains(&reason) => {}
            Err(reason) => reasons.push(reason),
        }
    }
    best.map(|(_, choice)| choice).ok_or_else(|| {
        reasons
            .first()
            .cloned()
            .unwrap_or_else(|| format!("there is no usable {kind} image"))
    })
}

fn better(fit: Fit, other: Fit) -> bool {
    fit == Fit::Ok && other != Fit::Ok
}

fn try_row(context: Context<'_>, size: &Size, row: &ImageRow) -> Result<(Fit, Choice), String> {
    if let Some(architecture) = size
        .architecture
        .filter(|architecture| *architecture != row.architecture)
    {
        return Err(format!(
            "{} is built for {:?}, the size has {architecture:?}{}",
            name(row),
            row.architecture,
            fit::instead(context, &of_row(row), size)
        ));
    }
    if !boots(size, row.generation) {
        return Err(format!(
            "{} is of generation {}, which the size does not boot{}",
            name(row),
            row.generation,
            fit::instead(context, &of_row(row), size)
        ));
    }
    let cell = context.catalog.image_fit(&size.image_family, &row.column);
    let (fit, reason) = cell.map_or((Fit::No, "nothing is known of this combination"), |cell| {
        (cell.verdict, cell.reason.as_str())
    });
    let mut choice = of_row(row);
    match fit {
        Fit::Ok => {}
        Fit::Expected => choice.notes.push(format!(
            "{} is expected to work on {}: {reason}",
            name(row),
            size.name
        )),
        Fit::NeedsDriver => {
            return Err(format!(
                "{} needs a driver installed afterwards: {reason}",
                name(row)
            ));
        }
        Fit::No => {
            return Err(format!(
                "{} does not run on {}: {reason}",
                name(row),
                size.name
            ));
        }
    }
    match choice.answer(context) {
        Some(Answer::Known(None)) => Err(format!(
            "{} is not to be had in {}",
            name(row),
            context.location
        )),
        Some(Answer::Known(Some(fact))) => match fit::misfit(context, &choice, size, fact) {
            Some(reason) => Err(reason),
            None => Ok((fit, choice)),
        },
        Some(Answer::Unknown { .. }) | None => Ok((fit, choice)),
    }
}

/// The image that live nodes have, where nothing is known of their size.
pub fn of_live(image: &ImageReference, os_disk_gb: u32) -> Choice {
    Choice {
        kind: "marketplace".to_owned(),
        publisher: image.publisher.to_string(),
        offer: image.offer.to_string(),
        sku: image.sku.to_string(),
        pinned: None,
        last_seen: Some(image.version.clone()),
        os_disk_gb,
        os_disk_floor_gb: 0,
        notes: vec![
            "the image is that of the live nodes: nothing is known of their size".to_owned(),
        ],
    }
}

fn name(row: &ImageRow) -> String {
    format!("{}:{}:{}", row.publisher, row.offer, row.sku)
}

fn of_row(row: &ImageRow) -> Choice {
    Choice {
        kind: row.kind.clone(),
        publisher: row.publisher.clone(),
        offer: row.offer.clone(),
        sku: row.sku.clone(),
        pinned: None,
        last_seen: row.version.clone(),
        os_disk_gb: row.os_disk_default_gb,
        os_disk_floor_gb: row.os_disk_floor_gb,
        notes: Vec::new(),
    }
}

fn marketplace(context: Context<'_>, size: &Size, urn: &Urn) -> Result<Choice, String> {
    let known = row_of(context, urn);
    let pinned = (!urn.version.eq_ignore_ascii_case("latest")).then(|| urn.version.clone());
    let mut choice = match known {
        Some(row) if !row.usable => {
            return Err(format!(
                "{} is not to be used any more: {}",
                name(row),
                row.notes
            ));
        }
        Some(row) => match try_row(context, size, row) {
            Ok((_, choice)) => choice,
            // The user says that the driver is taken care of by naming the image.
            Err(_) if is_driver_matter(context, size, row) => of_row(row),
            Err(reason) => return Err(reason),
        },
        None => {
            let mut choice = of_urn(context, urn);
            choice.notes.push(format!(
                "nothing is known of {} on {}",
                choice.name(),
                size.name
            ));
            choice
        }
    };
    "marketplace".clone_into(&mut choice.kind);
    choice.pinned = pinned;
    let fact = choice.fact(context);
    match fact.and_then(|fact| fit::misfit(context, &choice, size, fact)) {
        Some(reason) => Err(reason),
        None => Ok(choice),
    }
}

/// The row of the catalogue for a marketplace image.
fn row_of<'a>(context: Context<'a>, urn: &Urn) -> Option<&'a ImageRow> {
    context.catalog.images().iter().find(|row| {
        urn.publisher == CaseInsensitive::from(row.publisher.as_str())
            && urn.offer == CaseInsensitive::from(row.offer.as_str())
            && urn.sku == CaseInsensitive::from(row.sku.as_str())
    })
}

/// The choice that a marketplace image stands for, whatever the size.
pub(super) fn of_urn(context: Context<'_>, urn: &Urn) -> Choice {
    let mut choice = row_of(context, urn).map_or_else(
        || Choice {
            kind: String::new(),
            publisher: urn.publisher.to_string(),
            offer: urn.offer.to_string(),
            sku: urn.sku.to_string(),
            pinned: None,
            last_seen: None,
            os_disk_gb: OTHER_IMAGE_OS_DISK_GB,
            os_disk_floor_gb: 0,
            notes: Vec::new(),
        },
        of_row,
    );
    "marketplace".clone_into(&mut choice.kind);
    choice.pinned = (!urn.version.eq_ignore_ascii_case("latest")).then(|| urn.version.clone());
    choice
}

fn is_driver_matter(context: Context<'_>, size: &Size, row: &ImageRow) -> bool {
    let cell = context.catalog.image_fit(&size.image_family, &row.column);
    cell.is_some_and(|cell| cell.verdict == Fit::NeedsDriver)
        && size
            .architecture
            .is_none_or(|architecture| architecture == row.architecture)
        && boots(size, row.generation)
}

impl Choice {
    /// `publisher:offer:sku`.
    pub(super) fn name(&self) -> String {
        format!("{}:{}:{}", self.publisher, self.offer, self.sku)
    }

    /// What Azure says of it, where it says something.
    pub(super) fn fact<'a>(&self, context: Context<'a>) -> Option<&'a ImageFact> {
        self.answer(context)?.known()?.as_ref()
    }

    /// The answer about it, where it was asked for.
    pub(super) fn answer<'a>(&self, context: Context<'a>) -> Option<&'a Answer<Option<ImageFact>>> {
        context.live.facts.images.get(&self.question(context))
    }

    pub(super) fn question(&self, context: Context<'_>) -> ImageQuestion {
        ImageQuestion {
            location: context.location.clone(),
            publisher: self.publisher.clone(),
            offer: self.offer.clone(),
            sku: self.sku.clone(),
            version: self.pinned.clone(),
        }
    }

    pub(super) fn reference(&self, version: String) -> ImageReference {
        ImageReference {
            publisher: CaseInsensitive::from(self.publisher.as_str()),
            offer: CaseInsensitive::from(self.offer.as_str()),
            sku: CaseInsensitive::from(self.sku.as_str()),
            version,
        }
    }

    /// Whether a live node's image is the one this choice stands for, whatever the version
    /// unless the spec pins one.
    pub fn covers(&self, live: &ImageReference) -> bool {
        let version = self.pinned.clone().unwrap_or_else(|| live.version.clone());
        self.reference(version) == *live
    }
}
