//! Files with one JSON object a line (JSONL, NDJSON).
//!
//! The schema, of which only `id` and either `text`, `title` or `chunks` are needed:
//!
//! | field | what |
//! |---|---|
//! | `id` (or `_id`) | text or a number; unique within the source |
//! | `title` | text |
//! | `text` | text |
//! | `url` | where a person can see it |
//! | `created_at`, `updated_at` | RFC 3339, a date, or seconds or milliseconds since 1970 |
//! | `label` | how an answer names it, such as `[wiki: A]` |
//! | `readers` | a list of names; everyone may read it when left out |
//! | `key` | an exact key: documents with equal keys are the same thing |
//! | `metadata` | an object |
//! | `vector` | the vector of the whole document, which then is one chunk |
//! | `chunks` | `[{"text": …, "heading": …, "vector": […]}, …]`: parts that are cut already; each text occurs in `text`, in order, or `text` is left out |
//!
//! `null` is the same as left out. Any other field goes into the metadata. Vectors are brought to unit length. A line that does not keep to
//! this is skipped with its number and the reason; so is a line of more than 32 MiB.

mod record;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use mainstem_core::Failure;

use super::connector::{Connector, Position, Record, Skip, Standing, Unit};
use super::format::Format;
use super::lines::{Lines, MAX_LINE};
use crate::Error;

pub(super) use record::{Refused, unit};

/// One line as a document, or why it is none; the id goes with it where the line has one.
///
/// # Errors
/// When the line does not keep to the schema.
pub fn document(line: &str) -> Result<mainstem_core::Document, (Option<String>, String)> {
    record::parse(line, &mut None).map_err(|refused| match refused.standing {
        Standing::Present(id) => (Some(id), refused.why),
        Standing::Absent | Standing::Unknown => (None, refused.why),
    })
}

/// A file with one JSON object a line. The schema.
pub struct Jsonl {
    lines: Lines<Box<dyn BufRead>>,
    file: String,
    length: Option<u64>,
    dim: Option<usize>,
}

impl Jsonl {
    /// Opens a file; `-` is the standard input.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Ok(Self::new(Box::new(BufReader::new(std::io::stdin())), "standard input", None));
        }
        let cannot = |source| Error::io("cannot read the documents", path, source);
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let reader = Box::new(BufReader::with_capacity(1 << 17, file));
        Ok(Self::new(reader, path.display().to_string(), Some(length)))
    }

    /// Reads from `reader`, which skips and errors call `file`; `length` is how many bytes it has, where that is known.
    pub fn new(reader: Box<dyn BufRead>, file: impl Into<String>, length: Option<u64>) -> Self {
        Self { lines: Lines::new(reader, MAX_LINE), file: file.into(), length, dim: None }
    }

    /// Expects vectors of this length from the first line on: that of the vectors which the store has. A line with others is skipped.
    #[must_use]
    pub fn with_dim(mut self, dim: Option<usize>) -> Self {
        self.dim = dim;
        self
    }

    /// The next line as a document, or why it is none.
    pub(super) fn next_document(&mut self) -> Result<Option<Record>, Error> {
        let cannot = |source| Error::io("cannot read the documents", Path::new(&self.file), source);
        let Some(line) = self.lines.next_line().map_err(cannot)? else { return Ok(None) };
        let parsed = line.map_err(Refused::unnamed).and_then(|line| record::parse(line, &mut self.dim));
        let place = format!("{}:{}", self.file, self.lines.number());
        Ok(Some(match parsed {
            Ok(document) => Record::Document { document: Box::new(document), format: Format::Text },
            Err(refused) => Record::Skip(Skip { what: place, why: refused.why, standing: refused.standing }),
        }))
    }
}

impl Connector for Jsonl {
    fn next_record(&mut self) -> Result<Option<Record>, Failure> {
        self.next_document().map_err(|error| Box::new(error) as Failure)
    }

    fn position(&self) -> Position {
        Position { done: self.lines.bytes(), of: self.length, unit: Unit::Bytes }
    }
}

#[cfg(test)]
mod tests {
    use mainstem_core::Document;

    use super::*;

    fn read(text: &'static str) -> Vec<Record> {
        let mut jsonl = Jsonl::new(Box::new(text.as_bytes()), "f.jsonl", None);
        std::iter::from_fn(|| jsonl.next_document().unwrap()).collect()
    }

    fn document(line: &'static str) -> Document {
        match read(line).remove(0) {
            Record::Document { document, .. } => *document,
            Record::Skip(skip) => panic!("{}: {}", skip.what, skip.why),
        }
    }

    fn refusal(line: &'static str) -> Skip {
        match read(line).remove(0) {
            Record::Skip(skip) => skip,
            Record::Document { document, .. } => panic!("accepted {document:?}"),
        }
    }

    #[test]
    fn every_field_is_read_and_the_rest_is_metadata() {
        let read = document(
            r#"{"id":7,"title":"T","text":"Body","url":"u","created_at":"2026-01-31","updated_at":1769817600,
               "label":"[x]","readers":["ann"],"key":"k","metadata":{"a":1},"author":"Bob","empty":null}"#
                .replace('\n', " ")
                .leak(),
        );
        assert_eq!((read.id.as_str(), read.title.as_deref(), read.text.as_str()), ("7", Some("T"), "Body"));
        assert_eq!(read.readers, Some(vec!["ann".to_owned()]));
        assert_eq!(serde_json::Value::Object(read.metadata), serde_json::json!({"a": 1, "author": "Bob"}));
        assert!(read.created_at.is_some() && read.updated_at.is_some());
    }

    #[test]
    fn vectors_make_chunks_of_unit_length() {
        let whole = document(r#"{"_id":"a","text":"héllo","vector":[3,4]}"#);
        assert_eq!(whole.chunks[0].span, 0..6);
        assert_eq!(whole.chunks[0].vector, Some(vec![0.6, 0.8]));
        let parts =
            document(r#"{"id":"a","text":"one two","chunks":[{"text":"one","vector":[1]},{"text":"two"}]}"#);
        assert_eq!((parts.chunks[1].span.clone(), parts.chunks[1].order), (4..7, 1));
        let joined = document(r#"{"id":"a","chunks":[{"text":"one"},{"text":"two","heading":"H"}]}"#);
        assert_eq!((joined.text.as_str(), joined.chunks[1].span.clone()), ("one\n\ntwo", 5..8));
    }

    #[test]
    fn a_bad_line_names_its_place_and_reason() {
        let records = read("{\"id\":\"a\",\"text\":\"x\"}\n\nnot json\n{\"id\":\"b\",\"text\":\"y\"}\n");
        assert_eq!(records.len(), 3);
        let Record::Skip(skip) = &records[1] else { panic!("expected a skip") };
        assert_eq!((skip.what.as_str(), &skip.standing), ("f.jsonl:3", &Standing::Unknown));
        let cases = [
            (r#"{"text":"x"}"#, "`id`"),
            (r#"{"id":"","text":"x"}"#, "`id`"),
            (r#"{"id":"a"}"#, "no text"),
            (r#"{"id":"a","text":5}"#, "`text`: expected text, received a number"),
            (r#"{"id":"a","text":"x","created_at":"yesterday"}"#, "`created_at`"),
            (r#"{"id":"a","text":"x","vector":[1,"b"]}"#, "`vector`"),
            (r#"{"id":"a","text":"x","vector":[0,0]}"#, "length 0"),
            (r#"{"id":"a","text":"x","vector":[1e300]}"#, "not finite"),
            (r#"{"id":"a","text":"x","chunks":[{"text":"z"}]}"#, "does not occur"),
            (r#"{"id":"a","text":"x","vector":[1],"chunks":[]}"#, "both"),
            (r#"["a"]"#, "an object"),
        ];
        for (line, expected) in cases {
            let skip = refusal(line);
            assert!(skip.why.contains(expected), "{line}: {}", skip.why);
        }
        assert_eq!(refusal(r#"{"id":"a","text":5}"#).standing, Standing::Present("a".to_owned()));
    }

    #[test]
    fn vectors_of_another_length_are_refused() {
        let records = read(
            "{\"id\":\"a\",\"text\":\"x\",\"vector\":[1,0]}\n{\"id\":\"b\",\"text\":\"x\",\"vector\":[1]}",
        );
        let Record::Skip(skip) = &records[1] else { panic!("expected a skip") };
        assert!(skip.why.contains("expected 2 numbers as before, received 1"), "{}", skip.why);
    }
}
