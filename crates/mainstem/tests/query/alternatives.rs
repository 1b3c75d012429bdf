//! What else could have come first.

use mainstem::query::{Alternative, Request, Response};
use mainstem_core::contract::{Channel, Filter};
use serde_json::json;

use super::fakes::{Act, Fake, chunk, engine, ids, request};

/// Meaning, words and both together each have another favourite.
fn torn() -> Fake {
    Fake::new().dense(Act::Give(vec![(11, 0.9), (2, 0.85), (1, 0.5), (13, 0.2)])).lexical(Act::Give(vec![
        (13, 8.0),
        (2, 7.0),
        (11, 1.0),
    ]))
}

fn alternatives(fake: Fake, request: Request) -> (Response, Vec<Alternative>) {
    let (engine, _) = engine(fake);
    let response = engine.search(&Request { alternatives: true, ..request }).unwrap();
    let others = response.alternatives.clone().unwrap();
    (response, others)
}

fn find<'a>(others: &'a [Alternative], name: &str) -> &'a Alternative {
    others.iter().find(|other| other.name == name).unwrap()
}

#[test]
fn every_other_way_is_there_once() {
    let (response, others) = alternatives(torn(), request("fork"));
    assert_eq!(ids(&response)[0], "wiki/forks#0");
    let names: Vec<_> = others.iter().map(|other| other.name.as_str()).collect();
    let expected = [
        "across = \"rank\"",
        "across = \"score\"",
        "meaning alone",
        "words alone",
        "wiki alone",
        "chat alone",
    ];
    assert_eq!(names, expected);
    let of = |name| {
        let other = find(&others, name);
        (other.first.as_deref(), other.place)
    };
    assert_eq!(of("meaning alone"), (Some("chat/monday#0"), Some(2)));
    assert_eq!(of("words alone"), (Some("chat/friday#0"), Some(2)));
    assert_eq!(of("wiki alone"), (Some("wiki/forks#0"), Some(1)));
    assert_eq!((of("chat alone").0.is_some(), of("chat alone").1), (true, None));
}

#[test]
fn each_says_what_a_search_of_its_own_would_have_found() {
    for fake in [Fake::new, torn] {
        let (response, others) = alternatives(fake(), request("fork"));
        let present = ids(&response)[0];
        let only = |source: &str| Filter { sources: Some(vec![source.into()]), ..Filter::default() };
        let merged = |across: &str| json!({"recency": null, "across": across});
        let alone = |channel| Request { channels: Some(vec![channel]), ..request("fork") };
        for (name, own) in [
            ("across = \"rank\"", Request { pipeline: merged("rank"), ..request("fork") }),
            ("across = \"score\"", Request { pipeline: merged("score"), ..request("fork") }),
            ("meaning alone", alone(Channel::Dense)),
            ("words alone", alone(Channel::Lexical)),
            ("wiki alone", Request { filter: only("wiki"), ..request("fork") }),
            ("chat alone", Request { filter: only("chat"), ..request("fork") }),
        ] {
            let (engine, _) = engine(fake());
            let found = engine.search(&own).unwrap();
            let place = ids(&found).iter().position(|id| *id == present).map(|at| at + 1);
            let expected = Alternative { name: name.into(), first: Some(ids(&found)[0].to_owned()), place };
            assert_eq!(find(&others, name), &expected);
        }
    }
}

#[test]
fn they_do_not_depend_on_the_page_and_change_nothing() {
    let (engine, _) = engine(torn());
    let plain = engine.search(&request("fork")).unwrap();
    assert!(plain.alternatives.is_none());
    assert!(serde_json::to_value(&plain).unwrap().get("alternatives").is_none());
    let (asked, others) = alternatives(torn(), request("fork"));
    let mut written = serde_json::to_value(&asked).unwrap();
    let listed = written.as_object_mut().unwrap().remove("alternatives").unwrap();
    assert_eq!(written, serde_json::to_value(&plain).unwrap());
    assert_eq!(listed[2], json!({"name": "meaning alone", "first": "chat/monday#0", "place": 2}));
    let (_, later) = alternatives(torn(), Request { offset: 3, limit: 1, ..request("fork") });
    assert_eq!(later, others);
}

#[test]
fn a_way_that_is_the_present_one_is_left_out() {
    let one = Request { channels: Some(vec![Channel::Lexical]), ..request("fork") };
    let wiki = Filter { sources: Some(vec!["wiki".into()]), ..Filter::default() };
    let (_, others) = alternatives(torn(), Request { filter: wiki, ..one });
    let names = |others: &[Alternative]| others.iter().map(|other| other.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&others), ["across = \"rank\"", "across = \"score\""]);
    let rank = Request { pipeline: json!({"recency": null, "across": "rank"}), ..request("fork") };
    assert_eq!(names(&alternatives(torn(), rank).1)[..2], ["across = \"score\"", "meaning alone"]);
    let nothing = Fake::new().dense(Act::Give(Vec::new())).lexical(Act::Give(Vec::new()));
    assert_eq!(alternatives(nothing, request("fork")).1, []);
}

#[test]
fn a_copy_that_would_stand_for_the_first_hit_counts() {
    let mut fake = torn();
    fake.chunks[3] = chunk(11, "chat", "monday", "a fork attacks two pieces at once");
    let (response, others) = alternatives(fake, request("fork"));
    assert_eq!((ids(&response)[0], find(&others, "meaning alone").place), ("wiki/forks#0", Some(1)));
    assert_eq!(find(&others, "meaning alone").first.as_deref(), Some("chat/monday#0"));
}

#[test]
fn at_most_eight_sources_are_looked_at() {
    let mut fake = Fake::new();
    fake.chunks = (0..12).map(|n| chunk(n, &format!("s{n:02}"), "d", &format!("fork number {n}"))).collect();
    fake.dense = Act::Give((0..12).map(|n| (n, 0.9 - n as f64 / 20.0)).collect());
    fake.lexical = Act::Give(Vec::new());
    let (_, others) = alternatives(fake, request("fork"));
    let alone: Vec<_> = others.iter().filter(|other| other.name.starts_with('s')).collect();
    assert_eq!((alone.len(), alone[0].name.as_str(), alone[7].name.as_str()), (8, "s00 alone", "s07 alone"));
    assert_eq!((alone[0].place, alone[1].place), (Some(1), None));
    assert_eq!(find(&others, "words alone").first, None);
}

#[test]
fn guarantees_are_planned_and_kept() {
    let pipeline = json!({"recency": null, "guarantee": {"wiki": {"max": 1, "top": 3}, "mail": {"min": 1}}});
    let (engine, _) = engine(Fake::new());
    let asked = Request { pipeline, ..request("fork") };
    let response = engine.search(&asked).unwrap();
    assert_eq!(response.hits[..3].iter().filter(|hit| hit.source == "wiki").count(), 1);
    assert!(response.hits.iter().all(|hit| hit.ledger.replay().to_bits() == hit.score.to_bits()));
    let note = "a guarantee is set for `mail`, which has no list";
    assert!(response.status.notes.iter().any(|text| text == note), "{:?}", response.status.notes);
    let plan = response.plan.to_string();
    assert!(plan.contains("ensure    at least 1 of mail, at most 1 of wiki in the first 3\n"), "{plan}");
    // What is not searched has no guarantee, and the others keep the `top` that was written with it.
    let pipeline = json!({"guarantee": {"chat": {"max": 1}, "wiki": {"max": 1, "top": 3}}});
    let filter = Filter { sources: Some(vec!["chat".into()]), ..Filter::default() };
    let narrowed = engine.plan(&Request { pipeline, filter, ..request("fork") }).unwrap().to_string();
    assert!(narrowed.contains("ensure    at most 1 of chat in the first 3\n"), "{narrowed}");
}
