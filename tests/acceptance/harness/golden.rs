//! Files of the repository that tests compare with, or write anew.

use std::{fs, path::Path};

/// Set to write anew what tests compare with.
pub(crate) const UPDATE: &str = "UPDATE_GOLDENS";

/// Whether files are written anew instead of compared.
pub(crate) fn updates() -> bool {
    std::env::var_os(UPDATE).is_some()
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares with a file of the repository, or writes it anew.
pub(crate) fn compare(path: &Path, found: &str) {
    let kept = fs::read_to_string(path).unwrap_or_default();
    if kept == found {
        return;
    }
    if updates() {
        let folder = path
            .parent()
            .expect("files of the repository are in a folder");
        fs::create_dir_all(folder).expect("the folder is made");
        fs::write(path, found).expect("the file is written");
        return;
    }
    let difference = similar::TextDiff::from_lines(kept.as_str(), found);
    panic!(
        "{} differs; run the tests with {UPDATE}=1 and look at the difference:\n{}",
        path.strip_prefix(root()).unwrap_or(path).display(),
        difference.unified_diff().context_radius(3)
    );
}
