//! The sample files, inside the program: the demo needs no network and no folder.

use indexmap::IndexMap;
use mainstem_core::Replay;
use mainstem_eval::Qrels;
use mainstem_eval::format::{Lines, RunReader};

use crate::failure::Problem;

/// Where the files are in the repository.
pub(super) const FOLDER: &str = "recipes/first-look";

/// One file of the samples.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

macro_rules! samples {
    ($($name:literal)*) => {
        /// Every file of the folder.
        pub(super) const ALL: &[Sample] = &[$(Sample {
            name: $name,
            text: include_str!(concat!("../../../../recipes/first-look/", $name)),
        },)*];
    };
}

samples! {
    "README.md"
    "search.json"
    "corpus.jsonl"
    "queries.jsonl"
    "qrels.tsv"
    "code-lexical.run"
    "code-dense.run"
    "reviews-lexical.run"
    "reviews-dense.run"
    "wiki-lexical.run"
    "wiki-dense.run"
    "lexical.run"
    "dense.run"
}

/// The documents of one run by query, best first, with their scores.
pub(super) type ByQuery = IndexMap<String, Vec<(String, f64)>>;

impl Sample {
    /// The file of this name.
    pub(super) fn find(name: &str) -> Result<Self, Problem> {
        let found = ALL.iter().find(|sample| sample.name == name).copied();
        found.ok_or_else(|| mainstem_core::Error::unknown("sample", name, ALL.iter().map(|s| s.name)).into())
    }

    /// The text, line by line.
    pub(super) fn lines(self) -> Lines<&'static [u8]> {
        Lines::new(self.text.as_bytes(), self.name)
    }

    /// The file as a run.
    pub(super) fn run(self) -> Result<ByQuery, Problem> {
        let mut reader = RunReader::new(self.lines());
        let mut run = ByQuery::new();
        while let Some(record) = reader.next_record()? {
            run.entry(record.query.to_owned()).or_default().push((record.doc.to_owned(), record.score));
        }
        Ok(run)
    }
}

/// The search that the demo looks at closely.
pub(super) fn search() -> Result<Replay, Problem> {
    let sample = Sample::find("search.json")?;
    Replay::from_json(sample.text.as_bytes()).map_err(|error| Problem::in_file(error, sample.name))
}

/// The judgements.
pub(super) fn qrels() -> Result<Qrels, Problem> {
    Ok(Qrels::read(Sample::find("qrels.tsv")?.lines())?)
}

/// How many texts the sources hold together.
pub(super) fn texts() -> Result<usize, Problem> {
    Ok(Sample::find("corpus.jsonl")?.text.lines().count())
}
