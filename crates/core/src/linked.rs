//! Links as they are shown: with the titles of both ends, and why they are linked in one sentence.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::link::{
    DocumentName, Edge, Evidence, FoundBy, Judge, Link, LinkRun, LinkSettings, Recorded, Undone, Way,
};
use crate::time::Moment;

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// The source.
    pub source: String,
    /// The id within the source.
    pub document: String,
    /// The title.
    pub title: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How an answer names it.
    pub label: Option<String>,
}

impl LinkEnd {
    /// What it is called outside its store.
    pub fn name(&self) -> DocumentName {
        DocumentName { source: self.source.clone(), id: self.document.clone() }
    }
}

/// Why two documents are linked, seen from one of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grounds {
    /// What the score says.
    pub judge: Judge,
    /// The chunk of the one, `source/id#order`.
    pub from: String,
    /// The chunk of the other that is most like it.
    pub to: String,
    /// The score by which the pair came before the judge.
    pub fused: f64,
    /// How many of the telling words of the one the other has.
    pub words: f64,
    /// The most telling words that both have.
    #[serde(default)]
    pub common: Vec<String>,
    /// What found it.
    #[serde(default)]
    pub found: Vec<FoundFrom>,
}

/// One way that found a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundFrom {
    /// The way.
    pub way: Way,
    /// The document for which the other one was found, `source/id`.
    pub from: String,
    /// The place in the list of documents, from 1.
    pub rank: usize,
    /// The score in that list.
    pub score: f64,
}

impl Grounds {
    /// The evidence of an edge, seen from `a`, or from `b`.
    pub fn of(edge: &Edge, from_b: bool) -> Self {
        let Evidence { judge, a_chunk, b_chunk, fused, words, common, found } = &edge.evidence;
        let [a, b] = [(&edge.a, a_chunk), (&edge.b, b_chunk)].map(|(name, order)| format!("{name}#{order}"));
        let (from, to) = if from_b { (b, a) } else { (a, b) };
        let end = |from_a: bool| if from_a { &edge.a } else { &edge.b };
        let found = found.iter().map(|one| FoundFrom {
            way: one.way,
            from: end(one.from_a).to_string(),
            rank: one.rank,
            score: one.score,
        });
        Self {
            judge: *judge,
            from,
            to,
            fused: *fused,
            words: *words,
            common: common.clone(),
            found: found.collect(),
        }
    }

    /// The edge between these documents, of which `from` is the one that this is seen from.
    fn edge(&self, from: &DocumentName, to: &DocumentName, score: f64) -> Edge {
        let order = |name: &str| name.rsplit_once('#').and_then(|(_, order)| order.parse().ok()).unwrap_or(0);
        let own = from.to_string();
        let found = self.found.iter().map(|one| FoundBy {
            way: one.way,
            from_a: one.from == own,
            rank: one.rank,
            score: one.score,
        });
        let evidence = Evidence {
            judge: self.judge,
            a_chunk: order(&self.from),
            b_chunk: order(&self.to),
            fused: self.fused,
            words: self.words,
            common: self.common.clone(),
            found: found.collect(),
        };
        Edge { a: from.clone(), b: to.clone(), score, evidence }.ordered()
    }

    /// One sentence.
    pub fn sentence(&self, score: f64) -> String {
        let judge = match self.judge {
            Judge::MaxSim => "MaxSim",
            Judge::Cosine => "cosine",
            Judge::Words => "shared words",
        };
        let chunk = |name: &str| {
            let (document, order) = name.rsplit_once('#').unwrap_or((name, "0"));
            format!("chunk {order} of `{document}`")
        };
        let mut out = format!("{judge} {score:.2}: {} and {}", chunk(&self.from), chunk(&self.to));
        let ways = [(Way::Dense, "meaning"), (Way::Lexical, "words"), (Way::Title, "title")];
        let best = |way: Way| self.found.iter().filter(|one| one.way == way).map(|one| one.rank).min();
        let told: Vec<String> = ways
            .into_iter()
            .filter_map(|(way, name)| best(way).map(|rank| format!("{name} (rank {rank})")))
            .collect();
        if let Some((last, before)) = told.split_last() {
            let and = if before.is_empty() { "" } else { " and " };
            // Writing into a text does not fail.
            let _ = write!(out, "; found by {}{and}{last}", before.join(", "));
        }
        if !self.common.is_empty() {
            let words: Vec<String> = self.common.iter().map(|word| format!("`{word}`")).collect();
            let _ = write!(out, "; both have {}", words.join(", "));
        }
        out
    }
}

/// What a run says about a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// How sure the run is, from 0 to 1.
    pub score: f64,
    /// Why, in one sentence.
    pub reason: String,
    /// Why, in numbers.
    pub evidence: Grounds,
    /// The run that says so.
    pub run: String,
    /// When it looked.
    pub made_at: Moment,
    /// Whether one of the two was written anew since.
    pub stale: bool,
}

impl Said {
    /// A link, seen from `a`, or from `b`.
    fn new(link: &Link, from_b: bool) -> Self {
        let evidence = Grounds::of(&link.edge, from_b);
        Self {
            score: link.edge.score,
            reason: evidence.sentence(link.edge.score),
            evidence,
            run: link.run.clone(),
            made_at: link.made_at.clone(),
            stale: link.stale,
        }
    }

    /// The link between these documents, of which `from` is the one that this is seen from.
    fn link(&self, from: &DocumentName, to: &DocumentName) -> Link {
        Link {
            edge: self.evidence.edge(from, to, self.score),
            run: self.run.clone(),
            made_at: self.made_at.clone(),
            stale: self.stale,
        }
    }
}

/// A link with both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownLink {
    /// The one.
    pub a: LinkEnd,
    /// The other.
    pub b: LinkEnd,
    /// What the run says.
    #[serde(flatten)]
    pub said: Said,
}

impl ShownLink {
    /// A link between these ends.
    pub fn new(link: &Link, a: LinkEnd, b: LinkEnd) -> Self {
        Self { a, b, said: Said::new(link, false) }
    }
}

impl From<&ShownLink> for Link {
    fn from(shown: &ShownLink) -> Self {
        shown.said.link(&shown.a.name(), &shown.b.name())
    }
}

/// A document that is linked with another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkedDocument {
    /// The document.
    #[serde(flatten)]
    pub end: LinkEnd,
    /// What the run says.
    #[serde(flatten)]
    pub said: Said,
}

impl LinkedDocument {
    /// The other end of a link, seen from this document.
    pub fn new(link: &Link, from: &DocumentName, end: LinkEnd) -> Self {
        Self { end, said: Said::new(link, link.edge.b == *from) }
    }

    /// The link, seen from this document.
    pub fn link(&self, from: &DocumentName) -> Link {
        self.said.link(from, &self.end.name())
    }
}

/// A link between two documents that are shown already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    /// The one, `source/id`.
    pub a: String,
    /// The other.
    pub b: String,
    /// How sure the run is.
    pub score: f64,
}

/// A run as it is shown, to readers without its counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShownRun {
    /// Its name.
    pub id: String,
    /// When it looked.
    pub made_at: Moment,
    /// How it looked.
    pub settings: LinkSettings,
    /// The model of the vectors that had a part in a link.
    pub model: Option<String>,
    /// The sources that it looked at, by name.
    pub sources: Vec<String>,
    /// How many documents it looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documents: Option<u64>,
    /// How many links it found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<u64>,
    /// When it was undone.
    pub undone_at: Option<Moment>,
    /// Whether the caller may undo it.
    pub undoable: bool,
}

impl ShownRun {
    /// A run, with its counts or without.
    pub fn new(run: LinkRun, counted: bool, may_write: bool) -> Self {
        let LinkRun { id, made_at, settings, model, sources, documents, edges, undone_at, .. } = run;
        let (documents, edges) = (counted.then_some(documents), counted.then_some(edges));
        let undoable = may_write && undone_at.is_none();
        Self { id, made_at, settings, model, sources, documents, edges, undone_at, undoable }
    }
}

/// A run that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunUnderWay {
    /// The name that it will have.
    pub id: String,
    /// When it began.
    pub started_at: Moment,
    /// The sources that it looks at, by name.
    pub sources: Vec<String>,
    /// Whether nothing of it is kept.
    pub dry_run: bool,
    /// How many documents it has looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// How many it will look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// It looked at everything.
    Done,
    /// It could not go on; nothing of it is kept.
    Failed,
    /// It was stopped; nothing of it is kept.
    Stopped,
}

/// The last run that ended since the server started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndedRun {
    /// Its name.
    pub id: String,
    /// How it ended.
    pub state: RunEnd,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Recorded>,
}

/// All runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// Those that are over, newest first.
    pub runs: Vec<ShownRun>,
    /// The one that is under way.
    pub running: Option<RunUnderWay>,
    /// The last one that ended since the server started.
    pub ended: Option<EndedRun>,
    /// Whether the caller may start one.
    pub startable: bool,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// The run.
    pub run: ShownRun,
    /// What it changed, or would change. It tells of other runs, and so it is nothing for those who may not see all of them.
    pub changes: Option<Recorded>,
    /// Whether nothing of it is kept.
    pub dry_run: bool,
    /// Its best links.
    pub links: Vec<ShownLink>,
}

/// A run with its links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunWithLinks {
    /// The run.
    #[serde(flatten)]
    pub run: ShownRun,
    /// What it says, best first: a page.
    pub links: Vec<ShownLink>,
    /// Whether there are more behind the page.
    pub more: bool,
}

/// What undoing a run changed. It tells of other runs, and so it is empty for those who may not see all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneRun {
    /// Pairs that are no longer linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Pairs that are still linked, because another run says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
}

impl From<Undone> for UndoneRun {
    fn from(Undone { removed, kept }: Undone) -> Self {
        Self { removed: Some(removed), kept: Some(kept) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::FoundBy;

    fn edge(found: Vec<FoundBy>) -> Edge {
        let name = |source: &str, id: &str| DocumentName { source: source.into(), id: id.into() };
        let common = vec!["rollback".into(), "job".into()];
        let evidence =
            Evidence { judge: Judge::MaxSim, a_chunk: 2, b_chunk: 0, fused: 0.03, words: 0.4, common, found };
        Edge { a: name("docs", "b"), b: name("wiki", "a#1"), score: 0.816, evidence }
    }

    fn by(way: Way, from_a: bool, rank: usize) -> FoundBy {
        FoundBy { way, from_a, rank, score: 0.5 }
    }

    #[test]
    fn a_link_says_why_from_either_end() {
        let found = vec![by(Way::Title, true, 3), by(Way::Dense, true, 4), by(Way::Dense, false, 1)];
        let edge = edge(found);
        let told = |from_b| Grounds::of(&edge, from_b).sentence(edge.score);
        let by = "found by meaning (rank 1) and title (rank 3); both have `rollback`, `job`";
        assert_eq!(told(true), format!("MaxSim 0.82: chunk 0 of `wiki/a#1` and chunk 2 of `docs/b`; {by}"));
        assert_eq!(told(false), format!("MaxSim 0.82: chunk 2 of `docs/b` and chunk 0 of `wiki/a#1`; {by}"));
        let grounds = Grounds::of(&edge, true);
        assert_eq!((grounds.found[1].from.as_str(), grounds.found[2].from.as_str()), ("docs/b", "wiki/a#1"));
    }

    #[test]
    fn all_ways_that_found_it_are_told() {
        let all = vec![by(Way::Lexical, true, 7), by(Way::Title, true, 2), by(Way::Dense, true, 1)];
        let whole = Grounds::of(&edge(all), false).sentence(0.5);
        assert!(whole.contains("found by meaning (rank 1), words (rank 7) and title (rank 2);"), "{whole}");
    }

    #[test]
    fn what_is_shown_whole_can_be_read_back() {
        let edge = edge(vec![by(Way::Title, true, 3), by(Way::Dense, false, 1)]);
        let made_at = Moment::parse("2026-01-31").unwrap();
        let link = Link { edge, run: "run-1".into(), made_at, stale: true };
        let end = |name: &DocumentName| LinkEnd {
            source: name.source.clone(),
            document: name.id.clone(),
            title: None,
            url: None,
            label: None,
        };
        let (a, b) = (&link.edge.a, &link.edge.b);
        assert_eq!(Link::from(&ShownLink::new(&link, end(a), end(b))), link);
        for (from, to) in [(a, b), (b, a)] {
            assert_eq!(LinkedDocument::new(&link, from, end(to)).link(from), link);
        }
    }
}
