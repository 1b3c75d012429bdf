//! `mainstem eval --queries`: measuring the live engine.

use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use mainstem_core::fuse::Method;
use mainstem_eval::{Qrels, Run, Sources};

use super::ask::{self, AskArgs, Counter, Way};
use crate::failure::{Failure, Problem};
use crate::search::settings;

/// Queries to search, instead of runs to read.
#[derive(Args, Debug)]
pub(super) struct LiveArgs {
    #[command(flatten)]
    ask: AskArgs,

    /// Search these channels only: dense, lexical [default: both]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "queries", value_parser = PossibleValuesParser::new(["dense", "lexical"]))]
    channels: Vec<String>,

    /// How sources meet: calibrated, by comparable score, or by rank alone [default: calibrated]
    #[arg(long, value_name = "HOW", requires = "queries", value_parser = PossibleValuesParser::new(["calibrated", "score", "rank"]))]
    across: Option<String>,

    /// How channels are fused
    #[arg(long, requires = "queries", value_parser = PossibleValuesParser::new(Method::ALL.iter().map(|method| method.as_str())))]
    method: Option<String>,

    /// Have the best hits reranked: `maxsim`, a reranker that was added, a folder with a cross-encoder, or `off`
    /// [default: as configured, else off]
    #[arg(long, value_name = "NAME", requires = "queries")]
    rerank: Option<String>,
}

impl LiveArgs {
    /// Whether queries are to be searched.
    pub(super) fn is_given(&self) -> bool {
        self.ask.is_given()
    }

    /// Refuses settings where nothing is searched.
    pub(super) fn refuse_settings(&self) -> Result<(), Problem> {
        if self.ask.config.is_given() {
            let message =
                "`--config` and `--no-config`: expected `--queries`, received runs, which are ready";
            return Err(Problem::conflict(message, "leave them out, or give `--queries FILE`"));
        }
        Ok(())
    }

    /// Searches every judged query.
    pub(super) fn search(&self, store: &Path, qrels: &Qrels) -> Result<(Run, Sources), Failure> {
        let questions = self.ask.questions(qrels)?;
        let config = self.ask.settings(store, self.rerank.as_deref())?;
        let mut pipeline = config.pipeline.clone();
        pipeline.extend(settings::ranking(self.across.as_deref(), self.method.as_deref()));
        let channels = settings::channels(&self.channels);
        let dense = self.channels.is_empty() || self.channels.iter().any(|channel| channel == "dense");
        let engine = config.on(self.ask.engine(store, dense)?)?;
        questions.check(qrels, &engine)?;
        let mut counter = Counter::new(questions.queries.len());
        let way = Way { channels, pipeline, ..Way::default() };
        let answers = questions.ask(&engine, &way, &mut || counter.step())?;
        ask::warn(&answers, questions.queries.len());
        let sources = questions.sources(qrels, [&answers], &questions.searched(&engine)?);
        Ok((answers.run, sources))
    }
}
