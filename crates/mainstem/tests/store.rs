//! The embedded store: the contract, and what happens to it in a hard life.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mainstem::store::{EmbeddedStore, Options};
use mainstem_core::contract::{Change, Channel, Ctx, Filter, ModelCard, Retrieval, Store};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Code, Diagnostic, Document};

const DIM: usize = 8;

/// A folder of this test, which goes when the test does.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn store(&self) -> PathBuf {
        self.0.join("store")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn card(dim: usize) -> ModelCard {
    ModelCard { name: "test".into(), dim, max_tokens: 128 }
}

fn open(dir: &Path, dim: usize) -> EmbeddedStore {
    let store = EmbeddedStore::init(dir).unwrap();
    store.set_model(&card(dim)).unwrap();
    store
}

/// A pseudo-random direction for a number.
fn vector(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let values: Vec<f32> = (0..DIM).map(|_| next()).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}

fn document(id: &str, seed: u64) -> Document {
    let text = format!("word{seed} in a document with some more words");
    let chunk =
        Chunk { span: 0..text.len(), text: text.clone(), vector: Some(vector(seed)), ..Chunk::default() };
    Document { source: "wiki".into(), id: id.into(), text, chunks: vec![chunk], ..Document::default() }
}

fn put(store: &EmbeddedStore, id: &str, seed: u64) {
    store.write(&[Change::Put(document(id, seed))]).unwrap();
}

/// The documents found by words and by meaning.
fn find(store: &EmbeddedStore, seed: u64) -> [Vec<String>; 2] {
    let view = store.view().unwrap();
    let (text, vector, filter) = (format!("word{seed}"), vector(seed), Filter::default());
    [Channel::Lexical, Channel::Dense].map(|channel| {
        let retrieval = Retrieval { channel, text: &text, vector: Some(&vector), filter: &filter, limit: 5 };
        let found = view.retrieve(&retrieval, &Ctx::unhurried(Moment::now())).unwrap();
        let ids: Vec<_> = found.iter().flat_map(|list| list.found.iter().map(|found| found.chunk)).collect();
        view.fetch(&ids).unwrap().into_iter().map(|chunk| chunk.document.id).collect()
    })
}

fn assert_found(store: &EmbeddedStore, id: &str, seed: u64) {
    for (found, how) in find(store, seed).iter().zip(["words", "meaning"]) {
        assert!(found.iter().any(|found| found == id), "`{id}` is not found by {how}: {found:?}");
    }
}

fn assert_healthy(store: &EmbeddedStore) {
    let report = store.doctor();
    assert!(report.is_healthy(), "{report:?}");
}

#[cfg(feature = "conformance")]
mod contract {
    use super::*;
    use mainstem::store::conformance;
    use std::cell::RefCell;

    #[test]
    fn keeps_to_it() {
        let scratches = RefCell::new(Vec::new());
        conformance::all(&|| {
            let scratch = Scratch::new();
            let store = open(&scratch.store(), conformance::DIM);
            scratches.borrow_mut().push(scratch);
            Box::new(store)
        });
    }

    #[test]
    fn is_there_when_opened_again() {
        let scratch = Scratch::new();
        conformance::reopening(&|| Box::new(open(&scratch.store(), conformance::DIM)));
    }
}

// A process that is killed.

const TASK: &str = "STORE_TEST_TASK";
const FOLDER: &str = "STORE_TEST_FOLDER";
const START: &str = "STORE_TEST_START";

/// How often a process is killed: `MAINSTEM_KILLS`, 5 when it is not set.
fn kills() -> u64 {
    std::env::var("MAINSTEM_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(5)
}

/// Runs a task of [`child`] in another process.
fn spawn(name: &str, dir: &Path, start: u64) -> Child {
    task(name, dir, start).spawn().unwrap()
}

fn task(name: &str, dir: &Path, start: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(TASK, name)
        .env(FOLDER, dir)
        .env(START, start.to_string())
        .stdout(Stdio::piped());
    command
}

fn say(number: u64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ack {number}").unwrap();
    out.flush().unwrap();
}

fn heard(line: &str) -> Option<u64> {
    line.rsplit_once("ack ").and_then(|(_, number)| number.trim().parse().ok())
}

/// Does nothing by itself: it is what the other processes of these tests run.
#[test]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let dir = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let start = std::env::var(START).unwrap().parse().unwrap();
    match task.as_str() {
        "write" => write_on(&open(&dir, DIM), start),
        "reindex" => reindex_on(&open(&dir, DIM)),
        "read-only" => read_only(&dir),
        _ => read_until(&dir, start),
    }
}

/// Puts `n-a` and `n-b` and deletes what was `n-b` three writes ago, for every `n`.
fn write_on(store: &EmbeddedStore, start: u64) {
    for number in start.. {
        let gone = Change::Delete { source: "wiki".into(), id: format!("{}-b", number.saturating_sub(3)) };
        let new = ["a", "b"].map(|half| Change::Put(document(&format!("{number}-{half}"), number)));
        let [a, b] = new;
        store.write(&[a, gone, b]).unwrap();
        say(number);
    }
}

fn reindex_on(store: &EmbeddedStore) {
    for number in 1.. {
        store.reindex(&mut |_, _| ()).unwrap();
        say(number);
    }
}

/// Kills a process some time after its first word, and gives all that it said.
fn kill_later(mut child: Child, after: Duration) -> Vec<u64> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let first = lines.by_ref().find_map(|line| heard(&line));
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    first.into_iter().chain(lines.filter_map(|line| heard(&line))).collect()
}

/// Milliseconds that look random, the same in every run.
fn pause(round: u64) -> Duration {
    Duration::from_micros(u64::from(vector(round + 77)[0].to_bits()) % 300_000)
}

#[test]
fn an_acknowledged_write_survives_kill() {
    let scratch = Scratch::new();
    let mut acknowledged = BTreeSet::new();
    let mut start = 1;
    for round in 0..kills() {
        acknowledged.extend(kill_later(spawn("write", &scratch.store(), start), pause(round)));
        let store = open(&scratch.store(), DIM);
        let there: BTreeSet<_> =
            store.documents_of("wiki").unwrap().into_iter().map(|known| known.id).collect();
        let last = *acknowledged.last().expect("at least one write");
        for number in &acknowledged {
            assert!(there.contains(&format!("{number}-a")), "round {round}: write {number} is lost");
            let gone = acknowledged.contains(&(number + 3));
            assert!(!gone || !there.contains(&format!("{number}-b")), "{number}-b was deleted");
        }
        let [a, b] = ["a", "b"].map(|half| there.contains(&format!("{}-{half}", last + 1)));
        assert_eq!(a, b, "round {round}: half of a write");
        for number in acknowledged.range(start..).chain(acknowledged.iter().take(3)) {
            assert_found(&store, &format!("{number}-a"), *number);
        }
        assert_healthy(&store);
        start = last + 2;
    }
    // Whatever was acknowledged in any round is still there after the last.
    let store = open(&scratch.store(), DIM);
    for number in &acknowledged {
        assert_found(&store, &format!("{number}-a"), *number);
    }
    eprintln!("{} writes, {} kills", acknowledged.len(), kills());
}

#[test]
fn a_kill_while_reindexing_loses_nothing() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    let all: Vec<_> = (0..600).map(|n| Change::Put(document(&n.to_string(), n))).collect();
    store.write(&all).unwrap();
    drop(store);
    for round in 0..kills() {
        kill_later(spawn("reindex", &scratch.store(), 0), pause(round));
        let store = open(&scratch.store(), DIM);
        assert_found(&store, "7", 7);
        assert_found(&store, "599", 599);
        assert_healthy(&store);
        let folders = fs::read_dir(scratch.store()).unwrap().flatten().filter(|entry| entry.path().is_dir());
        assert_eq!(folders.count(), 2, "what was begun is removed");
    }
}

// Several processes.

/// Reads until a number of documents is there.
fn read_until(dir: &Path, wanted: u64) {
    let store = EmbeddedStore::open_read_only(dir).unwrap();
    let mut seen = 0;
    while seen < wanted {
        let view = store.view().unwrap();
        let documents = view.sources().unwrap().first().map_or(0, |source| source.documents);
        assert!(documents >= seen);
        if documents != seen {
            say(documents);
        }
        seen = documents;
        find(&store, seen);
    }
    assert!(store.write(&[]).is_err_and(|error| error.code() == Code::Usage));
}

#[test]
fn another_process_reads_while_one_writes() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    let mut child = spawn("read", &scratch.store(), 40);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    for number in 1..=40 {
        put(&store, &number.to_string(), number);
        if number % 10 == 0 {
            store.reindex(&mut |_, _| ()).unwrap();
        }
        if number == 20 {
            lines.by_ref().find_map(|line| heard(&line)).expect("the reader sees something meanwhile");
        }
    }
    drop(lines);
    assert!(child.wait().unwrap().success());
}

#[test]
fn one_writes_at_a_time() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    let second = EmbeddedStore::open(&scratch.store(), Options::default());
    let error = second.expect_err("a second writer");
    assert_eq!(error.code(), Code::Busy);
    assert!(error.hint().is_some() && error.place().is_some());
    put(&store, "a", 1);
    let reader = EmbeddedStore::open_read_only(&scratch.store()).unwrap();
    assert_found(&reader, "a", 1);
    put(&store, "b", 2);
    assert_found(&reader, "b", 2);
    assert_healthy(&reader);
    drop(store);
    assert_found(&reader, "b", 2);
    put(&open(&scratch.store(), DIM), "c", 3);
    assert_found(&reader, "c", 3);
}

// Damage.

/// Searches, whatever comes of it; an error must be about damage.
fn search_once(store: &EmbeddedStore, seed: u64) {
    let view = store.view().unwrap();
    let (text, vector, filter) = (format!("word{seed}"), vector(seed), Filter::default());
    for channel in [Channel::Lexical, Channel::Dense] {
        let retrieval = Retrieval { channel, text: &text, vector: Some(&vector), filter: &filter, limit: 5 };
        if let Err(error) = view.retrieve(&retrieval, &Ctx::unhurried(Moment::now())) {
            assert_eq!(error.code(), Code::Damaged, "{error}");
        }
    }
}

/// All files below a folder whose path has this in it.
fn files(dir: &Path, part: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path(), part));
        } else if entry.path().to_string_lossy().contains(part) {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

#[test]
fn a_damaged_index_is_made_anew() {
    let scratch = Scratch::new();
    let dir = scratch.store();
    let store = open(&dir, DIM);
    store.write(&(0..50).map(|n| Change::Put(document(&n.to_string(), n))).collect::<Vec<_>>()).unwrap();
    put(&store, "50", 50);
    drop(store);
    let damages: [fn(&Path); 3] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "").unwrap(),
        |path| fs::write(path, "not what it was\n".repeat(100)).unwrap(),
    ];
    for (damage, part) in damages.iter().flat_map(|damage| [(damage, "lexical-"), (damage, "matrix-")]) {
        // A repair makes other files, of the same kinds and in the same order.
        for place in 0.. {
            let Some(path) = files(&dir, part).into_iter().nth(place) else { break };
            if path.ends_with("lock") || path.to_string_lossy().contains(".tantivy-") {
                continue;
            }
            damage(&path);
            let store = open(&dir, DIM);
            // What is noticed only now is mended before the next search; what is not, the doctor sees.
            search_once(&store, 7);
            if !store.doctor().is_healthy() {
                store.reindex(&mut |_, _| ()).unwrap();
                assert_healthy(&store);
            }
            assert_found(&store, "7", 7);
            assert_found(&store, "50", 50);
            drop(store);
        }
    }
    assert_healthy(&open(&dir, DIM));
}

/// Rows that are not what was written would only be missing from what is found.
#[test]
fn a_matrix_with_other_rows_is_not_opened() {
    let scratch = Scratch::new();
    let dir = scratch.store();
    let store = open(&dir, DIM);
    store.write(&(0..50).map(|n| Change::Put(document(&n.to_string(), n))).collect::<Vec<_>>()).unwrap();
    drop(store);
    let damages: [fn(u8) -> u8; 3] = [|byte| byte ^ 0xFF, |byte| byte ^ 0x01, |_| 0];
    for damage in damages {
        let [file] = &files(&dir, "rows")[..] else { panic!("one file of rows") };
        fs::write(file, fs::read(file).unwrap().into_iter().map(damage).collect::<Vec<_>>()).unwrap();
        let error = EmbeddedStore::open_read_only(&dir).expect_err("other rows");
        assert_eq!(error.code(), Code::Damaged);
        let report = EmbeddedStore::examine(&dir).unwrap();
        assert!(report.documents == 50 && !report.is_healthy(), "{report:?}");
        let store = open(&dir, DIM);
        assert_found(&store, "7", 7);
        assert_healthy(&store);
    }
}

#[test]
fn an_index_that_vanishes_meanwhile_is_made_anew() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    put(&store, "a", 1);
    for part in ["lexical-", "matrix-"] {
        for file in files(&scratch.store(), part) {
            fs::remove_file(file).unwrap();
        }
        put(&store, part, 2);
        assert_found(&store, part, 2);
        assert_found(&store, "a", 1);
        assert_healthy(&store);
    }
}

#[test]
fn a_write_stands_when_its_index_cannot_follow() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    put(&store, "a", 1);
    let next = scratch.store().join("lexical-2");
    for file in files(&scratch.store(), "lexical-") {
        fs::remove_file(file).unwrap();
    }
    fs::write(&next, "in the way").unwrap();
    put(&store, "b", 2);
    assert!(store.view().is_err(), "no view may miss a write that was acknowledged");
    assert!(!store.doctor().is_healthy());
    assert!(store.document("wiki", "b").unwrap().is_some());
    put(&store, "c", 3);
    fs::remove_file(&next).unwrap();
    for (id, seed) in [("a", 1), ("b", 2), ("c", 3)] {
        assert_found(&store, id, seed);
    }
    assert_healthy(&store);
}

#[test]
fn a_damaged_page_is_reported() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    store.write(&(0..2000).map(|n| Change::Put(document(&n.to_string(), n))).collect::<Vec<_>>()).unwrap();
    drop(store);
    let file = scratch.store().join("truth.sqlite");
    let sound = fs::read(&file).unwrap();
    for page in (3..sound.len() / 8192).step_by(7) {
        let mut damaged = sound.clone();
        damaged[page * 8192..][..600].iter_mut().for_each(|byte| *byte ^= 0x5A);
        fs::write(&file, damaged).unwrap();
        // With most pages the store still opens; what cannot be read says so.
        if let Ok(store) = EmbeddedStore::open(&scratch.store(), Options::default()) {
            for number in 0..2000 {
                if let Err(error) = store.document("wiki", &number.to_string()) {
                    assert_eq!(error.code(), Code::Damaged, "{error}");
                    assert!(error.hint().is_some() && error.place().is_some());
                }
            }
            let report = store.doctor();
            assert!(!report.is_healthy(), "page {page}");
        }
    }
    fs::write(&file, &sound[..5000]).unwrap();
    assert!(EmbeddedStore::open(&scratch.store(), Options::default()).is_err());
    fs::write(&file, "not a database, and long enough to be none".repeat(100)).unwrap();
    let error = EmbeddedStore::open(&scratch.store(), Options::default()).expect_err("no database");
    assert_eq!(error.code(), Code::Damaged);
}

#[test]
fn a_changed_text_is_noticed() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    put(&store, "a", 1234567);
    drop(store);
    let file = scratch.store().join("truth.sqlite");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(11).position(|window| window == b"word1234567").unwrap();
    bytes[at + 10] = b'8';
    fs::write(&file, bytes).unwrap();
    let report = open(&scratch.store(), DIM).doctor();
    assert_eq!(report.findings.len(), 1, "{report:?}");
    assert!(report.findings[0].what.contains("`wiki/a`"), "{report:?}");
}

/// Bytes that are not what was written, in the middle and at the edges of what counts.
#[test]
fn flipped_bytes_are_found() {
    const COUNT: u64 = 50;
    let scratch = Scratch::new();
    let dir = scratch.store();
    let store = open(&dir, DIM);
    store.write(&(0..COUNT).map(|n| Change::Put(document(&n.to_string(), n))).collect::<Vec<_>>()).unwrap();
    drop(store);
    let counted = |path: &Path| match path.file_name().unwrap().to_str().unwrap() {
        "rows" => Some(COUNT * 16),
        "codes" => Some(COUNT * DIM as u64),
        "exact" => Some(COUNT * 2 * DIM as u64),
        name => ["idx", "pos", "term", "fieldnorm", "fast", "store"]
            .iter()
            .any(|end| name.ends_with(&format!(".{end}")))
            .then(|| fs::metadata(path).unwrap().len()),
    };
    let mut flips = 0;
    for place in 0.. {
        // A repair makes other files, of the same kinds and in the same order.
        let Some(path) = files(&dir, "").into_iter().filter(|path| counted(path).is_some()).nth(place) else {
            break;
        };
        for share in [0, 3, 7, 9] {
            let path = files(&dir, "")
                .into_iter()
                .filter(|path| counted(path).is_some())
                .nth(place)
                .unwrap_or(path.clone());
            let at = ((counted(&path).unwrap() - 1) * share / 9) as usize;
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= 0x55;
            fs::write(&path, bytes).unwrap();
            let store = open(&dir, DIM);
            for seed in 0..5 {
                search_once(&store, seed);
            }
            let report = store.doctor();
            let replaced = !path.exists();
            assert!(replaced || !report.is_healthy(), "byte {at} of {}", path.display());
            assert!(
                report.findings.iter().all(|finding| finding.fix.contains("mainstem reindex")),
                "{report:?}"
            );
            store.reindex(&mut |_, _| ()).unwrap();
            assert_healthy(&store);
            assert_found(&store, "7", 7);
            flips += 1;
        }
    }
    assert!(flips > 30, "{flips}");
}

/// What a machine leaves behind that stopped before everything was on its disk: a mark of an earlier boot, and any of the index.
#[test]
fn an_index_that_never_reached_the_disk_is_made_anew() {
    let scratch = Scratch::new();
    let dir = scratch.store();
    let mark = dir.join("unsettled");
    let store = open(&dir, DIM);
    put(&store, "a", 1);
    let boot = fs::read(&mark).expect("a mark, while the store is open");
    drop(store);
    assert!(!mark.exists(), "a store that was closed is on disk");
    let folders = || {
        files(&dir, "-").into_iter().map(|path| path.parent().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    let before = folders();
    fs::write(&mark, &boot).unwrap();
    drop(open(&dir, DIM));
    assert_eq!(folders(), before, "a process that died loses nothing");
    for part in ["exact", "codes", "rows"] {
        for file in files(&dir, part) {
            fs::write(&file, vec![0; fs::metadata(&file).unwrap().len() as usize]).unwrap();
        }
    }
    fs::write(&mark, "another boot").unwrap();
    let store = open(&dir, DIM);
    assert_found(&store, "a", 1);
    assert_healthy(&store);
    drop(store);
    assert!(!mark.exists());
}

#[test]
fn a_folder_that_cannot_be_written_can_be_read() {
    let scratch = Scratch::new();
    let dir = scratch.store();
    put(&open(&dir, DIM), "a", 1);
    let mode = |read_only| {
        let mut permissions = fs::metadata(&dir).unwrap().permissions();
        permissions.set_readonly(read_only);
        fs::set_permissions(&dir, permissions).unwrap();
    };
    mode(true);
    let may_write = fs::write(dir.join("probe"), "").is_ok();
    if may_write {
        let _ = fs::remove_file(dir.join("probe"));
        as_nobody(&dir);
    } else {
        read_only(&dir);
    }
    mode(false);
}

fn read_only(dir: &Path) {
    let error = EmbeddedStore::open(dir, Options::default()).expect_err("a folder that cannot be written");
    assert_eq!(error.code(), Code::Io);
    assert_found(&EmbeddedStore::open_read_only(dir).unwrap(), "a", 1);
}

/// Who may write everywhere becomes someone who may not.
#[cfg(unix)]
fn as_nobody(dir: &Path) {
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let mut command = task("read-only", dir, 0);
    let outcome = command.uid(NOBODY).gid(NOBODY).spawn().and_then(Child::wait_with_output);
    match outcome {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => eprintln!("skipped: this user may write anywhere, and cannot become another: {error}"),
    }
}

#[cfg(not(unix))]
fn as_nobody(_: &Path) {
    eprintln!("skipped: this user may write to a folder that is read-only");
}

// What else it promises.

#[test]
fn what_is_no_store_is_refused() {
    let scratch = Scratch::new();
    for outcome in [
        EmbeddedStore::open(&scratch.store(), Options::default()),
        EmbeddedStore::open_read_only(&scratch.store()),
    ] {
        let error = outcome.expect_err("no store");
        assert_eq!(error.code(), Code::Missing);
        assert!(error.hint().unwrap().contains("mainstem init"));
    }
    assert!(!scratch.store().exists(), "nothing was made");
}

#[test]
fn a_newer_store_is_refused() {
    let scratch = Scratch::new();
    drop(open(&scratch.store(), DIM));
    let file = scratch.store().join("truth.sqlite");
    let mut bytes = fs::read(&file).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&file, bytes).unwrap();
    for outcome in [
        EmbeddedStore::open(&scratch.store(), Options::default()),
        EmbeddedStore::open_read_only(&scratch.store()),
    ] {
        assert_eq!(outcome.expect_err("a newer store").code(), Code::Newer);
    }
}

#[test]
fn models_do_not_mix() {
    let scratch = Scratch::new();
    let store = EmbeddedStore::init(&scratch.store()).unwrap();
    assert_eq!(store.model().unwrap(), None);
    let early = store.write(&[Change::Put(document("a", 1))]).expect_err("vectors of no model");
    assert_eq!(early.code(), Code::Model);
    store.set_model(&card(3)).unwrap();
    store.set_model(&card(DIM)).unwrap();
    put(&store, "a", 1);
    let other = ModelCard { name: "other".into(), ..card(DIM) };
    for refused in [&other, &card(3)] {
        assert_eq!(store.set_model(refused).expect_err("another model").code(), Code::Model);
    }
    assert_eq!(store.model().unwrap(), Some(card(DIM)));
    store.write(&[Change::Delete { source: "wiki".into(), id: "a".into() }]).unwrap();
    store.set_model(&card(3)).unwrap();
    assert_healthy(&store);
}

#[test]
fn a_source_is_removed_with_all_it_has() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    store.write(&(0..2500).map(|n| Change::Put(document(&n.to_string(), n))).collect::<Vec<_>>()).unwrap();
    let other = |id: &str, seed| Document { source: "mail".into(), ..document(id, seed) };
    store.write(&[Change::Put(other("m", 5000))]).unwrap();
    assert_eq!(store.remove_source("chat").unwrap(), None);
    assert_eq!(store.remove_source("wiki").unwrap(), Some(2500));
    let names: Vec<_> = store.sources().unwrap().into_iter().map(|source| source.name).collect();
    assert_eq!(names, ["mail"]);
    assert_eq!(store.remove_source("mail").unwrap(), Some(1));
    assert!(store.sources().unwrap().is_empty());
    // The number of the source that was is given to another.
    put(&store, "again", 7);
    assert_found(&store, "again", 7);
    assert_healthy(&store);
    drop(store);
    assert_healthy(&open(&scratch.store(), DIM));
}

#[test]
fn a_sync_sees_what_it_needs() {
    let scratch = Scratch::new();
    let store = open(&scratch.store(), DIM);
    store.set_source("wiki", "notion").unwrap();
    put(&store, "b", 2);
    let mut bare = document("a", 1);
    bare.chunks[0].vector = None;
    store.write(&[Change::Put(bare.clone())]).unwrap();
    let known = store.documents_of("wiki").unwrap();
    let seen: Vec<_> = known.iter().map(|known| (known.id.as_str(), known.embedded)).collect();
    assert_eq!(seen, [("a", false), ("b", true)]);
    let content = mainstem::store::embedded::ContentHash::of;
    assert_eq!(known[0].content, content(&document("a", 1)), "vectors are not part of the content");
    assert_eq!(store.document("wiki", "a").unwrap(), Some(bare));
    assert_eq!(store.document("wiki", "c").unwrap(), None);
    assert!(store.documents_of("mail").unwrap().is_empty());
    assert_eq!(store.sources().unwrap()[0].kind, "notion");
}
