//! The cross-encoder against transformers. `cross_encoder.py` made the expected numbers; the weights are made here by its formula.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mainstem::rerank::CrossEncoder;
use mainstem_core::contract::{Ctx, Reranker as _};
use mainstem_core::time::Moment;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Expected {
    config: Map<String, Value>,
    vocabulary: Vec<String>,
    one: Vec<Pair>,
    two: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    query: String,
    text: String,
    ids: Vec<u32>,
    second: usize,
    logits: Vec<f64>,
}

fn expected() -> Expected {
    serde_json::from_str(include_str!("cross_encoder.json")).unwrap()
}

/// The elements of a tensor, as the script makes them.
fn numbers(name: &str, count: usize) -> Vec<f32> {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let mut state = name.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 41) as f64 / f64::from(1 << 22) - 1.0) / 4.0
    };
    let base = if name.contains("LayerNorm.weight") { 1.0 } else { 0.0 };
    std::iter::repeat_with(next).take(count).map(|x| (base + x) as f32).collect()
}

/// The names and shapes of a BERT that classifies.
fn tensors(config: &Map<String, Value>, labels: usize) -> Vec<(String, Vec<usize>)> {
    let size = |name: &str| config[name].as_u64().unwrap() as usize;
    let (hidden, inner) = (size("hidden_size"), size("intermediate_size"));
    let mut all = vec![
        ("bert.embeddings.word_embeddings.weight".to_owned(), vec![size("vocab_size"), hidden]),
        (
            "bert.embeddings.position_embeddings.weight".to_owned(),
            vec![size("max_position_embeddings"), hidden],
        ),
        ("bert.embeddings.token_type_embeddings.weight".to_owned(), vec![2, hidden]),
    ];
    let mut norm = |name: String| {
        all.push((format!("{name}.weight"), vec![hidden]));
        all.push((format!("{name}.bias"), vec![hidden]));
    };
    norm("bert.embeddings.LayerNorm".to_owned());
    let layers: Vec<String> =
        (0..size("num_hidden_layers")).map(|layer| format!("bert.encoder.layer.{layer}")).collect();
    for layer in &layers {
        norm(format!("{layer}.attention.output.LayerNorm"));
        norm(format!("{layer}.output.LayerNorm"));
    }
    let mut linear = |name: String, outputs: usize, inputs: usize| {
        all.push((format!("{name}.weight"), vec![outputs, inputs]));
        all.push((format!("{name}.bias"), vec![outputs]));
    };
    for layer in &layers {
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            linear(format!("{layer}.attention.{part}"), hidden, hidden);
        }
        linear(format!("{layer}.intermediate.dense"), inner, hidden);
        linear(format!("{layer}.output.dense"), hidden, inner);
    }
    linear("bert.pooler.dense".to_owned(), hidden, hidden);
    linear("classifier".to_owned(), labels, hidden);
    all
}

/// Writes the files of a cross-encoder.
fn write(folder: &Path, expected: &Expected, labels: usize) {
    let mut config = expected.config.clone();
    let names: Map<String, Value> =
        (0..labels).map(|at| (at.to_string(), format!("LABEL_{at}").into())).collect();
    config.insert("id2label".into(), Value::Object(names));
    fs::write(folder.join("config.json"), Value::Object(config).to_string()).unwrap();
    let mut vocabulary = String::new();
    expected.vocabulary.iter().for_each(|token| writeln!(vocabulary, "{token}").unwrap());
    fs::write(folder.join("vocab.txt"), vocabulary).unwrap();
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, shape) in tensors(&expected.config, labels) {
        let from = data.len();
        data.extend(numbers(&name, shape.iter().product()).iter().flat_map(|x| x.to_le_bytes()));
        header.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": [from, data.len()]}));
    }
    let header = Value::Object(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    fs::write(folder.join("model.safetensors"), [&length[..], header.as_bytes(), &data].concat()).unwrap();
}

fn ctx() -> Ctx {
    Ctx::unhurried(Moment::now())
}

#[test]
fn tokens_and_logits_are_those_of_transformers() {
    let expected = expected();
    for (labels, pairs) in [(1, &expected.one), (2, &expected.two)] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &expected, labels);
        let model = CrossEncoder::load(folder.path()).unwrap();
        for pair in pairs {
            assert_eq!(
                model.tokens(&pair.query, &pair.text),
                (pair.ids.clone(), pair.second),
                "{}",
                pair.text
            );
            let logits = model.logits(&pair.query, &[&pair.text], &ctx()).unwrap().remove(0);
            assert_eq!(logits.len(), labels);
            for (ours, theirs) in logits.iter().zip(&pair.logits) {
                assert!((ours - theirs).abs() < 2e-5, "{}: {ours} is not {theirs}", pair.text);
            }
        }
    }
}

#[test]
fn scores_are_probabilities_and_the_same_in_any_company() {
    let expected = expected();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &expected, 1);
    let model = CrossEncoder::load(folder.path()).unwrap();
    let texts: Vec<&str> = expected.one.iter().map(|pair| pair.text.as_str()).collect();
    let together = model.rerank("what is a fork?", &texts, &ctx()).unwrap();
    for (text, score) in texts.iter().zip(&together) {
        assert!((0.0..=1.0).contains(score));
        assert_eq!(model.rerank("what is a fork?", &[text], &ctx()).unwrap(), [*score]);
    }
    let first = &expected.one[0];
    let probability = 1.0 / (1.0 + (-first.logits[0]).exp());
    assert!((together[0] - probability).abs() < 1e-5);
}

#[test]
fn a_folder_of_another_kind_is_refused_by_name() {
    let expected = expected();
    let refused = |name: &str, value: Value| {
        let folder = tempfile::tempdir().unwrap();
        let mut other = Expected { config: expected.config.clone(), ..self::expected() };
        write(folder.path(), &other, 1);
        other.config.insert(name.to_owned(), value);
        other.config.insert("id2label".to_owned(), json!({"0": "LABEL_0"}));
        fs::write(folder.path().join("config.json"), Value::Object(other.config).to_string()).unwrap();
        CrossEncoder::load(folder.path()).err().unwrap().to_string()
    };
    assert_eq!(
        refused("model_type", json!("roberta")),
        "expected `model_type` as `bert`, received `roberta`"
    );
    assert_eq!(refused("hidden_act", json!("relu")), "expected `hidden_act` as `gelu`, received `relu`");
    assert!(refused("hidden_size", json!(40)).starts_with("expected heads and inner vectors"));
    assert!(refused("vocab_size", json!(20)).starts_with("expected at most 20 lines"));
    assert!(refused("num_hidden_layers", json!(4)).starts_with("expected a tensor `bert.encoder.layer.3."));
    let empty = tempfile::tempdir().unwrap();
    assert!(CrossEncoder::load(empty.path()).is_err());
}
