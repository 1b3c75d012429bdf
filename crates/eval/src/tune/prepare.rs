//! Recordings made ready to be run a thousand times: judged once, and without whatever cannot change the order.
//!
//! Telling copies apart is the dearest stage, because it reads texts. But an item whose text is like no other in its search is never
//! collapsed, under any settings of the space: its text can be left out. What remains of the texts is rewritten with short
//! words, which changes no overlap, and where nothing remains the stage need not run. The order that comes out is exactly the same; a test checks it.

use mainstem_core::dedup::Likeness;
use mainstem_core::{Item, PipelineSpec, Replay, Search};
use rustc_hash::{FxHashMap, FxHashSet};

use super::copies;
use crate::JudgedQuery;
use crate::measure::Graded;

/// What is known about a name that an answer can hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Which document it stands for, among those of its query.
    pub(super) document: u32,
    pub(super) grade: Option<i64>,
    /// The first source that holds it, among all sources.
    pub(super) source: u16,
}

/// One judged query with its search.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) id: String,
    pub(super) search: Search,
    /// The recorded weights, by list.
    pub(super) legs: Vec<LegWeight>,
    /// By the names of items and of documents.
    pub(super) known: FxHashMap<String, Known>,
    /// The judges' view; its grades are overwritten by every run.
    pub(super) graded: Graded,
    /// The most items that one document has.
    pub(super) parts: usize,
    /// Whether two of its items could be the same thing under any settings of the space.
    pub(super) copies: bool,
}

/// A list's names and its weight as recorded.
#[derive(Clone, Debug)]
pub(super) struct LegWeight {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) channel: String,
    pub(super) weight: f64,
}

impl LegWeight {
    /// The weight under these factors. A name counts once, also where list, source and channel share it.
    pub(super) fn under(&self, factors: &[(String, f64)]) -> f64 {
        let meant = |name: &str| name == self.name || name == self.source || name == self.channel;
        factors
            .iter()
            .filter(|(name, _)| meant(name))
            .fold(self.weight, |weight, (_, factor)| weight * factor)
    }
}

/// What the settings of a space can look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Looks {
    /// At no text.
    Nothing,
    /// At texts that overlap at least so much.
    Copies(f64),
    /// At the words of all texts.
    Words,
    /// At everything.
    All,
}

impl Looks {
    /// What these pipelines look at, all together.
    pub(super) fn of<'a>(specs: impl IntoIterator<Item = &'a PipelineSpec>) -> Self {
        specs.into_iter().map(Self::one).fold(Self::Nothing, Self::and)
    }

    fn one(spec: &PipelineSpec) -> Self {
        let dedup = match &spec.dedup {
            Some(dedup) if dedup.by == Likeness::Cosine || dedup.keys.is_some() => Self::All,
            Some(dedup) => {
                let least = [dedup.within, dedup.across].into_iter().flatten().min_by(f64::total_cmp);
                least.map_or(Self::Nothing, Self::Copies)
            }
            None => Self::Nothing,
        };
        dedup.and(if spec.diversify.is_some() { Self::Words } else { Self::Nothing })
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Copies(one), Self::Copies(two)) => Self::Copies(one.min(two)),
            (one, two) => {
                if one.breadth() >= two.breadth() {
                    one
                } else {
                    two
                }
            }
        }
    }

    fn breadth(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Copies(_) => 1,
            Self::Words => 2,
            Self::All => 3,
        }
    }
}

impl Prepared {
    /// Judges the candidates of a search and drops what cannot matter. Names of judged documents may lack the `prefix` that the
    /// store puts before them.
    pub(super) fn new(
        replay: &Replay,
        judged: &JudgedQuery,
        prefix: Option<&str>,
        sources: &[String],
        looks: Looks,
    ) -> Self {
        let mut search = replay.search.clone();
        let known = known(&search, judged, prefix, sources);
        let parts = parts(&search.items);
        let copies = strip(&mut search.items, looks);
        search.notes.clear();
        let graded = Graded { grades: Vec::new(), ideal: judged.ideal() };
        Self { id: judged.id.clone(), legs: legs(&search), known, graded, parts, copies, search }
    }
}

/// The lists of a search with their weights.
pub(super) fn legs(search: &Search) -> Vec<LegWeight> {
    let legs = search.candidates.lists().iter().map(|list| LegWeight {
        name: list.leg().name.clone(),
        source: list.leg().source.clone(),
        channel: list.leg().channel().to_owned(),
        weight: list.leg().weight,
    });
    legs.collect()
}

/// The name of a document as the judgements have it: without the source and the `/` that a store puts before it.
pub(super) fn plain<'a>(name: &'a str, prefix: Option<&str>) -> &'a str {
    prefix.and_then(|prefix| name.strip_prefix(prefix)?.strip_prefix('/')).unwrap_or(name)
}

fn known(
    search: &Search,
    judged: &JudgedQuery,
    prefix: Option<&str>,
    sources: &[String],
) -> FxHashMap<String, Known> {
    let mut holder: FxHashMap<u32, u16> = FxHashMap::default();
    for list in search.candidates.lists() {
        let source = sources.iter().position(|source| *source == list.leg().source).unwrap_or(0) as u16;
        for &slot in list.slots() {
            holder.entry(slot).or_insert(source);
        }
    }
    let mut documents: FxHashMap<&str, u32> = FxHashMap::default();
    let mut known = FxHashMap::default();
    for (slot, item) in (0..).zip(&search.items) {
        let id = search.candidates.id(slot);
        let name = item.document.as_ref().unwrap_or(id).as_str();
        let count = documents.len() as u32;
        let document = *documents.entry(name).or_insert(count);
        let grade = judged.relevance(plain(name, prefix));
        let one = Known { document, grade, source: holder.get(&slot).copied().unwrap_or(0) };
        known.insert(id.clone(), one);
        known.entry(name.to_owned()).or_insert(one);
    }
    known
}

fn parts(items: &[Item]) -> usize {
    let mut count: FxHashMap<&str, usize> = FxHashMap::default();
    for document in items.iter().filter_map(|item| item.document.as_deref()) {
        *count.entry(document).or_default() += 1;
    }
    count.into_values().max().unwrap_or(1)
}

/// Keeps of each item what the stages can look at. False where no two items can be the same.
fn strip(items: &mut [Item], looks: Looks) -> bool {
    if looks == Looks::All {
        return true;
    }
    let texts: Vec<Option<String>> = match looks {
        Looks::Copies(least) => copies::only(items, least),
        Looks::Words => copies::recoded(items),
        _ => vec![None; items.len()],
    };
    let shared = shared_fields(items, looks);
    let copies = !shared.is_empty() || texts.iter().any(Option::is_some);
    for (item, text) in items.iter_mut().zip(texts) {
        let keep = |name: &str, value: &str| shared.contains(&(name.to_owned(), value.to_owned()));
        let key = item.key.take().filter(|key| keep("key", key));
        let mut extra = std::mem::take(&mut item.extra);
        extra.retain(|(name, value)| keep(name, value.get()));
        // Neighbours are told by their vectors, which are there only where the recording kept them.
        let vector = item.vector.take();
        let (document, created_at) = (item.document.take(), item.created_at.take());
        *item = Item { text, key, extra, vector, document, created_at, order: item.order, ..Item::default() };
    }
    copies
}

/// The fields that more than one item has with the same value: only these can make two items the same.
fn shared_fields(items: &[Item], looks: Looks) -> FxHashSet<(String, String)> {
    let mut seen = FxHashSet::default();
    let mut shared = FxHashSet::default();
    if looks == Looks::Nothing {
        return shared;
    }
    for item in items {
        let key = item.key.iter().map(|key| ("key".to_owned(), key.clone()));
        let extra = item.extra.iter().map(|(name, value)| (name.clone(), value.get().to_owned()));
        for field in key.chain(extra) {
            if !seen.insert(field.clone()) {
                shared.insert(field);
            }
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_neighbours_are_told_by_stays() {
        let item = || Item { vector: Some(vec![1.0, 0.0]), text: Some("a text".into()), ..Item::default() };
        for looks in [Looks::Nothing, Looks::Copies(0.9), Looks::Words] {
            let mut items = [item()];
            strip(&mut items, looks);
            assert_eq!(items[0].vector.as_deref(), Some(&[1.0, 0.0][..]), "{looks:?}");
        }
    }
}
