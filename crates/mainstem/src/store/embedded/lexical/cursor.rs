//! Walking the postings of one segment.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError};

use super::bm25::TITLE;
use super::compile::{Compiled, Lookup};
use super::fields::Fields;

/// How many chunks are scored together.
const WINDOW: DocId = 4096;

/// One term in one segment.
pub(super) struct Cursor {
    postings: SegmentPostings,
    title: Option<SegmentPostings>,
    bound: f64,
}

impl Cursor {
    pub(super) fn open(segment: &SegmentReader, lookup: &Lookup) -> Result<Self, TantivyError> {
        let read = |term: &tantivy::Term| -> Result<Option<SegmentPostings>, TantivyError> {
            let index = segment.inverted_index(term.field())?;
            Ok(index.read_postings(term, IndexRecordOption::WithFreqs)?)
        };
        let title = lookup.title.as_ref().map(read).transpose()?.flatten();
        let postings = read(&lookup.term)?.unwrap_or_else(SegmentPostings::empty);
        Ok(Self { postings, title, bound: lookup.bound })
    }

    /// Moves to a chunk, if the cursor is not there or behind it yet; whether the term occurs in it.
    pub(super) fn reaches(&mut self, doc: DocId) -> bool {
        let at = self.postings.doc();
        doc == if at < doc { self.postings.seek(doc) } else { at }
    }

    /// The chunk that the cursor is at.
    pub(super) fn doc(&self) -> DocId {
        self.postings.doc()
    }

    /// Moves to the next chunk.
    pub(super) fn advance(&mut self) {
        self.postings.advance();
    }

    /// What the term adds to the chunk that the cursor is at.
    pub(super) fn score(&mut self, norm: f64) -> f64 {
        let doc = self.postings.doc();
        let mut frequency = f64::from(self.postings.term_freq());
        if let Some(title) = &mut self.title {
            if title.doc() < doc {
                title.seek(doc);
            }
            if title.doc() == doc {
                frequency += TITLE * f64::from(title.term_freq());
            }
        }
        self.bound * frequency / (frequency + norm)
    }
}

/// The terms of a query in one segment, most valuable first.
pub(super) struct Cursors<'a> {
    terms: Vec<Cursor>,
    /// The most that this term and all later ones can add.
    rest: Vec<f64>,
    lengths: FieldNormReader,
    norms: &'a [f64; 256],
}

impl<'a> Cursors<'a> {
    pub(super) fn open(segment: &SegmentReader, query: &'a Compiled) -> Result<Self, TantivyError> {
        let terms = query.lookups.iter().map(|lookup| Cursor::open(segment, lookup));
        let terms = terms.collect::<Result<Vec<_>, _>>()?;
        let mut rest = vec![0.0; terms.len() + 1];
        for (at, cursor) in terms.iter().enumerate().rev() {
            // Rounding must never make the bound smaller than a sum it stands for.
            rest[at] = (rest[at + 1] + cursor.bound) * (1.0 + 1e-12);
        }
        let lengths = segment.get_fieldnorms_reader(Fields::new().body)?;
        Ok(Self { terms, rest, lengths, norms: &query.norms })
    }

    /// The score of one chunk, which must not lie before any chunk asked for earlier; 0 when it has none of the terms.
    pub(super) fn score(&mut self, doc: DocId) -> f64 {
        self.complete(doc, 0, 0.0, 0.0).unwrap_or_default()
    }

    /// Calls `offer` with every chunk, in order, that scores at least the threshold, which `offer` returns anew (`MaxScore`).
    ///
    /// Turtle, Flood: Query evaluation: strategies and optimizations. Information Processing & Management 1995.
    pub(super) fn each(&mut self, mut threshold: f64, mut offer: impl FnMut(DocId, f64) -> f64) {
        let mut sums = vec![0.0; WINDOW as usize];
        let mut seen = vec![0u64; WINDOW as usize / 64];
        loop {
            // A chunk without any of the first terms cannot reach the threshold.
            let essential =
                self.rest.iter().take_while(|rest| **rest >= threshold).count().min(self.terms.len());
            let leading = &mut self.terms[..essential];
            let start = leading.iter().map(|cursor| cursor.postings.doc()).min().unwrap_or(TERMINATED);
            if start == TERMINATED {
                return;
            }
            self.gather(essential, start, &mut sums, &mut seen);
            for (at, word) in seen.iter_mut().enumerate() {
                while *word != 0 {
                    let offset = at * 64 + word.trailing_zeros() as usize;
                    *word &= *word - 1;
                    let sum = std::mem::take(&mut sums[offset]);
                    let doc = start + offset as DocId;
                    if let Some(score) = self.complete(doc, essential, sum, threshold) {
                        threshold = offer(doc, score);
                    }
                }
            }
        }
    }

    /// Adds up the first terms over the window that starts at `start`.
    fn gather(&mut self, essential: usize, start: DocId, sums: &mut [f64], seen: &mut [u64]) {
        let end = start.saturating_add(WINDOW).min(TERMINATED);
        for cursor in &mut self.terms[..essential] {
            let mut doc = cursor.postings.doc();
            while doc < end {
                let offset = (doc - start) as usize;
                sums[offset] += cursor.score(self.norms[usize::from(self.lengths.fieldnorm_id(doc))]);
                seen[offset / 64] |= 1 << (offset % 64);
                doc = cursor.postings.advance();
            }
        }
    }

    /// Adds the terms from `from` on to a sum, unless it turns out to stay below the threshold.
    fn complete(&mut self, doc: DocId, from: usize, mut sum: f64, threshold: f64) -> Option<f64> {
        let norm = self.norms[usize::from(self.lengths.fieldnorm_id(doc))];
        for (cursor, rest) in self.terms[from..].iter_mut().zip(&self.rest[from..]) {
            if sum + rest < threshold {
                return None;
            }
            if cursor.reaches(doc) {
                sum += cursor.score(norm);
            }
        }
        (sum >= threshold).then_some(sum)
    }
}
