//! A learned ranker: trees over what the ledger says, for those who have judgements enough.
//!
//! The model sees, for each of the best [`TOP`] hits, what the settings made of it: fused score and rank, rank and score in each channel,
//! how many lists agree, source, age, length. It is `LambdaMART`: regression trees, each fitted to the pull that every pair of documents
//! in the wrong order exerts, weighted by what swapping them would change in nDCG.
//!
//! A model is taken only if it beats the settings on queries that it was not trained on. With a few hundred judged queries it
//! mostly does not, and that is said.
//!
//! Burges, *From `RankNet` to `LambdaRank` to `LambdaMART`*, MSR-TR-2010-82, 2010; Friedman, *Greedy function approximation: a gradient boosting
//! machine*, Annals of Statistics 29(5), 2001.

mod tree;

use mainstem_core::{Answer, Error, PipelineSpec, Search};
use serde::Serialize;

use super::{Recording, Setting, Task, folds};
use crate::compare::{ALPHA, bootstrap, randomisation};
use crate::measure::Graded;
use crate::{JudgedQuery, Measure};

pub use mainstem_core::learned::{Features, Model, TOP, Tree};
use tree::{Data, Growth};

/// The fewest judged queries that a model is trained on.
pub const FEWEST_QUERIES: usize = 50;

const TREES: usize = 60;
const GROWTH: Growth = Growth { depth: 3, leaf: 20, smoothing: 1.0, rate: 0.1 };

/// How a model did against the settings alone.
#[derive(Clone, Debug, Serialize)]
pub struct Learned {
    /// Whether it is better on queries that it was not trained on.
    pub better: bool,
    /// The mean of the settings alone.
    pub settings: f64,
    /// The mean of models on queries that they were not trained on.
    pub out_of_fold: f64,
    /// The difference.
    pub gain: f64,
    /// Its 95 % interval (bootstrap).
    pub interval: Option<[f64; 2]>,
    /// The chance of such a difference if there were none (randomisation test).
    pub p: f64,
    /// The model that was trained on all queries.
    #[serde(skip)]
    pub model: Model,
}

/// One query for training: rows of features, with the grades of the documents.
struct Lesson {
    rows: Vec<Vec<f64>>,
    grades: Vec<Option<i64>>,
    ideal: Vec<i64>,
}

/// The settings up to where the model comes in.
fn first_pass(pipeline: &PipelineSpec) -> PipelineSpec {
    PipelineSpec {
        learned: None,
        rerank: None,
        recency: PipelineSpec::default().recency,
        diversify: None,
        guarantee: PipelineSpec::default().guarantee,
        min_score: None,
        offset: 0,
        limit: Some(TOP),
        ..pipeline.clone()
    }
}

/// Trains a model over these settings and measures it on queries that it was not trained on.
///
/// # Errors
/// When there are fewer than [`FEWEST_QUERIES`] judged recordings, or the settings do not run on them.
pub fn learn(task: &Task<'_>, settings: &Setting) -> Result<Learned, Error> {
    let pairs: Vec<(&Recording, &JudgedQuery)> = task.judged();
    if pairs.len() < FEWEST_QUERIES {
        return Err(Error::Missing {
            what: format!("at least {FEWEST_QUERIES} judged recordings"),
            why: format!("received {}, and a model of fewer only learns them by heart", pairs.len()),
            hint: "judge more queries, or leave `--learn` out".into(),
        });
    }
    let pipeline = PipelineSpec { learned: None, ..settings.pipeline()? };
    let class = Class { task, pairs, searches: task.weighed(settings)?, pipeline };
    class.examine()
}

/// All that training needs.
struct Class<'a> {
    task: &'a Task<'a>,
    pairs: Vec<(&'a Recording, &'a JudgedQuery)>,
    /// The searches with the weights of the settings.
    searches: Vec<Search>,
    pipeline: PipelineSpec,
}

impl Class<'_> {
    fn examine(&self) -> Result<Learned, Error> {
        let features = Features::of(self.pairs.iter().map(|(recording, _)| &recording.replay));
        let lessons =
            (0..self.pairs.len()).map(|at| self.lesson(at, &features)).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<&str> = self.pairs.iter().map(|(recording, _)| recording.query.as_str()).collect();
        let folds = folds::folds(&ids, self.task.options.folds, self.task.options.seed);
        // Measured with all hits, whatever the page; the model that is kept has the page of the settings.
        let unpaged = PipelineSpec { limit: None, offset: 0, ..self.pipeline.clone() };
        let model = |pipeline: &PipelineSpec, chosen: &[&Lesson]| {
            let trees = train(chosen, self.task.measure.cutoff(), features.len());
            Model::new(features.clone(), pipeline.clone(), trees)
        };
        let mut after = vec![0.0; lessons.len()];
        for fold in 0..self.task.options.folds {
            let others: Vec<&Lesson> =
                (0..).zip(&lessons).filter(|(at, _)| folds[*at] != fold).map(|(_, one)| one).collect();
            let trained = model(&unpaged, &others);
            for at in (0..lessons.len()).filter(|at| folds[*at] == fold) {
                after[at] = self.value(at, &trained.run(&self.searches[at])?);
            }
        }
        let plain = unpaged.check()?;
        let run = |at: usize| Ok(self.value(at, &plain.run(&self.searches[at])?));
        let before = (0..lessons.len()).map(run).collect::<Result<Vec<f64>, Error>>()?;
        let all: Vec<&Lesson> = lessons.iter().collect();
        Ok(judged(&before, &after, model(&self.pipeline, &all)))
    }

    fn lesson(&self, at: usize, features: &Features) -> Result<Lesson, Error> {
        let search = &self.searches[at];
        let answer = first_pass(&self.pipeline).check()?.run(search)?;
        let rows = features.rows(&answer.hits, search.now.as_ref());
        let judged = self.pairs[at].1;
        let grades = answer.hits.iter().map(|hit| self.task.grade(judged, &hit.id, &hit.item)).collect();
        Ok(Lesson { rows, grades, ideal: judged.ideal() })
    }

    fn value(&self, at: usize, answer: &Answer) -> f64 {
        let judged = self.pairs[at].1;
        let mut seen = std::collections::BTreeSet::new();
        let documents = answer
            .hits
            .iter()
            .filter(|hit| seen.insert(hit.item.document.as_ref().unwrap_or(&hit.id).clone()));
        let grades = documents.map(|hit| self.task.grade(judged, &hit.id, &hit.item)).collect();
        let measure: &Measure = &self.task.measure;
        measure.of_grades(&Graded { grades, ideal: judged.ideal() })
    }
}

fn judged(before: &[f64], after: &[f64], model: Model) -> Learned {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let differences: Vec<f64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    let (gain, p) = (mean(&differences), randomisation(&differences).p);
    let interval = bootstrap(&differences).map(|interval| [interval.low, interval.high]);
    let better = gain > 0.0 && p < ALPHA && interval.is_some_and(|[low, _]| low > 0.0);
    Learned { better, settings: mean(before), out_of_fold: mean(after), gain, interval, p, model }
}

/// Grows trees, each towards what the ones before it got wrong.
fn train(lessons: &[&Lesson], cutoff: Option<usize>, features: usize) -> Vec<Tree> {
    let rows: Vec<Vec<f64>> = lessons.iter().flat_map(|lesson| lesson.rows.iter().cloned()).collect();
    let mut scores = vec![0.0; rows.len()];
    let mut trees = Vec::with_capacity(TREES);
    for _ in 0..TREES {
        let (mut gradients, mut hessians) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        let mut from = 0;
        for lesson in lessons {
            let part = from..from + lesson.rows.len();
            from = part.end;
            pull(lesson, &scores[part.clone()], cutoff, &mut gradients[part.clone()], &mut hessians[part]);
        }
        let data = Data { rows: &rows, gradients: &gradients, hessians: &hessians };
        let Some(tree) = Tree::new(tree::grow(&data, (0..rows.len()).collect(), GROWTH), features) else {
            break;
        };
        rows.iter().zip(&mut scores).for_each(|(row, score)| *score += tree.value(row));
        trees.push(tree);
    }
    trees
}

/// What every pair of documents in one query pulls at: up for the better one, down for the other, as much as a swap would
/// change nDCG.
fn pull(lesson: &Lesson, scores: &[f64], cutoff: Option<usize>, gradients: &mut [f64], hessians: &mut [f64]) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // Stable: before the first tree the order is that of the settings.
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let depth = cutoff.unwrap_or(TOP);
    let discount = |place: usize| if place < depth { 1.0 / ((place + 2) as f64).log2() } else { 0.0 };
    let ideal: f64 =
        lesson.ideal.iter().take(depth).enumerate().map(|(at, grade)| *grade as f64 * discount(at)).sum();
    let mut places = vec![0; scores.len()];
    order.iter().enumerate().for_each(|(place, &at)| places[at] = place);
    let grade = |at: usize| lesson.grades[at].unwrap_or(0).max(0) as f64;
    for high in (0..scores.len()).filter(|&at| grade(at) > 0.0) {
        for low in (0..scores.len()).filter(|&at| grade(at) < grade(high)) {
            let swap =
                (discount(places[high]) - discount(places[low])).abs() * (grade(high) - grade(low)) / ideal;
            let wrong = 1.0 / (1.0 + (scores[high] - scores[low]).exp());
            gradients[high] += swap * wrong;
            gradients[low] -= swap * wrong;
            let curve = swap * wrong * (1.0 - wrong);
            hessians[high] += curve;
            hessians[low] += curve;
        }
    }
}
