//! The judged questions, and asking them.
//!
//! What is measured is the search as it is: its channels, its candidates, its merge and its fusion. Copies are not collapsed, because
//! that would replace a judged document by a copy that nobody judged; and freshness takes part only where the clock is given, because
//! the documents of most judged collections have no honest time. Chunks are joined to documents by their best score. Nothing is
//! hurried: a number must not depend on how busy the machine is.

use std::io::{IsTerminal as _, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indexmap::IndexMap;
use mainstem::ingest::npy::Rows;
use mainstem::query::{Engine, Request, Response};
use mainstem_core::contract::{Channel, Filter};
use mainstem_core::deadline::Deadline;
use mainstem_core::status::StageState;
use mainstem_core::time::Moment;
use mainstem_eval::format::Lines;
use mainstem_eval::{JudgedQuery, Qrels, Run, RunBuilder, Sources};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::notes::note;
use crate::failure::{Failure, Problem};
use crate::search::config::{Config, ConfigArgs};
use crate::search::open;

/// How many documents of a query are looked at.
const DEPTH: usize = 1000;

/// The questions, and what they are asked of.
#[derive(Args, Debug)]
pub(super) struct AskArgs {
    /// Search these queries in the store: BEIR, lines `{"_id": ..., "text": ...}`
    #[arg(long, value_name = "FILE")]
    queries: Option<String>,

    /// Source that the documents of the judgements belong to; without it, they are called `source/id`
    #[arg(long, value_name = "NAME", requires = "queries")]
    judged_source: Option<String>,

    /// Vectors of the queries, `.npy`, rows in the order of the file, instead of asking the model
    #[arg(long, value_name = "FILE", requires = "queries")]
    query_vectors: Option<PathBuf>,

    /// Search these sources only, separated by commas [default: the whole store]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "queries")]
    sources: Vec<String>,

    /// Weigh freshness as of this time [default: freshness is left out]
    #[arg(long, value_name = "TIME", requires = "queries")]
    now: Option<String>,

    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

impl AskArgs {
    /// Whether queries are to be searched.
    pub(super) fn is_given(&self) -> bool {
        self.queries.is_some()
    }

    /// Opens the store; a model is needed if `dense` says so and the vectors are not given.
    pub(super) fn engine(&self, store: &Path, dense: bool) -> Result<Engine, Failure> {
        open::engine(store, dense && self.query_vectors.is_none())
    }

    /// The settings of the file, if there is one, with this reranker if one is named. It is not hurried either.
    pub(super) fn settings(&self, store: &Path, rerank: Option<&str>) -> Result<Config, Problem> {
        let config = self.config.read(store)?.reranked(rerank)?.unhurried();
        config.note().iter().for_each(|text| note(text));
        Ok(config)
    }

    /// Reads the queries that are judged.
    pub(super) fn questions(&self, qrels: &Qrels) -> Result<Questions, Failure> {
        let mut queries = self.read()?;
        queries.retain(|query| qrels.contains(&query.id));
        Ok(Questions {
            queries,
            judged_source: self.judged_source.clone(),
            among: (!self.sources.is_empty()).then(|| self.sources.clone()),
            now: self.now.as_deref().map(Moment::parse).transpose().map_err(Problem::from)?,
        })
    }

    fn read(&self) -> Result<Vec<Query>, Failure> {
        let file = self.queries.as_deref().unwrap_or_default();
        let mut queries = read_queries(Lines::open(file).map_err(Problem::from)?, file)?;
        let Some(vectors) = &self.query_vectors else { return Ok(queries) };
        let mut rows = Rows::open(vectors).map_err(|error| Box::new(error) as Failure)?;
        if rows.rows() != queries.len() as u64 {
            let (shown, found, wanted) = (vectors.display(), rows.rows(), queries.len());
            let message = format!("`{shown}` has {found} rows, expected {wanted}: one for each query");
            return Err(Problem::argument(message, "give the vectors of this file of queries").into());
        }
        for query in &mut queries {
            query.vector = rows.next_row().map_err(|error| Box::new(error) as Failure)?;
        }
        Ok(queries)
    }
}

/// A query of a BEIR file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Query {
    /// Its id, as the judgements have it.
    #[serde(rename = "_id")]
    pub(crate) id: String,
    /// What is asked.
    pub(crate) text: String,
    /// The sources that are the question's own, for ways that keep to them.
    #[serde(skip)]
    pub(crate) own: Vec<String>,
    #[serde(skip)]
    vector: Option<Vec<f32>>,
}

/// Reads a file of queries.
pub(crate) fn read_queries<R: std::io::BufRead>(
    mut lines: Lines<R>,
    file: &str,
) -> Result<Vec<Query>, Problem> {
    let mut queries = Vec::new();
    while let Some(line) = lines.next_line()? {
        let query = serde_json::from_str(line.text).map_err(|error| {
            let error = mainstem_core::error::from_deserialiser(&error.to_string(), Some(line.number));
            Problem::in_file(error, file)
        })?;
        queries.push(query);
    }
    Ok(queries)
}

/// Judged questions, and which part of the store they are asked of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Questions {
    /// The questions.
    pub(crate) queries: Vec<Query>,
    /// The source of all judged documents; without it, they are called `source/id`.
    pub(crate) judged_source: Option<String>,
    /// Only these sources; all when left out.
    pub(crate) among: Option<Vec<String>>,
    /// The clock for freshness, which is left out without it.
    pub(crate) now: Option<Moment>,
}

/// A way to answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// Only these sources, of those that the questions are asked of.
    pub(crate) sources: Option<Vec<String>>,
    /// Only the sources that are a question's own.
    pub(crate) own: bool,
    /// Only these channels.
    pub(crate) channels: Option<Vec<Channel>>,
    /// What it changes in the pipeline.
    pub(crate) pipeline: Map<String, Value>,
}

/// The answers to all questions.
pub(crate) struct Answers {
    /// The documents, under the names that the judgements have.
    pub(crate) run: Run,
    /// The source of each of them.
    by_doc: IndexMap<String, String>,
    /// How many answers have a gap.
    pub(crate) partial: usize,
    /// What the searches had to say, once.
    pub(crate) notes: Vec<String>,
    /// How many answers should have been reranked and were not, and why the first was not.
    pub(crate) not_reranked: (usize, Option<String>),
    /// How long each search took.
    pub(crate) took: Vec<Duration>,
}

impl Questions {
    /// The sources that are searched.
    pub(crate) fn searched(&self, engine: &Engine) -> Result<Vec<String>, Failure> {
        let plan = engine.plan(&self.request(&Query::unsaid(), &Way::default()))?;
        let mut names: Vec<_> = plan.legs.into_iter().map(|leg| leg.source).collect();
        names.dedup();
        Ok(names)
    }

    /// Refuses judgements that name no document of the sources that are searched: all numbers would be 0.
    pub(super) fn check(&self, qrels: &Qrels, engine: &Engine) -> Result<(), Failure> {
        let searched = self.searched(engine)?;
        let is_searched = |source: &str| searched.iter().any(|name| name == source);
        if let Some(source) = self.judged_source.as_deref().filter(|source| !is_searched(source)) {
            let names = searched.iter().map(String::as_str);
            return Err(Problem::from(mainstem_core::Error::unknown("source", source, names)).into());
        }
        let mut docs = qrels.queries().iter().flat_map(JudgedQuery::docs);
        let named = |doc: &str| doc.split_once('/').is_some_and(|(source, _)| is_searched(source));
        if self.judged_source.is_some() || searched.is_empty() || docs.any(named) {
            return Ok(());
        }
        let first = qrels.queries().iter().flat_map(JudgedQuery::docs).min().unwrap_or_default();
        let message = format!(
            "expected judged documents called `source/id`, such as `{}/{first}`, received `{first}`",
            searched[0]
        );
        Err(Problem::argument(message, "say which source they are of with `--judged-source NAME`").into())
    }

    /// The channels that are searched for such a query.
    pub(crate) fn channels(&self, engine: &Engine, query: &Query) -> Result<Vec<Channel>, Failure> {
        Ok(engine.plan(&self.request(query, &Way::default()))?.channels())
    }

    /// Asks every question.
    pub(crate) fn ask(
        &self,
        engine: &Engine,
        way: &Way,
        progress: &mut dyn FnMut(),
    ) -> Result<Answers, Failure> {
        let mut builder = RunBuilder::default();
        let (mut by_doc, mut partial, mut notes) = (IndexMap::new(), 0, Vec::new());
        let (mut not_reranked, mut took) = ((0, None), Vec::new());
        for query in &self.queries {
            let response = engine.search(&self.request(query, way))?;
            partial += usize::from(response.status.partial);
            if notes.is_empty() {
                notes.clone_from(&response.status.notes);
            }
            if let Some(reason) = not_reranked_because(&response) {
                not_reranked.0 += 1;
                not_reranked.1.get_or_insert(reason);
            }
            took.push(response.took);
            self.collect(&query.id, &response, &mut builder, &mut by_doc);
            progress();
        }
        Ok(Answers { run: builder.finish(), by_doc, partial, notes, not_reranked, took })
    }

    fn request(&self, query: &Query, way: &Way) -> Request {
        let mut pipeline = way.pipeline.clone();
        pipeline.insert("aggregate".to_owned(), json!("max"));
        pipeline.insert("dedup".to_owned(), Value::Null);
        if self.now.is_none() {
            pipeline.insert("recency".to_owned(), Value::Null);
        }
        let unhurried = Duration::from_secs(3600);
        let own = way.own.then(|| query.own.clone());
        let sources = own.or_else(|| way.sources.clone()).or_else(|| self.among.clone());
        Request {
            vector: query.vector.clone(),
            filter: Filter { sources, ..Filter::default() },
            channels: way.channels.clone(),
            limit: DEPTH,
            pipeline: Value::Object(pipeline),
            now: self.now.clone(),
            deadline: Some(Deadline { soft: unhurried, hard: unhurried }),
            ..Request::new(&query.text)
        }
    }

    /// Takes over the documents in our order, under the names of the judgements.
    fn collect(
        &self,
        query: &str,
        response: &Response,
        builder: &mut RunBuilder,
        by_doc: &mut IndexMap<String, String>,
    ) {
        for hit in &response.hits {
            let document = match &self.judged_source {
                Some(source) if *source == hit.source => hit.document.clone(),
                // A wrong answer, under a name that no judgement can have.
                Some(_) => format!("\t{}/{}", hit.source, hit.document),
                None => format!("{}/{}", hit.source, hit.document),
            };
            // Ranks instead of scores: 32-bit floats would tie what we do not.
            builder.push(query, &document, -(hit.rank as f64));
            by_doc.entry(document).or_insert_with(|| hit.source.clone());
        }
    }

    /// The source of every document that was judged or found, among the sources that were searched.
    pub(crate) fn sources<'a>(
        &self,
        qrels: &Qrels,
        answers: impl IntoIterator<Item = &'a Answers>,
        searched: &[String],
    ) -> Sources {
        let judged = qrels.queries().iter().flat_map(JudgedQuery::docs);
        let of = |doc: &str| match &self.judged_source {
            Some(source) => Some(source.clone()),
            None => doc.split_once('/').map(|(source, _)| source.to_owned()),
        };
        let mut by_doc: IndexMap<String, String> =
            judged.filter_map(|doc| Some((doc.to_owned(), of(doc)?))).collect();
        for answers in answers {
            by_doc.extend(answers.by_doc.iter().map(|(doc, source)| (doc.clone(), source.clone())));
        }
        Sources::from_map(by_doc).among(searched.iter().cloned())
    }
}

impl Query {
    /// A query that is only planned.
    fn unsaid() -> Self {
        Self { id: String::new(), text: "?".to_owned(), own: Vec::new(), vector: None }
    }
}

/// Says how far the searches are, where somebody watches.
pub(crate) struct Counter {
    done: usize,
    all: usize,
}

impl Counter {
    pub(crate) fn new(all: usize) -> Self {
        Self { done: 0, all }
    }

    /// One more is done.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        if stderr().is_terminal() && (self.done.is_multiple_of(10) || self.done == self.all) {
            let end = if self.done == self.all { "\n" } else { "" };
            anstream::eprint!("\rsearched {} of {} times{end}", self.done, self.all);
        }
    }
}

/// Why a search that should have been reranked was not.
fn not_reranked_because(response: &Response) -> Option<String> {
    let stage = response.status.stages.iter().find(|stage| stage.stage == "rerank")?;
    (stage.state == StageState::Failed).then(|| stage.reason.clone().unwrap_or_default())
}

/// Warns of answers with gaps.
pub(super) fn warn(answers: &Answers, count: usize) {
    answers.notes.iter().for_each(|text| note(text));
    if answers.partial > 0 {
        note(&format!("{} of {count} searches were partial; the numbers are too low", answers.partial));
    }
    if let (missed, Some(reason)) = &answers.not_reranked {
        note(&format!("{missed} of {count} searches were not reranked and count as they were: {reason}"));
    }
}
