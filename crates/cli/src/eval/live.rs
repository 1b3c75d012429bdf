//! Measuring the live engine: every judged query is searched, at the level of documents.
//!
//! What is measured is the search as it is by default: its channels, its candidates, its merge and its fusion. Two stages are left out,
//! because judged collections are not made for them: collapsing would replace a judged document by a copy that nobody judged, and
//! their documents have no honest time. Chunks are joined to documents by their best score. Nothing is hurried: a number must not
//! depend on how busy the machine is.

use std::io::{IsTerminal as _, stderr};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use mainstem::ingest::npy::Rows;
use mainstem::query::{Engine, Request, Response};
use mainstem_core::contract::Filter;
use mainstem_core::deadline::Deadline;
use mainstem_core::fuse::Method;
use mainstem_eval::format::Lines;
use mainstem_eval::{Qrels, Run, RunBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::notes::note;
use crate::failure::{Failure, Problem};
use crate::search::{open, settings};

/// How many documents of a query are looked at.
const DEPTH: usize = 1000;

/// Queries to search, instead of runs to read.
#[derive(Args, Debug)]
pub(super) struct LiveArgs {
    /// Search these queries in the store instead of reading runs: BEIR, lines `{"_id": ..., "text": ...}`
    #[arg(long, value_name = "FILE", conflicts_with = "runs", requires = "judged_source")]
    queries: Option<String>,

    /// Source that the documents of the judgements belong to
    #[arg(long, value_name = "NAME", requires = "queries")]
    judged_source: Option<String>,

    /// Vectors of the queries, `.npy`, rows in the order of the file, instead of asking the model
    #[arg(long, value_name = "FILE", requires = "queries")]
    query_vectors: Option<String>,

    /// Search these sources only, separated by commas [default: the whole store]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "queries")]
    sources: Vec<String>,

    /// Search these channels only: dense, lexical [default: both]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "queries", value_parser = PossibleValuesParser::new(["dense", "lexical"]))]
    channels: Vec<String>,

    /// How sources meet: calibrated, by comparable score, or by rank alone [default: calibrated]
    #[arg(long, value_name = "HOW", requires = "queries", value_parser = PossibleValuesParser::new(["calibrated", "score", "rank"]))]
    across: Option<String>,

    /// How channels are fused
    #[arg(long, requires = "queries", value_parser = PossibleValuesParser::new(Method::ALL.iter().map(|method| method.as_str())))]
    method: Option<String>,
}

/// A query of a BEIR file.
#[derive(Deserialize)]
struct Query {
    #[serde(rename = "_id")]
    id: String,
    text: String,
    #[serde(skip)]
    vector: Option<Vec<f32>>,
}

impl LiveArgs {
    /// Whether queries are to be searched.
    pub(super) fn is_given(&self) -> bool {
        self.queries.is_some()
    }

    /// Searches every judged query.
    pub(super) fn search(&self, store: &Path, qrels: &Qrels) -> Result<Run, Failure> {
        let queries: Vec<Query> =
            self.read()?.into_iter().filter(|query| qrels.contains(&query.id)).collect();
        let dense = self.channels.is_empty() || self.channels.iter().any(|channel| channel == "dense");
        let engine = open::engine(store, dense && self.query_vectors.is_none())?;
        let mut builder = RunBuilder::default();
        let mut partial = 0;
        for (at, query) in queries.iter().enumerate() {
            progress(at, queries.len());
            let response = self.search_one(&engine, query)?;
            if at == 0 {
                response.plan.notes.iter().for_each(|text| note(text));
            }
            partial += usize::from(response.status.partial);
            if partial == 1 && response.status.partial {
                response.status.notes.iter().skip(response.plan.notes.len()).for_each(|text| note(text));
            }
            self.collect(&mut builder, &query.id, &response);
        }
        progress(queries.len(), queries.len());
        if partial > 0 {
            note(&format!("{partial} of {} searches were partial; the numbers are too low", queries.len()));
        }
        Ok(builder.finish())
    }

    fn search_one(&self, engine: &Engine, query: &Query) -> Result<Response, Failure> {
        let mut pipeline = settings::ranking(self.across.as_deref(), self.method.as_deref());
        pipeline.extend([
            ("aggregate".to_owned(), json!("max")),
            ("dedup".to_owned(), Value::Null),
            ("recency".to_owned(), Value::Null),
        ]);
        let unhurried = Duration::from_secs(3600);
        engine.search(&Request {
            vector: query.vector.clone(),
            filter: Filter {
                sources: (!self.sources.is_empty()).then(|| self.sources.clone()),
                ..Filter::default()
            },
            channels: settings::channels(&self.channels),
            limit: DEPTH,
            pipeline: Value::Object(pipeline),
            deadline: Some(Deadline { soft: unhurried, hard: unhurried }),
            ..Request::new(&query.text)
        })
    }

    /// Takes over the documents in our order. Those of other sources are wrong answers, under a name that no judgement has.
    fn collect(&self, builder: &mut RunBuilder, query: &str, response: &Response) {
        for hit in &response.hits {
            let judged = Some(&hit.source) == self.judged_source.as_ref();
            let document = if judged { &hit.document } else { &hit.id };
            // Ranks instead of scores: 32-bit floats would tie what we do not.
            builder.push(query, document, -(hit.rank as f64));
        }
    }

    fn read(&self) -> Result<Vec<Query>, Failure> {
        let file = self.queries.as_deref().unwrap_or_default();
        let mut lines = Lines::open(file).map_err(Problem::from)?;
        let mut queries = Vec::new();
        while let Some(line) = lines.next_line().map_err(Problem::from)? {
            queries.push(query(line.text, file, line.number)?);
        }
        let Some(vectors) = &self.query_vectors else { return Ok(queries) };
        let mut rows = Rows::open(Path::new(vectors)).map_err(|error| Box::new(error) as Failure)?;
        if rows.rows() != queries.len() as u64 {
            let message = format!(
                "`{vectors}` has {} rows, expected {}: one for each query",
                rows.rows(),
                queries.len()
            );
            return Err(Problem::argument(message, "give the vectors of this file of queries").into());
        }
        for query in &mut queries {
            query.vector = rows.next_row().map_err(|error| Box::new(error) as Failure)?;
        }
        Ok(queries)
    }
}

fn query(line: &str, file: &str, number: u64) -> Result<Query, Problem> {
    serde_json::from_str(line).map_err(|error| {
        let error = mainstem_core::error::from_deserialiser(&error.to_string(), Some(number));
        Problem::in_file(error, file)
    })
}

/// Says how far the searches are, where somebody watches.
fn progress(done: usize, all: usize) {
    if stderr().is_terminal() && (done.is_multiple_of(10) || done == all) {
        let end = if done == all { "\n" } else { "" };
        anstream::eprint!("\rsearched {done} of {all} queries{end}");
    }
}
