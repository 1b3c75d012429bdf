//! Relevance judgements: TREC (`query iteration document relevance`) and BEIR (`query-id corpus-id score`).

use std::io::BufRead;

use mainstem_core::diagnostic::Place;

use super::{Line, Lines};
use crate::EvalError;

const TREC_COLUMNS: &str = "4 columns (`query iteration document relevance`)";
const BEIR_COLUMNS: &str = "3 columns (`query-id corpus-id score`)";
const EITHER_COLUMNS: &str =
    "4 columns (`query iteration document relevance`) or 3 (`query-id corpus-id score`)";

/// One judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QrelsRecord<'a> {
    /// The query.
    pub query: &'a str,
    /// The document.
    pub doc: &'a str,
    /// How relevant it is; 0 and below is not relevant.
    pub relevance: i64,
    /// The line in the file, from 1.
    pub line: u64,
}

/// Reads judgements record by record, in either format.
///
/// The first line decides for the whole file: the header `query-id corpus-id score` or three columns mean BEIR, four
/// columns mean TREC. With a header, columns are what tabs separate, so that ids may contain spaces; otherwise any
/// whitespace separates.
#[derive(Debug)]
pub struct QrelsReader<R> {
    lines: Lines<R>,
    layout: Option<Layout>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Trec,
    Beir,
    BeirTabs,
}

impl<R: BufRead> QrelsReader<R> {
    /// A reader of the records in `lines`.
    pub fn new(lines: Lines<R>) -> Self {
        Self { lines, layout: None }
    }

    /// The place of the record that was read last.
    pub fn place(&self) -> Place {
        self.lines.place()
    }

    /// The next judgement, or `None` at the end. Repeated documents are yielded as they come.
    ///
    /// # Errors
    /// [`EvalError::Syntax`] when the line has the wrong number of columns or a relevance that is not a whole number,
    /// and the errors of [`Lines::next_line`].
    pub fn next_record(&mut self) -> Result<Option<QrelsRecord<'_>>, EvalError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        if self.layout.is_none() {
            let layout = Layout::of(self.lines.current()?.text);
            self.layout = Some(layout);
            if layout == Layout::BeirTabs && !self.lines.advance()? {
                return Ok(None);
            }
        }
        let layout = self.layout.unwrap_or(Layout::Trec);
        let record = parse(self.lines.current()?, layout);
        record.map(Some).map_err(|problem| problem.at(self.lines.place()))
    }
}

impl Layout {
    fn of(first_line: &str) -> Self {
        let columns: Vec<_> = first_line.split_ascii_whitespace().collect();
        match columns.as_slice() {
            [query, doc, score] if is(query, "query-id") && is(doc, "corpus-id") && is(score, "score") => {
                Self::BeirTabs
            }
            [_, _, _] => Self::Beir,
            _ => Self::Trec,
        }
    }

    fn columns(self, text: &str) -> Vec<&str> {
        if self == Self::BeirTabs && text.contains('\t') {
            text.split('\t').map(str::trim_ascii).collect()
        } else {
            text.split_ascii_whitespace().collect()
        }
    }
}

fn is(column: &str, name: &str) -> bool {
    column.replace('_', "-").eq_ignore_ascii_case(name)
}

/// What is wrong with a line, before it is known which file it is in.
enum Problem<'a> {
    Columns(usize, Layout),
    EmptyId,
    Relevance { text: &'a str, first: bool },
}

impl Problem<'_> {
    fn at(self, place: Place) -> EvalError {
        let (expected, received, hint) = match self {
            Self::Columns(n, _) if n >= 6 => (
                EITHER_COLUMNS,
                "a line that looks like a run".to_owned(),
                "give the run as the run and the qrels as the qrels; the two look swapped",
            ),
            Self::Columns(n, layout) => (
                if layout == Layout::Trec { TREC_COLUMNS } else { BEIR_COLUMNS },
                n.to_string(),
                "write lines such as `1 0 doc7 1`, or `1<TAB>doc7<TAB>1` below the header `query-id corpus-id score`",
            ),
            Self::EmptyId => {
                ("a query and a document", "an empty column".to_owned(), "fill in the missing id")
            }
            Self::Relevance { text, first } => (
                "a whole number as relevance in the last column",
                format!("`{text}`"),
                if first {
                    "a header must read `query-id corpus-id score`; without a header, write 0, 1, 2, …"
                } else {
                    "write 0 for not relevant, and 1, 2, … for how relevant"
                },
            ),
        };
        EvalError::Syntax { place, expected, received, hint }
    }
}

fn parse(line: Line<'_>, layout: Layout) -> Result<QrelsRecord<'_>, Problem<'_>> {
    let columns = layout.columns(line.text);
    let (query, doc, text) = match (layout, columns.as_slice()) {
        (Layout::Trec, &[query, _, doc, text]) | (Layout::Beir | Layout::BeirTabs, &[query, doc, text]) => {
            (query, doc, text)
        }
        (_, other) => return Err(Problem::Columns(other.len(), layout)),
    };
    if query.is_empty() || doc.is_empty() {
        return Err(Problem::EmptyId);
    }
    let first = line.number == 1;
    let relevance = text.parse().map_err(|_| Problem::Relevance { text, first })?;
    Ok(QrelsRecord { query, doc, relevance, line: line.number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstem_core::diagnostic::Diagnostic as _;

    fn all(text: &str) -> Result<Vec<(String, String, i64)>, EvalError> {
        let mut reader = QrelsReader::new(Lines::new(text.as_bytes(), "q"));
        let mut out = Vec::new();
        while let Some(record) = reader.next_record()? {
            out.push((record.query.into(), record.doc.into(), record.relevance));
        }
        Ok(out)
    }

    fn one(query: &str, doc: &str, relevance: i64) -> Vec<(String, String, i64)> {
        vec![(query.into(), doc.into(), relevance)]
    }

    #[test]
    fn the_format_is_detected() {
        assert_eq!(all("301 0 CR93E-1282\t-1\n").unwrap(), one("301", "CR93E-1282", -1));
        assert_eq!(all("query-id\tcorpus-id\tscore\n1\td 7\t2\n").unwrap(), one("1", "d 7", 2));
        assert_eq!(all("1\td7\t2\r\n").unwrap(), one("1", "d7", 2));
        assert_eq!(all("Query_ID corpus_id score\n1 d7 2").unwrap(), one("1", "d7", 2));
        assert!(all("query-id\tcorpus-id\tscore\n").unwrap().is_empty());
    }

    #[test]
    fn errors_say_what_was_expected() {
        let cases = [
            (
                "1 0 a 1\n1 a 1\n",
                "q:2",
                "expected 4 columns (`query iteration document relevance`), received 3",
            ),
            ("1 a 1\n1 0 a 1\n", "q:2", "expected 3 columns (`query-id corpus-id score`), received 4"),
            ("1 0 a 0.5\n", "q:1", "expected a whole number as relevance in the last column, received `0.5`"),
            (
                "topic\tdoc\tgrade\n",
                "q:1",
                "expected a whole number as relevance in the last column, received `grade`",
            ),
            (
                "query-id\tcorpus-id\tscore\n1\t\t1\n",
                "q:2",
                "expected a query and a document, received an empty column",
            ),
        ];
        for (text, place, message) in cases {
            let error = all(text).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(error.place().map(ToString::to_string).as_deref(), Some(place));
        }
    }

    #[test]
    fn swapped_files_are_recognised() {
        let error = all("1 Q0 a 1 0.5 t\n").unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("swapped")));
    }
}
