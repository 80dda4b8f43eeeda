//! A choice of image gets its version, and what Azure says of it is checked.

use model::{
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    live::{Answer, ImageFact, Mode, Question},
    resource::{ImageReference, System},
    spec::{ImageChoice, OperatingSystem, SizeChoice},
    units::Region,
};

use super::{
    choice::{self, Choice, Name, UNKNOWN_VERSION, question_of},
    fit,
};
use crate::select::{Context, Findings};

/// Releases of the HPC image in which CUDA needs a newer driver than the image has: offer, and
/// what the version holds. Azure/azhpc-images, as of 2026-07-29.
const KNOWN_BAD: [(&str, &str); 2] = [("ubuntu-hpc", "20250930"), ("ubuntu-hpc", "20251009")];

/// What Azure says of the image of a choice, where it was asked and says something.
pub fn fact<'a>(context: Context<'a>, choice: &Choice) -> Option<&'a ImageFact> {
    choice.fact(context)
}

/// Asks for the same image in the other generation, where the named one does not boot on the
/// named size: so that the refusal can say what to use.
pub fn ask_counterparts(context: Context<'_>, findings: &mut Findings) {
    let (ImageChoice::Urn { urn, .. }, SizeChoice::Named(name)) =
        (&context.pool.image, &context.pool.size)
    else {
        return;
    };
    let choice = choice::of_urn(context, urn);
    let generation = choice.fact(context).and_then(|fact| fact.generation);
    let size = context.catalog.size(name);
    let (Some(generation), Some(size)) = (generation, size) else {
        return;
    };
    if fit::boots(size, generation) || !fit::instead(context, &choice, size).is_empty() {
        return;
    }
    let questions = fit::counterparts(context, &choice);
    let questions = questions.into_iter().map(Question::Image);
    let open = questions.filter(|question| !context.live.facts.has(question));
    findings.questions.extend(open);
}

/// Gives a choice its version, and checks what Azure says of it.
pub fn resolve(
    context: Context<'_>,
    choice: &Choice,
    is_needed: bool,
    findings: &mut Findings,
) -> ImageReference {
    let offline_version = || choice.pinned.clone().or_else(|| choice.last_seen.clone());
    let at = At::Value(SpecPath::pool(context.name, &["image"]));
    if !is_needed {
        return choice.reference(offline_version().unwrap_or_else(|| UNKNOWN_VERSION.to_owned()));
    }
    let version = match choice.answer(context) {
        None => {
            findings.questions.insert(question_of(context, choice));
            offline_version()
        }
        Some(Answer::Known(Some(fact))) => {
            check(context, &choice.name(), fact, &at, findings);
            Some(fact.version.clone())
        }
        Some(Answer::Known(None)) => {
            findings
                .diagnostics
                .push(not_found(context, choice, at.clone()));
            offline_version()
        }
        Some(Answer::Unknown { reason }) => {
            let version = offline_version();
            // Offline one warning says all that is unknown.
            if context.mode != Mode::Offline {
                let finding = unverified(choice, version.as_deref(), reason, at.clone());
                findings.diagnostics.push(finding);
            }
            version
        }
    };
    let version = version.unwrap_or_else(|| UNKNOWN_VERSION.to_owned());
    warn_of_release(choice, &version, &at, findings);
    choice.reference(version)
}

fn not_found(context: Context<'_>, choice: &Choice, at: At) -> Diagnostic {
    let name = choice.name();
    let (message, help) = match &choice.name {
        Name::Marketplace { .. } => (
            format!(
                "`{name}` has no {} in {}",
                choice.pinned.as_deref().unwrap_or("any version"),
                context.location
            ),
            "choose another version or image; `az vm image list --all` shows what there is",
        ),
        Name::Managed(_) => (
            format!("there is no image `{name}`, or it may not be read"),
            "check the id: `az image list --query [].id` shows those there are",
        ),
        Name::Gallery(_) => (
            match &choice.pinned {
                Some(version) => {
                    format!("`{name}` has no version `{version}`, or it may not be read")
                }
                None => format!(
                    "`{name}` has no version in {}, or it may not be read",
                    context.location
                ),
            },
            "check the id and the regions of its versions: `az sig image-version list` shows them",
        ),
    };
    Diagnostic::new(Code::ImageNotFound, at, message).with_help(help)
}

/// A version that Azure did not confirm is a risk; without any version nothing can be made.
fn unverified(choice: &Choice, version: Option<&str>, reason: &str, at: At) -> Diagnostic {
    let name = choice.name();
    let message = match &choice.name {
        Name::Marketplace { .. } | Name::Gallery(_) => {
            format!("the version of `{name}` could not be checked: {reason}")
        }
        Name::Managed(_) => format!("`{name}` could not be checked: {reason}"),
    };
    let finding = Diagnostic::new(Code::ImageUnverified, at, message);
    let help = match (&choice.name, version) {
        // It has no versions: there is nothing to name.
        (Name::Managed(_), _) => {
            return finding.with_help(
                "the plan has the image as it is named; apply fails where it is not there, or is for other sizes",
            );
        }
        (_, Some(version)) if choice.pinned.is_some() => {
            format!("the plan has version `{version}`, as the spec names it")
        }
        (_, Some(version)) => {
            format!("the plan has version `{version}`, which was seen elsewhere")
        }
        (Name::Marketplace { .. }, None) => {
            "no version is known: name one with `image: {urn: PUBLISHER:OFFER:SKU:VERSION}`, or plan again".to_owned()
        }
        (Name::Gallery(_), None) => format!(
            "no version is known: name one with `image: {{id: {name}/versions/VERSION}}`, or plan again"
        ),
    };
    let severity = match version {
        Some(_) => Severity::Warning,
        None => Severity::Error,
    };
    finding.with_severity(severity).with_help(help)
}

fn check(context: Context<'_>, name: &str, fact: &ImageFact, at: &At, findings: &mut Findings) {
    let mut refuse = |code: Code, message: String, help: &str| {
        findings
            .diagnostics
            .push(Diagnostic::new(code, at.clone(), message).with_help(help));
    };
    let asked = context.pool.disks.os_size_gb;
    if let Some((asked, needed)) = asked
        .zip(fact.os_disk_gb)
        .filter(|(asked, needed)| asked < needed)
    {
        let message =
            format!("`{name}` needs an OS disk of {needed} GiB, the spec asks for {asked}");
        refuse(Code::ImageDoesNotFit, message, "raise `disks.os.size_gb`");
    }
    let wanted = system(&context.pool.os);
    if let Some(found) = fact.os.filter(|found| *found != wanted) {
        let word = |system: System| match system {
            System::Linux => "linux",
            System::Windows => "windows",
        };
        let message = format!(
            "`{name}` holds `{}`, the spec has `os: {}`",
            word(found),
            word(wanted)
        );
        refuse(
            Code::ImageDoesNotFit,
            message,
            "change `os`, or choose another image",
        );
    }
    if fact.specialized {
        let message = format!(
            "`{name}` is specialized: it keeps its accounts and its host name, so that nodes made from it cannot be told apart"
        );
        refuse(
            Code::ImageDoesNotFit,
            message,
            "make the image from a generalized VM (`az vm generalize`)",
        );
    }
    if let Some(regions) = fact
        .regions
        .as_ref()
        .filter(|regions| !regions.contains(context.location))
    {
        let regions: Vec<&str> = regions.iter().map(Region::as_str).collect();
        let message = format!(
            "`{name}` is not in {}: it is in {}",
            context.location,
            regions.join(", ")
        );
        refuse(
            Code::ImageNotFound,
            message,
            "replicate it there, or use another `location`",
        );
    }
}

/// The operating system that a pool asks for.
pub(super) fn system(os: &OperatingSystem) -> System {
    match os {
        OperatingSystem::Linux => System::Linux,
        OperatingSystem::Windows { .. } => System::Windows,
    }
}

/// Says that nodes which are made from now on get a newer version than live ones keep.
pub fn say_newer<'a>(
    context: Context<'_>,
    choice: &Choice,
    live: impl Iterator<Item = &'a ImageReference>,
    findings: &mut Findings,
) {
    let told = choice.fact(context).map(|fact| fact.version.clone());
    let newest = told.or_else(|| choice.last_seen.clone());
    let (None, Some(newest)) = (&choice.pinned, newest) else {
        return;
    };
    let same_image = live.filter(|image| choice.covers(image));
    let versions = same_image.filter_map(version_of);
    let Some(oldest) = versions.min_by_key(|version| numbers(version)) else {
        return;
    };
    if numbers(&newest) <= numbers(&oldest) {
        return;
    }
    let message = format!(
        "live nodes keep version `{oldest}` of `{}`, new nodes get `{newest}`",
        choice.name()
    );
    let at = At::Value(SpecPath::pool(context.name, &["image"]));
    let finding = Diagnostic::new(Code::ImageNewer, at, message);
    findings.diagnostics.push(finding.with_help(
        "to have one version on all nodes, name it in `image`: those of another one are made anew for it",
    ));
}

fn version_of(image: &ImageReference) -> Option<String> {
    match image {
        ImageReference::Marketplace(image) => Some(image.version.clone()),
        ImageReference::Own(image) => choice::own_name(image.id.as_str()).1,
    }
}

/// A version by its numbers, so that `9` is older than `10`.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split('.');
    parts.map(|part| part.parse().unwrap_or_default()).collect()
}

/// Warns of releases that are known not to work.
fn warn_of_release(choice: &Choice, version: &str, at: &At, findings: &mut Findings) {
    let Name::Marketplace { offer, .. } = &choice.name else {
        return;
    };
    let is_bad = |(bad, release): &&(&str, &str)| {
        offer.eq_ignore_ascii_case(bad) && version.contains(release)
    };
    if KNOWN_BAD.iter().any(|bad| is_bad(&bad)) {
        let releases: Vec<&str> = KNOWN_BAD.iter().map(|(_, release)| *release).collect();
        let message = format!(
            "version `{version}` of `{}` is known to be bad: in the releases {} CUDA needs a newer driver than the image has",
            choice.name(),
            releases.join(" and ")
        );
        let help = "name an older or a newer version, or `latest`";
        findings
            .diagnostics
            .push(Diagnostic::new(Code::ImageKnownBad, at.clone(), message).with_help(help));
    }
}
