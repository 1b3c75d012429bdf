//! What `mainstem tune` writes is what `search` and `eval` do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use std::fmt::Write as _;

use command::{Folder, stderr, stdout};
use serde_json::{Value, json};

/// A file of vectors as numpy writes it.
fn npy(rows: &[Vec<f32>]) -> Vec<u8> {
    let shape = format!("({}, {})", rows.len(), rows[0].len());
    let mut head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    head.push_str(&" ".repeat((64 - (head.len() + 11) % 64) % 64));
    head.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend(u16::try_from(head.len()).unwrap().to_le_bytes());
    out.extend(head.as_bytes());
    out.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    out
}

/// Documents with vectors, and one query for each few of them.
#[derive(Default)]
struct Set {
    corpus: String,
    queries: String,
    qrels: String,
    vectors: [Vec<Vec<f32>>; 2],
}

impl Set {
    fn document(&mut self, id: &str, text: &str, vector: Vec<f32>) {
        writeln!(self.corpus, "{}", json!({"_id": id, "text": text})).unwrap();
        self.vectors[0].push(vector);
    }

    fn query(&mut self, id: usize, text: &str, relevant: &str, vector: Vec<f32>) {
        writeln!(self.queries, "{}", json!({"_id": format!("q{id}"), "text": text})).unwrap();
        writeln!(self.qrels, "q{id}\t{relevant}\t1").unwrap();
        self.vectors[1].push(vector);
    }

    /// Ingests the documents into a store `s` as the source `notes`.
    fn stored(self, test: &str) -> Folder {
        let folder = Folder::new(test);
        std::fs::create_dir_all(folder.0.join("set")).unwrap();
        folder.file("set/corpus.jsonl", self.corpus).file("q.jsonl", self.queries);
        folder.file("qrels.tsv", format!("query-id\tcorpus-id\tscore\n{}", self.qrels));
        folder.file("corpus.npy", npy(&self.vectors[0])).file("q.npy", npy(&self.vectors[1]));
        folder.stdout("--store s ingest set --source notes --kind beir --vectors corpus.npy");
        folder
    }
}

const JUDGED: &str = "--queries q.jsonl --query-vectors q.npy --qrels qrels.tsv --judged-source notes";

/// Numbers by chance, the same in every run.
fn noise(seed: &mut u64) -> f32 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn ndcg(folder: &Folder, arguments: &str) -> f64 {
    let text = folder.stdout(&format!("--store s eval {JUDGED} -m nDCG@10 --json {arguments}"));
    serde_json::from_str::<Value>(&text).unwrap()["measures"]["nDCG@10"].as_f64().unwrap()
}

/// Sixty documents; the words of a query are those of the right one, its vector lies near a wrong one.
fn misleading() -> Set {
    let (mut set, mut seed) = (Set::default(), 7);
    let mut vectors = Vec::new();
    let word = |at: u8| format!("zu{}{}k", char::from(b'a' + at / 8), char::from(b'a' + at % 8));
    for at in 0..60 {
        let vector: Vec<f32> = (0..32).map(|_| noise(&mut seed)).collect();
        set.document(&format!("d{at}"), &format!("{} and other things", word(at)), vector.clone());
        vectors.push(vector);
    }
    for (vector, at) in vectors.iter().zip(0..60) {
        let near = vector.iter().map(|value| value + 0.5 * noise(&mut seed)).collect();
        set.query(at.into(), &word((at + 7) % 60), &format!("d{}", (at + 7) % 60), near);
    }
    set
}

/// The file switches off what the tuner had switched off, and says what words weigh: by default, that depends on the fusion.
#[test]
fn a_tuned_file_is_searched_as_it_was_measured() {
    let folder = misleading().stored("tuned-file");
    let patch = json!({"across": "score", "fuse": {"method": "linear"}, "dedup": null, "neighbours": null, "prior": null});
    let space =
        json!({"axis": [{"name": "plain", "patches": [{"pipeline": patch, "weights": {"dense": 0.5}}]}]});
    folder.file("space.json", space.to_string());
    let tuned = folder.run(&format!("--store s tune {JUDGED} --space space.json -o tuned.toml --json"));
    let outcome: Value = serde_json::from_str(&stdout(&tuned)).unwrap();
    assert_eq!(outcome["better"], true, "{outcome}");
    let toml = folder.read("tuned.toml");
    for line in ["across = \"score\"", "dedup = false", "prior = false", "recency = false", "lexical = 1.0"] {
        assert!(toml.contains(line), "{line}: {toml}");
    }
    folder.file("one.npy", npy(&[vec![1.0; 32]]));
    let plan =
        folder.stdout("--store s search zuaak --query-vector one.npy --config tuned.toml --plan --json");
    let plan: Value = serde_json::from_str(&plan).unwrap();
    for stage in ["dedup", "neighbours", "prior", "recency"] {
        assert_eq!(plan["pipeline"].get(stage), None, "{plan}");
    }
    let weights: Vec<_> =
        plan["legs"].as_array().unwrap().iter().map(|leg| leg["weight"].as_f64().unwrap()).collect();
    assert_eq!(weights, [0.5, 0.8], "{plan}");
    let finalists = outcome["finalists"].as_array().unwrap();
    let chosen = finalists.iter().find(|finalist| finalist["better"] == true).unwrap();
    let (reported, measured) = (chosen["in_sample"].as_f64().unwrap(), ndcg(&folder, "--config tuned.toml"));
    assert!((reported - measured).abs() < 1e-9, "{reported} by the tuner, {measured} by eval");
    let before = ndcg(&folder, "--no-config");
    assert!((outcome["before"].as_f64().unwrap() - before).abs() < 1e-9, "{before}: {outcome}");
    let again = folder.run(&format!("--store s tune {JUDGED} --space space.json --config tuned.toml --json"));
    let again: Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert!((again["before"].as_f64().unwrap() - measured).abs() < 1e-9, "{again}");
}

/// Of three documents round a query, the one in the middle is right: no weights can say that.
fn middling() -> Set {
    const QUERIES: usize = 60;
    let mut set = Set::default();
    let between = |at: usize, cosine: f32| {
        let mut vector = vec![0.0; 2 * QUERIES];
        (vector[at], vector[QUERIES + at]) = (cosine, (1.0 - cosine * cosine).sqrt());
        vector
    };
    for at in 0..QUERIES {
        for (name, cosine) in [("near", 0.9), ("middle", 0.7), ("far", 0.5)] {
            let words: Vec<_> = (0..6).map(|word| format!("{name}{at}x{word}")).collect();
            set.document(
                &format!("{name}{at}"),
                &format!("a note: {}", words.join(" ")),
                between(at, cosine),
            );
        }
        set.query(at, "a note", &format!("middle{at}"), between(at, 1.0));
    }
    set
}

#[test]
fn a_learned_model_is_used_by_search_and_eval() {
    let folder = middling().stored("tuned-model");
    folder.file("one.npy", npy(&[(0..120).map(|at| if at == 3 { 1.0 } else { 0.0 }).collect()]));
    let learn = "--budget 10 --folds 3 --learn model.json -o tuned.toml --json";
    let output = folder.run(&format!("--store s tune {JUDGED} {learn}"));
    let outcome: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(outcome["learned"]["better"], true, "{} {}", stderr(&output), outcome["learned"]);
    assert!(folder.read("tuned.toml").contains("[pipeline.learned]\nmodel = \"model.json\""));
    let number = |name: &str| outcome["learned"][name].as_f64().unwrap();
    let measured = ndcg(&folder, "--config tuned.toml");
    assert!(
        measured > number("settings") + 0.1 && measured >= number("out_of_fold") - 0.02,
        "{measured}: {outcome}"
    );
    let ask = "--store s search note --query-vector one.npy --config tuned.toml";
    let first = folder.stdout(&format!("{ask} --json"));
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(first["hits"][0]["document"], "middle3", "{first}");
    assert!(folder.stdout(&format!("{ask} --explain")).contains("   learned: "));
    let table = folder.stdout(&format!("--store s eval sources {JUDGED} --config tuned.toml"));
    assert!(table.contains("all sources, tuned (tuned.toml)"), "{table}");
    // Without the channel that the model looks at, the settings rank by themselves, and say so.
    let words: Value =
        serde_json::from_str(&folder.stdout(&format!("{ask} --channel lexical --json"))).unwrap();
    let stages = words["status"]["stages"].as_array().unwrap();
    let learned = stages.iter().find(|stage| stage["stage"] == "learned").unwrap();
    assert_eq!(learned["state"], "failed", "{learned}");
    assert!(learned["reason"].as_str().unwrap().contains("`dense`"), "{learned}");
    refused(&folder, ask);
}

/// A model that cannot be used is an error, not a silent fallback.
fn refused(folder: &Folder, ask: &str) {
    let model = folder.read("model.json");
    let cases = [
        (model[..model.len() / 2].to_owned(), "cannot be read"),
        (model.replace("\"agreement\"", "\"clicks\""), "other features"),
        (model.replace("\"notes\"", "\"letters\""), "`letters`"),
        (model.replace("\"version\":2", "\"version\":9"), "received 9"),
    ];
    for (text, words) in cases {
        folder.file("model.json", text);
        let output = folder.run(ask);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        assert!(
            message.contains(words) && message.contains("hint: ") && message.contains("model.json"),
            "{message}"
        );
    }
    std::fs::remove_file(folder.0.join("model.json")).unwrap();
    assert_eq!(folder.run(ask).status.code(), Some(2));
}
