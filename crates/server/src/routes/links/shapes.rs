//! What a run takes, and the shapes of the answers as `/openapi.json` describes them. What is written is made by the types of
//! `mainstem_core::linked`; a test holds them against these.

use mainstem_core::link::{Judge, LinkSettings, Way};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ApiError;

/// How many links an answer shows, unless told otherwise.
const SHOWN: usize = 10;

/// How to look for links. What is left out is as the server is configured.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "LinkRunRequest")]
pub struct StartRun {
    /// Only documents of these sources; all that the key sees when left out.
    #[schemars(length(min = 1))]
    sources: Option<Vec<String>>,
    /// The ways to find documents that may belong together.
    #[schemars(with = "Option<Vec<WayShape>>", length(min = 1))]
    ways: Option<Vec<Way>>,
    /// How many documents come before the judge for each document.
    #[schemars(range(min = 1, max = 1000))]
    candidates: Option<usize>,
    /// How many links a document makes at most.
    #[schemars(range(min = 1))]
    per_document: Option<usize>,
    /// What judges: MaxSim where its model is here, else cosines where there are vectors, else words, when left out.
    #[schemars(with = "Option<JudgeShape>")]
    pub(super) judge: Option<Judge>,
    /// The least score of a link.
    #[schemars(range(min = 0, max = 1))]
    least: Option<f64>,
    /// How many of their telling words two documents must have in common whatever the judge says.
    #[schemars(range(min = 0, max = 1))]
    words: Option<f64>,
    /// Whether documents of the same source may be linked.
    within: Option<bool>,
    /// Look, and keep nothing.
    pub(super) dry_run: bool,
    /// Answer when it is done. If not, the answer is 202 at once.
    pub(super) wait: bool,
    /// How many of the best links the answer shows: 10.
    #[schemars(range(min = 0, max = 1000))]
    k: Option<usize>,
}

impl Default for StartRun {
    fn default() -> Self {
        Self {
            sources: None,
            ways: None,
            candidates: None,
            per_document: None,
            judge: None,
            least: None,
            words: None,
            within: None,
            dry_run: false,
            wait: true,
            k: None,
        }
    }
}

impl StartRun {
    /// The settings of the run. A source that the caller may not know about is as unknown as one that is not there.
    ///
    /// # Errors
    /// When a setting is out of its range, or a source is unknown.
    pub(super) fn settings(&self, usual: &LinkSettings, known: &[String]) -> Result<LinkSettings, ApiError> {
        if let Some(name) = self.sources.iter().flatten().find(|name| !known.contains(name)) {
            let known = known.iter().map(String::as_str);
            return Err(mainstem_core::Error::unknown("source", name, known).into());
        }
        if self.sources.as_ref().is_some_and(Vec::is_empty) {
            let hint = "leave `sources` out to look at all of them";
            return Err(ApiError::value("`sources` is empty, expected at least one", hint));
        }
        // What the operator has configured is for all callers: of it, each gets what it may see.
        let configured = || {
            let names = usual.sources.as_ref()?.iter().filter(|name| known.contains(name));
            Some(names.cloned().collect())
        };
        let settings = LinkSettings {
            sources: self.sources.clone().or_else(configured),
            ways: self.ways.clone().unwrap_or_else(|| usual.ways.clone()),
            candidates: self.candidates.unwrap_or(usual.candidates),
            per_document: self.per_document.unwrap_or(usual.per_document),
            judge: self.judge.or(usual.judge),
            least: self.least.or(usual.least),
            words: self.words.unwrap_or(usual.words),
            within: self.within.unwrap_or(usual.within),
        };
        settings.check()?;
        Ok(settings)
    }

    /// How many links are shown.
    ///
    /// # Errors
    /// When more are wanted than an answer has.
    pub(super) fn checked_k(&self, most: usize) -> Result<usize, ApiError> {
        let k = self.k.unwrap_or(SHOWN);
        if k > most {
            let message = format!("`k` is {k}, expected at most {most}");
            return Err(ApiError::value(
                message,
                "`GET /v1/links/runs/{id}` gives all of them, page by page",
            ));
        }
        Ok(k)
    }
}

/// By meaning, by words, or by the title.
#[derive(JsonSchema)]
#[schemars(rename = "LinkWay", rename_all = "snake_case")]
pub enum WayShape {
    /// Chunks whose vectors are near.
    Dense,
    /// Chunks with the same telling words.
    Lexical,
    /// Chunks with the words of the title.
    Title,
}

/// What the score of a link says.
#[derive(JsonSchema)]
#[schemars(rename = "LinkJudge", rename_all = "lowercase")]
pub enum JudgeShape {
    /// How well each token of the one has a token of the other that means the same.
    MaxSim,
    /// The cosine of the two chunks that are alike most.
    Cosine,
    /// How many of the telling words of the one the other has.
    Words,
}

/// How a run looked.
#[derive(JsonSchema)]
#[schemars(rename = "LinkSettings")]
pub struct SettingsShape {
    /// Only documents of these sources; all when `null`.
    pub sources: Option<Vec<String>>,
    /// The ways.
    pub ways: Vec<WayShape>,
    /// How many documents came before the judge for each document.
    pub candidates: u64,
    /// How many links a document made at most.
    pub per_document: u64,
    /// What judged; what was there to judge with when `null`.
    pub judge: Option<JudgeShape>,
    /// The least score of a link; that of the judge when `null`.
    pub least: Option<f64>,
    /// How many of their telling words two documents had to have in common.
    pub words: f64,
    /// Whether documents of the same source were linked.
    pub within: bool,
}

/// A run that looked for links.
#[derive(JsonSchema)]
#[schemars(rename = "LinkRun")]
pub struct RunShape {
    /// Its name.
    pub id: String,
    /// When it looked: a time.
    pub made_at: Value,
    /// How it looked.
    pub settings: SettingsShape,
    /// The model of the vectors that had a part in a link.
    pub model: Option<String>,
    /// The sources that it looked at, by name.
    pub sources: Vec<String>,
    /// How many documents it looked at. This and `edges` are not told to the key of a reader.
    #[schemars(default)]
    pub documents: u64,
    /// How many links it found.
    #[schemars(default)]
    pub edges: u64,
    /// When it was undone: a time, or `null`.
    pub undone_at: Value,
    /// Whether the caller may undo it.
    pub undoable: bool,
}

/// A run that is under way.
#[derive(JsonSchema)]
#[schemars(rename = "LinkRunUnderWay")]
pub struct UnderWayShape {
    /// The name that it will have.
    pub id: String,
    /// When it began: a time.
    pub started_at: Value,
    /// The sources that it looks at, by name.
    pub sources: Vec<String>,
    /// Whether nothing of it is kept.
    pub dry_run: bool,
    /// How many documents it has looked at. This and `of` are not told to the key of a reader.
    #[schemars(default)]
    pub done: u64,
    /// How many it will look at.
    #[schemars(default)]
    pub of: u64,
}

/// How a run ended.
#[derive(JsonSchema)]
#[schemars(rename = "LinkRunEnd", rename_all = "snake_case")]
pub enum EndShape {
    /// It looked at everything.
    Done,
    /// It could not go on; nothing of it is kept.
    Failed,
    /// It was stopped; nothing of it is kept.
    Stopped,
}

/// The last run that ended since the server started.
#[derive(JsonSchema)]
#[schemars(rename = "EndedLinkRun")]
pub struct EndedShape {
    /// Its name.
    pub id: String,
    /// How it ended.
    pub state: EndShape,
    /// What went wrong, where something did.
    #[schemars(default)]
    pub error: String,
    /// What it changed, where it was kept; told to keys that see everything.
    #[schemars(default)]
    pub changes: Option<ChangesShape>,
}

/// What a run changed.
#[derive(JsonSchema)]
#[schemars(rename = "LinkChanges")]
pub struct ChangesShape {
    /// Pairs that were not linked before.
    pub added: u64,
    /// Pairs that another run had linked, with the same score.
    pub kept: u64,
    /// Pairs that another run had linked, with another score.
    pub changed: u64,
    /// Pairs of these sources that other runs had linked, and this one does not.
    pub missed: u64,
}

/// All runs.
#[derive(JsonSchema)]
#[schemars(rename = "LinkRuns")]
pub struct RunsShape {
    /// Those that are over, newest first.
    pub runs: Vec<RunShape>,
    /// The one that is under way.
    pub running: Option<UnderWayShape>,
    /// The last one that ended since the server started.
    pub ended: Option<EndedShape>,
    /// Whether the caller may start one.
    pub startable: bool,
}

/// What a run came to.
#[derive(JsonSchema)]
#[schemars(rename = "LinkRunOutcome")]
pub struct OutcomeShape {
    /// The run.
    pub run: RunShape,
    /// What it changed, or would change; `null` to a key that does not see everything, since it tells of other runs.
    pub changes: Option<ChangesShape>,
    /// Whether nothing of it is kept.
    pub dry_run: bool,
    /// Its best links.
    pub links: Vec<LinkShape>,
}

/// A run with what it says.
#[derive(JsonSchema)]
#[schemars(rename = "LinkRunWithLinks")]
pub struct RunWithLinksShape {
    /// The run.
    #[serde(flatten)]
    pub run: RunShape,
    /// What it says, best first: a page.
    pub links: Vec<LinkShape>,
    /// Whether there are more behind the page.
    pub more: bool,
}

/// What undoing a run changed.
#[derive(JsonSchema)]
#[schemars(rename = "UndoneLinkRun")]
pub struct UndoneShape {
    /// Pairs that are no longer linked. Neither number is told to a key that does not see everything: it tells of other runs.
    #[schemars(default)]
    pub removed: u64,
    /// Pairs that are still linked, because another run says so.
    #[schemars(default)]
    pub kept: u64,
}

/// What a run says about a pair.
#[derive(JsonSchema)]
pub struct SaidShape {
    /// How sure the run is, from 0 to 1.
    pub score: f64,
    /// Why, in one sentence.
    pub reason: String,
    /// Why, in numbers.
    pub evidence: GroundsShape,
    /// The run that says so.
    pub run: String,
    /// When it looked: a time.
    pub made_at: Value,
    /// Whether one of the two was written anew since.
    pub stale: bool,
}

/// Two documents that belong together.
#[derive(JsonSchema)]
#[schemars(rename = "Link")]
pub struct LinkShape {
    /// The one.
    pub a: EndOfLinkShape,
    /// The other.
    pub b: EndOfLinkShape,
    /// What the run says.
    #[serde(flatten)]
    pub said: SaidShape,
}

/// A document that is linked.
#[derive(JsonSchema)]
#[schemars(rename = "LinkEnd")]
pub struct EndOfLinkShape {
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

/// A document that is linked with the one that was asked about.
#[derive(JsonSchema)]
#[schemars(rename = "LinkedDocument")]
pub struct LinkedShape {
    /// The document.
    #[serde(flatten)]
    pub end: EndOfLinkShape,
    /// What the run says.
    #[serde(flatten)]
    pub said: SaidShape,
}

/// A link between two documents of an answer.
#[derive(JsonSchema)]
#[schemars(rename = "Tie")]
pub struct TieShape {
    /// The one, `source/id`.
    pub a: String,
    /// The other.
    pub b: String,
    /// How sure the run is.
    pub score: f64,
}

/// Why two documents are linked.
#[derive(JsonSchema)]
#[schemars(rename = "LinkEvidence")]
pub struct GroundsShape {
    /// What the score says.
    pub judge: JudgeShape,
    /// The chunk of the one, `source/id#order`.
    pub from: String,
    /// The chunk of the other that is most like it.
    pub to: String,
    /// The score by which the pair came before the judge.
    pub fused: f64,
    /// How many of the telling words of the one the other has.
    pub words: f64,
    /// The most telling words that both have.
    pub common: Vec<String>,
    /// What found it.
    pub found: Vec<FoundShape>,
}

/// One way that found a link.
#[derive(JsonSchema)]
#[schemars(rename = "LinkFound")]
pub struct FoundShape {
    /// The way.
    pub way: WayShape,
    /// The document for which the other one was found.
    pub from: String,
    /// The place in the list of documents, from 1.
    pub rank: u64,
    /// The score in that list.
    pub score: f64,
}

const ID: &str = "run-4f2a1";
const AT: &str = "2026-01-31T09:00:00Z";

/// A run.
pub(super) fn run() -> Value {
    let ways = ["dense", "lexical", "title"];
    json!({
        "id": ID, "made_at": AT, "model": "all-MiniLM-L6-v2", "sources": ["chat", "wiki"], "documents": 240, "edges": 15,
        "settings": {"sources": ["chat", "wiki"], "ways": ways, "candidates": 20, "per_document": 3, "judge": null, "least": 0.7, "words": 0.12, "within": true},
        "undone_at": null, "undoable": true,
    })
}

/// A link.
fn link() -> Value {
    let end = |source: &str, document: &str, title: Option<&str>| json!({ "source": source, "document": document, "title": title, "url": null, "label": null });
    json!({
        "a": end("chat", "1", None), "b": end("wiki", "release", Some("Releases")), "score": 0.82,
        "reason": "MaxSim 0.82: chunk 0 of `chat/1` and chunk 2 of `wiki/release`; found by meaning (rank 1) and title (rank 3); both have `rollback`, `job`",
        "evidence": {
            "judge": "maxsim", "from": "chat/1#0", "to": "wiki/release#2", "fused": 0.032, "words": 0.31, "common": ["rollback", "job"],
            "found": [
                {"way": "dense", "from": "chat/1", "rank": 1, "score": 0.71},
                {"way": "title", "from": "wiki/release", "rank": 3, "score": 8.2},
            ],
        },
        "run": ID, "made_at": AT, "stale": false,
    })
}

/// What a run came to.
pub(super) fn outcome() -> Value {
    let changes = json!({ "added": 12, "kept": 3, "changed": 0, "missed": 1 });
    json!({ "run": run(), "changes": changes, "dry_run": false, "links": [link()] })
}

/// A run with its links.
pub(super) fn run_with_links() -> Value {
    let mut shown = run();
    shown["links"] = json!([link()]);
    shown["more"] = true.into();
    shown
}
