//! Links: which documents belong together, and which run said so.
//!
//! A run looks at documents and says which pairs of them belong together. What it says is kept under its name, and a pair is linked as long
//! as one run says so that was not undone. So undoing a run takes back what it said and nothing else, whatever other runs said about the
//! same pairs, before it or after.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::Filter;
use crate::diagnostic::Failure;
use crate::error::Error;
use crate::time::Moment;

/// What a document is called outside its store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentName {
    /// The source.
    pub source: String,
    /// The id within the source.
    pub id: String,
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.id)
    }
}

/// A way to find documents that may belong to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Chunks whose vectors are near.
    Dense,
    /// Chunks with the same telling words.
    Lexical,
    /// Chunks with the words of the title.
    Title,
}

impl Way {
    /// All ways, in their order.
    pub const ALL: [Self; 3] = [Self::Dense, Self::Lexical, Self::Title];

    /// The name, as written in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Lexical => "lexical",
            Self::Title => "title",
        }
    }
}

/// What a score of a link says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Judge {
    /// How well each token of the one has a token of the other that means the same, the mean of both directions.
    MaxSim,
    /// The cosine of the two chunks that are alike most.
    Cosine,
    /// How many of the telling words of the one the other has, by their weight, the mean of both directions.
    Words,
}

impl Judge {
    /// The name, as written in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MaxSim => "maxsim",
            Self::Cosine => "cosine",
            Self::Words => "words",
        }
    }

    /// The least score of a link when the settings do not say.
    pub const fn least(self) -> f64 {
        match self {
            Self::MaxSim => 0.55,
            Self::Cosine => 0.5,
            Self::Words => 0.2,
        }
    }
}

/// Two documents that belong together, as one run says. Links have no direction: `a` is the one that comes first by source and id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The one.
    pub a: DocumentName,
    /// The other.
    pub b: DocumentName,
    /// How sure the run is, from 0 to 1.
    pub score: f64,
    /// Why.
    pub evidence: Evidence,
}

impl Edge {
    /// The same edge with its ends in order.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        if self.a > self.b {
            std::mem::swap(&mut self.a, &mut self.b);
            std::mem::swap(&mut self.evidence.a_chunk, &mut self.evidence.b_chunk);
            self.evidence.found.iter_mut().for_each(|found| found.from_a = !found.from_a);
        }
        self
    }
}

/// What edges say: each pair once, with its best score, ends in order, without links of a document to itself; by names.
pub fn pairs(edges: &[Edge]) -> Vec<Edge> {
    let others = edges.iter().filter(|edge| edge.a != edge.b).cloned();
    let mut pairs: Vec<Edge> = others.map(Edge::ordered).collect();
    pairs.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)).then(y.score.total_cmp(&x.score)));
    pairs.dedup_by(|later, kept| (&later.a, &later.b) == (&kept.a, &kept.b));
    pairs
}

/// Why two documents are linked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What the score of the link says.
    pub judge: Judge,
    /// The chunk of `a` that is most like one of `b`, by its place in the document.
    pub a_chunk: u32,
    /// The chunk of `b` that is most like it.
    pub b_chunk: u32,
    /// The score of the fused ways, by which the pair came before the judge.
    pub fused: f64,
    /// How many of the telling words of the one the other has, by their weight, the mean of both directions.
    pub words: f64,
    /// The most telling words that both have, as `a` writes them.
    pub common: Vec<String>,
    /// What found it.
    pub found: Vec<FoundBy>,
}

/// One way that found a link from one of its ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundBy {
    /// The way.
    pub way: Way,
    /// Whether `b` was found for `a`, and not `a` for `b`.
    pub from_a: bool,
    /// The place in the list of documents, from 1.
    pub rank: usize,
    /// The score in that list.
    pub score: f64,
}

/// How a run looks for links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LinkSettings {
    /// Only documents of these sources; all when left out.
    pub sources: Option<Vec<String>>,
    /// The ways to find documents that may belong to one.
    pub ways: Vec<Way>,
    /// How many documents come before the judge for each document.
    pub candidates: usize,
    /// How many links a document makes at most. It may get more from others.
    pub per_document: usize,
    /// What judges; when left out, `maxsim` where its model is here and documents are 3,000 at most, else `cosine` where there are vectors, else `words`.
    pub judge: Option<Judge>,
    /// The least score of a link, from 0 to 1; when left out 0.55 by `maxsim`, 0.5 by `cosine` and 0.2 by `words`, whose scores do not compare.
    pub least: Option<f64>,
    /// How many of their telling words two documents must have in common whatever the judge says, from 0 to 1: a model takes any two texts for
    /// alike that are in a language it cannot read. Set it to 0 where links across languages are wanted.
    pub words: f64,
    /// Whether documents of the same source may be linked.
    pub within: bool,
}

impl Default for LinkSettings {
    fn default() -> Self {
        let ways = vec![Way::Dense, Way::Lexical, Way::Title];
        Self {
            sources: None,
            ways,
            candidates: 20,
            per_document: 5,
            judge: None,
            least: None,
            words: 0.12,
            within: true,
        }
    }
}

impl LinkSettings {
    /// How many documents may come before the judge for each document.
    pub const MOST_CANDIDATES: usize = 1000;

    /// Refuses settings with which no run could find anything, or none would end.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn check(&self) -> Result<(), Error> {
        if self.ways.is_empty() {
            return Err(Error::range("`ways`", "at least one of `dense`, `lexical`, `title`", "none"));
        }
        let most = Self::MOST_CANDIDATES;
        if !(1..=most).contains(&self.candidates) {
            return Err(Error::range("`candidates`", format!("1 to {most}"), self.candidates));
        }
        if self.per_document == 0 {
            return Err(Error::range("`per_document`", "at least 1", self.per_document));
        }
        for (name, share) in [("`least`", self.least), ("`words`", Some(self.words))] {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                return Err(Error::range(name, "0 to 1", share));
            }
        }
        Ok(())
    }
}

/// A run, as it is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRun {
    /// Its name, which no other run has or had.
    pub id: String,
    /// When it looked.
    pub made_at: Moment,
    /// How it looked.
    pub settings: LinkSettings,
    /// The model of the vectors that had a part in a link.
    pub model: Option<String>,
    /// The sources that it looked at, by name.
    pub sources: Vec<String>,
    /// For whom it looked: at nothing that this reader may not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
    /// Whether not everybody may read all that it looked at. Where that is not known, it is so.
    #[serde(default = "unknown")]
    pub restricted: bool,
    /// How many documents it looked at.
    pub documents: u64,
    /// How many links it found.
    pub edges: u64,
    /// When it was undone.
    pub undone_at: Option<Moment>,
}

const fn unknown() -> bool {
    true
}

impl LinkRun {
    /// Whether a caller, by the `scope` and the `reader` of a filter, may see all that the run looked at, and was told to look at.
    ///
    /// What it says depends on all of that, be it by how rare a word is, and so it is for nobody else.
    pub fn is_within(&self, filter: &Filter) -> bool {
        let mut named = self.settings.sources.iter().flatten();
        let seen = |source: &String| filter.scope.as_ref().is_none_or(|scope| scope.contains(source));
        // What everybody may read is read by no reader in particular.
        let reader = if self.restricted { self.reader.as_deref() } else { filter.reader.as_deref() };
        looked_within(&self.sources, reader, filter) && named.all(seen)
    }
}

/// The same of a run of which no more is known than the sources, and for whom it looks.
pub fn looked_within(sources: &[String], reader: Option<&str>, filter: &Filter) -> bool {
    let seen = filter.scope.as_ref().is_none_or(|scope| {
        // One that found no source at all is nobody's but theirs who see everything.
        !sources.is_empty() && sources.iter().all(|source| scope.contains(source))
    });
    seen && (filter.reader.is_none() || filter.reader.as_deref() == reader)
}

/// What a run changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Pairs that were not linked before.
    pub added: u64,
    /// Pairs that another run had linked, with the same score.
    pub kept: u64,
    /// Pairs that another run had linked, with another score.
    pub changed: u64,
    /// Pairs of these sources that other runs had linked, and this one does not. They stay until those are undone.
    pub missed: u64,
}

impl Recorded {
    /// What a run changes in a graph of these links.
    fn between(before: &[Link], run: &LinkRun, edges: &[Edge]) -> Self {
        let pairs = pairs(edges);
        let mut known: HashMap<(&DocumentName, &DocumentName), f64> =
            before.iter().map(|link| ((&link.edge.a, &link.edge.b), link.edge.score)).collect();
        let mut recorded = Self::default();
        for edge in &pairs {
            recorded.count(known.remove(&(&edge.a, &edge.b)), edge.score);
        }
        let seen = |name: &DocumentName| run.sources.contains(&name.source);
        recorded.missed = known.keys().filter(|(a, b)| seen(a) && seen(b)).count() as u64;
        recorded
    }

    /// Counts a pair of a run: the score it had before, if it was linked, and the one it has now.
    pub fn count(&mut self, before: Option<f64>, now: f64) {
        match before {
            None => self.added += 1,
            Some(before) if before.total_cmp(&now).is_eq() => self.kept += 1,
            Some(_) => self.changed += 1,
        }
    }
}

/// What undoing a run changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// Pairs that are no longer linked.
    pub removed: u64,
    /// Pairs that are still linked, because another run says so.
    pub kept: u64,
}

/// A link as it stands: what the newest run that was not undone says about a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The pair.
    #[serde(flatten)]
    pub edge: Edge,
    /// The run.
    pub run: String,
    /// When it looked.
    pub made_at: Moment,
    /// Whether one of the two was written anew since.
    pub stale: bool,
}

/// Which links are wanted. Everything that is given must hold.
#[derive(Clone, Debug)]
pub struct LinkQuery<'a> {
    /// Only links of this document.
    pub document: Option<&'a DocumentName>,
    /// Only what this run said, whatever others said later.
    pub run: Option<&'a str>,
    /// What other runs than these said does not count; all do when left out.
    pub among: Option<&'a [String]>,
    /// Both ends must pass the `scope`, the `sources` and the `reader`.
    pub filter: &'a Filter,
    /// How many.
    pub limit: usize,
}

/// What runs said, to be read.
pub trait Edges: Send + Sync {
    /// All runs, the one that was kept last first, those that were undone included.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn runs(&self) -> Result<Vec<LinkRun>, Failure>;

    /// Links, each pair once, best first: by score, then by the names of `a` and `b`. The links of a document MUST be gone when it is.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn links(&self, query: &LinkQuery<'_>) -> Result<Vec<Link>, Failure>;

    /// What keeping a run would change, without keeping it.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn changes(&self, run: &LinkRun, edges: &[Edge]) -> Result<Recorded, Failure> {
        let filter = Filter::default();
        let all = LinkQuery { document: None, run: None, among: None, filter: &filter, limit: usize::MAX };
        Ok(Recorded::between(&self.links(&all)?, run, edges))
    }
}

/// Where links are kept.
pub trait EdgeStore: Edges {
    /// Keeps what a run says, all or nothing; what it replaces or repeats stays under the other runs' names.
    ///
    /// When it returns, it MUST survive the death of the process. Edges with an end that is not in the store (any more) MUST be left out,
    /// and so MUST those that link a document to itself. Ends are put in order; of a pair that is said twice, the better score counts. The
    /// run is remembered with the number of edges that were kept.
    ///
    /// # Errors
    /// When the store cannot be written, has had a run of that name, or a score is not between 0 and 1.
    fn record(&self, run: &LinkRun, edges: &[Edge]) -> Result<Recorded, Failure>;

    /// Takes back what a run said. Nothing when there is no such run, or it was undone before.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn undo(&self, run: &str, now: &Moment) -> Result<Option<Undone>, Failure>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(a: &str, b: &str, score: f64) -> Edge {
        let name = |id: &str| DocumentName { source: "s".into(), id: id.into() };
        let evidence = Evidence {
            judge: Judge::Words,
            a_chunk: 1,
            b_chunk: 2,
            fused: 0.5,
            words: 0.3,
            common: vec!["word".into()],
            found: vec![FoundBy { way: Way::Title, from_a: true, rank: 1, score: 3.0 }],
        };
        Edge { a: name(a), b: name(b), score, evidence }
    }

    #[test]
    fn an_edge_is_turned_with_all_it_knows() {
        let turned = edge("z", "a", 0.5).ordered();
        assert_eq!((turned.a.id.as_str(), turned.b.id.as_str()), ("a", "z"));
        assert_eq!((turned.evidence.a_chunk, turned.evidence.b_chunk), (2, 1));
        assert!(!turned.evidence.found[0].from_a);
        assert_eq!(turned.clone().ordered(), turned);
    }

    #[test]
    fn pairs_are_said_once_and_never_of_one_document() {
        let said = [edge("b", "a", 0.4), edge("a", "b", 0.6), edge("c", "c", 1.0), edge("b", "a", 0.5)];
        let pairs = pairs(&said);
        assert_eq!(pairs.len(), 1);
        assert_eq!((pairs[0].a.id.as_str(), pairs[0].score), ("a", 0.6));
    }

    #[test]
    fn a_run_is_for_those_who_may_see_all_that_it_looked_at() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let run = |sources: &[&str], reader: Option<&str>, restricted| LinkRun {
            id: "r".into(),
            made_at: Moment::parse("2026-01-31").unwrap(),
            settings: LinkSettings::default(),
            model: None,
            sources: names(sources),
            reader: reader.map(str::to_owned),
            restricted,
            documents: 1,
            edges: 0,
            undone_at: None,
        };
        let filter = |scope: Option<&[&str]>, reader: Option<&str>| Filter {
            scope: scope.map(names),
            reader: reader.map(str::to_owned),
            ..Filter::default()
        };
        let (everything, wiki) = (filter(None, None), filter(Some(&["chat", "wiki"]), None));
        for run in [run(&["hr", "wiki"], None, true), run(&[], Some("ann"), true)] {
            assert!(run.is_within(&everything) && !run.is_within(&wiki));
        }
        assert!(run(&["wiki"], None, true).is_within(&wiki));
        let ann = filter(Some(&["wiki"]), Some("ann"));
        assert!(run(&["wiki"], Some("ann"), true).is_within(&ann));
        assert!(!run(&["wiki"], Some("bob"), true).is_within(&ann));
        assert!(!run(&["wiki"], None, true).is_within(&ann), "it looked at what others may read");
        for reader in [None, Some("bob")] {
            assert!(run(&["wiki"], reader, false).is_within(&ann), "it looked at what all may read");
            assert!(!run(&["hr"], reader, false).is_within(&ann), "of sources that are not for her");
        }
        let mut told = run(&["wiki"], None, false);
        told.settings.sources = Some(names(&["hr", "wiki"]));
        assert!(!told.is_within(&ann), "its settings name a source that had nothing");
        let older = serde_json::json!({
            "id": "r", "made_at": "2026-01-31", "settings": {}, "sources": ["wiki"], "documents": 1, "edges": 0
        });
        let older: LinkRun = serde_json::from_value(older).unwrap();
        assert!(older.restricted && older.is_within(&wiki) && !older.is_within(&ann));
    }

    #[test]
    fn settings_say_what_they_expect() {
        let wrong = |change: fn(&mut LinkSettings)| {
            let mut settings = LinkSettings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(LinkSettings::default().check().is_ok());
        assert!(wrong(|s| s.least = Some(1.5)).contains("`least`"));
        assert!(wrong(|s| s.least = Some(f64::NAN)).contains("`least`"));
        assert!(wrong(|s| s.words = -0.1).contains("`words`"));
        assert!(wrong(|s| s.ways.clear()).contains("`ways`"));
        assert!(wrong(|s| s.candidates = 0).contains("`candidates`"));
        assert!(wrong(|s| s.candidates = 100_000).contains("`candidates`"));
        assert!(wrong(|s| s.per_document = 0).contains("`per_document`"));
    }
}
