//! Links: what runs say about documents, and taking it back.

use mainstem_core::contract::Filter;
use mainstem_core::link::{
    DocumentName, Edge, Evidence, FoundBy, Judge, Link, LinkQuery, LinkRun, LinkSettings, Recorded, Undone,
    Way,
};
use mainstem_core::time::Moment;

use super::help::{X, Y, delete, document, put};
use super::{Linked, LinkedFactory};

/// The documents of the suite.
const DOCUMENTS: [&str; 5] = ["mail/m", "wiki/a", "wiki/b", "wiki/c", "wiki/d"];

fn name(text: &str) -> DocumentName {
    let (source, id) = text.split_once('/').expect("`source/id`");
    DocumentName { source: source.to_owned(), id: id.to_owned() }
}

fn edge((a, b, score): (&str, &str, f64)) -> Edge {
    let found = vec![
        FoundBy { way: Way::Dense, from_a: true, rank: 1, score: 0.123_456_789_012_345_6 },
        FoundBy { way: Way::Title, from_a: false, rank: 3, score: 7.5 },
    ];
    let (fused, words, common) = (1.0 / 61.0, 1.0 / 3.0, vec!["회의".to_owned(), "FM-1207".to_owned()]);
    let evidence = Evidence { judge: Judge::MaxSim, a_chunk: 1, b_chunk: 2, fused, words, common, found };
    Edge { a: name(a), b: name(b), score, evidence }
}

fn run(id: &str) -> LinkRun {
    LinkRun {
        id: id.to_owned(),
        made_at: Moment::now(),
        settings: LinkSettings { sources: Some(vec!["wiki".into()]), ..LinkSettings::default() },
        model: Some("test".into()),
        sources: vec!["mail".into(), "wiki".into()],
        reader: None,
        restricted: true,
        documents: 5,
        edges: 0,
        undone_at: None,
    }
}

fn filled(fresh: LinkedFactory<'_>) -> Box<dyn Linked> {
    let store = fresh();
    let documents = DOCUMENTS.map(|text| {
        let DocumentName { source, id } = name(text);
        document(&source, &id, "apple", X)
    });
    put(&*store, documents);
    store
}

/// Keeps what a run says.
fn say(store: &dyn Linked, id: &str, said: &[(&str, &str, f64)]) -> Recorded {
    let edges: Vec<_> = said.iter().copied().map(edge).collect();
    store.record(&run(id), &edges).expect("a run that can be kept")
}

fn take_back(store: &dyn Linked, id: &str) -> Option<Undone> {
    store.undo(id, &Moment::now()).expect("an undoing")
}

fn ask(
    store: &dyn Linked,
    document: Option<&str>,
    run: Option<&str>,
    filter: &Filter,
    limit: usize,
) -> Vec<Link> {
    let document = document.map(name);
    store.links(&LinkQuery { document: document.as_ref(), run, among: None, filter, limit }).expect("links")
}

fn all(store: &dyn Linked) -> Vec<Link> {
    ask(store, None, None, &Filter::default(), usize::MAX)
}

/// Links as text, such as `wiki/a–wiki/b 0.5 r1`.
fn text(links: &[Link]) -> Vec<String> {
    let one = |link: &Link| format!("{}–{} {} {}", link.edge.a, link.edge.b, link.edge.score, link.run);
    links.iter().map(one).collect()
}

const fn recorded(added: u64, kept: u64, changed: u64, missed: u64) -> Recorded {
    Recorded { added, kept, changed, missed }
}

pub(super) fn empty(fresh: LinkedFactory<'_>) {
    let store = fresh();
    assert!(store.runs().expect("runs").is_empty());
    assert!(all(&*store).is_empty());
    assert!(ask(&*store, Some("wiki/a"), Some("r1"), &Filter::default(), 5).is_empty());
    assert_eq!(take_back(&*store, "r1"), None);
    assert_eq!(say(&*store, "r1", &[]), Recorded::default(), "a run that found nothing is kept too");
    assert_eq!(store.runs().expect("runs").len(), 1);
}

pub(super) fn comes_back(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let said = edge(("wiki/b", "mail/m", 0.123_456_789_012_345_6));
    let run = LinkRun { edges: 99, ..run("r1") };
    assert_eq!(store.record(&run, std::slice::from_ref(&said)).expect("recorded"), recorded(1, 0, 0, 0));
    let links = all(&*store);
    let expected =
        Link { edge: said.ordered(), run: "r1".into(), made_at: run.made_at.clone(), stale: false };
    assert_eq!(links, [expected], "to the last bit, the ends in order and the evidence with them");
    assert_eq!((links[0].edge.a.to_string().as_str(), links[0].edge.evidence.a_chunk), ("mail/m", 2));
    let kept = LinkRun { edges: 1, ..run };
    assert_eq!(store.runs().expect("runs"), [kept], "with the number of links that were kept");
}

pub(super) fn pairs(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let said = [
        ("wiki/a", "wiki/a", 1.0),
        ("wiki/b", "wiki/a", 0.5),
        ("wiki/a", "wiki/b", 0.7),
        ("wiki/a", "wiki/b", 0.6),
    ];
    assert_eq!(say(&*store, "r1", &said), recorded(1, 0, 0, 0));
    assert_eq!(text(&all(&*store)), ["wiki/a–wiki/b 0.7 r1"]);
    assert_eq!(store.runs().expect("runs")[0].edges, 1);
}

pub(super) fn absent(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let said = [("wiki/a", "wiki/z", 0.5), ("chat/a", "wiki/a", 0.5), ("wiki/a", "wiki/b", 0.5)];
    assert_eq!(say(&*store, "r1", &said), recorded(1, 0, 0, 0));
    assert_eq!(text(&all(&*store)), ["wiki/a–wiki/b 0.5 r1"]);
    put(&*store, [document("wiki", "z", "apple", X)]);
    assert_eq!(all(&*store).len(), 1, "what was left out does not come later");
}

pub(super) fn scores(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let edges = [edge(("wiki/a", "wiki/b", 0.5)), edge(("wiki/a", "wiki/c", wrong))];
        assert!(store.record(&run("r1"), &edges).is_err(), "{wrong}");
    }
    assert!(all(&*store).is_empty() && store.runs().expect("runs").is_empty());
    assert_eq!(say(&*store, "r1", &[("wiki/a", "wiki/b", 0.0), ("wiki/a", "wiki/c", 1.0)]).added, 2);
}

pub(super) fn names(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    say(&*store, "r1", &[("wiki/a", "wiki/b", 0.5)]);
    let again = [edge(("wiki/a", "wiki/c", 0.5))];
    assert!(store.record(&run("r1"), &again).is_err());
    assert_eq!(text(&all(&*store)), ["wiki/a–wiki/b 0.5 r1"]);
    take_back(&*store, "r1");
    assert!(store.record(&run("r1"), &again).is_err(), "nor that of a run that was undone");
    assert!(all(&*store).is_empty());
}

pub(super) fn overlap(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let first = [("wiki/a", "wiki/b", 0.5), ("wiki/a", "wiki/c", 0.6), ("mail/m", "wiki/a", 0.7)];
    assert_eq!(say(&*store, "r1", &first), recorded(3, 0, 0, 0));
    let second = [("wiki/b", "wiki/a", 0.5), ("wiki/a", "wiki/c", 0.9), ("wiki/c", "wiki/d", 0.4)];
    assert_eq!(say(&*store, "r2", &second), recorded(1, 1, 1, 1));
    let expected =
        ["wiki/a–wiki/c 0.9 r2", "mail/m–wiki/a 0.7 r1", "wiki/a–wiki/b 0.5 r2", "wiki/c–wiki/d 0.4 r2"];
    assert_eq!(text(&all(&*store)), expected);
    let narrow = LinkRun { sources: vec!["wiki".into()], ..run("r3") };
    let missed = store.record(&narrow, &[]).expect("recorded").missed;
    assert_eq!(missed, 3, "pairs with an end outside of what the run looked at are not missed");
    let runs: Vec<_> = store.runs().expect("runs").into_iter().map(|run| run.id).collect();
    assert_eq!(runs, ["r3", "r2", "r1"], "the newest first");
}

pub(super) fn again(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let said = [("wiki/a", "wiki/b", 0.1 + 0.2), ("mail/m", "wiki/c", 1.0 / 3.0)];
    say(&*store, "r1", &said);
    assert_eq!(say(&*store, "r2", &said), recorded(0, 2, 0, 0));
    assert_eq!(take_back(&*store, "r2"), Some(Undone { removed: 0, kept: 2 }));
    assert_eq!(all(&*store).len(), 2);
}

/// Two runs that agree on one pair and differ on another.
fn two_runs(fresh: LinkedFactory<'_>) -> Box<dyn Linked> {
    let store = filled(fresh);
    say(&*store, "r1", &[("wiki/a", "wiki/b", 0.5), ("wiki/a", "wiki/c", 0.6)]);
    say(&*store, "r2", &[("wiki/a", "wiki/b", 0.9), ("wiki/a", "wiki/d", 0.7)]);
    store
}

pub(super) fn undo_first(fresh: LinkedFactory<'_>) {
    let store = two_runs(fresh);
    assert_eq!(take_back(&*store, "r1"), Some(Undone { removed: 1, kept: 1 }));
    assert_eq!(text(&all(&*store)), ["wiki/a–wiki/b 0.9 r2", "wiki/a–wiki/d 0.7 r2"]);
    assert_eq!(take_back(&*store, "r2"), Some(Undone { removed: 2, kept: 0 }));
    assert!(all(&*store).is_empty());
}

pub(super) fn undo_later(fresh: LinkedFactory<'_>) {
    let store = two_runs(fresh);
    assert_eq!(take_back(&*store, "r2"), Some(Undone { removed: 1, kept: 1 }));
    assert_eq!(text(&all(&*store)), ["wiki/a–wiki/c 0.6 r1", "wiki/a–wiki/b 0.5 r1"]);
    assert_eq!(take_back(&*store, "r1"), Some(Undone { removed: 2, kept: 0 }));
    assert!(all(&*store).is_empty());
}

pub(super) fn undo_twice(fresh: LinkedFactory<'_>) {
    let store = two_runs(fresh);
    let now = Moment::parse("2026-01-31T09:00:00Z").expect("a time");
    assert!(store.undo("r1", &now).expect("an undoing").is_some());
    let before = all(&*store);
    assert_eq!(take_back(&*store, "r1"), None);
    assert_eq!(take_back(&*store, "r9"), None);
    assert_eq!(all(&*store), before);
    let runs = store.runs().expect("runs");
    assert_eq!(
        (runs[1].id.as_str(), runs[1].undone_at.as_ref()),
        ("r1", Some(&now)),
        "the first time counts"
    );
    assert_eq!(runs[0].undone_at, None);
    assert!(ask(&*store, None, Some("r1"), &Filter::default(), 5).is_empty());
}

pub(super) fn deleted(fresh: LinkedFactory<'_>) {
    let store = two_runs(fresh);
    delete(&*store, "wiki", "b");
    assert_eq!(text(&all(&*store)), ["wiki/a–wiki/d 0.7 r2", "wiki/a–wiki/c 0.6 r1"]);
    assert!(ask(&*store, None, Some("r1"), &Filter::default(), 5).len() == 1, "under the run's name too");
    put(&*store, [document("wiki", "b", "apple", X)]);
    assert_eq!(all(&*store).len(), 2, "one that comes back is another document");
    assert_eq!(take_back(&*store, "r1"), Some(Undone { removed: 1, kept: 0 }));
    assert_eq!(take_back(&*store, "r2"), Some(Undone { removed: 1, kept: 0 }));
}

pub(super) fn stale(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    say(&*store, "r1", &[("mail/m", "wiki/a", 0.9), ("wiki/a", "wiki/b", 0.6), ("wiki/c", "wiki/d", 0.5)]);
    let stale = |store: &dyn Linked| all(store).iter().map(|link| link.stale).collect::<Vec<_>>();
    put(&*store, DOCUMENTS[1..].iter().map(|text| document("wiki", &name(text).id, "apple", X)));
    assert_eq!(stale(&*store), [false; 3], "what did not change is not stale");
    put(&*store, [document("wiki", "b", "pear", Y)]);
    assert_eq!(stale(&*store), [false, true, false]);
    say(&*store, "r2", &[("wiki/a", "wiki/b", 0.6)]);
    assert_eq!(stale(&*store), [false; 3], "a run that looked since knows better");
    take_back(&*store, "r2");
    assert_eq!(stale(&*store), [false, true, false], "and what the first one said is as stale as before");
    let long_ago = Moment::parse("2020-01-01").expect("a time");
    let early = LinkRun { made_at: long_ago, ..run("r3") };
    store.record(&early, &[edge(("wiki/c", "wiki/d", 0.5))]).expect("recorded");
    assert_eq!(stale(&*store), [false, true, true], "written after the run looked, before it was kept");
}

pub(super) fn hidden(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let mut secret = document("wiki", "s", "apple", X);
    secret.readers = Some(vec!["ann".into(), "bob".into()]);
    let mut closed = document("wiki", "n", "apple", X);
    closed.readers = Some(Vec::new());
    put(&*store, [secret, closed]);
    let said = [
        ("mail/m", "wiki/a", 0.9),
        ("wiki/a", "wiki/s", 0.8),
        ("wiki/b", "wiki/n", 0.7),
        ("wiki/a", "wiki/b", 0.6),
    ];
    say(&*store, "r1", &said);
    let seen = |filter: Filter| {
        let links = text(&ask(&*store, None, None, &filter, 10));
        let of_run = text(&ask(&*store, None, Some("r1"), &filter, 10));
        assert_eq!(links, of_run, "by run as by pair");
        links.into_iter().map(|link| link[..link.find(' ').unwrap_or(0)].to_owned()).collect::<Vec<_>>()
    };
    let only = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect::<Vec<_>>());
    let inside = ["wiki/a–wiki/s", "wiki/b–wiki/n", "wiki/a–wiki/b"];
    assert_eq!(seen(Filter { scope: only(&["wiki"]), ..Filter::default() }), inside);
    assert_eq!(seen(Filter { sources: only(&["wiki", "chat"]), ..Filter::default() }), inside);
    let both = Filter { scope: only(&["wiki"]), sources: only(&["mail"]), ..Filter::default() };
    assert!(seen(both).is_empty());
    assert!(seen(Filter { scope: only(&[]), ..Filter::default() }).is_empty());
    let reader = |name: &str| Filter { reader: Some(name.into()), ..Filter::default() };
    assert_eq!(seen(reader("ann")), ["mail/m–wiki/a", "wiki/a–wiki/s", "wiki/a–wiki/b"]);
    assert_eq!(seen(reader("eve")), ["mail/m–wiki/a", "wiki/a–wiki/b"]);
    assert!(ask(&*store, Some("wiki/s"), None, &reader("eve"), 10).is_empty(), "nor from the hidden end");
}

pub(super) fn asked(fresh: LinkedFactory<'_>) {
    let store = two_runs(fresh);
    say(&*store, "r3", &[("mail/m", "wiki/b", 0.3)]);
    let filter = Filter::default();
    let of = |document, run| text(&ask(&*store, document, run, &filter, 10));
    assert_eq!(of(Some("wiki/b"), None), ["wiki/a–wiki/b 0.9 r2", "mail/m–wiki/b 0.3 r3"], "either end");
    assert_eq!(of(None, Some("r1")), ["wiki/a–wiki/c 0.6 r1", "wiki/a–wiki/b 0.5 r1"], "as it said");
    assert_eq!(of(Some("wiki/b"), Some("r1")), ["wiki/a–wiki/b 0.5 r1"]);
    assert!(of(Some("wiki/b"), Some("r9")).is_empty() && of(Some("wiki/z"), None).is_empty());
    assert!(of(Some("mail/b"), None).is_empty(), "a name is source and id");
}

pub(super) fn among(fresh: LinkedFactory<'_>) {
    let store = two_runs(fresh);
    say(&*store, "r3", &[("wiki/a", "wiki/b", 0.2), ("mail/m", "wiki/a", 0.3)]);
    let of = |document: Option<&str>, run: Option<&str>, runs: &[&str]| {
        let document = document.map(name);
        let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
        let filter = Filter::default();
        let query =
            LinkQuery { document: document.as_ref(), run, among: Some(&runs), filter: &filter, limit: 10 };
        text(&store.links(&query).expect("links"))
    };
    let (first, second) =
        (["wiki/a–wiki/c 0.6 r1", "wiki/a–wiki/b 0.5 r1"], ["wiki/a–wiki/b 0.9 r2", "wiki/a–wiki/d 0.7 r2"]);
    assert_eq!(of(None, None, &["r1"]), first, "what later runs said does not hide it");
    assert_eq!(of(Some("wiki/a"), None, &["r2"]), second);
    assert_eq!(of(Some("wiki/b"), None, &["r1", "r2", "r9"]), [second[0]], "the newest of those that count");
    assert_eq!(of(None, Some("r1"), &["r1", "r3"]), first);
    assert!(of(None, Some("r2"), &["r1", "r3"]).is_empty(), "not even by its name");
    assert!(of(None, None, &[]).is_empty() && of(None, None, &["r9", "\"]", "%"]).is_empty());
    take_back(&*store, "r1");
    assert!(of(None, None, &["r1"]).is_empty());
}

pub(super) fn readers(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let limits = [(None, true), (None, false), (Some("ann"), true), (Some("앤 \"%'"), false)];
    for (at, (reader, restricted)) in limits.into_iter().enumerate() {
        let run = LinkRun { reader: reader.map(str::to_owned), restricted, ..run(&format!("r{at}")) };
        store.record(&run, &[]).expect("recorded");
    }
    let kept = store.runs().expect("runs");
    let kept: Vec<_> = kept.iter().rev().map(|run| (run.reader.as_deref(), run.restricted)).collect();
    assert_eq!(kept, limits);
}

pub(super) fn ordered(fresh: LinkedFactory<'_>) {
    let store = filled(fresh);
    let said = [
        ("wiki/c", "wiki/d", 0.5),
        ("wiki/b", "wiki/d", 0.5),
        ("wiki/a", "wiki/d", 0.4),
        ("wiki/b", "wiki/c", 0.5),
        ("mail/m", "wiki/d", 0.5),
        ("wiki/a", "wiki/c", 0.6),
    ];
    say(&*store, "r1", &said);
    let expected = [
        "wiki/a–wiki/c 0.6 r1",
        "mail/m–wiki/d 0.5 r1",
        "wiki/b–wiki/c 0.5 r1",
        "wiki/b–wiki/d 0.5 r1",
        "wiki/c–wiki/d 0.5 r1",
        "wiki/a–wiki/d 0.4 r1",
    ];
    for limit in 0..8 {
        let links = text(&ask(&*store, None, None, &Filter::default(), limit));
        assert_eq!(links, expected[..limit.min(expected.len())]);
    }
    let wiki = Filter { sources: Some(vec!["wiki".into()]), ..Filter::default() };
    assert_eq!(text(&ask(&*store, None, None, &wiki, 2)), [expected[0], expected[2]], "a filter comes first");
}

pub(super) fn foretold(fresh: LinkedFactory<'_>) {
    let store = two_runs(fresh);
    let said = [("wiki/b", "wiki/a", 0.9), ("wiki/a", "wiki/c", 0.61), ("mail/m", "wiki/a", 0.2)];
    let edges: Vec<_> = said.iter().copied().map(edge).collect();
    let before = all(&*store);
    let foretold = store.changes(&run("r3"), &edges).expect("changes");
    assert_eq!(all(&*store), before);
    assert_eq!(store.runs().expect("runs").len(), 2, "nothing was kept");
    assert_eq!(say(&*store, "r3", &said), foretold);
    assert_eq!(foretold, recorded(1, 1, 1, 1));
}

pub(super) fn survives(open: LinkedFactory<'_>) {
    let before = {
        let store = two_runs(open);
        take_back(&*store, "r1");
        (all(&*store), store.runs().expect("runs"))
    };
    let store = open();
    assert_eq!((all(&*store), store.runs().expect("runs")), before);
    assert_eq!(take_back(&*store, "r2"), Some(Undone { removed: 2, kept: 0 }));
    drop(store);
    assert!(all(&*open()).is_empty());
}
