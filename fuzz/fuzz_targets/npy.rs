//! `.npy` files, on any bytes: a file is refused in words, or it has exactly the rows that its header says, number by number.
#![no_main]

use half::f16;
use libfuzzer_sys::fuzz_target;
use mainstem::Error;
use mainstem::ingest::npy::Rows;
use mainstem_core::Diagnostic;

fuzz_target!(|data: &[u8]| {
    match Rows::new(data, "input".to_owned(), Some(data.len() as u64)) {
        Ok(rows) => whole(rows, data),
        Err(error) => refused(&error),
    }
    // Of a stream, nobody knows the length: it gives what is there.
    match Rows::new(data, "input".to_owned(), None) {
        Ok(mut rows) => {
            let (dim, mut bytes) = (rows.dim(), 0);
            while let Ok(Some(row)) = rows.next_row() {
                assert_eq!(row.len(), dim);
                bytes += 2 * dim;
            }
            assert!(bytes <= data.len(), "rows of {bytes} bytes at least, out of {}", data.len());
        }
        Err(error) => refused(&error),
    }
});

/// A file of the right length.
fn whole(mut rows: Rows<&[u8]>, data: &[u8]) {
    let (count, dim) = (rows.rows(), rows.dim());
    assert!(dim > 0);
    let mut all = Vec::new();
    for _ in 0..count {
        let row = rows.next_row().expect("the length was checked").expect("there are so many rows");
        assert_eq!(row.len(), dim);
        all.extend(row);
    }
    assert_eq!(rows.next_row().expect("nothing is read behind the end"), None);
    if let Some(body) = body(data, all.len()) {
        let expected = body.chunks_exact(body.len() / all.len()).map(number);
        assert!(expected.eq(all.iter().map(|number| number.to_bits())), "the numbers are those of the file");
    }
    let written = write(count, dim, &all);
    let mut again = Rows::new(&written[..], "written".to_owned(), Some(written.len() as u64))
        .expect("what is written can be read");
    let mut numbers = Vec::new();
    while let Some(row) = again.next_row().expect("it is all there") {
        numbers.extend(row);
    }
    assert!(numbers.iter().map(|x| x.to_bits()).eq(all.iter().map(|x| x.to_bits())));
}

/// The bytes behind the header, found by their count alone; nothing when there are no numbers.
fn body(data: &[u8], numbers: usize) -> Option<&[u8]> {
    let size_bytes = if data[6] == 1 { 2 } else { 4 };
    let mut size = [0; 4];
    size[..size_bytes].copy_from_slice(&data[8..8 + size_bytes]);
    let body = &data[8 + size_bytes + u32::from_le_bytes(size) as usize..];
    (numbers > 0).then_some(body)
}

fn number(bytes: &[u8]) -> u32 {
    match bytes {
        [a, b] => f16::from_le_bytes([*a, *b]).to_f32().to_bits(),
        [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]),
        other => panic!("a number of {} bytes", other.len()),
    }
}

fn write(rows: u64, dim: usize, numbers: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// Errors are for people: one sentence, where, and what to do.
fn refused(error: &Error) {
    assert!(!error.to_string().is_empty() && error.place().is_some() && error.hint().is_some(), "{error:?}");
}
