//! Which source a document belongs to, for source coverage.

use std::collections::BTreeSet;
use std::io::BufRead;

use rustc_hash::FxHashMap;

use crate::format::Lines;
use crate::{EvalError, JudgedQuery, Qrels, Run};

/// The source of each document and the number of sources there are.
///
/// Needed by `Coverage@k` and `SourceRecall@k` only; the default knows no source, and then every coverage is 0.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    by_doc: Option<FxHashMap<String, String>>,
    total: usize,
}

impl Sources {
    /// Sources from a mapping of documents to sources. A document that is not in it has no source.
    pub fn from_map(by_doc: impl IntoIterator<Item = (String, String)>) -> Self {
        let by_doc: FxHashMap<_, _> = by_doc.into_iter().collect();
        let total = by_doc.values().collect::<BTreeSet<_>>().len();
        Self { by_doc: Some(by_doc), total }
    }

    /// The same documents among more sources: those of these names are there too, even where they have no document here.
    #[must_use]
    pub fn among(mut self, names: impl IntoIterator<Item = String>) -> Self {
        let mut all: BTreeSet<_> = names.into_iter().collect();
        all.extend(self.by_doc.iter().flat_map(|map| map.values().cloned()));
        self.total = all.len().max(self.total);
        self
    }

    /// Sources from the ids: what stands before the first `:` or `/`, as in `wiki:42`. An id with neither has no source.
    ///
    /// All sources are those that occur among the judged documents and in any of `runs`.
    pub fn from_ids<'a>(qrels: &'a Qrels, runs: impl IntoIterator<Item = &'a Run>) -> Self {
        let judged = qrels.queries().iter().flat_map(JudgedQuery::docs);
        let mut all: BTreeSet<&str> = judged.filter_map(prefix).collect();
        for run in runs {
            all.extend(run.docs().filter_map(prefix));
        }
        Self { by_doc: None, total: all.len() }
    }

    /// Reads a mapping: one `document<TAB>source` per line. Spaces inside an id or a source belong to it.
    ///
    /// # Errors
    /// [`EvalError::Syntax`] when a line has not two columns or gives a document a second source, and the errors of
    /// [`Lines::next_line`].
    pub fn read<R: BufRead>(mut lines: Lines<R>) -> Result<Self, EvalError> {
        let mut by_doc = FxHashMap::default();
        loop {
            let row = match lines.next_line()? {
                None => break,
                Some(line) => two_columns(line.text).map(|(doc, source)| (doc.to_owned(), source.to_owned())),
            };
            let (doc, source) = row.map_err(|received| wrong_row(&lines, received.to_string()))?;
            if by_doc.get(&doc).is_some_and(|first| *first != source) {
                return Err(wrong_row(&lines, format!("a second source `{source}` for document `{doc}`")));
            }
            by_doc.insert(doc, source);
        }
        Ok(Self::from_map(by_doc))
    }

    /// The source of `doc`, if it has one.
    pub fn source_of<'a>(&'a self, doc: &'a str) -> Option<&'a str> {
        match &self.by_doc {
            Some(map) => map.get(doc).map(String::as_str),
            None => prefix(doc),
        }
    }

    /// How many sources there are.
    pub fn total(&self) -> usize {
        self.total
    }
}

/// The two columns of a row, or how many there are.
fn two_columns(text: &str) -> Result<(&str, &str), usize> {
    let columns: Vec<_> = text.split('\t').map(str::trim_ascii).filter(|column| !column.is_empty()).collect();
    match columns.as_slice() {
        &[doc, source] => Ok((doc, source)),
        other => Err(other.len()),
    }
}

fn wrong_row<R: BufRead>(lines: &Lines<R>, received: String) -> EvalError {
    EvalError::Syntax {
        place: lines.place(),
        expected: "2 columns (`document<TAB>source`), one line per document",
        received,
        hint: "separate the document and its source with one tab",
    }
}

fn prefix(doc: &str) -> Option<&str> {
    let end = doc.find([':', '/'])?;
    (end > 0).then(|| &doc[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_their_source() {
        let qrels = Qrels::read(Lines::new("1 0 wiki:1 1\n1 0 loose 1\n".as_bytes(), "q")).unwrap();
        let run = Run::read(Lines::new("1 Q0 slack/c1/9 1 1 t\n".as_bytes(), "r")).unwrap();
        let sources = Sources::from_ids(&qrels, [&run]);
        assert_eq!(sources.total(), 2);
        assert_eq!(sources.source_of("slack/c1/9"), Some("slack"));
        assert_eq!((sources.source_of("loose"), sources.source_of(":x")), (None, None));
    }

    #[test]
    fn a_mapping_wins_over_ids() {
        let sources = Sources::from_map([("wiki:1".to_owned(), "docs".to_owned())]);
        assert_eq!((sources.source_of("wiki:1"), sources.source_of("wiki:2")), (Some("docs"), None));
    }

    #[test]
    fn a_source_without_documents_counts() {
        let sources = Sources::from_map([("a".to_owned(), "wiki".to_owned())]);
        assert_eq!(sources.among(["wiki", "chat"].map(str::to_owned)).total(), 2);
    }

    #[test]
    fn a_mapping_is_read_from_a_file() {
        let sources = Sources::read(Lines::new("a b\twiki\r\nc\tslack\nc\tslack\n".as_bytes(), "m")).unwrap();
        assert_eq!((sources.total(), sources.source_of("a b")), (2, Some("wiki")));
        for (text, message) in
            [("a wiki\n", "received 1"), ("a\tx\na\ty\n", "received a second source `y` for document `a`")]
        {
            let error = Sources::read(Lines::new(text.as_bytes(), "m")).unwrap_err();
            assert!(error.to_string().ends_with(message), "{error}");
        }
    }
}
