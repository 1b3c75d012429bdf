//! The truth, by itself.

use rusqlite::{Connection, Row};

use super::super::truth::fingerprint::ContentHash;
use super::super::truth::links;
use super::super::truth::read;
use super::super::truth::row::Whole;
use super::{Finding, Report, Tally};

const RESTORE: &str = "restore the folder from a backup, or ingest the sources again into a new store";

/// The pages of the file.
pub(super) fn file(conn: &Connection, _: &mut Report) -> rusqlite::Result<Vec<Finding>> {
    let mut statement = conn.prepare("PRAGMA integrity_check(5)")?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let wrong = lines.into_iter().filter(|line| line != "ok");
    let finding = |line: String| {
        let what = format!("the file of the store is damaged: {}", line.trim().replace('\n', "; "));
        Finding { what, fix: RESTORE.to_owned() }
    };
    Ok(wrong.map(finding).collect())
}

/// Rows that belong to others which are not there. Links have a check of their own.
pub(super) fn references(conn: &Connection, _: &mut Report) -> rusqlite::Result<Vec<Finding>> {
    let mut orphans = Tally::new();
    let mut statement = conn.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let table: String = row.get(0)?;
        if table != links::TABLE {
            orphans.add(format!("{table} {}", row.get::<_, Option<i64>>(1)?.unwrap_or(0)));
        }
    }
    let finding = orphans.finding(("row", "rows"), "belong to something that is gone", RESTORE);
    Ok(finding.into_iter().collect())
}

/// Links of documents, or of runs, that are not there; by the names of their runs where those are known.
pub(super) fn links(conn: &Connection, _: &mut Report) -> rusqlite::Result<Vec<Finding>> {
    let mut dangling = Tally::new();
    for run in links::dangling(conn)? {
        dangling.add(run);
    }
    let fix = "take back what the run said with `mainstem link undo`, and link again";
    let what = "are of documents or runs that are gone";
    Ok(dangling.finding(("link", "links"), what, fix).into_iter().collect())
}

/// Every document against the hash it was written with.
pub(super) fn documents(conn: &Connection, report: &mut Report) -> rusqlite::Result<Vec<Finding>> {
    let (mut changed, mut unreadable) = (Tally::new(), Tally::new());
    let mut statement = conn.prepare("SELECT number, content, hash FROM documents ORDER BY number")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number = row.get(0)?;
        let (content, hash) = (row.get::<_, [u8; 32]>(1)?, row.get::<_, [u8; 32]>(2)?);
        report.documents += 1;
        match read::numbered_document(conn, number) {
            Ok(document) => {
                let now = ContentHash::of(&document);
                if (now.0, now.with_vectors(&document)) != (content, hash) {
                    changed.add(format!("{}/{}", document.source, document.id));
                }
            }
            Err(error) => unreadable.add(format!("number {number}: {error}")),
        }
    }
    let fix = "remove them, and ingest their source again";
    let things = ("document", "documents");
    let changed = changed.finding(things, "are not what was written", fix);
    Ok(changed.into_iter().chain(unreadable.finding(things, "cannot be read", fix)).collect())
}

/// What the sources count against what is there.
pub(super) fn counts(conn: &Connection, report: &mut Report) -> rusqlite::Result<Vec<Finding>> {
    let sql = "SELECT name, sources.documents, sources.chunks, sources.vectors,
                   (SELECT count(*) FROM documents WHERE source = sources.number),
                   (SELECT count(*) FROM chunks JOIN documents ON documents.number = chunks.document
                    WHERE source = sources.number),
                   (SELECT count(*) FROM vectors JOIN chunks ON chunks.id = vectors.chunk
                    JOIN documents ON documents.number = chunks.document WHERE source = sources.number)
               FROM sources ORDER BY name";
    let mut wrong = Tally::new();
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (said, there) = (three(row, 1)?, three(row, 4)?);
        report.chunks += there[1];
        report.vectors += there[2];
        if said != there {
            wrong.add(row.get::<_, String>(0)?);
        }
    }
    let fix = "ingest the source again into a new store; searching is not affected";
    Ok(wrong.finding(("source", "sources"), "have other counts than documents", fix).into_iter().collect())
}

fn three(row: &Row<'_>, first: usize) -> rusqlite::Result<[u64; 3]> {
    let whole = |column| row.get::<_, Whole>(column).map(|whole| whole.0);
    Ok([whole(first)?, whole(first + 1)?, whole(first + 2)?])
}
