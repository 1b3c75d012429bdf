//! What must hold for every input: ties, empty lists, missing and negative scores included.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use mainstem_core::{Answer, Replay};
use proptest::prelude::*;
use serde_json::{Value, json};

const METHODS: [&str; 9] =
    ["rrf", "rsf", "combsum", "combmnz", "linear", "dbsf", "isr", "borda", "condorcet"];

/// Methods, also with other settings than the default ones.
fn fusion() -> impl Strategy<Value = Value> {
    let settings = [
        json!({"method": "rrf", "k": 0}),
        json!({"method": "rrf", "k": 3.5, "rank_base": 0}),
        json!({"method": "rrf", "combine": "mean"}),
        json!({"method": "rrf", "combine": "unit"}),
        json!({"method": "rrf", "missing": "last"}),
        json!({"method": "rrf", "k": 2, "rank_base": 0, "weighting": "rank"}),
        json!({"method": "linear", "normalise": "zscore", "missing": "min"}),
        json!({"method": "linear", "normalise": "theoretical", "combine": "sum"}),
        json!({"method": "linear", "combine": "max"}),
        json!({"method": "combsum", "normalise": "none"}),
        json!({"method": "combmnz", "floor": 0.001}),
        json!({"method": "dbsf", "combine": "mean", "deviation": "population"}),
    ];
    let defaults = METHODS.map(|method| json!({ "method": method }));
    prop::sample::select(defaults.into_iter().chain(settings).collect::<Vec<_>>())
}

/// Few ids and few scores, so that ties, meetings and repetitions are the rule.
fn item() -> impl Strategy<Value = Value> {
    let id = prop::sample::select(vec!["a", "b", "c", "d", "e", "f", "g", "h"]);
    let score = prop::option::weighted(0.85, (-4..8_i32).prop_map(|half| f64::from(half) / 2.0));
    (id, score).prop_map(|(id, score)| {
        let mut item = json!({ "id": id });
        if let Some(score) = score {
            item["score"] = json!(score);
        }
        item
    })
}

/// An item of which more is known.
fn rich_item() -> impl Strategy<Value = Value> {
    let text = prop::option::of("(one|two|three|four|five)( (one|two|three|Four|FIVE)){0,4}");
    let time =
        prop::option::of(prop::sample::select(vec!["2026-01-30", "2026-01-01", "2020-05-05", "2026-09-01"]));
    let vector = prop::option::of(prop::collection::vec(-2..3_i8, 2));
    let key = prop::option::weighted(0.2, prop::sample::select(vec!["k1", "k2"]));
    let document = prop::option::of((prop::sample::select(vec!["A", "B", "C"]), prop::option::of(0..3_i64)));
    (item(), text, time, vector, key, document).prop_map(|(mut item, text, time, vector, key, document)| {
        let (document, order) = document.map_or((None, None), |(document, order)| (Some(document), order));
        let known = [
            ("text", json!(text)),
            ("created_at", json!(time)),
            ("vector", json!(vector)),
            ("key", json!(key)),
            ("document", json!(document)),
            ("order", json!(order)),
        ];
        for (name, value) in known.into_iter().filter(|(_, value)| !value.is_null()) {
            item[name] = value;
        }
        item
    })
}

/// Lists of such items. The bounds are wide enough for every score.
fn lists_of(item: impl Strategy<Value = Value>, weights: Vec<f64>) -> impl Strategy<Value = Vec<Value>> {
    let list = (prop::collection::vec(item, 0..8), prop::sample::select(weights));
    prop::collection::vec(list, 0..5).prop_map(|lists| {
        let list = |(at, (items, weight)): (usize, (Vec<Value>, f64))| {
            let source = ["wiki", "slack", "code"][at % 3];
            let bounds = json!({"min": -10, "max": 10});
            json!({"name": format!("{source}/{at}"), "weight": weight, "bounds": bounds, "items": items})
        };
        lists.into_iter().enumerate().map(list).collect()
    })
}

fn plain_lists() -> impl Strategy<Value = Vec<Value>> {
    lists_of(item(), vec![1.0, 1.0, 0.5, 2.0, 0.3, 0.0])
}

fn rich_lists() -> impl Strategy<Value = Vec<Value>> {
    let state = prop::sample::select(vec!["ok", "ok", "ok", "slow", "timed_out"]);
    let direction = prop::sample::select(vec!["similarity", "similarity", "distance"]);
    let changes = prop::collection::vec((state, direction), 5);
    (lists_of(rich_item(), vec![1.0, 0.5, 2.0, 0.0]), changes).prop_map(|(mut lists, changes)| {
        for (list, (state, direction)) in lists.iter_mut().zip(changes) {
            list["state"] = json!(state);
            list["direction"] = json!(direction);
        }
        lists
    })
}

/// A pipeline with each stage on or off.
fn pipeline() -> impl Strategy<Value = Value> {
    let threshold = || prop::option::of(prop::sample::select(vec![0.5, 0.9, 1.0]));
    let by = prop::sample::select(vec!["jaccard", "cosine"]);
    let dedup = (threshold(), threshold(), by)
        .prop_map(|(within, across, by)| json!({"within": within, "across": across, "by": by}));
    let rule = prop::sample::select(vec![
        json!({}),
        json!({"half_life": "3d", "weight": 0.7}),
        json!({"weight": 0.4, "missing": "skip"}),
        json!({"window_days": 40, "factor": 0.5}),
        json!({"weight": 0}),
    ]);
    let recency = prop::collection::btree_map(prop::sample::select(vec!["*", "wiki", "slack"]), rule, 0..3);
    let rerank =
        prop::sample::select(vec![json!({}), json!({"replace": true}), json!({"blend": 0.25, "top": 3})]);
    let diversify =
        prop::sample::select(vec![0.0, 0.3, 0.7, 1.0]).prop_map(|lambda| json!({ "lambda": lambda }));
    let aggregate = prop::sample::select(vec!["max", "mean", "first"]);
    let route = json!([{"name": "r", "patterns": ["why"], "weights": {"wiki": 2.0, "slack": 0.0}}]);
    let stages = (
        prop::option::of(dedup),
        prop::option::of(recency),
        prop::option::of(rerank),
        prop::option::of(diversify),
        prop::option::weighted(0.3, aggregate),
        prop::option::weighted(0.3, Just(route)),
        prop::option::weighted(0.2, -1.0..1.0_f64),
    );
    (fusion(), stages).prop_map(|(fuse, (dedup, recency, rerank, diversify, aggregate, route, least))| {
        let mut pipeline = json!({ "fuse": fuse });
        let stages = [
            ("dedup", json!(dedup)),
            ("recency", json!(recency)),
            ("rerank", json!(rerank)),
            ("diversify", json!(diversify)),
            ("aggregate", json!(aggregate)),
            ("route", json!(route)),
            ("min_score", json!(least)),
        ];
        for (name, stage) in stages.into_iter().filter(|(_, stage)| !stage.is_null()) {
            pipeline[name] = stage;
        }
        pipeline
    })
}

/// A search with every stage that there is, over lists or over variants.
fn whole_search() -> impl Strategy<Value = Value> {
    let scores = prop::collection::btree_map(
        prop::sample::select(vec!["a", "b", "c", "d", "A"]),
        prop::sample::select(vec![0.0, 0.1, 0.5, 0.5, 1.0, -2.0, 7.5]),
        0..4,
    );
    let query = prop::sample::select(vec!["why", "what"]);
    let other = prop::option::weighted(0.3, rich_lists());
    (pipeline(), rich_lists(), other, scores, query).prop_map(|(pipeline, lists, other, scores, query)| {
        let mut search =
            json!({"now": "2026-01-31", "query": query, "pipeline": pipeline, "reranker": {"scores": scores}});
        match other {
            None => search["lists"] = json!(lists),
            Some(other) => search["variants"] = json!([{ "lists": lists }, { "lists": other }]),
        }
        search
    })
}

fn search(fuse: &Value, lists: &[Value]) -> Value {
    json!({"now": "2026-01-31", "pipeline": {"fuse": fuse}, "lists": lists})
}

fn run(search: &Value) -> Answer {
    let replay = Replay::from_json(search.to_string().as_bytes()).unwrap();
    replay.run().unwrap()
}

fn ranking(answer: &Answer) -> Vec<(String, f64)> {
    answer.hits.iter().map(|hit| (hit.id.clone(), hit.score)).collect()
}

/// Ids, scores to the last bit, and everything else that a caller sees of the hits.
fn hits(answer: &Answer) -> String {
    serde_json::to_string(&answer.hits).unwrap()
}

fn bytes(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap()
}

fn score(answer: &Answer, id: &str) -> Option<f64> {
    answer.hits.iter().find(|hit| hit.id == id).map(|hit| hit.score)
}

/// Whether two rankings are the same up to rounding: scores to 1e-12 of the larger, order except between such near ties.
fn same_up_to_rounding(one: &[(String, f64)], two: &[(String, f64)]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0);
    let scores = |ranking: &[(String, f64)]| {
        let mut sorted = ranking.to_vec();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        sorted
    };
    let (by_id_one, by_id_two) = (scores(one), scores(two));
    one.len() == two.len()
        && by_id_one.iter().zip(&by_id_two).all(|(a, b)| a.0 == b.0 && near(a.1, b.1))
        && one.iter().zip(two).all(|(a, b)| a.0 == b.0 || near(a.1, b.1))
}

/// Changes every list of a search.
fn each_list(search: &mut Value, change: &impl Fn(&mut Value)) {
    match search {
        Value::Array(values) => values.iter_mut().for_each(|value| each_list(value, change)),
        Value::Object(map) if map.contains_key("items") => change(search),
        Value::Object(map) => map.values_mut().for_each(|value| each_list(value, change)),
        _ => {}
    }
}

/// Drops the items whose id is there already.
fn without_repeats(list: &mut Value) {
    let items = list["items"].as_array_mut().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    items.retain(|item| seen.insert(item["id"].to_string()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    /// Every method's formula is symmetric in the lists, and so is every tie-break.
    #[test]
    fn the_order_of_the_lists_does_not_matter(fuse in fusion(), lists in plain_lists(), by in any::<u64>()) {
        let mut shuffled = lists.clone();
        if !shuffled.is_empty() {
            let places = shuffled.len();
            shuffled.rotate_left(by as usize % places);
            shuffled.swap(0, (by / 7) as usize % places);
        }
        let (one, two) = (ranking(&run(&search(&fuse, &lists))), ranking(&run(&search(&fuse, &shuffled))));
        prop_assert!(same_up_to_rounding(&one, &two), "{:?}\n{:?}", one, two);
    }

    #[test]
    fn scaling_all_weights_keeps_the_order_of_rrf(
        lists in plain_lists(),
        power in -8..9_i32,
        factor in 0.001..1000.0_f64,
        combine in prop::sample::select(vec!["sum", "mean", "unit"]),
    ) {
        let fuse = json!({"method": "rrf", "combine": combine});
        let scaled = |factor: f64| {
            let mut lists = lists.clone();
            for list in &mut lists {
                list["weight"] = json!(list["weight"].as_f64().unwrap() * factor);
            }
            run(&search(&fuse, &lists))
        };
        let (plain, exact, rough) = (scaled(1.0), scaled(f64::from(power).exp2()), scaled(factor));
        let order = |answer: &Answer| answer.hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(order(&plain), order(&exact), "a power of two changes no bit of any quotient");
        let unscaled = if combine == "sum" { factor } else { 1.0 };
        let rough: Vec<_> = ranking(&rough).into_iter().map(|(id, score)| (id, score / unscaled)).collect();
        prop_assert!(same_up_to_rounding(&ranking(&plain), &rough));
    }

    /// Moving an item up one place in one list never lowers its score for methods that look at ranks: its own term grows, the
    /// terms of the other lists stay.
    #[test]
    fn a_better_rank_never_lowers_the_score(
        fuse in prop::sample::select(vec![
            json!({"method": "rrf"}), json!({"method": "rrf", "k": 0}), json!({"method": "rrf", "combine": "unit"}),
            json!({"method": "rrf", "missing": "last"}), json!({"method": "isr"}), json!({"method": "borda"}),
            json!({"method": "condorcet"}),
        ]),
        lists in plain_lists(),
        at in any::<prop::sample::Index>(),
    ) {
        let mut lists = lists;
        for list in &mut lists {
            without_repeats(list);
            list["items"].as_array_mut().unwrap().iter_mut().for_each(|item| drop(item.as_object_mut().unwrap().remove("score")));
        }
        let places: Vec<_> = (0..lists.len())
            .flat_map(|list| (1..lists[list]["items"].as_array().unwrap().len()).map(move |item| (list, item)))
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        let (list, place) = places[at.index(places.len())];
        let id = lists[list]["items"][place]["id"].as_str().unwrap().to_owned();
        let before = run(&search(&fuse, &lists));
        lists[list]["items"].as_array_mut().unwrap().swap(place, place - 1);
        let after = run(&search(&fuse, &lists));
        prop_assert!(score(&after, &id) >= score(&before, &id), "{}: {:?} then {:?}", id, ranking(&before), ranking(&after));
    }

    /// Raising an item's score in one list never lowers its fused score. Under min-max that holds for the item itself only: what
    /// it overtakes may fall, since the range of the list can grow. Where the mean and the deviation are in the formula
    /// (`zscore`, `dbsf`), both move with the item, and the rise is exact only up to rounding.
    #[test]
    fn a_better_score_never_lowers_the_score(
        fuse in prop::sample::select(vec![
            json!({"method": "rsf"}), json!({"method": "combsum"}), json!({"method": "combmnz"}),
            json!({"method": "linear"}), json!({"method": "linear", "combine": "max"}),
            json!({"method": "linear", "normalise": "theoretical"}), json!({"method": "combsum", "normalise": "none"}),
            json!({"method": "rrf"}), json!({"method": "isr"}), json!({"method": "borda"}), json!({"method": "condorcet"}),
            json!({"method": "linear", "normalise": "zscore"}), json!({"method": "dbsf"}),
        ]),
        lists in plain_lists(),
        at in any::<prop::sample::Index>(),
        rise in 0.0..6.0_f64,
    ) {
        let mut lists = lists;
        for list in &mut lists {
            without_repeats(list);
            list["items"].as_array_mut().unwrap().retain(|item| item.get("score").is_some());
        }
        let places: Vec<_> = (0..lists.len())
            .flat_map(|list| (0..lists[list]["items"].as_array().unwrap().len()).map(move |item| (list, item)))
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        let (list, place) = places[at.index(places.len())];
        let id = lists[list]["items"][place]["id"].as_str().unwrap().to_owned();
        let before = run(&search(&fuse, &lists));
        let raised = lists[list]["items"][place]["score"].as_f64().unwrap() + rise;
        lists[list]["items"][place]["score"] = json!(raised);
        let after = run(&search(&fuse, &lists));
        let (before, after) = (score(&before, &id).unwrap_or(0.0), score(&after, &id).unwrap_or(0.0));
        let rounding = if fuse["normalise"] == "zscore" || fuse["method"] == "dbsf" { 1e-12 } else { 0.0 };
        prop_assert!(after >= before - rounding, "{} went from {} to {}", id, before, after);
    }

    #[test]
    fn collapsing_again_changes_nothing(
        lists in lists_of(rich_item(), vec![1.0]),
        threshold in 0.3..=1.0_f64,
        by in prop::sample::select(vec!["jaccard", "cosine"]),
    ) {
        let dedup = json!({"within": threshold, "across": threshold, "by": by, "keys": []});
        let pipeline = json!({"dedup": dedup});
        let first = run(&json!({"pipeline": pipeline, "lists": lists}));
        let items: Vec<_> = first.hits.iter().map(|hit| {
            let mut item = serde_json::to_value(hit).unwrap();
            let map = item.as_object_mut().unwrap();
            map.retain(|name, _| ["id", "score", "text", "key", "vector"].contains(&name.as_str()));
            item
        }).collect();
        let again = run(&json!({"pipeline": pipeline, "lists": [{"name": "survivors", "items": items}]}));
        let ids = |answer: &Answer| answer.hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(ids(&first), ids(&again));
        prop_assert!(again.dropped.is_empty());
    }

    #[test]
    fn the_ledger_gives_the_score_to_the_last_bit(search in whole_search()) {
        let answer = run(&search);
        for hit in &answer.hits {
            prop_assert_eq!(hit.ledger.replay().to_bits(), hit.score.to_bits(), "{:?}", hit.ledger);
            prop_assert!(hit.score.is_finite());
        }
    }

    #[test]
    fn hits_come_in_the_documented_order(search in whole_search()) {
        let answer = run(&search);
        let ranks: Vec<_> = answer.hits.iter().map(|hit| hit.rank).collect();
        prop_assert_eq!(ranks, (1..=answer.hits.len()).collect::<Vec<_>>());
        // Nothing has been chosen before the first pick of MMR, so that its value may be the lesser one.
        let sorted = &answer.hits[usize::from(search["pipeline"].get("diversify").is_some()).min(answer.hits.len())..];
        prop_assert!(sorted.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for hit in &answer.hits {
            let mut once = hit.alternates.clone();
            once.dedup();
            prop_assert_eq!(&once, &hit.alternates);
        }
    }

    #[test]
    fn recency_of_weight_zero_is_recency_off(
        search in whole_search(),
        rules in prop::collection::btree_map(
            prop::sample::select(vec!["*", "wiki", "slack", "elsewhere"]),
            prop::sample::select(vec![json!({"weight": 0}), json!({"half_life": "2d", "weight": 0.0}), json!({"factor": 0, "window_days": 5})]),
            0..4,
        ),
    ) {
        let mut off = search;
        off["pipeline"].as_object_mut().unwrap().remove("recency");
        let mut zero = off.clone();
        zero["pipeline"]["recency"] = json!(rules);
        prop_assert_eq!(bytes(&run(&off)), bytes(&run(&zero)));
    }

    #[test]
    fn unit_methods_stay_between_0_and_1(
        fuse in prop::sample::select(vec![
            json!({"method": "rsf"}), json!({"method": "linear"}), json!({"method": "linear", "missing": "min"}),
            json!({"method": "linear", "equal": 0.5}),
        ]),
        lists in lists_of(item(), vec![1.0, 0.1, 0.7, 3.0, 1e-3]),
        other in lists_of(item(), vec![1.0]),
    ) {
        let answer = run(&json!({"pipeline": {"fuse": fuse}, "variants": [{"lists": lists}, {"lists": other}]}));
        for hit in &answer.hits {
            prop_assert!((0.0..=1.0).contains(&hit.score), "{} has {}", hit.id, hit.score);
        }
    }

    /// A prefix keeps the order of the ids, so that nothing but the ids may change, whatever stages run.
    #[test]
    fn relabelling_in_order_changes_only_the_ids(search in whole_search()) {
        let mut relabelled = search.clone();
        relabel(&mut relabelled, &|id| format!("x-{id}"));
        let (plain, other) = (run(&search), run(&relabelled));
        let strip = |text: &str| text.replace("x-", "");
        prop_assert_eq!(hits(&plain), strip(&hits(&other)));
        prop_assert_eq!(plain.dropped.len(), other.dropped.len());
    }

    /// Any other relabelling may change only the order of hits that tie on score, best rank and best raw score.
    #[test]
    fn relabelling_changes_nothing_but_ties_between_ids(fuse in fusion(), lists in plain_lists()) {
        let mut relabelled = search(&fuse, &lists);
        let swap = |id: &str| id.bytes().map(|byte| char::from(b'a' + b'h' - byte)).collect::<String>();
        relabel(&mut relabelled, &swap);
        let (plain, other) = (run(&search(&fuse, &lists)), run(&relabelled));
        prop_assert_eq!(plain.hits.len(), other.hits.len());
        for (one, two) in plain.hits.iter().zip(&other.hits) {
            prop_assert_eq!(one.score.to_bits(), two.score.to_bits());
            prop_assert_eq!(score(&other, &swap(&one.id)).map(f64::to_bits), Some(one.score.to_bits()));
        }
    }

    #[test]
    fn repeating_an_id_further_down_changes_nothing(fuse in fusion(), mut lists in plain_lists(), at in any::<prop::sample::Index>()) {
        lists.iter_mut().for_each(without_repeats);
        let mut repeated = lists.clone();
        for list in &mut repeated {
            let items = list["items"].as_array_mut().unwrap();
            if !items.is_empty() {
                let again = items[at.index(items.len())].clone();
                items.push(again);
            }
        }
        prop_assert_eq!(hits(&run(&search(&fuse, &lists))), hits(&run(&search(&fuse, &repeated))));
    }

    #[test]
    fn an_empty_list_changes_nothing_for_rrf(lists in plain_lists(), at in any::<prop::sample::Index>(), k in 0..100_u32) {
        let fuse = json!({"method": "rrf", "k": k});
        let mut more = lists.clone();
        more.insert(at.index(lists.len() + 1), json!({"name": "empty", "items": []}));
        prop_assert_eq!(hits(&run(&search(&fuse, &lists))), hits(&run(&search(&fuse, &more))));
    }

    #[test]
    fn pages_are_rows_of_one_big_page(search in whole_search(), size in 1..5_usize) {
        let all = run(&search);
        let row = |hit: &mainstem_core::Hit| serde_json::to_string(hit).unwrap();
        let rows: Vec<_> = all.hits.iter().map(row).collect();
        for offset in (0..rows.len() + size).step_by(size) {
            let mut page = search.clone();
            page["pipeline"]["offset"] = json!(offset);
            page["pipeline"]["limit"] = json!(size);
            let page: Vec<_> = run(&page).hits.iter().map(row).collect();
            prop_assert_eq!(page.as_slice(), &rows[offset.min(rows.len())..(offset + size).min(rows.len())]);
        }
    }

    #[test]
    fn a_record_gives_the_same_bytes(mut search in whole_search()) {
        each_list(&mut search, &without_repeats);
        let replay = Replay::from_json(search.to_string().as_bytes()).unwrap();
        let record = replay.to_json().unwrap();
        let again = Replay::from_json(record.as_bytes()).unwrap();
        prop_assert_eq!(&again.to_json().unwrap(), &record);
        prop_assert_eq!(bytes(&again.run().unwrap()), bytes(&replay.run().unwrap()));
    }

    #[test]
    fn text_that_is_no_search_is_refused_without_a_panic(search in whole_search(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = search.to_string().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        if let Ok(replay) = Replay::from_json(&text) {
            drop(replay.run());
        }
        prop_assert!(Replay::from_json(&text[..at]).is_err());
    }
}

/// Gives every id another name, in lists, documents and the reranker's scores.
fn relabel(search: &mut Value, rename: &impl Fn(&str) -> String) {
    match search {
        Value::Array(values) => values.iter_mut().for_each(|value| relabel(value, rename)),
        Value::Object(map) => {
            if let Some(scores) = map.get_mut("scores").and_then(Value::as_object_mut) {
                *scores = scores.iter().map(|(id, score)| (rename(id), score.clone())).collect();
            }
            for (name, value) in map.iter_mut() {
                match (name.as_str(), &value) {
                    ("id" | "document", Value::String(id)) => *value = json!(rename(id)),
                    _ => relabel(value, rename),
                }
            }
        }
        _ => {}
    }
}
