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
    [&filter.scope, &filter.sources].into_iter().all(|wanted| among(wanted, &source.name))
        && among(&filter.kinds, &source.kind)
}

/// Whether a filter is about more than sources, so that chunks have to be looked up.
pub(in super::super) fn needs_chunks(filter: &Filter) -> bool {
    let Filter { since, until, metadata, reader, .. } = filter;
    since.is_some() || until.is_some() || !metadata.is_empty() || reader.is_some()
}

/// The chunks of these sources that pass a filter; nothing is asked about sources where they are all there are.
pub(in super::super) fn chunks(
    conn: &Connection,
    sources: Option<&[u32]>,
    filter: &Filter,
) -> rusqlite::Result<Vec<ChunkId>> {
    let (sql, values) = question(sources, filter);
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| row.get::<_, Whole>(0))?;
    rows.map(|whole| whole.map(|whole| ChunkId(whole.0))).collect()
}

/// The question for the chunks, and the values in it.
///
/// `CROSS JOIN` keeps the order of the tables: the documents that have the first of the facts are looked up by it, where SQLite, which does
/// not know how rare it is, would rather go through all documents of the sources.
fn question(sources: Option<&[u32]>, filter: &Filter) -> (String, Vec<Value>) {
    let (conditions, given) = conditions(sources, filter);
    let Some(((key, value), others)) = filter.metadata.split_first() else {
        let sql = "SELECT chunks.id FROM documents JOIN chunks ON chunks.document = documents.number WHERE ";
        return (format!("{sql}{}", conditions.join(" AND ")), given);
    };
    let mut sql =
        "SELECT chunks.id FROM facts AS fact CROSS JOIN chunks ON chunks.document = fact.document".to_owned();
    if !conditions.is_empty() {
        sql.push_str(" CROSS JOIN documents ON documents.number = fact.document");
    }
    sql.push_str(" WHERE fact.key = ? AND fact.value = ?");
    let mut values: Vec<Value> = vec![key.clone().into(), value.clone().into()];
    for (key, value) in others {
        sql.push_str(
            " AND EXISTS (SELECT 1 FROM facts WHERE key = ? AND value = ? AND document = fact.document)",
        );
        values.extend([key.clone().into(), value.clone().into()]);
    }
    for condition in conditions {
        sql.push_str(" AND ");
        sql.push_str(&condition);
    }
    values.extend(given);
    (sql, values)
}

/// The conditions on a document of a source, its metadata included, and the values in them.
pub(super) fn of_source(source: u32, filter: &Filter) -> (String, Vec<Value>) {
    let (mut conditions, mut values) = conditions(Some(&[source]), filter);
    for (key, value) in &filter.metadata {
        let has = "EXISTS (SELECT 1 FROM facts WHERE key = ? AND value = ? AND document = documents.number)";
        conditions.push(has.to_owned());
        values.extend([key.clone().into(), value.clone().into()]);
    }
    (conditions.join(" AND "), values)
}

/// The conditions on a document apart from its metadata, and the values in them.
fn conditions(sources: Option<&[u32]>, filter: &Filter) -> (Vec<String>, Vec<Value>) {
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    if let Some(sources) = sources {
        let numbers: Vec<_> = sources.iter().map(u32::to_string).collect();
        conditions.push(format!("documents.source IN ({})", numbers.join(",")));
    }
    if let Some(since) = &filter.since {
        conditions.push("ifnull(created_ms, updated_ms) >= ?".to_owned());
        values.push(milliseconds(since).into());
    }
    if let Some(until) = &filter.until {
        conditions.push("ifnull(created_ms, updated_ms) < ?".to_owned());
        values.push(milliseconds(until).into());
    }
    if let Some(reader) = &filter.reader {
        let readable = "(documents.readers IS NULL OR EXISTS
                         (SELECT 1 FROM readers WHERE document = documents.number AND reader = ?))";
        conditions.push(readable.to_owned());
        values.push(reader.clone().into());
    }
    (conditions, values)
}
