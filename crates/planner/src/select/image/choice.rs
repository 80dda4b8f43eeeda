//! Which image a size gets.

use model::{
    catalog::{Fit, ImageOs, ImageRow, Size},
    live::{Answer, ImageQuestion, OwnImageQuestion, Question},
    resource::ImageReference,
    spec::{ImageChoice, OperatingSystem, Urn},
    units::CaseInsensitive,
};

use super::fit::{self, boots};
use crate::select::{Context, aks, batch};

/// The word for a version that nobody could tell.
pub const UNKNOWN_VERSION: &str = "unknown";

/// Smallest OS disk in GiB for an image that the catalogue does not know.
const OTHER_IMAGE_OS_DISK_GB: u32 = 128;

/// An image that fits a size, before its version is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `dsvm`, `hpc`, `marketplace`, `own` or `aks`.
    pub kind: String,
    pub(super) name: Name,
    pub(super) pinned: Option<String>,
    pub(super) last_seen: Option<String>,
    /// Size of the OS disk in GiB that the tool asks for.
    pub os_disk_gb: u32,
    /// Smallest size of the OS disk in GiB.
    pub os_disk_floor_gb: u32,
    /// Why another image than the Data Science VM was taken, or what is not documented.
    pub notes: Vec<String>,
}

/// What an image is called, without its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// An image of the marketplace.
    Marketplace {
        publisher: String,
        offer: String,
        sku: String,
    },
    /// A managed image, which has no version.
    Managed(String),
    /// An image of a gallery, without its version.
    Gallery(String),
}

/// Who asks of what, as [`model::live::Facts`] keeps it.
pub(super) fn question_of(context: Context<'_>, choice: &Choice) -> Question {
    let location = context.location.clone();
    match &choice.name {
        Name::Marketplace {
            publisher,
            offer,
            sku,
        } => Question::Image(ImageQuestion {
            location,
            publisher: publisher.clone(),
            offer: offer.clone(),
            sku: sku.clone(),
            version: choice.pinned.clone(),
        }),
        Name::Managed(id) => Question::OwnImage(OwnImageQuestion {
            location,
            id: id.as_str().into(),
        }),
        Name::Gallery(id) => Question::OwnImage(OwnImageQuestion {
            location,
            id: match &choice.pinned {
                Some(version) => CaseInsensitive::new(format!("{id}/versions/{version}")),
                None => id.as_str().into(),
            },
        }),
    }
}

/// The image for a size, or why there is none.
///
/// # Errors
/// No image of those that the spec allows runs on the size.
pub fn choose(context: Context<'_>, size: &Size) -> Result<Choice, String> {
    if aks::is_wanted(context) {
        return Ok(of_aks());
    }
    match &context.pool.image {
        // Batch takes the HPC image on RDMA sizes, as its maintainers have written down.
        ImageChoice::Auto if batch::is_wanted(context) && size.rdma => {
            of_kind(context, size, "hpc").or_else(|_| of_kind(context, size, "dsvm"))
        }
        ImageChoice::Auto => match of_kind(context, size, "dsvm") {
            Ok(choice) => Ok(choice),
            // The HPC image is Linux.
            Err(why_not) if wanted_os(context) == ImageOs::Windows => Err(why_not),
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
        ImageChoice::Id(id) => own(context, size, id),
    }
}

/// The image that AKS gives its nodes, whatever their size.
fn of_aks() -> Choice {
    Choice {
        kind: "aks".to_owned(),
        name: Name::Managed(aks::NODE_IMAGE.to_owned()),
        pinned: None,
        last_seen: None,
        os_disk_gb: OTHER_IMAGE_OS_DISK_GB,
        os_disk_floor_gb: 0,
        notes: vec![
            "nodes boot an image of AKS, which brings containers' runtime and drivers".to_owned(),
        ],
    }
}

fn of_kind(context: Context<'_>, size: &Size, kind: &str) -> Result<Choice, String> {
    let rows = context
        .catalog
        .images()
        .iter()
        .filter(|row| row.kind == kind && row.usable && row.os == wanted_os(context));
    let mut best: Option<((Fit, bool), Choice)> = None;
    let mut reasons: Vec<String> = Vec::new();
    for row in rows {
        match try_row(context, size, row) {
            Ok((fit, choice)) => {
                let fit = (fit, batch::is_confirmed(context, row));
                if best.as_ref().is_none_or(|(other, _)| better(fit, *other)) {
                    best = Some((fit, choice));
                }
                if fit == (Fit::Ok, true) {
                    break;
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

fn wanted_os(context: Context<'_>) -> ImageOs {
    match context.pool.os {
        OperatingSystem::Linux => ImageOs::Linux,
        OperatingSystem::Windows { .. } => ImageOs::Windows,
    }
}

/// Whether an image fits better than another: whether it is known to run counts first, whether it
/// is known to be taken second.
fn better((fit, confirmed): (Fit, bool), (other, other_confirmed): (Fit, bool)) -> bool {
    let rank = |fit: Fit, confirmed: bool| (fit == Fit::Ok, confirmed);
    rank(fit, confirmed) > rank(other, other_confirmed)
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
    if let Some(reason) = batch::misfit(context, row, size) {
        return Err(reason);
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
    let (kind, name, version) = match image {
        ImageReference::Marketplace(image) => (
            "marketplace",
            Name::Marketplace {
                publisher: image.publisher.to_string(),
                offer: image.offer.to_string(),
                sku: image.sku.to_string(),
            },
            Some(image.version.clone()),
        ),
        ImageReference::Own(image) => {
            let (name, version) = own_name(image.id.as_str());
            ("own", name, version)
        }
    };
    Choice {
        kind: kind.to_owned(),
        name,
        pinned: None,
        last_seen: version,
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
        name: Name::Marketplace {
            publisher: row.publisher.clone(),
            offer: row.offer.clone(),
            sku: row.sku.clone(),
        },
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
        Some(row) if row.os != wanted_os(context) => {
            return Err(format!(
                "{} holds {}, which is not the spec's `os`",
                name(row),
                match row.os {
                    ImageOs::Linux => "Linux",
                    ImageOs::Windows => "Windows",
                }
            ));
        }
        Some(row) if let Some(reason) = batch::misfit(context, row, size) => return Err(reason),
        Some(row) => match try_row(context, size, row) {
            Ok((_, choice)) => choice,
            // The user says that the driver is taken care of by naming the image.
            Err(_) if is_driver_matter(context, size, row) => {
                let mut choice = of_row(row);
                choice.notes.extend(driver_to_install(context, size, row));
                choice
            }
            Err(reason) => return Err(reason),
        },
        None => {
            let name = (urn.publisher.as_str(), urn.offer.as_str(), urn.sku.as_str());
            if let Some(reason) = batch::misfit_of(context, name, size) {
                return Err(reason);
            }
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
            name: Name::Marketplace {
                publisher: urn.publisher.to_string(),
                offer: urn.offer.to_string(),
                sku: urn.sku.to_string(),
            },
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

/// An image's id without its version, and the version. `latest` is none.
pub(super) fn own_name(id: &str) -> (Name, Option<String>) {
    let id = id.trim_end_matches('/');
    let lower = id.to_ascii_lowercase();
    if !lower.contains("galleries/") {
        return (Name::Managed(id.to_owned()), None);
    }
    let split = lower.rfind("/versions/");
    let image = split.and_then(|at| id.get(..at)).unwrap_or(id);
    let version = split
        .and_then(|at| id.get(at + "/versions/".len()..))
        .filter(|version| !version.eq_ignore_ascii_case("latest"));
    (
        Name::Gallery(image.to_owned()),
        version.map(ToOwned::to_owned),
    )
}

/// The choice that an id stands for, whatever the size.
pub(super) fn of_id(context: Context<'_>, id: &str) -> Choice {
    let (name, pinned) = own_name(id);
    let mut choice = Choice {
        kind: "own".to_owned(),
        name,
        pinned,
        last_seen: None,
        os_disk_gb: OTHER_IMAGE_OS_DISK_GB,
        os_disk_floor_gb: 0,
        notes: Vec::new(),
    };
    if let Some(needed) = choice.fact(context).and_then(|fact| fact.os_disk_gb) {
        choice.os_disk_gb = choice.os_disk_gb.max(needed);
        choice.os_disk_floor_gb = needed;
    }
    choice
}

fn own(context: Context<'_>, size: &Size, id: &str) -> Result<Choice, String> {
    if let Some(reason) = batch::own_image(context, id) {
        return Err(reason);
    }
    let choice = of_id(context, id);
    let fact = choice.fact(context);
    match fact.and_then(|fact| fit::misfit(context, &choice, size, fact)) {
        Some(reason) => Err(reason),
        None => Ok(choice),
    }
}

/// What a user who names an image without a driver has to do.
fn driver_to_install(context: Context<'_>, size: &Size, row: &ImageRow) -> Option<String> {
    let cell = context.catalog.image_fit(&size.image_family, &row.column)?;
    let how = match &cell.driver {
        Some(extension) => format!("install it with the extension `{extension}`"),
        None => "install it".to_owned(),
    };
    let named = name(row);
    Some(format!(
        "{named} brings no driver for {}: {how} ({})",
        size.name, cell.reason
    ))
}

fn is_driver_matter(context: Context<'_>, size: &Size, row: &ImageRow) -> bool {
    let cell = context.catalog.image_fit(&size.image_family, &row.column);
    cell.is_some_and(|cell| cell.verdict == Fit::NeedsDriver)
        && size
            .architecture
            .is_none_or(|architecture| architecture == row.architecture)
        && boots(size, row.generation)
}
