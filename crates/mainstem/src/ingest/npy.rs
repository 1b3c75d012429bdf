//! Reading `.npy` files: matrices of float16 or float32, rows one at a time.
//!
//! Format: `NumPy` enhancement proposal 1. Accepted are versions 1 to 3, little-endian, C order, two dimensions; everything else is refused
//! with what was expected. The length of the file is checked before the first row is read.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use half::f16;
use mainstem_core::diagnostic::{Code, Place};

use crate::Error;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
const MAX_HEADER: usize = 1 << 16;
/// No model has vectors as long as this; a larger number is a damaged header.
const MAX_DIM: usize = 1 << 16;

/// A matrix of which rows are read in order.
#[derive(Debug)]
pub struct Rows<R = BufReader<File>> {
    reader: R,
    file: String,
    half: bool,
    count: u64,
    dim: usize,
    read: u64,
    buffer: Vec<u8>,
}

impl Rows {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be read, is no matrix of float16 or float32, or is shorter or longer than its header says.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let cannot = |source| Error::io("cannot read the vectors", path, source);
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        Self::new(BufReader::with_capacity(1 << 17, file), path.display().to_string(), Some(length))
    }
}

impl<R: Read> Rows<R> {
    /// Reads from `reader`, which errors call `file`; `length` is how many bytes it has, where that is known.
    ///
    /// # Errors
    /// See [`Rows::open`].
    pub fn new(mut reader: R, file: String, length: Option<u64>) -> Result<Self, Error> {
        let (header, head_bytes) = header(&mut reader, &file)?;
        let parsed = Header::parse(&header).map_err(|message| refuse(&file, message))?;
        let width = if parsed.half { 2 } else { 4 };
        let row = parsed.dim as u64 * width;
        let expected = parsed.rows.checked_mul(row).and_then(|body| body.checked_add(head_bytes));
        if let Some(length) = length.filter(|length| Some(*length) != expected) {
            let want = expected.map_or_else(|| "fewer".to_owned(), |bytes| bytes.to_string());
            return Err(refuse(&file, format!("expected {want} bytes by its header, received {length}")));
        }
        let buffer = vec![0; row as usize];
        Ok(Self { reader, file, half: parsed.half, count: parsed.rows, dim: parsed.dim, read: 0, buffer })
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.count
    }

    /// The length of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The next row; `None` behind the last.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next_row(&mut self) -> Result<Option<Vec<f32>>, Error> {
        if self.read == self.count {
            return Ok(None);
        }
        let read = self.reader.read_exact(&mut self.buffer);
        read.map_err(|source| Error::io("cannot read the vectors", Path::new(&self.file), source))?;
        self.read += 1;
        Ok(Some(self.decode()))
    }

    fn decode(&self) -> Vec<f32> {
        if self.half {
            let (pairs, _) = self.buffer.as_chunks::<2>();
            return pairs.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect();
        }
        let (quads, _) = self.buffer.as_chunks::<4>();
        quads.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }
}

fn refuse(file: &str, message: impl Into<String>) -> Error {
    Error::Input {
        message: message.into(),
        code: Code::Syntax,
        hint: "write it with `numpy.save(path, vectors.astype(\"float16\"))`, one row for each document"
            .to_owned(),
        place: Some(Place::default().in_file(file)),
    }
}

/// The text of the header, and how many bytes stand before the first row.
fn header(reader: &mut impl Read, file: &str) -> Result<(String, u64), Error> {
    let short = |_| refuse(file, "expected a `.npy` file, received one that ends in its header");
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(short)?;
    if &start[..6] != MAGIC {
        return Err(refuse(file, "expected a `.npy` file, received one that does not start as such"));
    }
    let mut size = [0; 4];
    let size_bytes = if start[6] == 1 { 2 } else { 4 };
    reader.read_exact(&mut size[..size_bytes]).map_err(short)?;
    let size = u32::from_le_bytes(size) as usize;
    if !(1..=3).contains(&start[6]) || size > MAX_HEADER {
        return Err(refuse(
            file,
            format!("expected `.npy` version 1 to 3, received {}.{}", start[6], start[7]),
        ));
    }
    let mut text = vec![0; size];
    reader.read_exact(&mut text).map_err(short)?;
    Ok((String::from_utf8_lossy(&text).into_owned(), (8 + size_bytes + size) as u64))
}

struct Header {
    half: bool,
    rows: u64,
    dim: usize,
}

impl Header {
    /// Reads `{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Result<Self, String> {
        let descr = value(text, "descr").map(|rest| rest.trim_matches(['\'', '"'])).unwrap_or_default();
        let half = match descr {
            "<f2" | "=f2" => true,
            "<f4" | "=f4" => false,
            other => return Err(format!("expected float16 or float32 (`<f2`, `<f4`), received `{other}`")),
        };
        if value(text, "fortran_order") != Some("False") {
            return Err("expected rows in C order, received Fortran order".to_owned());
        }
        let shape = shape(text).unwrap_or_default();
        match shape[..] {
            [rows, dim] if (1..=MAX_DIM as u64).contains(&dim) => Ok(Self { half, rows, dim: dim as usize }),
            _ => Err(format!("expected two dimensions (rows, length of a vector), received {shape:?}")),
        }
    }
}

/// The value of a key that is no tuple, up to the comma.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = after(text, key)?;
    Some(rest.split([',', '}']).next()?.trim())
}

fn shape(text: &str) -> Option<Vec<u64>> {
    let inside = after(text, "shape")?.split_once('(')?.1.split_once(')')?.0;
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let at = text.find(&format!("'{key}'"))? + key.len() + 2;
    Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, order: &str, shape: &str, body: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(body);
        bytes
    }

    fn open(bytes: &[u8]) -> Result<Rows<&[u8]>, Error> {
        Rows::new(bytes, "v.npy".to_owned(), Some(bytes.len() as u64))
    }

    #[test]
    fn reads_both_widths() {
        let half: Vec<u8> =
            [1.0, -0.5, 2.0, 0.0].iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect();
        let bytes = file("<f2", "False", "(2, 2)", &half);
        let mut rows = open(&bytes).unwrap();
        assert_eq!((rows.rows(), rows.dim()), (2, 2));
        assert_eq!(rows.next_row().unwrap(), Some(vec![1.0, -0.5]));
        assert_eq!(rows.next_row().unwrap(), Some(vec![2.0, 0.0]));
        assert_eq!(rows.next_row().unwrap(), None);
        let bytes = file("<f4", "False", "(1, 1)", &3.5f32.to_le_bytes());
        assert_eq!(open(&bytes).unwrap().next_row().unwrap(), Some(vec![3.5]));
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            (file("<f8", "False", "(1, 1)", &[0; 8]), "`<f8`"),
            (file("<f4", "True", "(1, 1)", &[0; 4]), "Fortran"),
            (file("<f4", "False", "(4,)", &[0; 16]), "two dimensions"),
            (file("<f4", "False", "(2, 2)", &[0; 4]), "bytes by its header"),
            (file("<f4", "False", "(18446744073709551615, 65536)", &[0; 4]), "bytes by its header"),
            (b"PK\x03\x04whatever".to_vec(), "does not start"),
            (b"\x93NUMPY\x01\x00\xFF".to_vec(), "ends in its header"),
        ];
        for (bytes, expected) in cases {
            let message = open(&bytes).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let mut whole = b"\x93NUMPY\x01\x00".to_vec();
            whole.extend(&bytes);
            if let Ok(mut rows) = open(&whole) {
                while let Ok(Some(_)) = rows.next_row() {}
            }
        }
    }
}
