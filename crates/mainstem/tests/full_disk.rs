//! A store on a disk that fills up: nothing that was acknowledged is lost, and all of it is found again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod small_disk;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mainstem::Error;
use mainstem::store::{EmbeddedStore, Options};
use mainstem_core::contract::{Change, Channel, Ctx, Filter, ModelCard, Retrieval, Store};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Code, Diagnostic, Document};
use small_disk::Ballast;

const DIM: usize = 64;
const DISK_BYTES: u64 = 12 << 20;
/// How often the disk is filled, each time by other amounts, so that it is full at other places: in the truth, in the words, in the vectors.
const ROUNDS: u64 = 12;
/// Documents of one write.
const TOGETHER: u64 = 3;

/// Numbers that look random, the same in every run.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 16
    }
}

fn vector(seed: u64) -> Vec<f32> {
    let mut next = random(seed);
    let values: Vec<f32> = (0..DIM).map(|_| (next() % 2001) as f32 / 1000.0 - 1.0).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}

/// A document of so many words, one of which is its own.
fn document(number: u64, words: u64) -> Change {
    let mut next = random(number + 1_000_000);
    let words = (0..words).map(|_| format!("w{}", next() % 5000));
    let text = std::iter::once(format!("own{number}")).chain(words).collect::<Vec<_>>().join(" ");
    let chunk =
        Chunk { span: 0..text.len(), text: text.clone(), vector: Some(vector(number)), ..Chunk::default() };
    let (source, id) = ("wiki".to_owned(), number.to_string());
    Change::Put(Document { source, id, text, chunks: vec![chunk], ..Document::default() })
}

fn write(store: &EmbeddedStore, first: u64, words: u64) -> Result<(), Error> {
    let changes: Vec<_> = (first..first + TOGETHER).map(|number| document(number, words)).collect();
    store.write(&changes).map(drop)
}

/// Whether a document is found by words and by meaning; an error when the store says why it cannot be searched.
fn find(store: &EmbeddedStore, number: u64) -> Result<bool, mainstem_core::Failure> {
    let view = store.view()?;
    let (text, vector, filter) = (format!("own{number}"), vector(number), Filter::default());
    for channel in [Channel::Lexical, Channel::Dense] {
        let retrieval = Retrieval { channel, text: &text, vector: Some(&vector), filter: &filter, limit: 3 };
        let found = view.retrieve(&retrieval, &Ctx::unhurried(Moment::now()))?;
        let ids: Vec<_> = found.iter().flat_map(|list| list.found.iter().map(|found| found.chunk)).collect();
        if !view.fetch(&ids)?.iter().any(|chunk| chunk.document.id == number.to_string()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn ids(store: &EmbeddedStore) -> BTreeSet<u64> {
    store.documents_of("wiki").unwrap().iter().map(|known| known.id.parse().unwrap()).collect()
}

/// What a full disk may be the reason of.
fn assert_no_room(error: &dyn Diagnostic, when: &str) {
    assert_eq!(error.code(), Code::Io, "{when}: {error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("free space")), "{when}: {error}");
}

/// Everything is found, or the store says that it has no room; whether it was the former.
fn assert_honest(store: &EmbeddedStore, acknowledged: &BTreeSet<u64>, when: &str) -> bool {
    for number in some(acknowledged) {
        match find(store, number) {
            Ok(found) => assert!(found, "{when}: {number} is not found"),
            Err(error) => {
                assert_no_room(error.as_ref(), when);
                return false;
            }
        }
    }
    true
}

/// The last ones, which are in danger, and some of the others.
fn some(numbers: &BTreeSet<u64>) -> impl Iterator<Item = u64> {
    let danger = numbers.iter().rev().take(9);
    danger.chain(numbers.iter().step_by(11)).copied()
}

/// Writes until the disk is full, and gives what was acknowledged.
fn fill(store: &EmbeddedStore, words: u64, when: &str) -> BTreeSet<u64> {
    let mut acknowledged = BTreeSet::new();
    for first in (0..).step_by(TOGETHER as usize) {
        match write(store, first, words) {
            Ok(()) => acknowledged.extend(first..first + TOGETHER),
            Err(error) => {
                assert_no_room(&error, when);
                assert_eq!(ids(store), acknowledged, "{when}: all of a write or nothing");
                return acknowledged;
            }
        }
    }
    acknowledged
}

/// Whether the full store could still be searched.
fn round(disk: &Path, round: u64) -> bool {
    let (dir, when, words) = (disk.join("store"), format!("round {round}"), 20 + 61 * (round % 7));
    let ballast = Ballast::new(disk, DISK_BYTES - (1 << 20) - round * 50_021);
    let store = EmbeddedStore::init(&dir).unwrap();
    store.set_model(&ModelCard { name: "test".into(), dim: DIM, max_tokens: 128 }).unwrap();
    let acknowledged = fill(&store, words, &when);
    assert!(acknowledged.len() > 5, "{when}: only {}", acknowledged.len());
    let searchable = assert_honest(&store, &acknowledged, &when);
    drop(store);
    match EmbeddedStore::open_read_only(&dir) {
        Ok(store) => assert_eq!(ids(&store), acknowledged, "{when}, read"),
        Err(error) => assert_no_room(&error, &when),
    }
    match EmbeddedStore::open(&dir, Options::default()) {
        Ok(store) => drop(assert_honest(&store, &acknowledged, &format!("{when}, opened again"))),
        Err(error) => assert_no_room(&error, &when),
    }
    drop(ballast);
    let store = EmbeddedStore::open(&dir, Options::default()).unwrap();
    let report = store.doctor();
    assert!(report.is_healthy(), "{when}: {report:?}");
    assert_eq!(ids(&store), acknowledged, "{when}, with room");
    let next = acknowledged.last().unwrap() + 1;
    write(&store, next, words).unwrap();
    for number in some(&acknowledged).chain(next..next + TOGETHER) {
        assert!(find(&store, number).unwrap(), "{when}: {number} is not found with room");
    }
    assert!(store.doctor().is_healthy());
    drop(store);
    fs::remove_dir_all(&dir).unwrap();
    searchable
}

#[test]
fn nothing_acknowledged_is_lost() {
    let Some(disk) = small_disk::here() else {
        return small_disk::run("nothing_acknowledged_is_lost", DISK_BYTES);
    };
    let searchable = (0..ROUNDS).filter(|number| round(&disk, *number)).count();
    println!("{searchable} of {ROUNDS} full stores could be searched");
}

/// A reindex needs room for a second index: where there is none, the one in use stays.
#[test]
fn a_reindex_without_room_changes_nothing() {
    let Some(disk) = small_disk::here() else {
        return small_disk::run("a_reindex_without_room_changes_nothing", DISK_BYTES);
    };
    let dir = disk.join("store");
    let store = EmbeddedStore::init(&dir).unwrap();
    store.set_model(&ModelCard { name: "test".into(), dim: DIM, max_tokens: 128 }).unwrap();
    for first in (0..90).step_by(TOGETHER as usize) {
        write(&store, first, 300).unwrap();
    }
    let all: BTreeSet<u64> = (0..90).collect();
    for left in [0, 20_000, 100_000] {
        let ballast = Ballast::all_but(&disk, left);
        assert_no_room(&store.reindex(&mut |_, _| ()).unwrap_err(), "reindex");
        assert_honest(&store, &all, "after a reindex");
        drop(ballast);
        assert!(assert_honest(&store, &all, "with room"));
        assert!(store.doctor().is_healthy());
    }
}
