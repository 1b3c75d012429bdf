//! Judged collections as BEIR has them: a folder with `corpus.jsonl` (`_id`, `title`, `text`), vectors beside it.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use mainstem_core::diagnostic::{Code, Place};
use mainstem_core::{Chunk, Document, Failure};

use super::connector::{Connector, Position, Record, Skip, Standing};
use super::format::Format;
use super::jsonl::{Jsonl, unit};
use super::lines::{Lines, MAX_LINE};
use super::npy::Rows;
use crate::Error;

/// A corpus with one vector for each document, or none.
///
/// With vectors, every document is one chunk, and row `n` of the vectors belongs to line `n` that is not blank. Without, texts are cut by
/// sentences.
pub struct Beir {
    corpus: Jsonl,
    vectors: Option<Rows>,
}

impl Beir {
    /// The file of documents in a folder, or the file itself.
    pub fn corpus_of(path: &Path) -> PathBuf {
        if path.is_dir() { path.join("corpus.jsonl") } else { path.to_owned() }
    }

    /// Opens a folder with a `corpus.jsonl`, or such a file, and the vectors of its documents.
    ///
    /// # Errors
    /// When a file cannot be read, or there are more or fewer vectors than documents.
    pub fn open(path: &Path, vectors: Option<&Path>) -> Result<Self, Error> {
        let corpus = Self::corpus_of(path);
        let rows = vectors.map(Rows::open).transpose()?;
        if let (Some(rows), Some(vectors)) = (&rows, vectors) {
            check_count(&corpus, rows, vectors)?;
        }
        Ok(Self { corpus: Jsonl::open(&corpus)?, vectors: rows })
    }

    /// The length of the vectors, where there are any.
    pub fn dim(&self) -> Option<usize> {
        self.vectors.as_ref().map(Rows::dim)
    }
}

/// Row by row they could be told apart only at the end, when everything is written.
fn check_count(corpus: &Path, rows: &Rows, vectors: &Path) -> Result<(), Error> {
    let cannot = |source| Error::io("cannot read the documents", corpus, source);
    let mut lines =
        Lines::new(BufReader::with_capacity(1 << 17, File::open(corpus).map_err(cannot)?), MAX_LINE);
    let mut documents = 0_u64;
    while lines.next_line().map_err(cannot)?.is_some() {
        documents += 1;
    }
    if documents == rows.rows() {
        return Ok(());
    }
    Err(Error::Input {
        message: format!("expected {documents} rows, one for each document, received {}", rows.rows()),
        code: Code::Conflict,
        hint: "make the vectors from this very corpus, in the order of its lines".to_owned(),
        place: Some(Place::default().in_file(vectors.display().to_string())),
    })
}

impl Connector for Beir {
    fn next_record(&mut self) -> Result<Option<Record>, Failure> {
        let failure = |error: Error| Box::new(error) as Failure;
        let Some(record) = self.corpus.next_document().map_err(failure)? else { return Ok(None) };
        let Some(rows) = &mut self.vectors else { return Ok(Some(record)) };
        let row = rows.next_row().map_err(failure)?.unwrap_or_default();
        Ok(Some(match record {
            Record::Document { document, .. } => with_vector(document, row),
            skip @ Record::Skip(_) => skip,
        }))
    }

    fn position(&self) -> Position {
        self.corpus.position()
    }
}

fn with_vector(mut document: Box<Document>, row: Vec<f32>) -> Record {
    match unit(row) {
        Ok(vector) => {
            let (span, text) = (0..document.text.len(), document.text.clone());
            document.chunks = vec![Chunk { order: 0, span, text, heading: None, vector: Some(vector) }];
            Record::Document { document, format: Format::Whole }
        }
        Err(why) => Record::Skip(Skip {
            what: document.id.clone(),
            why: format!("vector: {why}"),
            standing: Standing::Present(document.id),
        }),
    }
}
