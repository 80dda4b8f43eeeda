//! Files that people name: texts that are read, with `-` for standard input, and documents
//! that are written as a whole.

use std::{
    fs,
    io::{self, ErrorKind, Read},
    path::Path,
};

use model::diag::Code;

use crate::stop::Stop;

/// What stands for standard input where a file is read.
const STANDARD: &str = "-";

/// Whether a path stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// How a file that is read is called.
pub(crate) fn name(path: &Path) -> String {
    if is_standard(path) {
        "<stdin>".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The most bytes of a file that are read: plans of the largest stacks have some megabytes.
const MOST: u64 = 256 << 20;

/// Everything in a file, or on standard input.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if is_standard(path) {
        return whole(io::stdin().lock(), MOST);
    }
    whole(fs::File::open(path)?, MOST)
}

/// Everything that there is to read, if it is no more than so many bytes: a device may never end.
fn whole(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        return Ok(bytes);
    }
    let message = format!(
        "it has more than {} MiB, and no file that belongs here does",
        most >> 20
    );
    Err(io::Error::new(ErrorKind::FileTooLarge, message))
}

/// The text of a file that is no spec.
///
/// # Errors
/// It cannot be read, or is no text.
pub(crate) fn text(path: &Path) -> Result<String, Stop> {
    let file = name(path);
    let unreadable = |reason: &dyn std::fmt::Display| {
        Stop::because(
            Code::FileUnusable,
            format!("`{file}` cannot be read: {reason}"),
        )
    };
    let bytes = read(path).map_err(|error| unreadable(&error))?;
    String::from_utf8(bytes).map_err(|_| {
        unreadable(&"it is not UTF-8").help("save the file as UTF-8 text, if it is the right one")
    })
}

/// Writes a file, all of it or nothing. What is no file (a device, a pipe) is written to, and
/// what a link leads to is replaced instead of the link.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, text);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut unfinished = target.as_os_str().to_owned();
    unfinished.push(".new");
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, &target));
    if written.is_err() {
        // It may not be there.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// Why a file could not be written, and what to do about it.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Stop {
    let known = [
        (ErrorKind::NotFound, "make the folder first"),
        (ErrorKind::IsADirectory, "name a file, not a folder"),
        (
            ErrorKind::StorageFull,
            "make room on the disk, or name a file elsewhere",
        ),
    ];
    let help = known
        .iter()
        .find(|(kind, _)| *kind == error.kind())
        .map_or("check the permissions", |(_, help)| help);
    let message = format!("`{}` cannot be written: {error}", path.display());
    Stop::because(Code::FileUnusable, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_not_read_to_its_end() {
        assert_eq!(whole(&b"text"[..], 4).expect("four bytes"), b"text");
        let endless = whole(io::repeat(0), 2 << 20).expect_err("no end");
        assert_eq!(endless.kind(), ErrorKind::FileTooLarge);
        assert!(endless.to_string().contains("2 MiB"), "{endless}");
    }
}
