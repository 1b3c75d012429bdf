//! How vectors are written: int8 for the scan, f16 for the scores, one bit per dimension for the first scan.

use half::f16;
use half::slice::HalfFloatSliceExt;
use mainstem_core::diagnostic::Code;
use mainstem_kernels::SignQuery;

use crate::Error;

/// The vector at unit length; one of zeros stays as it is.
pub(super) fn unit(vector: &[f32]) -> Result<Vec<f32>, Error> {
    let length = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return Err(Error::Input {
            message: "expected a vector of finite numbers, received NaN or infinity".into(),
            code: Code::NonFinite,
            hint: "check the model that made the vector".into(),
            place: None,
        });
    }
    let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
    Ok(vector.iter().map(|&x| (f64::from(x) * factor) as f32).collect())
}

/// Appends the codes of a vector, and returns what to multiply them with: the largest component is 127.
pub(super) fn quantise(vector: &[f32], codes: &mut Vec<u8>) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let factor = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    // Shifted to be positive, where cutting off rounds; both cast and shift are free of branches.
    codes.extend(vector.iter().map(|&x| ((x * factor + 128.5) as i32 - 128) as u8));
    largest / 127.0
}

/// Appends a vector in f16.
pub(super) fn halve(vector: &[f32], exact: &mut Vec<u8>) {
    let mut halves = vec![f16::ZERO; vector.len()];
    halves.convert_from_f32_slice(vector);
    exact.extend(halves.iter().flat_map(|x| x.to_le_bytes()));
}

/// The vector that [`halve`] wrote.
pub(super) fn widened(exact: &[u8]) -> Vec<f32> {
    let mut widener = Widener::default();
    widener.widen(exact);
    widener.floats
}

/// Reads vectors in f16.
#[derive(Debug, Default)]
pub(crate) struct Widener {
    halves: Vec<f16>,
    floats: Vec<f32>,
}

impl Widener {
    /// The vector that [`halve`] wrote.
    pub(super) fn widen(&mut self, exact: &[u8]) -> &[f32] {
        self.halves.clear();
        self.halves.extend(exact.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes)));
        self.floats.resize(self.halves.len(), 0.0);
        self.halves.convert_to_f32_slice(&mut self.floats);
        &self.floats
    }
}

/// Appends the signs of `vector - centre`, lowest bit first, and returns their weight.
///
/// With residual `r` and signs `s`, `⟨q, r⟩` is estimated as `⟨q, s⟩ · |r|² / |r|₁`: exact for `q = r`, and without bias otherwise
/// (Gao and Long, `RaBitQ`, 2024, without the rotation).
pub(super) fn signs(vector: &[f32], centre: &[f32], bits: &mut Vec<u8>) -> f32 {
    let (mut squares, mut sizes) = (0.0_f32, 0.0_f32);
    for (vector, centre) in vector.chunks(8).zip(centre.chunks(8)) {
        let mut byte = 0;
        for (i, (x, c)) in vector.iter().zip(centre).enumerate() {
            let residual = x - c;
            byte |= u8::from(residual > 0.0) << i;
            squares += residual * residual;
            sizes += residual.abs();
        }
        bits.push(byte);
    }
    if sizes > 0.0 { squares / sizes } else { 0.0 }
}

/// The components in steps of a seventh of the largest.
fn coarse(vector: &[f32]) -> Vec<i8> {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let factor = if largest > 0.0 { f32::from(SignQuery::LARGEST) / largest } else { 0.0 };
    vector.iter().map(|&x| (x * factor).round() as i8).collect()
}

/// A query, in every form that a scan needs.
#[derive(Debug)]
pub(super) struct Probe {
    /// At unit length.
    pub(super) full: Vec<f32>,
    /// Its codes.
    pub(super) codes: Vec<i8>,
    /// What to multiply them with. Searches leave it out: it changes no order.
    pub(super) scale: f32,
    /// Its codes for the signs, and their sum. Four bits: what they lose is little beside what the signs have lost.
    pub(super) signs: SignQuery,
    pub(super) sum: i32,
}

impl Probe {
    /// The forms of a query.
    pub(super) fn new(query: &[f32]) -> Result<Self, Error> {
        let full = unit(query)?;
        let mut bytes = Vec::with_capacity(full.len());
        let scale = quantise(&full, &mut bytes);
        let codes: Vec<i8> = bytes.into_iter().map(u8::cast_signed).collect();
        let signs = SignQuery::new(coarse(&full));
        let sum = signs.sum();
        Ok(Self { full, codes, scale, signs, sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_rounded() {
        let mut codes = Vec::new();
        let scale = quantise(&[1.0, -1.0, 0.0, 0.004, -0.004, 0.0039], &mut codes);
        assert_eq!(codes.iter().map(|&x| x.cast_signed()).collect::<Vec<_>>(), [127, -127, 0, 1, -1, 0]);
        assert_eq!(scale, 1.0 / 127.0);
        assert_eq!(quantise(&[0.0], &mut codes), 0.0);
    }

    #[test]
    fn signs_estimate_their_own_vector_exactly() {
        let vector = [0.5, -0.25, 0.125, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0];
        let mut bits = Vec::new();
        let weight = signs(&vector, &[0.0; 9], &mut bits);
        assert_eq!(bits, [0b101, 0]);
        let product: f32 = vector.iter().map(|x| x.abs()).sum();
        assert_eq!(product * weight, vector.iter().map(|x| x * x).sum::<f32>());
    }

    #[test]
    fn no_vector_has_a_length_that_is_no_number() {
        assert!(unit(&[1.0, f32::NAN]).is_err());
        assert_eq!(unit(&[0.0, 0.0]).unwrap(), [0.0, 0.0]);
        assert_eq!(unit(&[0.0, 4e30]).unwrap(), [0.0, 1.0]);
    }
}
