//! Keys of a pool that its orchestrator leaves no room for.

use super::Check;
use crate::diag::SpecPath;

/// A key that a pool cannot have: where it stands, whether it is used, what is said of it.
pub(super) type Excluded = (&'static [&'static str], bool, &'static str, &'static str);

/// Refuses those of the keys that are used in a pool.
pub(super) fn refuse(
    check: &mut Check<'_>,
    pool: &str,
    excluded: impl IntoIterator<Item = Excluded>,
) {
    for (keys, is_used, message, help) in excluded {
        let path = SpecPath::pool(pool, keys);
        if is_used && check.may_be_used(&path) {
            let orchestrator = SpecPath::pool(pool, &["orchestrator"]);
            check.conflict(path, orchestrator, message.to_owned(), help);
        }
    }
}
