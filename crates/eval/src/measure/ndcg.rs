//! Normalised discounted cumulative gain.

use super::Graded;

/// What a relevance is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gain {
    /// The relevance itself: `rel`. This is `nDCG` in `trec_eval`, ir_measures, BEIR and MTEB.
    #[default]
    Linear,
    /// `2^rel − 1`: `nDCGexp`, or `nDCG(dcg='exp-log2')` in ir_measures. With grades 0 and 1 it equals [`Gain::Linear`].
    Exponential,
}

/// nDCG: how close the list comes to the best order that was possible.
///
/// ```text
/// DCG@k  = Σ gain(rel of the document at rank i) / log2(i + 1)     over ranks i = 1 … k
/// nDCG@k = DCG@k / DCG@k of all judged documents in ideal order    (0 when no document is relevant)
/// ```
///
/// The ideal order takes in relevant documents that the list missed. Negative and missing judgements gain 0.
///
/// - **Use it** as the first number to look at: it respects grades, rewards order, and is what BEIR reports.
/// - **Not** when a user reads only the first hit (`MRR`), or when finding everything matters more than order (`R@k`).
///   Without a cutoff the long tail counts too.
///
/// Järvelin and Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, TOIS 20(4), 2002. The exponential gain
/// is from Burges et al., *Learning to rank using gradient descent*, ICML 2005.
pub fn ndcg(list: &Graded, cutoff: Option<usize>, gain: Gain) -> f64 {
    let most = list.ideal.first().copied().unwrap_or(0);
    let worth = |grade: i64| match gain {
        Gain::Linear => grade as f64,
        // Scaled by 2^-most: the ratio is the same to the last bit, and no grade can overflow.
        Gain::Exponential => ((grade - most) as f64).exp2() - (-most as f64).exp2(),
    };
    let ideal_length = cutoff.unwrap_or(usize::MAX).min(list.ideal.len());
    let best = dcg(list.ideal[..ideal_length].iter().map(|&grade| Some(grade)), worth);
    if best == 0.0 {
        return 0.0;
    }
    (dcg(list.top(cutoff).iter().copied(), worth) / best).min(1.0)
}

fn dcg(grades: impl Iterator<Item = Option<i64>>, worth: impl Fn(i64) -> f64) -> f64 {
    let mut sum = 0.0;
    for (index, grade) in grades.enumerate() {
        if let Some(grade) = grade.filter(|&grade| grade > 0) {
            sum += worth(grade) / ((index + 2) as f64).log2();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::graded;
    use super::*;

    #[test]
    fn by_hand() {
        // DCG = 1/log2(2) + 2/log2(4) = 2; ideal of {3, 2, 1} = 3 + 2/log2(3) + 1/2.
        let list = graded(&[Some(1), None, Some(2), Some(-1)], &[3]);
        let ideal = 3.0 + 2.0 / 3f64.log2() + 0.5;
        assert!((ndcg(&list, None, Gain::Linear) - 2.0 / ideal).abs() < 1e-15);
        // At 2 the list has gained 1 only, and the ideal is 3 + 2/log2(3).
        assert!((ndcg(&list, Some(2), Gain::Linear) - 1.0 / (3.0 + 2.0 / 3f64.log2())).abs() < 1e-15);
        // Exponential: 1 + 3/2 over 7 + 3/log2(3) + 1/2.
        let ideal = 7.0 + 3.0 / 3f64.log2() + 0.5;
        assert!((ndcg(&list, Some(10), Gain::Exponential) - 2.5 / ideal).abs() < 1e-15);
    }

    #[test]
    fn perfect_is_exactly_one_and_nothing_relevant_is_zero() {
        let perfect = graded(&[Some(3), Some(2), Some(1), Some(0)], &[]);
        assert_eq!(ndcg(&perfect, None, Gain::Linear), 1.0);
        assert_eq!(ndcg(&perfect, Some(2), Gain::Exponential), 1.0);
        assert_eq!(ndcg(&graded(&[Some(0), Some(-1)], &[]), None, Gain::Linear), 0.0);
        assert_eq!(ndcg(&graded(&[], &[1]), Some(10), Gain::Linear), 0.0);
    }

    #[test]
    fn binary_grades_have_one_ndcg() {
        let list = graded(&[None, Some(1), Some(0), Some(1)], &[1]);
        assert_eq!(ndcg(&list, None, Gain::Linear), ndcg(&list, None, Gain::Exponential));
    }

    #[test]
    fn huge_grades_do_not_overflow() {
        let list = graded(&[Some(i64::MAX), Some(5000), Some(i64::MAX)], &[]);
        for gain in [Gain::Linear, Gain::Exponential] {
            let value = ndcg(&list, None, gain);
            assert!(value > 0.0 && value <= 1.0, "{value}");
        }
    }
}
