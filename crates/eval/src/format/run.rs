//! TREC runs: `query Q0 document rank score tag`.

use std::io::{self, BufRead, Write};

use mainstem_core::diagnostic::Place;

use super::{Line, Lines};
use crate::EvalError;

const COLUMNS: &str = "6 columns (`query Q0 document rank score tag`)";

/// One line of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunRecord<'a> {
    /// The query.
    pub query: &'a str,
    /// The document.
    pub doc: &'a str,
    /// The rank as written. Evaluation ignores it, as `trec_eval` does.
    pub rank: i64,
    /// The score; always finite.
    pub score: f64,
    /// The name of the run.
    pub tag: &'a str,
    /// The line in the file, from 1.
    pub line: u64,
}

/// Reads a TREC run record by record.
///
/// Columns are separated by any run of spaces and tabs; whatever follows the tag is ignored, as `trec_eval` does. The
/// second column may hold anything. An empty file is a run without results.
#[derive(Debug)]
pub struct RunReader<R> {
    lines: Lines<R>,
}

impl<R: BufRead> RunReader<R> {
    /// A reader of the records in `lines`.
    pub fn new(lines: Lines<R>) -> Self {
        Self { lines }
    }

    /// The place of the record that was read last.
    pub fn place(&self) -> Place {
        self.lines.place()
    }

    /// The next record, or `None` at the end. Repeated documents are yielded as they come.
    ///
    /// # Errors
    /// [`EvalError::Syntax`] when the line has too few columns or a rank or score that is not a number,
    /// [`EvalError::NonFinite`] when the score is NaN or infinite, and the errors of [`Lines::next_line`].
    pub fn next_record(&mut self) -> Result<Option<RunRecord<'_>>, EvalError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        let record = parse(self.lines.current()?);
        record.map(Some).map_err(|problem| problem.at(self.lines.place()))
    }
}

/// What is wrong with a line, before it is known which file it is in.
enum Problem<'a> {
    Columns(usize),
    Rank(&'a str),
    Score(&'a str),
    NonFinite { doc: &'a str, score: &'a str },
}

impl Problem<'_> {
    fn at(self, place: Place) -> EvalError {
        let syntax = |place, expected, received, hint| EvalError::Syntax { place, expected, received, hint };
        match self {
            Self::Columns(3 | 4) => syntax(
                place,
                COLUMNS,
                "a line that looks like qrels".into(),
                "give the run as the run and the qrels as the qrels; the two look swapped",
            ),
            Self::Columns(n) => syntax(
                place,
                COLUMNS,
                format!("{n}"),
                "write lines such as `1 Q0 doc7 1 0.93 myrun`; ids and the tag must not contain spaces",
            ),
            Self::Rank(text) => syntax(
                place,
                "a whole number as rank in column 4",
                format!("`{text}`"),
                "write the rank as 1, 2, 3, …; check that no column is missing or contains a space",
            ),
            Self::Score(text) => syntax(
                place,
                "a number as score in column 5",
                format!("`{text}`"),
                "write the score as a decimal number with a point, such as 12.5",
            ),
            Self::NonFinite { doc, score } => {
                EvalError::NonFinite { place, doc: doc.to_owned(), received: score.to_owned() }
            }
        }
    }
}

fn parse(line: Line<'_>) -> Result<RunRecord<'_>, Problem<'_>> {
    let mut columns = line.text.split_ascii_whitespace();
    let mut six = [""; 6];
    for (at, slot) in six.iter_mut().enumerate() {
        *slot = columns.next().ok_or(Problem::Columns(at))?;
    }
    let [query, _, doc, rank_text, score_text, tag] = six;
    let rank = rank_text.parse().map_err(|_| Problem::Rank(rank_text))?;
    let score: f64 = score_text.parse().map_err(|_| Problem::Score(score_text))?;
    if !score.is_finite() {
        return Err(Problem::NonFinite { doc, score: score_text });
    }
    Ok(RunRecord { query, doc, rank, score, tag, line: line.number })
}

/// Writes a TREC run.
///
/// Scores are printed with the fewest digits that read back as the same `f64`, so a run that is written and read
/// again is the same run.
#[derive(Debug)]
pub struct RunWriter<W> {
    out: W,
    tag: String,
}

impl<W: Write> RunWriter<W> {
    /// A writer to `out` that names the run `tag`. Whitespace in the tag becomes `_`, an empty tag `-`.
    pub fn new(out: W, tag: &str) -> Self {
        Self {
            out,
            tag: if tag.is_empty() {
                "-".to_owned()
            } else {
                tag.replace(|c: char| c.is_ascii_whitespace(), "_")
            },
        }
    }

    /// Writes one line.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when an id is empty or contains whitespace, or the score is not finite: such a
    /// line could not be read back. Otherwise the errors of the output.
    pub fn write(&mut self, query: &str, doc: &str, rank: u64, score: f64) -> io::Result<()> {
        for id in [query, doc] {
            if !is_column(id) {
                let message =
                    format!("expected an id without white space or a byte order mark, received `{id}`");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        }
        if !score.is_finite() {
            let message = format!("expected a finite score, received `{score}` for document `{doc}`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        writeln!(self.out, "{query} Q0 {doc} {rank} {score} {}", self.tag)
    }

    /// Gives the output back, so that it can be flushed or inspected.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Whether `id` reads back as the same column. A byte order mark at the front could be taken for that of the file.
fn is_column(id: &str) -> bool {
    !id.is_empty() && !id.contains(|c: char| c.is_ascii_whitespace()) && !id.starts_with('\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstem_core::diagnostic::{Code, Diagnostic as _};

    fn first(text: &str) -> Result<(String, String, i64, f64, String), EvalError> {
        let mut reader = RunReader::new(Lines::new(text.as_bytes(), "a.run"));
        let record = reader.next_record()?.expect("a record");
        Ok((record.query.into(), record.doc.into(), record.rank, record.score, record.tag.into()))
    }

    #[test]
    fn reads_any_whitespace_and_ignores_what_follows_the_tag() {
        let got = first("301\tQ0  FT941-17652\t99\t  1.857372 STANDARD end of lines.\n").unwrap();
        assert_eq!(got, ("301".into(), "FT941-17652".into(), 99, 1.857_372, "STANDARD".into()));
    }

    #[test]
    fn repeated_documents_are_the_consumers_business() {
        let mut reader = RunReader::new(Lines::new("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n".as_bytes(), "a.run"));
        assert_eq!(reader.next_record().unwrap().map(|r| r.line), Some(1));
        assert_eq!(reader.next_record().unwrap().map(|r| r.line), Some(2));
        assert_eq!(reader.next_record().unwrap(), None);
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let cases = [
            (
                "1 Q0 a 1 0.5",
                Code::Syntax,
                "expected 6 columns (`query Q0 document rank score tag`), received 5",
            ),
            (
                "1 Q0 a first 0.5 t",
                Code::Syntax,
                "expected a whole number as rank in column 4, received `first`",
            ),
            ("1 Q0 a 1 high t", Code::Syntax, "expected a number as score in column 5, received `high`"),
            ("1 Q0 a 1 NaN t", Code::NonFinite, "expected a finite score, received `NaN` for document `a`"),
            ("1 Q0 a 1 inf t", Code::NonFinite, "expected a finite score, received `inf` for document `a`"),
            (
                "1 Q0 a 1 1e999 t",
                Code::NonFinite,
                "expected a finite score, received `1e999` for document `a`",
            ),
        ];
        for (line, code, message) in cases {
            let error = first(&format!("\n{line}\n")).unwrap_err();
            assert_eq!((error.code(), error.to_string()), (code, message.to_owned()));
            assert_eq!(error.place().map(ToString::to_string), Some("a.run:2".to_owned()));
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn swapped_files_are_recognised() {
        let error = first("1 0 a 1\n").unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("swapped")));
    }

    #[test]
    fn the_writer_refuses_what_could_not_be_read_back() {
        let mut writer = RunWriter::new(Vec::new(), "my tag");
        writer.write("1", "a", 1, 0.1 + 0.2).unwrap();
        assert!(writer.write("1", "a b", 2, 0.1).is_err());
        assert!(writer.write("", "a", 2, 0.1).is_err());
        assert!(writer.write("1", "a", 2, f64::NAN).is_err());
        assert_eq!(writer.into_inner(), b"1 Q0 a 1 0.30000000000000004 my_tag\n");
    }
}
