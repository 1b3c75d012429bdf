//! Better settings from judged queries, with statistical honesty.
//!
//! Recorded searches ([`Replay`]) are run again and again under other settings; nothing is searched anew. What comes out is either
//! settings that are shown to be better on queries that had no say in choosing them, or the present ones: "keep what you have" is a
//! frequent and good answer.
//!
//! 1. A [`Space`] says what may change: [`setting`] addresses anything that a pipeline can be told, [`space`] holds the values to try.
//! 2. [`hunt`](self) looks for good points: all, or a seeded sample and steps uphill.
//! 3. Each fold of the queries is measured by what the *other* folds choose (nested cross-validation), by three [`Rule`]s.
//! 4. Each rule's gain gets a paired bootstrap interval and a randomisation test, corrected for all rules (Holm). Guards look
//!    at what else could suffer. Only what passes everything is taken.
//! 5. The [`Outcome`] also says how good the answer could be at all ([`Ceiling`]), how much each setting matters ([`Curve`]), and what
//!    gain these queries could have shown.
//!
//! The same recordings, judgements, settings and seed give the same outcome, whatever the number of threads and the order of the
//! queries.

mod board;
mod ceiling;
mod choose;
pub mod clicks;
mod copies;
mod flips;
mod folds;
mod hunt;
pub mod learn;
mod outcome;
mod prepare;
mod sensitivity;
pub mod setting;
pub mod space;
mod verdict;

use mainstem_core::{Error, Item, PipelineSpec, Replay, Search};

use crate::measure::Kind;
use crate::{JudgedQuery, Measure, Qrels};
use board::Board;
use prepare::{Looks, Prepared};
use verdict::Evidence;

pub use board::Progress;
pub use ceiling::{Ceiling, Part};
pub use choose::{Change, Rule};
pub use flips::PATTERNS;
pub use hunt::Strategy;
pub use outcome::{Outcome, Used};
pub use sensitivity::{Curve, Sample};
pub use setting::Setting;
pub use space::{Axis, Choice, Contents, Point, Space, SpaceFile};
pub use verdict::{Finalist, Guard, Guarded};

/// The fewest queries that settings are chosen on.
pub const FEWEST_QUERIES: usize = 10;

/// By how much the mean coverage of sources may fall, unless told otherwise.
pub const COVERAGE_MARGIN: f64 = 0.1;

/// A recorded search of a query.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The query's id, as the judgements have it.
    pub query: String,
    /// Its search.
    pub replay: Replay,
    /// How many candidates its settings use, where that is less than what was recorded.
    pub candidates: Option<usize>,
}

/// How much is tried, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How many settings are tried at most.
    pub budget: usize,
    /// The seed of everything random.
    pub seed: u64,
    /// How many folds the queries are split into.
    pub folds: usize,
    /// How many threads work.
    pub threads: usize,
    /// The measure may fall by this much on the worst tenth of the queries.
    pub margin: f64,
    /// A search may look at this many times as many candidates.
    pub dearer: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { budget: 1000, seed: 1, folds: 5, threads: 1, margin: 0.02, dearer: 2.0 }
    }
}

/// What is to be tuned on what.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The recorded searches.
    pub recordings: &'a [Recording],
    /// The judgements.
    pub qrels: &'a Qrels,
    /// Names of documents may begin with this source and a `/`, which the judgements leave out.
    pub judged_source: Option<&'a str>,
    /// The present settings.
    pub base: &'a Setting,
    /// What may change; the usual space when left out.
    pub space: Option<&'a SpaceFile>,
    /// What is to become better.
    pub measure: Measure,
    /// What must not become worse.
    pub guards: Vec<Guard>,
    /// How much is tried, and how.
    pub options: Options,
}

/// The settings that all recordings share.
///
/// # Errors
/// When there is no recording, or two were made under different settings.
pub fn shared_setting(recordings: &[Recording]) -> Result<Setting, Error> {
    let ranking = |one: &Recording| {
        (PipelineSpec { limit: None, offset: 0, ..one.replay.pipeline.clone() }, one.candidates)
    };
    let first = recordings.first().ok_or_else(no_recordings)?;
    let other = recordings.iter().find(|recording| ranking(recording) != ranking(first));
    match other {
        None => {
            let mut setting = Setting::new(&first.replay.pipeline)?;
            if let Some(candidates) = first.candidates {
                setting.put(&setting::Path::of(["candidates"]), &candidates.into());
            }
            Ok(setting)
        }
        Some(other) => Err(Error::Parse {
            message: format!(
                "expected recordings under the same settings, received others for query `{}` than for `{}`",
                other.query, first.query
            ),
            code: mainstem_core::Code::Conflict,
            hint: Some("give the settings to start from with `--config FILE`".into()),
            place: mainstem_core::Place::default(),
        }),
    }
}

fn no_recordings() -> Error {
    Error::Missing {
        what: "a recorded search".into(),
        why: "there is nothing to tune on".into(),
        hint: "`mainstem fuse --record FILE` writes one, `mainstem tune --queries … --record FILE` many"
            .into(),
    }
}

/// Looks for better settings.
///
/// # Errors
/// When there are too few judged queries, a setting or the space is wrong, or the present settings do not run.
pub fn tune(task: &Task<'_>, progress: Progress<'_>) -> Result<Outcome, Error> {
    let contents = task.contents();
    let file = task.space.cloned().unwrap_or_else(|| space::usual(&contents, task.base));
    let space = Space::new(&file, task.base)?;
    let sources: Vec<String> = contents.sources.iter().cloned().collect();
    let (queries, used) = task.prepare(&space, &sources)?;
    let (measures, margins) = task.measures(sources.len());
    let crew = (task.options.threads, progress);
    let mut board = Board::new((&space, task.base), queries, &measures, sources.len(), crew);
    let found = find(&mut board, &task.options)?;
    let evidence = Evidence {
        space: &space,
        rows: &board.rows,
        home: found.home,
        pool: &found.pool,
        pools: &found.pools,
        folds: &found.folds,
        measures: &measures,
        margins: &margins,
        dearer: task.options.dearer,
        threads: task.options.threads,
    };
    let finalists = evidence.finalists();
    let detectable = evidence.detectable(&finalists);
    let draft = outcome::Draft { task, used, finalists, detectable, home: found.home };
    Ok(draft.finish(board))
}

/// What the search for points gave.
struct Found {
    home: usize,
    folds: Vec<usize>,
    pool: Vec<usize>,
    pools: Vec<Vec<usize>>,
}

fn find(board: &mut Board<'_>, options: &Options) -> Result<Found, Error> {
    let common = hunt::common(board.space, options.budget, options.seed);
    let home = board.rows_of(&[board.space.home()]).first().copied();
    let home = home.ok_or_else(|| {
        Error::range("the present settings", "settings that the pipeline accepts", "others")
    })?;
    if let Some(reason) = &board.rows[home].refused {
        return Err(Error::range("the present settings", "settings that run on the recordings", reason));
    }
    let common = board.rows_of(&common);
    let common: Vec<usize> =
        common.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let ids: Vec<&str> = board.queries.iter().map(|query| query.id.as_str()).collect();
    let folds = folds::folds(&ids, options.folds, options.seed);
    let left = options.budget.saturating_sub(board.rows.len());
    let exhaustive = hunt::strategy(board.space, options.budget) == Strategy::Exhaustive;
    let allowance = if exhaustive { 0 } else { left / (options.folds + 1) };
    let all: Vec<usize> = (0..folds.len()).collect();
    let pool = hunt::climb(board, &common, &all, allowance);
    let without = |fold: usize| all.iter().copied().filter(|&at| folds[at] != fold).collect::<Vec<_>>();
    let pools =
        (0..options.folds).map(|fold| hunt::climb(board, &common, &without(fold), allowance)).collect();
    Ok(Found { home, folds, pool, pools })
}

impl<'a> Task<'a> {
    /// What there is to tune on.
    fn contents(&self) -> Contents {
        let contents = Contents::of(self.recordings.iter().map(|recording| &recording.replay));
        Contents { one_source_judged: self.judged_source.is_some(), ..contents }
    }

    /// The recordings that have a judgement and something to find, in the order of the judgements.
    fn judged(&self) -> Vec<(&'a Recording, &'a JudgedQuery)> {
        let judged = self.qrels.queries().iter().filter(|judged| !judged.ideal().is_empty());
        let recorded = |judged: &&'a JudgedQuery| {
            Some((self.recordings.iter().find(|recording| recording.query == judged.id)?, *judged))
        };
        judged.filter_map(|judged| recorded(&judged)).collect()
    }

    /// The grade of an item: that of its document, under the name that the judgements have for it.
    fn grade(&self, judged: &JudgedQuery, id: &str, item: &Item) -> Option<i64> {
        judged.relevance(prepare::plain(item.document.as_deref().unwrap_or(id), self.judged_source))
    }

    /// The searches of the judged recordings, with the weights and the cut of some settings.
    fn weighed(&self, settings: &Setting) -> Result<Vec<Search>, Error> {
        let compiled = settings.compile()?;
        let one = |(recording, _): (&Recording, &JudgedQuery)| {
            let mut search = board::shortened(&recording.replay.search, &compiled);
            for leg in prepare::legs(&search) {
                search.candidates.set_weight(&leg.name, leg.under(&compiled.weights))?;
            }
            Ok(search)
        };
        self.judged().into_iter().map(one).collect()
    }
}

impl Task<'_> {
    /// The judged queries that were recorded and have something to find, in the order of the judgements.
    fn prepare(&self, space: &Space, sources: &[String]) -> Result<(Vec<Prepared>, Used), Error> {
        let looks = self.looks(space);
        let mut used = Used { recorded: self.recordings.len(), ..Used::default() };
        let mut queries = Vec::new();
        for judged in self.qrels.queries() {
            let Some(recording) = self.recordings.iter().find(|recording| recording.query == judged.id)
            else {
                used.not_recorded += 1;
                continue;
            };
            if judged.ideal().is_empty() {
                used.nothing_relevant += 1;
                continue;
            }
            queries.push(Prepared::new(&recording.replay, judged, self.judged_source, sources, looks));
        }
        used.queries = queries.len();
        used.not_judged = self.recordings.iter().filter(|one| !self.qrels.contains(&one.query)).count();
        let most = self.options.folds.max(2);
        if queries.len() < FEWEST_QUERIES.max(most) {
            return Err(self.too_few(&used));
        }
        Ok((queries, used))
    }

    fn too_few(&self, used: &Used) -> Error {
        let judged =
            self.qrels.queries().iter().map(|query: &JudgedQuery| query.id.as_str()).next().unwrap_or("");
        let recorded = self.recordings.first().map_or("", |recording| recording.query.as_str());
        let hint = if used.queries == 0 {
            format!("do the ids match? a judged query is `{judged}`, a recorded one `{recorded}`")
        } else {
            "judge more queries: below some fifty, only large gains can be shown".into()
        };
        Error::Missing {
            what: format!(
                "at least {} queries that are recorded and judged",
                FEWEST_QUERIES.max(self.options.folds)
            ),
            why: format!("received {}, and fewer cannot tell luck from better settings", used.queries),
            hint,
        }
    }

    /// What any settings of the space look at. Each change alone tells, because no stage turns another on.
    fn looks(&self, space: &Space) -> Looks {
        let mut specs = Vec::new();
        for (at, axis) in space.axes().iter().enumerate() {
            for choice in 0..axis.choices.len() as u16 {
                let mut point = space.home();
                point[at] = choice;
                specs.extend(space.at(self.base, &point).1.pipeline());
            }
        }
        specs.extend(self.base.pipeline());
        Looks::of(&specs)
    }

    /// The measure to improve, then those to guard, each with its margin.
    fn measures(&self, sources: usize) -> (Vec<Measure>, Vec<f64>) {
        let mut measures = vec![self.measure.clone()];
        let mut margins = vec![self.options.margin];
        let known = self.guards.iter().any(|guard| guard.measure.kind() == Kind::Coverage);
        if sources > 1 && !known {
            let k = self.measure.cutoff().unwrap_or(10);
            measures.extend(Measure::parse(&format!("Coverage@{k}")));
            margins.push(COVERAGE_MARGIN);
        }
        for guard in &self.guards {
            measures.push(guard.measure.clone());
            margins.push(guard.margin);
        }
        (measures, margins)
    }
}
