//! The indexes, against the truth.

use mainstem_core::ChunkId;
use rusqlite::Row;

use super::super::allowed::Scope;
use super::super::lexical::{Lexical, LexicalView};
use super::super::matrix::Matrix;
use super::super::snapshot::Snapshot;
use super::super::truth::fingerprint::from_bytes;
use super::super::truth::row::Whole;
use super::{Finding, REINDEX, Tally};
use crate::Error;
use crate::words;

/// Looks whether both indexes hold what the truth holds, and nothing else.
pub(super) fn examine(snapshot: &Snapshot, notes: &mut Vec<String>) -> Result<Vec<Finding>, Error> {
    if !snapshot.is_level() {
        // A write is under way, or was cut short: nothing is lost, and whoever writes next catches up.
        notes
            .push("the indexes are behind the documents, and so they were not compared with them".to_owned());
        return Ok(Vec::new());
    }
    let mut findings = files(snapshot)?;
    if findings.is_empty() {
        findings = lexical(snapshot)?;
    }
    findings.extend(matrix(snapshot)?);
    findings.extend(cards(snapshot, notes)?);
    Ok(findings)
}

/// The files of the lexical index, against the checksums that they end in.
fn files(snapshot: &Snapshot) -> Result<Vec<Finding>, Error> {
    let mut damaged = Tally::new();
    for file in snapshot.lexical().damaged_files()? {
        damaged.add(file.display());
    }
    let what = "of the lexical index are not what was written";
    Ok(damaged.finding(("file", "files"), what, REINDEX).into_iter().collect())
}

fn lexical(snapshot: &Snapshot) -> Result<Vec<Finding>, Error> {
    let view = snapshot.lexical();
    let mut missing = Tally::new();
    let mut there = 0;
    snapshot.each::<Lexical>(|row| {
        there += 1;
        let id = chunk_id(row)?;
        let text = row.get::<_, String>(4)?;
        if !has_words(view, id, &text)? {
            missing.add(id.0);
        }
        Ok(())
    })?;
    let surplus = surplus("lexical index", view.doc_count(), there);
    let missing = missing.finding(("chunk", "chunks"), "cannot be found by their words", REINDEX);
    Ok(missing.into_iter().chain(surplus).collect())
}

/// Whether a chunk is found by the first of its words; one without words is.
fn has_words(view: &LexicalView, id: ChunkId, text: &str) -> Result<bool, Error> {
    let Some(word) = words::tokens(text).into_iter().next() else { return Ok(true) };
    let score = view.scores((&text[word.start..word.end], &Scope::default()), &[id])?[0];
    Ok(score.is_some_and(|score| score > 0.0))
}

fn matrix(snapshot: &Snapshot) -> Result<Vec<Finding>, Error> {
    let view = snapshot.matrix();
    let (mut missing, mut changed) = (Tally::new(), Tally::new());
    let mut there = 0;
    snapshot.each::<Matrix>(|row| {
        there += 1;
        let (id, vector) = (chunk_id(row)?, from_bytes(&row.get::<_, Vec<u8>>(2)?));
        let (score, source) = (view.scores(&vector, &[id])?[0], row.get(1)?);
        if score.is_none() {
            missing.add(id.0);
        } else if !view.holds(id, source, &vector) {
            changed.add(id.0);
        }
        Ok(())
    })?;
    let surplus = surplus("vector matrix", view.len() as u64, there);
    let chunks = ("chunk", "chunks");
    let missing = missing.finding(chunks, "cannot be found by their vectors", REINDEX);
    let changed = changed.finding(chunks, "have other vectors in the vector matrix", REINDEX);
    Ok(missing.into_iter().chain(changed).chain(surplus).collect())
}

/// A card that is missing does no harm, and one that is damaged only costs time; but somebody changed the file.
fn cards(snapshot: &Snapshot, notes: &mut Vec<String>) -> Result<Option<Finding>, Error> {
    let files = snapshot.cards();
    let (mut damaged, mut missing) = (Tally::new(), Tally::new());
    snapshot.each::<Lexical>(|row| {
        let id = chunk_id(row)?;
        if !files.as_ref().is_some_and(|files| files.has(id)) {
            missing.add(id.0);
        } else if files.as_ref().is_some_and(|files| files.is_damaged(id)) {
            damaged.add(id.0);
        }
        Ok(())
    })?;
    // Cards are written last of all, so a process that is killed leaves some out.
    let slow = "without a card, read from the documents, which takes longer";
    let missing = missing.finding(("chunk", "chunks"), slow, REINDEX);
    notes.extend(missing.map(|missing| format!("{}; {}", missing.what, missing.fix)));
    Ok(damaged.finding(("chunk", "chunks"), "with cards that are not what was written", REINDEX))
}

fn surplus(index: &str, held: u64, expected: u64) -> Option<Finding> {
    let what = format!("the {index} holds {held} chunks, expected {expected}");
    (held != expected).then(|| Finding { what, fix: REINDEX.to_owned() })
}

fn chunk_id(row: &Row<'_>) -> rusqlite::Result<ChunkId> {
    row.get::<_, Whole>(0).map(|whole| ChunkId(whole.0))
}
