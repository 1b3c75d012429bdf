//! The embedded store: one folder, no server.
//!
//! ```text
//! truth.sqlite   documents, chunks, vectors, links: the truth
//! lexical-<n>/   the words, derived
//! matrix-<n>/    the vectors, derived
//! cards.*        what a search reads of each chunk, derived
//! lock           held by the one process that writes
//! unsettled      there while an index may not be on disk yet
//! keys.json      who may ask a server; the store does not look at it
//! ```
//!
//! A write goes into the truth first, and is safe from then on; then both indexes follow. Should an index fail to (a full
//! disk), the write still stands, and no view is given out before the index has caught up: a view either sees every acknowledged write or
//! says why it cannot. On open, and after an error, an index catches up from where it is, or is rebuilt. So is one that turns out to be
//! damaged when it is searched: that search fails, the next one finds everything.
//!
//! One process writes at a time. Any number of others read meanwhile; nobody waits for anybody.

pub(crate) mod allowed;
mod cards;
mod catch_up;
mod check;
mod derived;
mod doctor;
pub(crate) mod lexical;
mod links;
pub(crate) mod matrix;
mod pool;
mod reader;
mod remembered;
mod settling;
mod snapshot;
mod truth;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use mainstem_core::contract::{
    Ability, Applied, Capabilities, Change, Filter, ModelCard, SourceStats, Store, View,
};
use mainstem_core::{Code, Document, Failure};

use crate::Error;
use cards::Cards;
use pool::{Pool, lock};
use remembered::Remembered;
use snapshot::{Indexes, Shared, Snapshot, Suspects};
use truth::read;
use writer::Writer;

pub use doctor::{Finding, Report};
pub use truth::fingerprint::ContentHash;
pub use truth::outline::Outline;
pub use truth::read::KnownDocument;

/// How to open a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Make the store when there is none.
    pub create: bool,
}

/// How many documents of a source that is removed go in one write.
const REMOVED_AT_ONCE: usize = 1000;

/// A store in a folder of this machine.
pub struct EmbeddedStore {
    dir: PathBuf,
    shared: Arc<Shared>,
    gate: Mutex<Gate>,
    /// `None` when the store was opened for reading.
    writer: Option<Mutex<Writer>>,
}

/// What a view is made of at the moment.
enum Gate {
    /// The indexes are level with the truth.
    Open(Indexes),
    /// A write is under way; this is the store as it was before.
    Writing(Indexes, Arc<Snapshot>),
    /// An index could not follow the truth.
    Behind,
}

impl std::fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedStore").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl EmbeddedStore {
    /// Opens a store for reading and writing, and lets its indexes catch up.
    ///
    /// # Errors
    /// When there is no store and `options` do not ask for one, it cannot be read or written, is damaged or of a newer version, or another
    /// process writes to it.
    pub fn open(dir: &Path, options: Options) -> Result<Self, Error> {
        if !truth::file(dir).exists() {
            if !options.create {
                return Err(no_store(dir));
            }
            std::fs::create_dir_all(dir).map_err(|error| Error::io("cannot make the store", dir, error))?;
        }
        let writer = Writer::open(dir)?;
        let store = Self::new(dir, Gate::Behind, Some(Mutex::new(writer)));
        let mut writer = store.writer()?;
        // An index that cannot follow is reported by the first view; the truth is readable meanwhile.
        let _ = store.level(&mut writer);
        drop(writer);
        Ok(store)
    }

    /// Makes a store in a folder, or opens the one that is there.
    ///
    /// # Errors
    /// See [`EmbeddedStore::open`].
    pub fn init(dir: &Path) -> Result<Self, Error> {
        Self::open(dir, Options { create: true })
    }

    /// Opens a store for reading. Another process may write to it meanwhile; every view sees the latest of what it wrote.
    ///
    /// # Errors
    /// When there is no store, or it cannot be read, is damaged or of a newer version.
    pub fn open_read_only(dir: &Path) -> Result<Self, Error> {
        if !truth::file(dir).exists() {
            return Err(no_store(dir));
        }
        let pool = Pool::new(dir);
        let indexes = reader::open(dir, &pool)?;
        Ok(Self::new(dir, Gate::Open(indexes), None))
    }

    fn new(dir: &Path, gate: Gate, writer: Option<Mutex<Writer>>) -> Self {
        let (remembered, suspects) = (Remembered::default(), Suspects::default());
        let cards = Cards::new(dir);
        let shared = Arc::new(Shared { pool: Pool::new(dir), cards, remembered, suspects });
        Self { dir: dir.to_owned(), shared, gate: Mutex::new(gate), writer }
    }

    /// Whether what was written last is in no index yet, and no process is writing: the one that did was stopped, or had no room. Opening
    /// the store for writing lets the indexes catch up. A store that is open for writing itself is never behind: its views wait for them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_behind(&self) -> Result<bool, Error> {
        Ok(self.writer.is_none() && !self.snapshot()?.is_level() && !writer::is_locked(&self.dir))
    }

    /// Whether an index turned out to be damaged while it was searched. A store that is open for writing makes it anew before the next
    /// view; one that is open for reading cannot.
    pub fn is_suspect(&self) -> bool {
        self.shared.suspects.any()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The model of the vectors, once there is one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn model(&self) -> Result<Option<ModelCard>, Error> {
        self.read(|conn| truth::meta(conn).map(|meta| meta.model))
    }

    /// Says which model the vectors are of. Vectors are refused before.
    ///
    /// # Errors
    /// [`Error::Model`] when the store holds vectors of another one, and when the store cannot be written.
    pub fn set_model(&self, card: &ModelCard) -> Result<(), Error> {
        let mut writer = self.writer()?;
        writer.set_model(card)?;
        // A matrix that was emptied for the new model replaces the one in use.
        let _ = self.level(&mut writer);
        Ok(())
    }

    /// Names a source and its kind, such as `slack`.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn set_source(&self, name: &str, kind: &str) -> Result<(), Error> {
        self.writer()?.set_source(name, kind)
    }

    /// Where a source was filled from: folders, files and whatever else [`EmbeddedStore::add_origin`] was told. A source that only older
    /// versions wrote to has none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn origins(&self, source: &str) -> Result<Vec<String>, Error> {
        self.read(|conn| read::origins(conn, source))
    }

    /// Adds to where a source is filled from, if it is new. A source that is not there has no origins.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn add_origin(&self, source: &str, origin: &str) -> Result<(), Error> {
        let mut origins = self.origins(source)?;
        if origins.iter().any(|known| known == origin) {
            return Ok(());
        }
        origins.push(origin.to_owned());
        self.writer()?.set_origins(source, &origins)
    }

    /// Says that everything in a source is from one place.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn set_origin(&self, source: &str, origin: &str) -> Result<(), Error> {
        let origins = [origin.to_owned()];
        if self.origins(source)? == origins {
            return Ok(());
        }
        self.writer()?.set_origins(source, &origins)
    }

    /// What is known about the sources, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sources(&self) -> Result<Vec<SourceStats>, Error> {
        self.read(read::sources)
    }

    /// The documents of a source, by id: what a sync compares with what it finds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn documents_of(&self, source: &str) -> Result<Vec<KnownDocument>, Error> {
        self.read(|conn| read::documents_of(conn, source))
    }

    /// A document with its text, chunks and vectors.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn document(&self, source: &str, id: &str) -> Result<Option<Document>, Error> {
        self.read(|conn| read::whole_document(conn, source, id))
    }

    /// The store as it is now, and which documents and chunks of it pass a filter.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn outlined(&self, filter: &Filter) -> Result<(Arc<dyn View>, Outline), Error> {
        let snapshot = self.snapshot()?;
        let outline = snapshot.outline(filter)?;
        Ok((snapshot, outline))
    }

    /// Builds the indexes anew from the truth. Searches go on with the old ones meanwhile; `progress` gets the steps done and in all.
    ///
    /// # Errors
    /// When the store cannot be written; the old indexes are then still in use.
    pub fn reindex(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), Error> {
        let mut writer = self.writer()?;
        let outcome = writer.reindex(progress);
        let level = self.level(&mut writer);
        outcome.and(level)
    }

    /// Lets the indexes catch up with what was written, if they have not yet.
    ///
    /// # Errors
    /// When they cannot, such as on a full disk; what was written is safe all the same.
    pub fn catch_up(&self) -> Result<(), Error> {
        self.snapshot().map(drop)
    }

    /// Looks for anything that is not as it should be, and changes nothing.
    pub fn doctor(&self) -> Report {
        doctor::examine(&self.shared.pool, self.snapshot())
    }

    /// Looks at the store in a folder as [`EmbeddedStore::doctor`] does, even if an index of it, or the truth, cannot be opened.
    ///
    /// # Errors
    /// When there is no store, or it is of a newer version.
    pub fn examine(dir: &Path) -> Result<Report, Error> {
        match Self::open_read_only(dir) {
            Err(error @ Error::Damaged { .. }) => Ok(doctor::examine(&Pool::new(dir), Err(error))),
            outcome => outcome.map(|store| store.doctor()),
        }
    }

    /// Removes a source with all its documents, and says how many these were; nothing when there is no such source.
    ///
    /// # Errors
    /// When the store cannot be written. What was removed by then stays so.
    pub fn remove_source(&self, name: &str) -> Result<Option<u64>, Error> {
        if !self.sources()?.iter().any(|source| source.name == name) {
            return Ok(None);
        }
        let mut removed = 0;
        for group in self.documents_of(name)?.chunks(REMOVED_AT_ONCE) {
            let gone =
                |known: &KnownDocument| Change::Delete { source: name.to_owned(), id: known.id.clone() };
            removed += self.write(&group.iter().map(gone).collect::<Vec<_>>())?.removed as u64;
        }
        self.writer()?.forget_source(name)?;
        Ok(Some(removed))
    }

    /// Applies changes in order, all or none; see [`Store::apply`].
    ///
    /// # Errors
    /// When the store cannot be written, or a document cannot be stored; then nothing has changed.
    pub fn write(&self, changes: &[Change]) -> Result<Applied, Error> {
        let mut writer = self.writer()?;
        check::changes(changes, writer.meta()?.model.as_ref())?;
        self.begin(&mut writer);
        let outcome = writer.write(changes);
        // An index that cannot follow does not undo the write: it is safe, and the next view waits for the index.
        let _ = self.level(&mut writer);
        writer.checkpoint();
        outcome
    }

    fn read<T>(&self, ask: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        let pool = &self.shared.pool;
        ask(&*pool.now()?).map_err(|error| pool.failure(error))
    }

    fn writer(&self) -> Result<MutexGuard<'_, Writer>, Error> {
        self.writer.as_ref().map(lock).ok_or_else(|| {
            let message = "the store is open for reading, expected one that is open for writing".to_owned();
            check::refusal(message, Code::Usage, "open it with `EmbeddedStore::open`")
        })
    }

    /// Lets views see the store as it is, until the write that now begins is complete.
    fn begin(&self, writer: &mut Writer) {
        if matches!(*lock(&self.gate), Gate::Behind) {
            let _ = self.level(writer);
        }
        let mut gate = lock(&self.gate);
        let before = match &*gate {
            Gate::Open(indexes) | Gate::Writing(indexes, _) => {
                Snapshot::now(indexes, &self.shared).map(|snapshot| (indexes.clone(), snapshot)).ok()
            }
            Gate::Behind => None,
        };
        *gate = before.map_or(Gate::Behind, |(indexes, snapshot)| Gate::Writing(indexes, Arc::new(snapshot)));
    }

    /// Brings the indexes up to the truth, and lets views see it.
    fn level(&self, writer: &mut Writer) -> Result<(), Error> {
        let outcome = writer.follow();
        let (gate, outcome) = match outcome {
            Ok(indexes) => (Gate::Open(indexes), Ok(())),
            Err(error) => (Gate::Behind, Err(error)),
        };
        // The snapshot of before the write is dropped outside of the lock.
        let _before = std::mem::replace(&mut *lock(&self.gate), gate);
        outcome
    }

    fn snapshot(&self) -> Result<Arc<Snapshot>, Error> {
        if self.writer.is_none() {
            return self.snapshot_beside_writer();
        }
        match self.snapshot_of_writer() {
            // An index that turns out to be damaged while it is looked at is made anew.
            Err(Error::Damaged { .. }) if self.shared.suspects.any() => self.snapshot_of_writer(),
            outcome => outcome,
        }
    }

    fn snapshot_of_writer(&self) -> Result<Arc<Snapshot>, Error> {
        if self.shared.suspects.any() {
            let mut writer = self.writer()?;
            writer.distrust(self.shared.suspects.take());
            self.level(&mut writer)?;
        }
        loop {
            match &*lock(&self.gate) {
                Gate::Open(indexes) => return Snapshot::now(indexes, &self.shared).map(Arc::new),
                Gate::Writing(_, before) => return Ok(Arc::clone(before)),
                Gate::Behind => (),
            }
            let mut writer = self.writer()?;
            if matches!(*lock(&self.gate), Gate::Behind) {
                self.level(&mut writer)?;
            }
        }
    }

    /// A view in a process that does not write: the indexes may have been rebuilt by the one that does.
    fn snapshot_beside_writer(&self) -> Result<Arc<Snapshot>, Error> {
        let mut gate = lock(&self.gate);
        let (indexes, snapshot) = match &*gate {
            Gate::Open(indexes) | Gate::Writing(indexes, _) => {
                reader::snapshot(&self.dir, indexes, &self.shared)?
            }
            Gate::Behind => return Err(Error::Internal("a reading process wrote".to_owned())),
        };
        *gate = Gate::Open(indexes);
        Ok(Arc::new(snapshot))
    }
}

fn no_store(dir: &Path) -> Error {
    let message = format!("there is no store in `{}`", dir.display());
    check::refusal(message, Code::Missing, "make one with `mainstem init`, or name the folder of one")
}

fn boxed(error: Error) -> Failure {
    Box::new(error)
}

impl Store for EmbeddedStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities { lexical: Ability::Exact, dense: Ability::Inexact, filters: Ability::Exact }
    }

    fn apply(&self, changes: Vec<Change>) -> Result<Applied, Failure> {
        self.write(&changes).map_err(boxed)
    }

    fn view(&self) -> Result<Arc<dyn View>, Failure> {
        let snapshot = self.snapshot().map_err(boxed)?;
        Ok(snapshot)
    }
}
