//! `mainstem tune`: better settings from judged queries, or the honest answer that there are none.

mod config;
mod live;
mod page;
mod progress;
mod recordings;
mod report;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use mainstem_core::Error;
use mainstem_core::time::Moment;
use mainstem_eval::format::Lines;
use mainstem_eval::tune::clicks::{Clicks, ETA};
use mainstem_eval::tune::learn::{Learned, learn};
use mainstem_eval::tune::{
    Contents, Guard, Options, Outcome, Recording, Setting, SpaceFile, Task, shared_setting, space, tune,
};
use mainstem_eval::{Measure, Qrels};
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::{output, reports};
use live::LiveArgs;

const HELP: &str = "\
Examples:
  mainstem tune searches.jsonl --qrels qrels.tsv
  mainstem tune searches/ --qrels qrels.tsv -o tuned.toml --report tuned.html
  mainstem tune bm25.run dense.run --qrels qrels.tsv
  mainstem tune --queries queries.jsonl --qrels qrels.tsv --judged-source wiki --record searches.jsonl
  mainstem tune searches.jsonl --clicks clicks.jsonl --guard R@100 --guard MRR=0.02
  mainstem tune searches.jsonl --qrels qrels.tsv --show-space > space.toml

Input:
  Recorded searches: JSON Lines, each line what `mainstem fuse --record` writes and a `query_id`; or
  folders of such files, named after their queries; or TREC runs, one file a list. Or --queries, which
  searches the store once.
  Judgements (--qrels), TREC or BEIR, or clicks (--clicks):
  {\"query_id\": \"1\", \"shown\": [\"a\", \"b\"], \"clicked\": [\"b\"], \"at\": \"2026-01-31T09:00:00Z\"}

What is done:
  Settings are chosen on some of the queries and measured on the others. New settings are taken only if
  their gain there is shown (randomisation test of the whole procedure, corrected for the rules compared)
  and no guard is broken. Otherwise the present settings are kept. docs/tuning.md says more.

Exit codes: 0 better settings found, 1 present settings kept, 2 error";

/// Find better settings.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct TuneArgs {
    /// Recorded searches: JSON Lines, folders of JSON files, or TREC runs
    #[arg(value_name = "RECORDINGS", required_unless_present = "queries")]
    recordings: Vec<String>,

    /// Relevance judgements, TREC or BEIR
    #[arg(long, value_name = "FILE", required_unless_present_any = ["clicks", "show_space"])]
    qrels: Option<String>,

    /// Clicks to make judgements of, JSON Lines
    #[arg(long, value_name = "FILE", conflicts_with = "qrels")]
    clicks: Option<String>,

    /// How steeply attention falls with the rank: 1/rank^ETA
    #[arg(long, value_name = "ETA", default_value_t = ETA, requires = "clicks")]
    eta: f64,

    /// Source that the documents of the judgements belong to, where items name documents as `source/document`
    #[arg(long, value_name = "NAME")]
    judged_source: Option<String>,

    #[command(flatten)]
    live: LiveArgs,

    /// Present settings: `[pipeline]`, `[weights]` and `candidates` of this file [default: those recorded]
    #[arg(long, value_name = "FILE")]
    config: Option<String>,

    /// Settings to try, TOML or JSON [default: what the recordings can say something about]
    #[arg(long, value_name = "FILE")]
    space: Option<String>,

    /// Print the settings that would be tried, as a file for --space, and do nothing
    #[arg(long)]
    show_space: bool,

    /// What is to become better
    #[arg(short, long, value_name = "NAME", default_value = "nDCG@10")]
    measure: String,

    /// Measure whose mean must not fall by more than the margin (0.01 if left out); repeat for several
    #[arg(long, value_name = "NAME[=MARGIN]")]
    guard: Vec<String>,

    #[command(flatten)]
    effort: EffortArgs,

    /// Write the new settings to this TOML file, if better ones are found
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// Write a page with plots to this HTML file
    #[arg(long, value_name = "FILE")]
    report: Option<String>,

    /// Also train a ranker on what the settings give, and write it to this JSON file if it is better still
    #[arg(long, value_name = "FILE")]
    learn: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The outcome with what was learned, as JSON.
#[derive(Serialize)]
struct Full<'a> {
    #[serde(flatten)]
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<&'a Learned>,
}

/// How much is tried, and how.
#[derive(Args, Debug)]
struct EffortArgs {
    /// How many settings to try
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    budget: u32,

    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How many parts the queries are split into
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    folds: u32,

    /// How many threads work [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,

    /// How far the measure may fall on the worst tenth of the queries
    #[arg(long, value_name = "X", default_value_t = 0.02, allow_negative_numbers = true)]
    margin: f64,

    /// How many times as many candidates a search may look at
    #[arg(long, value_name = "X", default_value_t = 2.0, allow_negative_numbers = true)]
    dearer: f64,
}

impl EffortArgs {
    fn options(&self) -> Result<Options, Problem> {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for (name, value) in [("--margin", self.margin), ("--dearer", self.dearer)] {
            if !(value.is_finite() && value >= 0.0) {
                let message = format!("`{name}` is {value}, expected a finite number ≥ 0");
                return Err(Problem::argument(message, format!("such as `{name} 1`")));
            }
        }
        Ok(Options {
            budget: self.budget as usize,
            seed: self.seed,
            folds: self.folds as usize,
            threads: self.threads.map_or_else(cores, |count| count as usize),
            margin: self.margin,
            dearer: self.dearer,
        })
    }
}

/// Runs the command; live searches look into the store in this folder.
pub(crate) fn run(args: &TuneArgs, store: &Path) -> Result<ExitCode, Failure> {
    // What is quick to check is checked first.
    let (measure, guards) = (Measure::parse(&args.measure).map_err(Problem::from)?, args.guards()?);
    let options = args.effort.options()?;
    let given = args.config.as_deref().map(config::settings).transpose()?;
    let written = args.space.as_deref().map(space_file).transpose()?;
    let qrels = args.qrels.as_deref().map(read_qrels).transpose()?;
    let (recordings, recorded) = args.recordings(store, qrels.as_ref())?;
    let base = given.map_or_else(|| recorded.map_or_else(|| shared(&recordings), Ok), Ok)?;
    if args.show_space {
        let contents = Contents {
            one_source_judged: args.judged_source.is_some(),
            ..Contents::of(recordings.iter().map(|one| &one.replay))
        };
        let usual = || space::usual(&contents, &base);
        output::write(None, &config::space(&written.unwrap_or_else(usual))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let qrels = match qrels {
        Some(qrels) => qrels,
        None => args.judged_by_clicks(&recordings)?,
    };
    let task = Task {
        recordings: &recordings,
        qrels: &qrels,
        judged_source: args.judged_source.as_deref(),
        base: &base,
        space: written.as_ref(),
        measure,
        guards,
        options,
    };
    let bar = progress::Bar::new(args.json, u64::from(args.effort.budget) * recordings.len() as u64);
    let outcome = tune(&task, &|done| bar.show(done)).map_err(Problem::from);
    bar.clear();
    let outcome = outcome?;
    let learned = args.learn.as_ref().map(|_| learn_over(&task, &outcome)).transpose()?;
    if args.live.is_given() {
        reports::keep(store, "tune", &Full { outcome: &outcome, learned: learned.as_ref() });
    }
    Ok(finish(args, (&outcome, &config::Recorded::of(&recordings)), learned.as_ref())?)
}

/// Trains a ranker over the settings to use from now on.
fn learn_over(task: &Task<'_>, outcome: &Outcome) -> Result<Learned, Problem> {
    let settings = Setting::from_json(outcome.settings.clone())?;
    Ok(learn(task, &settings)?)
}

fn finish(
    args: &TuneArgs,
    (outcome, recorded): (&Outcome, &config::Recorded),
    learned: Option<&Learned>,
) -> Result<ExitCode, Problem> {
    page::notes(outcome);
    let model = args.learn.as_deref().filter(|_| learned.is_some_and(|learned| learned.better));
    if let (Some(path), Some(learned)) = (&args.learn, learned) {
        if learned.better {
            output::write(Some(path), &(serde_json::to_string(&learned.model)? + "\n"))?;
            output::note(&format!("wrote the model to `{path}`"));
        } else {
            output::note(&format!("the model is no better than the settings, so `{path}` is not written"));
        }
    }
    match (&args.output, model) {
        (Some(path), _) if outcome.better || model.is_some() => {
            let model = model.map(|model| beside(model, path));
            output::write(Some(path), &config::written(outcome, recorded, model.as_deref()))?;
            output::note(&format!("wrote the settings to `{path}`"));
        }
        (Some(path), _) => {
            output::note(&format!("the present settings are kept, so `{path}` is not written"));
        }
        (None, Some(_)) => output::note("`-o FILE` writes the settings that the model goes with"),
        (None, None) => {}
    }
    if let Some(path) = &args.report {
        output::write(Some(path), &report::html(outcome))?;
        output::note(&format!("wrote the report to `{path}`"));
    }
    let text = if args.json {
        serde_json::to_string(&Full { outcome, learned })? + "\n"
    } else {
        page::text(outcome) + &learned.map(page::learned).unwrap_or_default()
    };
    output::write(None, &text)?;
    Ok(if outcome.better || learned.is_some_and(|learned| learned.better) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// The model as a file in the folder of the configuration names it.
fn beside(model: &str, config: &str) -> String {
    let folder = |path: &str| Path::new(path).parent().map(Path::to_owned);
    let name = Path::new(model).file_name().filter(|_| folder(model) == folder(config));
    let whole = || std::path::absolute(model).unwrap_or_else(|_| model.into());
    name.map_or_else(whole, std::path::PathBuf::from).display().to_string()
}

fn shared(recordings: &[Recording]) -> Result<Setting, Problem> {
    Ok(shared_setting(recordings)?)
}

fn space_file(path: &str) -> Result<SpaceFile, Problem> {
    SpaceFile::from_json(config::read(path)?).map_err(|error| Problem::in_file(error, path))
}

fn read_qrels(path: &str) -> Result<Qrels, Problem> {
    Ok(Qrels::read(Lines::open(path)?)?)
}

impl TuneArgs {
    /// The recordings, read or made, and the settings of the engine that made them.
    fn recordings(
        &self,
        store: &Path,
        qrels: Option<&Qrels>,
    ) -> Result<(Vec<Recording>, Option<Setting>), Failure> {
        if !self.live.is_given() {
            return Ok((recordings::read(&self.recordings)?, None));
        }
        let (recordings, setting) = self.live.search(store, qrels)?;
        Ok((recordings, Some(setting)))
    }

    fn guards(&self) -> Result<Vec<Guard>, Problem> {
        let guard = |text: &String| {
            let (name, margin) = text.rsplit_once('=').map_or((text.as_str(), "0.01"), |(name, margin)| {
                // `nDCG(dcg='log2')` has a sign of its own.
                if margin.contains(')') { (text.as_str(), "0.01") } else { (name, margin) }
            });
            let margin: Option<f64> =
                margin.trim().parse().ok().filter(|margin: &f64| margin.is_finite() && *margin >= 0.0);
            let margin = margin.ok_or_else(|| {
                Problem::argument(
                    format!("`--guard` is `{text}`, expected `NAME` or `NAME=MARGIN` with a margin ≥ 0"),
                    "such as `--guard R@100=0.02`",
                )
            })?;
            Ok(Guard { measure: Measure::parse(name)?, margin })
        };
        self.guard.iter().map(guard).collect()
    }

    fn judged_by_clicks(&self, recordings: &[Recording]) -> Result<Qrels, Problem> {
        let path = self.clicks.as_deref().unwrap_or_default();
        if !(0.0..=10.0).contains(&self.eta) {
            let message = format!("`--eta` is {}, expected a number from 0 to 10", self.eta);
            return Err(Problem::argument(message, "1 is usual: the second place is seen half as often"));
        }
        let id_of = |text: &str| {
            let same = |one: &&Recording| one.replay.search.query.as_deref() == Some(text);
            recordings.iter().find(same).map(|one| one.query.clone())
        };
        let clicks = Clicks::read(Lines::open(path)?, self.eta, id_of)?;
        let judgements = clicks.judgements().map_err(|error: Error| Problem::in_file(error, path))?;
        let days = |(first, last): &(Moment, Moment)| format!(" over {:.0} days", first.age_days(last));
        output::note(&format!(
            "{} clicks in {} searches{} judge the documents that were shown, and say nothing about others",
            clicks.clicks,
            clicks.searches,
            clicks.span.as_ref().map(days).unwrap_or_default()
        ));
        if clicks.unknown > 0 {
            output::note(&format!(
                "{} searches are of queries that were not recorded; ignored",
                clicks.unknown
            ));
        }
        Ok(judgements)
    }
}
