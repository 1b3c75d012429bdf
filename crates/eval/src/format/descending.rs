//! Scores that keep their order in a run file.

/// Gives the scores of one ranking, best first, such that other tools keep its order.
///
/// `trec_eval` and its kin ignore the rank column, read scores as 32-bit floats and order equal ones by id. Ties are frequent
/// under rank fusion, and would be shuffled. A score that a 32-bit float cannot tell from the one above is therefore set
/// apart by the least step; all others stay as they are.
#[derive(Clone, Copy, Debug)]
pub struct Descending {
    above: f32,
}

impl Default for Descending {
    fn default() -> Self {
        Self { above: f32::INFINITY }
    }
}

impl Descending {
    /// The score to write for the next document.
    pub fn next(&mut self, score: f64) -> f64 {
        let seen = score as f32;
        if seen < self.above {
            self.above = seen;
            return score;
        }
        self.above = self.above.next_down();
        f64::from(self.above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_come_apart_by_the_least_step_that_other_tools_see() {
        let mut descending = Descending::default();
        let scores = [0.5, 0.5, 0.5, 0.499999999999, 0.25].map(|score| descending.next(score));
        assert!(scores.windows(2).all(|pair| (pair[0] as f32) > (pair[1] as f32)), "{scores:?}");
        assert_eq!((scores[0], scores[4]), (0.5, 0.25));
        assert!((scores[3] - 0.5).abs() < 1e-6);
    }
}
