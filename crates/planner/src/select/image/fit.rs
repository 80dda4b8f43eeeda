//! What Azure says of an image against what a size is (R2).

use std::collections::BTreeSet;

use model::{
    catalog::{Architecture, Fit, ImageRow, Size},
    live::{Answer, ImageFact, ImageKind, ImageQuestion, Question},
    spec::DiskController,
};

use super::choice::{Choice, Name, question_of};
use crate::select::{Context, storage};

/// Endings that SKUs of generation 2 have beside those of generation 1 in the same offer.
const SECOND_GENERATION: [&str; 3] = ["-gen2", "-g2", "gen2"];

/// Whether a size boots a generation; where nothing is known of it, Azure decides.
pub(super) fn boots(size: &Size, generation: u8) -> bool {
    size.generations.is_empty() || size.generations.contains(&generation)
}

/// Whether a size runs an architecture, as Azure spells it.
fn runs(size: &Size, architecture: &str) -> bool {
    size.architecture
        .is_none_or(|own| word(own).eq_ignore_ascii_case(architecture))
}

/// An architecture as Azure spells it.
fn word(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X64 => "x64",
        Architecture::Arm64 => "Arm64",
    }
}

/// Why a size cannot run an image, by what Azure says of both.
pub(super) fn misfit(
    context: Context<'_>,
    choice: &Choice,
    size: &Size,
    fact: &ImageFact,
) -> Option<String> {
    if let Some(generation) = fact
        .generation
        .filter(|generation| !boots(size, *generation))
    {
        let boots: Vec<String> = size.generations.iter().map(u8::to_string).collect();
        return Some(format!(
            "{} is of generation {generation}, the size boots only generation {}{}",
            choice.name(),
            boots.join(" or "),
            instead(context, choice, size)
        ));
    }
    if let Some(architecture) = fact
        .architecture
        .as_deref()
        .filter(|architecture| !runs(size, architecture))
    {
        let own = size.architecture.map(word).unwrap_or_default();
        return Some(format!(
            "{} is built for {architecture}, the size has {own}{}",
            choice.name(),
            instead(context, choice, size)
        ));
    }
    controllers(context, choice, size, fact)
}

/// An image without a driver for the controller that the spec names, or for any that a size has,
/// does not boot there. The definition of a gallery's image that names no controllers stands for
/// SCSI; of a marketplace image that names none nothing is known.
fn controllers(
    context: Context<'_>,
    choice: &Choice,
    size: &Size,
    fact: &ImageFact,
) -> Option<String> {
    let driven = match fact.feature("DiskControllerTypes") {
        Some(driven) => driven,
        None if fact.kind == ImageKind::Gallery => DiskController::Scsi.word(),
        None => return None,
    };
    let drives: BTreeSet<DiskController> = driven
        .split(',')
        .filter_map(DiskController::named)
        .collect();
    let had = storage::controllers(context, size);
    if let Some(wanted) = context.pool.disk_controller {
        return (!drives.contains(&wanted)).then(|| {
            format!(
                "{} has drivers for the disk controllers {driven}, the spec asks for {}",
                choice.name(),
                wanted.word()
            )
        });
    }
    (!had.is_empty() && drives.is_disjoint(&had)).then(|| {
        format!(
            "{} has drivers for the disk controllers {driven}, the size has {}",
            choice.name(),
            storage::words(&had)
        )
    })
}

/// The end of a refusal that names a SKU of the same offer which the size can run.
pub(super) fn instead(context: Context<'_>, choice: &Choice, size: &Size) -> String {
    let Name::Marketplace {
        publisher, offer, ..
    } = &choice.name
    else {
        return String::new();
    };
    let sku =
        of_catalog(context, publisher, offer, size).or_else(|| of_azure(context, choice, size));
    sku.map_or_else(String::new, |sku| {
        format!(": use `{publisher}:{offer}:{sku}`")
    })
}

fn of_catalog(context: Context<'_>, publisher: &str, offer: &str, size: &Size) -> Option<String> {
    let same = |row: &&ImageRow| {
        row.usable
            && row.publisher.eq_ignore_ascii_case(publisher)
            && row.offer.eq_ignore_ascii_case(offer)
            && boots(size, row.generation)
            && runs(size, word(row.architecture))
            && (context.catalog)
                .image_fit(&size.image_family, &row.column)
                .is_none_or(|cell| cell.verdict != Fit::No)
    };
    let rows = context.catalog.images().iter();
    rows.filter(same).map(|row| row.sku.clone()).next()
}

fn of_azure(context: Context<'_>, choice: &Choice, size: &Size) -> Option<String> {
    let fits = |question: &ImageQuestion| {
        let answer = context.live.facts.images.get(question);
        let fact = answer.and_then(Answer::known).and_then(Option::as_ref);
        fact.is_some_and(|fact| {
            fact.generation
                .is_some_and(|generation| boots(size, generation))
                && fact
                    .architecture
                    .as_deref()
                    .is_none_or(|architecture| runs(size, architecture))
        })
    };
    let counterparts = counterparts(context, choice);
    counterparts
        .into_iter()
        .find(fits)
        .map(|question| question.sku)
}

/// SKUs that may be the same image in the other generation, by the rule of names.
pub(super) fn counterparts(context: Context<'_>, choice: &Choice) -> Vec<ImageQuestion> {
    let Question::Image(question) = question_of(context, choice) else {
        return Vec::new();
    };
    let sku = question.sku.as_str();
    let first: Vec<String> = SECOND_GENERATION
        .iter()
        .filter_map(|ending| sku.strip_suffix(ending))
        .filter(|sku| !sku.is_empty())
        .map(ToOwned::to_owned)
        .collect();
    let names = if first.is_empty() {
        let endings = SECOND_GENERATION.iter();
        endings.map(|ending| format!("{sku}{ending}")).collect()
    } else {
        first
    };
    let of_sku = |sku: String| ImageQuestion {
        sku,
        version: None,
        ..question.clone()
    };
    names.into_iter().map(of_sku).collect()
}
