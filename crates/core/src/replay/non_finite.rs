//! Names the item whose score is NaN or infinite.
//!
//! JSON has no word for such numbers, so a reader stops at them without knowing which item they belong to. Writers that
//! print them all the same (`NaN`, `Infinity`, `1e999`) are common, and a person looks for the item, not for a column.

use std::io::Read as _;

use serde::Deserialize;

use crate::diagnostic::{Code, Place};
use crate::error::Error;

/// What the reader's error means, if it stopped at a score that is NaN or infinite.
pub(super) fn named(text: &str, error: &serde_json::Error) -> Option<Error> {
    let place = Place { file: None, line: Some(error.line() as u64), column: Some(error.column() as u64) };
    let (start, end) = token(text, offset(text, error.line(), error.column()));
    // Columns count bytes, and one may lie inside a character: then no number stands there.
    let score = text.get(start..end)?;
    let before = text[..start].trim_end().strip_suffix(':')?.trim_end();
    if !before.ends_with("\"score\"") || score.parse::<f64>().ok()?.is_finite() {
        return None;
    }
    let id = id_of(&text[open_object(&text[..start])?..start], &text[end..])?;
    Some(Error::Parse {
        message: format!("item `{id}` has score {score}, expected a finite number"),
        code: Code::NonFinite,
        hint: Some("drop the item, or leave its score out to rank it by place".into()),
        place,
    })
}

/// The byte at a line and a column, both from 1; columns count bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

/// The number or word that the byte at `offset` is part of or follows.
fn token(text: &str, offset: usize) -> (usize, usize) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let (before, after) = text.as_bytes().split_at(offset);
    let start = offset - before.iter().rev().take_while(|byte| is_part(byte)).count();
    (start, offset + after.iter().take_while(|byte| is_part(byte)).count())
}

/// Where the innermost object begins that is still open at the end of the text.
fn open_object(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => open.push(at),
            b'}' if !quoted => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

/// The id of an item of which the score has been cut out.
fn id_of(before: &str, after: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        id: serde_json::Value,
    }
    let item = before.as_bytes().chain(&b"null"[..]).chain(after.as_bytes());
    let named = Named::deserialize(&mut serde_json::Deserializer::from_reader(item)).ok()?;
    Some(named.id.as_str().map_or_else(|| named.id.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use crate::Replay;
    use crate::diagnostic::Diagnostic as _;

    fn message(item: &str) -> String {
        let json = format!("{{\"lists\":[{{\"name\":\"a\",\"items\":[{{\"id\":\"first\"}},\n{item}]}}]}}");
        let error = Replay::from_json(json.as_bytes()).unwrap_err();
        assert_eq!(error.place().and_then(|place| place.line), Some(2), "{error}");
        error.to_string()
    }

    #[test]
    fn the_item_is_named_wherever_its_id_stands() {
        for score in ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "nan"] {
            let expected = format!("item `x {{\"}}` has score {score}, expected a finite number");
            assert_eq!(message(&format!(r#"{{"id":"x {{\"}}","score":{score}}}"#)), expected);
            assert_eq!(message(&format!(r#"{{"score" : {score} , "id":"x {{\"}}"}}"#)), expected);
        }
        assert_eq!(message(r#"{"id":7,"score":NaN}"#), "item `7` has score NaN, expected a finite number");
    }

    #[test]
    fn other_errors_stay_what_they_are() {
        assert_eq!(message(r#"{"id":"x","score":tru}"#), "expected ident");
        assert_eq!(message(r#"{"id":"x","rating":NaN}"#), "expected value");
        assert_eq!(message(r#"{"score":NaN}"#), "expected value");
        let cut = Replay::from_json("{\"query\":\"é".as_bytes()).unwrap_err();
        assert_eq!(cut.to_string(), "EOF while parsing a string");
    }
}
