//! Recording the store's own searches, wide enough to try other settings on them.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use mainstem::ingest::npy::Rows;
use mainstem::query::{Engine, Request, Settings};
use mainstem_core::contract::Filter;
use mainstem_core::deadline::Deadline;
use mainstem_core::{Search, Slot};
use mainstem_eval::Qrels;
use mainstem_eval::format::Lines;
use mainstem_eval::tune::{Recording, Setting};
use serde::Deserialize;
use serde_json::json;

use super::recordings;
use crate::failure::{Failure, Problem};
use crate::output;
use crate::search::open;

/// How much of the top of a list keeps its vectors.
const NEAR: usize = 50;

/// Queries to search, instead of recordings to read.
#[derive(Args, Debug)]
pub(super) struct LiveArgs {
    /// Search these queries in the store instead of reading recordings: BEIR, lines `{"_id": ..., "text": ...}`
    #[arg(long, value_name = "FILE", conflicts_with = "recordings")]
    queries: Option<String>,

    /// Vectors of the queries, `.npy`, rows in the order of the file, instead of asking the model
    #[arg(long, value_name = "FILE", requires = "queries")]
    query_vectors: Option<String>,

    /// Search these sources only, separated by commas [default: the whole store]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "queries")]
    sources: Vec<String>,

    /// How many candidates of each source and channel to record
    #[arg(long, value_name = "N", default_value_t = 200, requires = "queries", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    wide: u32,

    /// Write the recorded searches to this file, so that the next tuning needs no store
    #[arg(long, value_name = "FILE", requires = "queries")]
    record: Option<String>,
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

    /// Searches every query (every judged one, where judgements are known), and gives the engine's own settings with it.
    pub(super) fn search(
        &self,
        store: &Path,
        qrels: Option<&Qrels>,
    ) -> Result<(Vec<Recording>, Setting), Failure> {
        let wanted = |query: &Query| qrels.is_none_or(|qrels| qrels.contains(&query.id));
        let queries: Vec<Query> = self.read()?.into_iter().filter(wanted).collect();
        let engine = open::engine(store, self.query_vectors.is_none())?;
        let present = engine.settings().clone();
        let wide = engine.with_settings(Settings { candidates: self.wide as usize, ..present.clone() });
        let mut recordings = Vec::with_capacity(queries.len());
        for query in &queries {
            recordings
                .push(Recording { candidates: Some(present.candidates), ..self.record_one(&wide, query)? });
        }
        if let Some(file) = &self.record {
            recordings::write(file, &recordings)?;
            output::note(&format!("recorded {} searches in `{file}`", recordings.len()));
        }
        let pipeline = recordings.first().map(|one| one.replay.pipeline.clone()).unwrap_or(present.pipeline);
        let mut setting = Setting::new(&pipeline).map_err(Problem::from)?;
        setting.put(&mainstem_eval::tune::setting::Path::of(["candidates"]), &json!(present.candidates));
        Ok((recordings, setting))
    }

    /// Each source's lists as they are: merging and cutting is what is to be tried.
    fn record_one(&self, engine: &Engine, query: &Query) -> Result<Recording, Failure> {
        let unhurried = Duration::from_secs(3600);
        let request = Request {
            vector: query.vector.clone(),
            filter: Filter {
                sources: (!self.sources.is_empty()).then(|| self.sources.clone()),
                ..Filter::default()
            },
            deadline: Some(Deadline { soft: unhurried, hard: unhurried }),
            ..Request::new(&query.text)
        };
        let pipeline = engine.plan(&request)?.pipeline;
        let mut replay = engine.record(&request)?;
        replay.pipeline = pipeline;
        forget_vectors(&mut replay.search);
        Ok(Recording { query: query.id.clone(), replay, candidates: None })
    }

    fn read(&self) -> Result<Vec<Query>, Failure> {
        let file = self.queries.as_deref().unwrap_or_default();
        let mut lines = Lines::open(file).map_err(Problem::from)?;
        let mut queries: Vec<Query> = Vec::new();
        while let Some(line) = lines.next_line().map_err(Problem::from)? {
            queries.push(query(line.text, file, line.number)?);
        }
        let Some(vectors) = &self.query_vectors else { return Ok(queries) };
        let boxed = |error| Box::new(error) as Failure;
        let mut rows = Rows::open(Path::new(vectors)).map_err(boxed)?;
        if rows.rows() != queries.len() as u64 {
            let message = format!(
                "`{vectors}` has {} rows, expected {}: one for each query",
                rows.rows(),
                queries.len()
            );
            return Err(Problem::argument(message, "give the vectors of this file of queries").into());
        }
        for query in &mut queries {
            query.vector = rows.next_row().map_err(boxed)?;
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

/// Vectors are large. Only what stands near the top of some list can come near the top of the answer, where neighbours are looked at.
fn forget_vectors(search: &mut Search) {
    let lists = search.candidates.lists().iter();
    let near: BTreeSet<Slot> = lists.flat_map(|list| list.slots().iter().copied().take(NEAR)).collect();
    for (slot, item) in (0..).zip(&mut search.items) {
        if !near.contains(&slot) {
            item.vector = None;
        }
    }
}
