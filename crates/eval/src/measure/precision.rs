//! Precision at a cutoff.

use super::Graded;

/// P@k: the share of the first k places that hold a relevant document.
///
/// ```text
/// P@k = relevant documents in the first k / k
/// ```
///
/// The divisor is k even when fewer documents were returned, so an empty place counts as a wrong one.
///
/// - **Use it** for "how clean is the first page", or for what a language model is given to read.
/// - **Not** to compare collections: a query with two relevant documents cannot exceed `P@10` = 0.2.
///
/// Cleverdon, Mills and Keen, *Factors determining the performance of indexing systems*, 1966 (`P` in `trec_eval`).
pub fn precision(list: &Graded, k: usize, rel: i64) -> f64 {
    let found = list.relevant(Some(k), rel).filter(|&relevant| relevant).count();
    if k == 0 { 0.0 } else { found as f64 / k as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::graded;
    use super::*;

    #[test]
    fn by_hand() {
        let list = graded(&[Some(1), None, Some(2), Some(-1)], &[1]);
        assert_eq!(precision(&list, 2, 1), 0.5);
        assert_eq!(precision(&list, 3, 2), 1.0 / 3.0);
        // Places beyond the end of the list count as wrong.
        assert_eq!(precision(&list, 10, 1), 0.2);
    }
}
