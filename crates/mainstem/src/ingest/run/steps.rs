//! The steps of a run.

use std::sync::atomic::Ordering;
use std::time::Instant;

use mainstem_core::contract::Change;
use mainstem_core::diagnostic::{Code, Place};
use mainstem_core::{Document, Failure};
use rustc_hash::FxHashSet;

use super::super::chunk;
use super::super::connector::{Connector, Record, Skip, Standing};
use super::super::format::Format;
use super::batch::Batch;
use super::known::Memory;
use super::summary::{Progress, Summary};
use super::{Ingest, Missing, Vectors, embed};
use crate::Error;

/// A run under way.
pub(super) struct Run<'r, 'a> {
    ingest: &'r Ingest<'a>,
    memory: Memory<'a>,
    batch: Batch,
    /// The ids that the connector gave.
    seen: FxHashSet<String>,
    /// Whether something was skipped that may be any document.
    unknown: bool,
    /// Whether it was said that vectors are brought, and that a model makes them.
    announced: (bool, bool),
    summary: Summary,
    progress: &'r mut dyn FnMut(&Progress),
}

impl<'r, 'a> Run<'r, 'a> {
    /// Asks the store what it has.
    pub(super) fn new(
        ingest: &'r Ingest<'a>,
        progress: &'r mut dyn FnMut(&Progress),
    ) -> Result<Self, Failure> {
        let memory = Memory::load(ingest.known, ingest.source)?;
        let (batch, seen) = (Batch::new(ingest.limits), FxHashSet::default());
        let (unknown, announced, summary) = (false, (false, false), Summary::default());
        Ok(Self { ingest, memory, batch, seen, unknown, announced, summary, progress })
    }

    /// Does everything.
    pub(super) fn finish(mut self, connector: &mut dyn Connector) -> Result<Summary, Failure> {
        let started = Instant::now();
        self.read_all(connector)?;
        self.flush(connector)?;
        self.remove_missing()?;
        self.summary.elapsed = started.elapsed();
        Ok(self.summary)
    }

    fn read_all(&mut self, connector: &mut dyn Connector) -> Result<(), Failure> {
        while !self.stopped() {
            match connector.next_record()? {
                None => return Ok(()),
                Some(Record::Skip(skip)) => self.skip(skip)?,
                Some(Record::Document { document, format }) => {
                    self.take(*document, format, connector.has_time_of_file())?;
                }
            }
            if self.batch.is_full() {
                self.flush(connector)?;
            }
        }
        self.summary.interrupted = true;
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.ingest.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn skip(&mut self, skip: Skip) -> Result<(), Failure> {
        if self.ingest.strict && skip.standing != Standing::Absent {
            return Err(malformed(&skip));
        }
        match &skip.standing {
            Standing::Absent => {}
            Standing::Present(id) => drop(self.seen.insert(id.clone())),
            Standing::Unknown => self.unknown = true,
        }
        self.summary.skipped.add(skip);
        Ok(())
    }

    /// Cuts a document and puts it into the batch, unless the store has it.
    fn take(&mut self, mut document: Document, format: Format, time_of_file: bool) -> Result<(), Failure> {
        if !self.seen.insert(document.id.clone()) {
            let why = "this id was there before; the first is kept";
            return self.skip(Skip::present(document.id, why));
        }
        self.ingest.source.clone_into(&mut document.source);
        chunk::cut(&mut document, format, self.ingest.size);
        self.summary.documents += 1;
        self.summary.chunks += document.chunks.len();
        let embedding = self.ingest.embedder.is_some();
        let same = self.memory.has(&document, embedding)
            || time_of_file && self.memory.has_but_for_time(&document, embedding)?;
        if same {
            self.summary.applied.unchanged += 1;
            self.batch.passed();
        } else {
            self.batch.push(document, embedding);
        }
        Ok(())
    }

    /// Embeds and writes the batch.
    fn flush(&mut self, connector: &mut dyn Connector) -> Result<(), Failure> {
        let mut documents = self.batch.take();
        if !documents.is_empty() {
            self.announce_brought(&documents)?;
            self.memory.reuse(&mut documents)?;
            self.embed(&mut documents, connector)?;
            self.apply(documents.into_iter().map(Change::Put).collect())?;
        }
        self.report(connector);
        Ok(())
    }

    fn announce_brought(&mut self, documents: &[Document]) -> Result<(), Failure> {
        let Some(announce) = self.ingest.announce.filter(|_| !self.announced.0) else { return Ok(()) };
        let vector =
            documents.iter().flat_map(|document| &document.chunks).find_map(|chunk| chunk.vector.as_ref());
        if let Some(vector) = vector {
            announce(Vectors::Brought(vector.len()))?;
            self.announced.0 = true;
        }
        Ok(())
    }

    fn embed(&mut self, documents: &mut [Document], connector: &dyn Connector) -> Result<(), Failure> {
        let Some(embedder) = self.ingest.embedder else { return Ok(()) };
        let mut waiting = embed::waiting(documents);
        if let Some(announce) = self.ingest.announce.filter(|_| !self.announced.1 && !waiting.is_empty()) {
            announce(Vectors::Embedded(embedder.card()))?;
            self.announced.1 = true;
        }
        for part in waiting.chunks_mut(self.ingest.limits.texts.max(1)) {
            let cut = embed::embed(embedder, part)?;
            self.summary.embedded += part.len();
            self.summary.cut += cut;
            self.report(connector);
        }
        embed::put_back(documents, waiting);
        Ok(())
    }

    fn apply(&mut self, changes: Vec<Change>) -> Result<(), Failure> {
        let applied = self.ingest.store.apply(changes)?;
        self.summary.count(applied);
        Ok(())
    }

    /// Removes what the connector did not give, if it is known to be gone.
    fn remove_missing(&mut self) -> Result<(), Failure> {
        if self.ingest.missing == Missing::Keep || self.summary.interrupted {
            return Ok(());
        }
        let gone = self.memory.without(&self.seen);
        let nothing = self.ingest.missing == Missing::Remove && self.summary.documents == 0;
        if self.ingest.missing == Missing::Count || !gone.is_empty() && (self.unknown || nothing) {
            self.summary.kept = gone.len();
            return Ok(());
        }
        for ids in gone.chunks(self.ingest.limits.documents.max(1)) {
            let delete =
                |id: &String| Change::Delete { source: self.ingest.source.to_owned(), id: id.clone() };
            self.apply(ids.iter().map(delete).collect())?;
        }
        Ok(())
    }

    fn report(&mut self, connector: &dyn Connector) {
        let Summary { documents, embedded, .. } = self.summary;
        (self.progress)(&Progress { position: connector.position(), documents, embedded });
    }
}

fn malformed(skip: &Skip) -> Failure {
    Box::new(Error::Input {
        message: skip.why.clone(),
        code: Code::Syntax,
        hint: "correct it, or leave `--strict` out to skip what is malformed".to_owned(),
        place: Some(Place::default().in_file(skip.what.clone())),
    })
}
