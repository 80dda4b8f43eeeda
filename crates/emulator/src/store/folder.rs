//! The folder of a world: one process serves it, the others connect.
//!
//! `lock` is held with a lock of the operating system, which ends with the process however the
//! process ends. `endpoint.json` says where the holder listens.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::journal::{LOG, SNAPSHOT};

/// Why a world folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file or folder cannot be read or written.
    #[error("cannot {act} `{}`", path.display())]
    Io {
        /// What was attempted.
        act: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file holds something that this program did not write.
    #[error("`{}` is damaged in line {line}: {what}", file.display())]
    Damaged {
        /// The file, which was left as it is.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The world was written by a newer program.
    #[error("`{}` has format {found}, which this version does not read", file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The folder has no world, and files of somebody else.
    #[error("`{}` holds no sandbox but other files, such as `{found}`", folder.display())]
    NoWorld {
        /// The folder, in which nothing was written.
        folder: PathBuf,
        /// The first of the files, by name.
        found: String,
    },
    /// Another process has the folder and does not say where it listens.
    #[error("`{}` is in use by another process that does not listen", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
}

impl OpenError {
    pub(crate) fn io(act: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            act,
            path: path.to_owned(),
            source,
        }
    }
}

const LOCK: &str = "lock";
const ENDPOINT: &str = "endpoint.json";

/// How often, and after what pause, a second process looks for the endpoint of the first.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// A folder that this process holds.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Held until the folder is dropped, or the process is gone.
    _lock: File,
}

/// A folder as found.
#[derive(Debug)]
pub(crate) enum Found {
    /// This process holds it now.
    Ours(Folder),
    /// Another process serves it here.
    Served(String),
}

impl Folder {
    /// Takes the folder, or finds out where it is served.
    pub(crate) fn find(path: &Path) -> Result<Found, OpenError> {
        std::fs::create_dir_all(path).map_err(|source| OpenError::io("create", path, source))?;
        check_owner(path)?;
        let lock_path = path.join(LOCK);
        let lock = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(|source| OpenError::io("open", &lock_path, source))?;
        for look in 0..LOOKS {
            match lock.try_lock() {
                Ok(()) => {
                    let folder = Self {
                        path: path.to_owned(),
                        _lock: lock,
                    };
                    folder.withdraw()?;
                    return Ok(Found::Ours(folder));
                }
                Err(TryLockError::Error(source)) => {
                    return Err(OpenError::io("lock", &lock_path, source));
                }
                Err(TryLockError::WouldBlock) => {
                    if let Some(url) = endpoint(&path.join(ENDPOINT)) {
                        return Ok(Found::Served(url));
                    }
                }
            }
            if look + 1 < LOOKS {
                std::thread::sleep(PAUSE);
            }
        }
        Err(OpenError::Busy {
            folder: path.to_owned(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Says where this process listens.
    pub(crate) fn announce(&self, url: &str) -> Result<(), OpenError> {
        let path = self.path.join(ENDPOINT);
        let new = self.path.join("endpoint.json.new");
        let text = json!({"url": url, "process": std::process::id()}).to_string();
        std::fs::write(&new, text)
            .and_then(|()| std::fs::rename(&new, &path))
            .map_err(|source| OpenError::io("write", &path, source))
    }

    /// Says that nobody listens.
    pub(crate) fn withdraw(&self) -> Result<(), OpenError> {
        let path = self.path.join(ENDPOINT);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(OpenError::io("remove", &path, source))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Refuses a folder of somebody else: one without a world that has other files. A world would
/// lie among them, and who deletes it later might delete them too.
fn check_owner(path: &Path) -> Result<(), OpenError> {
    if [SNAPSHOT, LOG].iter().any(|name| path.join(name).exists()) {
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|source| OpenError::io("read", path, source))?;
    let ours = |name: &str| {
        let name = name.strip_suffix(".new").unwrap_or(name);
        [LOCK, ENDPOINT, SNAPSHOT, LOG].contains(&name)
    };
    let names = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    match names.filter(|name| !ours(name)).min() {
        Some(found) => Err(OpenError::NoWorld {
            folder: path.to_owned(),
            found,
        }),
        None => Ok(()),
    }
}

/// The URL in an endpoint file, if somebody listens there.
fn endpoint(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let url = value.get("url")?.as_str()?;
    let address: SocketAddr = url.strip_prefix("http://")?.parse().ok()?;
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    Some(url.to_owned())
}
