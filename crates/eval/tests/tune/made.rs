//! Made recordings.

use mainstem_core::Replay;
use mainstem_eval::tune::{Options, Outcome, Recording, Setting, SpaceFile, Task, shared_setting, tune};
use mainstem_eval::{Measure, Qrels, QrelsBuilder};
use serde_json::{Value, json};

/// Numbers that look random: the generator of Steele, Lea and Flood (2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// The numbers below `n`, in any order.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for at in (1..n).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// One search: two channels that rank the same documents, each in its own order.
pub(crate) fn search(dense: &[usize], lexical: &[usize]) -> Replay {
    let items = |order: &[usize]| -> Vec<Value> {
        let scored = order.iter().enumerate();
        scored
            .map(|(rank, doc)| json!({"id": format!("d{doc}"), "score": 1.0 - rank as f64 / 100.0}))
            .collect()
    };
    let replay = json!({"lists": [
        {"name": "w/dense", "source": "w", "items": items(dense)},
        {"name": "w/lexical", "source": "w", "items": items(lexical)},
    ]});
    Replay::from_json(replay.to_string().as_bytes()).unwrap()
}

pub(crate) fn space(value: Value) -> SpaceFile {
    SpaceFile::from_json(value).unwrap()
}

/// `k` and the weight of one channel.
pub(crate) fn small_space() -> SpaceFile {
    space(json!({"axis": [
        {"path": "pipeline.fuse.k", "values": [2, 10, 60, 200], "default": 60},
        {"path": "weights.lexical", "values": [0.25, 0.5, 1, 2, 4], "default": 1},
    ]}))
}

/// Recordings with their judgements.
pub(crate) struct Made {
    pub(crate) recordings: Vec<Recording>,
    pub(crate) qrels: Qrels,
    base: Setting,
}

impl Made {
    /// Makes queries one by one: the search, and the relevant documents with their grades.
    pub(crate) fn new(queries: usize, mut one: impl FnMut(usize) -> (Replay, Vec<(String, i64)>)) -> Self {
        let mut builder = QrelsBuilder::default();
        let mut recordings = Vec::new();
        for at in 0..queries {
            let (replay, judged) = one(at);
            let query = format!("q{at}");
            for (doc, grade) in &judged {
                assert!(builder.judge(&query, doc, *grade));
            }
            recordings.push(Recording { query, replay, candidates: None });
        }
        let base = shared_setting(&recordings).unwrap();
        Self { recordings, qrels: builder.finish(), base }
    }

    pub(crate) fn tune<'a>(&'a self, space: Option<&'a SpaceFile>, options: Options) -> Outcome {
        self.tune_as(|task| *task = Task { space, options: options.clone(), ..task.clone() })
    }

    pub(crate) fn tune_as<'a>(&'a self, change: impl FnOnce(&mut Task<'a>)) -> Outcome {
        let mut task = Task {
            recordings: &self.recordings,
            qrels: &self.qrels,
            judged_source: None,
            base: &self.base,
            space: None,
            measure: Measure::parse("nDCG@10").unwrap(),
            guards: Vec::new(),
            options: Options::default(),
        };
        change(&mut task);
        tune(&task, &|_| ()).unwrap()
    }
}
