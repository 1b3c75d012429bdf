//! A query against codes of one bit per component.

use std::fmt;

/// Bytes of a plane that are looked at together.
pub(crate) const BLOCK: usize = 64;
/// What the planes stand for, the lowest bit first: two's complement of four bits.
pub(crate) const WEIGHTS: [i8; 4] = [1, 2, 4, -8];

/// A query of small numbers, ready for [`sign_dots`](crate::sign_dots).
///
/// The numbers are kept as they are, and as planes of bits: where a machine counts bits fast, the sum of the numbers that a code chooses is
/// the count of chosen bits in each plane, times the plane's weight.
#[derive(Clone, PartialEq, Eq)]
pub struct SignQuery {
    codes: Vec<i8>,
    /// For each 512 components, the four planes, with zeros behind the last component.
    planes: Vec<[[u8; BLOCK]; 4]>,
}

impl SignQuery {
    /// The largest size of a number that is used both ways. One more is possible below zero.
    pub const LARGEST: i8 = 7;

    /// A query of these numbers.
    ///
    /// # Panics
    /// When a number does not fit four bits: −8 to 7.
    pub fn new(codes: Vec<i8>) -> Self {
        assert!(codes.iter().all(|code| (-8..=7).contains(code)), "expected numbers from -8 to 7");
        let mut planes = vec![[[0; BLOCK]; 4]; codes.len().div_ceil(8 * BLOCK)];
        for (at, code) in codes.iter().enumerate() {
            let block = &mut planes[at / (8 * BLOCK)];
            for (bit, plane) in block.iter_mut().enumerate() {
                plane[at / 8 % BLOCK] |= (code.cast_unsigned() >> bit & 1) << (at % 8);
            }
        }
        Self { codes, planes }
    }

    /// The numbers.
    pub fn codes(&self) -> &[i8] {
        &self.codes
    }

    /// The sum of the numbers.
    pub fn sum(&self) -> i32 {
        self.codes.iter().map(|&code| i32::from(code)).sum()
    }

    /// How many bytes the bits of a row take.
    pub fn row_len(&self) -> usize {
        self.codes.len().div_ceil(8)
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn planes(&self) -> &[[[u8; BLOCK]; 4]] {
        &self.planes
    }
}

impl fmt::Debug for SignQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignQuery").field(&self.codes).finish()
    }
}
