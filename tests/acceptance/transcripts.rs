//! Every transcript in `tests/transcripts`, played on the real binary.

use std::{collections::BTreeSet, fs};

use crate::{harness::root, transcript::play};

macro_rules! transcripts {
    ($($name:ident,)+) => {
        const NAMES: &[&str] = &[$(stringify!($name),)+];

        $(#[test]
        fn $name() {
            play(stringify!($name));
        })+
    };
}

transcripts! {
    adopted,
    aks,
    apply_troubles,
    being_written,
    bootstrap,
    broken_nodes,
    catalog_refresh,
    catalogue,
    changed_behind,
    checkpoints,
    checks,
    cost,
    credentials,
    cyclecloud,
    cyclecloud_server,
    doctor,
    drift,
    estimate,
    existing_subnet,
    exit_codes,
    explained,
    graph,
    identities,
    images,
    inventory,
    inventory_ways,
    kubernetes,
    lifetime,
    main_job,
    not_ours,
    plan_files,
    quota,
    refusals,
    proximity,
    replaced,
    reservations,
    sandbox_world,
    rights,
    saved_plan,
    scale_sets,
    scale_sets_large,
    scale_sets_troubles,
    batch,
    batch_start,
    scarce,
    shrink,
    sized,
    stopped,
    unreadable,
    usage,
    windows,
    wrong_spec,
}

#[test]
fn every_transcript_is_played() {
    let folder = root().join("tests/transcripts");
    let found: BTreeSet<String> = fs::read_dir(folder)
        .expect("the transcripts")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().replace(".txt", ""))
        .collect();
    let played: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, played);
}
