//! A world: everything that exists in the sandbox.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use model::ids::ArmId;
use serde_json::Value;

use super::{
    entry::{Entry, Facts, Operation, Resource, State, Subscription},
    folder::{Folder, Found, OpenError},
    history::History,
    index::Index,
    journal::{self, Journal, Record},
};
use crate::{
    clock::{Instant, Speed},
    text::Seeded,
};

/// The subscription of a new world.
pub const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// The tenant of a new world.
pub const TENANT: &str = "22222222-2222-2222-2222-222222222222";

/// Ended operations that are remembered; the oldest are forgotten when a snapshot is written.
const OPERATIONS_KEPT: usize = 5_000;

/// A world, and the folder it is kept in if there is one.
#[derive(Debug)]
pub struct World {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) index: Index,
    undo: Vec<(String, Option<Entry>)>,
    journal: Option<Journal>,
    folder: Option<Folder>,
    /// The last record written.
    record: u64,
    /// Ids made up in the running transaction.
    minted: u64,
    now: Instant,
    /// What running deployments need and the folder must not have, by key.
    secrets: BTreeMap<String, Value>,
    /// What it was, for answers that are behind.
    pub(super) history: History,
}

/// What opening a folder led to.
#[derive(Debug)]
pub enum Opened {
    /// This process serves the world from now on.
    Serve(Box<World>),
    /// Another process serves it at this URL.
    Connect(String),
}

impl World {
    /// A new world that ends with the process, with made-up ids that depend on the seed alone.
    pub fn in_memory(seed: u64) -> Self {
        let mut world = Self {
            entries: BTreeMap::new(),
            index: Index::default(),
            undo: Vec::new(),
            journal: None,
            folder: None,
            record: 0,
            minted: 0,
            now: Instant::default(),
            secrets: BTreeMap::new(),
            history: History::default(),
        };
        world.found(seed);
        world.undo.clear();
        world
    }

    /// Opens the world kept in a folder, or makes one there; a second process is told where to connect.
    pub fn open(folder: &Path) -> Result<Opened, OpenError> {
        let folder = match Folder::find(folder)? {
            Found::Served(url) => return Ok(Opened::Connect(url)),
            Found::Ours(folder) => folder,
        };
        let contents = journal::load(folder.path())?;
        let journal = Journal::open(folder.path(), contents.log_length)?;
        let mut world = Self::in_memory(0);
        world.restore(contents);
        world.journal = Some(journal);
        if world.record == 0 {
            let (seed, _) = uuid::Uuid::new_v4().as_u64_pair();
            world
                .transact(Instant::default(), |world| -> Result<(), io::Error> {
                    world.found(seed);
                    Ok(())
                })
                .and_then(|done| done)
                .map_err(|source| OpenError::io("write", folder.path(), source))?;
        }
        world.folder = Some(folder);
        Ok(Opened::Serve(Box::new(world)))
    }

    fn restore(&mut self, contents: journal::Contents) {
        if contents.record == 0 {
            return;
        }
        self.entries.clear();
        self.index = Index::default();
        for entry in contents.snapshot {
            self.put(entry);
        }
        for record in contents.records {
            for key in record.removed {
                self.remove(&key);
            }
            for entry in record.put {
                self.put(entry);
            }
        }
        self.record = contents.record;
        self.undo.clear();
    }

    /// Lays the first entries of a world.
    fn found(&mut self, seed: u64) {
        self.put(Entry::Facts(Facts {
            seed,
            tenant: TENANT.to_owned(),
            speed: Speed::REAL,
        }));
        self.put(Entry::Subscription(Subscription {
            id: SUBSCRIPTION.to_owned(),
            name: "Sandbox".to_owned(),
        }));
    }

    /// Makes a subscription exist, so that a spec that names one can be rehearsed.
    ///
    /// # Errors
    /// The world folder cannot be written.
    pub fn add_subscription(&mut self, id: &str) -> io::Result<()> {
        if self.subscription(id).is_some() {
            return Ok(());
        }
        let entry = Subscription {
            id: id.to_owned(),
            name: "Sandbox".to_owned(),
        };
        self.transact(self.now, |world| -> io::Result<()> {
            world.put(Entry::Subscription(entry));
            Ok(())
        })?
    }

    /// Gives operations that were running under another speed the rest of their time at this one.
    pub(crate) fn adopt_speed(&mut self, now: Instant, speed: Speed) -> io::Result<()> {
        let Facts {
            seed,
            tenant,
            speed: old,
        } = self.facts();
        if old == speed {
            return Ok(());
        }
        self.transact(now, |world| -> io::Result<()> {
            let running: Vec<String> = world.index.running().map(str::to_owned).collect();
            for id in running {
                if let Some(mut operation) = world.operation(&id).cloned()
                    && operation.ends > now
                {
                    let left = old.stretch(operation.ends.since(now));
                    operation.ends = now.plus(speed.shrink(left));
                    world.put(Entry::Operation(Box::new(operation)));
                }
            }
            world.put(Entry::Facts(Facts {
                seed,
                tenant,
                speed,
            }));
            Ok(())
        })?
    }

    /// Runs one request: all of its changes are kept, in one record, or none of them.
    ///
    /// The outer error means that the world could not be written; nothing has changed then.
    pub(crate) fn transact<T, E>(
        &mut self,
        now: Instant,
        act: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> io::Result<Result<T, E>> {
        self.now = now;
        self.minted = 0;
        self.undo.clear();
        let outcome = act(self);
        if outcome.is_err() {
            self.roll_back();
            return Ok(outcome);
        }
        if let Err(error) = self.commit() {
            self.roll_back();
            return Err(error);
        }
        let undo = std::mem::take(&mut self.undo);
        if !undo.is_empty() {
            let oldest = self.horizon();
            self.history.add(self.record, (now, oldest), undo);
        }
        Ok(outcome)
    }

    fn commit(&mut self) -> io::Result<()> {
        if self.undo.is_empty() {
            return Ok(());
        }
        let keys: BTreeSet<&String> = self.undo.iter().map(|(key, _)| key).collect();
        let mut record = Record {
            number: self.record + 1,
            put: Vec::new(),
            removed: Vec::new(),
        };
        if let Some(journal) = &mut self.journal {
            for key in keys {
                match self.entries.get(key) {
                    Some(entry) => record.put.push(entry.clone()),
                    None => record.removed.push(key.clone()),
                }
            }
            journal.append(&record)?;
        }
        self.record = record.number;
        Ok(())
    }

    /// Undoes what a transaction did that has not come to its end.
    pub(crate) fn roll_back(&mut self) {
        self.roll_back_to(0);
    }

    /// Undoes what was done since so many changes had been made.
    fn roll_back_to(&mut self, mark: usize) {
        while self.undo.len() > mark
            && let Some((key, old)) = self.undo.pop()
        {
            let new = self.entries.remove(&key);
            self.index.change(new.as_ref(), old.as_ref());
            if let Some(entry) = old {
                self.entries.insert(key, entry);
            }
        }
    }

    /// Does a part of a transaction: all of its changes are kept, or none where it fails.
    pub(crate) fn attempt<T, E>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let mark = self.undo.len();
        let outcome = act(self);
        if outcome.is_err() {
            self.roll_back_to(mark);
        }
        outcome
    }

    /// Does something within a transaction to see what comes of it, and undoes it.
    pub(crate) fn rehearse<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.undo.len();
        let outcome = act(self);
        self.roll_back_to(mark);
        outcome
    }

    /// How much was changed so far in this transaction.
    pub(crate) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// What stood under the keys that were changed since so many changes had been made.
    pub(crate) fn before(&self, mark: usize) -> BTreeMap<&str, Option<&Entry>> {
        let mut before = BTreeMap::new();
        for (key, old) in self.undo.iter().skip(mark) {
            before.entry(key.as_str()).or_insert(old.as_ref());
        }
        before
    }

    /// The operations that began or changed since so many changes had been made.
    pub(crate) fn begun(&self, mark: usize) -> Vec<&Operation> {
        let mut keys: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        for (key, _) in self.undo.iter().skip(mark) {
            if key.starts_with("operation ") && seen.insert(key) {
                keys.push(key);
            }
        }
        keys.into_iter()
            .filter_map(|key| self.entries.get(key)?.as_operation())
            .collect()
    }

    /// Keeps a value in memory alone: it ends with the process.
    pub(crate) fn keep_secret(&mut self, key: String, value: Value) {
        self.secrets.insert(key, value);
    }

    /// A value that is kept in memory alone.
    pub(crate) fn secret(&self, key: &str) -> Option<&Value> {
        self.secrets.get(key)
    }

    /// Forgets the values whose keys start with this text.
    pub(crate) fn forget_secrets(&mut self, start: &str) {
        self.secrets.retain(|key, _| !key.starts_with(start));
    }

    /// Writes a snapshot if the log has grown long, or in any case.
    pub(crate) fn compact(&mut self, always: bool) -> io::Result<()> {
        let due = self
            .journal
            .as_ref()
            .is_some_and(|journal| journal.is_long() || (always && journal.length() > 0));
        if !due {
            return Ok(());
        }
        self.forget_old();
        self.undo.clear();
        if let Some(journal) = &mut self.journal {
            journal.compact(self.record, self.entries.values())?;
        }
        Ok(())
    }

    fn forget_old(&mut self) {
        let now = self.now;
        let mut ended: Vec<(Instant, String)> = Vec::new();
        let mut stale: Vec<String> = Vec::new();
        for (key, entry) in &self.entries {
            if let Some(operation) = entry.as_operation()
                && operation.state != State::Running
            {
                ended.push((operation.ends, key.clone()));
            }
            if entry.as_tombstone().is_some_and(|grave| grave.until <= now) {
                stale.push(key.clone());
            }
        }
        ended.sort();
        let surplus = ended.len().saturating_sub(OPERATIONS_KEPT);
        stale.extend(ended.into_iter().take(surplus).map(|(_, key)| key));
        for key in stale {
            self.remove(&key);
        }
    }

    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// The time of the running transaction.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// Puts an entry in the place of the one with the same key.
    pub(crate) fn put(&mut self, entry: Entry) {
        let key = entry.key();
        self.index.change(self.entries.get(&key), Some(&entry));
        let old = self.entries.insert(key.clone(), entry);
        self.undo.push((key, old));
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, key: &str) {
        if let Some(old) = self.entries.remove(key) {
            self.index.change(Some(&old), None);
            self.undo.push((key.to_owned(), Some(old)));
        }
    }

    /// A GUID that this world never gave out before.
    pub(crate) fn mint(&mut self) -> String {
        self.stream().guid()
    }

    /// A fresh stream of made-up values.
    pub(crate) fn stream(&mut self) -> Seeded {
        self.minted += 1;
        Seeded::new(&[self.facts().seed, self.record, self.minted])
    }

    pub(crate) fn facts(&self) -> Facts {
        self.entries
            .get("facts")
            .and_then(Entry::as_facts)
            .cloned()
            .unwrap_or_else(|| Facts {
                seed: 0,
                tenant: TENANT.to_owned(),
                speed: Speed::REAL,
            })
    }

    /// The number for the next operation.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.minted += 1;
        self.record
            .saturating_mul(1_000_000)
            .saturating_add(self.minted)
    }

    /// Puts a resource back after a change.
    pub(crate) fn put_resource(&mut self, resource: Resource) {
        self.put(Entry::Resource(Box::new(resource)));
    }

    /// Changes a resource in place, if it is there.
    pub(crate) fn change(&mut self, id: &ArmId, change: impl FnOnce(&mut Resource)) {
        if let Some(mut resource) = self.resource(id).cloned() {
            change(&mut resource);
            self.put_resource(resource);
        }
    }

    /// All entries by key.
    #[cfg(test)]
    pub(crate) fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    /// Look-ups derived afresh from the entries.
    #[cfg(test)]
    pub(crate) fn index_and_afresh(&self) -> (&Index, Index) {
        let mut afresh = Index::default();
        for entry in self.entries.values() {
            afresh.change(None, Some(entry));
        }
        (&self.index, afresh)
    }

    /// Writes to another log from now on.
    #[cfg(test)]
    pub(crate) fn set_journal(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }
}
