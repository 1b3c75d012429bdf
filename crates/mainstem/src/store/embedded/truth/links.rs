//! What runs say about pairs of documents: kept, asked for, and taken back.

use mainstem_core::contract::Filter;
use mainstem_core::link::{
    DocumentName, Edge, Link, LinkQuery, LinkRun, LinkSettings, Recorded, Undone, pairs,
};
use mainstem_core::time::Moment;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::matching;
use super::read::numbered_sources;
use super::row::{Whole, json, to_json};

/// The table of what runs say.
pub(in super::super) const TABLE: &str = "edges";

/// How many bytes of the hash of a content are kept for each end of a link.
const KEPT: usize = 16;

/// Whether the file has links: one of an older format that was never opened for writing since has none.
fn has_links(conn: &Connection) -> rusqlite::Result<bool> {
    Ok(format(conn)? >= super::LINKS_FROM)
}

fn format(conn: &Connection) -> rusqlite::Result<u32> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Whether there is, or was, a run of this name.
pub(in super::super) fn has_run(conn: &Connection, id: &str) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM link_runs WHERE id = ?1")?.exists([id])
}

/// Keeps what a run says. Its name must be new.
pub(in super::super) fn record(
    conn: &Connection,
    run: &LinkRun,
    edges: &[Edge],
) -> rusqlite::Result<Recorded> {
    let number = insert_run(conn, run)?;
    let mut recorded = Recorded::default();
    for edge in pairs(edges) {
        let (Some(a), Some(b)) = (end(conn, &edge.a, run)?, end(conn, &edge.b, run)?) else { continue };
        recorded.count(score_of(conn, &a, &b)?, edge.score);
        let sql = "INSERT INTO edges (a, b, run, score, a_content, b_content, evidence)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let evidence = to_json(&edge.evidence)?;
        let row = params![a.number, b.number, number, edge.score, a.content, b.content, evidence];
        conn.prepare_cached(sql)?.execute(row)?;
    }
    let kept = recorded.added + recorded.kept + recorded.changed;
    conn.execute("UPDATE link_runs SET edges = ?2 WHERE number = ?1", params![number, Whole(kept)])?;
    recorded.missed = missed(conn, number, &run.sources)?;
    Ok(recorded)
}

fn insert_run(conn: &Connection, run: &LinkRun) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO link_runs (id, made_at, settings, model, sources, documents, reader, restricted)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let LinkRun { id, made_at, settings, model, sources, documents, reader, restricted, .. } = run;
    let (made_at, settings, sources) = (to_json(made_at)?, to_json(settings)?, to_json(sources)?);
    let row = params![id, made_at, settings, model, sources, Whole(*documents), reader, restricted];
    conn.prepare_cached(sql)?.insert(row)
}

/// A document at the end of a link.
struct End {
    number: i64,
    content: Vec<u8>,
}

/// The document of a name, as a run saw it.
fn end(conn: &Connection, name: &DocumentName, run: &LinkRun) -> rusqlite::Result<Option<End>> {
    let sql = "SELECT documents.number, content, documents.written_at FROM documents
               JOIN sources ON sources.number = source WHERE sources.name = ?1 AND documents.id = ?2";
    let read = |row: &Row<'_>| {
        let written: Option<Moment> = json(row, 2)?;
        let is_newer = written.is_some_and(|written| written.age_days(&run.made_at) < 0.0);
        let mut content: Vec<u8> = row.get(1)?;
        content.truncate(if is_newer { 0 } else { KEPT });
        Ok(End { number: row.get(0)?, content })
    };
    conn.prepare_cached(sql)?.query_row([&name.source, &name.id], read).optional()
}

/// The score of a pair that is linked.
fn score_of(conn: &Connection, a: &End, b: &End) -> rusqlite::Result<Option<f64>> {
    let sql = "SELECT score FROM edges WHERE a = ?1 AND b = ?2 ORDER BY run DESC LIMIT 1";
    conn.prepare_cached(sql)?.query_row([a.number, b.number], |row| row.get(0)).optional()
}

/// How many pairs of these sources earlier runs have linked, and this one has not.
fn missed(conn: &Connection, run: i64, sources: &[String]) -> rusqlite::Result<u64> {
    let numbers: Vec<_> = numbered_sources(conn)?
        .into_iter()
        .filter(|source| sources.contains(&source.name))
        .map(|source| source.number.to_string())
        .collect();
    let among = numbers.join(",");
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM edges JOIN documents AS da ON da.number = edges.a
         JOIN documents AS db ON db.number = edges.b WHERE da.source IN ({among}) AND db.source IN ({among})
         GROUP BY edges.a, edges.b HAVING max(run) < ?1)"
    );
    conn.query_row(&sql, [run], |row| row.get::<_, Whole>(0)).map(|whole| whole.0)
}

/// Takes back what a run said; nothing when it was taken back before, or never said.
pub(in super::super) fn undo(conn: &Connection, id: &str, now: &Moment) -> rusqlite::Result<Option<Undone>> {
    let sql = "UPDATE link_runs SET undone_at = ?2 WHERE id = ?1 AND undone_at IS NULL RETURNING number";
    let number = conn.prepare_cached(sql)?.query_row([id, &to_json(now)?], |row| row.get::<_, i64>(0));
    let Some(number) = number.optional()? else { return Ok(None) };
    let sql = "SELECT count(*) FROM edges WHERE run = ?1 AND EXISTS
               (SELECT 1 FROM edges AS other WHERE other.a = edges.a AND other.b = edges.b AND other.run <> ?1)";
    let kept = conn.prepare_cached(sql)?.query_row([number], |row| row.get::<_, Whole>(0))?.0;
    let said = conn.prepare_cached("DELETE FROM edges WHERE run = ?1")?.execute([number])? as u64;
    Ok(Some(Undone { removed: said - kept, kept }))
}

/// Takes back everything that was said about a document.
pub(super) fn forget(conn: &Connection, document: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM edges WHERE a = ?1")?.execute([document])?;
    conn.prepare_cached("DELETE FROM edges WHERE b = ?1")?.execute([document])?;
    Ok(())
}

/// All runs, the one that was kept last first.
pub(in super::super) fn runs(conn: &Connection) -> rusqlite::Result<Vec<LinkRun>> {
    let format = format(conn)?;
    if format < super::LINKS_FROM {
        return Ok(Vec::new());
    }
    let readers = if format < super::READERS_FROM { "NULL, 1" } else { "reader, restricted" };
    let sql = format!(
        "SELECT id, made_at, settings, model, sources, documents, edges, undone_at, {readers}
         FROM link_runs ORDER BY number DESC"
    );
    conn.prepare_cached(&sql)?.query_map([], run_of)?.collect()
}

fn run_of(row: &Row<'_>) -> rusqlite::Result<LinkRun> {
    let count = |column| row.get::<_, Whole>(column).map(|whole| whole.0);
    Ok(LinkRun {
        id: row.get(0)?,
        made_at: json(row, 1)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?,
        settings: json::<LinkSettings>(row, 2)?.unwrap_or_default(),
        model: row.get(3)?,
        sources: json(row, 4)?.unwrap_or_default(),
        documents: count(5)?,
        edges: count(6)?,
        undone_at: json(row, 7)?,
        reader: row.get(8)?,
        restricted: row.get(9)?,
    })
}

/// The links that are asked for, best first.
pub(in super::super) fn links(conn: &Connection, query: &LinkQuery<'_>) -> rusqlite::Result<Vec<Link>> {
    if !has_links(conn)? {
        return Ok(Vec::new());
    }
    let mut question = Question::default();
    let from = match query.document {
        Some(name) => question.ends_of(name),
        None => "edges",
    };
    question.newest_or(query.run, query.among)?;
    question.passing(conn, query.filter)?;
    let conditions = question.conditions.join(" AND ");
    let sql = format!(
        "SELECT sa.name, da.id, sb.name, db.id, edges.score, edges.evidence, link_runs.id, link_runs.made_at,
             a_content <> substr(da.content, 1, {KEPT}) OR b_content <> substr(db.content, 1, {KEPT})
         FROM {from} JOIN link_runs ON link_runs.number = edges.run
         JOIN documents AS da ON da.number = edges.a JOIN sources AS sa ON sa.number = da.source
         JOIN documents AS db ON db.number = edges.b JOIN sources AS sb ON sb.number = db.source
         WHERE {conditions} ORDER BY edges.score DESC, sa.name, da.id, sb.name, db.id LIMIT ?"
    );
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    question.values.push(limit.into());
    conn.prepare_cached(&sql)?.query_map(params_from_iter(question.values), link_of)?.collect()
}

fn link_of(row: &Row<'_>) -> rusqlite::Result<Link> {
    let name = |first: usize| {
        Ok::<_, rusqlite::Error>(DocumentName { source: row.get(first)?, id: row.get(first + 1)? })
    };
    let missing = || rusqlite::Error::QueryReturnedNoRows;
    let evidence = json(row, 5)?.ok_or_else(missing)?;
    let edge = Edge { a: name(0)?, b: name(2)?, score: row.get(4)?, evidence };
    let made_at = json(row, 7)?.ok_or_else(missing)?;
    Ok(Link { edge, run: row.get(6)?, made_at, stale: row.get(8)? })
}

/// The conditions on a link, and the values in the order in which they stand in the question.
#[derive(Default)]
struct Question {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Question {
    /// The links of a document, from each of its sides by an index.
    fn ends_of(&mut self, name: &DocumentName) -> &'static str {
        for _ in 0..2 {
            self.values.extend([Value::from(name.source.clone()), name.id.clone().into()]);
        }
        "(SELECT * FROM edges WHERE a = (SELECT documents.number FROM documents
              JOIN sources ON sources.number = source WHERE sources.name = ? AND documents.id = ?)
          UNION ALL SELECT * FROM edges WHERE b = (SELECT documents.number FROM documents
              JOIN sources ON sources.number = source WHERE sources.name = ? AND documents.id = ?)) AS edges"
    }

    /// What a run says, or the newest that says anything about a pair, of those that count.
    fn newest_or(&mut self, run: Option<&str>, among: Option<&[String]>) -> rusqlite::Result<()> {
        let counts = |run: &str| {
            let numbers = "SELECT number FROM link_runs WHERE id IN (SELECT value FROM json_each(?))";
            among.map_or_else(String::new, |_| format!(" AND {run} IN ({numbers})"))
        };
        let condition = match run {
            Some(run) => {
                self.values.push(run.to_owned().into());
                format!("edges.run = (SELECT number FROM link_runs WHERE id = ?){}", counts("edges.run"))
            }
            None => format!(
                "edges.run = (SELECT max(run) FROM edges AS other
                              WHERE other.a = edges.a AND other.b = edges.b{})",
                counts("other.run")
            ),
        };
        if let Some(among) = among {
            self.values.push(to_json(&among)?.into());
        }
        self.conditions.push(condition);
        Ok(())
    }

    /// Both ends must be in sources that pass, and for this reader.
    fn passing(&mut self, conn: &Connection, filter: &Filter) -> rusqlite::Result<()> {
        if filter.scope.is_some() || filter.sources.is_some() || filter.kinds.is_some() {
            let sources = numbered_sources(conn)?;
            let passing = sources.iter().filter(|source| matching::passes(source, filter));
            let numbers: Vec<_> = passing.map(|source| source.number.to_string()).collect();
            let among = numbers.join(",");
            self.conditions.push(format!("da.source IN ({among}) AND db.source IN ({among})"));
        }
        for end in ["da", "db"] {
            if let Some(reader) = &filter.reader {
                self.values.push(reader.clone().into());
                self.conditions.push(format!(
                    "({end}.readers IS NULL OR EXISTS
                      (SELECT 1 FROM readers WHERE document = {end}.number AND reader = ?))"
                ));
            }
        }
        Ok(())
    }
}

/// The run of every link whose ends, or whose run, are not there as they should be.
pub(in super::super) fn dangling(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    if !has_links(conn)? {
        return Ok(Vec::new());
    }
    let sql = "SELECT coalesce(link_runs.id, 'unknown run ' || edges.run) FROM edges
               LEFT JOIN link_runs ON link_runs.number = edges.run
               WHERE link_runs.undone_at IS NOT NULL OR link_runs.number IS NULL
                  OR NOT EXISTS (SELECT 1 FROM documents WHERE number = edges.a)
                  OR NOT EXISTS (SELECT 1 FROM documents WHERE number = edges.b) ORDER BY edges.run";
    conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
