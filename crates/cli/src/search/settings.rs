//! What is searched and how it is ranked, as said on the command line.

use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use mainstem::ingest::npy::Rows;
use mainstem::query::Request;
use mainstem_core::contract::Channel;
use mainstem_core::deadline::Deadline;
use mainstem_core::fuse::Method;
use mainstem_core::time::Moment;
use serde_json::{Map, Value, json};

use super::age;
use super::config::Config;
use super::written::{Patience, Wait};
use crate::failure::{Failure, Problem};

/// What is searched.
#[derive(Args, Debug)]
pub(crate) struct WhatArgs {
    /// Search this source only; repeat for several
    #[arg(long, value_name = "NAME")]
    source: Vec<String>,

    /// Search sources of this kind only, such as slack; repeat for several
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,

    /// Find only what was written since this time, such as 2026-01-31 or 30d
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Find only what was written before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// Find only documents with this value in their metadata; repeat for several
    #[arg(long = "where", value_name = "KEY=VALUE")]
    metadata: Vec<String>,

    /// Find only what this person may read
    #[arg(long, value_name = "NAME")]
    reader: Option<String>,

    /// Search by meaning (dense) or by words (lexical) only
    #[arg(long, value_name = "CHANNEL", value_parser = PossibleValuesParser::new(["dense", "lexical"]))]
    channel: Vec<String>,

    /// Another way to say the query, which is searched as well; repeat for several
    #[arg(long, value_name = "TEXT")]
    variant: Vec<String>,

    /// Vector of the query: a `.npy` file with one row, instead of asking the model
    #[arg(long, value_name = "FILE")]
    query_vector: Option<String>,
}

impl WhatArgs {
    pub(crate) fn apply(&self, request: &mut Request) -> Result<(), Failure> {
        let now = request.now.clone().unwrap_or_else(Moment::now);
        let filter = &mut request.filter;
        filter.sources = given(&self.source);
        filter.kinds = given(&self.kind);
        filter.since = self.since.as_deref().map(|text| age::moment("--since", text, &now)).transpose()?;
        filter.until = self.until.as_deref().map(|text| age::moment("--until", text, &now)).transpose()?;
        filter.metadata = self.metadata.iter().map(|pair| key_value(pair)).collect::<Result<_, _>>()?;
        filter.reader.clone_from(&self.reader);
        request.channels = channels(&self.channel);
        request.variants.clone_from(&self.variant);
        request.vector = self.query_vector.as_deref().map(one_row).transpose()?;
        Ok(())
    }
}

/// Refuses a page without room.
pub(crate) fn refuse_none(limit: Option<usize>) -> Result<(), Problem> {
    match limit {
        Some(0) => Err(Problem::argument("`--limit` is 0, expected at least 1", "such as `-n 10`")),
        _ => Ok(()),
    }
}

/// Which hits are shown.
#[derive(Args, Debug)]
pub(super) struct PageArgs {
    #[arg(short = 'n', long, value_name = "N", help = format!("How many hits to show [default: as configured, else {}]", mainstem::query::PAGE))]
    limit: Option<usize>,

    /// How many hits to pass over
    #[arg(long, value_name = "N")]
    offset: Option<usize>,
}

impl PageArgs {
    /// How many hits are wanted and how many passed over, as far as it was said.
    pub(super) fn page(&self) -> (Option<usize>, Option<usize>) {
        (self.limit, self.offset)
    }

    /// Lays the options over the settings of the file.
    pub(super) fn apply(&self, request: &mut Request, config: &Config) {
        request.limit = self.limit.unwrap_or_else(|| config.limit());
        request.offset = self.offset.unwrap_or_else(|| config.offset());
    }
}

/// How it is ranked.
#[derive(Args, Debug)]
pub(crate) struct RankArgs {
    /// How sources meet: calibrated, by comparable score, or by rank alone [default: calibrated]
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(["calibrated", "score", "rank"]))]
    across: Option<String>,

    /// How channels are fused
    #[arg(long, value_parser = PossibleValuesParser::new(Method::ALL.iter().map(|method| method.as_str())))]
    method: Option<String>,

    /// Have the best hits read once more: `maxsim`, a reranker that was added, a folder with a cross-encoder, or `off`
    /// [default: as configured, else off]
    #[arg(long, value_name = "NAME")]
    pub(crate) rerank: Option<String>,

    /// Clock for freshness, such as 2026-01-31T00:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
}

impl RankArgs {
    /// Lays the options over the settings of the file.
    pub(crate) fn apply(&self, request: &mut Request, config: &Config) -> Result<(), Problem> {
        let mut pipeline = config.pipeline.clone();
        pipeline.extend(ranking(self.across.as_deref(), self.method.as_deref()));
        request.pipeline = Value::Object(pipeline);
        request.now = Some(self.now.as_deref().map_or_else(|| Ok(Moment::now()), Moment::parse)?);
        Ok(())
    }
}

/// How long it may take.
#[derive(Args, Debug)]
pub(crate) struct WaitArgs {
    /// After this long, go on with what has arrived, if anything has [default: as configured, else 200ms; 1s to answer]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    soft: Option<String>,

    /// After this long, go on whatever has arrived [default: as configured, else 500ms; 5s to answer]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    hard: Option<String>,
}

impl WaitArgs {
    /// Whether anything was said.
    pub(crate) fn is_given(&self) -> bool {
        self.soft.is_some() || self.hard.is_some()
    }

    /// Lays the options over the settings of the file.
    pub(crate) fn apply(&self, request: &mut Request, config: &Config) -> Result<(), Problem> {
        self.apply_over(Deadline::default(), request, config)
    }

    /// The same where something else is usual.
    pub(crate) fn apply_over(
        &self,
        usual: Deadline,
        request: &mut Request,
        config: &Config,
    ) -> Result<(), Problem> {
        let said = Patience {
            soft: wait("--soft", self.soft.as_deref())?,
            hard: wait("--hard", self.hard.as_deref())?,
        };
        said.check(["`--soft`", "`--hard`"])
            .map_err(|error| Problem::conflict(error.to_string(), "such as `--soft 200ms --hard 1s`"))?;
        request.deadline = Some(said.over(config.deadline.over(usual)));
        Ok(())
    }
}

fn wait(option: &str, text: Option<&str>) -> Result<Option<Wait>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let refused = || {
        let message = format!("`{option}` is `{text}`, expected a time of at least 1ms");
        Problem::argument(message, "such as `200ms` or `1.5s`")
    };
    Wait::parse(text).map(Some).ok_or_else(refused)
}

/// What `--across` and `--method` change in the pipeline.
pub(crate) fn ranking(across: Option<&str>, method: Option<&str>) -> Map<String, Value> {
    let across = across.map(|across| ("across".to_owned(), json!(across)));
    let method = method.map(|method| ("fuse".to_owned(), json!({ "method": method })));
    across.into_iter().chain(method).collect()
}

/// The channels that were named; all when none was.
pub(crate) fn channels(names: &[String]) -> Option<Vec<Channel>> {
    let channel = |name: &String| if name == "dense" { Channel::Dense } else { Channel::Lexical };
    (!names.is_empty()).then(|| names.iter().map(channel).collect())
}

fn given(names: &[String]) -> Option<Vec<String>> {
    (!names.is_empty()).then(|| names.to_vec())
}

fn key_value(pair: &str) -> Result<(String, String), Problem> {
    let (key, value) = pair.split_once('=').ok_or_else(|| {
        Problem::argument(
            format!("`--where` is `{pair}`, expected `KEY=VALUE`"),
            "such as `--where status=open`",
        )
    })?;
    Ok((key.to_owned(), value.to_owned()))
}

fn one_row(file: &str) -> Result<Vec<f32>, Failure> {
    let mut rows = Rows::open(Path::new(file)).map_err(|error| Box::new(error) as Failure)?;
    let count = rows.rows();
    let row = rows.next_row().map_err(|error| Box::new(error) as Failure)?;
    row.filter(|_| count == 1).ok_or_else(|| {
        let message = format!("`--query-vector` has {count} rows, expected one");
        Problem::argument(message, "give the vector of this query alone").into()
    })
}
