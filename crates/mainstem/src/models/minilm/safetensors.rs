//! Reading tensors from a `safetensors` file: a length, a JSON header, then the numbers.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Error;

/// No header of a real model is longer.
const HEADER_LIMIT: u64 = 16 << 20;
/// How much is read at once.
const BLOCK: usize = 1 << 20;

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

/// An open file of tensors.
pub(crate) struct Tensors {
    path: PathBuf,
    file: File,
    entries: FxHashMap<String, Box<RawValue>>,
    start: u64,
}

impl Tensors {
    /// Opens a file and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let fail = |source| Error::io("cannot read the weights", path, source);
        let mut file = File::open(path).map_err(fail)?;
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(fail)?;
        let length = u64::from_le_bytes(length);
        if length > HEADER_LIMIT {
            return Err(damaged(
                path,
                format!("expected a header of at most {HEADER_LIMIT} bytes, received {length}"),
            ));
        }
        let mut header = vec![0; length as usize];
        file.read_exact(&mut header).map_err(fail)?;
        let entries = serde_json::from_slice(&header)
            .map_err(|error| damaged(path, format!("the header is not well-formed: {error}")))?;
        Ok(Self { path: path.to_owned(), file, entries, start: 8 + length })
    }

    /// The numbers of a tensor, which must be of this shape.
    pub(crate) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let entry = self.entry(name)?;
        let count: usize = shape.iter().product();
        let [from, to] = entry.data_offsets;
        if entry.dtype != "F32" || entry.shape != shape || to.checked_sub(from) != Some(count as u64 * 4) {
            let Entry { dtype, shape: received, .. } = entry;
            let what = format!(
                "expected `{name}` as F32 of shape {shape:?}, received {dtype} of shape {received:?}"
            );
            return Err(damaged(&self.path, what));
        }
        self.numbers(from, count).map_err(|source| Error::io("cannot read the weights", &self.path, source))
    }

    fn entry(&self, name: &str) -> Result<Entry, Error> {
        let raw = self
            .entries
            .get(name)
            .ok_or_else(|| damaged(&self.path, format!("expected a tensor `{name}`")))?;
        serde_json::from_str(raw.get()).map_err(|error| {
            damaged(&self.path, format!("the entry of `{name}` is not well-formed: {error}"))
        })
    }

    fn numbers(&mut self, from: u64, count: usize) -> std::io::Result<Vec<f32>> {
        self.file.seek(SeekFrom::Start(self.start.saturating_add(from)))?;
        let mut numbers = Vec::with_capacity(count);
        let mut block = vec![0; BLOCK.min(count * 4)];
        while numbers.len() < count {
            let length = block.len().min((count - numbers.len()) * 4);
            self.file.read_exact(&mut block[..length])?;
            let (words, _) = block[..length].as_chunks::<4>();
            numbers.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
        }
        Ok(numbers)
    }
}

fn damaged(path: &Path, what: String) -> Error {
    Error::damaged(what, path, "remove the file and run `mainstem model pull`")
}
