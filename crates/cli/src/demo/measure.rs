//! The judged questions of all recipes, answered in several ways and measured.

use mainstem::query::Engine;
use mainstem_core::contract::Channel;
use mainstem_eval::{Comparison, Evaluation, Measure};
use serde::Serialize;
use serde_json::Map;

use super::samples::{self, RECIPES, Recipe};
use super::tour;
use crate::eval::ask::{Answers, Questions};
use crate::eval::ways::{Judged, Kind, Table};
use crate::failure::{Failure, Problem};

/// What the tables show first.
pub(super) const MAIN: &str = "nDCG@10";
/// How many of the sources that have an answer give one.
pub(super) const REACH: &str = "SourceRecall@10";

const BEST: &str = "best source alone";
const OWN: &str = "MAINSTEM, own sources";

/// One recipe's sources, each alone.
#[derive(Serialize)]
pub(super) struct Alone {
    /// The recipe.
    pub(super) recipe: &'static str,
    /// Each source with its value.
    pub(super) sources: Vec<(String, f64)>,
    /// All sources of all recipes together.
    pub(super) together: f64,
}

/// One way, for all recipes.
#[derive(Serialize)]
pub(super) struct Row {
    /// What it is.
    #[serde(skip)]
    pub(super) kind: Kind,
    name: String,
    /// The value for each recipe, and for all of them.
    pub(super) recipes: Vec<f64>,
    pub(super) all: f64,
    pub(super) reach: f64,
    /// Against the default.
    pub(super) comparison: Option<Comparison>,
    evaluation: Evaluation,
}

/// Everything that was measured.
#[derive(Serialize)]
pub(super) struct Report {
    /// How many questions there are.
    pub(super) questions: usize,
    /// Each source alone.
    pub(super) alone: Vec<Alone>,
    /// The ways, side by side.
    pub(super) ways: Vec<Row>,
}

impl Report {
    /// The way of this kind.
    pub(super) fn way(&self, kind: &Kind) -> Option<&Row> {
        self.ways.iter().find(|row| row.kind == *kind)
    }

    /// The way that asks the best source of each recipe alone.
    pub(super) fn best_alone(&self) -> Option<&Row> {
        self.way(&Kind::Own(BEST.to_owned()))
    }

    /// The way that asks the sources of each recipe only.
    pub(super) fn own_sources(&self) -> Option<&Row> {
        self.way(&Kind::Own(OWN.to_owned()))
    }
}

/// How many searches it takes.
pub(super) fn searches(meaning: bool) -> Result<u64, Problem> {
    let (mut alone, mut questions) = (0, 0);
    for recipe in &RECIPES {
        let count = recipe.queries()?.len();
        questions += count;
        alone += count * recipe.sources.len();
    }
    let ways = if meaning { 7 } else { 5 };
    Ok((alone + questions * ways) as u64)
}

/// Measures every way. `progress` is told of each search.
pub(super) fn report(engine: &Engine, meaning: bool, progress: &mut dyn FnMut()) -> Result<Report, Failure> {
    let measures = [MAIN, REACH]
        .map(Measure::parse)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .map_err(Problem::from)?;
    let mut each = Vec::new();
    for recipe in &RECIPES {
        each.push(alone(engine, recipe, &measures, progress)?);
    }
    let table = together(engine, meaning, &measures, &each, progress)?;
    let ways: Vec<_> = table.ways.iter().map(|way| row(way, &table)).collect();
    let default = ways.iter().find(|row| row.kind == Kind::Default);
    let alone = RECIPES.iter().zip(each).enumerate().map(|(at, (recipe, sources))| Alone {
        recipe: recipe.name,
        sources,
        together: default.map_or(0.0, |row| row.recipes[at]),
    });
    Ok(Report { questions: table.queries, alone: alone.collect(), ways })
}

/// The sources of a recipe, each alone.
fn alone(
    engine: &Engine,
    recipe: &Recipe,
    measures: &[Measure],
    progress: &mut dyn FnMut(),
) -> Result<Vec<(String, f64)>, Failure> {
    let questions = Questions { queries: recipe.queries()?, ..Questions::default() };
    let qrels = samples::qrels([recipe])?;
    let judged =
        Judged { engine, configured: engine, questions: &questions, qrels: &qrels, measures, rel: 1 };
    let kinds: Vec<_> = recipe.source_names().into_iter().map(Kind::Source).collect();
    let answers = judged.ask(&kinds, &Map::new(), progress)?;
    let table = judged.table(kinds, &answers)?;
    let value = |row: &crate::eval::ways::Row| row.evaluation.mean(MAIN).unwrap_or(0.0);
    Ok(recipe.source_names().into_iter().zip(table.ways.iter().map(value)).collect())
}

/// All questions over all sources, in every way.
fn together(
    engine: &Engine,
    meaning: bool,
    measures: &[Measure],
    alone: &[Vec<(String, f64)>],
    progress: &mut dyn FnMut(),
) -> Result<Table, Failure> {
    let mut questions = Questions::default();
    for recipe in &RECIPES {
        questions.queries.extend(recipe.queries()?);
    }
    let qrels = samples::qrels(&RECIPES)?;
    let judged =
        Judged { engine, configured: engine, questions: &questions, qrels: &qrels, measures, rel: 1 };
    let channels = [Channel::Lexical, Channel::Dense].map(Kind::Channel);
    let mut kinds: Vec<_> = channels.into_iter().filter(|_| meaning).collect();
    kinds.extend([Kind::Rank, Kind::Default, Kind::Own(OWN.to_owned())]);
    let mut answers = judged.ask(&kinds, &Map::new(), progress)?;
    answers.insert(0, best_alone(engine, &questions, alone, progress)?);
    kinds.insert(0, Kind::Own(BEST.to_owned()));
    let fresh = Questions { now: Some(tour::now()?), ..questions.clone() };
    answers.push(fresh.ask(engine, &Kind::Fresh.way(&Map::new()), progress)?);
    kinds.push(Kind::Fresh);
    judged.table(kinds, &answers)
}

/// The best source of each recipe, which nobody knows beforehand, asked alone.
fn best_alone(
    engine: &Engine,
    questions: &Questions,
    alone: &[Vec<(String, f64)>],
    progress: &mut dyn FnMut(),
) -> Result<Answers, Failure> {
    let mut questions = questions.clone();
    for (recipe, sources) in RECIPES.iter().zip(alone) {
        let best = sources.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name.clone());
        let of_recipe = |id: &str| id.split('/').next() == Some(recipe.name);
        for query in questions.queries.iter_mut().filter(|query| of_recipe(&query.id)) {
            query.own = best.iter().cloned().collect();
        }
    }
    questions.ask(engine, &Kind::Own(BEST.to_owned()).way(&Map::new()), progress)
}

fn row(way: &crate::eval::ways::Row, table: &Table) -> Row {
    let evaluation = &way.evaluation;
    Row {
        kind: way.kind.clone(),
        name: way.kind.name(),
        recipes: RECIPES.iter().map(|recipe| mean_of(evaluation, recipe)).collect(),
        all: evaluation.mean(MAIN).unwrap_or(0.0),
        reach: evaluation.mean(REACH).unwrap_or(0.0),
        comparison: table.comparison(&way.kind, MAIN).cloned(),
        evaluation: evaluation.clone(),
    }
}

/// The mean over the questions of one recipe.
fn mean_of(evaluation: &Evaluation, recipe: &Recipe) -> f64 {
    let prefix = recipe.query_id("");
    let of_recipe = evaluation.queries().iter().filter(|scores| scores.query.starts_with(&prefix));
    let values: Vec<f64> = of_recipe.map(|scores| scores.values[0]).collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
