//! Matrix products with one side packed beforehand.
//!
//! The right side is stored in panels of [`WIDTH`] columns, so that the inner loop reads it front to back: weights are packed once, when
//! they are loaded. Every element of the result is one chain of fused multiply-adds in the order of the depth, started from the bias;
//! it does not depend on the other rows, on the number of threads or on how wide the registers are.

use pulp::{Arch, Simd, WithSimd};

/// Columns of a panel. A multiple of the lanes of every instruction set.
pub(super) const WIDTH: usize = 16;

/// Rows of a matrix that lie `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// The elements, from the first that counts.
    pub(super) data: &'a [f32],
    /// From the start of one row to the start of the next.
    pub(super) stride: usize,
    /// How many rows there are.
    pub(super) count: usize,
}

impl<'a> Rows<'a> {
    /// The first `depth` elements of a row.
    #[inline(always)]
    fn row(&self, index: usize, depth: usize) -> &'a [f32] {
        &self.data[index * self.stride..][..depth]
    }
}

/// The right side of a product: `depth` rows, in panels of [`WIDTH`] columns; the last panel is filled up with zeros.
#[derive(Default)]
pub(super) struct Packed {
    panels: Vec<f32>,
    depth: usize,
}

impl Packed {
    /// Packs the transpose: row `n` of `rows` becomes column `n`. So are the weights of a linear layer stored, one row for each output.
    pub(super) fn transposed(rows: Rows<'_>, depth: usize) -> Self {
        let mut packed = Self::default();
        packed.set_transposed(rows, depth);
        packed
    }

    /// As [`Packed::transposed`], in the memory of the old panels.
    pub(super) fn set_transposed(&mut self, rows: Rows<'_>, depth: usize) {
        self.reset(depth, rows.count);
        for column in 0..rows.count {
            let panel = &mut self.panels[column / WIDTH * WIDTH * depth..][..WIDTH * depth];
            let places = panel.iter_mut().skip(column % WIDTH).step_by(WIDTH);
            places.zip(rows.row(column, depth)).for_each(|(place, value)| *place = *value);
        }
    }

    /// Packs `rows` as they are, the first `columns` of each, in the memory of the old panels.
    pub(super) fn set(&mut self, rows: Rows<'_>, columns: usize) {
        self.reset(rows.count, columns);
        for (index, panel) in self.panels.chunks_exact_mut(WIDTH * rows.count.max(1)).enumerate() {
            let from = index * WIDTH;
            let width = WIDTH.min(columns - from);
            for (line, place) in panel.chunks_exact_mut(WIDTH).enumerate() {
                place[..width].copy_from_slice(&rows.row(line, columns)[from..from + width]);
            }
        }
    }

    fn reset(&mut self, depth: usize, columns: usize) {
        self.depth = depth;
        self.panels.clear();
        self.panels.resize(columns.div_ceil(WIDTH) * WIDTH * depth, 0.0);
    }
}

/// Where the sums start.
#[derive(Clone, Copy)]
pub(super) enum Start<'a> {
    /// At zero.
    Zero,
    /// At the bias of each column.
    Bias(&'a [f32]),
}

/// A product into `out`, whose rows lie `stride` apart. Columns up to the next multiple of [`WIDTH`] are written too, as far as
/// the stride goes.
pub(super) struct Product<'a> {
    /// The left side.
    pub(super) left: Rows<'a>,
    /// The right side.
    pub(super) right: &'a Packed,
    /// Where the sums start.
    pub(super) start: Start<'a>,
    /// Where the result goes.
    pub(super) out: &'a mut [f32],
    /// From the start of one row of the result to the start of the next.
    pub(super) stride: usize,
}

impl Product<'_> {
    /// Computes it.
    pub(super) fn compute(self, arch: Arch) {
        arch.dispatch(self);
    }

    #[inline(always)]
    fn tiles<S: Simd, const ROWS: usize, const VECTORS: usize>(self, simd: S) {
        let Self { left, right, start, out, stride } = self;
        let depth = right.depth;
        for (index, panel) in right.panels.chunks_exact(WIDTH * depth.max(1)).enumerate() {
            let column = index * WIDTH;
            let first = starts::<S, VECTORS>(simd, start, column);
            for top in (0..left.count).step_by(ROWS) {
                // A tile at the lower edge computes its last row several times and keeps one.
                let rows = std::array::from_fn(|i| left.row((top + i).min(left.count - 1), depth));
                let sums = tile::<S, ROWS, VECTORS>(simd, &rows, panel, first);
                for (line, sums) in (top..left.count).zip(&sums) {
                    let place = &mut out[line * stride + column..][..WIDTH];
                    let (place, _) = S::as_mut_simd_f32s(place);
                    place.iter_mut().zip(sums).for_each(|(place, sum)| *place = *sum);
                }
            }
        }
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as fit into the registers beside one row of the panel.
        match S::F32_LANES {
            16 => self.tiles::<S, 8, 1>(simd),
            8 => self.tiles::<S, 6, 2>(simd),
            4 => self.tiles::<S, 6, 4>(simd),
            _ => self.tiles::<S, 1, WIDTH>(simd),
        }
    }
}

#[inline(always)]
fn starts<S: Simd, const VECTORS: usize>(simd: S, start: Start<'_>, column: usize) -> [S::f32s; VECTORS] {
    let mut first = [simd.splat_f32s(0.0); VECTORS];
    if let Start::Bias(bias) = start {
        let (bias, _) = S::as_simd_f32s(&bias[column..column + WIDTH]);
        first.copy_from_slice(&bias[..VECTORS]);
    }
    first
}

/// `ROWS` rows times one panel.
#[inline(always)]
fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: &[&[f32]; ROWS],
    panel: &[f32],
    first: [S::f32s; VECTORS],
) -> [[S::f32s; VECTORS]; ROWS] {
    let mut sums = [first; ROWS];
    let (panel, _) = S::as_simd_f32s(panel);
    let (lines, _) = panel.as_chunks::<VECTORS>();
    let depth = lines.len();
    let rows: [&[f32]; ROWS] = std::array::from_fn(|i| &rows[i][..depth]);
    for (at, line) in lines.iter().enumerate() {
        for (row, sums) in rows.iter().zip(&mut sums) {
            let value = simd.splat_f32s(row[at]);
            for (sum, factor) in sums.iter_mut().zip(line) {
                *sum = simd.mul_add_f32s(value, *factor, *sum);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919) % 101) as f32 / 50.0 - 1.0).collect()
    }

    /// The product on this machine's widest registers and on none, which must have the same bits.
    fn product(left: Rows<'_>, right: &Packed, bias: &[f32]) -> Vec<f32> {
        let stride = right.panels.len() / right.depth;
        let on = |arch| {
            let mut out = vec![f32::NAN; left.count * stride];
            let start = if bias.is_empty() { Start::Zero } else { Start::Bias(bias) };
            Product { left, right, start, out: &mut out, stride }.compute(arch);
            out
        };
        let wide = on(Arch::new());
        assert_eq!(wide, on(Arch::Scalar));
        wide
    }

    #[test]
    fn products_are_those_of_the_definition() {
        for (count, depth, columns) in [(1, 1, 1), (7, 32, 16), (13, 5, 33), (9, 16, 48), (2, 3, 0)] {
            let (a, b) = (numbers(count * depth), numbers(columns * depth));
            let left = Rows { data: &a, stride: depth, count };
            let transposed = Packed::transposed(Rows { data: &b, stride: depth, count: columns }, depth);
            let stride = columns.next_multiple_of(WIDTH);
            let bias = numbers(stride);
            let out = product(left, &transposed, &bias);
            for (row, column) in (0..count).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                let terms =
                    (0..depth).map(|k| f64::from(a[row * depth + k]) * f64::from(b[column * depth + k]));
                let expected = terms.sum::<f64>() + f64::from(bias[column]);
                assert!((f64::from(out[row * stride + column]) - expected).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn packing_a_matrix_is_packing_its_transpose_transposed() {
        let (rows, columns) = (11, 32);
        let b = numbers(rows * columns);
        let turned: Vec<f32> = (0..columns)
            .flat_map(|c| (0..rows).map(move |r| (r, c)))
            .map(|(r, c)| b[r * columns + c])
            .collect();
        let transposed = Packed::transposed(Rows { data: &turned, stride: rows, count: columns }, rows);
        let mut plain = Packed::default();
        plain.set(Rows { data: &b, stride: columns, count: rows }, columns);
        assert_eq!(plain.panels, transposed.panels);
        let a = numbers(4 * rows);
        product(Rows { data: &a, stride: rows, count: 4 }, &plain, &[]);
    }
}
