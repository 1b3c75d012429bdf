//! How well words alone find what people judged relevant.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use mainstem_core::ChunkId;
use mainstem_eval::format::Lines;
use mainstem_eval::{Measure, Qrels, RunBuilder, Settings, evaluate};
use serde_json::Value;

use super::{Lexical, LexicalChunk};
use crate::store::embedded::allowed::Scope;

/// The folder of the judged collections, if this checkout has one beside it.
fn collections() -> Option<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above.map(|folder| folder.join("shared/data")).find(|folder| folder.is_dir())
}

fn rows(path: &Path) -> Vec<Value> {
    let lines = BufReader::new(File::open(path).unwrap()).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// The nDCG@10 of the words alone on one collection.
fn ndcg(collection: &Path) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let lexical = Lexical::open(folder.path()).unwrap();
    let mut writer = lexical.writer().unwrap();
    let documents = rows(&collection.join("corpus.jsonl"));
    for (id, row) in documents.iter().enumerate() {
        let chunk = LexicalChunk {
            id: ChunkId(id as u64),
            source: 0,
            title: text(row, "title"),
            text: text(row, "text"),
        };
        writer.put(chunk).unwrap();
    }
    writer.commit(1).unwrap();
    let view = lexical.view().unwrap();
    let qrels = collection.join("qrels/test.tsv");
    let qrels = Qrels::read(Lines::open(qrels.to_str().unwrap()).unwrap()).unwrap();
    let mut run = RunBuilder::default();
    for row in rows(&collection.join("queries.jsonl")).iter().filter(|row| qrels.contains(text(row, "_id"))) {
        for (_, found) in view.search((text(row, "text"), &Scope::default()), &[0], None, 10).unwrap() {
            for hit in found {
                run.push(text(row, "_id"), text(&documents[hit.chunk.0 as usize], "_id"), hit.score);
            }
        }
    }
    let measure = Measure::parse("nDCG@10").unwrap();
    evaluate(&qrels, &run.finish(), &[measure], &Settings::default()).mean("nDCG@10").unwrap()
}

/// Fails when words alone do worse than `least`.
fn demand(collection: &str, least: f64) {
    let Some(data) = collections() else {
        eprintln!("skipped: no judged collections beside this checkout");
        return;
    };
    let ndcg = ndcg(&data.join(collection));
    eprintln!("{collection}: nDCG@10 {ndcg:.4}");
    assert!(ndcg >= least, "{collection}: expected nDCG@10 of at least {least}, received {ndcg:.4}");
}

#[test]
fn scifact() {
    demand("scifact", 0.665);
}

#[test]
fn nfcorpus() {
    demand("nfcorpus", 0.315);
}
