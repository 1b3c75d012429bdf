//! What stands in a row, and what it means.

use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::fingerprint;

/// A count or a number of a row: SQLite knows signed integers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Whole(pub(in super::super) u64);

impl ToSql for Whole {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for Whole {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

/// A value that is stored as JSON.
struct Json<T>(T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// A value as JSON.
pub(super) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// The milliseconds since 1970, to compare times by.
pub(super) fn milliseconds(moment: &Moment) -> i64 {
    let epoch = Moment::from(jiff::Timestamp::UNIX_EPOCH);
    (epoch.age_days(moment) * 86_400_000.0).round() as i64
}

/// The columns of [`document`].
pub(super) const DOCUMENT: &str =
    "sources.name, documents.id, title, url, label, created, updated, documents.readers, key, metadata";

/// The same with the number of the source in place of its name.
pub(super) const DOCUMENT_OF: &str = "documents.source, documents.id, title, url, label, created, updated, documents.readers, documents.key, metadata";

/// How many columns that is.
pub(super) const DOCUMENT_COLUMNS: usize = 10;

/// A document without its text and chunks.
pub(super) fn document(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document { source: row.get(0)?, ..document_of(row)? })
}

/// A document without its source, text and chunks.
pub(super) fn document_of(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        id: row.get(1)?,
        title: row.get(2)?,
        url: row.get(3)?,
        label: row.get(4)?,
        created_at: json(row, 5)?,
        updated_at: json(row, 6)?,
        readers: json(row, 7)?,
        key: row.get(8)?,
        metadata: row.get::<_, Json<Map<String, Value>>>(9)?.0,
        ..Document::default()
    })
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    Ok(row.get::<_, Option<Json<T>>>(column)?.map(|json| json.0))
}

/// The columns of [`chunk`].
pub(super) const CHUNK: &str = "place, first, past, heading, chunks.text, vector";

/// How many columns that is.
pub(super) const CHUNK_COLUMNS: usize = 6;

/// A chunk whose columns begin at this one.
pub(super) fn chunk(row: &Row<'_>, first: usize) -> rusqlite::Result<Chunk> {
    let place = |column| row.get::<_, Whole>(column).map(|whole| whole.0 as usize);
    Ok(Chunk {
        order: row.get(first)?,
        span: place(first + 1)?..place(first + 2)?,
        heading: row.get(first + 3)?,
        text: row.get(first + 4)?,
        vector: row.get_ref(first + 5)?.as_blob_or_null()?.map(fingerprint::from_bytes),
    })
}

/// The metadata as a filter sees them: every value as text, and each element of a list.
pub(super) fn facts(metadata: &Map<String, Value>) -> impl Iterator<Item = (&str, String)> {
    metadata.iter().flat_map(|(key, value)| {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        values.iter().map(move |value| (key.as_str(), as_text(value)))
    })
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_compare_to_the_millisecond() {
        for (text, expected) in [
            ("1970-01-01T00:00:00.001Z", 1),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2026-01-31T09:00:00.123+09:00", 1769817600123),
            ("9999-12-01T00:00:00.999Z", 253399622400999),
        ] {
            assert_eq!(milliseconds(&Moment::parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn lists_have_each_of_their_values() {
        let metadata =
            serde_json::from_str(r#"{"n": 1.50, "tags": ["a", true, null], "o": {"x": 1}}"#).unwrap();
        let mut facts: Vec<_> = facts(&metadata).map(|(key, value)| format!("{key}={value}")).collect();
        facts.sort();
        assert_eq!(facts, ["n=1.5", r#"o={"x":1}"#, "tags=a", "tags=null", "tags=true"]);
    }
}
