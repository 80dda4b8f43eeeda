//! Every transcript in `tests/transcripts`, played on the real binary.

use std::{collections::BTreeSet, fs};

use crate::{support::root, transcript::play};

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
    catalogue,
    credentials,
    exit_codes,
    explained,
    main_job,
    plan_files,
    refusals,
    sandbox_world,
    saved_plan,
    shrink,
    usage,
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
