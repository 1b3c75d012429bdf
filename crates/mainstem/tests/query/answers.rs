//! What an answer holds: order, pages, filters, variants, copies, freshness.

use mainstem::query::{Request, Response, Settings};
use mainstem_core::Step;
use mainstem_core::contract::{Channel, Filter};
use mainstem_core::time::Moment;
use serde_json::json;

use super::fakes::{Act, Fake, chunk, engine, engine_with, ids, request};

#[test]
fn channels_are_merged_over_sources_by_score_and_then_fused() {
    let (engine, _) = engine(Fake::new());
    let response = engine.search(&request("fork")).unwrap();
    let expected = [
        "wiki/forks#0",
        "chat/monday#0",
        "wiki/castling#0",
        "chat/friday#0",
        "wiki/pins#0",
        "chat/tuesday#0",
    ];
    assert_eq!(ids(&response), expected);
    let best = &response.hits[0];
    assert_eq!((best.rank, best.sources.as_slice()), (1, &["wiki".to_owned()][..]));
    // A cosine of .9 over unrelated ones of .1, and 8 of 10 possible points by words where 8 is the best.
    let expected = ((0.9 - 0.1) / (1.0 - 0.1) + 0.8 * 8.0 / (100.0_f64 * 8.0).cbrt()) / 1.8;
    assert!((best.score - expected).abs() < 1e-12, "{} {expected}", best.score);
    assert_eq!((best.source.as_str(), best.document.as_str()), ("wiki", "forks"));
    assert_eq!(best.title.as_deref(), Some("About forks"));
    assert_eq!(&best.snippet.text[best.snippet.highlights[0].clone()], "fork");
    for hit in &response.hits {
        assert_eq!(hit.ledger.replay().to_bits(), hit.score.to_bits(), "{}", hit.id);
    }
}

/// What each channel found of a hit: name, rank, score.
fn evidence(response: &Response, id: &str) -> Vec<(String, Option<f64>)> {
    let hit = response.hits.iter().find(|hit| hit.id == id).unwrap();
    let lists = hit.ledger.steps.iter().find_map(|step| match step {
        Step::Fuse { lists, .. } => Some(lists),
        _ => None,
    });
    lists.unwrap().iter().map(|list| (list.list.clone(), list.score)).collect()
}

#[test]
fn what_one_leg_found_the_others_score_too() {
    let fake =
        Fake::new().dense(Act::Give(vec![(2, 0.9), (13, 0.5)])).lexical(Act::Give(vec![(13, 8.0), (2, 4.0)]));
    let (engine, _) = engine_with(fake, Settings { candidates: 1, ..Settings::default() });
    let response = engine.search(&request("fork")).unwrap();
    let both =
        |dense, lexical| vec![("dense".to_owned(), Some(dense)), ("lexical".to_owned(), Some(lexical))];
    assert_eq!(evidence(&response, "wiki/forks#0"), both(0.9, 4.0));
    assert_eq!(evidence(&response, "chat/friday#0"), both(0.5, 8.0));
}

#[test]
fn a_store_that_cannot_score_leaves_the_evidence_as_it_is() {
    let fake = Fake {
        unable: true,
        ..Fake::new().dense(Act::Give(vec![(2, 0.9)])).lexical(Act::Give(vec![(13, 8.0), (2, 4.0)]))
    };
    let (engine, _) = engine_with(fake, Settings { candidates: 1, ..Settings::default() });
    let response = engine.search(&request("fork")).unwrap();
    assert_eq!(ids(&response), ["wiki/forks#0", "chat/friday#0"]);
    assert_eq!(evidence(&response, "wiki/forks#0"), [("dense".to_owned(), Some(0.9))]);
    let note = "`dense` did not score what others found: it cannot score";
    assert!(response.status.notes.iter().any(|text| text == note), "{:?}", response.status.notes);
}

#[test]
fn another_way_to_merge_is_taken_plain() {
    let (engine, _) = engine(Fake::new());
    let plan = |pipeline| engine.plan(&Request { pipeline, ..request("fork") }).unwrap().pipeline;
    let default = plan(json!({}));
    assert!(default.neighbours.is_some() && default.prior.is_some());
    for plain in [json!({"across": "rank"}), json!({"across": "score"}), json!({"fuse": {"method": "rrf"}})] {
        let pipeline = plan(plain.clone());
        assert!(pipeline.neighbours.is_none() && pipeline.prior.is_none(), "{plain}");
    }
    assert_eq!(plan(json!({"across": "rank"})).fuse.method.as_str(), "rrf");
    assert_eq!(plan(json!({"across": "calibrated"})), default);
    assert!(plan(json!({"across": "score", "prior": {}})).prior.is_some(), "unless asked for");
}

#[test]
fn ranks_alone_can_decide_too() {
    let (engine, _) = engine(Fake::new());
    let pipeline = json!({"recency": null, "across": "rank", "fuse": {"method": "rrf"}});
    let response = engine.search(&Request { pipeline, ..request("fork") }).unwrap();
    assert_eq!(response.status.legs.len(), 4);
    // The first of each source tie: rank 1 in dense of both, 1 and 2 in lexical.
    assert_eq!(&ids(&response)[..2], ["wiki/forks#0", "chat/monday#0"]);
    assert!(response.status.formula.contains("60"), "{}", response.status.formula);
}

#[test]
fn pages_are_rows_of_one_big_page() {
    let (engine, _) = engine(Fake::new());
    let page = |limit, offset| {
        let response = engine.search(&Request { limit, offset, ..request("fork") }).unwrap();
        (response.total, response.hits.iter().map(|hit| (hit.id.clone(), hit.rank)).collect::<Vec<_>>())
    };
    let (total, all) = page(100, 0);
    let pages: Vec<_> = (0..3).flat_map(|number| page(2, 2 * number).1).collect();
    assert_eq!((total, &pages), (6, &all));
    assert!(page(10, 50).1.is_empty());
}

#[test]
fn filters_are_passed_on_and_completed() {
    let mut fake = Fake::new();
    fake.chunks[1].document.readers = Some(vec!["ann".into()]);
    let (engine, fake) = engine(fake);
    let filter =
        Filter { sources: Some(vec!["wiki".into()]), reader: Some("bob".into()), ..Filter::default() };
    let response = engine.search(&Request { filter: filter.clone(), ..request("fork") }).unwrap();
    assert_eq!(ids(&response), ["wiki/castling#0", "wiki/pins#0"], "what bob may read");
    assert!(fake.asked.lock().unwrap().iter().all(|(_, _, passed)| *passed == filter));
}

#[test]
fn a_slip_in_a_source_is_not_an_empty_answer() {
    let (engine, _) = engine(Fake::new());
    let filter = Filter { sources: Some(vec!["wikki".into()]), ..Filter::default() };
    let failure = engine.search(&Request { filter, ..request("fork") }).unwrap_err();
    assert_eq!(failure.hint().unwrap(), "did you mean `wiki`?");
}

#[test]
fn a_source_of_weight_zero_is_not_asked() {
    let settings =
        Settings { sources: [("chat".to_owned(), 0.0)].into_iter().collect(), ..Settings::default() };
    let (engine, fake) = engine_with(Fake::new(), settings);
    let response = engine.search(&request("fork")).unwrap();
    assert!(response.hits.iter().all(|hit| hit.source == "wiki"));
    let asked = fake.asked.lock().unwrap();
    assert!(asked.iter().all(|(_, _, filter)| filter.sources.as_deref() == Some(&["wiki".to_owned()][..])));
}

#[test]
fn variants_are_searched_once_each() {
    let (engine, fake) = engine(Fake::new());
    let variants = vec!["double attack".into(), " FORK ".into(), "double  attack".into(), String::new()];
    let response = engine.search(&Request { variants, ..request("fork") }).unwrap();
    let mut asked: Vec<_> = fake
        .asked
        .lock()
        .unwrap()
        .iter()
        .map(|(channel, text, _)| (channel.as_str(), text.clone()))
        .collect();
    asked.sort();
    let expected =
        [("dense", "double attack"), ("dense", "fork"), ("lexical", "double attack"), ("lexical", "fork")];
    assert_eq!(asked, expected.map(|(channel, text)| (channel, text.to_owned())));
    assert_eq!(response.status.legs.len(), 8);
    assert_eq!(response.status.notes.len(), 2);
}

#[test]
fn copies_are_collapsed_and_named() {
    let mut fake = Fake::new();
    fake.chunks[3] = chunk(11, "chat", "monday", "a fork attacks two pieces at once");
    let (engine, _) = engine(fake);
    let response =
        engine.search(&Request { why_not: Some("chat/monday#0".into()), ..request("fork") }).unwrap();
    assert_eq!(response.hits[0].alternates, ["[chat: monday]"]);
    let why_not = serde_json::to_value(response.why_not.unwrap()).unwrap();
    assert_eq!(why_not["why"]["into"], "wiki/forks#0");
}

#[test]
fn parts_of_one_page_are_not_copies_of_each_other() {
    let mut fake = Fake::new();
    for (at, order) in [(0, 0), (1, 1), (2, 2)] {
        fake.chunks[at].document.url = Some("https://example.org/page".into());
        fake.chunks[at].document.id = "page".into();
        fake.chunks[at].chunk.order = order;
    }
    let (engine, _) = engine(fake);
    let response = engine.search(&request("fork")).unwrap();
    assert_eq!(response.hits.iter().filter(|hit| hit.document == "page").count(), 3);
}

#[test]
fn kinds_that_age_do_so_unless_told_otherwise() {
    let mut fake = Fake::new()
        .dense(Act::Give(vec![(11, 0.9), (13, 0.8)]))
        .lexical(Act::Give(vec![(11, 9.0), (13, 8.9)]));
    fake.chunks[3].document.created_at = Some(Moment::parse("2024-01-01").unwrap());
    fake.chunks[5].document.created_at = Some(Moment::parse("2026-01-30").unwrap());
    let (engine, _) = engine(fake);
    let fresh = engine.search(&Request { pipeline: json!(null), ..request("fork") }).unwrap();
    assert_eq!(ids(&fresh), ["chat/friday#0", "chat/monday#0"]);
    assert_eq!(fresh.status.now.as_deref(), Some("2026-01-31T00:00:00Z"));
    let relevant = engine.search(&request("fork")).unwrap();
    assert_eq!(ids(&relevant), ["chat/monday#0", "chat/friday#0"]);
}

#[test]
fn chunks_can_be_joined_to_documents() {
    let mut fake = Fake::new();
    for (at, order) in [(0, 0), (1, 1)] {
        fake.chunks[at].document.id = "page".into();
        fake.chunks[at].chunk.order = order;
    }
    let (engine, _) = engine(fake);
    let pipeline = json!({"recency": null, "dedup": null, "aggregate": "max"});
    let response = engine.search(&Request { pipeline, ..request("fork") }).unwrap();
    assert_eq!(response.hits[0].id, "wiki/page");
    assert_eq!(ids(&response).iter().filter(|id| **id == "wiki/page").count(), 1);
    assert_eq!(response.hits.len(), response.answer.hits.len());
}

#[test]
fn an_answer_as_json_has_what_scripts_rely_on() {
    let (engine, _) = engine(Fake::new());
    let response = engine.search(&request("fork")).unwrap();
    let json = serde_json::to_value(&response).unwrap();
    for field in [
        "id",
        "rank",
        "score",
        "sources",
        "alternates",
        "ledger",
        "source",
        "document",
        "title",
        "url",
        "snippet",
        "created_at",
    ] {
        assert!(json["hits"][0].get(field).is_some(), "{field}");
    }
    for field in ["partial", "legs", "stages", "route"] {
        assert!(json["status"].get(field).is_some(), "{field}");
    }
    let again = serde_json::to_string(&engine.search(&request("fork")).unwrap()).unwrap();
    assert_eq!(serde_json::to_string(&response).unwrap(), again);
}

#[test]
fn a_vector_can_stand_for_words() {
    let (engine, fake) = engine(Fake::new());
    let response = engine.search(&Request { vector: Some(vec![0.0, 1.0]), ..request("") }).unwrap();
    assert_eq!(ids(&response)[0], "wiki/forks#0");
    assert!(fake.asked.lock().unwrap().iter().all(|(channel, ..)| *channel == Channel::Dense));
    assert!(engine.search(&request("  ")).is_err(), "neither words nor a vector");
}

/// The names of sources may have slashes, and so a chunk of one may be called as one of another is.
#[test]
fn two_chunks_of_one_name_are_two_hits() {
    let mut fake = Fake::new();
    fake.chunks = vec![
        chunk(1, "team", "wiki/page", "castling moves the king and a rook"),
        chunk(2, "team/wiki", "page", "a fork attacks two pieces at once"),
        chunk(3, "team", "other", "a pinned piece cannot move"),
    ];
    let all = vec![(1, 0.9), (2, 0.8), (3, 0.7)];
    let fake = fake.dense(Act::Give(all.clone())).lexical(Act::Give(all));
    let response = engine(fake).0.search(&request("fork")).unwrap();
    let found: Vec<_> =
        response.hits.iter().map(|hit| (hit.source.as_str(), hit.document.as_str())).collect();
    assert_eq!(found, [("team", "wiki/page"), ("team/wiki", "page"), ("team", "other")]);
    assert_eq!(ids(&response).iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    assert_eq!(response.by_source.values().sum::<usize>(), 3);
}
