//! The log of a world and its snapshot.
//!
//! Each record is one line: a digest, a blank, a JSON document. A record is one `write`, made
//! before the request is answered; what a killed process wrote is in the page cache and stays.
//! A last line without its end is a record whose request was never answered, and is cut off.
//! Any other line that does not read is damage, and is reported and left alone.

use std::{
    fs::{File, OpenOptions},
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{entry::Entry, folder::OpenError};
use crate::text::fnv;

/// The version of the format that this program writes.
const FORMAT: u32 = 1;

/// The log is folded into a new snapshot when it is longer than this, and than the snapshot.
const LOG_LIMIT: u64 = 16 * 1024 * 1024;

pub(crate) const SNAPSHOT: &str = "world.jsonl";
pub(crate) const LOG: &str = "log.jsonl";

/// The first line of a snapshot.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    /// The last record of the log that the snapshot contains.
    record: u64,
    entries: usize,
}

/// One change of the world.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Counts up by one from record to record.
    #[serde(rename = "record")]
    pub(crate) number: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) put: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) removed: Vec<String>,
}

fn line<T: Serialize>(value: &T) -> io::Result<String> {
    let text = serde_json::to_string(value).map_err(io::Error::other)?;
    Ok(format!("{:016x} {text}\n", fnv(text.as_bytes())))
}

fn read<T: DeserializeOwned>(file: &Path, number: usize, text: &str) -> Result<T, OpenError> {
    let damaged = |what: String| OpenError::Damaged {
        file: file.to_owned(),
        line: number,
        what,
    };
    let (digest, document) = text
        .split_once(' ')
        .ok_or_else(|| damaged("expected a digest, a blank and a document".to_owned()))?;
    if digest != format!("{:016x}", fnv(document.as_bytes())) {
        return Err(damaged(
            "its digest does not fit its document: it was changed or torn".to_owned(),
        ));
    }
    serde_json::from_str(document).map_err(|error| damaged(error.to_string()))
}

/// What a folder holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) record: u64,
    pub(crate) snapshot: Vec<Entry>,
    pub(crate) records: Vec<Record>,
    /// Length of the log without a torn last line.
    pub(crate) log_length: u64,
}

/// Reads a folder; an empty one gives an empty world.
pub(crate) fn load(folder: &Path) -> Result<Contents, OpenError> {
    let mut contents = Contents::default();
    let snapshot = folder.join(SNAPSHOT);
    if let Some(bytes) = bytes_of(&snapshot)? {
        let text = text_of(&snapshot, &bytes)?;
        read_snapshot(&snapshot, text, &mut contents)?;
    }
    let log = folder.join(LOG);
    if let Some(bytes) = bytes_of(&log)? {
        // What stands behind the last whole line was torn, maybe within a letter.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let lines = bytes.get(..=whole.unwrap_or(0)).filter(|_| whole.is_some());
        let text = text_of(&log, lines.unwrap_or_default())?;
        read_log(&log, text, &mut contents)?;
    }
    Ok(contents)
}

fn bytes_of(path: &Path) -> Result<Option<Vec<u8>>, OpenError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(OpenError::io("read", path, source)),
    }
}

fn text_of<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, OpenError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        OpenError::Damaged {
            file: path.to_owned(),
            line: before.split(|byte| *byte == b'\n').count(),
            what: "it is not text".to_owned(),
        }
    })
}

fn read_snapshot(file: &Path, text: &str, contents: &mut Contents) -> Result<(), OpenError> {
    let mut lines = text.split_inclusive('\n').enumerate();
    let damaged = |line: usize, what: &str| OpenError::Damaged {
        file: file.to_owned(),
        line,
        what: what.to_owned(),
    };
    let (_, first) = lines.next().ok_or_else(|| damaged(1, "it is empty"))?;
    let header: Header = read(file, 1, first.trim_end_matches('\n'))?;
    if header.format > FORMAT {
        return Err(OpenError::Format {
            file: file.to_owned(),
            found: header.format,
        });
    }
    for (at, text) in lines {
        contents
            .snapshot
            .push(read(file, at + 1, text.trim_end_matches('\n'))?);
    }
    if contents.snapshot.len() != header.entries || !text.ends_with('\n') {
        return Err(damaged(
            contents.snapshot.len() + 1,
            "lines are missing at its end",
        ));
    }
    contents.record = header.record;
    Ok(())
}

fn read_log(file: &Path, text: &str, contents: &mut Contents) -> Result<(), OpenError> {
    for (at, text) in text.split_inclusive('\n').enumerate() {
        let record: Record = read(file, at + 1, text.trim_end_matches('\n'))?;
        contents.log_length += u64::try_from(text.len()).unwrap_or(u64::MAX);
        if record.number <= contents.record {
            // The process died between writing the snapshot and starting a new log.
            continue;
        }
        if record.number != contents.record + 1 {
            return Err(OpenError::Damaged {
                file: file.to_owned(),
                line: at + 1,
                what: format!(
                    "expected record {}, found record {}: records are missing before it",
                    contents.record + 1,
                    record.number
                ),
            });
        }
        contents.record = record.number;
        contents.records.push(record);
    }
    Ok(())
}

/// The open log of a world.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    file: File,
    length: u64,
    /// Bytes in the snapshot.
    snapshot: u64,
    /// A failed write could not be undone: nothing more may be written.
    broken: bool,
}

impl Journal {
    /// Opens the log for appending, cutting a torn last line off.
    pub(crate) fn open(folder: &Path, length: u64) -> Result<Self, OpenError> {
        let path = folder.join(LOG);
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| OpenError::io("open", &path, source))?;
        file.set_len(length)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|source| OpenError::io("write", &path, source))?;
        let snapshot = std::fs::metadata(folder.join(SNAPSHOT)).map_or(0, |file| file.len());
        Ok(Self {
            folder: folder.to_owned(),
            file,
            length,
            snapshot,
            broken: false,
        })
    }

    /// A log on a full device.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn on_full_device(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            file: OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .expect("Linux has it"),
            length: 0,
            snapshot: 0,
            broken: false,
        }
    }

    /// Bytes in the log.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Whether the log has grown so long that a new snapshot is worth it. In a large world that
    /// takes a longer log, so that snapshots cost no more than what they spare.
    pub(crate) fn is_long(&self) -> bool {
        self.length > LOG_LIMIT.max(self.snapshot)
    }

    /// Appends a record with one write.
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other(
                "an earlier write failed half way; start the sandbox again",
            ));
        }
        let line = line(record)?;
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            let undone = self
                .file
                .set_len(self.length)
                .and_then(|()| self.file.seek(SeekFrom::End(0)));
            self.broken = undone.is_err();
            return Err(error);
        }
        self.length += u64::try_from(line.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Writes a snapshot of all entries beside the old one, puts it in its place, and starts the log anew.
    pub(crate) fn compact<'a>(
        &mut self,
        record: u64,
        entries: impl ExactSizeIterator<Item = &'a Entry>,
    ) -> io::Result<()> {
        let new = self.folder.join("world.jsonl.new");
        let mut text = line(&Header {
            format: FORMAT,
            record,
            entries: entries.len(),
        })?;
        for entry in entries {
            text.push_str(&line(entry)?);
        }
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, self.folder.join(SNAPSHOT))?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.length = 0;
        self.snapshot = u64::try_from(text.len()).unwrap_or(u64::MAX);
        Ok(())
    }
}
