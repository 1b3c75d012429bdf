//! A search that a server answers.

use std::process::ExitCode;
use std::time::Instant;

use mainstem::query::Request;
use mainstem_client::{Client, Patience, Search, SearchAnswer};
use mainstem_core::deadline::Deadline;
use serde_json::Value;

use super::config::{Config, ConfigArgs};
use super::found::Found;
use super::settings::RankArgs;
use super::why_not::{self, Standing};
use super::{SearchArgs, print};
use crate::failure::{Failure, Problem};

/// Runs the command.
pub(super) fn run(args: &SearchArgs, client: &Client) -> Result<ExitCode, Failure> {
    if args.plan {
        let message = "`--plan`: a server does not show its plans";
        return Err(Problem::conflict(message, "leave it out, or name the store with `--store`").into());
    }
    let config = settings(&args.config, &args.rank)?;
    let request = args.request(&config)?;
    let started = Instant::now();
    let mut search = asked(request.clone(), args.wait.is_given());
    (search.k, search.offset) = args.page.page();
    let answer = client.search_json(&search)?;
    let took = started.elapsed();
    let json =
        if args.json { serde_json::to_string_pretty(&answer).map_err(Problem::from)? } else { String::new() };
    let answer: SearchAnswer = serde_json::from_value(answer).map_err(Problem::from)?;
    let found = Found::told(answer, took);
    let standing = match found.why_not.as_ref().filter(|_| !args.json) {
        Some(asked) => why_not::there(client, asked, &request)?,
        None => Standing::default(),
    };
    Ok(print(args, &request, &found, json, standing)?)
}

/// What is left of the settings: a server has its own.
pub(crate) fn settings(config: &ConfigArgs, rank: &RankArgs) -> Result<Config, Failure> {
    if config.is_given() {
        let message = "`--config` and `--no-config`: a server has its own settings";
        return Err(Problem::conflict(message, "leave them out, or leave `--server` out").into());
    }
    match rank.rerank.as_deref() {
        None | Some("off") => Ok(Config::default().reranked(rank.rerank.as_deref())?),
        Some(_) => {
            let message = "`--rerank`: a server has its own reranker, expected `off` or nothing";
            Err(Problem::conflict(message, "leave it out, or leave `--server` out").into())
        }
    }
}

/// The same request for a server, without a page. What was not said is left to its configuration, as is the deadline unless it is `timed`.
pub(crate) fn asked(request: Request, timed: bool) -> Search {
    let ms = |deadline: Deadline| Patience {
        soft_ms: deadline.soft.as_millis() as u64,
        hard_ms: deadline.hard.as_millis() as u64,
    };
    let filter = request.filter;
    Search {
        query: request.query,
        variants: request.variants,
        vector: request.vector,
        sources: filter.sources,
        kinds: filter.kinds,
        channels: request.channels,
        since: filter.since.map(|since| since.to_string()),
        until: filter.until.map(|until| until.to_string()),
        metadata: filter.metadata.into_iter().collect(),
        reader: filter.reader,
        k: None,
        offset: None,
        pipeline: if let Value::Object(pipeline) = request.pipeline {
            pipeline
        } else {
            serde_json::Map::new()
        },
        explain: request.alternatives,
        why_not: request.why_not,
        deadline: request.deadline.filter(|_| timed).map(ms),
        now: request.now,
    }
}
