//! Plans are values: made without a store, printed, written as JSON.

use mainstem::query::{Known, Plan, Request, Settings};
use mainstem_core::contract::{Ability, Capabilities, Channel, Filter, ModelCard};
use mainstem_core::time::Moment;
use serde_json::json;

use super::fakes::{ABLE, stats};

fn plan(request: &Request, settings: &Settings) -> Plan {
    let card = ModelCard { name: "fake".into(), dim: 2, max_tokens: 8 };
    let sources = [stats("chat", "slack", 3), stats("docs", "web", 0), stats("wiki", "wiki", 3)];
    Plan::new(request, settings, &Known { sources: &sources, capabilities: ABLE, model: Some(&card) })
        .unwrap()
}

#[test]
fn a_plan_prints_what_will_happen() {
    let expected = "\
query     why is the bishop bad
legs      chat/dense    weight 1
          chat/lexical  weight 0.8
          docs/lexical  weight 0.8
          wiki/dense    weight 1
          wiki/lexical  weight 0.8
wait      200 ms, at most 500 ms
take      the best 100 of each channel
collapse  copies within a source, from 0.9
merge     each channel over all sources, by score; each leg scores what others found
fuse      linear: mean of weight × calibrated score
collapse  copies across sources, from 0.9
near      0.25 to the 8 nearest of the first 50
source    the best of each source, to the power 0.4
recency   chat
cut       10 hits
";
    assert_eq!(plan(&Request::new("why is the bishop bad"), &Settings::default()).to_string(), expected);
}

#[test]
fn a_plan_shows_route_filter_weights_and_pages() {
    let route = json!([{"name": "ideas", "patterns": ["^why"], "weights": {"wiki": 2.0, "docs": 0.0}}]);
    let request = Request {
        variants: vec!["bad bishop".into()],
        filter: Filter {
            sources: Some(vec!["wiki".into(), "docs".into()]),
            since: Some(Moment::parse("2026-01-01").unwrap()),
            metadata: vec![("lang".into(), "en".into())],
            ..Filter::default()
        },
        offset: 20,
        pipeline: json!({"route": route, "across": "rank", "fuse": {"method": "rrf"}, "dedup": null}),
        ..Request::new("Why is the bishop bad")
    };
    let settings = Settings { dense: Some(0.5), ..Settings::default() };
    let expected = "\
query     Why is the bishop bad
variant   bad bishop
route     rule `ideas`
only      source wiki or docs, since 2026-01-01T00:00:00Z, lang = en
legs      docs/lexical  weight 0, not run
          wiki/dense    weight 1 (0.5 × 2 by the route)
          wiki/lexical  weight 2 (1 × 2 by the route)
wait      200 ms, at most 500 ms
take      the best 100 of each leg
fuse      rrf: sum of weight / (60 + rank)
cut       10 hits after the first 20
";
    assert_eq!(plan(&request, &settings).to_string(), expected);
}

#[test]
fn a_plan_as_json_says_the_same() {
    let json = serde_json::to_value(plan(&Request::new("forks"), &Settings::default())).unwrap();
    assert_eq!(json["legs"][0]["name"], "chat/dense");
    assert_eq!(json["deadline_ms"], json!({"soft": 200, "hard": 500}));
    assert_eq!(json["pipeline"]["across"], "calibrated");
}

#[test]
fn what_cannot_be_searched_is_left_out_or_refused() {
    let known = |capabilities, vectors| {
        let sources = [stats("wiki", "wiki", vectors)];
        let card = ModelCard { name: "fake".into(), dim: 2, max_tokens: 8 };
        let known = Known { sources: &sources, capabilities, model: Some(&card) };
        Plan::new(&Request::new("forks"), &Settings::default(), &known).unwrap()
    };
    assert_eq!(known(ABLE, 0).notes, ["searched by words only: no document has a vector"]);
    let wordless = Capabilities { lexical: Ability::None, ..ABLE };
    assert_eq!(known(wordless, 3).notes, ["searched by meaning only: the store does not search words"]);

    let only_dense = Request { channels: Some(vec![Channel::Dense]), ..Request::new("forks") };
    let sources = [stats("wiki", "wiki", 3)];
    let known = Known { sources: &sources, capabilities: ABLE, model: None };
    assert!(Plan::new(&only_dense, &Settings::default(), &known).is_err());
}

#[test]
fn an_empty_store_has_an_empty_plan() {
    let known = Known { sources: &[], capabilities: ABLE, model: None };
    let plan = Plan::new(&Request::new("forks"), &Settings::default(), &known).unwrap();
    assert!(plan.legs.is_empty() && plan.to_string().contains("legs      none"));
}

#[test]
fn patches_change_single_stages_and_are_checked() {
    let patched =
        |pipeline| plan(&Request { pipeline, ..Request::new("forks") }, &Settings::default()).pipeline;
    assert!(patched(json!({"dedup": {"within": null}})).dedup.unwrap().across.is_some());
    assert!(patched(json!({"recency": {"wiki": {"weight": 0.5}}})).recency.contains_key("chat"));
    let refused = Request { pipeline: json!({"fuse": {"method": "rrff"}}), ..Request::new("forks") };
    let known = Known { sources: &[], capabilities: ABLE, model: None };
    let failure = Plan::new(&refused, &Settings::default(), &known).unwrap_err();
    assert_eq!(failure.hint().unwrap(), "did you mean `rrf`?");
}

#[test]
fn a_plan_within_a_scope_names_nothing_outside() {
    let rule = |name: &str, weights| json!({"name": name, "patterns": ["."], "weights": weights});
    let pipeline = json!({
        "route": [rule("board", json!({"chat": 2.0})), rule("mixed", json!({"chat": 3.0, "wiki": 0.5}))],
        "guarantee": {"chat": {"min": 2, "top": 5}, "wiki": {"max": 3}},
        "recency": {"chat": {"weight": 0.5}},
    });
    let filter = Filter { scope: Some(vec!["wiki".into(), "nowhere".into()]), ..Filter::default() };
    let mut settings = Settings::default();
    settings.sources.insert("chat".into(), 3.0);
    let plan = plan(&Request { pipeline, filter: filter.clone(), ..Request::new("forks") }, &settings);
    let route = plan.route.clone().unwrap();
    assert_eq!(
        (route.rule.as_deref(), route.matched.len()),
        (Some("mixed"), 1),
        "the other rule is about nothing"
    );
    let written = serde_json::to_string(&plan).unwrap() + &plan.to_string();
    assert!(
        !written.contains("chat") && !written.contains("board") && !written.contains("docs"),
        "{written}"
    );
    assert!(plan.to_string().contains("at most 3 of wiki in the first 5"), "{plan}");

    let asked = |sources: &str| {
        let filter = Filter { sources: Some(vec![sources.into()]), ..filter.clone() };
        let known = [stats("chat", "slack", 3), stats("wiki", "wiki", 3)];
        let known = Known { sources: &known, capabilities: ABLE, model: None };
        Plan::new(&Request { filter, ..Request::new("forks") }, &Settings::default(), &known)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(asked("chat"), "unknown source `chat`, expected one of `wiki`");
    assert_eq!(asked("none").replace("none", "chat"), asked("chat"));
}
