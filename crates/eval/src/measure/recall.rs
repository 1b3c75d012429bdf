//! Recall at a cutoff.

use super::Graded;

/// R@k: the share of all relevant documents that are in the first k places.
///
/// ```text
/// R@k = relevant documents in the first k / relevant documents of the query    (0 when it has none)
/// ```
///
/// - **Use it** for the first stage of a pipeline: what retrieval misses, no reranker can bring back.
/// - **Not** for what users see: it does not care about order within the first k, and counts only what was judged.
///
/// Some papers call [`success()`](super::success()) "recall"; this is the measure that `trec_eval` calls `recall`.
///
/// Cleverdon, Mills and Keen, *Factors determining the performance of indexing systems*, 1966.
pub fn recall(list: &Graded, k: usize, rel: i64) -> f64 {
    let total = list.total_relevant(rel);
    let found = list.relevant(Some(k), rel).filter(|&relevant| relevant).count();
    if total == 0 { 0.0 } else { found as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::graded;
    use super::*;

    #[test]
    fn by_hand() {
        let list = graded(&[Some(1), None, Some(2), Some(0)], &[1, 1]);
        assert_eq!(recall(&list, 1, 1), 0.25);
        assert_eq!(recall(&list, 100, 1), 0.5);
        assert_eq!(recall(&list, 100, 2), 1.0);
        assert_eq!(recall(&list, 100, 3), 0.0);
    }
}
