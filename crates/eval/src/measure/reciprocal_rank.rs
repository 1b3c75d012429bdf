//! Reciprocal rank.

use super::Graded;

/// RR: one over the rank of the first relevant document.
///
/// ```text
/// RR@k = 1 / rank of the first relevant document, 0 when there is none in the first k
/// ```
///
/// `MRR` is the same measure; the mean over queries is what every evaluation prints anyway.
///
/// - **Use it** when one right answer is enough: question answering, "where is the page about …", autocomplete.
/// - **Not** when users read on after the first hit, and not for fine comparisons: it sees one document per query and
///   jumps from 1 to 1/2, so it needs many queries.
///
/// Kantor and Voorhees, *The TREC-5 confusion track*, Information Retrieval 2, 2000 (`recip_rank` in `trec_eval`).
pub fn reciprocal_rank(list: &Graded, cutoff: Option<usize>, rel: i64) -> f64 {
    let first = list.relevant(cutoff, rel).position(|relevant| relevant);
    first.map_or(0.0, |index| 1.0 / (index + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::super::graded;
    use super::*;

    #[test]
    fn by_hand() {
        let list = graded(&[None, Some(0), Some(1), Some(2)], &[]);
        assert_eq!(reciprocal_rank(&list, None, 1), 1.0 / 3.0);
        assert_eq!(reciprocal_rank(&list, Some(2), 1), 0.0);
        assert_eq!(reciprocal_rank(&list, None, 2), 0.25);
        assert_eq!(reciprocal_rank(&graded(&[], &[1]), None, 1), 0.0);
    }
}
