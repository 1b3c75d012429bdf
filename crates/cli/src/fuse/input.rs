//! Reading lists: TREC runs, or one JSON file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use mainstem_core::diagnostic::Place;
use mainstem_core::{Item, Leg, Replay};
use mainstem_eval::format::{Lines, RunReader};

use crate::failure::Problem;

/// A JSON input is held in memory, so it has a limit.
const MOST_JSON_BYTES: u64 = 256 << 20;

/// What was read.
pub(crate) enum Input {
    /// One search.
    Replay { replay: Box<Replay>, file: String },
    /// Lists for many queries.
    Runs(Queries),
}

/// The lists of several runs, by query.
pub(crate) struct Queries {
    /// The runs' names, in order.
    names: Vec<String>,
    /// For each run, its documents by query.
    runs: Vec<ByQuery>,
}

/// The documents of one run by query: document, score, rank as written.
type ByQuery = IndexMap<String, Vec<(String, f64, i64)>>;

/// Reads the inputs.
pub(crate) fn read(files: &[String]) -> Result<Input, Problem> {
    if files.iter().filter(|file| *file == "-").count() > 1 {
        return Err(Problem::one_standard_input());
    }
    let mut names = Vec::with_capacity(files.len());
    let mut runs = Vec::with_capacity(files.len());
    for file in files {
        let mut reader = open(file)?;
        if starts_with_bracket(reader.as_mut()).map_err(|source| unreadable(file, source))? {
            if files.len() > 1 {
                let message = format!(
                    "`{file}` is JSON, which holds all lists, expected it alone; received {} files",
                    files.len()
                );
                return Err(Problem::conflict(
                    message,
                    "fuse JSON files one at a time, and TREC runs together",
                ));
            }
            let replay = read_json(reader, file)?;
            return Ok(Input::Replay { replay: Box::new(replay), file: shown(file).to_owned() });
        }
        runs.push(read_run(Lines::new(reader, shown(file)))?);
        names.push(list_name(file, files));
    }
    Ok(Input::Runs(Queries { names, runs }))
}

fn open(file: &str) -> Result<Box<dyn BufRead>, Problem> {
    if file == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file).map_err(|source| unreadable(file, source))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, opened)))
}

fn shown(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

fn unreadable(file: &str, source: io::Error) -> Problem {
    Problem::Read { place: Place::default().in_file(shown(file)), source }
}

/// Whether the input looks like JSON: no run begins with a bracket. Looks at its first buffer only, and takes nothing from it.
fn starts_with_bracket(reader: &mut dyn BufRead) -> io::Result<bool> {
    let start = reader.fill_buf()?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    Ok(start.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| b"{[".contains(byte)))
}

fn read_json(reader: Box<dyn BufRead>, file: &str) -> Result<Replay, Problem> {
    let mut bytes = Vec::new();
    reader.take(MOST_JSON_BYTES + 1).read_to_end(&mut bytes).map_err(|source| unreadable(file, source))?;
    if bytes.len() as u64 > MOST_JSON_BYTES {
        return Err(Problem::TooLarge {
            place: Place::default().in_file(shown(file)),
            limit: MOST_JSON_BYTES,
        });
    }
    Replay::from_json(&bytes).map_err(|error| Problem::in_file(error, shown(file)))
}

fn read_run(lines: Lines<Box<dyn BufRead>>) -> Result<ByQuery, Problem> {
    let mut reader = RunReader::new(lines);
    let mut run = ByQuery::new();
    while let Some(record) = reader.next_record()? {
        let document = (record.doc.to_owned(), record.score, record.rank);
        match run.get_mut(record.query) {
            Some(documents) => documents.push(document),
            None => drop(run.insert(record.query.to_owned(), vec![document])),
        }
    }
    Ok(run)
}

/// The file's name without folder and extension; the whole path where that is not unique.
fn list_name(file: &str, files: &[String]) -> String {
    let stem = |file: &str| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let own = stem(file);
    let unique = files.iter().filter(|other| stem(other) == own).count() == 1;
    own.filter(|_| unique && file != "-").unwrap_or_else(|| shown(file).to_owned())
}

impl Queries {
    /// The chosen queries (all when none is), each with its lists.
    pub(crate) fn chosen(mut self, chosen: &[String]) -> Result<Vec<(String, Replay)>, Problem> {
        let mut all: Vec<String> =
            self.runs.iter().flat_map(IndexMap::keys).cloned().collect::<IndexSet<_>>().into_iter().collect();
        if let Some(unknown) = chosen.iter().find(|query| !all.contains(query)) {
            return Err(mainstem_core::Error::unknown(
                "query",
                unknown,
                all.iter().take(10).map(String::as_str),
            )
            .into());
        }
        all.retain(|query| chosen.is_empty() || chosen.contains(query));
        all.sort_by(|a, b| numeric(a).cmp(&numeric(b)).then_with(|| a.cmp(b)));
        all.into_iter().map(|query| self.lists(&query).map(|replay| (query, replay))).collect()
    }

    fn lists(&mut self, query: &str) -> Result<Replay, Problem> {
        let mut replay = Replay::default();
        replay.search.query = Some(query.to_owned());
        for (name, run) in self.names.iter().zip(&mut self.runs) {
            let mut documents = run.swap_remove(query).unwrap_or_default();
            documents.sort_by_key(|(_, _, rank)| *rank);
            let scored = documents.into_iter().map(|(document, score, _)| (document, score));
            replay.search.candidates.scored(Leg::new(name).source(name), scored)?;
        }
        replay.search.items.resize_with(replay.search.candidates.len(), Item::default);
        Ok(replay)
    }
}

/// Queries that are numbers come in the order of the numbers, before all others.
fn numeric(query: &str) -> (bool, u64) {
    let number = query.parse().ok();
    (number.is_none(), number.unwrap_or_default())
}
