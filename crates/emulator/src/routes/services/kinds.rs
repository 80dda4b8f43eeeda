//! The table of types.

use super::{
    account, pool,
    serve::{Course, ETag, Kind},
};
use crate::{durations, store::entry::Style};

/// A type that answers at once, has no etag and no rules.
const PLAIN: Kind = Kind {
    name: "",
    build: super::serve::as_given,
    show: super::serve::as_kept,
    missing: super::serve::missing,
    free: super::serve::always_free,
    act: super::serve::no_action,
    put: Course::AtOnce { new: 201, old: 200 },
    delete: Course::AtOnce { new: 200, old: 200 },
    etag: ETag::None,
    patch: true,
    locates: false,
    shows_deleted: false,
};

static KINDS: [Kind; 2] = [
    Kind {
        name: "Microsoft.Batch/batchAccounts",
        build: account::build,
        show: account::show,
        act: account::act,
        put: Course::Long {
            style: Style::Batch,
            new: durations::BATCH_ACCOUNT,
            old: durations::BATCH_ACCOUNT,
            state: "Creating",
            shows: false,
        },
        delete: Course::Long {
            style: Style::Batch,
            new: durations::BATCH_ACCOUNT,
            old: durations::BATCH_ACCOUNT,
            state: "Deleting",
            shows: false,
        },
        etag: ETag::Strong,
        ..PLAIN
    },
    Kind {
        name: "Microsoft.Batch/batchAccounts/pools",
        build: pool::build,
        show: pool::show,
        act: pool::act,
        put: Course::AtOnce { new: 200, old: 200 },
        delete: Course::Long {
            style: Style::Batch,
            new: durations::BATCH_POOL,
            old: durations::BATCH_POOL,
            state: "Deleting",
            shows: false,
        },
        etag: ETag::Weak,
        ..PLAIN
    },
];

/// The row of a type.
pub(super) fn find(name: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|kind| kind.name.eq_ignore_ascii_case(name))
}
