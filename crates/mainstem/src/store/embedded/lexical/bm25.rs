//! BM25 with a boosted title.
//!
//! `score = Σ weight · idf · (k1 + 1) · tf / (tf + k1 · (1 − b + b · length / average))`, where `tf` counts an occurrence in the text once and
//! one in the title `1 + TITLE` times, and `idf = ln(1 + (N − n + 0.5) / (n + 0.5))`. Counting the title within `tf`, as BM25F does, keeps a
//! word that stands in both from being paid twice.
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
pub(super) fn bound(weight: f64, chunks: u64, with_term: u64) -> f64 {
    let idf = (1.0 + (chunks.saturating_sub(with_term) as f64 + 0.5) / (with_term as f64 + 0.5)).ln();
    weight * idf * (K1 + 1.0)
}

/// The part of the formula that depends on the length of a text, for each of the 256 lengths that the index tells apart.
pub(super) fn length_norms(average: f64) -> [f64; 256] {
    std::array::from_fn(|id| {
        let length = f64::from(FieldNormReader::id_to_fieldnorm(id as u8));
        K1 * (1.0 - B + B * length / average.max(1.0))
    })
}
