//! Success at a cutoff.

use super::Graded;

/// Success@k: 1 when a relevant document is in the first k places, else 0.
///
/// The mean over queries is the share of queries that were answered at all ("hit rate").
///
/// - **Use it** for a plain statement to people who do not know measures: "9 of 10 questions found an answer".
/// - **Not** to compare good systems: it is coarse, and at large k nearly everything succeeds.
///
/// Craswell and Hawking, *Overview of the TREC-2004 Web track* (`success` in `trec_eval`).
pub fn success(list: &Graded, k: usize, rel: i64) -> f64 {
    f64::from(u8::from(list.relevant(Some(k), rel).any(|relevant| relevant)))
}

#[cfg(test)]
mod tests {
    use super::super::graded;
    use super::*;

    #[test]
    fn by_hand() {
        let list = graded(&[Some(0), None, Some(1)], &[2]);
        assert_eq!((success(&list, 2, 1), success(&list, 3, 1), success(&list, 3, 2)), (0.0, 1.0, 0.0));
    }
}
