//! Linking documents: discover (dense, lexical, title) → aggregate chunks to documents → fuse → judge → edges.
//!
//! * `discover`: for each document, others that may belong to it, each way by itself, chunks brought together to documents, the ways fused;
//! * `telling`: which words of a document tell it from others;
//! * `judge`: how alike the first chunks of two documents are: MaxSim, cosines, or words;
//! * `crew`: many documents at once, with the same outcome on any number of threads.
//!
//! Nothing is compared with everything: a document is compared with the best few that the indexes find for it. In memory are the names of
//! all documents, the numbers of their chunks, and these few for each of them; texts are read when they are needed.

mod crew;
mod discover;
mod judge;
mod telling;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use mainstem_core::contract::{Ctx, Filter, View};
use mainstem_core::link::{
    DocumentName, Edge, Edges as _, Evidence, FoundBy, Judge, LinkRun, LinkSettings, Way,
};
use mainstem_core::time::Moment;
use mainstem_core::{Error as CoreError, Failure, StoredChunk};

use crate::Error;
use crate::rerank::MaxSim;
use crate::store::EmbeddedStore;
use crate::store::embedded::Outline;
use crew::Crew;
use discover::Candidate;
use judge::{Bench, Verdict};
use telling::Telling;

pub use crew::Progress;

/// How many chunks of a document are looked at, from its start: what a document is about stands there.
const FIRST: usize = 4;

/// Of how many documents tokens are compared unless told to: more do not fit into memory, and are read again and again.
const MOST_BY_TOKENS: usize = 3_000;

/// Looks for links. Everything it reads is of one moment; it keeps nothing by itself.
pub struct Linker<'a> {
    /// Where the documents are.
    pub store: &'a EmbeddedStore,
    /// What compares tokens; without it, vectors are compared, or words.
    pub states: Option<Arc<MaxSim>>,
    /// How to look.
    pub settings: &'a LinkSettings,
    /// What may be seen at all.
    pub filter: &'a Filter,
}

/// What a run looks at, and how.
struct Scene<'a> {
    view: &'a dyn View,
    outline: &'a Outline,
    telling: &'a Telling<'a>,
    settings: &'a LinkSettings,
    filter: &'a Filter,
    ctx: &'a Ctx,
}

impl Scene<'_> {
    /// The first chunks of a document.
    fn first_chunks(&self, document: u32) -> Result<Vec<StoredChunk>, Failure> {
        let chunks = self.outline.chunks(document);
        self.view.fetch(&chunks[..chunks.len().min(FIRST)])
    }
}

/// A pair of documents by their places in the outline, the smaller first.
type Pair = (u32, u32);

impl Linker<'_> {
    /// The links that there are, on all processors; nothing when `progress` told it to stop.
    ///
    /// # Errors
    /// When a setting is out of its range, a source is not known, the judge that is asked for cannot judge here, or the store cannot be
    /// read.
    pub fn find(
        &self,
        now: &Moment,
        progress: Progress<'_>,
    ) -> Result<Option<(LinkRun, Vec<Edge>)>, Failure> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.find_on(threads, now, progress)
    }

    /// As [`Linker::find`], on this many threads.
    ///
    /// # Errors
    /// As [`Linker::find`].
    pub fn find_on(
        &self,
        threads: usize,
        now: &Moment,
        progress: Progress<'_>,
    ) -> Result<Option<(LinkRun, Vec<Edge>)>, Failure> {
        self.settings.check().map_err(boxed)?;
        let filter = self.seen()?;
        let (view, outline) = self.store.outlined(&filter)?;
        let judge = self.judge(outline.documents().len())?;
        let ctx = Ctx::unhurried(now.clone());
        let telling = Telling::new(&*view, &filter, &ctx);
        let (view, outline, filter) = (&*view, &outline, &filter);
        let scene = Scene { view, outline, telling: &telling, settings: self.settings, filter, ctx: &ctx };
        let documents = outline.documents().len();
        let crew = Crew { threads, progress, of: 2 * documents as u64 };
        let found = crew.all(0, documents, &|at| scene.candidates(at))?;
        let Some(found) = found else { return Ok(None) };
        let pairs = pairs(&found);
        let bench = Bench { scene: &scene, judge, states: self.states.as_deref() };
        let judged = crew.all(documents as u64, documents, &|at| bench.hear(at, others(&pairs, at)))?;
        let Some(judged) = judged else { return Ok(None) };
        let verdicts: Vec<Option<Verdict>> = judged.into_iter().flatten().collect();
        let graph = Graph { outline, found: &found, pairs: &pairs, verdicts: &verdicts };
        let edges = graph.edges(self.settings);
        let run = self.run(now, outline, &edges)?;
        Ok(Some((run, edges)))
    }

    /// The filter, narrowed to the sources of the settings.
    fn seen(&self) -> Result<Filter, Failure> {
        let mut filter = self.filter.clone();
        let Some(wanted) = self.settings.sources.as_ref().or(self.filter.sources.as_ref()) else {
            return Ok(filter);
        };
        let known = self.store.sources()?;
        let in_scope =
            |name: &str| filter.scope.as_ref().is_none_or(|scope| scope.iter().any(|one| one == name));
        let known: Vec<&str> =
            known.iter().map(|source| source.name.as_str()).filter(|name| in_scope(name)).collect();
        if let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(boxed(CoreError::unknown("source", name, known)));
        }
        let among = |name: &&String| filter.sources.as_ref().is_none_or(|sources| sources.contains(*name));
        let wanted: Vec<String> = wanted.iter().filter(among).cloned().collect();
        // How rare a word is, is counted over the scope: what is not looked at must not show in a score, either.
        (filter.scope, filter.sources) = (Some(wanted.clone()), Some(wanted));
        Ok(filter)
    }

    fn judge(&self, documents: usize) -> Result<Judge, Failure> {
        let missing = |what: &str, hint: &str| {
            let (what, hint) = (what.to_owned(), hint.to_owned());
            Box::new(Error::Unavailable { what, hint }) as Failure
        };
        let model = self.store.model()?;
        match self.settings.judge {
            Some(Judge::MaxSim) if self.states.is_none() => Err(missing(
                "the judge `maxsim` needs the model `all-MiniLM-L6-v2`, which is not here",
                "run `mainstem model pull`, or let `cosine` or `words` judge",
            )),
            Some(Judge::Cosine) if model.is_none() => Err(missing(
                "the judge `cosine` needs vectors, and the store has none",
                "ingest with a model, or let `words` judge",
            )),
            Some(judge) => Ok(judge),
            None if self.states.is_some() && documents <= MOST_BY_TOKENS => Ok(Judge::MaxSim),
            None if model.is_some() => Ok(Judge::Cosine),
            None => Ok(Judge::Words),
        }
    }

    fn run(&self, now: &Moment, outline: &Outline, edges: &[Edge]) -> Result<LinkRun, Failure> {
        let mut sources: Vec<String> = outline.documents().iter().map(|name| name.source.clone()).collect();
        sources.dedup();
        Ok(LinkRun {
            id: free_name(self.store)?,
            made_at: now.clone(),
            settings: self.settings.clone(),
            // The store has a model as soon as any document has a vector: also one that was not looked at.
            model: self.store.model()?.map(|model| model.name).filter(|_| edges.iter().any(by_meaning)),
            sources,
            reader: self.filter.reader.clone(),
            restricted: outline.is_restricted(),
            documents: outline.documents().len() as u64,
            edges: edges.len() as u64,
            undone_at: None,
        })
    }
}

/// A name that no run has or had. A number would tell whoever may see this run how many others there are.
///
/// # Errors
/// When the store cannot be read.
pub fn free_name(store: &EmbeddedStore) -> Result<String, Failure> {
    let known = store.runs()?;
    let drawn = || format!("run-{:05x}", RandomState::new().hash_one(0) & 0xf_ffff);
    let free = |name: &String| !known.iter().any(|run| run.id == *name);
    Ok(std::iter::repeat_with(drawn).find(free).unwrap_or_default())
}

/// Whether vectors had a part in it.
fn by_meaning(edge: &Edge) -> bool {
    let Evidence { judge, found, .. } = &edge.evidence;
    *judge == Judge::Cosine || found.iter().any(|found| found.way == Way::Dense)
}

/// All pairs that come before the judge, each once.
fn pairs(found: &[Vec<Candidate>]) -> Vec<Pair> {
    let pair = |(at, candidates): (usize, &Vec<Candidate>)| -> Vec<Pair> {
        let at = at as u32;
        candidates.iter().map(|candidate| (at.min(candidate.document), at.max(candidate.document))).collect()
    };
    let mut pairs: Vec<Pair> = found.iter().enumerate().flat_map(pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The pairs whose first document is this one.
fn others(pairs: &[Pair], document: u32) -> &[Pair] {
    let start = pairs.partition_point(|(a, _)| *a < document);
    let past = pairs.partition_point(|(a, _)| *a <= document);
    &pairs[start..past]
}

/// What was found, and what the judge said about it.
struct Graph<'a> {
    outline: &'a Outline,
    found: &'a [Vec<Candidate>],
    pairs: &'a [Pair],
    /// One for each pair that belongs together.
    verdicts: &'a [Option<Verdict>],
}

impl Graph<'_> {
    /// The links: the best few that each document makes, each pair once, by names.
    fn edges(&self, settings: &LinkSettings) -> Vec<Edge> {
        let made = (0..self.found.len() as u32).flat_map(|document| self.made_by(document, settings));
        let mut places: Vec<usize> = made.collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| self.edge(place)).collect()
    }

    /// The places of the best pairs that a document found.
    fn made_by(&self, document: u32, settings: &LinkSettings) -> Vec<usize> {
        let place = |other: u32| self.pairs.binary_search(&(document.min(other), document.max(other))).ok();
        let judged = |candidate: &Candidate| {
            let place = place(candidate.document)?;
            Some((self.verdicts[place].as_ref()?.score, place))
        };
        let mut best: Vec<_> = self.found[document as usize].iter().filter_map(judged).collect();
        best.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        best.into_iter().take(settings.per_document).map(|(_, place)| place).collect()
    }

    fn edge(&self, place: usize) -> Option<Edge> {
        let (a, b) = self.pairs[place];
        let name = |document: u32| -> DocumentName { self.outline.documents()[document as usize].clone() };
        let Verdict { judge, score, chunks: (a_chunk, b_chunk), words, common } =
            self.verdicts[place].clone()?;
        let seen = |from: u32, to: u32| {
            self.found[from as usize].iter().find(move |candidate| candidate.document == to)
        };
        let (forth, back) = (seen(a, b), seen(b, a));
        let fused = forth.into_iter().chain(back).map(|candidate| candidate.fused).fold(0.0, f64::max);
        let by = |candidate: Option<&Candidate>, from_a: bool| -> Vec<FoundBy> {
            let places = candidate.map(|candidate| candidate.places).unwrap_or_default();
            let ways = Way::ALL.into_iter().zip(places).filter(|(_, (rank, _))| *rank > 0);
            ways.map(|(way, (rank, score))| FoundBy { way, from_a, rank: rank as usize, score }).collect()
        };
        let found = by(forth, true).into_iter().chain(by(back, false)).collect();
        let evidence = Evidence { judge, a_chunk, b_chunk, fused, words, common, found };
        Some(Edge { a: name(a), b: name(b), score, evidence })
    }
}

fn boxed(error: CoreError) -> Failure {
    Box::new(error)
}
