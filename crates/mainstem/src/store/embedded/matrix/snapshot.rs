//! A commit and the files it counts, read as memory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mainstem_kernels::Mapped;

use super::super::allowed::Scope;
use super::REBUILD;
use super::code::{self, Widener};
use super::columns::{FACTOR, ROW, TOMBSTONE, folder};
use super::commit::{self, Commit, Records};
use super::sample::Sample;
use crate::Error;

/// For how many scopes samples are kept.
const SAMPLES: usize = 16;

/// A commit with its files. It never changes.
#[derive(Debug)]
pub(super) struct Snapshot {
    folder: PathBuf,
    commit: Commit,
    /// What the next commit's counter is above. It is such that a commit that cannot be read is the one that is overwritten.
    counter: u64,
    /// Whether this is the newest commit that there ever was, as far as can be seen.
    newest: bool,
    rows: Column,
    codes: Column,
    exact: Column,
    /// A bit per row; no words behind the last dead row.
    dead: Vec<u64>,
    signs: Option<Signs>,
    /// By the sources that may be seen, made when they are first asked for.
    samples: Mutex<Vec<OfScope>>,
    /// Whether all of it was searched.
    searched: AtomicBool,
}

/// The sources of a scope, and the sample of their rows.
type OfScope = (Option<Vec<u32>>, Arc<Sample>);

/// A file, of which the first `len` bytes count.
#[derive(Clone, Debug)]
struct Column {
    map: Arc<Mapped>,
    len: usize,
}

#[derive(Debug)]
struct Signs {
    bits: Column,
    factors: Column,
    centre: Column,
}

impl Snapshot {
    /// The latest commit in a folder; `before` is one that was seen earlier, whose maps are used again where they serve.
    ///
    /// Another process may replace the generation between the reading of the record and the opening of its files; then there is a new
    /// record to read.
    pub(super) fn latest(dir: &Path, before: Option<&Arc<Self>>) -> Result<Arc<Self>, Error> {
        let mut records = commit::read(dir)?;
        loop {
            if let (Some(before), Some(newest)) = (before, records.commits.first())
                && before.commit == *newest
            {
                return Ok(Arc::clone(before));
            }
            match Self::readable(dir, &records, before.map(AsRef::as_ref)) {
                Ok(snapshot) => return Ok(Arc::new(snapshot)),
                Err(error) => {
                    let now = commit::read(dir)?;
                    if now == records {
                        return Err(error);
                    }
                    records = now;
                }
            }
        }
    }

    /// The newest commit whose files are all there; the error is that of the newest.
    fn readable(dir: &Path, records: &Records, before: Option<&Self>) -> Result<Self, Error> {
        let none = [Commit::default()];
        let commits = if records.commits.is_empty() { &none[..] } else { &records.commits };
        let mut failed = None;
        for (place, commit) in commits.iter().enumerate() {
            let opened = Self::open(dir, *commit, before);
            match opened.and_then(|snapshot| snapshot.checked(before)) {
                Ok(mut snapshot) => {
                    snapshot.newest = place == 0 && !records.torn;
                    snapshot.counter = commits[0].counter + u64::from(place > 0);
                    return Ok(snapshot);
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| Error::Internal("a matrix without a commit was opened".into())))
    }

    /// A commit with its files.
    pub(super) fn open(dir: &Path, commit: Commit, before: Option<&Self>) -> Result<Self, Error> {
        let folder = folder(dir, commit.generation);
        let before = before.filter(|before| before.commit.generation == commit.generation);
        let (rows, dim) = (commit.rows as usize, commit.dim as usize);
        let column = |name: &str, width: usize, known: Option<&Column>| {
            Column::open(&folder.join(name), rows * width, known)
        };
        let known = before.and_then(|before| before.signs.as_ref());
        let signs = if commit.signs {
            Some(Signs {
                bits: column("signs", dim.div_ceil(8), known.map(|signs| &signs.bits))?,
                factors: column("factors", FACTOR, known.map(|signs| &signs.factors))?,
                centre: Column::open(&folder.join("centre"), dim * 4, known.map(|signs| &signs.centre))?,
            })
        } else {
            None
        };
        let exact = column("exact", 2 * dim, before.map(|before| &before.exact))?;
        exact.map.expect_random();
        Ok(Self {
            rows: column("rows", ROW, before.map(|before| &before.rows))?,
            codes: column("codes", dim, before.map(|before| &before.codes))?,
            exact,
            dead: read_dead(&folder.join("dead"), &commit)?,
            signs,
            samples: Mutex::default(),
            searched: AtomicBool::default(),
            folder,
            newest: true,
            counter: commit.counter,
            commit,
        })
    }

    /// The same, if its rows may be what was written. Those of a view before were looked at. A writer whose rows are out of order opens
    /// them without, to put them in order.
    fn checked(self, before: Option<&Self>) -> Result<Self, Error> {
        let before = before.filter(|before| before.commit.generation == self.commit.generation);
        let checked = before.map_or(0, |before| before.rows().min(self.rows()));
        check_heads(self.heads(), checked, &self.folder)?;
        Ok(self)
    }

    /// The commit.
    pub(super) fn commit(&self) -> &Commit {
        &self.commit
    }

    /// What the next commit's counter is above.
    pub(super) fn counter(&self) -> u64 {
        self.counter
    }

    /// Whether this is the newest commit that there ever was, as far as can be seen.
    pub(super) fn is_newest(&self) -> bool {
        self.newest
    }

    /// How many rows there are, dead ones included.
    pub(super) fn rows(&self) -> usize {
        self.commit.rows as usize
    }

    /// Components per vector.
    pub(super) fn dim(&self) -> usize {
        self.commit.dim as usize
    }

    /// All rows: id, source and scale.
    pub(super) fn heads(&self) -> &[[u8; ROW]] {
        self.rows.bytes().as_chunks().0
    }

    /// All codes.
    pub(super) fn codes(&self) -> &[i8] {
        self.codes.map.signed_prefix(self.codes.len).unwrap_or_default()
    }

    /// All signs and their factors, if there are any.
    pub(super) fn signs(&self) -> Option<(&[u8], &[[u8; FACTOR]])> {
        let signs = self.signs.as_ref()?;
        Some((signs.bits.bytes(), signs.factors.bytes().as_chunks().0))
    }

    /// What the signs are relative to, if there are any.
    pub(super) fn centre(&self) -> Option<Vec<f32>> {
        let (bytes, _) = self.signs.as_ref()?.centre.bytes().as_chunks();
        Some(bytes.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Whether all of it was searched, and so had to come into memory.
    pub(super) fn was_searched(&self) -> bool {
        self.searched.load(Ordering::Relaxed)
    }

    /// Remembers that all of it was searched.
    pub(super) fn set_searched(&self) {
        self.searched.store(true, Ordering::Relaxed);
    }

    /// Some rows of every source that may be seen.
    pub(super) fn sample(&self, scope: &Scope) -> Arc<Sample> {
        if let Some(readable) = &scope.readable {
            return readable.sample(self.commit.sequence, || Sample::new(self, scope));
        }
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sample)) = samples.iter().find(|(sources, _)| *sources == scope.sources) {
            return Arc::clone(sample);
        }
        let sample = Arc::new(Sample::new(self, scope));
        if samples.len() >= SAMPLES {
            samples.remove(0);
        }
        samples.push((scope.sources.clone(), Arc::clone(&sample)));
        sample
    }

    /// Whether a row is what a vector of unit length makes it.
    pub(super) fn is_row_of(&self, row: u32, source: u32, vector: &[f32]) -> bool {
        let (mut codes, mut exact) = (Vec::new(), Vec::new());
        let scale = code::quantise(vector, &mut codes);
        code::halve(vector, &mut exact);
        let (head, width) = (self.row(row), self.dim());
        vector.len() == width
            && (source_of(head), weight_of(head).to_bits()) == (source, scale.to_bits())
            && self.codes_of(row).iter().map(|code| code.cast_unsigned()).eq(codes)
            && self.exact_of(row) == exact
            && self.has_signs_of(row, source, vector)
    }

    /// Whether a row has the signs of a vector. Those of rows that were there before the signs were made of what `exact` holds.
    fn has_signs_of(&self, row: u32, source: u32, vector: &[f32]) -> bool {
        let (Some((bits, factors)), Some(centre)) = (self.signs(), self.centre()) else { return true };
        let width = self.dim().div_ceil(8);
        let factor = &factors[row as usize];
        let is_it = |vector: &[f32]| {
            let mut expected = Vec::new();
            let weight = code::signs(vector, &centre, &mut expected);
            bits[row as usize * width..][..width] == expected
                && (source_of(factor), weight_of(factor).to_bits()) == (source, weight.to_bits())
        };
        is_it(vector) || is_it(Widener::default().widen(self.exact_of(row)))
    }

    /// That the files hold what nobody wrote.
    pub(super) fn not_what_was_written(&self) -> Error {
        not_what_was_written(&self.folder)
    }

    /// A row as it is written.
    pub(super) fn row(&self, row: u32) -> &[u8; ROW] {
        &self.heads()[row as usize]
    }

    /// The codes of a row.
    pub(super) fn codes_of(&self, row: u32) -> &[i8] {
        &self.codes()[row as usize * self.dim()..][..self.dim()]
    }

    /// The f16 vector of a row.
    pub(super) fn exact_of(&self, row: u32) -> &[u8] {
        let width = 2 * self.dim();
        &self.exact.bytes()[row as usize * width..][..width]
    }

    /// The chunk of a row.
    pub(super) fn id(&self, row: u32) -> u64 {
        id_of(self.row(row))
    }

    /// Whether the row was deleted.
    pub(super) fn is_dead(&self, row: u32) -> bool {
        self.dead.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The row of a chunk, if it is there and alive.
    pub(super) fn find(&self, id: u64) -> Option<u32> {
        let heads = self.heads();
        // Ids rise by at least one a row, so the row is no further than this; and there it is, if none is missing before.
        let furthest = usize::try_from(id.checked_sub(id_of(heads.first()?))?).ok()?;
        let there = heads.get(furthest).is_some_and(|head| id_of(head) == id);
        let halved = || heads[..heads.len().min(furthest)].binary_search_by_key(&id, id_of).ok();
        let row = if there { furthest } else { halved()? } as u32;
        (!self.is_dead(row)).then_some(row)
    }
}

impl Column {
    fn open(path: &Path, len: usize, known: Option<&Self>) -> Result<Self, Error> {
        if let Some(known) = known.filter(|known| known.map.len() >= len) {
            return Ok(Self { map: Arc::clone(&known.map), len });
        }
        if len == 0 {
            return Self::map(path, len).or_else(|_| Ok(Self { map: Arc::new(Mapped::empty()), len }));
        }
        Self::map(path, len)
    }

    fn map(path: &Path, len: usize) -> Result<Self, Error> {
        let map = File::open(path).and_then(|file| Mapped::open(&file)).map_err(|e| failed(path, e))?;
        if map.len() < len {
            return Err(short(path));
        }
        Ok(Self { map: Arc::new(map), len })
    }

    fn bytes(&self) -> &[u8] {
        self.map.prefix(self.len).unwrap_or_default()
    }
}

/// Refuses rows whose ids do not rise or whose scales are no scales: chunks would not be found by their vectors, and nobody would be
/// told. So many rows were looked at before; a million take some milliseconds.
fn check_heads(heads: &[[u8; ROW]], checked: usize, folder: &Path) -> Result<(), Error> {
    let rising = heads[checked.saturating_sub(1)..].is_sorted_by(|a, b| id_of(a) < id_of(b));
    let scale = |head: &[u8; ROW]| weight_of(head).is_finite() && weight_of(head) >= 0.0;
    if rising && heads[checked..].iter().all(scale) {
        return Ok(());
    }
    Err(not_what_was_written(folder))
}

fn not_what_was_written(folder: &Path) -> Error {
    let what = "the vector matrix holds numbers that nobody wrote";
    Error::damaged(what, folder, "build it anew with `mainstem reindex`")
}

/// The chunk of a row.
pub(super) fn id_of(head: &[u8; ROW]) -> u64 {
    u64::from_le_bytes(head.as_chunks().0[0])
}

/// The source of a record, which both kinds of them have before the weight.
pub(super) fn source_of<const N: usize>(record: &[u8; N]) -> u32 {
    record.last_chunk::<8>().map_or(0, |end| u64::from_le_bytes(*end) as u32)
}

/// The weight of a record, which both kinds of them end in: what the products of the row are multiplied with.
pub(super) fn weight_of<const N: usize>(record: &[u8; N]) -> f32 {
    record.last_chunk::<4>().map_or(0.0, |end| f32::from_le_bytes(*end))
}

fn read_dead(path: &Path, commit: &Commit) -> Result<Vec<u64>, Error> {
    let count = commit.dead as usize;
    if count == 0 {
        return Ok(Vec::new());
    }
    let bytes = fs::read(path).map_err(|e| failed(path, e))?;
    let (words, _) = bytes.as_chunks::<TOMBSTONE>();
    let words = words.get(..count).ok_or_else(|| short(path))?;
    let mut dead = vec![0; (commit.rows as usize).div_ceil(64)];
    for word in words {
        let row = u32::from_le_bytes(*word);
        if row >= commit.rows {
            return Err(Error::damaged("the vector matrix has a tombstone without a row", path, REBUILD));
        }
        dead[row as usize / 64] |= 1_u64 << (row % 64);
    }
    Ok(dead)
}

/// A file that cannot be read; one that is missing is damage, since a commit counts on it.
fn failed(path: &Path, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::NotFound {
        return Error::damaged("a file of the vector matrix is missing", path, REBUILD);
    }
    Error::io("cannot read the vector matrix", path, source)
}

fn short(path: &Path) -> Error {
    Error::damaged("a file of the vector matrix is shorter than its commit says", path, REBUILD)
}
