//! Changes to the truth. All of them run inside a transaction of the caller's.

use std::collections::BTreeMap;

use mainstem_core::contract::{Applied, Change, ModelCard};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, ChunkId, Document};
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashMap;

use super::fingerprint::{ContentHash, to_bytes};
use super::links;
use super::row::{Whole, facts, milliseconds, to_json};

/// The kind of a source that was never given one.
const PLAIN: &str = "documents";

/// A chunk that came or went: an entry of the log, with what the indexes want to know about it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum News<'a> {
    /// It came.
    Came {
        /// Its number.
        id: ChunkId,
        /// The number of its source.
        source: u32,
        /// Its document.
        document: &'a Document,
        /// The chunk.
        chunk: &'a Chunk,
    },
    /// It went.
    Went(ChunkId),
}

/// Is told of every entry of the log as it is written.
pub(in super::super) type Tell<'t, 'a> = &'t mut dyn FnMut(News<'a>);

/// Applies changes in order.
pub(in super::super) fn apply<'a>(
    conn: &Connection,
    changes: &'a [Change],
    now: &Moment,
    tell: Tell<'_, 'a>,
) -> rusqlite::Result<Applied> {
    let mut batch = Batch::new(conn, to_json(now)?, tell);
    for change in changes {
        match change {
            Change::Put(document) => batch.put(document)?,
            Change::Delete { source, id } => batch.delete(source, id)?,
        }
    }
    batch.finish()
}

/// How much more a source has than before.
#[derive(Default)]
struct Growth {
    documents: i64,
    chunks: i64,
    vectors: i64,
}

struct Batch<'c, 't, 'a> {
    conn: &'c Connection,
    tell: Tell<'t, 'a>,
    now: String,
    sources: FxHashMap<String, u32>,
    growth: BTreeMap<u32, Growth>,
    applied: Applied,
}

impl<'c, 't, 'a> Batch<'c, 't, 'a> {
    fn new(conn: &'c Connection, now: String, tell: Tell<'t, 'a>) -> Self {
        let (sources, growth) = (FxHashMap::default(), BTreeMap::new());
        Self { conn, tell, now, sources, growth, applied: Applied::default() }
    }

    fn put(&mut self, document: &'a Document) -> rusqlite::Result<()> {
        let source = self.source(&document.source)?;
        let content = ContentHash::of(document);
        let hash = content.with_vectors(document);
        let number = match self.known(source, &document.id)? {
            Some((_, known)) if known == hash => {
                self.applied.unchanged += 1;
                return Ok(());
            }
            Some((number, _)) => {
                self.remove(source, number)?;
                self.applied.changed += 1;
                Some(number)
            }
            None => {
                self.applied.added += 1;
                None
            }
        };
        let number = self.insert((source, number), document, content, hash)?;
        self.insert_lists(number, document)?;
        self.growth.entry(source).or_default().documents += 1;
        document.chunks.iter().try_for_each(|chunk| self.insert_chunk(source, number, document, chunk))
    }

    fn delete(&mut self, source: &str, id: &str) -> rusqlite::Result<()> {
        let Some(source) = number_of(self.conn, source)? else { return Ok(()) };
        let Some((number, _)) = self.known(source, id)? else { return Ok(()) };
        self.applied.removed += 1;
        links::forget(self.conn, number)?;
        self.remove(source, number)
    }

    fn source(&mut self, name: &str) -> rusqlite::Result<u32> {
        if let Some(number) = self.sources.get(name) {
            return Ok(*number);
        }
        let number = match number_of(self.conn, name)? {
            Some(number) => number,
            None => set_source(self.conn, name, PLAIN)?,
        };
        self.sources.insert(name.to_owned(), number);
        Ok(number)
    }

    fn known(&self, source: u32, id: &str) -> rusqlite::Result<Option<(i64, [u8; 32])>> {
        let sql = "SELECT number, hash FROM documents WHERE source = ?1 AND id = ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        statement.query_row(params![source, id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
    }

    fn remove(&mut self, source: u32, number: i64) -> rusqlite::Result<()> {
        let sql = "SELECT id, vectors.chunk IS NOT NULL FROM chunks
                   LEFT JOIN vectors ON vectors.chunk = chunks.id WHERE document = ?1 ORDER BY id";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Whole>(0)?, row.get::<_, bool>(1)?));
        let chunks: Vec<_> =
            self.conn.prepare_cached(sql)?.query_map([number], read)?.collect::<Result<_, _>>()?;
        let vectors: i64 = chunks.iter().map(|(_, vector)| i64::from(*vector)).sum();
        for (id, _) in &chunks {
            self.conn.prepare_cached("INSERT INTO log (chunk, came) VALUES (?1, 0)")?.execute([id])?;
            (self.tell)(News::Went(ChunkId(id.0)));
        }
        self.conn.prepare_cached("DELETE FROM documents WHERE number = ?1")?.execute([number])?;
        let growth = self.growth.entry(source).or_default();
        growth.documents -= 1;
        growth.chunks -= (chunks.len() as u64).cast_signed();
        growth.vectors -= vectors;
        Ok(())
    }

    /// A document that replaces another has its number, by which links know it.
    fn insert(
        &self,
        (source, number): (u32, Option<i64>),
        document: &Document,
        content: ContentHash,
        hash: [u8; 32],
    ) -> rusqlite::Result<i64> {
        let sql =
            "INSERT INTO documents (source, id, title, url, label, created_ms, created, updated_ms, updated,
                       readers, key, metadata, embedded, content, hash, written_at, number)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
        let Document { id, title, url, label, created_at, updated_at, key, .. } = document;
        self.conn.prepare_cached(sql)?.insert(params![
            source,
            id,
            title,
            url,
            label,
            created_at.as_ref().map(milliseconds),
            created_at.as_ref().map(to_json).transpose()?,
            updated_at.as_ref().map(milliseconds),
            updated_at.as_ref().map(to_json).transpose()?,
            document.readers.as_ref().map(to_json).transpose()?,
            key,
            to_json(&document.metadata)?,
            document.chunks.iter().all(|chunk| chunk.vector.is_some()),
            content.0,
            hash,
            self.now,
            number,
        ])
    }

    /// The text, and what filters look at.
    fn insert_lists(&self, number: i64, document: &Document) -> rusqlite::Result<()> {
        let sql = "INSERT INTO texts (document, text) VALUES (?1, ?2)";
        self.conn.prepare_cached(sql)?.execute(params![number, document.text])?;
        let sql = "INSERT OR IGNORE INTO readers (document, reader) VALUES (?1, ?2)";
        for reader in document.readers.iter().flatten() {
            self.conn.prepare_cached(sql)?.execute(params![number, reader])?;
        }
        let sql = "INSERT OR IGNORE INTO facts (document, key, value) VALUES (?1, ?2, ?3)";
        for (key, value) in facts(&document.metadata) {
            self.conn.prepare_cached(sql)?.execute(params![number, key, value])?;
        }
        Ok(())
    }

    fn insert_chunk(
        &mut self,
        source: u32,
        number: i64,
        document: &'a Document,
        chunk: &'a Chunk,
    ) -> rusqlite::Result<()> {
        let sql = "INSERT INTO chunks (document, place, first, past, heading, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let (first, past) = (Whole(chunk.span.start as u64), Whole(chunk.span.end as u64));
        let row = params![number, chunk.order, first, past, chunk.heading, chunk.text];
        let id = self.conn.prepare_cached(sql)?.insert(row)?;
        self.conn.prepare_cached("INSERT INTO log (chunk, came) VALUES (?1, 1)")?.execute([id])?;
        let growth = self.growth.entry(source).or_default();
        growth.chunks += 1;
        if let Some(vector) = &chunk.vector {
            let sql = "INSERT INTO vectors (chunk, vector) VALUES (?1, ?2)";
            self.conn.prepare_cached(sql)?.execute(params![id, to_bytes(vector)])?;
            growth.vectors += 1;
        }
        (self.tell)(News::Came { id: ChunkId(id.cast_unsigned()), source, document, chunk });
        Ok(())
    }

    fn finish(self) -> rusqlite::Result<Applied> {
        let sql =
            "UPDATE sources SET documents = documents + ?2, chunks = chunks + ?3, vectors = vectors + ?4,
                       written_at = ?5 WHERE number = ?1";
        for (source, growth) in &self.growth {
            let Growth { documents, chunks, vectors } = growth;
            self.conn.prepare_cached(sql)?.execute(params![source, documents, chunks, vectors, self.now])?;
        }
        Ok(self.applied)
    }
}

fn number_of(conn: &Connection, source: &str) -> rusqlite::Result<Option<u32>> {
    let mut statement = conn.prepare_cached("SELECT number FROM sources WHERE name = ?1")?;
    statement.query_row([source], |row| row.get(0)).optional()
}

/// Names a source and its kind, and gives its number.
pub(in super::super) fn set_source(conn: &Connection, name: &str, kind: &str) -> rusqlite::Result<u32> {
    let sql = "INSERT INTO sources (name, kind) VALUES (?1, ?2)
               ON CONFLICT (name) DO UPDATE SET kind = excluded.kind RETURNING number";
    conn.prepare_cached(sql)?.query_row([name, kind], |row| row.get(0))
}

/// Says where a source was filled from.
pub(in super::super) fn set_origins(
    conn: &Connection,
    source: &str,
    origins: &[String],
) -> rusqlite::Result<()> {
    let sql = "UPDATE sources SET settings = json_set(settings, '$.origins', json(?2)) WHERE name = ?1";
    conn.prepare_cached(sql)?.execute(params![source, to_json(&origins)?]).map(|_| ())
}

/// Forgets a source that holds nothing.
pub(in super::super) fn forget_source(conn: &Connection, name: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM sources WHERE name = ?1
               AND NOT EXISTS (SELECT 1 FROM documents WHERE source = sources.number)";
    conn.prepare_cached(sql)?.execute([name]).map(|_| ())
}

/// Remembers the model.
pub(in super::super) fn set_model(conn: &Connection, card: &ModelCard) -> rusqlite::Result<()> {
    let sql = "UPDATE meta SET model_name = ?1, model_dim = ?2, model_max_tokens = ?3";
    let row = params![card.name, Whole(card.dim as u64), Whole(card.max_tokens as u64)];
    conn.execute(sql, row).map(|_| ())
}

/// Removes the log up to an entry that every index has taken in.
pub(in super::super) fn forget_log(conn: &Connection, upto: u64) -> rusqlite::Result<()> {
    let removed = conn.prepare_cached("DELETE FROM log WHERE sequence <= ?1")?.execute([Whole(upto)])?;
    if removed > 0 {
        conn.prepare_cached("UPDATE meta SET log_floor = ?1")?.execute([Whole(upto)])?;
    }
    Ok(())
}
