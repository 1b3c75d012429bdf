use std::fs;
use std::path::Path;

use mainstem_core::contract::{Change, ModelCard, Store};
use mainstem_core::{Chunk, ChunkId, Document, StoredChunk};
use tempfile::TempDir;

use super::super::EmbeddedStore;
use super::{DATA, Files, INDEX, place};

fn document(id: &str, text: &str) -> Change {
    let vector = Some(vec![1.0, text.len() as f32, 0.0, 0.0]);
    let chunk = Chunk { span: 0..text.len(), text: text.to_owned(), vector, ..Chunk::default() };
    let bare = Chunk { order: 1, vector: None, ..chunk.clone() };
    let metadata = serde_json::from_str(r#"{"n": [1, "two"]}"#).unwrap();
    Change::Put(Document {
        source: "s".into(),
        id: id.into(),
        title: Some(format!("Title of {id}")),
        text: text.to_owned(),
        metadata,
        chunks: vec![chunk, bare],
        ..Document::default()
    })
}

fn store(dir: &Path) -> EmbeddedStore {
    let store = EmbeddedStore::init(dir).unwrap();
    store.set_model(&ModelCard { name: "m".into(), dim: 4, max_tokens: 9 }).unwrap();
    store
}

fn fetch(store: &EmbeddedStore, ids: &[u64]) -> Vec<StoredChunk> {
    let ids: Vec<_> = ids.iter().copied().map(ChunkId).collect();
    let mut found = store.view().unwrap().fetch(&ids).unwrap();
    // A card has no vector; the matrix gives one of length 1.
    for stored in &mut found {
        stored.chunk.vector = stored.chunk.vector.take().map(|vector| vec![vector.len() as f32]);
    }
    found
}

fn has_card(dir: &Path, id: u64) -> bool {
    Files::open(dir).unwrap().card(ChunkId(id), &mut Vec::new()).is_some()
}

#[test]
fn cards_say_what_the_truth_says_and_damaged_ones_say_nothing() {
    let dir = TempDir::new().unwrap();
    let store = store(dir.path());
    store.write(&[document("a", "one"), document("b", "zwölf"), document("c", "three")]).unwrap();
    store.write(&[Change::Delete { source: "s".into(), id: "c".into() }]).unwrap();
    let ids = [4, 1, 99, 2, 3, 5, 6];
    assert!([1, 2, 3, 4].into_iter().all(|id| has_card(dir.path(), id)));
    let by_card = fetch(&store, &ids);
    assert_eq!(by_card.iter().map(|stored| stored.id.0).collect::<Vec<_>>(), [4, 1, 2, 3]);

    let data = fs::read(dir.path().join(DATA)).unwrap();
    for at in (0..data.len()).step_by(7) {
        let mut damaged = data.clone();
        damaged[at] ^= 0x20;
        fs::write(dir.path().join(DATA), damaged).unwrap();
        assert_eq!(fetch(&store, &ids), by_card, "byte {at}");
    }
    let mut damaged = data;
    damaged[20] ^= 1;
    fs::write(dir.path().join(DATA), damaged).unwrap();
    let report = store.doctor();
    assert!(report.findings.len() == 1 && report.findings[0].what.contains("cards"), "{report:?}");
    store.reindex(&mut |_, _| ()).unwrap();
    assert!(store.doctor().is_healthy());
    assert_eq!(fetch(&store, &ids), by_card);

    drop(store);
    for name in [DATA, INDEX] {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    let reader = EmbeddedStore::open_read_only(dir.path()).unwrap();
    assert_eq!(fetch(&reader, &ids), by_card);
    // Once somebody writes, there are cards again, and who only reads finds them.
    drop(EmbeddedStore::open(dir.path(), super::super::Options::default()).unwrap());
    assert!(has_card(dir.path(), 1) && !has_card(dir.path(), 5));
    assert_eq!(fetch(&reader, &ids), by_card);
}

#[test]
fn a_damaged_entry_does_not_ask_for_memory() {
    let dir = TempDir::new().unwrap();
    let store = store(dir.path());
    store.write(&[document("a", "one"), document("b", "two")]).unwrap();
    let ids = [1, 2, 3, 4];
    let by_card = fetch(&store, &ids);
    let (index, data) = (dir.path().join(INDEX), fs::metadata(dir.path().join(DATA)).unwrap().len());
    let whole = fs::read(&index).unwrap();
    for at in place(ChunkId(1)).unwrap() as usize..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xf7;
        fs::write(&index, damaged).unwrap();
        let mut room = Vec::new();
        let files = Files::open(dir.path()).unwrap();
        let there = ids.iter().filter(|id| files.card(ChunkId(**id), &mut room).is_some()).count();
        assert!(there <= 3 && room.capacity() as u64 <= 2 * data, "byte {at}: {}", room.capacity());
        assert_eq!(fetch(&store, &ids), by_card, "byte {at}");
    }
}

#[test]
fn cards_that_are_behind_catch_up_and_those_of_another_truth_go() {
    let (dir, old) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let copy = |from: &Path, to: &Path| {
        for name in [DATA, INDEX] {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    };
    let open = || drop(EmbeddedStore::open(dir.path(), super::super::Options::default()).unwrap());
    let first = store(dir.path());
    first.write(&[document("a", "one")]).unwrap();
    copy(dir.path(), old.path());
    first.write(&[document("b", "two")]).unwrap();
    drop(first);

    copy(old.path(), dir.path());
    assert!(has_card(dir.path(), 1) && !has_card(dir.path(), 3));
    open();
    assert!([1, 2, 3, 4].into_iter().all(|id| has_card(dir.path(), id)));

    // A truth that is younger than its cards.
    fs::remove_file(dir.path().join("truth.sqlite")).unwrap();
    drop(store(dir.path()));
    assert!(!has_card(dir.path(), 1));
}

#[test]
fn cards_of_what_is_gone_are_dropped_in_the_end() {
    let dir = TempDir::new().unwrap();
    let store = store(dir.path());
    let long = |round: usize| "x".repeat(1_000_000 + round);
    let size = || fs::metadata(dir.path().join(DATA)).unwrap().len();
    let mut most = 0;
    for round in 0..14 {
        store.write(&[document("a", &long(round))]).unwrap();
        most = most.max(size());
    }
    assert!(most > 16_000_000 && size() < 10_000_000, "{most}, then {}", size());
    let last = [27, 28];
    assert_eq!(fetch(&store, &last)[1].chunk.text, long(13));
    assert!(last.into_iter().all(|id| has_card(dir.path(), id)));
}
