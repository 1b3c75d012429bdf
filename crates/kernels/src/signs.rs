//! A query against codes of one bit per component.

use std::fmt;

/// Bytes of a plane that are looked at together.
pub(crate) const BLOCK: usize = 64;
/// Bytes of four rows of 384 bits, which fill three registers of [`BLOCK`].
pub(crate) const PACKED: usize = 3 * BLOCK;
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
    /// The four planes of a query of 384 components, each four times, as its rows lie one behind another.
    packed: Option<Box<[[u8; PACKED]; 4]>>,
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
        let packed = (codes.len() * 4 == PACKED * 8).then(|| {
            let plane = |at: usize| std::array::from_fn(|byte| planes[0][at][byte % (PACKED / 4)]);
            Box::new([0, 1, 2, 3].map(plane))
        });
        Self { codes, planes, packed }
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

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn packed(&self) -> Option<&[[u8; PACKED]; 4]> {
        self.packed.as_deref()
    }
}

impl fmt::Debug for SignQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignQuery").field(&self.codes).finish()
    }
}
