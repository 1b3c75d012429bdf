//! # Collapsing duplicates
//!
//! Items are visited best first. Each joins the best survivor that it is the same thing as, or survives itself:
//!
//! 1. an equal exact key ([`keys`]): the item's own `key`, its kind's fields (a FEN, a URL, a section), or its whole text;
//! 2. the Jaccard overlap of lower-cased words ≥ the threshold, or the cosine of dense vectors.
//!
//! Clusters are stars round their best item: two copies of a third thing do not chain unrelated items together, and running
//! the stage again changes nothing. What was collapsed is not lost: the survivor lists where else it was found.
//!
//! `within` runs per source before fusion: copies count once in each list, at their first place, and the ranks behind
//! them close up. `across` runs after fusion, over everything. Items of a source that is a copy of another as a whole come after all others
//! there: the original survives, and a lesser likeness to it is enough.
//!
//! **When not.** Collapsing hides evidence when near-copies matter: revisions of a contract, the same position in two games.
//! Leave the stage off, or raise the threshold to 1.

pub mod keys;
mod near;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::item::Item;
use crate::ledger::Sameness;
use crate::similarity::{Profile, Words, same_words};
use keys::KeyRule;
use near::Survivors;

/// How near-duplicates are recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// By the overlap of their words.
    #[default]
    Jaccard,
    /// By the cosine of their vectors; by words where one has none.
    Cosine,
}

/// The settings of the stage, as written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DedupSpec {
    /// The likeness from which two items of one source are the same, over 0 and up to 1. Off when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// The likeness from which two items of any sources are the same, over 0 and up to 1. Off when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across: Option<f64>,
    /// How likeness is measured: `jaccard` or `cosine`.
    pub by: Likeness,
    /// Fields that identify an item exactly; `book+section` needs both. By the kind of the source when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
}

impl DedupSpec {
    /// Checks the settings.
    ///
    /// # Errors
    /// When a threshold is not over 0 and up to 1, or a key names no field.
    pub fn check(&self) -> Result<(), Error> {
        for (name, threshold) in [("`dedup.within`", self.within), ("`dedup.across`", self.across)] {
            if threshold.is_some_and(|threshold| !(threshold > 0.0 && threshold <= 1.0)) {
                return Err(Error::range(name, "a number over 0 and up to 1", threshold.unwrap_or_default()));
            }
        }
        self.keys.iter().flatten().try_for_each(|key| KeyRule::parse(key).map(drop))
    }
}

/// One item on its way through the stage.
pub(crate) struct Visited<'a> {
    pub(crate) item: &'a Item,
    pub(crate) kind: &'a str,
    pub(crate) words: &'a Words,
    /// Whether its source is a copy of another: it stands behind all that are of no copy.
    pub(crate) copy: bool,
}

/// From which likeness an item of a copied source is the same as one of its original: it is known to have one, and a few words make much of a
/// short text.
const OF_COPY: f64 = 0.75;

/// For each visited item (best first), the earlier one that it was collapsed into and why; nothing for survivors.
pub(crate) fn collapse(
    visited: &[Visited<'_>],
    threshold: f64,
    spec: &DedupSpec,
) -> Vec<Option<(usize, Sameness)>> {
    let profiles: Vec<_> = visited.iter().map(|visited| Profile::new(visited.item, visited.words)).collect();
    let copies: Vec<bool> = visited.iter().map(|visited| visited.copy).collect();
    let mut survivors = Survivors::new(&profiles, (threshold, OF_COPY), spec.by, copies);
    let mut holders = Holders::new(visited, spec);
    let mut fates = Vec::with_capacity(visited.len());
    for index in 0..visited.len() {
        let keys = holders.keys(index);
        let fate = holders.find(index, &keys).or_else(|| survivors.find(index));
        holders.add(index, keys, fate.as_ref().map_or(index, |(survivor, _)| *survivor));
        if fate.is_none() {
            survivors.add(index);
        }
        fates.push(fate);
    }
    fates
}

/// Who has which exact key.
struct Holders<'a> {
    visited: &'a [Visited<'a>],
    fields: Option<&'a [String]>,
    rules: FxHashMap<&'a str, Vec<KeyRule<'a>>>,
    by_key: FxHashMap<String, usize>,
    /// For the hash of a text, the survivor that holds it, and an item that has it.
    by_text: FxHashMap<u64, (usize, usize)>,
}

impl<'a> Holders<'a> {
    fn new(visited: &'a [Visited<'a>], spec: &'a DedupSpec) -> Self {
        let (rules, by_key, by_text) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Self { visited, fields: spec.keys.as_deref(), rules, by_key, by_text }
    }

    fn keys(&mut self, index: usize) -> Vec<String> {
        let Visited { item, kind, .. } = self.visited[index];
        let fields = self.fields;
        keys::of(item, self.rules.entry(kind).or_insert_with(|| keys::rules(kind, fields)))
    }

    /// The survivor that holds a key of this item. The text is the last of its keys, and is looked at in full only where the hash of all
    /// its words is known.
    fn find(&self, index: usize, keys: &[String]) -> Option<(usize, Sameness)> {
        let by_key =
            keys.iter().find_map(|key| self.by_key.get(key).map(|&survivor| (survivor, key.clone())));
        let by_text = || {
            let own = &self.visited[index];
            let (survivor, other) = *self.by_text.get(&own.words.sequence()?)?;
            let text = own.item.text.as_deref()?;
            let same = same_words(text, self.visited[other].item.text.as_deref()?);
            same.then(|| (survivor, keys::of_text(text)))
        };
        by_key.or_else(by_text).map(|(survivor, key)| (survivor, Sameness::Key { key }))
    }

    /// Gives the keys of this item to a survivor, except those that one has already.
    fn add(&mut self, index: usize, keys: Vec<String>, survivor: usize) {
        for key in keys {
            self.by_key.entry(key).or_insert(survivor);
        }
        if let Some(sequence) = self.visited[index].words.sequence() {
            self.by_text.entry(sequence).or_insert((survivor, index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Item {
        Item { text: Some(text.into()), ..Item::default() }
    }

    fn fates(items: &[Item], threshold: f64, spec: &DedupSpec) -> Vec<Option<usize>> {
        let words: Vec<_> =
            items.iter().map(|item| Words::of(item.text.as_deref().unwrap_or_default())).collect();
        let visited = items.iter().zip(&words);
        let visited: Vec<_> =
            visited.map(|(item, words)| Visited { item, kind: "wiki", words, copy: false }).collect();
        collapse(&visited, threshold, spec)
            .into_iter()
            .map(|fate| fate.map(|(survivor, _)| survivor))
            .collect()
    }

    #[test]
    fn the_threshold_is_inclusive() {
        let nine_of_ten = [text("a b c d e f g h i j"), text("a b c d e f g h i")];
        assert_eq!(fates(&nine_of_ten, 0.9, &DedupSpec::default()), [None, Some(0)]);
        assert_eq!(fates(&nine_of_ten, 0.91, &DedupSpec::default()), [None, None]);
    }

    #[test]
    fn likeness_does_not_chain() {
        // 0 ~ 1 and 1 ~ 2, but not 0 ~ 2.
        let items = [text("a b c d"), text("b c d e"), text("c d e f")];
        assert_eq!(fates(&items, 0.6, &DedupSpec::default()), [None, Some(0), None]);
    }

    #[test]
    fn exact_keys_come_first_and_a_copy_lends_its_keys() {
        let keyed = |key: &str, words: &str| Item { key: Some(key.into()), ..text(words) };
        let items =
            [keyed("k1", "one two three"), keyed("k2", "one two three"), keyed("k2", "something else")];
        assert_eq!(fates(&items, 0.9, &DedupSpec::default()), [None, Some(0), Some(0)]);
    }

    #[test]
    fn items_of_which_nothing_is_known_are_not_the_same() {
        assert_eq!(fates(&[Item::default(), Item::default()], 0.9, &DedupSpec::default()), [None, None]);
    }

    #[test]
    fn vectors_decide_where_both_have_one() {
        let spec = DedupSpec { by: Likeness::Cosine, ..DedupSpec::default() };
        let at = |x, y| Item { vector: Some(vec![x, y]), ..text("same words") };
        // The third has no vector and is compared by its words; its text equals the first's.
        let items = [at(1.0, 0.0), Item { text: Some("other".into()), ..at(0.99, 0.05) }, text("same words")];
        assert_eq!(fates(&items, 0.9, &spec), [None, Some(0), Some(0)]);
        let apart = [at(1.0, 0.0), Item { text: Some("other".into()), ..at(0.0, 1.0) }];
        assert_eq!(fates(&apart, 0.9, &spec), [None, None]);
    }

    #[test]
    fn thresholds_have_a_range() {
        for threshold in [0.0, -0.1, 1.1, f64::NAN] {
            let spec = DedupSpec { within: Some(threshold), ..DedupSpec::default() };
            assert!(spec.check().is_err(), "{threshold}");
        }
    }
}
