//! Commit records: what of the files counts.
//!
//! There are two places for records, written in turn, so that a write that is torn leaves the record before it. The files that a record
//! counts are written before the record is. Nobody waits for the disk here: whoever uses the matrix has to know whether the machine
//! stopped before the system had it all on disk.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use super::REBUILD;
use crate::Error;

/// The newest format that this version knows.
const FORMAT: u32 = 1;
const MAGIC: [u8; 8] = *b"MSMATRIX";
/// Bytes between the two records: a page, so that writing one cannot tear the other.
const STEP: usize = 4096;
const FIELDS: usize = 64;
const CHECK: usize = 32;

/// A commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Commit {
    /// Grows by one with every commit; it decides the place of the record.
    pub(super) counter: u64,
    /// Up to where the truth has been applied.
    pub(super) sequence: u64,
    /// Which folder; 0 before the first vector.
    pub(super) generation: u64,
    /// Rows that count.
    pub(super) rows: u32,
    /// Tombstones that count.
    pub(super) dead: u32,
    /// Components per vector; 0 before the first vector.
    pub(super) dim: u32,
    /// Whether the rows have signs.
    pub(super) signs: bool,
}

/// What the commit file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Records {
    /// The readable commits, newest first.
    pub(super) commits: Vec<Commit>,
    /// Whether something is there that is no commit: one was torn or lost.
    pub(super) torn: bool,
}

/// Reads the commit file; a missing one has no commits.
pub(super) fn read(dir: &Path) -> Result<Records, Error> {
    let path = dir.join("commit");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(Error::io("cannot read the commits of the vector matrix", &path, e)),
    };
    let mut records = Records::default();
    for place in bytes.chunks(STEP).take(2) {
        match decode(place)? {
            Some(commit) => records.commits.push(commit),
            None => records.torn |= place.iter().any(|&byte| byte != 0),
        }
    }
    records.commits.sort_unstable_by_key(|commit| std::cmp::Reverse(commit.counter));
    if records.torn && records.commits.is_empty() {
        return Err(Error::damaged("the commits of the vector matrix cannot be read", &path, REBUILD));
    }
    Ok(records)
}

/// Writes a commit.
pub(super) fn write(dir: &Path, commit: &Commit) -> Result<(), Error> {
    let path = dir.join("commit");
    let write = || -> io::Result<()> {
        let mut file = File::options().create(true).write(true).truncate(false).open(&path)?;
        file.seek(SeekFrom::Start(commit.counter % 2 * STEP as u64))?;
        file.write_all(&encode(commit))
    };
    write().map_err(|e| Error::io("cannot write a commit of the vector matrix", &path, e))
}

fn encode(commit: &Commit) -> Vec<u8> {
    let mut record = Vec::with_capacity(FIELDS + CHECK);
    record.extend(MAGIC);
    record.extend(FORMAT.to_le_bytes());
    record.extend(commit.dim.to_le_bytes());
    for number in [commit.counter, commit.sequence, commit.generation] {
        record.extend(number.to_le_bytes());
    }
    for number in [commit.rows, commit.dead, u32::from(commit.signs)] {
        record.extend(number.to_le_bytes());
    }
    record.resize(FIELDS, 0);
    let check = blake3::hash(&record);
    record.extend(check.as_bytes());
    record
}

fn decode(place: &[u8]) -> Result<Option<Commit>, Error> {
    let Some((fields, check)) =
        place.get(..FIELDS + CHECK).and_then(|record| record.split_at_checked(FIELDS))
    else {
        return Ok(None);
    };
    if !fields.starts_with(&MAGIC) || blake3::hash(fields).as_bytes() != check {
        return Ok(None);
    }
    let (numbers, _) = fields.as_chunks::<4>();
    let word = |place: usize| u32::from_le_bytes(numbers[place]);
    let long = |place: usize| u64::from(word(place)) | u64::from(word(place + 1)) << 32;
    if word(2) > FORMAT {
        return Err(Error::Newer { found: word(2), known: FORMAT });
    }
    Ok(Some(Commit {
        dim: word(3),
        counter: long(4),
        sequence: long(6),
        generation: long(8),
        rows: word(10),
        dead: word(11),
        signs: word(12) != 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: Commit = Commit {
        counter: 7,
        sequence: 1 << 40,
        generation: u64::MAX - 1,
        rows: 3,
        dead: 2,
        dim: 384,
        signs: true,
    };

    #[test]
    fn a_record_reads_as_it_was_written() {
        assert_eq!(decode(&encode(&COMMIT)).unwrap(), Some(COMMIT));
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let record = encode(&COMMIT);
        for bit in 0..8 * record.len() {
            let mut flipped = record.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&flipped).unwrap(), None, "bit {bit}");
        }
        assert_eq!(decode(&record[..record.len() - 1]).unwrap(), None);
    }
}
