//! Average precision.

use super::Graded;

/// AP: the precision at each relevant document, averaged over all relevant documents.
///
/// ```text
/// AP@k = Σ P@i over the ranks i ≤ k that hold a relevant document / number of relevant documents of the query
/// ```
///
/// A relevant document that was not returned adds 0. `MAP` is the same measure; the mean over queries is what every
/// evaluation prints anyway.
///
/// - **Use it** when every relevant document matters and order matters too: literature, patents, code review history.
/// - **Not** with graded judgements (`nDCG` uses them, AP throws them away), nor with shallow judgements, where unjudged
///   documents drag it down.
///
/// Buckley and Voorhees, *Evaluating evaluation measure stability*, SIGIR 2000 (`map`, `map_cut` in `trec_eval`).
pub fn average_precision(list: &Graded, cutoff: Option<usize>, rel: i64) -> f64 {
    let total = list.total_relevant(rel);
    if total == 0 {
        return 0.0;
    }
    let mut found = 0.0;
    let mut sum = 0.0;
    for (index, relevant) in list.relevant(cutoff, rel).enumerate() {
        if relevant {
            found += 1.0;
            sum += found / (index + 1) as f64;
        }
    }
    sum / total as f64
}

#[cfg(test)]
mod tests {
    use super::super::graded;
    use super::*;

    #[test]
    fn by_hand() {
        // Relevant at ranks 1 and 3, and one missed: (1/1 + 2/3) / 3.
        let list = graded(&[Some(1), Some(0), Some(2), None], &[1]);
        assert_eq!(average_precision(&list, None, 1), (1.0 + 2.0 / 3.0) / 3.0);
        assert_eq!(average_precision(&list, Some(2), 1), 1.0 / 3.0);
        // From relevance 2 on there is one relevant document, at rank 3.
        assert_eq!(average_precision(&list, None, 2), 1.0 / 3.0);
        assert_eq!(average_precision(&list, None, 3), 0.0);
    }
}
