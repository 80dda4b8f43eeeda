//! The user's cache of the catalogue: where it lies, how it is read, and how it is replaced.
//!
//! A folder holds a generation of tables, which is never changed, and the file `current` that names
//! it. A refresh fills a folder beside it and names that one at last, so that a run that breaks off
//! leaves what was there; the next one on the same day goes on with what was read.

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use azure::Cloud;
use model::{
    catalog::{Catalog, INDEX, index_of},
    diag::Code,
    digest,
};

use crate::{app::App, files, stop::Stop, world};

/// The table of sources.
pub(crate) const SOURCES: &str = "sources.csv";
/// The file that names the generation.
const CURRENT: &str = "current";
/// The folder that a refresh fills.
const UNFINISHED: &str = "unfinished";
/// The file that says of which day that folder is.
const DAY: &str = "day";

/// The cache of one world.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Whether it is of the public cloud, whose prices the embedded tables have.
    is_public: bool,
}

impl Cache {
    /// The cache of the world that the options name; `None` without a home. What a sandbox or
    /// another endpoint says stays apart from what Azure says.
    pub(crate) fn of(app: &App) -> Option<Self> {
        let is_public = matches!(world::cloud(app), Cloud::Public);
        if let Some(sandbox) = &app.global.sandbox {
            let folder = sandbox.join("catalog");
            return Some(Self { folder, is_public });
        }
        let set = |name: &str| {
            let value = app.environment.get(name)?;
            (!value.is_empty()).then(|| PathBuf::from(value))
        };
        let home = || Some(set("HOME")?.join(".cache"));
        let caches = set("XDG_CACHE_HOME").or_else(home)?;
        let world = match &app.global.endpoint {
            Some(endpoint) => {
                let plain = |letter: char| {
                    if letter.is_ascii_alphanumeric() {
                        letter
                    } else {
                        '-'
                    }
                };
                endpoint.chars().map(plain).collect()
            }
            None => world::cloud(app).name().to_owned(),
        };
        let folder = caches.join("tensorform").join("catalog").join(world);
        Some(Self { folder, is_public })
    }

    /// Where it lies.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The catalogue with the cache over it; `None` where there is no cache.
    pub(crate) fn open(&self) -> Result<Option<Catalog>, String> {
        let unusable = |reason: String| {
            let folder = self.folder.display();
            format!("the catalogue's cache `{folder}` is not used: {reason}")
        };
        let Some(generation) = self
            .generation()
            .map_err(|error| unusable(error.to_string()))?
        else {
            return Ok(None);
        };
        let index = read(&generation.join(INDEX)).map_err(unusable)?;
        let tables = generation.clone();
        let table = move |name: &str| read(&tables.join(name));
        let read = Arc::new(table);
        let catalog = if self.is_public {
            Catalog::with_cache(&index, read)
        } else {
            Catalog::unpriced_with_cache(&index, read)
        };
        let catalog = catalog.map_err(unusable)?;
        Ok(Some(catalog))
    }

    /// The folder of the tables that count.
    fn generation(&self) -> io::Result<Option<PathBuf>> {
        let name = match fs::read_to_string(self.folder.join(CURRENT)) {
            Ok(name) => name,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let name = name.trim();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_plain) {
            let message = format!("`{CURRENT}` names no generation");
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        Ok(Some(self.folder.join(name)))
    }

    /// The tables that count, by name, as far as they are as they were written; none without a
    /// cache.
    fn tables(&self) -> BTreeMap<String, String> {
        let Ok(Some(generation)) = self.generation() else {
            return BTreeMap::new();
        };
        let text = |(digest, name): (String, String)| {
            let text = read(&generation.join(&name)).ok()?;
            // A damaged table must not come back under a new digest.
            let fits = digest::of_text(&text) == format!("sha256:{digest}");
            fits.then_some((name, text))
        };
        self.index().into_iter().filter_map(text).collect()
    }

    /// Each table of the cache with the newest day of its sources; a table that cannot be read
    /// has none.
    pub(crate) fn days(&self) -> Vec<(String, Option<String>)> {
        let tables = self.tables();
        let sources = tables.get(SOURCES).map(String::as_str).unwrap_or_default();
        let days: Vec<(&str, &str)> = sources.lines().skip(1).filter_map(code_and_day).collect();
        let newest = |text: &String| {
            let used = days.iter().filter(|(code, _)| uses(text, code));
            used.map(|(_, day)| (*day).to_owned()).max()
        };
        let names = self.index().into_iter().map(|(_, name)| name);
        names
            .filter(|name| name != SOURCES)
            .map(|name| {
                let day = tables.get(&name).and_then(newest);
                (name, day)
            })
            .collect()
    }

    /// Digests and names of the tables, as the index has them.
    fn index(&self) -> Vec<(String, String)> {
        let generation = self.generation().ok().flatten();
        let index = generation.and_then(|folder| read(&folder.join(INDEX)).ok());
        let index = index.unwrap_or_default();
        let lines = index.lines().filter_map(|line| line.split_once("  "));
        lines
            .map(|(digest, name)| (digest.to_owned(), name.to_owned()))
            .collect()
    }
}

/// The code and the day of a line of sources.
fn code_and_day(line: &str) -> Option<(&str, &str)> {
    let code = line.split(',').next()?;
    let day = line.rsplit(',').nth(1)?;
    Some((code, day))
}

/// Whether a table has rows of a source.
fn uses(table: &str, code: &str) -> bool {
    table.contains(&format!(",{code},")) || table.contains(&format!(",{code}\n"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path)
        .map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
}

/// A generation that is being filled.
#[derive(Debug)]
pub(crate) struct Unfinished {
    cache: Cache,
    folder: PathBuf,
    /// Held until the refresh ends, however it ends.
    _lock: File,
}

impl Unfinished {
    /// Begins a generation, or goes on with one of the same day.
    ///
    /// # Errors
    /// Another refresh is under way, or the folder cannot be written.
    pub(crate) fn begin(cache: Cache, day: &str) -> Result<Self, Stop> {
        let folder = cache.folder.join(UNFINISHED);
        let failed = |error: &io::Error| files::unwritable(&cache.folder, error);
        fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
        let lock = File::create(cache.folder.join("lock")).map_err(|error| failed(&error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another refresh writes `{}`", cache.folder.display());
                return Err(
                    Stop::because(Code::FileUnusable, message).help("wait until it has ended")
                );
            }
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
        let is_of_today = fs::read_to_string(folder.join(DAY)).is_ok_and(|found| found == day);
        if !is_of_today {
            fs::remove_dir_all(&folder)
                .and_then(|()| fs::create_dir_all(&folder))
                .and_then(|()| files::write(&folder.join(DAY), day))
                .map_err(|error| failed(&error))?;
        }
        Ok(Self {
            cache,
            folder,
            _lock: lock,
        })
    }

    /// The text of a table that was written already.
    pub(crate) fn table(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Writes a table, all of it or nothing.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Stop> {
        let path = self.folder.join(name);
        let written = match path.parent() {
            Some(parent) => fs::create_dir_all(parent),
            None => Ok(()),
        };
        written
            .and_then(|()| files::write(&path, text))
            .map_err(|error| files::unwritable(&path, &error))
    }

    /// Names the tables in `read` and those of the cache beside them as what counts from now on.
    /// `sources` are the lines of sources that were read.
    ///
    /// # Errors
    /// They cannot be written; what counted before still does.
    pub(crate) fn finish(
        self,
        name: &str,
        read: BTreeMap<String, String>,
        sources: &[String],
    ) -> Result<(), Stop> {
        let mut tables = self.cache.tables();
        let before = tables.remove(SOURCES).unwrap_or_default();
        tables.extend(read);
        let mut lines: Vec<&str> = before.lines().skip(1).collect();
        lines.extend(sources.iter().map(String::as_str));
        lines.sort_unstable();
        lines.dedup();
        let is_used = |line: &&str| {
            let code = line.split(',').next().unwrap_or_default();
            tables.values().any(|table| uses(table, code))
        };
        let mut text = "code,repository,commit,path,as_of,licence\n".to_owned();
        for line in lines.into_iter().filter(is_used) {
            text.push_str(line);
            text.push('\n');
        }
        tables.insert(SOURCES.to_owned(), text);
        for (name, text) in &tables {
            self.write(name, text)?;
        }
        let texts = tables
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()));
        self.write(INDEX, &index_of(texts))?;
        self.switch(name)
            .map_err(|error| files::unwritable(&self.cache.folder, &error))
    }

    fn switch(&self, name: &str) -> io::Result<()> {
        let (folder, old) = (&self.cache.folder, self.cache.generation().ok().flatten());
        // Two refreshes may end in the same second.
        let mut name = name.to_owned();
        while folder.join(&name).exists() {
            name.push('b');
        }
        fs::remove_file(self.folder.join(DAY))?;
        fs::rename(&self.folder, folder.join(&name))?;
        files::write(&folder.join(CURRENT), &name)?;
        if let Some(old) = old {
            // A run that reads it now falls back to embedded rows, and says so.
            let _ = fs::remove_dir_all(old);
        }
        Ok(())
    }
}
