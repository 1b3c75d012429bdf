//! The chunks that pass a filter.

use mainstem_core::ChunkId;
use mainstem_core::contract::Filter;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::read::NumberedSource;
use super::row::{Whole, milliseconds};

/// Whether a source passes the part of a filter that is about sources.
pub(in super::super) fn passes(source: &NumberedSource, filter: &Filter) -> bool {
    let among = |wanted: &Option<Vec<String>>, name: &String| {
        wanted.as_ref().is_none_or(|wanted| wanted.contains(name))
    };
    among(&filter.sources, &source.name) && among(&filter.kinds, &source.kind)
}

/// Whether a filter is about more than sources, so that chunks have to be looked up.
pub(in super::super) fn needs_chunks(filter: &Filter) -> bool {
    let Filter { since, until, metadata, reader, .. } = filter;
    since.is_some() || until.is_some() || !metadata.is_empty() || reader.is_some()
}

/// The chunks of these sources that pass a filter.
pub(in super::super) fn chunks(
    conn: &Connection,
    sources: &[u32],
    filter: &Filter,
) -> rusqlite::Result<Vec<ChunkId>> {
    let (conditions, values) = conditions(sources, filter);
    let sql = format!(
        "SELECT chunks.id FROM documents JOIN chunks ON chunks.document = documents.number WHERE {conditions}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| row.get::<_, Whole>(0))?;
    rows.map(|whole| whole.map(|whole| ChunkId(whole.0))).collect()
}

/// The conditions on a document, and the values in them.
fn conditions(sources: &[u32], filter: &Filter) -> (String, Vec<Value>) {
    let numbers: Vec<_> = sources.iter().map(u32::to_string).collect();
    let mut sql = format!("documents.source IN ({})", numbers.join(","));
    let mut values = Vec::new();
    let mut add = |condition: &str, given: Vec<Value>| {
        sql.push_str(" AND ");
        sql.push_str(condition);
        values.extend(given);
    };
    if let Some(since) = &filter.since {
        add("created_ms >= ?", vec![milliseconds(since).into()]);
    }
    if let Some(until) = &filter.until {
        add("created_ms < ?", vec![milliseconds(until).into()]);
    }
    for (key, value) in &filter.metadata {
        let having = "documents.number IN (SELECT document FROM facts WHERE key = ? AND value = ?)";
        add(having, vec![key.clone().into(), value.clone().into()]);
    }
    if let Some(reader) = &filter.reader {
        let readable = "(documents.readers IS NULL OR EXISTS
                         (SELECT 1 FROM readers WHERE document = documents.number AND reader = ?))";
        add(readable, vec![reader.clone().into()]);
    }
    (sql, values)
}
