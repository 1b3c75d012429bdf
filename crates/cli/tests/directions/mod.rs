//! Vectors that tell documents apart, and files of them.

/// A direction of its own for each document.
pub(crate) fn direction(number: u64, dim: usize) -> Vec<f32> {
    let mut state = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..dim).map(|_| next()).collect()
}

/// A `.npy` file with one row.
pub(crate) fn npy(row: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {}), }}\n", row.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(row.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}
