//! Measures of one ranked list, and the names they go by.
//!
//! | name | asks | grades | file |
//! |---|---|---|---|
//! | `nDCG@k`, `nDCG` | are the most relevant documents at the top? | graded | [`ndcg()`] |
//! | `nDCGexp@k`, `nDCGexp` | the same, with high grades worth far more | graded | [`ndcg()`] |
//! | `AP`, `MAP`, `AP@k` | are all relevant documents near the top? | binary | [`average_precision()`] |
//! | `MRR`, `RR`, `MRR@k` | how far down is the first relevant one? | binary | [`reciprocal_rank()`] |
//! | `P@k` | how much of the page is relevant? | binary | [`precision()`] |
//! | `R@k`, `Recall@k` | how much of what exists was found? | binary | [`recall()`] |
//! | `Success@k` | was anything found? | binary | [`success()`] |
//! | `Judged@k`, `Judged` | how far can the other numbers be trusted? | – | [`judged()`] |
//! | `Coverage@k` | how many sources have a say? | – | [`coverage()`] |
//! | `SourceRecall@k` | how many of the sources with an answer gave one? | binary | [`source_recall()`] |
//!
//! "Binary" measures count a document as relevant from the *rel* threshold on (1 unless told otherwise, `trec_eval -l`).
//! Every value is in [0, 1], and 0 for an empty list.

mod average_precision;
mod coverage;
mod judged;
mod name;
mod ndcg;
mod precision;
mod recall;
mod reciprocal_rank;
mod source_recall;
mod success;

pub use average_precision::average_precision;
pub use coverage::coverage;
pub use judged::judged;
pub use name::Measure;
pub use ndcg::{Gain, ndcg};
pub use precision::precision;
pub use recall::recall;
pub use reciprocal_rank::reciprocal_rank;
pub use source_recall::source_recall;
pub use success::success;

use crate::{JudgedQuery, ScoredDoc, Sources};

/// What is measured. The variants are explained on the functions that compute them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// [`ndcg()`] with the given gain.
    Ndcg(Gain),
    /// [`average_precision()`].
    AveragePrecision,
    /// [`reciprocal_rank()`].
    ReciprocalRank,
    /// [`precision()`].
    Precision,
    /// [`recall()`].
    Recall,
    /// [`success()`].
    Success,
    /// [`judged()`].
    Judged,
    /// [`coverage()`].
    Coverage,
    /// [`source_recall()`].
    SourceRecall,
}

impl Kind {
    /// Whether the measure has to know which source a document belongs to.
    pub fn needs_sources(self) -> bool {
        matches!(self, Self::Coverage | Self::SourceRecall)
    }
}

/// A ranked list as the judges see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graded {
    /// The relevance of each returned document, best-ranked first; `None` where nobody judged it.
    pub grades: Vec<Option<i64>>,
    /// The relevance of every relevant document of the query, returned or not, best first.
    pub ideal: Vec<i64>,
}

impl Graded {
    /// Looks up the grades of a ranking.
    pub fn new(query: &JudgedQuery, ranking: &[ScoredDoc]) -> Self {
        Self {
            grades: ranking.iter().map(|scored| query.relevance(&scored.doc)).collect(),
            ideal: query.ideal(),
        }
    }

    /// The first `cutoff` grades, or all of them.
    fn top(&self, cutoff: Option<usize>) -> &[Option<i64>] {
        &self.grades[..cutoff.unwrap_or(usize::MAX).min(self.grades.len())]
    }

    /// Whether each of the first `cutoff` documents is relevant.
    fn relevant(&self, cutoff: Option<usize>, rel: i64) -> impl Iterator<Item = bool> {
        self.top(cutoff).iter().map(move |grade| grade.is_some_and(|grade| grade >= rel.max(1)))
    }

    /// How many relevant documents the query has.
    fn total_relevant(&self, rel: i64) -> usize {
        self.ideal.iter().filter(|&&grade| grade >= rel).count()
    }
}

impl Measure {
    /// The value of a list whose documents are known by their grades alone. Measures of sources have none.
    pub(crate) fn of_grades(&self, list: &Graded) -> f64 {
        self.score(&JudgedQuery::default(), list, &[], 1, &Sources::default())
    }

    /// The value for one query.
    ///
    /// `rel` is the threshold for binary measures whose name does not give one. Values below 1 count as 1: a document
    /// that was judged not relevant never counts as relevant.
    pub fn score(
        &self,
        query: &JudgedQuery,
        list: &Graded,
        ranking: &[ScoredDoc],
        rel: i64,
        sources: &Sources,
    ) -> f64 {
        let rel = self.rel().unwrap_or(rel);
        let cutoff = self.cutoff();
        let at = cutoff.unwrap_or(ranking.len());
        match self.kind() {
            Kind::Ndcg(gain) => ndcg(list, cutoff, gain),
            Kind::AveragePrecision => average_precision(list, cutoff, rel),
            Kind::ReciprocalRank => reciprocal_rank(list, cutoff, rel),
            Kind::Precision => precision(list, at, rel),
            Kind::Recall => recall(list, at, rel),
            Kind::Success => success(list, at, rel),
            Kind::Judged => judged(list, cutoff),
            Kind::Coverage => coverage(ranking, at, sources),
            Kind::SourceRecall => source_recall(query, &ranking[..at.min(ranking.len())], rel, sources),
        }
    }
}

/// A list from its grades, where `None` is unjudged, and the relevant documents that were not returned.
#[cfg(test)]
fn graded(grades: &[Option<i64>], missed: &[i64]) -> Graded {
    let found = grades.iter().flatten().copied();
    let mut ideal: Vec<_> = found.chain(missed.iter().copied()).filter(|&grade| grade > 0).collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    Graded { grades: grades.to_vec(), ideal }
}
