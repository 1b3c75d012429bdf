//! For one document, others that may belong to it.

use mainstem_core::aggregate::Aggregate;
use mainstem_core::contract::{Channel, Filter, Retrieval};
use mainstem_core::link::Way;
use mainstem_core::{Candidates, Failure, Fusion, Leg, StoredChunk};

use super::{Scene, boxed};

/// How many own chunks are reckoned with among what is found, beside the candidates.
const OWN: usize = 32;

/// A document that may belong to another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    /// Its place in the outline.
    pub(super) document: u32,
    /// The fused score.
    pub(super) fused: f64,
    /// The rank from 1, and the score, in the list of each way of [`Way::ALL`]; rank 0 where it does not hold it.
    pub(super) places: [(u32, f64); 3],
}

impl Scene<'_> {
    /// The best candidates for a document, best first.
    pub(super) fn candidates(&self, document: u32) -> Result<Vec<Candidate>, Failure> {
        let chunks = self.first_chunks(document)?;
        let filter = self.elsewhere(document);
        let mut lists = Candidates::new();
        let mut places = Vec::new();
        for way in Way::ALL {
            let found = if self.settings.ways.contains(&way) {
                self.found(way, &chunks, &filter)?
            } else {
                Vec::new()
            };
            let documents = others(document, &found);
            places.push(documents.clone());
            lists.scored(Leg::new(way.as_str()), documents).map_err(boxed)?;
        }
        let fused = Fusion::default().fuse(&lists).map_err(boxed)?;
        let best = fused.hits().iter().take(self.settings.candidates);
        Ok(best.map(|hit| candidate(*lists.id(hit.slot), hit.score, &places)).collect())
    }

    /// Where candidates may be.
    fn elsewhere(&self, document: u32) -> Filter {
        let mut filter = self.filter.clone();
        if !self.settings.within {
            let own = &self.outline.documents()[document as usize].source;
            let mut sources: Vec<String> = self
                .outline
                .documents()
                .chunk_by(|x, y| x.source == y.source)
                .map(|all| all[0].source.clone())
                .collect();
            sources.retain(|source| source != own);
            filter.sources = Some(sources);
        }
        filter
    }

    /// The chunks that a way finds, each with its score.
    fn found(
        &self,
        way: Way,
        chunks: &[StoredChunk],
        filter: &Filter,
    ) -> Result<Vec<(u32, u32, f64)>, Failure> {
        let ask = |channel, text: &str, vector: Option<&[f32]>| {
            let limit = self.settings.candidates + OWN;
            let retrieval = Retrieval { channel, text, vector, filter, limit };
            let found = self.view.retrieve(&retrieval, self.ctx)?;
            let all = found.into_iter().flat_map(|source| source.found);
            let placed = all.filter_map(|found| {
                let (document, order) = self.outline.place(found.chunk)?;
                Some((document, order, found.score))
            });
            Ok::<Vec<_>, Failure>(placed.collect())
        };
        match way {
            Way::Dense => {
                let mut all = Vec::new();
                for vector in chunks.iter().filter_map(|stored| stored.chunk.vector.as_deref()) {
                    all.extend(ask(Channel::Dense, "", Some(vector))?);
                }
                Ok(all)
            }
            Way::Lexical => ask(Channel::Lexical, &self.telling.of(chunks)?.question(), None),
            Way::Title => {
                let title = chunks.first().and_then(|stored| stored.document.title.as_deref());
                title.map_or_else(|| Ok(Vec::new()), |title| ask(Channel::Lexical, &unquoted(title), None))
            }
        }
    }
}

/// The documents of chunks, best first, of equal scores by name, without the one that they were found for.
fn others(document: u32, found: &[(u32, u32, f64)]) -> Vec<(u32, f64)> {
    let others = found.iter().filter(|(other, ..)| *other != document);
    let chunks = others.map(|(other, order, score)| (*other, i64::from(*order), *score));
    let mut documents = Aggregate::Max.documents(chunks);
    documents.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
    documents
}

fn candidate(document: u32, fused: f64, lists: &[Vec<(u32, f64)>]) -> Candidate {
    let mut places = [(0, 0.0); 3];
    for (place, list) in places.iter_mut().zip(lists) {
        if let Some(at) = list.iter().position(|(other, _)| *other == document) {
            *place = (at as u32 + 1, list[at].1);
        }
    }
    Candidate { document, fused, places }
}

/// Without the marks that make words a phrase in a query.
fn unquoted(text: &str) -> String {
    text.replace(['"', '“', '”', '„', '＂'], " ")
}
