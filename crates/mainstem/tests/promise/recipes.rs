//! The sample sources of `recipes/`, with their vectors and judged questions.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use mainstem::ingest::npy::Rows;
use mainstem::ingest::{Ingest, Jsonl};
use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Embedded, Embedder, ModelCard};
use mainstem_eval::QrelsBuilder;
use mainstem_eval::format::{Lines, QrelsReader};
use serde_json::Value;

use super::dice::unit;
use super::judged::{Judged, Question};
use super::stored::Stored;

/// Each recipe with its sources and their kinds.
pub(crate) const RECIPES: [(&str, &[(&str, &str)]); 5] = [
    ("code-review", &[("code", "code"), ("reviews", "reviews"), ("wiki", "wiki")]),
    ("agent-memory", &[("facts", "memory"), ("episodes", "memory"), ("documents", "docs")]),
    ("desktop", &[("slack", "slack"), ("notion", "notion"), ("linear", "linear"), ("gmail", "gmail")]),
    ("docs-team", &[("guides", "docs"), ("api", "docs"), ("changelog", "docs"), ("faq", "docs")]),
    ("chess-tutor", &[("books", "books"), ("games", "games")]),
];

/// Every source: recipe, name, kind.
pub(crate) fn sources() -> Vec<(&'static str, &'static str, &'static str)> {
    let of = |(recipe, sources): &(&'static str, &'static [(&'static str, &'static str)])| {
        let recipe = *recipe;
        sources.iter().map(move |(source, kind)| (recipe, *source, *kind))
    };
    RECIPES.iter().flat_map(of).collect()
}

pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes").join(name)
}

/// The vectors of all texts, by the FNV-1a hash of the text.
pub(crate) struct Vectors {
    card: ModelCard,
    rows: HashMap<u64, Vec<f32>>,
}

impl Vectors {
    pub(crate) fn read() -> Self {
        let mut reader = Rows::open(&path("vectors.f16.npy")).unwrap();
        let card = ModelCard { name: "all-MiniLM-L6-v2".into(), dim: reader.dim(), max_tokens: 256 };
        let names = fs::read_to_string(path("vectors.tsv")).unwrap();
        let hash = |line: &str| u64::from_str_radix(line.split('\t').next().unwrap(), 16).unwrap();
        let rows = names.lines().map(|line| (hash(line), unit(reader.next_row().unwrap().unwrap())));
        Self { card, rows: rows.collect() }
    }

    fn of(&self, text: &str) -> Vec<f32> {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
        self.rows.get(&hash).unwrap_or_else(|| panic!("no vector of `{text}`")).clone()
    }
}

impl Embedder for Vectors {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn embed(&self, texts: &[&str], _: &Ctx) -> Result<Vec<Embedded>, Failure> {
        Ok(texts.iter().map(|text| Embedded { vector: self.of(text), cut: false }).collect())
    }
}

/// These sources of the recipes, ingested in this order.
pub(crate) fn stored(sources: &[(&str, &str, &str)], vectors: &Vectors) -> Stored {
    let stored = Stored::empty(&vectors.card);
    for (recipe, source, kind) in sources {
        let mut connector = Jsonl::open(&path(&format!("{recipe}/{source}.jsonl"))).unwrap();
        let mut ingest = Ingest::new(source, stored.store.as_ref());
        ingest.embedder = Some(vectors);
        ingest.strict = true;
        ingest.run(&mut connector, &mut |_| ()).unwrap();
        stored.store.set_source(source, kind).unwrap();
    }
    stored
}

/// All judged questions.
pub(crate) fn judged(vectors: &Vectors) -> Judged {
    let (mut questions, mut qrels) = (Vec::new(), QrelsBuilder::default());
    for (recipe, _) in RECIPES {
        let lines = fs::read_to_string(path(&format!("{recipe}/queries.jsonl"))).unwrap();
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let (id, text) = (line["_id"].as_str().unwrap(), line["text"].as_str().unwrap().to_owned());
            let vector = vectors.of(&text);
            questions.push(Question { id: format!("{recipe}/{id}"), text, vector, own: None });
        }
        let file = path(&format!("{recipe}/qrels.tsv"));
        let mut reader = QrelsReader::new(Lines::open(file.to_str().unwrap()).unwrap());
        while let Some(record) = reader.next_record().unwrap() {
            qrels.judge(&format!("{recipe}/{}", record.query), record.doc, record.relevance);
        }
    }
    assert_eq!(questions.len(), 50);
    Judged { questions, qrels: qrels.finish() }
}
