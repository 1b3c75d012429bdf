//! Which documents are relevant to which query.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::io::BufRead;

use mainstem_core::diagnostic::Place;
use rustc_hash::FxHashMap;

use crate::EvalError;
use crate::format::{Lines, QrelsReader};

/// The judgements of a collection, never empty when read from a file.
///
/// Queries are ordered: ids that are numbers by value, then the others byte by byte. Every list and every mean of this
/// crate runs in that order.
#[derive(Clone, Debug, Default)]
pub struct Qrels {
    queries: Vec<JudgedQuery>,
}

/// One query and its judged documents.
#[derive(Clone, Debug, Default)]
pub struct JudgedQuery {
    /// The query's id.
    pub id: String,
    relevance: FxHashMap<String, i64>,
}

impl JudgedQuery {
    /// How relevant `doc` is, or `None` when nobody judged it.
    pub fn relevance(&self, doc: &str) -> Option<i64> {
        self.relevance.get(doc).copied()
    }

    /// The judged documents, in no particular order.
    pub fn docs(&self) -> impl Iterator<Item = &str> {
        self.relevance.keys().map(String::as_str)
    }

    /// The relevance of every relevant document, best first.
    pub fn ideal(&self) -> Vec<i64> {
        let mut grades: Vec<_> = self.relevance.values().copied().filter(|&grade| grade > 0).collect();
        grades.sort_unstable_by(|a, b| b.cmp(a));
        grades
    }
}

impl Qrels {
    /// Reads TREC or BEIR judgements.
    ///
    /// # Errors
    /// The errors of [`QrelsReader::next_record`], [`EvalError::Duplicate`] when a document is judged twice for one
    /// query (even if both judgements agree), and [`EvalError::NoJudgements`] when there is none.
    pub fn read<R: BufRead>(lines: Lines<R>) -> Result<Self, EvalError> {
        let file = lines.file().to_owned();
        let mut reader = QrelsReader::new(lines);
        let mut builder = QrelsBuilder::default();
        while let Some(record) = reader.next_record()? {
            if !builder.judge(record.query, record.doc, record.relevance) {
                return Err(EvalError::Duplicate {
                    query: record.query.to_owned(),
                    doc: record.doc.to_owned(),
                    place: Place::line(record.line).in_file(file),
                });
            }
        }
        if builder.queries.is_empty() {
            let place = Place::default().in_file(file);
            return Err(EvalError::NoJudgements { place });
        }
        Ok(builder.finish())
    }

    /// The judged queries, in order.
    pub fn queries(&self) -> &[JudgedQuery] {
        &self.queries
    }

    /// Whether any document was judged for `query`.
    pub fn contains(&self, query: &str) -> bool {
        self.queries.binary_search_by(|judged| query_order(&judged.id, query)).is_ok()
    }
}

/// Collects judgements that do not come from a file.
#[derive(Clone, Debug, Default)]
pub struct QrelsBuilder {
    queries: FxHashMap<String, FxHashMap<String, i64>>,
}

impl QrelsBuilder {
    /// Adds a judgement; false when `doc` was judged for `query` before, and then nothing changes.
    pub fn judge(&mut self, query: &str, doc: &str, relevance: i64) -> bool {
        let docs = match self.queries.get_mut(query) {
            Some(docs) => docs,
            None => self.queries.entry(query.to_owned()).or_default(),
        };
        match docs.entry(doc.to_owned()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(relevance);
                true
            }
        }
    }

    /// The judgements, in query order.
    pub fn finish(self) -> Qrels {
        let queries = self.queries.into_iter();
        let mut queries: Vec<_> = queries.map(|(id, relevance)| JudgedQuery { id, relevance }).collect();
        queries.sort_unstable_by(|a, b| query_order(&a.id, &b.id));
        Qrels { queries }
    }
}

/// Ids that are numbers by value, then all others byte by byte.
pub(crate) fn query_order(a: &str, b: &str) -> Ordering {
    numeric_key(a).cmp(&numeric_key(b)).then_with(|| a.cmp(b))
}

/// (not a number, digits without leading zeros, the digits): comparing these compares numbers of any length by value.
fn numeric_key(id: &str) -> (bool, usize, &str) {
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return (true, 0, id);
    }
    let digits = id.trim_start_matches('0');
    (false, digits.len(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_come_numbers_first_by_value() {
        let mut builder = QrelsBuilder::default();
        for id in ["q2", "10", "9", "q10", "010", "99999999999999999999999"] {
            builder.judge(id, "d", 1);
        }
        let qrels = builder.finish();
        let ids: Vec<_> = qrels.queries().iter().map(|query| query.id.as_str()).collect();
        assert_eq!(ids, ["9", "010", "10", "99999999999999999999999", "q10", "q2"]);
        assert!(ids.iter().all(|id| qrels.contains(id)));
        assert!(!qrels.contains("1"));
    }

    #[test]
    fn a_document_judged_twice_is_refused() {
        let error = Qrels::read(Lines::new("1 0 a 1\n2 0 a 1\n1 0 a 1\n".as_bytes(), "q")).unwrap_err();
        assert!(matches!(&error, EvalError::Duplicate { place, .. } if place.to_string() == "q:3"));
    }

    #[test]
    fn an_empty_file_is_refused() {
        for text in ["", "\n\n", "query-id\tcorpus-id\tscore\n"] {
            let error = Qrels::read(Lines::new(text.as_bytes(), "q")).unwrap_err();
            assert!(matches!(error, EvalError::NoJudgements { .. }));
        }
    }

    #[test]
    fn the_ideal_order_leaves_out_what_is_not_relevant() {
        let qrels = Qrels::read(Lines::new("1 0 a 1\n1 0 b -2\n1 0 c 3\n1 0 d 0\n".as_bytes(), "q")).unwrap();
        assert_eq!(qrels.queries()[0].ideal(), [3, 1]);
    }
}
