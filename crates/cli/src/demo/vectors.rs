//! The vectors of the samples, so that the demo searches by meaning where no model is.
//!
//! `recipes/vectors.f16.npy` has one row for each text: the chunks of all sources as a model reads them, then the judged questions.
//! `recipes/vectors.tsv` says which: the FNV-1a hash of the text, and its name for people. Both come from
//! `UPDATE_VECTORS=1 cargo test --release -p mainstem-cli vectors`, which needs the model.

use std::collections::HashMap;

use mainstem::ingest::npy::Rows;
use mainstem::models::known;
use mainstem_core::contract::{Ctx, Embedded, Embedder, ModelCard};
use mainstem_core::{Error, Failure};

const ROWS: &[u8] = include_bytes!("../../../../recipes/vectors.f16.npy");
const NAMES: &str = include_str!("../../../../recipes/vectors.tsv");

/// A model that knows the texts of the samples, and no others.
pub(super) struct Sampled {
    card: ModelCard,
    rows: HashMap<u64, Vec<f32>>,
}

/// The card of the model that made the vectors.
pub(super) fn card() -> ModelCard {
    let model = &known::ALL[0];
    ModelCard { name: model.name.to_owned(), dim: model.dim, max_tokens: model.max_tokens }
}

impl Sampled {
    /// Reads the vectors.
    pub(super) fn new() -> Result<Self, Failure> {
        let failure = |error: mainstem::Error| Box::new(error) as Failure;
        let length = Some(ROWS.len() as u64);
        let mut reader = Rows::new(ROWS, "vectors.f16.npy".to_owned(), length).map_err(failure)?;
        let mut rows = HashMap::new();
        for line in NAMES.lines() {
            let hash = line.split('\t').next().and_then(|hash| u64::from_str_radix(hash, 16).ok());
            let row = reader.next_row().map_err(failure)?;
            rows.extend(hash.zip(row.map(unit)));
        }
        Ok(Self { card: card(), rows })
    }

    /// The vector of a text that it knows.
    pub(super) fn vector(&self, text: &str) -> Option<Vec<f32>> {
        self.rows.get(&hash(text)).cloned()
    }
}

impl Embedder for Sampled {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn embed(&self, texts: &[&str], _: &Ctx) -> Result<Vec<Embedded>, Failure> {
        let of = |text: &&str| {
            self.vector(text).map(|vector| Embedded { vector, cut: false }).ok_or_else(|| stale(text))
        };
        texts.iter().map(of).collect()
    }
}

fn stale(text: &str) -> Failure {
    let start: String = text.chars().take(40).collect();
    Box::new(Error::Missing {
        what: format!("the vector of the sample `{start}…`"),
        why: "the sample or the chunker has changed since the vectors were made".into(),
        hint: "`UPDATE_VECTORS=1 cargo test --release -p mainstem-cli vectors` makes them anew".into(),
    })
}

/// Half precision bends the length a little.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= length;
    }
    vector
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    use half::f16;
    use mainstem::models;
    use mainstem_core::time::Moment;

    use super::super::samples::RECIPES;
    use super::super::store::DemoStore;
    use super::*;

    /// Takes down what it is asked for.
    struct Recorder {
        card: ModelCard,
        texts: Mutex<Vec<String>>,
    }

    impl Embedder for Recorder {
        fn card(&self) -> &ModelCard {
            &self.card
        }

        fn embed(&self, texts: &[&str], _: &Ctx) -> Result<Vec<Embedded>, Failure> {
            self.texts.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
            let mut vector = vec![0.0; self.card.dim];
            vector[0] = 1.0;
            Ok(texts.iter().map(|_| Embedded { vector: vector.clone(), cut: false }).collect())
        }
    }

    /// Everything that the demo wants vectors of: what is read of the chunks, then the questions.
    fn texts() -> Vec<String> {
        let recorder = Recorder { card: card(), texts: Mutex::default() };
        let store = DemoStore::temporary().unwrap();
        store.fill(Some(&recorder), &mut |_| ()).unwrap();
        let mut texts = recorder.texts.into_inner().unwrap();
        for recipe in &RECIPES {
            texts.extend(recipe.queries().unwrap().into_iter().map(|query| query.text));
        }
        texts
    }

    fn path(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes").join(name)
    }

    /// A `.npy` file of version 1.
    fn npy(rows: &[Vec<f32>]) -> Vec<u8> {
        let shape = format!("({}, {})", rows.len(), card().dim);
        let header = format!("{{'descr': '<f2', 'fortran_order': False, 'shape': {shape}, }}");
        let header = format!("{header:<117}\n");
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.bytes());
        out.extend(rows.iter().flatten().flat_map(|value| f16::from_f32(*value).to_le_bytes()));
        out
    }

    #[test]
    fn every_text_has_its_vector_and_no_other() {
        let texts = texts();
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            let model = models::local(&card().name).unwrap().expect("`mainstem model pull` gets the model");
            let ctx = Ctx::unhurried(Moment::now());
            let row = |text: &String| model.embed(&[text], &ctx).unwrap().remove(0).vector;
            std::fs::write(path("vectors.f16.npy"), npy(&texts.iter().map(row).collect::<Vec<_>>())).unwrap();
            let mut names = String::new();
            for text in &texts {
                let start: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let _ =
                    writeln!(names, "{:016x}\t{}", hash(text), start.chars().take(60).collect::<String>());
            }
            std::fs::write(path("vectors.tsv"), names).unwrap();
            return;
        }
        let hashes: Vec<_> = texts.iter().map(|text| format!("{:016x}", hash(text))).collect();
        let kept: Vec<_> = NAMES.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(
            kept, hashes,
            "the vectors are stale: `UPDATE_VECTORS=1 cargo test --release -p mainstem-cli vectors` makes them anew"
        );
        let rows = Rows::new(ROWS, "vectors.f16.npy".to_owned(), Some(ROWS.len() as u64)).unwrap();
        assert_eq!((rows.rows(), rows.dim()), (texts.len() as u64, card().dim));
    }

    #[test]
    fn they_are_those_of_the_model() {
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            return;
        }
        let Some(model) = models::local(&card().name).ok().flatten() else {
            eprintln!("skipped: the model is not here; `mainstem model pull` gets it");
            return;
        };
        let sampled = Sampled::new().unwrap();
        let ctx = Ctx::unhurried(Moment::now());
        let texts = texts();
        // A debug build is hundreds of times slower.
        let step = if cfg!(debug_assertions) { texts.len() / 3 } else { 1 };
        for text in texts.iter().rev().step_by(step) {
            let [kept, made] = [&sampled as &dyn Embedder, model.as_ref()]
                .map(|model| model.embed(&[text], &ctx).unwrap().remove(0).vector);
            let cosine: f32 = kept.iter().zip(&made).map(|(a, b)| a * b).sum();
            assert!(cosine >= 0.999, "{cosine}: {text}");
        }
    }

    #[test]
    fn a_text_that_is_not_a_sample_is_refused_with_a_hint() {
        let refused = Sampled::new().unwrap().embed(&["nobody said this"], &Ctx::unhurried(Moment::now()));
        let error = refused.unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("UPDATE_VECTORS")), "{error}");
    }
}
