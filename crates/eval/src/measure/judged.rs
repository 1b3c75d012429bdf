//! The share of judged documents.

use super::Graded;

/// Judged@k: the share of the returned documents, among the first k, that somebody judged.
///
/// ```text
/// Judged@k = judged documents in the first k / min(k, documents returned)    (0 when none was returned)
/// ```
///
/// Any judgement counts, also "not relevant" and negative ones. The definition is that of ir_measures.
///
/// - **Use it** beside every other measure: when it is low, the others punish a system for finding what nobody looked
///   at, and a comparison of two runs with different values is not fair.
/// - **Not** as a goal: returning only what was judged is easy and useless.
///
/// See Buckley and Voorhees, *Retrieval evaluation with incomplete information*, SIGIR 2004, on why it matters.
pub fn judged(list: &Graded, cutoff: Option<usize>) -> f64 {
    let top = list.top(cutoff);
    if top.is_empty() {
        return 0.0;
    }
    top.iter().flatten().count() as f64 / top.len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::graded;
    use super::*;

    #[test]
    fn by_hand() {
        let list = graded(&[Some(0), None, Some(-1), Some(2)], &[]);
        assert_eq!(judged(&list, Some(2)), 0.5);
        assert_eq!(judged(&list, None), 0.75);
        // Fewer than k were returned: the divisor is what was returned.
        assert_eq!(judged(&list, Some(10)), 0.75);
        assert_eq!(judged(&graded(&[], &[1]), Some(10)), 0.0);
    }
}
