//! From a run and judgements to numbers.

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use crate::measure::{Graded, Measure};
use crate::{JudgedQuery, Qrels, Run, Sources};

/// What all measures of one evaluation share.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The smallest relevance that binary measures count as relevant (`trec_eval -l`); 1 unless told otherwise.
    pub rel: i64,
    /// Where documents come from, for `Coverage@k`.
    pub sources: Sources,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rel: 1, sources: Sources::default() }
    }
}

/// The values of one query, in the order of the measures.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryScores {
    /// The query.
    pub query: String,
    /// One value per measure.
    pub values: Vec<f64>,
}

/// What did not match between the judgements and the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Judged queries for which the run has no result; they count as 0.
    pub without_results: usize,
    /// Queries of the run that nobody judged; they are ignored.
    pub not_judged: usize,
    /// Judged queries without a relevant document; they count as 0 in measures that look for one.
    pub without_relevant: usize,
}

/// The values of one run.
///
/// It serialises as `{"measures": {name: mean, …}, "queries": {query: {name: value, …}, …}}`, measures in the order that
/// the user gave and under the names that the user typed, queries in the order of [`Qrels`].
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    measures: Vec<String>,
    queries: Vec<QueryScores>,
    gaps: Gaps,
}

/// Scores `run` with every measure on every query of `qrels`.
///
/// A name that occurs twice in `measures` is taken once.
pub fn evaluate(qrels: &Qrels, run: &Run, measures: &[Measure], settings: &Settings) -> Evaluation {
    let measures = distinct(measures);
    let score = |query: &JudgedQuery| {
        let ranking = run.ranking(&query.id);
        let list = Graded::new(query, ranking);
        let score =
            |measure: &&Measure| measure.score(query, &list, ranking, settings.rel, &settings.sources);
        let values = measures.iter().map(score);
        QueryScores { query: query.id.clone(), values: values.collect() }
    };
    Evaluation {
        queries: qrels.queries().iter().map(score).collect(),
        gaps: gaps(qrels, run, settings.rel),
        measures: measures.iter().map(|measure| measure.name().to_owned()).collect(),
    }
}

fn distinct(measures: &[Measure]) -> Vec<&Measure> {
    let mut kept: Vec<&Measure> = Vec::new();
    for measure in measures {
        if kept.iter().all(|other| other.name() != measure.name()) {
            kept.push(measure);
        }
    }
    kept
}

fn gaps(qrels: &Qrels, run: &Run, rel: i64) -> Gaps {
    let count =
        |wanted: &dyn Fn(&JudgedQuery) -> bool| qrels.queries().iter().filter(|query| wanted(query)).count();
    Gaps {
        without_results: count(&|query| run.ranking(&query.id).is_empty()),
        not_judged: run.queries().filter(|query| !qrels.contains(query)).count(),
        without_relevant: count(&|query| query.ideal().first().is_none_or(|&best| best < rel)),
    }
}

impl Evaluation {
    /// The names of the measures, as typed and in the order given.
    pub fn measures(&self) -> &[String] {
        &self.measures
    }

    /// The values of every judged query, in query order.
    pub fn queries(&self) -> &[QueryScores] {
        &self.queries
    }

    /// What did not match between the judgements and the run.
    pub fn gaps(&self) -> Gaps {
        self.gaps
    }

    /// Whether the run has a result for at least one judged query.
    pub fn any_result(&self) -> bool {
        self.gaps.without_results < self.queries.len()
    }

    /// The mean of each measure over all judged queries, summed in query order; 0 when there are none.
    pub fn means(&self) -> Vec<f64> {
        (0..self.measures.len()).map(|index| self.mean_at(index)).collect()
    }

    /// The mean of the measure with this name.
    pub fn mean(&self, measure: &str) -> Option<f64> {
        self.position(measure).map(|index| self.mean_at(index))
    }

    /// The value of one measure for one query.
    pub fn value(&self, query: &str, measure: &str) -> Option<f64> {
        let index = self.position(measure)?;
        let scores = self.queries.iter().find(|scores| scores.query == query)?;
        scores.values.get(index).copied()
    }

    fn position(&self, measure: &str) -> Option<usize> {
        self.measures.iter().position(|name| name == measure)
    }

    fn mean_at(&self, index: usize) -> f64 {
        if self.queries.is_empty() {
            return 0.0;
        }
        let mut sum = 0.0;
        for scores in &self.queries {
            sum += scores.values[index];
        }
        sum / self.queries.len() as f64
    }

    /// `other − self` for each query of both evaluations, in query order, with the query.
    pub(crate) fn differences(&self, other: &Self, measure: &str) -> Vec<(String, f64)> {
        let (Some(mine), Some(theirs)) = (self.position(measure), other.position(measure)) else {
            return Vec::new();
        };
        let others: FxHashMap<_, _> =
            other.queries.iter().map(|scores| (&scores.query, &scores.values)).collect();
        let pairs = self.queries.iter().filter_map(|scores| Some((scores, others.get(&scores.query)?)));
        pairs.map(|(scores, values)| (scores.query.clone(), values[theirs] - scores.values[mine])).collect()
    }
}

/// A map of measure names to values, in order.
struct Named<'a>(&'a [String], &'a [f64]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1))
    }
}

struct ByQuery<'a>(&'a Evaluation);

impl Serialize for ByQuery<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.queries.len()))?;
        for scores in &self.0.queries {
            map.serialize_entry(&scores.query, &Named(&self.0.measures, &scores.values))?;
        }
        map.end()
    }
}

impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Evaluation", 2)?;
        object.serialize_field("measures", &Named(&self.measures, &self.means()))?;
        object.serialize_field("queries", &ByQuery(self))?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lines;

    fn evaluation(qrels: &str, run: &str, measures: &[&str]) -> Evaluation {
        let qrels = Qrels::read(Lines::new(qrels.as_bytes(), "q")).unwrap();
        let run = Run::read(Lines::new(run.as_bytes(), "r")).unwrap();
        let measures: Vec<_> = measures.iter().map(|name| Measure::parse(name).unwrap()).collect();
        evaluate(&qrels, &run, &measures, &Settings::default())
    }

    #[test]
    fn means_run_over_all_judged_queries() {
        let got = evaluation("1 0 a 1\n2 0 b 1\n3 0 c 0\n", "1 Q0 a 1 1 t\n9 Q0 z 1 1 t\n", &["MRR"]);
        assert_eq!(got.mean("MRR"), Some(1.0 / 3.0));
        let gaps = Gaps { without_results: 2, not_judged: 1, without_relevant: 1 };
        assert_eq!(got.gaps(), gaps);
        assert!(got.any_result());
    }

    #[test]
    fn an_empty_run_counts_zero_everywhere() {
        let got = evaluation("1 0 a 1\n", "", &["nDCG@10", "P@5", "Judged@5"]);
        assert_eq!(got.means(), [0.0, 0.0, 0.0]);
        assert!(!got.any_result());
    }

    #[test]
    fn json_keeps_names_and_order() {
        let got = evaluation("10 0 a 1\n9 0 b 1\n", "10 Q0 a 1 1 t\n", &["mrr", "P@2", "AP", "mrr"]);
        let json = serde_json::to_string(&got).unwrap();
        let expected = r#"{"measures":{"mrr":0.5,"P@2":0.25,"AP":0.5},"queries":{"9":{"mrr":0.0,"P@2":0.0,"AP":0.0},"10":{"mrr":1.0,"P@2":0.5,"AP":1.0}}}"#;
        assert_eq!(json, expected);
    }
}
