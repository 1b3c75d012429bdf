//! The local model against the reference implementation.
//!
//! Runs where the model is in the cache, for vectors also only where the judged collections lie beside the workspace, and skips with a
//! notice elsewhere. A debug build, which is hundreds of times slower, checks a few rows of two collections, a release build every row of them, and one with
//! `MAINSTEM_PARITY=all` every row of all.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use half::f16;
use mainstem::models::cache::{Cache, State};
use mainstem::models::known;
use mainstem::models::minilm::MiniLm;
use mainstem_core::contract::{Ctx, Embedder as _};
use mainstem_core::time::Moment;

const LENGTH: usize = 384;
/// Rows of a file that a debug build checks.
const SAMPLE: usize = 3;

fn folder(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    folder.is_dir().then_some(folder)
}

/// The texts of a file, as the reference read them: title and text with a space between.
fn texts(file: &Path) -> Vec<String> {
    let lines = fs::read_to_string(file).unwrap();
    let field = |value: &serde_json::Value, name| value[name].as_str().unwrap_or_default().to_owned();
    let join = |value: serde_json::Value| format!("{} {}", field(&value, "title"), field(&value, "text"));
    lines.lines().map(|line| join(serde_json::from_str(line).unwrap()).trim().to_owned()).collect()
}

/// The rows of a float16 `.npy` file of version 1.
fn vectors(file: &Path) -> Vec<f32> {
    let bytes = fs::read(file).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(String::from_utf8_lossy(&bytes[..header]).contains("<f2"));
    bytes[header..].as_chunks::<2>().0.iter().map(|pair| f16::from_le_bytes(*pair).to_f32()).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The rows to check: all, or the shortest where the build is slow.
fn rows(texts: &[String]) -> Vec<usize> {
    let mut rows: Vec<_> = (0..texts.len()).collect();
    if cfg!(debug_assertions) {
        rows.sort_by_key(|row| texts[*row].len());
        rows.truncate(SAMPLE);
    }
    rows
}

/// The worst cosine over the rows.
fn worst(model: &MiniLm, texts: &[String], expected: &[f32], rows: &[usize]) -> f64 {
    assert_eq!(texts.len() * LENGTH, expected.len());
    let chosen: Vec<&str> = rows.iter().map(|row| texts[*row].as_str()).collect();
    let received = model.embed(&chosen, &ctx()).unwrap();
    let expected = rows.iter().map(|row| &expected[row * LENGTH..][..LENGTH]);
    let cosines = received.iter().zip(expected).map(|(one, other)| cosine(&one.vector, other));
    cosines.fold(f64::INFINITY, f64::min)
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(model) = model() else { return };
    let all = std::env::var("MAINSTEM_PARITY").is_ok_and(|value| value == "all");
    for name in &["med", "cranfield", "cisi", "scifact", "nfcorpus"][..if all { 5 } else { 2 }] {
        let Some(folder) = folder(name) else {
            eprintln!("skipped: the collection `{name}` is not here");
            continue;
        };
        for part in ["corpus", "queries"] {
            let texts = texts(&folder.join(format!("{part}.jsonl")));
            let expected = vectors(&folder.join(format!("{part}.minilm.f16.npy")));
            let rows = rows(&texts);
            let worst = worst(&model, &texts, &expected, &rows);
            eprintln!("{name} {part}: worst cosine of {} rows {worst:.6}", rows.len());
            assert!(worst >= 0.999, "{name} {part}: worst cosine {worst}");
        }
    }
}

/// Texts and what the reference makes of them.
const TOKENS: [(&str, &[u32]); 12] = [
    ("Hello, World!", &[101, 7592, 1010, 2088, 999, 102]),
    ("Ångström naïve DÉJÀ-vu", &[101, 17076, 15687, 15743, 2139, 3900, 1011, 24728, 102]),
    ("我是中国人 test", &[101, 1855, 100, 1746, 1799, 1756, 3231, 102]),
    ("日本語のガギグ", &[101, 1864, 1876, 1950, 1671, 30226, 30227, 30228, 102]),
    (
        "한국어 문장",
        &[
            101, 1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 1459, 30014, 30021, 30000, 30006,
            30025, 102,
        ],
    ),
    ("don't—stop…", &[101, 2123, 1005, 1056, 1517, 2644, 1529, 102]),
    ("unaffable tokenizations", &[101, 14477, 20961, 3468, 19204, 22318, 102]),
    ("Übergrößenträger", &[101, 19169, 16523, 2080, 17499, 3372, 24449, 2099, 102]),
    (
        "x^2 + `y_i` ~ 3.14%",
        &[101, 1060, 1034, 1016, 1009, 1036, 1061, 1035, 1045, 1036, 1066, 1017, 1012, 2403, 1003, 102],
    ),
    ("emoji 😀 [MASK] [mask]", &[101, 7861, 29147, 2072, 100, 103, 1031, 7308, 1033, 102]),
    ("हिन्दी", &[101, 1339, 29877, 29863, 29861, 29878, 102]),
    ("a\u{200b}b\u{ad}c\u{3000}d", &[101, 5925, 1040, 102]),
];

#[test]
fn tokens_are_those_of_the_reference() {
    let Some(model) = model() else { return };
    for (text, expected) in TOKENS {
        assert_eq!(model.tokens(text), (expected.to_vec(), false), "{text}");
    }
    let long = "water ".repeat(300);
    let (ids, cut) = model.tokens(&long);
    assert_eq!((ids.len(), ids[255], cut), (256, 102, true));
}

#[test]
fn a_vector_does_not_depend_on_its_company_or_the_threads() {
    let Some(model) = model() else { return };
    let texts = [TOKENS[0].0, TOKENS[4].0, "", TOKENS[1].0];
    let alone: Vec<_> = texts.iter().flat_map(|text| model.embed(&[text], &ctx()).unwrap()).collect();
    assert_eq!(model.embed(&texts, &ctx()).unwrap(), alone);
    let model = model.with_threads(5);
    assert_eq!(model.embed(&texts, &ctx()).unwrap(), alone);
    assert!(model.embed(&[], &ctx()).unwrap().is_empty());
    let norm = |vector: &[f32]| vector.iter().map(|x| x * x).sum::<f32>();
    assert!(alone.iter().all(|one| one.vector.len() == LENGTH && (norm(&one.vector) - 1.0).abs() < 1e-5));
}

#[test]
fn a_deadline_that_is_over_is_an_error() {
    let Some(model) = model() else { return };
    let over = Ctx { deadline: Some(Instant::now()), now: Moment::now() };
    assert!(model.embed(&["a"], &over).unwrap_err().to_string().contains("in time"));
}

fn ctx() -> Ctx {
    Ctx::unhurried(Moment::now())
}

/// The model from the standard cache, if it has been pulled.
fn model() -> Option<MiniLm> {
    let (cache, known) = (Cache::standard().ok()?, &known::ALL[0]);
    if cache.state(known) != State::Present {
        eprintln!("skipped: `{}` is not in the cache; run `mainstem model pull`", known.name);
        return None;
    }
    Some(MiniLm::load(&cache.folder(known)).unwrap())
}
