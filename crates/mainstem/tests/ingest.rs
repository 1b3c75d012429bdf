//! Runs: from files to a store, again and again.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mainstem::ingest::{
    Beir, Connector, Folder, FolderOptions, Format, Ingest, Jsonl, Known, Limits, Missing, Position, Record,
    Skip, Summary, Unit, Vectors, watch,
};
use mainstem::store::embedded::{ContentHash, EmbeddedStore, KnownDocument};
use mainstem_core::contract::{
    Ability, Applied, Capabilities, Change, Ctx, Embedded, Embedder, ModelCard, Store, View,
};
use mainstem_core::{Document, Failure};

/// A folder that goes away.
struct Temp(PathBuf);

impl Temp {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mainstem-ingest-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A store in memory.
#[derive(Default)]
struct Shelf {
    documents: Mutex<BTreeMap<String, Document>>,
    writes: AtomicUsize,
    breaks_after: Option<usize>,
}

impl Store for Shelf {
    fn capabilities(&self) -> Capabilities {
        Capabilities { lexical: Ability::None, dense: Ability::None, filters: Ability::None }
    }

    fn apply(&self, changes: Vec<Change>) -> Result<Applied, Failure> {
        if self.breaks_after.is_some_and(|writes| self.writes.load(Ordering::Relaxed) >= writes) {
            return Err(Box::new(mainstem::Error::Internal("the disk is full".into())));
        }
        self.writes.fetch_add(1, Ordering::Relaxed);
        let mut documents = self.documents.lock().unwrap();
        let mut applied = Applied::default();
        for change in changes {
            match change {
                Change::Put(document) => match documents.insert(document.id.clone(), document.clone()) {
                    None => applied.added += 1,
                    Some(before) if before == document => applied.unchanged += 1,
                    Some(_) => applied.changed += 1,
                },
                Change::Delete { id, .. } => applied.removed += usize::from(documents.remove(&id).is_some()),
            }
        }
        Ok(applied)
    }

    fn view(&self) -> Result<Arc<dyn View>, Failure> {
        Err(Box::new(mainstem::Error::Internal("not searched here".into())))
    }
}

impl Known for Shelf {
    fn documents(&self, _: &str) -> Result<Vec<KnownDocument>, Failure> {
        let documents = self.documents.lock().unwrap();
        let known = |document: &Document| KnownDocument {
            id: document.id.clone(),
            content: ContentHash::of(document),
            embedded: document.chunks.iter().all(|chunk| chunk.vector.is_some()),
        };
        Ok(documents.values().map(known).collect())
    }

    fn document(&self, _: &str, id: &str) -> Result<Option<Document>, Failure> {
        Ok(self.documents.lock().unwrap().get(id).cloned())
    }
}

/// A model that counts what it reads.
struct Model {
    card: ModelCard,
    read: AtomicUsize,
}

impl Model {
    fn new() -> Self {
        let card = ModelCard { name: "counting".into(), dim: 2, max_tokens: 4 };
        Self { card, read: AtomicUsize::new(0) }
    }

    fn read(&self) -> usize {
        self.read.swap(0, Ordering::Relaxed)
    }
}

impl Embedder for Model {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn embed(&self, texts: &[&str], _: &Ctx) -> Result<Vec<Embedded>, Failure> {
        self.read.fetch_add(texts.len(), Ordering::Relaxed);
        let embed =
            |text: &&str| Embedded { vector: vec![1.0, 0.0], cut: text.split_whitespace().count() > 4 };
        Ok(texts.iter().map(embed).collect())
    }
}

fn sync<'a>(shelf: &'a Shelf, model: &'a Model) -> Ingest<'a> {
    let mut ingest = Ingest::new("wiki", shelf);
    ingest.known = Some(shelf);
    ingest.embedder = Some(model);
    ingest.missing = Missing::Remove;
    ingest
}

fn run(ingest: &Ingest<'_>, connector: &mut dyn Connector) -> Summary {
    ingest.run(connector, &mut |_| {}).map_err(|failure| failure.to_string()).unwrap()
}

fn folder(temp: &Temp) -> Folder {
    Folder::open(&temp.0, FolderOptions::default()).unwrap()
}

fn skipped(summary: &Summary) -> Vec<(&str, &str)> {
    summary.skipped.first.iter().map(|skip| (skip.what.as_str(), skip.why.as_str())).collect()
}

fn applied(added: usize, changed: usize, unchanged: usize, removed: usize) -> Applied {
    Applied { added, changed, unchanged, removed }
}

#[test]
fn a_folder_is_read_by_kind_and_the_rest_has_reasons() {
    let temp = Temp::new();
    temp.write("guide/setup.md", "---\ndate: 2026-01-31\ntags: [a]\n---\n# Set up\n\nDo it.\n");
    temp.write("notes.txt", "Plain words.");
    temp.write("page.html", "<title>Page</title><h1>H</h1><p>Text</p><script>no</script>");
    temp.write("src/lib.rs", "//! Doc.\n\nfn main() {}\n");
    temp.write(".gitignore", "secret*\n");
    temp.write("secret.md", "hidden by rule");
    temp.write(".env", "KEY=1");
    temp.write("image.png", b"\x89PNG\0\0");
    temp.write("latin.txt", b"caf\xe9");
    temp.write("empty.md", " \n");
    temp.write("Cargo.lock", "[[package]]");
    let shelf = Shelf::default();
    let summary = run(&Ingest::new("wiki", &shelf), &mut folder(&temp));
    assert_eq!(summary.applied, applied(4, 0, 0, 0));
    let mut skips = skipped(&summary);
    skips.sort_unstable();
    assert_eq!(
        skips,
        [
            (".env", "hidden"),
            ("Cargo.lock", "written by a program"),
            ("empty.md", "empty"),
            ("image.png", "binary"),
            ("latin.txt", "not UTF-8 at byte 4"),
        ]
    );
    let documents = shelf.documents.lock().unwrap();
    let setup = &documents["guide/setup.md"];
    assert_eq!((setup.title.as_deref(), setup.source.as_str()), (Some("Set up"), "wiki"));
    assert!(setup.text.starts_with("# Set up") && setup.created_at.is_some() && setup.updated_at.is_some());
    assert_eq!(setup.metadata["path"], "guide/setup.md");
    assert_eq!(documents["page.html"].text, "# H\n\nText");
    assert_eq!(documents["src/lib.rs"].metadata["language"], "rust");
    assert_eq!(documents["src/lib.rs"].metadata["lines"], serde_json::json!([1]));
}

#[test]
fn running_again_changes_nothing_and_embeds_nothing() {
    let temp = Temp::new();
    temp.write("a.md", "# A\n\nOne two three four five.\n");
    temp.write("b.md", "# B\n\nText.\n");
    let (shelf, model) = (Shelf::default(), Model::new());
    let first = run(&sync(&shelf, &model), &mut folder(&temp));
    assert_eq!((first.applied, model.read(), first.cut), (applied(2, 0, 0, 0), 2, 1));
    let writes = shelf.writes.load(Ordering::Relaxed);
    let second = run(&sync(&shelf, &model), &mut folder(&temp));
    assert_eq!((second.applied, model.read()), (applied(0, 0, 2, 0), 0));
    assert_eq!(shelf.writes.load(Ordering::Relaxed), writes);
}

#[test]
fn the_time_of_a_file_alone_is_no_change_and_that_of_a_document_is_one() {
    let temp = Temp::new();
    let plain = temp.write("a.md", "# A\n\nText.\n");
    let dated = "---\nupdated: 2026-01-31\n---\n# B\n\nText.\n";
    temp.write("b.md", dated);
    let (shelf, model) = (Shelf::default(), Model::new());
    run(&sync(&shelf, &model), &mut folder(&temp));
    let before = shelf.documents.lock().unwrap()["a.md"].updated_at.clone();
    let touch = |path: &Path| {
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86_400))
            .unwrap();
    };
    touch(&plain);
    let (writes, _) = (shelf.writes.load(Ordering::Relaxed), model.read());
    let touched = run(&sync(&shelf, &model), &mut folder(&temp));
    assert_eq!((touched.applied, model.read()), (applied(0, 0, 2, 0), 0));
    assert_eq!(shelf.writes.load(Ordering::Relaxed), writes);
    assert_eq!(shelf.documents.lock().unwrap()["a.md"].updated_at, before, "when its text changed last");
    temp.write("b.md", dated.replace("01-31", "02-01"));
    assert_eq!(run(&sync(&shelf, &model), &mut folder(&temp)).applied, applied(0, 1, 1, 0));
    temp.write("a.md", "# A\n\nOther text.\n");
    touch(&plain);
    assert_eq!(run(&sync(&shelf, &model), &mut folder(&temp)).applied, applied(0, 1, 1, 0));
    assert_ne!(shelf.documents.lock().unwrap()["a.md"].updated_at, before);
}

#[test]
fn what_may_be_from_elsewhere_stays_and_is_counted() {
    let (shelf, model) = (Shelf::default(), Model::new());
    run(&sync(&shelf, &model), &mut Play(vec![text("a", "a"), text("b", "b")]));
    let mut counting = sync(&shelf, &model);
    counting.missing = Missing::Count;
    let summary = run(&counting, &mut Play(vec![text("c", "c")]));
    assert_eq!((summary.applied, summary.kept), (applied(1, 0, 0, 0), 2));
    let all = run(&counting, &mut Play(vec![text("a", "a"), text("b", "b"), text("c", "c")]));
    assert_eq!(all.kept, 0);
}

#[test]
fn only_the_changed_part_is_embedded_and_what_is_gone_is_removed() {
    let temp = Temp::new();
    let section = |name: &str| format!("## {name}\n\nBody of {name}.\n\n");
    temp.write("a.md", format!("# A\n\nIntro.\n\n{}{}", section("X"), section("Y")));
    let gone = temp.write("b.md", "# B\n\nText.\n");
    let (shelf, model) = (Shelf::default(), Model::new());
    run(&sync(&shelf, &model), &mut folder(&temp));
    assert_eq!(model.read(), 4);
    temp.write("a.md", format!("# A\n\nIntro.\n\n{}{}", section("X"), section("Z")));
    fs::remove_file(gone).unwrap();
    let again = run(&sync(&shelf, &model), &mut folder(&temp));
    assert_eq!((again.applied, model.read()), (applied(0, 1, 0, 1), 1));
    assert!(shelf.documents.lock().unwrap()["a.md"].chunks.iter().all(|chunk| chunk.vector.is_some()));
}

#[test]
fn a_folder_that_is_suddenly_empty_removes_nothing_unless_told_to() {
    let temp = Temp::new();
    let only = temp.write("a.md", "# A\n\nText.\n");
    let (shelf, model) = (Shelf::default(), Model::new());
    run(&sync(&shelf, &model), &mut folder(&temp));
    fs::remove_file(only).unwrap();
    let empty = run(&sync(&shelf, &model), &mut folder(&temp));
    assert_eq!((empty.applied.removed, empty.kept), (0, 1));
    let mut told = sync(&shelf, &model);
    told.missing = Missing::RemoveAll;
    assert_eq!(run(&told, &mut folder(&temp)).applied.removed, 1);
}

/// A connector that plays what it is given.
struct Play(Vec<Record>);

impl Connector for Play {
    fn next_record(&mut self) -> Result<Option<Record>, Failure> {
        Ok((!self.0.is_empty()).then(|| self.0.remove(0)))
    }

    fn position(&self) -> Position {
        Position { done: 0, of: None, unit: Unit::Documents }
    }
}

fn text(id: &str, text: &str) -> Record {
    let document = Document { id: id.into(), text: text.into(), ..Document::default() };
    Record::Document { document: Box::new(document), format: Format::Text }
}

#[test]
fn what_could_not_be_read_is_not_gone() {
    let (shelf, model) = (Shelf::default(), Model::new());
    run(&sync(&shelf, &model), &mut Play(vec![text("a", "a"), text("b", "b"), text("c", "c")]));
    let present = Record::Skip(Skip::present("b", "no permission"));
    let summary = run(&sync(&shelf, &model), &mut Play(vec![text("a", "a"), present]));
    assert_eq!((summary.applied.removed, shelf.documents.lock().unwrap().len()), (1, 2));
    let unknown = Record::Skip(Skip::unknown("f:3", "not JSON"));
    let summary = run(&sync(&shelf, &model), &mut Play(vec![text("a", "a"), unknown]));
    assert_eq!((summary.applied.removed, summary.kept), (0, 1));
}

#[test]
fn a_repeated_id_is_reported_and_the_first_is_kept() {
    let (shelf, model) = (Shelf::default(), Model::new());
    for unchanged in [0, 1] {
        let summary = run(&sync(&shelf, &model), &mut Play(vec![text("a", "first"), text("a", "second")]));
        assert_eq!((summary.skipped.count, summary.applied.unchanged), (1, unchanged));
    }
    assert_eq!(shelf.documents.lock().unwrap()["a"].text, "first");
}

#[test]
fn a_broken_run_goes_on_where_it_was() {
    let (mut shelf, model) = (Shelf { breaks_after: Some(2), ..Shelf::default() }, Model::new());
    let all = || Play((0..10).map(|n| text(&n.to_string(), "text")).collect());
    let mut small = sync(&shelf, &model);
    small.limits = Limits { documents: 3, ..Limits::default() };
    assert!(small.run(&mut all(), &mut |_| {}).is_err());
    assert_eq!(shelf.documents.lock().unwrap().len(), 6);
    shelf.breaks_after = None;
    assert_eq!(run(&sync(&shelf, &model), &mut all()).applied, applied(4, 0, 6, 0));
}

#[test]
fn a_stopped_run_writes_what_it_has_and_removes_nothing() {
    let (shelf, model, stop) = (Shelf::default(), Model::new(), AtomicBool::new(false));
    run(&sync(&shelf, &model), &mut Play(vec![text("old", "old")]));
    stop.store(true, Ordering::Relaxed);
    let mut ingest = sync(&shelf, &model);
    ingest.stop = Some(&stop);
    let summary = run(&ingest, &mut Play(vec![text("new", "new")]));
    assert!(summary.interrupted);
    assert_eq!(shelf.documents.lock().unwrap().len(), 1);
}

#[test]
fn the_store_hears_where_vectors_come_from_once_and_before_they_are_written() {
    let (shelf, model) = (Shelf::default(), Model::new());
    let heard = Mutex::new(Vec::new());
    let announce = |vectors: Vectors<'_>| {
        assert_eq!(shelf.documents.lock().unwrap().len(), 0);
        heard.lock().unwrap().push(format!("{vectors:?}"));
        Ok(())
    };
    let mut ingest = sync(&shelf, &model);
    ingest.announce = Some(&announce);
    let lines =
        "{\"id\":1,\"text\":\"a\",\"vector\":[3,4]}\n{\"id\":2,\"text\":\"b\"}\n{\"id\":3,\"text\":\"c\"}";
    let summary = run(&ingest, &mut Jsonl::new(Box::new(lines.as_bytes()), "d", None));
    assert_eq!((summary.embedded, summary.applied.added), (2, 3));
    let heard = heard.into_inner().unwrap();
    assert!(heard.len() == 2 && heard[0] == "Brought(2)" && heard[1].contains("counting"), "{heard:?}");
}

#[test]
fn strict_runs_end_at_a_malformed_line_with_its_place() {
    let temp = Temp::new();
    let file = temp.write("d.jsonl", "{\"id\":1,\"text\":\"a\"}\n{\"id\":\n");
    let shelf = Shelf::default();
    let lenient = run(&Ingest::new("d", &shelf), &mut Jsonl::open(&file).unwrap());
    assert_eq!((lenient.applied.added, lenient.skipped.count), (1, 1));
    let mut strict = Ingest::new("d", &shelf);
    strict.strict = true;
    let failure = strict.run(&mut Jsonl::open(&file).unwrap(), &mut |_| {}).err().unwrap();
    assert!(failure.place().unwrap().to_string().ends_with("d.jsonl:2"));
}

fn npy(rows: &[[f32; 2]]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 2), }}\n", rows.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[test]
fn a_judged_collection_brings_its_vectors() {
    let temp = Temp::new();
    let line = |id: &str| format!("{{\"_id\":\"{id}\",\"title\":\"T\",\"text\":\"Body {id}\"}}\n");
    temp.write("corpus.jsonl", format!("{}broken\n\n{}", line("a"), line("b")));
    let good = temp.write("v.npy", npy(&[[1.0, 0.0], [5.0, 5.0], [0.0, 2.0]]));
    let store = EmbeddedStore::init(&temp.0.join("store")).unwrap();
    store.set_model(&ModelCard { name: "brought".into(), dim: 2, max_tokens: 256 }).unwrap();
    for expected in [applied(2, 0, 0, 0), applied(0, 0, 2, 0)] {
        let mut ingest = Ingest::new("set", &store);
        ingest.known = Some(&store);
        assert_eq!(run(&ingest, &mut Beir::open(&temp.0, Some(&good)).unwrap()).applied, expected);
    }
    let b = store.document("set", "b").unwrap().unwrap();
    assert_eq!((b.chunks.len(), b.chunks[0].vector.as_deref()), (1, Some(&[0.0, 1.0][..])));
    let short = temp.write("short.npy", npy(&[[1.0, 0.0]]));
    let message = Beir::open(&temp.0, Some(&short)).err().unwrap().to_string();
    assert_eq!(message, "expected 3 rows, one for each document, received 1");
}

#[test]
fn the_embedded_store_is_kept_in_step() {
    let temp = Temp::new();
    temp.write("docs/a.md", "# A\n\nOne.\n");
    temp.write("docs/b.rs", "fn b() {}\n");
    let store = EmbeddedStore::init(&temp.0.join("docs/.store")).unwrap();
    let model = Model::new();
    store.set_model(model.card()).unwrap();
    let go = || {
        let mut ingest = Ingest::new("docs", &store);
        ingest.known = Some(&store);
        ingest.embedder = Some(&model);
        ingest.missing = Missing::Remove;
        let except = vec![temp.0.join("docs/.store").canonicalize().unwrap()];
        let options = FolderOptions { except, ..FolderOptions::default() };
        let summary = run(&ingest, &mut Folder::open(&temp.0.join("docs"), options).unwrap());
        (summary.applied, model.read(), summary.skipped.count)
    };
    assert_eq!(go(), (applied(2, 0, 0, 0), 2, 0));
    assert_eq!(go(), (applied(0, 0, 2, 0), 0, 0));
    fs::remove_file(temp.0.join("docs/b.rs")).unwrap();
    assert_eq!(go(), (applied(0, 0, 1, 1), 0, 0));
}

#[cfg(unix)]
#[test]
fn links_in_a_loop_end() {
    let temp = Temp::new();
    temp.write("a/b.md", "# B\n");
    std::os::unix::fs::symlink(&temp.0, temp.0.join("a/loop")).unwrap();
    let shelf = Shelf::default();
    let plain = run(&Ingest::new("l", &shelf), &mut folder(&temp));
    assert_eq!((plain.documents, skipped(&plain)), (1, vec![("a/loop", "a link")]));
    let options = FolderOptions { follow_links: true, ..FolderOptions::default() };
    let followed = run(&Ingest::new("l", &shelf), &mut Folder::open(&temp.0, options).unwrap());
    assert_eq!(followed.documents, 1);
    assert_eq!(skipped(&followed), [("a/loop", "a link to a folder that it is in")]);
}

#[test]
fn a_missing_folder_is_an_error() {
    let error = Folder::open(Path::new("no/such/folder"), FolderOptions::default()).err().unwrap();
    assert!(error.to_string().contains("cannot read the documents"));
}

#[test]
fn a_large_file_is_skipped_without_being_held() {
    let temp = Temp::new();
    temp.write("a.txt", "x".repeat(100));
    let options = FolderOptions { max_bytes: 99, ..FolderOptions::default() };
    let shelf = Shelf::default();
    let summary = run(&Ingest::new("l", &shelf), &mut Folder::open(&temp.0, options).unwrap());
    assert_eq!(skipped(&summary), [("a.txt", "100 bytes long, expected at most 99")]);
}

#[test]
fn a_watched_folder_is_looked_at_after_changes_until_it_is_told_to_stop() {
    let temp = Temp::new();
    temp.write(".gitignore", "out/\n");
    temp.write("out/x", "");
    let (stop, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    let count = || looks.load(Ordering::Relaxed);
    let wait = |wanted: usize| {
        (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            count() >= wanted
        })
    };
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut look = || {
                looks.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            watch::watch(&temp.0, &[], &stop, &mut look).map_err(|failure| failure.to_string())
        });
        assert!(wait(1), "it looks when it starts");
        temp.write("a.md", "# A\n");
        assert!(wait(2), "it looks after a change");
        let before = count();
        temp.write("out/y", "ignored");
        temp.write(".hidden", "hidden");
        std::thread::sleep(std::time::Duration::from_millis(800));
        assert_eq!(count(), before, "what is left out does not count");
        stop.store(true, Ordering::Relaxed);
        watching.join().unwrap().unwrap();
    });
}
