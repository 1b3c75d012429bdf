//! The replay file: lists, settings and clock of one search, as JSON.
//!
//! A replay needs no store, no model and no network, and gives the same bytes every time: for trying other settings on real
//! searches, for bug reports, for tuning. It is also what `mainstem fuse` reads. [`Replay::to_json`] writes one.
//!
//! ```json
//! {"now": "2026-01-31T00:00:00Z",
//!  "pipeline": {"fuse": {"method": "rrf", "k": 60}, "limit": 10},
//!  "lists": [{"name": "wiki/dense", "source": "wiki", "weight": 1.0,
//!             "items": [{"id": "a", "score": 0.91, "text": "…", "created_at": "2026-01-01T00:00:00Z"}]}]}
//! ```
//!
//! `"variants": [{"query": "…", "lists": […]}, …]` stands in place of `lists` for several rewrites of a query. Fields of an item
//! that have no meaning here come back untouched.

mod non_finite;
mod read;
mod write;

use crate::answer::Answer;
use crate::diagnostic::{Code, Place};
use crate::error::Error;
use crate::located;
use crate::pipeline::{PipelineSpec, Search};

/// The version of the format that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// One search that can be run again.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The settings.
    pub pipeline: PipelineSpec,
    /// What the legs gave.
    pub search: Search,
}

impl Replay {
    /// Reads a replay. A byte order mark at the start is passed over.
    ///
    /// # Errors
    /// When the text is not UTF-8, not JSON, not of this shape, or a setting is out of range; with line and column.
    pub fn from_json(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
        if text.trim_start().starts_with('[') {
            return Err(not_an_object());
        }
        let request: read::Request = serde_json::from_str(text)
            .map_err(|error| non_finite::named(text, &error).unwrap_or_else(|| located::json(&error)))?;
        request.into_replay()
    }

    /// Runs the search.
    ///
    /// # Errors
    /// As [`Pipeline::run`](crate::Pipeline::run).
    pub fn run(&self) -> Result<Answer, Error> {
        self.pipeline.check()?.run(&self.search)
    }

    /// Writes the replay, with everything that its outcome depends on.
    ///
    /// # Errors
    /// Never in practice: only when a field of an item is no JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(&write::Written::of(self))
    }

    /// The same on one line, for programs.
    ///
    /// # Errors
    /// As [`Self::to_json`].
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&write::Written::of(self))
    }
}

/// The reader would take a list for an object without names.
fn not_an_object() -> Error {
    Error::Parse {
        message: "the text is a list, expected an object with `lists` or `variants`".into(),
        code: Code::Syntax,
        hint: Some("give `{\"lists\": [{\"name\": \"bm25\", \"items\": […]}]}`".into()),
        place: Place::line(1),
    }
}

fn not_utf8(bytes: &[u8], valid: usize) -> Error {
    let before = &bytes[..valid];
    let line = before.split(|byte| *byte == b'\n').count() as u64;
    let last = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let column = 1 + String::from_utf8_lossy(last).chars().count() as u64;
    Error::Parse {
        message: format!("the text is not UTF-8: byte 0x{:02x} cannot stand here", bytes[valid]),
        code: Code::Encoding,
        hint: Some("save the file as UTF-8".into()),
        place: Place { file: None, line: Some(line), column: Some(column) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostic;

    fn refused(json: &str) -> (String, Option<u64>, String) {
        let error = Replay::from_json(json.as_bytes()).unwrap_err();
        let hint = error.hint().unwrap_or_default().into_owned();
        (error.to_string(), error.place().and_then(|place| place.line), hint)
    }

    #[test]
    fn errors_name_the_line_and_what_to_do() {
        let (message, line, hint) = refused("{\"pipeline\":{\n\"fuse\":{\"method\":\"rff\"}},\"lists\":[]}");
        assert!(message.starts_with("unknown variant `rff`"), "{message}");
        assert_eq!((line, hint.as_str()), (Some(2), "did you mean `rrf`?"));

        let (message, line, _) = refused("{\"lists\":[\n{\"name\":\"a\",\"weight\":-1,\"items\":[]}]}");
        assert_eq!(message, "the weight of list `a` is -1, expected a finite number ≥ 0");
        assert_eq!(line, Some(2));

        let (message, line, _) =
            refused("{\"lists\":[{\"name\":\"a\",\"items\":[]},\n{\"name\":\"a\",\"items\":[]}]}");
        assert_eq!((message.as_str(), line), ("two lists are called `a`, expected unique names", Some(2)));

        let (_, line, hint) = refused("{\"lists\":[\n{\"name\":");
        assert_eq!((line, hint.as_str()), (Some(2), "the text ends too early: was the file cut off?"));
    }

    #[test]
    fn numbers_must_be_finite() {
        let (message, ..) = refused(r#"{"lists":[{"name":"a","weight":NaN,"items":[]}]}"#);
        assert!(message.starts_with("expected value"), "{message}");
        let (message, ..) = refused(r#"{"lists":[{"name":"a","weight":1e999,"items":[]}]}"#);
        assert!(message.contains("number out of range"), "{message}");
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_with_its_place() {
        let error = Replay::from_json(b"{\n \"query\": \"\xff\"}").unwrap_err();
        assert_eq!(error.code(), Code::Encoding);
        assert_eq!(error.place().map(ToString::to_string).unwrap(), "input:2:12");
    }

    #[test]
    fn a_byte_order_mark_and_crlf_are_passed_over() {
        let json = "\u{feff}{\r\n\"lists\":[{\"name\":\"a\",\"items\":[{\"id\":\"x\"}]}]}\r\n";
        assert_eq!(Replay::from_json(json.as_bytes()).unwrap().run().unwrap().hits.len(), 1);
    }

    #[test]
    fn what_is_written_gives_the_same_answer() {
        let json = r#"{"now":"2026-01-31","query":"q","pipeline":{"recency":{"*":{}},"limit":3},"variants":[
            {"query":"q","lists":[{"name":"a","items":[{"id":"x","score":2,"created_at":"2026-01-01","n":1.50},{"id":"y"}]}]},
            {"query":"r","lists":[{"name":"a","weight":2,"items":[{"id":"y","score":2},{"id":"x","score":1}]}]}]}"#;
        let replay = Replay::from_json(json.as_bytes()).unwrap();
        let again = Replay::from_json(replay.to_json().unwrap().as_bytes()).unwrap();
        let answer = |replay: &Replay| serde_json::to_string(&replay.run().unwrap()).unwrap();
        assert_eq!(answer(&replay), answer(&again));
        assert_eq!(replay.to_json().unwrap(), again.to_json().unwrap());
        assert!(replay.to_json().unwrap().contains("\"n\": 1.50"));
    }

    #[test]
    fn equal_variants_count_once() {
        let json = r#"{"pipeline":{"fuse":{"method":"rsf"}},"variants":[
            {"query":"q","lists":[{"name":"a","items":[{"id":"x","score":1},{"id":"y","score":0.5},{"id":"z","score":0}]}]},
            {"query":"q","lists":[{"name":"a","items":[{"id":"x","score":1},{"id":"y","score":0.5},{"id":"z","score":0}]}]}]}"#;
        let answer = Replay::from_json(json.as_bytes()).unwrap().run().unwrap();
        assert_eq!(answer.hits[1].score, 0.5);
        assert_eq!(answer.status.notes.len(), 1);
    }

    #[test]
    fn what_the_caller_may_not_read_leaves_no_trace() {
        let json = r#"{"reader":"bob","pipeline":{"dedup":{"within":0.9,"across":0.9}},"lists":[
            {"name":"open","items":[{"id":"x","score":1,"text":"one two three","label":"[open]"}]},
            {"name":"secret","items":[{"id":"s","score":9,"text":"one two three","label":"[secret]","readers":["ann"]}]}]}"#;
        let replay = Replay::from_json(json.as_bytes()).unwrap();
        let answer = replay.run().unwrap();
        assert_eq!(answer.hits[0].alternates, Vec::<String>::new());
        let everything = serde_json::to_string(&answer).unwrap() + &replay.to_json().unwrap();
        assert!(!everything.contains("[secret]") && !everything.contains("\"s\""), "{everything}");
    }
}
