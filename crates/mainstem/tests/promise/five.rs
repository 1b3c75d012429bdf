//! Five judged collections with ready vectors, where they are at hand: each is a source of one store.

use std::fs;
use std::path::{Path, PathBuf};

use mainstem::ingest::npy::Rows;
use mainstem::ingest::{Beir, Ingest};
use mainstem_core::contract::ModelCard;
use mainstem_eval::QrelsBuilder;
use mainstem_eval::format::{Lines, QrelsReader};
use serde_json::Value;

use super::judged::{Judged, Question};
use super::stored::Stored;

pub(crate) const FIVE: [&str; 5] = ["scifact", "nfcorpus", "cranfield", "cisi", "med"];

/// The length of the vectors.
pub(crate) const DIM: usize = 384;

/// The folder of the collections; none where they are not at hand.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    FIVE.iter().all(|name| folder.join(name).is_dir()).then_some(folder)
}

/// All collections in one store.
pub(crate) fn stored(folder: &Path) -> Stored {
    stored_of(folder, &FIVE)
}

/// Some collections in one store.
pub(crate) fn stored_of(folder: &Path, names: &[&str]) -> Stored {
    let stored = Stored::empty(&ModelCard { name: "all-MiniLM-L6-v2".into(), dim: DIM, max_tokens: 256 });
    for name in names {
        let folder = folder.join(name);
        let mut connector = Beir::open(&folder, Some(&folder.join("corpus.minilm.f16.npy"))).unwrap();
        Ingest::new(name, stored.store.as_ref()).run(&mut connector, &mut |_| ()).unwrap();
    }
    stored
}

/// Every so-manieth question of each collection.
pub(crate) fn judged(folder: &Path, step: usize) -> Judged {
    judged_of(folder, &FIVE, step)
}

/// Every so-manieth question of some collections.
pub(crate) fn judged_of(folder: &Path, names: &[&str], step: usize) -> Judged {
    let (mut questions, mut qrels) = (Vec::new(), QrelsBuilder::default());
    for name in names {
        let first = questions.len();
        questions.extend(of_collection(&folder.join(name), name).into_iter().step_by(step));
        let file = folder.join(name).join("qrels/test.tsv");
        let mut reader = QrelsReader::new(Lines::open(file.to_str().unwrap()).unwrap());
        while let Some(record) = reader.next_record().unwrap() {
            let id = format!("{name}/{}", record.query);
            if questions[first..].iter().any(|question| question.id == id) {
                qrels.judge(&id, &format!("{name}/{}", record.doc), record.relevance);
            }
        }
    }
    Judged { questions, qrels: qrels.finish() }
}

fn of_collection(folder: &Path, name: &str) -> Vec<Question> {
    let mut vectors = Rows::open(&folder.join("queries.minilm.f16.npy")).unwrap();
    let lines = fs::read_to_string(folder.join("queries.jsonl")).unwrap();
    let question = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        let vector = vectors.next_row().unwrap().unwrap();
        Question {
            id: format!("{name}/{}", text("_id")),
            text: text("text"),
            vector,
            own: Some(name.to_owned()),
        }
    };
    lines.lines().map(question).collect()
}
