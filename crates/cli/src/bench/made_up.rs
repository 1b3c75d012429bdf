//! A store of made-up texts and vectors.

use std::path::Path;
use std::time::Instant;

use indicatif::ProgressBar;
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::{Change, ModelCard};
use mainstem_core::{Chunk, Document, Failure};

use super::Ingested;

/// The length of the vectors: that of the default model's.
const DIM: usize = 384;
/// Documents of one write.
const BATCH: u32 = 10_000;
/// How many different words there are, and how many a text has.
const VOCABULARY: f64 = 50_000.0;
const WORDS: u64 = 90;

/// A sequence that is random enough to make texts of (Marsaglia's xorshift, 2003), and the same every time.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word: the n-th most frequent one is about n times as rare as the first (Zipf).
    fn word(&mut self) -> String {
        let rank = VOCABULARY.powf(self.share()) as u64;
        let mut letters = String::new();
        let mut rest = rank.wrapping_mul(0x9e37_79b9);
        for _ in 0..3 {
            letters.push(char::from(b"bdfgklmnprstvz"[(rest % 14) as usize]));
            letters.push(char::from(b"aeiou"[(rest / 14 % 5) as usize]));
            rest /= 70;
        }
        letters
    }

    fn text(&mut self) -> String {
        let words = WORDS / 2 + self.next() % WORDS;
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// A vector near one of some centres, as texts about the same are.
    fn vector(&mut self, centres: &[Vec<f32>]) -> Vec<f32> {
        let centre = &centres[self.next() as usize % centres.len()];
        centre.iter().map(|value| value + self.share() as f32 - 0.5).collect()
    }
}

/// Fills a new store.
pub(super) fn fill(folder: &Path, chunks: u32) -> Result<Ingested, Failure> {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let nowhere = [vec![0.0; DIM]];
    let centres: Vec<Vec<f32>> = (0..200).map(|_| noise.vector(&nowhere)).collect();
    let store = EmbeddedStore::init(folder)?;
    store.set_model(&ModelCard { name: "made-up".into(), dim: DIM, max_tokens: 256 })?;
    let bar = ProgressBar::new(chunks.into());
    let mut spent = std::time::Duration::ZERO;
    for first in (0..chunks).step_by(BATCH as usize) {
        let numbers = first..chunks.min(first + BATCH);
        let changes: Vec<_> =
            numbers.map(|number| Change::Put(document(number, &mut noise, &centres))).collect();
        let start = Instant::now();
        store.write(&changes)?;
        spent += start.elapsed();
        bar.set_position((first + BATCH).min(chunks).into());
    }
    let start = Instant::now();
    drop(store);
    spent += start.elapsed();
    bar.finish_and_clear();
    let seconds = spent.as_secs_f64();
    Ok(Ingested { seconds, chunks_per_second: f64::from(chunks) / seconds.max(1e-9) })
}

fn document(number: u32, noise: &mut Noise, centres: &[Vec<f32>]) -> Document {
    let (text, vector) = (noise.text(), noise.vector(centres));
    let chunk = Chunk { span: 0..text.len(), text: text.clone(), vector: Some(vector), ..Chunk::default() };
    Document {
        source: "made-up".into(),
        id: number.to_string(),
        text,
        chunks: vec![chunk],
        ..Document::default()
    }
}
