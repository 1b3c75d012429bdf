//! Lines that are written together.

use mainstem::ingest::{Format, Ingest, Summary, Vectors, jsonl, vectors};
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::{Embedder, SourceStats};
use mainstem_core::{Code, Document, Failure, Fault};

use super::LineResult;
use super::lines::Line;
use crate::app::App;
use crate::body::check_depth;
use crate::error::ApiError;

/// So many lines, and so many bytes of them, are written at once.
const MOST_LINES: usize = 1024;
const MOST_BYTES: usize = 8 << 20;

/// So many lines where a model may have to read them, which takes longer than everything else.
const MOST_READ: usize = 256;

/// Where documents go.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) source: String,
    pub(super) kind: Option<String>,
    pub(super) vectors_model: Option<String>,
    /// The run that the request is a part of.
    pub(super) run: Option<String>,
}

/// Lines in hand.
pub(super) struct Batch {
    lines: Vec<Line>,
    bytes: usize,
    most: usize,
}

/// A line that was looked at.
struct Parsed {
    number: u64,
    id: Option<String>,
    document: Result<Document, ApiError>,
}

impl Batch {
    /// An empty batch, for lines that a model may have to read or not.
    pub(super) fn new(read: bool) -> Self {
        Self { lines: Vec::new(), bytes: 0, most: if read { MOST_READ } else { MOST_LINES } }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.lines.len() >= self.most || self.bytes >= MOST_BYTES
    }

    pub(super) fn push(&mut self, line: Line) {
        self.bytes += line.text.as_ref().map_or(0, Vec::len);
        self.lines.push(line);
    }

    /// Writes the documents, and gives a result for each line when all of them are on disk.
    ///
    /// Should a document be refused, nothing of the batch is written; then each is written on its own, to tell which one it is.
    ///
    /// # Errors
    /// When nothing can be written now, whatever the documents are.
    pub(super) fn write(self, app: &App, target: &Target) -> Result<(Vec<LineResult>, Summary), ApiError> {
        let depth = app.config.json_depth;
        let mut lines: Vec<Parsed> = self.lines.into_iter().map(|line| Parsed::new(line, depth)).collect();
        let documents = lines.iter().filter_map(|line| line.document.as_ref().ok().cloned()).collect();
        let model = app.documents_model();
        let (embedder, store) = (model.as_deref(), app.store.as_ref());
        let written = match put(store, target, embedder, documents) {
            Ok(written) => written,
            Err(failure) if failure.code().fault() == Fault::Caller => {
                put_one_by_one(store, target, embedder, &mut lines)?
            }
            Err(failure) => return Err(failure.into()),
        };
        if written.documents > 0 {
            name_source(store, target)?;
            // A folder that is ingested into the same source later must not take these for its own.
            store.add_origin(&target.source, "the server")?;
            app.follow_model()?;
        }
        Ok((lines.into_iter().map(Parsed::result).collect(), written))
    }
}

impl Parsed {
    fn new(line: Line, depth: usize) -> Self {
        let parsed = line.text.map_err(|error| (None, error)).and_then(|text| parse(&text, depth));
        let (id, document) = match parsed {
            Ok(document) => (Some(document.id.clone()), Ok(document)),
            Err((id, error)) => (id, Err(error)),
        };
        Self { number: line.number, id, document }
    }

    fn result(self) -> LineResult {
        let error = self.document.err().map(|error| error.body().error);
        let status = if error.is_none() { "stored" } else { "refused" };
        LineResult { line: self.number, id: self.id, status, error }
    }
}

fn parse(text: &[u8], depth: usize) -> Result<Document, (Option<String>, ApiError)> {
    let unnamed = |error| (None, error);
    let hint = "see docs/http.md for what a line has";
    let text = std::str::from_utf8(text).map_err(|error| {
        let message = format!("not UTF-8 at byte {}", error.valid_up_to() + 1);
        unnamed(ApiError::new(Code::Encoding, message, "send UTF-8"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    check_depth(text.as_bytes(), depth).map_err(unnamed)?;
    jsonl::document(text).map_err(|(id, why)| (id, ApiError::new(Code::Syntax, why, hint)))
}

fn put(
    store: &EmbeddedStore,
    target: &Target,
    embedder: Option<&dyn Embedder>,
    documents: Vec<Document>,
) -> Result<Summary, Failure> {
    if documents.is_empty() {
        return Ok(Summary::default());
    }
    let brought = target.vectors_model.as_deref();
    let announce = |vectors: Vectors<'_>| vectors::announce(store, vectors, brought);
    let mut ingest = Ingest::new(&target.source, store);
    ingest.known = Some(store);
    ingest.embedder = embedder;
    ingest.announce = Some(&announce);
    ingest.write(documents.into_iter().map(|document| (document, Format::Text)).collect())
}

fn put_one_by_one(
    store: &EmbeddedStore,
    target: &Target,
    embedder: Option<&dyn Embedder>,
    lines: &mut [Parsed],
) -> Result<Summary, ApiError> {
    let mut sum = Summary::default();
    for line in lines {
        let Ok(document) = &line.document else { continue };
        match put(store, target, embedder, vec![document.clone()]) {
            Ok(written) => sum.add(written),
            Err(failure) if failure.code().fault() == Fault::Caller => line.document = Err(failure.into()),
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(sum)
}

/// Tells the store the kind of the source, where the client has named one.
fn name_source(store: &EmbeddedStore, target: &Target) -> Result<(), ApiError> {
    let Some(kind) = &target.kind else { return Ok(()) };
    let known = |source: &SourceStats| source.name == target.source && source.kind == *kind;
    if !store.sources()?.iter().any(known) {
        store.set_source(&target.source, kind)?;
    }
    Ok(())
}
