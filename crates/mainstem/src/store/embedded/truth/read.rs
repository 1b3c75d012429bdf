//! What the truth is asked.

use mainstem_core::contract::SourceStats;
use mainstem_core::{ChunkId, Document, StoredChunk};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fingerprint::ContentHash;
use super::row::{
    CHUNK, CHUNK_COLUMNS, DOCUMENT, DOCUMENT_COLUMNS, DOCUMENT_OF, Whole, chunk, document, document_of,
    to_json,
};
use rustc_hash::FxHashMap;

/// A document of a source, as a sync sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDocument {
    /// Its id within the source.
    pub id: String,
    /// What it says, without its vectors.
    pub content: ContentHash,
    /// Whether every chunk of it has a vector.
    pub embedded: bool,
}

/// The documents of a source, by id.
pub(in super::super) fn documents_of(
    conn: &Connection,
    source: &str,
) -> rusqlite::Result<Vec<KnownDocument>> {
    let sql = "SELECT id, content, embedded FROM documents
               WHERE source = (SELECT number FROM sources WHERE name = ?1) ORDER BY id";
    let read = |row: &Row<'_>| {
        Ok(KnownDocument { id: row.get(0)?, content: ContentHash(row.get(1)?), embedded: row.get(2)? })
    };
    conn.prepare_cached(sql)?.query_map([source], read)?.collect()
}

/// A document, whole.
pub(in super::super) fn whole_document(
    conn: &Connection,
    source: &str,
    id: &str,
) -> rusqlite::Result<Option<Document>> {
    let sql = "SELECT documents.number FROM documents JOIN sources ON sources.number = source
               WHERE sources.name = ?1 AND documents.id = ?2";
    let number = conn.prepare_cached(sql)?.query_row([source, id], |row| row.get(0)).optional()?;
    number.map(|number| numbered_document(conn, number)).transpose()
}

/// The document with this number in the truth.
pub(in super::super) fn numbered_document(conn: &Connection, number: i64) -> rusqlite::Result<Document> {
    let sql = format!(
        "SELECT {DOCUMENT}, texts.text FROM documents JOIN sources ON sources.number = source
         JOIN texts ON texts.document = documents.number WHERE documents.number = ?1"
    );
    let with_text = |row: &Row<'_>| Ok(Document { text: row.get(DOCUMENT_COLUMNS)?, ..document(row)? });
    let found = conn.prepare_cached(&sql)?.query_row([number], with_text)?;
    let sql = format!(
        "SELECT {CHUNK} FROM chunks LEFT JOIN vectors ON vectors.chunk = chunks.id
         WHERE document = ?1 ORDER BY place"
    );
    let chunks =
        conn.prepare_cached(&sql)?.query_map([number], |row| chunk(row, 0))?.collect::<Result<_, _>>()?;
    Ok(Document { chunks, ..found })
}

/// The chunks of these numbers, in the order asked; those that are gone are left out.
///
/// All are asked for at once, as a list in JSON: SQLite has no lists of its own, and a statement that is bound a hundred times takes longer.
/// The names of the sources are looked up once, not once for every chunk.
pub(in super::super) fn chunks(conn: &Connection, ids: &[ChunkId]) -> rusqlite::Result<Vec<StoredChunk>> {
    let sql = format!(
        "SELECT {DOCUMENT_OF}, {CHUNK}, chunks.id, wanted.key FROM json_each(?1) AS wanted
         CROSS JOIN chunks ON chunks.id = wanted.value CROSS JOIN documents ON documents.number = document
         LEFT JOIN vectors ON vectors.chunk = chunks.id"
    );
    let sources: FxHashMap<u32, String> =
        numbered_sources(conn)?.into_iter().map(|source| (source.number, source.name)).collect();
    let stored = |row: &Row<'_>| {
        let source = sources.get(&row.get(0)?).cloned().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let id = ChunkId(row.get::<_, Whole>(DOCUMENT_COLUMNS + CHUNK_COLUMNS)?.0);
        let document = Document { source, ..document_of(row)? };
        let place: u32 = row.get(DOCUMENT_COLUMNS + CHUNK_COLUMNS + 1)?;
        Ok((place, StoredChunk { id, document, chunk: chunk(row, DOCUMENT_COLUMNS)? }))
    };
    let mut statement = conn.prepare_cached(&sql)?;
    let mut found: Vec<_> = statement.query_map([to_json(&ids)?], stored)?.collect::<Result<_, _>>()?;
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, chunk)| chunk).collect())
}

/// Goes through all chunks, or through those that came after an entry of the log, by number: the number of their source, whether they have a
/// vector, and the chunk without its source's name and its vector.
pub(in super::super) fn each_chunk(
    conn: &Connection,
    after: Option<u64>,
    mut look: impl FnMut(u32, bool, StoredChunk),
) -> rusqlite::Result<()> {
    let wanted = match after {
        Some(_) => "WHERE chunks.id IN (SELECT chunk FROM log WHERE sequence > ?1 AND came = 1)",
        None => "WHERE ?1 = 0",
    };
    let sql = format!(
        "SELECT {DOCUMENT_OF}, place, first, past, heading, chunks.text, NULL, chunks.id, vectors.chunk IS NOT NULL
         FROM chunks JOIN documents ON documents.number = document LEFT JOIN vectors ON vectors.chunk = chunks.id
         {wanted} ORDER BY chunks.id"
    );
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([Whole(after.unwrap_or(0))])?;
    while let Some(row) = rows.next()? {
        let id = ChunkId(row.get::<_, Whole>(DOCUMENT_COLUMNS + CHUNK_COLUMNS)?.0);
        let embedded = row.get(DOCUMENT_COLUMNS + CHUNK_COLUMNS + 1)?;
        let stored = StoredChunk { id, document: document_of(row)?, chunk: chunk(row, DOCUMENT_COLUMNS)? };
        look(row.get(0)?, embedded, stored);
    }
    Ok(())
}

/// Whether a chunk is there.
pub(in super::super) fn has_chunk(conn: &Connection, id: ChunkId) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?.exists([Whole(id.0)])
}

/// What is known about the sources, by name. A document without a time comes last, and its time is none: to ask for one that has a time would
/// have SQLite look at all that have not.
pub(in super::super) fn sources(conn: &Connection) -> rusqlite::Result<Vec<SourceStats>> {
    let sql = "SELECT name, kind, documents, chunks, vectors, written_at,
                   (SELECT ifnull(created, updated) FROM documents
                    WHERE source = sources.number
                    ORDER BY ifnull(created_ms, updated_ms) DESC LIMIT 1)
               FROM sources ORDER BY name";
    conn.prepare_cached(sql)?.query_map([], source_stats)?.collect()
}

fn source_stats(row: &Row<'_>) -> rusqlite::Result<SourceStats> {
    let count = |column| row.get::<_, Whole>(column).map(|whole| whole.0);
    Ok(SourceStats {
        name: row.get(0)?,
        kind: row.get(1)?,
        documents: count(2)?,
        chunks: count(3)?,
        vectors: count(4)?,
        written_at: super::row::json(row, 5)?,
        newest: super::row::json(row, 6)?,
    })
}

/// Where a source was filled from, as far as it is known.
pub(in super::super) fn origins(conn: &Connection, source: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT value FROM sources, json_each(sources.settings, '$.origins') WHERE name = ?1";
    conn.prepare_cached(sql)?.query_map([source], |row| row.get(0))?.collect()
}

/// A source with the number that the indexes know it by.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct NumberedSource {
    /// The number.
    pub(in super::super) number: u32,
    /// The name.
    pub(in super::super) name: String,
    /// The kind.
    pub(in super::super) kind: String,
    /// How many chunks it has.
    pub(in super::super) chunks: u64,
    /// How many of them have a vector.
    pub(in super::super) vectors: u64,
}

/// The sources, by name.
pub(in super::super) fn numbered_sources(conn: &Connection) -> rusqlite::Result<Vec<NumberedSource>> {
    let read = |row: &Row<'_>| {
        let count = |column| row.get::<_, Whole>(column).map(|whole| whole.0);
        let (number, name, kind) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(NumberedSource { number, name, kind, chunks: count(3)?, vectors: count(4)? })
    };
    conn.prepare_cached("SELECT number, name, kind, chunks, vectors FROM sources ORDER BY name")?
        .query_map(params![], read)?
        .collect()
}
