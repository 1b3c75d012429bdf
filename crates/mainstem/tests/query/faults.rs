//! What goes wrong in a leg is named, and the answer is what the other legs give.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use mainstem::query::{Engine, Request, Response, Settings};
use mainstem_core::LegState;
use mainstem_core::contract::Channel;
use mainstem_core::deadline::Deadline;

use serde_json::json;

use super::fakes::{Act, Fake, Model, Shared, chunk, engine, engine_with, ids, request};

/// Much longer than any deadline here, so that a test that waits for it fails clearly.
const FOREVER: Duration = Duration::from_secs(60);

/// Far more than the 500 ms that a search may take, because the machine may be busy, and far less than what would be wrong.
const LATE: Duration = Duration::from_secs(5);

fn search(fake: Fake) -> Response {
    engine(fake).0.search(&request("fork")).unwrap()
}

/// A search with the deadline of the settings, which must not wait for what takes forever.
fn hurried(engine: &Engine) -> Response {
    let started = Instant::now();
    let response = engine.search(&Request { deadline: None, ..request("fork") }).unwrap();
    assert!(started.elapsed() < LATE, "the search waited for a leg that is late");
    response
}

fn words_only() -> Vec<String> {
    let (engine, _) = engine(Fake::new());
    let request = Request { channels: Some(vec![Channel::Lexical]), ..request("fork") };
    ids(&engine.search(&request).unwrap()).into_iter().map(str::to_owned).collect()
}

#[track_caller]
fn dense_is(response: &Response, state: LegState) {
    let dense = response.status.legs.iter().filter(|leg| leg.name.ends_with("/dense"));
    let states: Vec<_> = dense.map(|leg| (leg.state, leg.could_add.is_some())).collect();
    assert_eq!(states, [(state, true), (state, true)]);
    assert!(response.status.partial);
    assert_eq!(ids(response), words_only(), "the answer of the other leg");
}

#[test]
fn a_leg_that_sleeps_is_not_waited_for() {
    let response = hurried(&engine(Fake::new().dense(Act::Late(FOREVER, vec![(12, 0.9)]))).0);
    dense_is(&response, LegState::TimedOut);
    assert!(response.status.notes.contains(&"`dense` did not answer in time".to_owned()));
}

/// A leg may come home between the limit and the moment when the search looks. Often enough, some do.
#[test]
fn a_leg_that_is_home_too_late_brings_nothing() {
    let (engine, _) = engine(Fake::new());
    let at_once = Deadline { soft: Duration::ZERO, hard: Duration::ZERO };
    let (done, waiting) = channel();
    std::thread::spawn(move || {
        for _ in 0..2_000 {
            let response = engine.search(&Request { deadline: Some(at_once), ..request("fork") }).unwrap();
            done.send((response.hits.len(), response.status.partial)).unwrap();
        }
    });
    for _ in 0..2_000 {
        assert_eq!(waiting.recv_timeout(FOREVER).expect("a search ends"), (0, true));
    }
}

#[test]
fn a_model_that_sleeps_is_part_of_its_leg() {
    let store = Arc::new(Shared(Arc::new(Fake::new())));
    let engine = Engine::new(store, Some(Model::new(FOREVER)), Settings::default());
    dense_is(&hurried(&engine), LegState::TimedOut);
}

#[test]
fn a_leg_that_fails_is_named() {
    let response = search(Fake::new().dense(Act::Fail));
    dense_is(&response, LegState::Failed);
    assert!(response.status.notes.contains(&"`dense` failed: the disk is on fire".to_owned()));
}

#[test]
fn a_leg_that_panics_fails() {
    let response = search(Fake::new().dense(Act::Panic));
    dense_is(&response, LegState::Failed);
    assert!(response.status.notes.contains(&"`dense` failed: it panicked: a bug in the store".to_owned()));
}

/// A search that runs a leg itself, of which it knows that it waits for nobody, gives the same answer, and does not wait for the others.
#[test]
fn a_search_that_runs_a_leg_itself_answers_as_others_do() {
    let given = || (Fake::new().dense, Fake::new().lexical);
    let late = || Act::Late(FOREVER, vec![(1, 9.0)]);
    let acts = [
        ("both answer", given()),
        ("words are late", (given().0, late())),
        ("words fail", (given().0, Act::Fail)),
        ("meaning fails", (Act::Fail, given().1)),
        ("meaning panics", (Act::Panic, given().1)),
        ("both fail", (Act::Panic, Act::Fail)),
    ];
    for (name, (dense, lexical)) in acts {
        let [itself, others] = [true, false].map(|brief| {
            let fake = Fake { brief, ..Fake::new().dense(dense.clone()).lexical(lexical.clone()) };
            let started = Instant::now();
            // With a vector the leg by meaning is the brief one.
            let request = Request { vector: Some(vec![1.0, 0.0]), deadline: None, ..request("fork") };
            let response = engine(fake).0.search(&request).unwrap();
            assert!(started.elapsed() < LATE, "{name}: the search waited for a leg that is late");
            serde_json::to_value(&response).unwrap()
        });
        assert_eq!(itself, others, "{name}");
    }
}

/// A leg that was held up although it is brief is as late as others would be.
#[test]
fn a_leg_that_a_search_runs_itself_may_be_late() {
    let fake =
        Fake { brief: true, ..Fake::new().dense(Act::Late(Duration::from_millis(250), vec![(12, 0.9)])) };
    let vector = Some(vec![1.0, 0.0]);
    let deadline = Some(Deadline { soft: Duration::from_millis(200), hard: FOREVER });
    let request = Request { vector, deadline, ..request("fork") };
    dense_is(&engine(fake).0.search(&request).unwrap(), LegState::TimedOut);
}

/// The model of a query may be anywhere, and is not waited for; the words are searched meanwhile.
#[test]
fn a_search_never_embeds_its_query_itself() {
    let store = Arc::new(Shared(Arc::new(Fake { brief: true, ..Fake::new() })));
    let engine = Engine::new(store, Some(Model::new(FOREVER)), Settings::default());
    dense_is(&hurried(&engine), LegState::TimedOut);
}

#[test]
fn nothing_is_an_answer_when_no_leg_gives_one() {
    let response = hurried(&engine(Fake::new().dense(Act::Fail).lexical(Act::Late(FOREVER, vec![]))).0);
    assert!(response.hits.is_empty() && response.status.partial);
    let states: Vec<_> = response.status.legs.iter().map(|leg| leg.state).collect();
    assert_eq!(states, [LegState::Failed, LegState::TimedOut, LegState::Failed, LegState::TimedOut]);
}

#[test]
fn scores_that_are_no_numbers_are_dropped_and_counted() {
    let broken = vec![(3, f64::NAN), (2, 0.9), (11, f64::INFINITY), (1, 0.5)];
    let response = search(Fake::new().dense(Act::Give(broken)));
    let dropped =
        |name: &str| response.status.legs.iter().find(|leg| leg.name == name).map(|leg| leg.dropped);
    assert_eq!((dropped("wiki/dense"), dropped("chat/dense")), (Some(1), Some(1)));
    let clean = search(Fake::new().dense(Act::Give(vec![(2, 0.9), (1, 0.5)])));
    assert_eq!(ids(&response), ids(&clean));
    assert!(!response.status.partial);
}

#[test]
fn lists_that_are_not_sorted_are_sorted() {
    let Act::Give(mut scores) = Fake::new().dense else { return };
    scores.reverse();
    scores.push(scores[0]);
    let response = search(Fake::new().dense(Act::Give(scores)));
    assert_eq!(ids(&response), ids(&search(Fake::new())));
}

#[test]
fn chunks_that_are_gone_and_sources_that_were_not_asked_for_are_dropped() {
    let Act::Give(scores) = Fake::new().dense else { return };
    let with_ghost = [vec![(999, 0.99)], scores].concat();
    let response = search(Fake::new().dense(Act::Foreign(with_ghost)));
    assert_eq!(ids(&response), ids(&search(Fake::new())));
    let notes = response.status.notes.join("\n");
    assert!(notes.contains("1 candidate was dropped from `dense`"), "{notes}");
    assert!(notes.contains("a source that was not asked for") && !notes.contains("elsewhere"), "{notes}");
}

/// What was found and cannot be read is as good as not found.
#[track_caller]
fn nothing_is_read(fetching: Act, state: LegState, note: &str) {
    let response = hurried(&engine(Fake::new().fetching(fetching)).0);
    assert!(response.hits.is_empty() && response.status.partial);
    assert!(response.status.legs.iter().all(|leg| leg.state == state), "{:?}", response.status.legs);
    let notes = response.status.notes.join("\n");
    assert!(notes.contains(note), "{notes}");
}

#[test]
fn chunks_that_cannot_be_read_are_named() {
    nothing_is_read(Act::Fail, LegState::Failed, "`dense` failed: the disk is on fire");
    nothing_is_read(Act::Panic, LegState::Failed, "`lexical` failed: it panicked: a bug in the store");
    let late = Act::Late(FOREVER, vec![]);
    nothing_is_read(late, LegState::TimedOut, "`lexical` did not answer in time");
}

/// More than a hundred copies come first, so that two hits need more than what is read at first; and then nothing can be read any more.
#[test]
fn what_was_read_before_the_store_failed_is_shown() {
    let copies =
        (21..141).map(|id| chunk(id, "wiki", &format!("copy {id}"), "a fork attacks two pieces at once"));
    let scores: Vec<_> = (21..141).map(|id| (id, 0.99)).chain([(11, 0.7), (1, 0.5), (3, 0.3)]).collect();
    let fake = || {
        let mut fake = Fake::new().dense(Act::Give(scores.clone())).lexical(Act::Give(scores.clone()));
        fake.chunks.extend(copies.clone());
        fake
    };
    let asked = || Request {
        limit: 2,
        pipeline: json!({ "neighbours": null, "prior": null, "recency": null }),
        ..request("fork")
    };
    let settings = || Settings { candidates: 200, ..Settings::default() };
    let whole = engine_with(fake(), settings()).0.search(&asked()).unwrap();
    assert_eq!((ids(&whole).len(), whole.status.partial), (2, false));
    let burnt = " (the disk is on fire)";
    let panicked = " (it panicked: a bug in the store)";
    for (act, why) in [(Act::Fail, burnt), (Act::Panic, panicked), (Act::Late(FOREVER, vec![]), " in time")] {
        let mut fake = fake().fetching(act);
        // Two threads read 100 chunks, sixteen at a time.
        fake.gives_first = 8;
        let response =
            engine_with(fake, settings()).0.search(&Request { deadline: None, ..asked() }).unwrap();
        assert_eq!(ids(&response), ids(&whole)[..1], "the hit that was read");
        assert_eq!((response.hits[0].rank, response.status.partial), (1, true));
        let notes = response.status.notes.join("\n");
        let told = format!("not all candidates could be read{why}: 1 hit left out");
        assert!(notes.contains(&told), "{notes}");
    }
}

#[test]
fn what_is_home_is_read_without_what_is_late() {
    // The search finishes by itself, and the leg that sleeps is not asked for anything.
    let fake = Fake::new().lexical(Act::Late(FOREVER, vec![]));
    let (engine, _) = engine(fake);
    let response = hurried(&engine);
    let dense = Request { channels: Some(vec![Channel::Dense]), ..request("fork") };
    assert_eq!(ids(&response), ids(&engine.search(&dense).unwrap()));
    assert!(response.status.partial);
}

#[test]
fn without_a_model_words_are_searched_and_the_answer_says_so() {
    let store = Arc::new(Shared(Arc::new(Fake::new())));
    let engine = Engine::new(store, None, Settings::default());
    let response = engine.search(&request("fork")).unwrap();
    assert_eq!(ids(&response), words_only());
    assert_eq!(response.status.notes, ["searched by words only: there is no model to embed the query"]);
    assert!(!response.status.partial, "nothing that was planned is missing");
}

#[test]
fn a_query_is_embedded_once() {
    let model = Model::new(Duration::ZERO);
    let store = Arc::new(Shared(Arc::new(Fake::new())));
    let engine = Engine::new(store, Some(Arc::clone(&model) as _), Settings::default());
    for query in ["fork", "fork", "pin", "fork"] {
        engine.search(&request(query)).unwrap();
    }
    assert_eq!(model.asked.load(Ordering::Relaxed), 2);
}
