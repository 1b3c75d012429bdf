//! What a system returned for each query, in the order that `trec_eval` puts it.

use std::io::BufRead;

use mainstem_core::diagnostic::Place;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::EvalError;
use crate::format::{Lines, RunReader};

/// One returned document.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredDoc {
    /// The document's id.
    pub doc: String,
    /// Its score, as `trec_eval` holds it: a 32-bit float. Scores that differ in `f64` only are therefore tied.
    pub score: f32,
}

/// The results of one system for many queries.
///
/// By construction each document occurs once per query, and each list is ordered by score descending, then document id
/// descending (bytes).
#[derive(Clone, Debug, Default)]
pub struct Run {
    queries: FxHashMap<String, Vec<ScoredDoc>>,
}

impl Run {
    /// Reads a TREC run. An empty file is a run in which every query counts 0.
    ///
    /// # Errors
    /// The errors of [`RunReader::next_record`], and [`EvalError::Duplicate`] when a document is returned twice for
    /// one query: which of its scores should count is not for the evaluation to guess.
    pub fn read<R: BufRead>(lines: Lines<R>) -> Result<Self, EvalError> {
        let file = lines.file().to_owned();
        let mut reader = RunReader::new(lines);
        let mut builder = RunBuilder::default();
        while let Some(record) = reader.next_record()? {
            if !builder.push(record.query, record.doc, record.score) {
                return Err(EvalError::Duplicate {
                    query: record.query.to_owned(),
                    doc: record.doc.to_owned(),
                    place: Place::line(record.line).in_file(file),
                });
            }
        }
        Ok(builder.finish())
    }

    /// The documents returned for `query`, best first; empty when there are none.
    pub fn ranking(&self, query: &str) -> &[ScoredDoc] {
        self.queries.get(query).map_or(&[], Vec::as_slice)
    }

    /// The queries that have results, in no particular order.
    pub fn queries(&self) -> impl Iterator<Item = &str> {
        self.queries.keys().map(String::as_str)
    }

    /// Every returned document of every query, in no particular order.
    pub fn docs(&self) -> impl Iterator<Item = &str> {
        self.queries.values().flatten().map(|scored| scored.doc.as_str())
    }
}

/// Collects the results of a run, from a file or from a live search.
#[derive(Clone, Debug, Default)]
pub struct RunBuilder {
    queries: FxHashMap<String, Listed>,
}

#[derive(Clone, Debug, Default)]
struct Listed {
    seen: FxHashSet<String>,
    docs: Vec<ScoredDoc>,
}

impl RunBuilder {
    /// Adds a result; false when `doc` was returned for `query` before, and then nothing changes.
    ///
    /// The score should be finite; NaN sorts above everything, so that it cannot go unnoticed.
    pub fn push(&mut self, query: &str, doc: &str, score: f64) -> bool {
        let listed = match self.queries.get_mut(query) {
            Some(listed) => listed,
            None => self.queries.entry(query.to_owned()).or_default(),
        };
        if !listed.seen.insert(doc.to_owned()) {
            return false;
        }
        // Adding zero turns -0 into 0: C compares them as equal, `total_cmp` would not.
        let score = score as f32 + 0.0;
        listed.docs.push(ScoredDoc { doc: doc.to_owned(), score });
        true
    }

    /// The run, each list in order.
    pub fn finish(self) -> Run {
        let sorted = |(query, mut listed): (String, Listed)| {
            listed.docs.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.doc.cmp(&a.doc)));
            (query, listed.docs)
        };
        Run { queries: self.queries.into_iter().map(sorted).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> Vec<String> {
        let run = Run::read(Lines::new(text.as_bytes(), "r")).unwrap();
        run.ranking("1").iter().map(|scored| scored.doc.clone()).collect()
    }

    #[test]
    fn ranks_are_ignored_and_ties_go_to_the_greater_id() {
        assert_eq!(order("1 Q0 a 1 0.5 t\n1 Q0 b 2 0.9 t\n1 Q0 c 3 0.5 t\n"), ["b", "c", "a"]);
    }

    #[test]
    fn scores_are_compared_as_32_bit_floats() {
        assert_eq!(order("1 Q0 a 1 0.50000000001 t\n1 Q0 b 2 0.5 t\n"), ["b", "a"]);
        assert_eq!(order("1 Q0 a 1 0.0 t\n1 Q0 b 2 -0.0 t\n"), ["b", "a"]);
    }

    #[test]
    fn a_repeated_document_is_refused_with_its_line() {
        let error =
            Run::read(Lines::new("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n".as_bytes(), "r")).unwrap_err();
        assert!(matches!(&error, EvalError::Duplicate { place, doc, .. }
            if place.to_string() == "r:3" && doc == "a"));
    }

    #[test]
    fn an_empty_file_is_an_empty_run() {
        let run = Run::read(Lines::new("".as_bytes(), "r")).unwrap();
        assert!(run.ranking("1").is_empty());
    }
}
