//! Source coverage at a cutoff.

use std::collections::BTreeSet;

use crate::{ScoredDoc, Sources};

/// Coverage@k: how many of the sources have a document in the first k places.
///
/// ```text
/// Coverage@k = distinct sources among the first k / min(k, number of all sources)
/// ```
///
/// This is subtopic recall with sources as subtopics and the best reachable value as divisor, so 1 means "as many
/// sources as fit". Documents without a known source add none.
///
/// - **Use it** beside `nDCG@k` when one search spans several sources, to see what a fairness or diversity setting buys.
/// - **Not** alone: a list of one bad document per source has full coverage, and for a question that one source answers,
///   low coverage is right.
///
/// After Zhai, Cohen and Lafferty, *Beyond independent relevance: methods and evaluation metrics for subtopic
/// retrieval*, SIGIR 2003.
pub fn coverage(ranking: &[ScoredDoc], k: usize, sources: &Sources) -> f64 {
    let reachable = k.min(sources.total());
    if reachable == 0 {
        return 0.0;
    }
    let top = ranking.iter().take(k).filter_map(|scored| sources.source_of(&scored.doc));
    let distinct = top.collect::<BTreeSet<_>>().len();
    distinct.min(reachable) as f64 / reachable as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let docs = ["wiki:1", "wiki:2", "slack:1", "loose"];
        let ranking: Vec<_> =
            docs.iter().map(|doc| ScoredDoc { doc: (*doc).to_owned(), score: 1.0 }).collect();
        let known = ["wiki:1", "wiki:2", "slack:1", "mail:1"];
        let map = known.map(|doc| (doc.to_owned(), doc[..4].to_owned()));
        let sources = Sources::from_map(map);
        assert_eq!(coverage(&ranking, 1, &sources), 1.0);
        assert_eq!(coverage(&ranking, 2, &sources), 0.5);
        assert_eq!(coverage(&ranking, 10, &sources), 2.0 / 3.0);
        assert_eq!(coverage(&[], 10, &sources), 0.0);
        assert_eq!(coverage(&ranking, 10, &Sources::default()), 0.0);
    }
}
