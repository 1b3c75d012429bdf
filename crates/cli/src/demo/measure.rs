//! The sample questions, answered in several ways and measured.

use mainstem_core::{Bounds, Candidates, FuseSpec, Leg, Method, Replay};
use mainstem_eval::format::Descending;
use mainstem_eval::{Comparison, Evaluation, Measure, Qrels, Run, RunBuilder, Settings, compare, evaluate};
use serde::Serialize;

use super::samples::{self, ByQuery, Sample};
use crate::failure::Problem;

const MEASURES: [&str; 3] = ["nDCG@10", "MRR", "Success@1"];

/// The six lists: each source searched by words and by meaning.
const LISTS: [&str; 6] =
    ["code-lexical", "code-dense", "reviews-lexical", "reviews-dense", "wiki-lexical", "wiki-dense"];

/// How lists become one.
enum Merge {
    /// There is one list.
    Alone,
    /// By a method with its defaults.
    By(Method),
    /// As the sample search says, with its bounds.
    AsSearched,
}

/// One way to answer.
struct Way {
    name: &'static str,
    lists: &'static [&'static str],
    merge: Merge,
}

impl Way {
    const fn new(name: &'static str, lists: &'static [&'static str], merge: Merge) -> Self {
        Self { name, lists, merge }
    }
}

/// The way that looks at ranks only.
pub(super) const RANK_ONLY: &str = "six lists: rrf, by rank alone";
/// The way of the sample search.
pub(super) const COMMON_SCALE: &str = "six lists: combsum, on a common scale";
/// The best one on these samples.
pub(super) const DENSE: &str = "dense, all sources by score";

const WAYS: [Way; 13] = [
    Way::new("code/lexical", &["code-lexical"], Merge::Alone),
    Way::new("code/dense", &["code-dense"], Merge::Alone),
    Way::new("reviews/lexical", &["reviews-lexical"], Merge::Alone),
    Way::new("reviews/dense", &["reviews-dense"], Merge::Alone),
    Way::new("wiki/lexical", &["wiki-lexical"], Merge::Alone),
    Way::new("wiki/dense", &["wiki-dense"], Merge::Alone),
    Way::new("lexical, all sources by score", &["lexical"], Merge::Alone),
    Way::new(DENSE, &["dense"], Merge::Alone),
    Way::new(RANK_ONLY, &LISTS, Merge::By(Method::Rrf)),
    Way::new("six lists: rsf, each list from 0 to 1", &LISTS, Merge::By(Method::Rsf)),
    Way::new("six lists: dbsf, by mean and spread", &LISTS, Merge::By(Method::Dbsf)),
    Way::new(COMMON_SCALE, &LISTS, Merge::AsSearched),
    Way::new("lexical + dense, all sources: rsf", &["lexical", "dense"], Merge::By(Method::Rsf)),
];

/// One way and how good it is.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) name: &'static str,
    #[serde(flatten)]
    pub(super) evaluation: Evaluation,
}

/// All ways side by side.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) questions: usize,
    pub(super) ways: Vec<Row>,
    /// Rank alone, and the best way, each against the common scale.
    pub(super) comparisons: Vec<Comparison>,
}

impl Report {
    fn named(&self, name: &'static str) -> Option<(&'static str, &Evaluation)> {
        self.ways.iter().find(|row| row.name == name).map(|row| (name, &row.evaluation))
    }

    /// The comparison of this way with the common scale.
    pub(super) fn against_common_scale(&self, name: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.run == name)
    }

    fn compared(&self) -> Vec<Comparison> {
        let others: Vec<_> = [RANK_ONLY, DENSE].into_iter().filter_map(|name| self.named(name)).collect();
        let all = self.named(COMMON_SCALE).map(|baseline| compare(baseline, &others)).unwrap_or_default();
        all.into_iter().filter(|comparison| comparison.measure == MEASURES[0]).collect()
    }
}

/// Measures every way.
pub(super) fn report(search: &Replay) -> Result<Report, Problem> {
    let qrels = samples::qrels()?;
    let measures = MEASURES.iter().map(|name| Measure::parse(name)).collect::<Result<Vec<_>, _>>()?;
    let row = |way: &Way| {
        let run = answer(way, &qrels, search)?;
        Ok(Row { name: way.name, evaluation: evaluate(&qrels, &run, &measures, &Settings::default()) })
    };
    let ways = WAYS.iter().map(row).collect::<Result<Vec<_>, Problem>>()?;
    let mut report = Report { questions: qrels.queries().len(), ways, comparisons: Vec::new() };
    report.comparisons = report.compared();
    Ok(report)
}

/// The answers to all questions.
fn answer(way: &Way, qrels: &Qrels, search: &Replay) -> Result<Run, Problem> {
    let samples: Vec<_> =
        way.lists.iter().map(|name| Sample::find(&format!("{name}.run"))).collect::<Result<_, _>>()?;
    let spec = match (&way.merge, samples.as_slice()) {
        (Merge::Alone, [sample, ..]) => return Ok(Run::read(sample.lines())?),
        (Merge::Alone, []) => return Ok(Run::default()),
        (Merge::By(method), _) => FuseSpec::new(*method),
        (Merge::AsSearched, _) => search.pipeline.fuse.clone(),
    };
    let fusion = spec.check()?;
    let runs: Vec<_> = samples.iter().map(|sample| sample.run()).collect::<Result<_, _>>()?;
    let mut merged = RunBuilder::default();
    for query in qrels.queries() {
        let candidates = candidates(&query.id, way.lists, &runs, search)?;
        let mut scores = Descending::default();
        for hit in fusion.fuse(&candidates)?.hits() {
            merged.push(&query.id, candidates.id(hit.slot), scores.next(hit.score));
        }
    }
    Ok(merged.finish())
}

/// The lists of one question.
fn candidates(
    query: &str,
    names: &[&str],
    runs: &[ByQuery],
    search: &Replay,
) -> Result<Candidates<String>, Problem> {
    let mut candidates = Candidates::new();
    for (name, run) in names.iter().zip(runs) {
        let mut leg = Leg::new(name.replace('-', "/"));
        leg.bounds = bounds(search, &leg.name);
        candidates.scored(leg, run.get(query).cloned().unwrap_or_default())?;
    }
    Ok(candidates)
}

/// The bounds that the sample search gives to a list.
fn bounds(search: &Replay, name: &str) -> Bounds {
    let lists = search.search.candidates.lists();
    lists
        .iter()
        .map(mainstem_core::RankedList::leg)
        .find(|leg| leg.name == name)
        .map(|leg| leg.bounds)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mainstem_eval::compare::Verdict;

    use super::*;

    /// The text of the demo says which way is ahead, and that nothing is shown.
    #[test]
    fn the_numbers_are_what_the_text_says() {
        let report = report(&samples::search().unwrap()).unwrap();
        let value = |row: &&Row| row.evaluation.means()[0];
        let best = report.ways.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
        assert_eq!(best.map(|row| row.name), Some(DENSE));
        assert_eq!(report.questions, 12);
        let (rank, dense) = (report.against_common_scale(RANK_ONLY), report.against_common_scale(DENSE));
        assert!(rank.is_some_and(|rank| rank.difference < 0.0 && rank.verdict() == Verdict::NotShown));
        assert!(dense.is_some_and(|dense| dense.difference > 0.0 && dense.verdict() == Verdict::NotShown));
    }
}
