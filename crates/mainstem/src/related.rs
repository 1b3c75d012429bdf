//! What else is about the same as a document.
//!
//! Every chunk of the document is a question, by its vector, or by its words where it has none. A document counts as much as its best
//! chunk is like the best of these; the pair of chunks is the reason.

use indexmap::IndexMap;
pub use mainstem_core::answer::{Reason, Related};
use mainstem_core::contract::{Channel, Ctx, Filter, Retrieval, View};
use mainstem_core::{Chunk, ChunkId, Document, Failure, StoredChunk};

/// How many chunks of a document are asked for, from its start: what a document is about stands there.
const ASKED: usize = 16;

/// How many words of a chunk are asked for where it has no vector.
const WORDS: usize = 40;

/// The pair of chunks that is alike most.
struct Pair {
    score: f64,
    from: u32,
}

/// The documents that are about the same as `document`, among those that the filter lets pass, best first.
///
/// Documents with a vector are compared by meaning alone, so that all scores of one answer are of one scale.
///
/// # Errors
/// When the store cannot be read.
pub fn related(
    view: &dyn View,
    document: &Document,
    filter: &Filter,
    limit: usize,
    ctx: &Ctx,
) -> Result<Vec<Related>, Failure> {
    let dense = document.chunks.iter().any(|chunk| chunk.vector.is_some());
    let channel = if dense { Channel::Dense } else { Channel::Lexical };
    let asked = document.chunks.iter().filter(|chunk| !dense || chunk.vector.is_some()).take(ASKED);
    // The document's own chunks come first, and may be many.
    let wanted = limit.saturating_mul(3).saturating_add(document.chunks.len());
    let mut best: IndexMap<ChunkId, Pair> = IndexMap::new();
    for chunk in asked {
        let text = words(document, chunk);
        let vector = chunk.vector.as_deref();
        let retrieval = Retrieval { channel, text: &text, vector, filter, limit: wanted };
        for found in view.retrieve(&retrieval, ctx)?.into_iter().flat_map(|source| source.found) {
            let pair = Pair { score: found.score, from: chunk.order };
            match best.get_mut(&found.chunk) {
                Some(known) if known.score >= pair.score => {}
                _ => drop(best.insert(found.chunk, pair)),
            }
        }
    }
    let fetched = view.fetch(&best.keys().copied().collect::<Vec<_>>())?;
    Ok(ranked(document, channel, &fetched, &best, limit))
}

fn words(document: &Document, chunk: &Chunk) -> String {
    let title = document.title.as_deref().unwrap_or_default().split_whitespace();
    title.chain(chunk.text.split_whitespace()).take(WORDS).collect::<Vec<_>>().join(" ")
}

fn ranked(
    document: &Document,
    channel: Channel,
    fetched: &[StoredChunk],
    best: &IndexMap<ChunkId, Pair>,
    limit: usize,
) -> Vec<Related> {
    let itself = |stored: &&StoredChunk| {
        stored.document.source == document.source && stored.document.id == document.id
    };
    let mut pairs: Vec<(&Pair, &StoredChunk)> = fetched
        .iter()
        .filter(|stored| !itself(stored))
        .filter_map(|stored| Some((best.get(&stored.id)?, stored)))
        .collect();
    let name = |stored: &StoredChunk| (stored.document.source.clone(), stored.document.id.clone());
    pairs.sort_by(|(a, a_at), (b, b_at)| {
        let order = b.score.total_cmp(&a.score).then_with(|| name(a_at).cmp(&name(b_at)));
        order.then_with(|| a_at.chunk.order.cmp(&b_at.chunk.order))
    });
    let mut seen = indexmap::IndexSet::new();
    pairs.retain(|(_, stored)| seen.insert(name(stored)));
    pairs.truncate(limit);
    let own = |order: u32| format!("{}/{}#{order}", document.source, document.id);
    let related = |(at, (pair, stored)): (usize, (&Pair, &StoredChunk))| Related {
        rank: at + 1,
        score: pair.score,
        source: stored.document.source.clone(),
        document: stored.document.id.clone(),
        title: stored.document.title.clone(),
        url: stored.document.url.clone(),
        label: stored.document.label.clone(),
        reason: Reason { channel, from: own(pair.from), to: stored.name(), text: stored.chunk.text.clone() },
    };
    pairs.into_iter().enumerate().map(related).collect()
}
