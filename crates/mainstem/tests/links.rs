//! Links in the embedded store: the contract, a model of it, and stores that were made before there were links.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mainstem::link::Linker;
use mainstem::store::{EmbeddedStore, conformance};
use mainstem_core::contract::{Change, Filter, ModelCard};
use mainstem_core::link::{
    DocumentName, Edge, EdgeStore as _, Edges as _, Evidence, Judge, LinkQuery, LinkRun, LinkSettings,
    Recorded, Undone,
};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Code, Diagnostic, Document};
use proptest::prelude::*;
use tempfile::TempDir;

fn open(dir: &Path) -> EmbeddedStore {
    let store = EmbeddedStore::init(dir).unwrap();
    let model = ModelCard { name: "test".into(), dim: conformance::DIM, max_tokens: 128 };
    store.set_model(&model).unwrap();
    store
}

#[test]
fn the_contract_is_kept() {
    let folders = RefCell::new(Vec::new());
    conformance::links(&|| {
        let folder = TempDir::new().unwrap();
        let store = open(folder.path());
        folders.borrow_mut().push(folder);
        Box::new(store)
    });
    let folder = TempDir::new().unwrap();
    conformance::reopening_links(&|| Box::new(open(folder.path())));
}

fn document(id: &str, text: &str) -> Document {
    let chunk = Chunk { span: 0..text.len(), text: text.to_owned(), ..Chunk::default() };
    let (source, chunks) = ("s".to_owned(), vec![chunk]);
    Document { source, id: id.to_owned(), text: text.to_owned(), chunks, ..Document::default() }
}

fn edge(a: &str, b: &str, score: f64) -> Edge {
    let name = |id: &str| DocumentName { source: "s".into(), id: id.into() };
    let evidence = Evidence {
        judge: Judge::Words,
        a_chunk: 0,
        b_chunk: 0,
        fused: 0.5,
        words: 0.5,
        common: Vec::new(),
        found: Vec::new(),
    };
    Edge { a: name(a), b: name(b), score, evidence }
}

fn run(id: &str) -> LinkRun {
    LinkRun {
        id: id.to_owned(),
        made_at: Moment::now(),
        settings: LinkSettings::default(),
        model: None,
        sources: vec!["s".into()],
        reader: None,
        restricted: true,
        documents: 0,
        edges: 0,
        undone_at: None,
    }
}

/// All links of a store, by pair: score, run, and whether it is stale.
type Graph = BTreeMap<(String, String), (f64, String, bool)>;

fn graph(store: &EmbeddedStore) -> Graph {
    let filter = Filter::default();
    let all = LinkQuery { document: None, run: None, among: None, filter: &filter, limit: usize::MAX };
    let links = store.links(&all).unwrap();
    let count = links.len();
    let graph: Graph = links
        .into_iter()
        .map(|link| ((link.edge.a.id, link.edge.b.id), (link.edge.score, link.run, link.stale)))
        .collect();
    assert_eq!(graph.len(), count, "each pair once");
    graph
}

fn assert_healthy(store: &EmbeddedStore) {
    let report = store.doctor();
    assert!(report.is_healthy(), "{report:?}");
}

/// What may happen to a store with links.
#[derive(Clone, Debug)]
enum Step {
    Say(Vec<(u8, u8, u8)>),
    Undo(usize),
    Delete(u8),
    Put(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 0..5_u8;
    prop_oneof![
        4 => prop::collection::vec((id(), id(), 0..4_u8), 0..6).prop_map(Step::Say),
        2 => (0..6_usize).prop_map(Step::Undo),
        1 => id().prop_map(Step::Delete),
        2 => (id(), 0..2_u8).prop_map(|(id, version)| Step::Put(id, version)),
    ]
}

/// A claim of a run: the score, and the versions of both ends that it saw.
type Claims = BTreeMap<(u8, u8), (f64, u8, u8)>;

/// The same in memory, without any cleverness.
#[derive(Default)]
struct Model {
    documents: BTreeMap<u8, u8>,
    /// In the order of the runs; a run that was undone has none.
    runs: Vec<Option<Claims>>,
}

impl Model {
    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (number, claims) in self.runs.iter().enumerate() {
            for (&(a, b), &(score, seen_a, seen_b)) in claims.iter().flatten() {
                let stale = self.documents[&a] != seen_a || self.documents[&b] != seen_b;
                graph.insert((a.to_string(), b.to_string()), (score, format!("r{number}"), stale));
            }
        }
        graph
    }

    fn say(&mut self, said: &[(u8, u8, u8)]) -> Recorded {
        let before = self.graph();
        let mut claims = Claims::new();
        for &(x, y, score) in said {
            let (a, b) = (x.min(y), x.max(y));
            let (Some(&seen_a), Some(&seen_b)) = (self.documents.get(&a), self.documents.get(&b)) else {
                continue;
            };
            let score = f64::from(score) / 4.0;
            if a != b && claims.get(&(a, b)).is_none_or(|(known, ..)| *known < score) {
                claims.insert((a, b), (score, seen_a, seen_b));
            }
        }
        let mut recorded = Recorded::default();
        let mut pairs = BTreeSet::new();
        for ((a, b), (score, ..)) in &claims {
            let pair = (a.to_string(), b.to_string());
            recorded.count(before.get(&pair).map(|(score, ..)| *score), *score);
            pairs.insert(pair);
        }
        recorded.missed = before.keys().filter(|pair| !pairs.contains(*pair)).count() as u64;
        self.runs.push(Some(claims));
        recorded
    }

    fn undo(&mut self, number: usize) -> Option<Undone> {
        let before = self.graph();
        let said = self.runs.get_mut(number)?.take()?;
        let removed = (before.len() - self.graph().len()) as u64;
        Some(Undone { removed, kept: said.len() as u64 - removed })
    }

    fn delete(&mut self, id: u8) {
        self.documents.remove(&id);
        for claims in self.runs.iter_mut().flatten() {
            claims.retain(|(a, b), _| *a != id && *b != id);
        }
    }
}

/// Does the same to both, and expects the same of both.
fn take(step: &Step, store: &EmbeddedStore, model: &mut Model) {
    match step {
        Step::Say(said) => {
            let edge =
                |&(a, b, score): &(u8, u8, u8)| edge(&a.to_string(), &b.to_string(), f64::from(score) / 4.0);
            let edges: Vec<_> = said.iter().map(edge).collect();
            let name = format!("r{}", model.runs.len());
            assert_eq!(store.record(&run(&name), &edges).unwrap(), model.say(said), "{step:?}");
        }
        Step::Undo(number) => {
            let undone = store.undo(&format!("r{number}"), &Moment::now()).unwrap();
            assert_eq!(undone, model.undo(*number), "{step:?}");
        }
        Step::Delete(id) => {
            store.write(&[Change::Delete { source: "s".into(), id: id.to_string() }]).unwrap();
            model.delete(*id);
        }
        Step::Put(id, version) => {
            let text = format!("version {version} of it");
            store.write(&[Change::Put(document(&id.to_string(), &text))]).unwrap();
            model.documents.insert(*id, *version);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_is_as_in_the_model(steps in prop::collection::vec(step(), 1..24)) {
        let folder = TempDir::new().unwrap();
        let store = open(folder.path());
        let mut model = Model::default();
        for id in 0..4 {
            take(&Step::Put(id, 0), &store, &mut model);
        }
        for step in &steps {
            take(step, &store, &mut model);
            prop_assert_eq!(graph(&store), model.graph(), "after {:?}", step);
        }
        assert_healthy(&store);
        for number in (0..model.runs.len()).rev().step_by(2).chain(0..model.runs.len()) {
            take(&Step::Undo(number), &store, &mut model);
            prop_assert_eq!(graph(&store), model.graph());
        }
        prop_assert!(graph(&store).is_empty(), "undoing everything leaves nothing");
    }
}

/// Turns a store into one of the first format, which had no links.
fn make_old(dir: &Path) {
    let conn = rusqlite::Connection::open(dir.join("truth.sqlite")).unwrap();
    conn.execute_batch("DROP TABLE edges; DROP TABLE link_runs; PRAGMA user_version = 1").unwrap();
}

#[test]
fn a_store_of_the_first_format_gets_links_when_it_is_opened_for_writing() {
    let folder = TempDir::new().unwrap();
    let dir = folder.path();
    open(dir).write(&[Change::Put(document("a", "x")), Change::Put(document("b", "y"))]).unwrap();
    make_old(dir);
    let reading = EmbeddedStore::open_read_only(dir).unwrap();
    assert!(graph(&reading).is_empty() && reading.runs().unwrap().is_empty());
    assert_healthy(&reading);
    let store = open(dir);
    assert_eq!(store.sources().unwrap()[0].documents, 2);
    assert_eq!(store.record(&run("r1"), &[edge("a", "b", 0.5)]).unwrap().added, 1);
    assert_eq!(graph(&store).len(), 1);
    assert_eq!(graph(&reading).len(), 1, "whoever has it open for reading sees them too");
    assert_healthy(&store);
    drop(store);
    assert_eq!(graph(&open(dir)).len(), 1, "and it is done once");
}

#[test]
fn a_run_knows_whether_everybody_may_read_what_it_looked_at() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    let limited = |id: &str, readers: &[&str]| {
        let readers = Some(readers.iter().map(ToString::to_string).collect());
        Document { source: "t".into(), readers, ..document(id, "a release and its rollback") }
    };
    let public = ["a", "b"].map(|id| Change::Put(document(id, "the rollback of a release")));
    store.write(&public).unwrap();
    store.write(&[Change::Put(Document { chunks: Vec::new(), ..limited("empty", &["bob"]) })]).unwrap();
    let look = |sources: Option<&str>, reader: Option<&str>| {
        let sources = sources.map(|source| vec![source.to_owned()]);
        let settings = LinkSettings { sources, judge: Some(Judge::Words), ..LinkSettings::default() };
        let filter = Filter { reader: reader.map(str::to_owned), ..Filter::default() };
        let linker = Linker { store: &store, states: None, settings: &settings, filter: &filter };
        let (run, _) = linker.find(&Moment::now(), &|_, _| true).unwrap().unwrap();
        (run.reader, run.restricted)
    };
    let ann = || Some("ann".to_owned());
    assert_eq!(look(None, None), (None, false), "one without chunks is not looked at");
    store.write(&[Change::Put(limited("bob", &["bob"]))]).unwrap();
    assert_eq!((look(None, None), look(Some("s"), None)), ((None, true), (None, false)));
    assert_eq!(look(None, Some("ann")), (ann(), false));
    store.write(&[Change::Put(limited("both", &["ann", "bob"]))]).unwrap();
    assert_eq!(look(None, Some("ann")), (ann(), true));
    store.write(&[Change::Put(limited("none", &[]))]).unwrap();
    assert_eq!(look(Some("s"), Some("ann")), (ann(), false));
}

#[test]
fn runs_of_the_second_format_are_taken_to_be_limited() {
    let folder = TempDir::new().unwrap();
    let dir = folder.path();
    let store = open(dir);
    store.write(&[Change::Put(document("a", "x")), Change::Put(document("b", "y"))]).unwrap();
    let old = LinkRun { restricted: false, ..run("r1") };
    store.record(&old, &[edge("a", "b", 0.5)]).unwrap();
    drop(store);
    let conn = rusqlite::Connection::open(dir.join("truth.sqlite")).unwrap();
    let older = "ALTER TABLE link_runs DROP COLUMN reader; ALTER TABLE link_runs DROP COLUMN restricted; PRAGMA user_version = 2";
    conn.execute_batch(older).unwrap();
    drop(conn);
    let ann = Filter { reader: Some("ann".into()), ..Filter::default() };
    let seen = |store: &EmbeddedStore| {
        let runs = store.runs().unwrap();
        runs.iter().map(|run| (run.reader.clone(), run.restricted, run.is_within(&ann))).collect::<Vec<_>>()
    };
    let reading = EmbeddedStore::open_read_only(dir).unwrap();
    assert_eq!((graph(&reading).len(), seen(&reading)), (1, vec![(None, true, false)]));
    let store = open(dir);
    assert_eq!((graph(&store).len(), seen(&store)), (1, vec![(None, true, false)]));
    let new = LinkRun { reader: Some("ann".into()), restricted: false, ..run("r2") };
    store.record(&new, &[]).unwrap();
    let both = vec![(Some("ann".into()), false, true), (None, true, false)];
    assert_eq!((seen(&store), seen(&reading)), (both.clone(), both));
    assert_healthy(&store);
    drop(store);
    assert_eq!(seen(&open(dir)).len(), 2, "and it is done once");
}

#[test]
fn a_store_of_a_newer_format_is_refused() {
    let folder = TempDir::new().unwrap();
    drop(open(folder.path()));
    let conn = rusqlite::Connection::open(folder.path().join("truth.sqlite")).unwrap();
    conn.pragma_update(None, "user_version", 4).unwrap();
    drop(conn);
    let error = EmbeddedStore::init(folder.path()).unwrap_err();
    assert_eq!(error.code(), Code::Newer);
    assert_eq!(error.to_string(), "the store has format 4, expected at most 3");
    assert_eq!(EmbeddedStore::open_read_only(folder.path()).unwrap_err().code(), Code::Newer);
}

#[test]
fn links_that_hang_in_the_air_are_found_by_the_doctor() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    store.write(&[Change::Put(document("a", "x")), Change::Put(document("b", "y"))]).unwrap();
    store.record(&run("r1"), &[edge("a", "b", 0.5)]).unwrap();
    assert_healthy(&store);
    let conn = rusqlite::Connection::open(folder.path().join("truth.sqlite")).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF; UPDATE edges SET b = 99").unwrap();
    let findings = store.doctor().findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].what, "1 link are of documents or runs that are gone, first of all `r1`");
    assert!(findings[0].fix.contains("mainstem link undo"));
    store.undo("r1", &Moment::now()).unwrap();
    assert_healthy(&store);
}

#[test]
fn a_store_that_is_open_for_reading_takes_no_links() {
    let folder = TempDir::new().unwrap();
    drop(open(folder.path()));
    let reading = EmbeddedStore::open_read_only(folder.path()).unwrap();
    let refused = reading.record(&run("r1"), &[]).unwrap_err().to_string();
    assert!(refused.contains("open for reading"), "{refused}");
}
