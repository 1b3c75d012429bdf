//! Links between the documents of the recipes, held against what their judgements and their writers say.
//!
//! Two documents belong together when they are judged relevant for the same question, or when one names the other as related. All 16 sources
//! are in one store; a link from one recipe to another is wrong in any case.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use mainstem::link::Linker;
use mainstem::rerank::MaxSim;
use mainstem_core::Document;
use mainstem_core::contract::{Change, Filter};
use mainstem_core::link::{Edge, EdgeStore as _, Edges as _, Judge, LinkQuery, LinkRun, LinkSettings, Way};
use mainstem_core::time::Moment;

use super::recipes::{RECIPES, Vectors, path, sources, stored};
use super::stored::Stored;

type Pairs = BTreeSet<(String, String)>;

fn pair(x: &str, y: &str) -> (String, String) {
    (x.min(y).to_owned(), x.max(y).to_owned())
}

fn look(stored: &Stored, settings: &LinkSettings, states: Option<Arc<MaxSim>>) -> (LinkRun, Vec<Edge>) {
    let linker = Linker { store: &stored.store, states, settings, filter: &Filter::default() };
    linker.find(&Moment::now(), &|_, _| true).unwrap().unwrap()
}

/// The pairs that belong together, and the documents of which that is known.
struct Truth {
    pairs: Pairs,
    known: BTreeSet<String>,
}

impl Truth {
    /// What questions say.
    fn judged() -> Self {
        let mut truth = Self { pairs: Pairs::new(), known: BTreeSet::new() };
        for (recipe, _) in RECIPES {
            let lines = fs::read_to_string(path(&format!("{recipe}/qrels.tsv"))).unwrap();
            let rows: Vec<Vec<&str>> = lines.lines().skip(1).map(|line| line.split('\t').collect()).collect();
            for x in rows.iter().filter(|row| row[2] != "0") {
                truth.known.insert(x[1].to_owned());
                let same = rows.iter().filter(|y| y[0] == x[0] && y[1] != x[1] && y[2] != "0");
                truth.pairs.extend(same.map(|y| pair(x[1], y[1])));
            }
        }
        truth
    }

    /// What the writers of the documentation say.
    fn written(stored: &Stored) -> Self {
        let (_, sources) = RECIPES.iter().find(|(recipe, _)| *recipe == "docs-team").unwrap();
        let documents = sources.iter().flat_map(|(source, _)| stored.documents(source));
        let mut truth = Self { pairs: Pairs::new(), known: BTreeSet::new() };
        for document in documents {
            let name = format!("{}/{}", document.source, document.id);
            let related = document.metadata.get("related").and_then(|list| list.as_array());
            for other in related.into_iter().flatten() {
                truth.pairs.insert(pair(&name, other.as_str().unwrap()));
            }
            truth.known.insert(name);
        }
        truth
    }

    /// Precision among links of documents that are known, recall, and how many links that was.
    fn measure(&self, links: &Pairs) -> (f64, f64, usize) {
        let known: Vec<_> =
            links.iter().filter(|(a, b)| self.known.contains(a) && self.known.contains(b)).collect();
        let right = known.iter().filter(|pair| self.pairs.contains(**pair)).count();
        let share = |of: usize| right as f64 / of.max(1) as f64;
        (share(known.len()), share(self.pairs.len()), known.len())
    }
}

/// The recipe of a document.
fn recipe(name: &str) -> &'static str {
    let source = name.split('/').next().unwrap();
    sources().into_iter().find(|(_, known, _)| *known == source).unwrap().0
}

fn named(edges: &[Edge]) -> Pairs {
    edges.iter().map(|edge| pair(&edge.a.to_string(), &edge.b.to_string())).collect()
}

/// How links fare: the share within a recipe, and the precisions by judgements and by writers.
type Fares = (f64, f64, f64);

/// Prints how links fare by their least score, and gives it for the default.
///
/// The best few of a document with a greater least score are the first of those with a smaller one, so that one look serves all rows.
fn table(stored: &Stored, judge: Judge, words: f64, states: Option<&Arc<MaxSim>>) -> Fares {
    let settings = LinkSettings { judge: Some(judge), least: Some(0.0), words, ..LinkSettings::default() };
    let (_, edges) = look(stored, &settings, states.cloned());
    let (judged, written) = (Truth::judged(), Truth::written(stored));
    println!(
        "{} with words ≥ {words}: least, links, in one recipe | judged: precision, recall | written: precision, recall",
        judge.as_str()
    );
    let row = |least: f64| {
        let links: Vec<_> = edges.iter().filter(|edge| edge.score >= least).cloned().collect();
        let links = named(&links);
        let inside = links.iter().filter(|(a, b)| recipe(a) == recipe(b)).count();
        let inside = inside as f64 / links.len().max(1) as f64;
        let (precision, recall, of) = judged.measure(&links);
        let (as_written, written_recall, written_of) = written.measure(&links);
        let by_judges = format!("{precision:.2} of {of:3} {recall:.2}");
        let by_writers = format!("{as_written:.2} of {written_of:3} {written_recall:.2}");
        println!("{least:.2} {:4} {inside:.2} | {by_judges} | {by_writers}", links.len());
        (inside, precision, as_written)
    };
    for step in 0..16 {
        row(f64::from(step) * 0.05);
    }
    println!("by default:");
    row(judge.least())
}

#[test]
fn links_of_the_recipes_mean_something() {
    let stored = stored(&sources(), &Vectors::read());
    let bench = [(Judge::Cosine, None), (Judge::Words, None)];
    // Without optimisation it takes minutes.
    let maxsim = MaxSim::standard().map(Arc::new).ok().filter(|_| !cfg!(debug_assertions));
    if maxsim.is_none() {
        println!("skipped for MaxSim: it needs its model, and a build with optimisation");
    }
    let with_model = maxsim.map(|states| (Judge::MaxSim, Some(states)));
    for (judge, states) in bench.into_iter().chain(with_model) {
        table(&stored, judge, 0.0, states.as_ref());
        let words = LinkSettings::default().words;
        let (inside, judged, written) = table(&stored, judge, words, states.as_ref());
        assert!(inside >= 0.9 && judged >= 0.8 && written >= 0.7, "{judge:?}: {inside} {judged} {written}");
    }
}

#[test]
fn the_same_links_on_any_number_of_threads_and_again() {
    let stored = stored(&sources()[..6], &Vectors::read());
    for judge in [Judge::Cosine, Judge::Words] {
        let settings = LinkSettings { judge: Some(judge), ..LinkSettings::default() };
        let filter = Filter::default();
        let linker = Linker { store: &stored.store, states: None, settings: &settings, filter: &filter };
        let (run, edges) = linker.find_on(1, &Moment::now(), &|_, _| true).unwrap().unwrap();
        assert!(!edges.is_empty());
        for threads in [2, 5] {
            let (_, again) = linker.find_on(threads, &Moment::now(), &|_, _| true).unwrap().unwrap();
            assert_eq!(again, edges, "{judge:?} on {threads} threads");
        }
        stored.store.record(&run, &edges).unwrap();
        let (run, edges) = linker.find(&Moment::now(), &|_, _| true).unwrap().unwrap();
        let recorded = stored.store.record(&run, &edges).unwrap();
        assert_eq!(
            (recorded.added, recorded.kept, recorded.changed),
            (0, edges.len() as u64, 0),
            "{judge:?}"
        );
    }
    let runs: BTreeSet<String> = stored.store.runs().unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(runs.len(), 4, "each has a name of its own");
}

#[test]
fn a_copy_in_another_source_is_linked_by_every_judge() {
    let stored = stored(&sources()[..3], &Vectors::read());
    let original = stored.documents("wiki").into_iter().next().unwrap();
    let copy = Document { source: "mirror".into(), ..original.clone() };
    stored.store.write(&[Change::Put(copy)]).unwrap();
    for judge in [Judge::Cosine, Judge::Words] {
        let settings = LinkSettings { judge: Some(judge), ..LinkSettings::default() };
        let (_, edges) = look(&stored, &settings, None);
        let is_copy =
            |edge: &&Edge| edge.a.source == "mirror" && edge.b.source == "wiki" && edge.a.id == edge.b.id;
        let edge = edges.iter().find(is_copy).unwrap();
        assert!(edge.score > 0.99, "{judge:?}: {}", edge.score);
        let found: BTreeSet<Way> = edge.evidence.found.iter().map(|found| found.way).collect();
        assert!(
            found.len() == 3 && edge.evidence.found.len() == 6,
            "every way, from both: {:?}",
            edge.evidence
        );
        assert!(edge.evidence.found.iter().all(|found| found.rank == 1));
    }
}

#[test]
fn settings_bound_what_is_linked() {
    let stored = stored(&sources()[..6], &Vectors::read());
    let loose = LinkSettings { least: Some(0.2), ..LinkSettings::default() };
    let (run, all) = look(&stored, &loose, None);
    assert_eq!((run.documents, run.edges), (20 + 21 + 18 + 22 + 18 + 14, all.len() as u64));
    assert_eq!(run.sources, ["code", "documents", "episodes", "facts", "reviews", "wiki"]);
    assert!(all.iter().all(|edge| edge.a < edge.b && edge.score >= 0.2));
    let across = LinkSettings { within: false, ..loose.clone() };
    let (_, edges) = look(&stored, &across, None);
    assert!(!edges.is_empty() && edges.iter().all(|edge| edge.a.source != edge.b.source));
    let some = LinkSettings { sources: Some(vec!["wiki".into(), "code".into()]), ..loose.clone() };
    let (run, edges) = look(&stored, &some, None);
    let inside = |source: &str| ["wiki", "code"].contains(&source);
    assert!(!edges.is_empty() && edges.iter().all(|edge| inside(&edge.a.source) && inside(&edge.b.source)));
    assert_eq!(run.sources, ["code", "wiki"]);
    let one = LinkSettings { per_document: 1, ..loose.clone() };
    let (_, edges) = look(&stored, &one, None);
    assert!(edges.len() < all.len() && edges.len() as u64 <= run_documents(&stored));
    let high = LinkSettings { least: Some(1.0), ..loose };
    assert!(look(&stored, &high, None).1.iter().all(|edge| edge.score >= 1.0));
}

fn run_documents(stored: &Stored) -> u64 {
    stored.store.sources().unwrap().iter().map(|source| source.documents).sum()
}

#[test]
fn what_cannot_be_seen_is_not_linked() {
    let stored = stored(&sources()[..3], &Vectors::read());
    let mut secret = stored.documents("wiki").remove(0);
    secret.readers = Some(vec!["ann".into()]);
    let name = secret.id.clone();
    stored.store.write(&[Change::Put(secret)]).unwrap();
    let settings = LinkSettings { least: Some(0.0), ..LinkSettings::default() };
    let links_as = |filter: &Filter| {
        let linker = Linker { store: &stored.store, states: None, settings: &settings, filter };
        let (run, edges) = linker.find(&Moment::now(), &|_, _| true).unwrap().unwrap();
        let of = edges.iter().flat_map(|edge| [&edge.a, &edge.b]);
        (run.documents, of.filter(|end| end.source == "wiki" && end.id == name).count())
    };
    let reader = |name: &str| Filter { reader: Some(name.into()), ..Filter::default() };
    let (all, of) = links_as(&reader("ann"));
    assert!(of > 0);
    assert_eq!(links_as(&reader("eve")), (all - 1, 0));
    let scope = Filter { scope: Some(vec!["code".into()]), ..Filter::default() };
    assert_eq!(links_as(&scope), (20, 0));
}

#[test]
fn it_stops_when_told_and_says_what_is_wrong() {
    let stored = stored(&sources()[..2], &Vectors::read());
    let find = |settings: &LinkSettings, stop_at: u64| {
        let filter = Filter { scope: Some(vec!["code".into(), "reviews".into()]), ..Filter::default() };
        let linker = Linker { store: &stored.store, states: None, settings, filter: &filter };
        linker.find(&Moment::now(), &|done, of| {
            assert!(done <= of && of == 2 * 41);
            done < stop_at
        })
    };
    let usual = LinkSettings::default();
    assert!(find(&usual, 0).unwrap().is_none() && find(&usual, 50).unwrap().is_none());
    assert!(find(&usual, u64::MAX).unwrap().is_some());
    let wrong = |settings: LinkSettings| find(&settings, u64::MAX).unwrap_err().to_string();
    let unknown = wrong(LinkSettings { sources: Some(vec!["cod".into()]), ..usual.clone() });
    assert!(unknown.contains("`cod`"), "{unknown}");
    assert!(wrong(LinkSettings { least: Some(2.0), ..usual.clone() }).contains("`least`"));
    let model = wrong(LinkSettings { judge: Some(Judge::MaxSim), ..usual });
    assert!(model.contains("all-MiniLM-L6-v2"), "{model}");
}

#[test]
fn links_of_one_document_say_why() {
    let stored = stored(&sources(), &Vectors::read());
    let (run, edges) = look(&stored, &LinkSettings::default(), None);
    stored.store.record(&run, &edges).unwrap();
    let document = mainstem_core::link::DocumentName { source: "guides".into(), id: "domains".into() };
    let query = LinkQuery {
        document: Some(&document),
        run: None,
        among: None,
        filter: &Filter::default(),
        limit: 10,
    };
    let links = stored.store.links(&query).unwrap();
    let ends: Vec<String> = links
        .iter()
        .map(|link| if link.edge.a == document { link.edge.b.to_string() } else { link.edge.a.to_string() })
        .collect();
    assert!(ends.contains(&"faq/domain-pending".to_owned()), "{ends:?}");
    assert!(links.iter().all(|link| !link.edge.evidence.found.is_empty() && link.edge.evidence.fused > 0.0));
}
