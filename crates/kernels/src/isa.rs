//! Which instruction set to use: found out once, kept as a table of functions.

use std::fmt;
use std::sync::OnceLock;

use crate::signs::SignQuery;
use crate::top_k::Scored;
use crate::{scalar, top_k};

#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

#[cfg(target_arch = "aarch64")]
use crate::neon;

/// An instruction set for which there is a variant of every kernel, best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// Portable code: the oracle.
    Scalar,
    /// 128-bit vectors of `aarch64`.
    Neon,
    /// 256-bit vectors of `x86_64` with fused multiply-add: Haswell, Zen and later.
    Avx2,
    /// 512-bit vectors of `x86_64` with VNNI, VPOPCNTDQ and BITALG: Ice Lake, Zen 4 and later.
    Avx512,
}

impl Isa {
    /// Whether this machine has it (and this build knows it).
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vnni")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                    && is_x86_feature_detected!("avx512bitalg")
            }
            #[allow(unreachable_patterns, reason = "which sets remain depends on the architecture")]
            _ => false,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        })
    }
}

/// Sums, total, factors, scores.
type WeighSigns = unsafe fn(&[i32], i32, &[[u8; 8]], &mut [f32]);

/// Every kernel in the variant of one instruction set.
///
/// Programs call the functions of the crate root, which use [`Kernels::best`]. A chosen variant is for tests and
/// measurements. Holding a `&Kernels` is proof that the machine has its instructions: [`Kernels::of`] is the only source.
pub struct Kernels {
    isa: Isa,
    dots: unsafe fn(&[f32], &[f32], &mut [f32]),
    dot_f16: unsafe fn(&[f32], &[u8]) -> f32,
    dots_i8: unsafe fn(&[i8], &[i8], &mut [i32]),
    hammings: unsafe fn(&[u8], &[u8], &mut [u32]),
    sign_dots: unsafe fn(&SignQuery, &[u8], &mut [i32]),
    above: unsafe fn(&[f32], f32, &mut [u64]),
    weigh_signs: WeighSigns,
    raise_best: unsafe fn(&[f32], &[f32], usize, &mut [f32]),
    top_k: unsafe fn(&[f32], usize) -> Vec<Scored>,
}

static SCALAR: Kernels = Kernels {
    isa: Isa::Scalar,
    dots: scalar::dots,
    dot_f16: scalar::dot_f16,
    dots_i8: scalar::dots_i8,
    hammings: scalar::hammings,
    sign_dots: scalar::sign_dots,
    above: scalar::above,
    weigh_signs: scalar::weigh_signs,
    raise_best: scalar::raise_best,
    top_k: top_k::select,
};

#[cfg(target_arch = "aarch64")]
static NEON: Kernels = Kernels {
    isa: Isa::Neon,
    dots: neon::dots,
    dot_f16: neon::dot_f16,
    dots_i8: neon::dots_i8,
    hammings: neon::hammings,
    sign_dots: neon::sign_dots,
    above: scalar::above,
    // The instructions of every such machine.
    weigh_signs: scalar::weigh_signs,
    raise_best: neon::raise_best,
    top_k: neon::top_k,
};

#[cfg(target_arch = "x86_64")]
static AVX2: Kernels = Kernels {
    isa: Isa::Avx2,
    dots: avx2::dots,
    dot_f16: avx2::dot_f16,
    dots_i8: avx2::dots_i8,
    hammings: avx2::hammings,
    sign_dots: avx2::sign_dots,
    above: avx2::above,
    weigh_signs: avx2::weigh_signs,
    raise_best: avx2::raise_best,
    top_k: avx2::top_k,
};

#[cfg(target_arch = "x86_64")]
static AVX512: Kernels = Kernels {
    isa: Isa::Avx512,
    dots: avx2::dots,
    dot_f16: avx2::dot_f16,
    dots_i8: avx512::dots_i8,
    hammings: avx512::hammings,
    sign_dots: avx512::sign_dots,
    above: avx512::above,
    weigh_signs: avx2::weigh_signs,
    raise_best: avx512::raise_best,
    top_k: avx2::top_k,
};

impl Kernels {
    /// The best variant of this machine; detected at the first call, remembered after.
    pub fn best() -> &'static Self {
        static BEST: OnceLock<&'static Kernels> = OnceLock::new();
        BEST.get_or_init(|| Self::available().next_back().unwrap_or(&SCALAR))
    }

    /// Every variant this machine has, the oracle first and the best last.
    pub fn available() -> impl DoubleEndedIterator<Item = &'static Self> {
        [Isa::Scalar, Isa::Neon, Isa::Avx2, Isa::Avx512].into_iter().filter_map(Self::of)
    }

    /// The variant of one instruction set, if this machine has it.
    pub fn of(isa: Isa) -> Option<&'static Self> {
        if !isa.is_available() {
            return None;
        }
        match isa {
            Isa::Scalar => Some(&SCALAR),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Some(&NEON),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Some(&AVX2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(&AVX512),
            #[allow(unreachable_patterns, reason = "which sets remain depends on the architecture")]
            _ => None,
        }
    }

    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// See [`crate::dots`].
    ///
    /// # Panics
    /// When `rows` is not `out.len()` rows as long as the query.
    pub fn dots(&self, query: &[f32], rows: &[f32], out: &mut [f32]) {
        if check_rows(query, rows, out) {
            // SAFETY: a `&Kernels` exists only where its instructions do.
            unsafe { (self.dots)(query, rows, out) }
        }
    }

    /// See [`crate::dot_f16`].
    ///
    /// # Panics
    /// When the row is not two bytes per component of the query.
    pub fn dot_f16(&self, query: &[f32], row: &[u8]) -> f32 {
        check_shape(2 * query.len(), row.len(), &mut [0.0_f32]);
        // SAFETY: a `&Kernels` exists only where its instructions do.
        unsafe { (self.dot_f16)(query, row) }
    }

    /// See [`crate::dots_i8`].
    ///
    /// # Panics
    /// When `rows` is not `out.len()` rows as long as the query.
    pub fn dots_i8(&self, query: &[i8], rows: &[i8], out: &mut [i32]) {
        if check_rows(query, rows, out) {
            // SAFETY: a `&Kernels` exists only where its instructions do.
            unsafe { (self.dots_i8)(query, rows, out) }
        }
    }

    /// See [`crate::hammings`].
    ///
    /// # Panics
    /// When `rows` is not `out.len()` rows as long as the query.
    pub fn hammings(&self, query: &[u8], rows: &[u8], out: &mut [u32]) {
        if check_rows(query, rows, out) {
            // SAFETY: a `&Kernels` exists only where its instructions do.
            unsafe { (self.hammings)(query, rows, out) }
        }
    }

    /// See [`crate::sign_dots`].
    ///
    /// # Panics
    /// When `rows` is not `out.len()` rows of one bit per component of the query.
    pub fn sign_dots(&self, query: &SignQuery, rows: &[u8], out: &mut [i32]) {
        if check_shape(query.row_len(), rows.len(), out) {
            // SAFETY: a `&Kernels` exists only where its instructions do.
            unsafe { (self.sign_dots)(query, rows, out) }
        }
    }

    /// See [`crate::weigh_signs`].
    ///
    /// # Panics
    /// When there are not as many factors and sums as `out` has room for.
    pub fn weigh_signs(&self, sums: &[i32], total: i32, factors: &[[u8; 8]], out: &mut [f32]) {
        assert!(sums.len() == out.len() && factors.len() == out.len(), "expected {} of each", out.len());
        // SAFETY: a `&Kernels` exists only where its instructions do.
        unsafe { (self.weigh_signs)(sums, total, factors, out) }
    }

    /// See [`crate::above`].
    ///
    /// # Panics
    /// When `out` is not one number for each 64 scores.
    pub fn above(&self, scores: &[f32], bar: f32, out: &mut [u64]) {
        assert!(out.len() == scores.len().div_ceil(64), "expected room for {} bits", scores.len());
        // SAFETY: a `&Kernels` exists only where its instructions do.
        unsafe { (self.above)(scores, bar, out) }
    }

    /// See [`crate::top_k`].
    ///
    /// # Panics
    /// When there are more than 2³² scores.
    pub fn top_k(&self, scores: &[f32], k: usize) -> Vec<Scored> {
        assert!(scores.len() <= 1 << 32, "indices of {} scores do not fit 32 bits", scores.len());
        // SAFETY: a `&Kernels` exists only where its instructions do.
        unsafe { (self.top_k)(scores, k) }
    }

    /// Raises each query token's best product over `rows`; the caller keeps the shapes of a packed query.
    pub(crate) fn raise_best(&self, panels: &[f32], rows: &[f32], dim: usize, best: &mut [f32]) {
        // SAFETY: a `&Kernels` exists only where its instructions do.
        unsafe { (self.raise_best)(panels, rows, dim, best) }
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels").field("isa", &self.isa).finish_non_exhaustive()
    }
}

/// Checks the shapes, and answers the empty query (whose products are all 0); false means that nothing is left to do.
fn check_rows<T, O: Default>(query: &[T], rows: &[T], out: &mut [O]) -> bool {
    check_shape(query.len(), rows.len(), out)
}

/// The same for rows of another length than the query.
fn check_shape<O: Default>(len: usize, values: usize, out: &mut [O]) -> bool {
    let count = out.len();
    assert!(
        len.checked_mul(count) == Some(values),
        "expected {count} rows of {len}, received {values} values"
    );
    if len == 0 {
        out.fill_with(O::default);
    }
    len > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_variant_is_the_last_available() {
        let available: Vec<Isa> = Kernels::available().map(Kernels::isa).collect();
        assert!(available.is_sorted() && available[0] == Isa::Scalar);
        assert_eq!(available.last(), Some(&Kernels::best().isa()));
    }

    #[test]
    fn a_variant_exists_exactly_where_its_instructions_do() {
        for isa in [Isa::Scalar, Isa::Neon, Isa::Avx2, Isa::Avx512] {
            assert_eq!(Kernels::of(isa).map(Kernels::isa), isa.is_available().then_some(isa));
        }
    }

    #[test]
    #[should_panic(expected = "expected 2 rows of 3, received 5 values")]
    fn ragged_rows_are_refused() {
        Kernels::best().dots(&[0.0; 3], &[0.0; 5], &mut [0.0; 2]);
    }

    #[test]
    #[should_panic(expected = "expected 1 rows of 0, received 1 values")]
    fn rows_of_an_empty_query_are_empty() {
        Kernels::best().hammings(&[], &[1], &mut [0]);
    }
}
