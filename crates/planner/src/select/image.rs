//! The image: the Data Science VM first (A10), the HPC image where it cannot work (R1, A16).

use model::{
    catalog::{Fit, ImageOs, ImageRow, Size},
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    live::{Answer, ImageFact, ImageQuestion, Mode, Question},
    resource::ImageReference,
    spec::ImageChoice,
    units::CaseInsensitive,
};

use super::{Context, Findings};

/// The word for a version that nobody could tell.
pub const UNKNOWN_VERSION: &str = "unknown";

/// Smallest OS disk in GiB for an image that the catalogue does not know.
const OTHER_IMAGE_OS_DISK_GB: u32 = 128;

/// An image that fits a size, before its version is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `dsvm`, `hpc` or `marketplace`.
    pub kind: String,
    publisher: String,
    offer: String,
    sku: String,
    pinned: Option<String>,
    last_seen: Option<String>,
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
        match fit(context, size, row) {
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

fn fit(context: Context<'_>, size: &Size, row: &ImageRow) -> Result<(Fit, Choice), String> {
    if let Some(architecture) = size
        .architecture
        .filter(|architecture| *architecture != row.architecture)
    {
        return Err(format!(
            "{} is built for {:?}, the size has {architecture:?}",
            name(row),
            row.architecture
        ));
    }
    if !boots(size, row.generation) {
        return Err(format!(
            "{} is of generation {}, which the size does not boot",
            name(row),
            row.generation
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
    if context.live.facts.images.get(&choice.question(context)) == Some(&Answer::Known(None)) {
        return Err(format!(
            "{} is not to be had in {}",
            name(row),
            context.location
        ));
    }
    Ok((fit, choice))
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

fn marketplace(
    context: Context<'_>,
    size: &Size,
    urn: &model::spec::Urn,
) -> Result<Choice, String> {
    let known = context.catalog.images().iter().find(|row| {
        urn.publisher == CaseInsensitive::from(row.publisher.as_str())
            && urn.offer == CaseInsensitive::from(row.offer.as_str())
            && urn.sku == CaseInsensitive::from(row.sku.as_str())
    });
    let pinned = (!urn.version.eq_ignore_ascii_case("latest")).then(|| urn.version.clone());
    let mut choice = match known {
        Some(row) if !row.usable => {
            return Err(format!(
                "{} is not to be used any more: {}",
                name(row),
                row.notes
            ));
        }
        Some(row) => match fit(context, size, row) {
            Ok((_, choice)) => choice,
            // The user says that the driver is taken care of by naming the image.
            Err(_) if is_driver_matter(context, size, row) => of_row(row),
            Err(reason) => return Err(reason),
        },
        None => Choice {
            kind: String::new(),
            publisher: urn.publisher.to_string(),
            offer: urn.offer.to_string(),
            sku: urn.sku.to_string(),
            pinned: None,
            last_seen: None,
            os_disk_gb: OTHER_IMAGE_OS_DISK_GB,
            os_disk_floor_gb: 0,
            notes: vec![format!(
                "nothing is known of {}:{}:{} on {}",
                urn.publisher, urn.offer, urn.sku, size.name
            )],
        },
    };
    "marketplace".clone_into(&mut choice.kind);
    choice.pinned = pinned;
    Ok(choice)
}

fn is_driver_matter(context: Context<'_>, size: &Size, row: &ImageRow) -> bool {
    let cell = context.catalog.image_fit(&size.image_family, &row.column);
    cell.is_some_and(|cell| cell.verdict == Fit::NeedsDriver)
        && size
            .architecture
            .is_none_or(|architecture| architecture == row.architecture)
        && boots(size, row.generation)
}

/// Whether a size boots a generation; where nothing is known of it, Azure decides.
fn boots(size: &Size, generation: u8) -> bool {
    size.generations.is_empty() || size.generations.contains(&generation)
}

impl Choice {
    fn question(&self, context: Context<'_>) -> ImageQuestion {
        ImageQuestion {
            location: context.location.clone(),
            publisher: self.publisher.clone(),
            offer: self.offer.clone(),
            sku: self.sku.clone(),
            version: self.pinned.clone(),
        }
    }

    fn reference(&self, version: String) -> ImageReference {
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

/// Gives a choice its version, and checks what Azure says of it.
pub fn resolve(
    context: Context<'_>,
    size: &Size,
    choice: &Choice,
    is_needed: bool,
    findings: &mut Findings,
) -> ImageReference {
    let offline_version = || choice.pinned.clone().or_else(|| choice.last_seen.clone());
    let at = At::Value(SpecPath::pool(context.name, &["image"]));
    if !is_needed {
        return choice.reference(offline_version().unwrap_or_else(|| UNKNOWN_VERSION.to_owned()));
    }
    let question = choice.question(context);
    let urn = format!("{}:{}:{}", choice.publisher, choice.offer, choice.sku);
    let version = match context.live.facts.images.get(&question) {
        None => {
            findings.questions.insert(Question::Image(question));
            offline_version()
        }
        Some(Answer::Known(Some(fact))) => {
            check(context, size, &urn, fact, &at, findings);
            Some(fact.version.clone())
        }
        Some(Answer::Known(None)) => {
            let version = choice.pinned.as_deref().unwrap_or("any version");
            let message = format!("`{urn}` has no {version} in {}", context.location);
            let help =
                "choose another version or image; `az vm image list --all` shows what there is";
            findings
                .diagnostics
                .push(Diagnostic::new(Code::ImageNotFound, at, message).with_help(help));
            offline_version()
        }
        Some(Answer::Unknown { reason }) => {
            let version = offline_version();
            // Offline one warning says all that is unknown.
            if context.mode != Mode::Offline {
                let finding = unverified(&urn, version.as_deref(), reason, at);
                findings.diagnostics.push(finding);
            }
            version
        }
    };
    choice.reference(version.unwrap_or_else(|| UNKNOWN_VERSION.to_owned()))
}

/// A version that Azure did not confirm is a risk; without any version nothing can be made.
fn unverified(urn: &str, version: Option<&str>, reason: &str, at: At) -> Diagnostic {
    let message = format!("the version of `{urn}` could not be checked: {reason}");
    match version {
        Some(version) => Diagnostic::new(Code::ImageUnverified, at, message)
            .with_help(format!("the plan has version `{version}`, which was seen elsewhere")),
        None => Diagnostic::new(Code::ImageUnverified, at, message)
            .with_severity(Severity::Error)
            .with_help("no version is known: name one with `image: {urn: PUBLISHER:OFFER:SKU:VERSION}`, or plan again"),
    }
}

fn check(
    context: Context<'_>,
    size: &Size,
    urn: &str,
    fact: &ImageFact,
    at: &At,
    findings: &mut Findings,
) {
    let mut refuse = |code: Code, message: String, help: &str| {
        findings
            .diagnostics
            .push(Diagnostic::new(code, at.clone(), message).with_help(help));
    };
    if let Some(generation) = fact
        .generation
        .filter(|generation| !boots(size, *generation))
    {
        let boots: Vec<String> = size.generations.iter().map(u8::to_string).collect();
        let message = format!(
            "`{urn}` is of generation {generation}, `{}` boots only generation {}",
            size.name,
            boots.join(" or ")
        );
        refuse(
            Code::ImageDoesNotFit,
            message,
            "choose a SKU of the same offer with the other generation, or another size",
        );
    }
    let architecture = size
        .architecture
        .map(|architecture| format!("{architecture:?}"));
    if let Some((found, has)) = fact.architecture.as_ref().zip(architecture)
        && !found.eq_ignore_ascii_case(&has)
    {
        let message = format!("`{urn}` is built for {found}, `{}` has {has}", size.name);
        refuse(
            Code::ImageDoesNotFit,
            message,
            "choose an image for the size's architecture, or another size",
        );
    }
    if fact.has_plan {
        let message = format!(
            "`{urn}` has a purchase plan whose terms must be accepted, which is not supported yet"
        );
        refuse(
            Code::ImageNeedsTerms,
            message,
            "choose an image without a plan, such as `image: auto`",
        );
    }
    let asked = context.pool.disks.os_size_gb;
    if let Some((asked, needed)) = asked
        .zip(fact.os_disk_gb)
        .filter(|(asked, needed)| asked < needed)
    {
        let message =
            format!("`{urn}` needs an OS disk of {needed} GiB, the spec asks for {asked}");
        refuse(Code::ImageDoesNotFit, message, "raise `disks.os.size_gb`");
    }
}
