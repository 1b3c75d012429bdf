//! Holm's correction for several comparisons.

/// The p-values of a family of comparisons, adjusted so that the chance of any false claim stays below the level.
///
/// ```text
/// sorted p(1) ≤ … ≤ p(m):   adjusted(i) = max over j ≤ i of min(1, (m − j + 1) · p(j))
/// ```
///
/// The result is in the order of the input.
///
/// - **Use it** whenever more than one run or measure is tried: of twenty useless changes, one looks significant at .05.
/// - **Not** over comparisons that nobody will choose between; a larger family makes each claim harder. Looking at
///   results and then comparing only the best is not one comparison, however few are written down.
///
/// Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<_> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut floor: f64 = 0.0;
    for (place, &index) in order.iter().enumerate() {
        floor = floor.max(p[index] * (p.len() - place) as f64).min(1.0);
        adjusted[index] = floor;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
    #[test]
    fn by_hand() {
        let got = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in got.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - expected).abs() < 1e-15);
        }
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
