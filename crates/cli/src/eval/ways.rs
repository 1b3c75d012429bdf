//! Several ways to answer the same questions, side by side.

use mainstem::query::Engine;
use mainstem_core::contract::Channel;
use mainstem_eval::{Comparison, Evaluation, Measure, Qrels, Settings, compare, evaluate};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ask::{Answers, Questions, Way};
use crate::failure::Failure;

/// What a way is, for those who read the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "way", content = "of")]
pub(crate) enum Kind {
    /// One source alone, by all channels.
    Source(String),
    /// One channel alone, over all sources.
    Channel(Channel),
    /// Every leg is a list of its own, and the lists meet by rank alone.
    Rank,
    /// As searches are by default.
    Default,
    /// As the settings of a file say.
    Configured(String),
    /// Each question over the sources that are its own.
    Own(String),
    /// The default, with freshness.
    Fresh,
}

impl Kind {
    /// What tables call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Source(name) => format!("{name} alone"),
            Self::Channel(Channel::Dense) => "all sources, by meaning alone".to_owned(),
            Self::Channel(Channel::Lexical) => "all sources, by words alone".to_owned(),
            Self::Rank => "all sources, merged by rank alone".to_owned(),
            Self::Default => "all sources, default".to_owned(),
            Self::Configured(file) => format!("all sources, tuned ({file})"),
            Self::Own(name) => name.clone(),
            Self::Fresh => "all sources, default with freshness".to_owned(),
        }
    }

    /// How the engine is asked.
    pub(crate) fn way(&self, settings: &Map<String, Value>) -> Way {
        let mut way = Way::default();
        match self {
            Self::Source(name) => way.sources = Some(vec![name.clone()]),
            Self::Channel(channel) => way.channels = Some(vec![*channel]),
            Self::Rank => way.pipeline = by_rank(),
            Self::Default | Self::Fresh => {}
            Self::Own(_) => way.own = true,
            Self::Configured(_) => way.pipeline.clone_from(settings),
        }
        way
    }
}

/// What everybody does who merges lists of engines that do not know each other: reciprocal rank fusion of all of them.
fn by_rank() -> Map<String, Value> {
    let patch = [("across", json!("rank")), ("fuse", json!({ "method": "rrf" }))];
    patch.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// One way and how good it is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// What the way is.
    #[serde(flatten)]
    pub(crate) kind: Kind,
    /// Its values.
    #[serde(flatten)]
    pub(crate) evaluation: Evaluation,
}

/// Several ways and what sets them apart from the default.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    /// How many questions were asked.
    pub(crate) queries: usize,
    /// The ways, the default among them.
    pub(crate) ways: Vec<Row>,
    /// Every other way against the default, by every measure.
    pub(crate) comparisons: Vec<Comparison>,
}

/// What is asked, and what the answers are measured by.
pub(crate) struct Judged<'a> {
    /// The engine that answers.
    pub(crate) engine: &'a Engine,
    /// The same with the weights of the configuration, which only the configured way has.
    pub(crate) configured: &'a Engine,
    /// The questions.
    pub(crate) questions: &'a Questions,
    /// What is relevant.
    pub(crate) qrels: &'a Qrels,
    /// The measures.
    pub(crate) measures: &'a [Measure],
    /// The smallest relevance that counts.
    pub(crate) rel: i64,
}

impl Judged<'_> {
    /// Asks in one way after another.
    pub(crate) fn ask(
        &self,
        kinds: &[Kind],
        settings: &Map<String, Value>,
        progress: &mut dyn FnMut(),
    ) -> Result<Vec<Answers>, Failure> {
        let engine =
            |kind: &Kind| if matches!(kind, Kind::Configured(_)) { self.configured } else { self.engine };
        kinds.iter().map(|kind| self.questions.ask(engine(kind), &kind.way(settings), progress)).collect()
    }

    /// Measures the answers, and compares each way with the default.
    pub(crate) fn table(&self, kinds: Vec<Kind>, answers: &[Answers]) -> Result<Table, Failure> {
        let searched = self.questions.searched(self.engine)?;
        let sources = self.questions.sources(self.qrels, answers, &searched);
        let settings = Settings { rel: self.rel, sources };
        let row = |(kind, answers): (Kind, &Answers)| Row {
            kind,
            evaluation: evaluate(self.qrels, &answers.run, self.measures, &settings),
        };
        let ways: Vec<_> = kinds.into_iter().zip(answers).map(row).collect();
        Ok(Table { queries: self.qrels.queries().len(), comparisons: compared(&ways), ways })
    }
}

fn compared(ways: &[Row]) -> Vec<Comparison> {
    let named: Vec<_> = ways.iter().map(|row| (row.kind.name(), row)).collect();
    let pair = |(name, row): &(String, &Row)| (name.clone(), row.evaluation.clone());
    let Some(baseline) = named.iter().find(|(_, row)| row.kind == Kind::Default).map(pair) else {
        return Vec::new();
    };
    let others = named.iter().filter(|(_, row)| row.kind != Kind::Default);
    let others: Vec<_> = others.map(|(name, row)| (name.as_str(), &row.evaluation)).collect();
    compare((&baseline.0, &baseline.1), &others)
}

impl Table {
    /// How a way compares with the default by a measure.
    pub(crate) fn comparison(&self, kind: &Kind, measure: &str) -> Option<&Comparison> {
        let name = kind.name();
        self.comparisons.iter().find(|comparison| comparison.run == name && comparison.measure == measure)
    }
}
