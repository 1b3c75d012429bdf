//! Recorded searches: JSON Lines, folders of JSON files, single files; or TREC runs, one file a list.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;

use indexmap::IndexMap;
use mainstem_core::diagnostic::{Diagnostic as _, Place};
use mainstem_core::{Code, Error, Replay};
use mainstem_eval::tune::Recording;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::Problem;
use crate::fuse::input::{self, Input};

/// A recording is held in memory, so it has a limit.
const MOST_BYTES: u64 = 64 << 20;

/// Reads all recordings, in the order given.
pub(super) fn read(paths: &[String]) -> Result<Vec<Recording>, Problem> {
    let mut recordings = Vec::new();
    let (runs, paths): (Vec<String>, Vec<String>) = paths.iter().cloned().partition(|path| is_run(path));
    if !runs.is_empty() {
        read_runs(&runs, &paths, &mut recordings)?;
    }
    for path in &paths {
        if Path::new(path).is_dir() {
            for file in json_files(path)? {
                recordings.push(read_file(&file)?);
            }
        } else if Path::new(path).extension().is_some_and(|extension| extension == "json") {
            recordings.push(read_file(path)?);
        } else {
            read_lines(path, &mut recordings)?;
        }
    }
    let mut seen = IndexMap::new();
    for (at, recording) in recordings.iter().enumerate() {
        if seen.insert(recording.query.as_str(), at).is_some() {
            return Err(Error::Duplicate { what: "recorded query", name: recording.query.clone() }.into());
        }
    }
    Ok(recordings)
}

/// Whether a file holds something other than JSON. One that cannot be read is not a run, and the error says so later.
fn is_run(path: &str) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    read.is_ok() && start.first().is_some_and(|byte| !b"{[".contains(byte))
}

/// The lists of several runs, query by query, fused by default.
fn read_runs(runs: &[String], others: &[String], recordings: &mut Vec<Recording>) -> Result<(), Problem> {
    if let Some(other) = others.first() {
        return Err(Problem::conflict(
            format!("`{other}` is JSON and `{}` is a TREC run, expected one kind", runs[0]),
            "give recordings alone, or runs alone",
        ));
    }
    if let Input::Runs(queries) = input::read(runs)? {
        let all = queries.chosen(&[])?;
        recordings.extend(all.into_iter().map(|(query, replay)| Recording {
            query,
            replay,
            candidates: None,
        }));
    }
    Ok(())
}

fn unreadable(file: &str, source: std::io::Error) -> Problem {
    Problem::Read { place: Place::default().in_file(file), source }
}

fn json_files(folder: &str) -> Result<Vec<String>, Problem> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|source| unreadable(folder, source))? {
        let path = entry.map_err(|source| unreadable(folder, source))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    files.sort();
    Ok(files)
}

/// One recording in a file of its own. The query's id is `query_id`, or the name of the file without its extension.
fn read_file(file: &str) -> Result<Recording, Problem> {
    let opened = File::open(file).map_err(|source| unreadable(file, source))?;
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|source| unreadable(file, source))?;
    let place = Place::default().in_file(file);
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Problem::TooLarge { place, limit: MOST_BYTES });
    }
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    // A plain replay keeps its lines in error messages.
    match Replay::from_json(&bytes) {
        Ok(replay) => Ok(Recording { query: stem.unwrap_or_default(), replay, candidates: None }),
        Err(error) => match recording(&bytes, stem) {
            Ok(recording) => Ok(recording),
            Err(_) => Err(Problem::in_file(error, file)),
        },
    }
}

fn read_lines(file: &str, recordings: &mut Vec<Recording>) -> Result<(), Problem> {
    let opened = File::open(file).map_err(|source| unreadable(file, source))?;
    let mut reader = BufReader::with_capacity(1 << 16, opened);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.by_ref().take(MOST_BYTES + 1).read_until(b'\n', &mut line);
        if read.map_err(|source| unreadable(file, source))? == 0 {
            break;
        }
        let place = Place::line(number).in_file(file);
        if line.len() as u64 > MOST_BYTES {
            return Err(Problem::TooLarge { place, limit: MOST_BYTES });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read = recording(&line, None);
        recordings.push(read.map_err(|error| Problem::Core { error: Box::new(error), place: Some(place) })?);
    }
    Ok(())
}

/// A replay with a `query_id` beside its own fields, and perhaps `candidates`.
fn recording(bytes: &[u8], name: Option<String>) -> Result<Recording, Error> {
    let mut fields: IndexMap<String, Box<RawValue>> = serde_json::from_slice(bytes)
        .map_err(|error| mainstem_core::error::from_deserialiser(&error.to_string(), None))?;
    let given = fields.shift_remove("query_id").and_then(|id| serde_json::from_str(id.get()).ok());
    let id = match given {
        Some(Value::String(id)) => Some(id),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    };
    let query = id.or(name).ok_or_else(|| Error::Missing {
        what: "`query_id`".into(),
        why: "judgements go by it".into(),
        hint: "write `{\"query_id\": \"1\", \"lists\": […]}`, one search a line".into(),
    })?;
    let candidates = fields.shift_remove("candidates").map(|count| candidates(count.get())).transpose()?;
    let rest = serde_json::to_vec(&fields)
        .map_err(|error| mainstem_core::error::from_deserialiser(&error.to_string(), None))?;
    let replay = Replay::from_json(&rest).map_err(|error| Error::Parse {
        message: error.to_string(),
        code: error.code(),
        hint: error.hint().map(std::borrow::Cow::into_owned),
        place: Place::default(),
    })?;
    Ok(Recording { query, replay, candidates })
}

fn candidates(count: &str) -> Result<usize, Error> {
    let known = serde_json::from_str(count).ok().filter(|count| *count > 0);
    known.ok_or_else(|| Error::range("`candidates`", "a whole number of at least 1", count))
}

/// Writes recordings, one a line.
pub(super) fn write(file: &str, recordings: &[Recording]) -> Result<(), Problem> {
    let failed = |source| Problem::Write { place: Place::default().in_file(file), source };
    let mut out = BufWriter::new(File::create(file).map_err(failed)?);
    for recording in recordings {
        let id = serde_json::to_string(&recording.query)?;
        let replay = one_line(&recording.replay.to_json()?);
        let rest = replay.strip_prefix('{').ok_or_else(|| internal(file))?;
        let depth = recording.candidates.map(|count| format!("\"candidates\":{count},")).unwrap_or_default();
        writeln!(out, "{{\"query_id\":{id},{depth}{rest}").map_err(failed)?;
    }
    out.flush().map_err(failed)
}

fn internal(file: &str) -> Problem {
    Problem::Argument {
        code: Code::Internal,
        message: format!("a recording for `{file}` is no JSON object"),
        hint: "please report this".into(),
    }
}

/// JSON without the white space between its parts. What stands in it stays as it is, to the digit.
fn one_line(json: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::with_capacity(json.len()), false, false);
    for c in json.chars() {
        if quoted || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_and_strings_stay() {
        let json = "{\n  \"a b\": [1.50, \"x \\\" y\"],\n  \"n\": 12345678901234567890123\n}";
        assert_eq!(one_line(json), "{\"a b\":[1.50,\"x \\\" y\"],\"n\":12345678901234567890123}");
    }

    #[test]
    fn a_line_is_a_replay_with_the_id_of_its_query() {
        let one =
            recording(br#"{"query_id": 7, "lists": [{"name": "a", "items": [{"id": "x"}]}]}"#, None).unwrap();
        assert_eq!((one.query.as_str(), one.replay.search.candidates.len()), ("7", 1));
        assert!(recording(br#"{"lists": []}"#, None).unwrap_err().to_string().contains("`query_id`"));
        assert_eq!(recording(br#"{"lists": []}"#, Some("name".into())).unwrap().query, "name");
    }
}
