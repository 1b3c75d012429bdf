//! BM25 with a boosted title.
//!
//! `score = Σ weight · idf · (k1 + 1) · tf / (tf + k1 · (1 − b + b · length / average))`, where `tf` counts an occurrence in the text once and
//! one in the title `1 + TITLE` times. Counting the title within `tf`, as BM25F does, keeps a word that stands in both from being paid twice.
//!
//! `idf = ln(1 + (N − n + 0.5) / (n + 0.5))` over all sources, but not more than `ln(N / (n − √n))` over any single one: a word that is common in
//! one source is a common word, however many other sources there are that never use it. `√n` is how far a count of `n` is off by chance, so
//! that a few chunks of a small source say nothing. With one source, the second is always greater, and this is plain BM25.
//!
//! `average` is that of the sources which have the words, see [`super::statistics`].
//!
//! The constants do well, if not best, on each of five judged collections (SciFact, NFCorpus, Cranfield, CISI, Medline). A bonus for query words
//! that stand side by side was tried there too, and left out: it brought no consistent gain in nDCG@10.
//!
//! Robertson, Zaragoza, Taylor: Simple BM25 Extension to Multiple Weighted Fields. CIKM 2004.

use tantivy::fieldnorm::FieldNormReader;

/// How soon more occurrences stop counting.
pub(super) const K1: f64 = 1.5;
/// How much long texts are discounted.
pub(super) const B: f64 = 0.75;
/// What an occurrence in the title counts on top of one in the text.
pub(super) const TITLE: f64 = 1.0;

/// What a term is worth at most: the score that more and more occurrences approach.
pub(super) fn bound(weight: f64, idf: f64) -> f64 {
    weight * idf * (K1 + 1.0)
}

/// How telling a term is that so many of all chunks have.
pub(super) fn idf(chunks: u64, with_term: u64) -> f64 {
    (1.0 + (chunks.saturating_sub(with_term) as f64 + 0.5) / (with_term as f64 + 0.5)).ln()
}

/// How telling a term is at most that so many chunks of one source have.
pub(super) fn idf_within(chunks: u64, with_term: u64) -> f64 {
    let for_sure = with_term as f64 - (with_term as f64).sqrt();
    (chunks as f64 / for_sure).ln()
}

/// The part of the formula that depends on the length of a text, for each of the 256 lengths that the index tells apart.
pub(super) fn length_norms(average: f64) -> [f64; 256] {
    std::array::from_fn(|id| {
        let length = f64::from(FieldNormReader::id_to_fieldnorm(id as u8));
        K1 * (1.0 - B + B * length / average.max(1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::{idf, idf_within};

    #[test]
    fn one_source_by_itself_is_plain_bm25() {
        for chunks in [1_u64, 2, 10, 1000, 1_000_000] {
            for with_term in
                [1, 2, 3, chunks / 2, chunks].into_iter().filter(|count| (1..=chunks).contains(count))
            {
                assert!(idf(chunks, with_term) < idf_within(chunks, with_term), "{with_term} of {chunks}");
            }
        }
    }

    #[test]
    fn one_chunk_of_a_source_says_nothing() {
        assert_eq!(idf_within(3, 1), f64::INFINITY);
    }
}
