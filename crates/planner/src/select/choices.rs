//! What was decided for keys that were left at `auto`, and why: what size and image allow.

use model::{
    catalog::Size,
    plan::AutoChoice,
    resource::{ImageReference, Security},
    spec::{EphemeralOs, ImageChoice, SecurityChoice},
};

use super::{Context, NodeChoice, aks, cyclecloud, image::Choice, security, storage};

/// What a decision of a pool is explained from.
#[derive(Clone, Copy)]
pub(super) struct Decided<'a> {
    pub(super) context: Context<'a>,
    pub(super) size: &'a Size,
    pub(super) image: &'a Choice,
    /// What its nodes get or keep.
    pub(super) node: &'a NodeChoice,
    pub(super) accelerated_networking: bool,
    /// Whether live nodes keep what they have.
    pub(super) is_live: bool,
}

/// Every decision, in the order of the spec's keys.
pub(super) fn all(decided: Decided<'_>) -> Vec<AutoChoice> {
    if aks::is_wanted(decided.context) {
        // The rest is decided by AKS.
        return image(decided)
            .into_iter()
            .chain(ephemeral_os_disk(decided))
            .collect();
    }
    if cyclecloud::is_wanted(decided.context) {
        // How nodes reach network and disks is decided when they are made.
        let chosen = [
            image(decided),
            ephemeral_os_disk(decided),
            security_type(decided),
        ];
        let secure_boot = secure_boot(decided);
        return chosen.into_iter().flatten().chain(secure_boot).collect();
    }
    [
        image(decided),
        ephemeral_os_disk(decided),
        accelerated_networking(decided),
        disk_controller(decided),
        security_type(decided),
    ]
    .into_iter()
    .flatten()
    .chain(secure_boot(decided))
    .collect()
}

fn choice(key: &str, value: &str, code: &str, why: impl Into<String>) -> AutoChoice {
    AutoChoice {
        key: key.to_owned(),
        value: value.to_owned(),
        code: code.to_owned(),
        why: why.into(),
    }
}

fn image(decided: Decided<'_>) -> Option<AutoChoice> {
    if decided.context.pool.image != ImageChoice::Auto {
        return None;
    }
    let value = match &decided.node.image {
        ImageReference::Marketplace(_) => decided.node.image.to_string(),
        ImageReference::Own(image) => image.id.to_string(),
    };
    let (code, why) = match (decided.image.kind.as_str(), decided.image.notes.first()) {
        ("dsvm", None) => (
            "image_dsvm",
            "the article starts from the Data Science VM, and it runs on the size".to_owned(),
        ),
        ("dsvm", Some(note)) => ("image_dsvm_expected", note.clone()),
        ("hpc", note) => (
            "image_hpc_instead",
            note.cloned()
                .unwrap_or_else(|| "the Data Science VM does not run on the size".to_owned()),
        ),
        ("aks", note) => ("image_of_aks", note.cloned().unwrap_or_default()),
        (_, note) => (
            "image_kept",
            note.cloned()
                .unwrap_or_else(|| "live nodes keep their image".to_owned()),
        ),
    };
    Some(choice("image", &value, code, why))
}

fn ephemeral_os_disk(decided: Decided<'_>) -> Option<AutoChoice> {
    let place = decided.node.ephemeral?;
    if decided.context.pool.disks.os_ephemeral != EphemeralOs::Auto {
        return None;
    }
    let needed = decided.node.os_disk_gb;
    let room = storage::room(decided.context, decided.size);
    let held = room.and_then(|room| room.get(&place).copied());
    let (code, why) = match held {
        Some(Some(gib)) => (
            "ephemeral_fits",
            format!("{gib} GiB of {} hold the {needed} GiB", place.words()),
        ),
        Some(None) => (
            "ephemeral_room_unknown",
            format!(
                "the size takes it there; how much its {} hold is not known, Azure refuses what does not fit",
                place.words()
            ),
        ),
        None => (
            "ephemeral_place_unknown",
            "where the size takes it is not known: Azure tries this place first".to_owned(),
        ),
    };
    Some(choice("disks.os.ephemeral", place.key(), code, why))
}

fn accelerated_networking(decided: Decided<'_>) -> Option<AutoChoice> {
    if decided.context.pool.accelerated_networking.is_some() {
        return None;
    }
    let value = if decided.accelerated_networking {
        "true"
    } else {
        "false"
    };
    let has = decided.size.accelerated_networking;
    let (code, why) = match (decided.accelerated_networking, has) {
        (true, Some(true)) => ("accelerated_size_has", "the size has it"),
        (false, Some(false)) => ("accelerated_size_lacks", "the size does not have it"),
        (false, None) => (
            "accelerated_unknown",
            "whether the size has it is not known",
        ),
        (_, _) => ("accelerated_kept", "the live nodes keep what they have"),
    };
    Some(choice("accelerated_networking", value, code, why))
}

fn disk_controller(decided: Decided<'_>) -> Option<AutoChoice> {
    let Decided {
        context,
        size,
        node,
        ..
    } = decided;
    if context.pool.disk_controller.is_some() {
        return None;
    }
    let had = storage::controllers(context, size);
    let words = storage::words(&had);
    let value = node
        .disk_controller
        .map_or("left to Azure", |controller| controller.word());
    let (code, why) = match (node.disk_controller, had.len()) {
        (_, 0) => (
            "controller_unknown",
            "which controllers the size has is not known: Azure takes one that it has".to_owned(),
        ),
        (Some(controller), 1) => (
            "controller_only_one",
            format!("the size has {} alone", controller.word()),
        ),
        (None, 1) => (
            "controller_only_one",
            format!("the size has {words} alone, which Azure takes by itself"),
        ),
        (Some(_), _) if decided.is_live => (
            "controller_kept",
            format!("the live nodes keep theirs; the size has {words}"),
        ),
        (_, _) => (
            "controller_scsi_first",
            format!(
                "the size has {words}, and Azure takes SCSI by itself; `disk_controller: nvme` asks for the other"
            ),
        ),
    };
    Some(choice("disk_controller", value, code, why))
}

fn security_type(decided: Decided<'_>) -> Option<AutoChoice> {
    let Decided { context, size, .. } = decided;
    if context.pool.security != SecurityChoice::Auto {
        return None;
    }
    let against = security::support(context, size).against;
    Some(match (&decided.node.security, against) {
        (Security::TrustedLaunch { .. }, _) if decided.is_live => choice(
            "security",
            "trusted_launch",
            "security_kept",
            "the live nodes keep their security type",
        ),
        (Security::TrustedLaunch { .. }, _) => choice(
            "security",
            "trusted_launch",
            "security_image_demands",
            "the image is for Trusted Launch alone",
        ),
        (Security::Standard, Some(reason)) => choice(
            "security",
            "standard",
            "security_size_lacks",
            format!("the size {reason}"),
        ),
        (Security::Standard, None) => choice(
            "security",
            "standard",
            "security_not_demanded",
            "neither size nor image demands Trusted Launch; `security: trusted_launch` is possible",
        ),
    })
}

/// Secure Boot and the virtual TPM are always decided, also where Trusted Launch was asked for.
fn secure_boot(decided: Decided<'_>) -> Vec<AutoChoice> {
    let Security::TrustedLaunch { secure_boot, vtpm } = decided.node.security else {
        return Vec::new();
    };
    let word = |on: bool| if on { "on" } else { "off" };
    let (code, why) = match (secure_boot, decided.size.gpu.is_some()) {
        (true, _) => ("secure_boot_on", "the size loads signed drivers alone"),
        (false, true) => (
            "secure_boot_gpu_drivers",
            "drivers of GPUs in the images are not signed, and would not load",
        ),
        (false, false) => (
            "secure_boot_size",
            "drivers on sizes of this family load only without it",
        ),
    };
    vec![
        choice("security.secure_boot", word(secure_boot), code, why),
        choice(
            "security.vtpm",
            word(vtpm),
            "vtpm_with_trusted_launch",
            "Trusted Launch comes with it",
        ),
    ]
}
