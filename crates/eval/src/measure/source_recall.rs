//! Recall of sources at a cutoff.

use std::collections::BTreeSet;

use crate::{JudgedQuery, ScoredDoc, Sources};

/// SourceRecall@k: of the sources that hold a relevant document, how many have one in the first k places.
///
/// ```text
/// SourceRecall@k = sources with a relevant document in the first k / sources with a relevant document    (0 when there are none)
/// ```
///
/// This is subtopic recall with sources as subtopics. `first` is the list, cut at k.
///
/// - **Use it** when one question is answered by several sources, to see whether merging them lost one.
/// - **Not** for order: a source counts the same at place 1 and at place k.
///
/// Zhai, Cohen and Lafferty, *Beyond independent relevance: methods and evaluation metrics for subtopic retrieval*, SIGIR 2003.
pub fn source_recall(query: &JudgedQuery, first: &[ScoredDoc], rel: i64, sources: &Sources) -> f64 {
    let relevant = |doc: &&str| query.relevance(doc).is_some_and(|grade| grade >= rel.max(1));
    let holding = |doc| sources.source_of(doc);
    let all: BTreeSet<_> = query.docs().filter(relevant).filter_map(holding).collect();
    let found = first.iter().map(|scored| scored.doc.as_str()).filter(relevant).filter_map(holding);
    let found = found.collect::<BTreeSet<_>>().len();
    if all.is_empty() { 0.0 } else { found as f64 / all.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Qrels;
    use crate::format::Lines;

    #[test]
    fn by_hand() {
        let judged = "1 0 wiki/a 2\n1 0 wiki/b 1\n1 0 mail/c 1\n1 0 chat/d 0\n";
        let qrels = Qrels::read(Lines::new(judged.as_bytes(), "q")).unwrap();
        let sources = Sources::from_ids(&qrels, []);
        let docs = ["chat/d", "wiki/a", "wiki/b", "mail/x", "mail/c"];
        let list: Vec<_> = docs.map(|doc| ScoredDoc { doc: doc.to_owned(), score: 1.0 }).into();
        let at = |k: usize, rel| source_recall(&qrels.queries()[0], &list[..k], rel, &sources);
        assert_eq!((at(0, 1), at(1, 1), at(4, 1), at(5, 1)), (0.0, 0.0, 0.5, 1.0));
        assert_eq!((at(5, 2), at(5, 3)), (1.0, 0.0));
    }
}
