//! The files of a generation, to append to.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::code;
use super::commit::Commit;
use super::snapshot::Snapshot;
use super::tail::Tail;
use crate::Error;

/// Bytes of a row in `rows`.
pub(super) const ROW: usize = 16;
/// Bytes of a row in `factors`.
pub(super) const FACTOR: usize = 8;
/// Bytes of a tombstone.
pub(super) const TOMBSTONE: usize = 4;

/// The folder of a generation.
pub(super) fn folder(dir: &Path, generation: u64) -> PathBuf {
    dir.join(format!("g{generation:016x}"))
}

/// A number that no other generation has, not even one of a matrix that was in this folder before.
fn unused_generation() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&since.as_nanos().to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let hash = hasher.finalize();
    let (words, _) = hash.as_bytes().as_chunks::<8>();
    u64::from_le_bytes(words[0]).max(1)
}

/// The files of a generation.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) generation: u64,
    pub(super) dim: usize,
    folder: PathBuf,
    rows: Tail,
    codes: Tail,
    exact: Tail,
    dead: Tail,
    signs: Option<Signs>,
}

#[derive(Debug)]
struct Signs {
    centre: Vec<f32>,
    bits: Tail,
    factors: Tail,
}

impl Columns {
    /// The files of a new generation.
    pub(super) fn create(dir: &Path, dim: usize) -> Result<Self, Error> {
        let commit = Commit { generation: unused_generation(), dim: dim as u32, ..Commit::default() };
        let folder = folder(dir, commit.generation);
        fs::create_dir_all(&folder)
            .map_err(|e| Error::io("cannot create a folder of the vector matrix", &folder, e))?;
        Self::open(dir, &commit, None)
    }

    /// The files of a commit; `centre` is that of its signs, if it has any.
    pub(super) fn open(dir: &Path, commit: &Commit, centre: Option<&[f32]>) -> Result<Self, Error> {
        let (folder, dim, rows) =
            (folder(dir, commit.generation), commit.dim as usize, u64::from(commit.rows));
        let tail = |name: &str, width: usize| Tail::open(&folder.join(name), rows * width as u64);
        let mut columns = Self {
            generation: commit.generation,
            dim,
            rows: tail("rows", ROW)?,
            codes: tail("codes", dim)?,
            exact: tail("exact", 2 * dim)?,
            dead: Tail::open(&folder.join("dead"), u64::from(commit.dead) * TOMBSTONE as u64)?,
            signs: None,
            folder,
        };
        if let Some(centre) = centre {
            columns.open_signs(centre, rows)?;
        }
        Ok(columns)
    }

    fn open_signs(&mut self, centre: &[f32], rows: u64) -> Result<(), Error> {
        let tail = |name: &str, width: usize| Tail::open(&self.folder.join(name), rows * width as u64);
        let (bits, factors) = (tail("signs", self.dim.div_ceil(8))?, tail("factors", FACTOR)?);
        self.signs = Some(Signs { centre: centre.to_vec(), bits, factors });
        Ok(())
    }

    /// From here on, rows get signs. Those that are there already are missing.
    pub(super) fn start_signs(&mut self, centre: &[f32]) -> Result<(), Error> {
        let mut file = Tail::open(&self.folder.join("centre"), 0)?;
        file.append(|bytes| bytes.extend(centre.iter().flat_map(|x| x.to_le_bytes())))?;
        file.flush()?;
        self.open_signs(centre, 0)
    }

    /// Whether rows get signs.
    pub(super) fn has_signs(&self) -> bool {
        self.signs.is_some()
    }

    /// Appends a vector of unit length.
    pub(super) fn push(&mut self, id: u64, source: u32, vector: &[f32]) -> Result<(), Error> {
        let scale = self.codes.append(|bytes| code::quantise(vector, bytes))?;
        self.exact.append(|bytes| code::halve(vector, bytes))?;
        self.push_signs(source, vector)?;
        self.rows.append(|bytes| {
            bytes.extend(id.to_le_bytes());
            bytes.extend(source.to_le_bytes());
            bytes.extend(scale.to_le_bytes());
        })
    }

    /// Appends the signs of a row, where rows get signs.
    pub(super) fn push_signs(&mut self, source: u32, vector: &[f32]) -> Result<(), Error> {
        let Some(signs) = &mut self.signs else { return Ok(()) };
        let weight = signs.bits.append(|bytes| code::signs(vector, &signs.centre, bytes))?;
        signs.factors.append(|bytes| {
            bytes.extend(source.to_le_bytes());
            bytes.extend(weight.to_le_bytes());
        })
    }

    /// Appends a row of another generation as it is, without signs.
    pub(super) fn copy(&mut self, from: &Snapshot, row: u32) -> Result<(), Error> {
        self.rows.append(|bytes| bytes.extend(from.row(row)))?;
        self.codes.append(|bytes| bytes.extend(from.codes_of(row).iter().map(|x| x.cast_unsigned())))?;
        self.exact.append(|bytes| bytes.extend(from.exact_of(row)))
    }

    /// Appends a tombstone.
    pub(super) fn bury(&mut self, row: u32) -> Result<(), Error> {
        self.dead.append(|bytes| bytes.extend(row.to_le_bytes()))
    }

    /// Writes everything that was appended.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        self.tails().into_iter().try_for_each(Tail::flush)
    }

    fn tails(&mut self) -> Vec<&mut Tail> {
        let mut tails = vec![&mut self.rows, &mut self.codes, &mut self.exact, &mut self.dead];
        if let Some(signs) = &mut self.signs {
            tails.extend([&mut signs.bits, &mut signs.factors]);
        }
        tails
    }
}
