//! The local model against the reference implementation.
//!
//! Runs where the model is in the folder of models, for vectors also only where the judged collections lie beside the workspace, and
//! says elsewhere that it is skipped. Every row of two collections is checked, with `MAINSTEM_PARITY=all` of all.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use half::f16;
use mainstem::models::cache::{Cache, State};
use mainstem::models::known;
use mainstem::models::minilm::MiniLm;
use mainstem_core::contract::{Ctx, Embedder as _};
use mainstem_core::time::Moment;

const LENGTH: usize = 384;

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

/// The worst cosine over the rows.
fn worst(model: &MiniLm, texts: &[String], expected: &[f32]) -> f64 {
    assert_eq!(texts.len() * LENGTH, expected.len());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let received = model.embed(&texts, &ctx()).unwrap();
    let cosines =
        received.iter().zip(expected.chunks_exact(LENGTH)).map(|(one, other)| cosine(&one.vector, other));
    cosines.fold(f64::INFINITY, f64::min)
}

/// Says that something is skipped, past the capture of the test program; fails where it must run.
fn skip(what: &str, why: &str) {
    let needed = std::env::var("MAINSTEM_TESTS_NEED").unwrap_or_default();
    assert!(!needed.split(',').any(|need| need == what), "{why}");
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

#[test]
fn vectors_are_those_of_the_reference() {
    let Some(model) = model() else { return };
    let all = std::env::var("MAINSTEM_PARITY").is_ok_and(|value| value == "all");
    for name in &["med", "cranfield", "cisi", "scifact", "nfcorpus"][..if all { 5 } else { 2 }] {
        let Some(folder) = folder(name) else {
            skip("collections", &format!("the collection `{name}` does not lie beside the workspace"));
            continue;
        };
        for part in ["corpus", "queries"] {
            let texts = texts(&folder.join(format!("{part}.jsonl")));
            let expected = vectors(&folder.join(format!("{part}.minilm.f16.npy")));
            let worst = worst(&model, &texts, &expected);
            eprintln!("{name} {part}: worst cosine of {} rows {worst:.6}", texts.len());
            assert!(worst >= 0.999, "{name} {part}: worst cosine {worst}");
        }
    }
}

/// Texts and what the reference makes of them: the Python package `tokenizers` 0.23.3 with the tokenizer file of the model.
const TOKENS: [(&str, &[u32]); 20] = [
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
    (
        "서울의 기차는 KTX입니다!",
        &[
            101, 1461, 30008, 29999, 30014, 30022, 29999, 30018, 1455, 30019, 30001, 30006, 29992, 30017,
            30021, 1047, 2102, 2595, 29999, 30019, 30024, 29992, 30019, 29993, 30006, 999, 102,
        ],
    ),
    // Taken apart already.
    (
        "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}",
        &[101, 1469, 30006, 30021, 29991, 30014, 30020, 102],
    ),
    ("cafe\u{301} e\u{301}te\u{301}", &[101, 7668, 3802, 2063, 102]),
    ("東京タワー・ラーメン", &[101, 1879, 1755, 1709, 30262, 30265, 1738, 1731, 30265, 30252, 30263, 102]),
    ("\u{ff76}\u{ff9e} 𠀀𪜀 〇々", &[101, 100, 100, 100, 100, 102]),
    ("👨\u{200d}👩\u{200d}👧 🇰🇷 ok", &[101, 100, 100, 7929, 102]),
    (
        "ΟΔΥΣΣΕΥΣ ﬁne İzmir ẞ",
        &[
            101, 1169, 29722, 29735, 29733, 29733, 29723, 29735, 29733, 1984, 2638, 1045, 2480, 14503, 1096,
            102,
        ],
    ),
    ("สวัสดี مرحبا שָׁלוֹם", &[101, 100, 1295, 17149, 29820, 29816, 25573, 1266, 29799, 29792, 29800, 102]),
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
        skip("model", &format!("`{}` has not been pulled into `{}`", known.name, cache.root().display()));
        return None;
    }
    Some(MiniLm::load(&cache.folder(known)).unwrap())
}
