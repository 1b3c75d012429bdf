//! Judgements from clicks.
//!
//! One search a line:
//!
//! ```json
//! {"query_id": "17", "shown": ["a", "b", "c"], "clicked": ["b"], "at": "2026-01-31T09:00:00Z"}
//! ```
//!
//! `query` (the text) stands in place of `query_id` where only that is known; `at` may be left out. People click what they see, and
//! they see the top: a click far down says more than one at the top. So clicks are set against the clicks that the places alone would
//! bring:
//!
//! ```text
//! seen(d)    = Σ over the searches that showed d of 1 / rank^η           η = 1: the second place is seen half as often
//! worth(d)   = (clicks(d) + c) / (seen(d) + 1)      c = all clicks / all seen: a document seen once counts half as an average one
//! grade      = 0 below c (or never clicked), 1 from c, 2 from 2c, 3 from 4c
//! ```
//!
//! **Source.** Clicks over expected clicks: Zhang and Jones, *Comparing click logs and editorial labels for training query rewriting*,
//! WWW 2007 workshop; the propensity 1/rank^η: Joachims, Swaminathan and Schnabel, *Unbiased learning-to-rank with biased feedback*, WSDM
//! 2017.
//!
//! **When not.** Documents that were never shown have no clicks, so that clicks judge the present ranking kindly and can say
//! nothing about what it misses. They judge order, not retrieval.

use std::collections::BTreeMap;
use std::io::BufRead;

use mainstem_core::time::Moment;
use mainstem_core::{Code, Error, Place};
use serde::Deserialize;
use serde_json::Value;

use crate::format::Lines;
use crate::{EvalError, Qrels, QrelsBuilder};

/// The fewest clicks that judgements are made of.
pub const FEWEST_CLICKS: u64 = 100;

/// The fewest queries with a document that counts as relevant.
pub const FEWEST_LABELLED: usize = 20;

/// How steeply attention falls, unless told otherwise.
pub const ETA: f64 = 1.0;

/// One search as written.
#[derive(Deserialize)]
struct Line {
    query_id: Option<Value>,
    query: Option<String>,
    shown: Vec<String>,
    clicked: Vec<String>,
    at: Option<Moment>,
}

/// What became of one document of one query.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    clicks: u64,
    seen: f64,
}

/// Clicks on their way to judgements.
#[derive(Debug, Default)]
pub struct Clicks {
    counts: BTreeMap<(String, String), Count>,
    /// How many searches were read.
    pub searches: u64,
    /// How many clicks were read.
    pub clicks: u64,
    /// Searches of queries that are not known here.
    pub unknown: u64,
    /// When the first and the last search were made, as far as it is known.
    pub span: Option<(Moment, Moment)>,
}

impl Clicks {
    /// Reads searches and clicks. `id_of` gives the id of a query by its text.
    ///
    /// # Errors
    /// When a line is not of the documented shape, or a document was clicked that was not shown.
    pub fn read<R: BufRead>(
        mut lines: Lines<R>,
        eta: f64,
        id_of: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EvalError> {
        let mut clicks = Self::default();
        loop {
            let line = match lines.next_line()? {
                None => return Ok(clicks),
                Some(line) => serde_json::from_str::<Line>(line.text).map_err(|error| error.to_string()),
            };
            let taken = line.and_then(|line| clicks.take(line, eta, &id_of));
            taken.map_err(|received| EvalError::Syntax {
                place: lines.place(),
                expected: "a search such as `{\"query_id\": \"1\", \"shown\": [\"a\", \"b\"], \"clicked\": [\"b\"]}`",
                received,
                hint: "write one search a line, with all documents shown in their order, and those clicked",
            })?;
        }
    }

    fn take(&mut self, line: Line, eta: f64, id_of: impl Fn(&str) -> Option<String>) -> Result<(), String> {
        let query = match (line.query_id, &line.query) {
            (Some(Value::String(id)), _) => Some(id),
            (Some(Value::Number(id)), _) => Some(id.to_string()),
            (None, Some(text)) => id_of(text),
            _ => return Err("a line without `query_id` and `query`".into()),
        };
        if let Some(stray) = line.clicked.iter().find(|doc| !line.shown.contains(doc)) {
            return Err(format!("a click on `{stray}`, which was not shown"));
        }
        self.searches += 1;
        let Some(query) = query else {
            self.unknown += 1;
            return Ok(());
        };
        self.note_time(line.at);
        for (rank, doc) in (1_u32..).zip(&line.shown) {
            let count = self.counts.entry((query.clone(), doc.clone())).or_default();
            count.seen += f64::from(rank).powf(-eta);
            // Two clicks on one document in one search are one opinion.
            let clicked = u64::from(line.clicked.contains(doc));
            count.clicks += clicked;
            self.clicks += clicked;
        }
        Ok(())
    }

    fn note_time(&mut self, at: Option<Moment>) {
        let Some(at) = at else { return };
        let later = |one: &Moment, other: &Moment| one.age_days(other) < 0.0;
        self.span = Some(match self.span.take() {
            None => (at.clone(), at),
            Some((first, last)) if later(&at, &last) => (first, at),
            Some((first, last)) if later(&first, &at) => (at, last),
            Some(span) => span,
        });
    }

    /// The judgements.
    ///
    /// # Errors
    /// When there are fewer than [`FEWEST_CLICKS`] clicks or [`FEWEST_LABELLED`] queries with a relevant document.
    pub fn judgements(&self) -> Result<Qrels, Error> {
        let seen: f64 = self.counts.values().map(|count| count.seen).sum();
        let usual = self.clicks as f64 / seen.max(f64::MIN_POSITIVE);
        let mut builder = QrelsBuilder::default();
        let mut labelled = std::collections::BTreeSet::new();
        for ((query, doc), count) in &self.counts {
            let grade = count.grade(usual);
            builder.judge(query, doc, grade);
            if grade > 0 {
                labelled.insert(query);
            }
        }
        if self.clicks < FEWEST_CLICKS || labelled.len() < FEWEST_LABELLED {
            return Err(too_few(self.clicks, labelled.len()));
        }
        Ok(builder.finish())
    }
}

impl Count {
    fn grade(self, usual: f64) -> i64 {
        let worth = (self.clicks as f64 + usual) / (self.seen + 1.0);
        match worth / usual {
            _ if self.clicks == 0 => 0,
            ratio if ratio >= 4.0 => 3,
            ratio if ratio >= 2.0 => 2,
            ratio if ratio >= 1.0 => 1,
            _ => 0,
        }
    }
}

fn too_few(clicks: u64, labelled: usize) -> Error {
    Error::Parse {
        message: format!(
            "expected at least {FEWEST_CLICKS} clicks and {FEWEST_LABELLED} queries with a document worth clicking, received {clicks} clicks and {labelled} such queries"
        ),
        code: Code::Missing,
        hint: Some("collect more clicks, or judge some queries by hand and give `--qrels`".into()),
        place: Place::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Clicks, EvalError> {
        Clicks::read(Lines::new(text.as_bytes(), "clicks"), ETA, |text| {
            (text == "known").then(|| "k".to_owned())
        })
    }

    fn many(line: &str) -> String {
        (0..30).map(|at| line.replace("QUERY", &format!("q{at}")) + "\n").collect::<String>().repeat(4)
    }

    #[test]
    fn a_click_far_down_is_worth_more() {
        let line = r#"{"query_id":"QUERY","shown":["a","b","c","d"],"clicked":["a","d"]}"#;
        let qrels = read(&many(line)).unwrap().judgements().unwrap();
        let grades: Vec<_> =
            ["a", "b", "c", "d"].map(|doc| qrels.queries()[0].relevance(doc).unwrap()).into();
        // Two clicks for 2.083 looks each: c = 0.96. The first is seen 4 times and clicked 4 times, the last seen once.
        assert_eq!(grades, [1, 0, 0, 2]);
    }

    #[test]
    fn too_few_are_refused() {
        let one = r#"{"query_id":"1","shown":["a"],"clicked":["a"],"at":"2026-01-01"}"#;
        let clicks = read(one).unwrap();
        assert!(clicks.judgements().unwrap_err().to_string().contains("received 1 clicks and"));
        let (first, last) = clicks.span.unwrap();
        assert_eq!(first.to_string(), last.to_string());
        // Many clicks on one query are not enough either.
        assert!(read(&format!("{one}\n").repeat(500)).unwrap().judgements().is_err());
    }

    #[test]
    fn queries_go_by_text_where_they_are_known() {
        let line = |query: &str| format!("{{\"query\":\"{query}\",\"shown\":[\"a\"],\"clicked\":[]}}\n");
        let clicks = read(&(line("known") + &line("other"))).unwrap();
        assert_eq!((clicks.searches, clicks.unknown, clicks.counts.len()), (2, 1, 1));
    }

    #[test]
    fn slips_name_the_line() {
        for (text, words) in [
            ("{}", "missing field `shown`"),
            (r#"{"shown":[],"clicked":[]}"#, "without `query_id`"),
            (r#"{"query_id":1,"shown":["a"],"clicked":["b"]}"#, "a click on `b`"),
            ("nonsense", "expected"),
        ] {
            let error = read(&format!("\n{text}\n")).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert!(matches!(&error, EvalError::Syntax { place, .. } if place.to_string() == "clicks:2"));
        }
    }
}
