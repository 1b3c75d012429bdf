//! Freshness: window, decay, missing and future times, and the scale that decay works on.

use crate::search::{bytes, expect, ids, listed, refused, run, score, search};

/// One list of items with a score and a time each; `-` is no time.
fn dated(source: &str, items: &[(&str, f64, &str)]) -> String {
    let items = items.iter().map(|(id, score, time)| match *time {
        "-" => format!(r#"{{"id":"{id}","score":{score:?}}}"#),
        time => format!(r#"{{"id":"{id}","score":{score:?},"created_at":"{time}"}}"#),
    });
    listed(source, "", &items.collect::<Vec<_>>().join(","))
}

const RSF: &str = r#""fuse":{"method":"rsf"}"#;

#[test]
fn a_window_multiplies_inside_and_nowhere_else() {
    let items = [
        ("today", 1.0, "2026-01-31T00:00:00Z"),
        ("edge", 1.0, "2026-01-01T00:00:00Z"),
        ("before", 1.0, "2025-12-31T23:59:59Z"),
        ("tomorrow", 1.0, "2026-02-01T00:00:00Z"),
        ("undated", 1.0, "-"),
    ];
    for rule in [r#"{"window_days":30,"factor":0.15}"#, r#"{"window_days":30}"#, r#"{"factor":0.15}"#] {
        let answer = run(&search(&format!(r#"{RSF},"recency":{{"wiki":{rule}}}"#), &[dated("wiki", &items)]));
        let boosted = 1.0 + 0.15;
        assert_eq!([score(&answer, "today"), score(&answer, "edge")], [boosted, boosted], "{rule}");
        for id in ["before", "tomorrow", "undated"] {
            assert_eq!(score(&answer, id), 1.0, "{rule}: {id}");
        }
    }
}

#[test]
fn a_window_multiplies_the_raw_score() {
    let items = [("old", 2.0, "2020-01-01"), ("new", 1.0, "2026-01-30")];
    let answer =
        run(&search(r#""recency":{"*":{"window_days":30,"factor":0.15}}"#, &[dated("wiki", &items)]));
    expect(&answer, &[("new", 1.15 / 62.0), ("old", 1.0 / 61.0)]);
}

#[test]
fn decay_blends_unit_relevance_with_freshness() {
    let items = [("a", 3.0, "2026-01-01"), ("b", 2.0, "2026-01-31"), ("c", 1.0, "2025-12-02")];
    let rule = r#""recency":{"wiki":{"half_life":"30d","weight":0.2}}"#;
    let rsf = run(&search(&format!("{RSF},{rule}"), &[dated("wiki", &items)]));
    expect(&rsf, &[("a", 0.8 * 1.0 + 0.2 * 0.5), ("b", 0.8 * 0.5 + 0.2), ("c", 0.2 * 0.25)]);
}

#[test]
fn relevance_is_taken_as_it_is_where_it_is_unit_and_divided_by_the_best_where_not() {
    // The best of RSF is .5 here, so dividing by it would show.
    let items = [("a", 3.0, "2026-01-31"), ("b", 1.0, "2026-01-31")];
    let lists = [dated("wiki", &items), listed("empty", "", "")];
    let rule = r#""recency":{"*":{"half_life":7,"weight":0.5}}"#;
    for fuse in [RSF, r#""fuse":{"method":"linear"}"#] {
        expect(&run(&search(&format!("{fuse},{rule}"), &lists)), &[("a", 0.75), ("b", 0.5)]);
    }
    let rrf = run(&search(rule, &lists));
    expect(&rrf, &[("a", 1.0), ("b", 0.5 * (61.0 / 62.0) + 0.5)]);
    // Raw scores, all negative: against the distance from the best.
    let negative = [("a", -1.0, "2026-01-31"), ("b", -3.0, "2026-01-31")];
    let raw = format!(r#""fuse":{{"method":"combsum","normalise":"none"}},{rule}"#);
    expect(&run(&search(&raw, &[dated("wiki", &negative)])), &[("a", 1.0), ("b", 0.5 / 3.0 + 0.5)]);
}

#[test]
fn without_a_time_an_item_is_half_fresh_or_skipped() {
    let items = [("undated", 2.0, "-"), ("old", 1.0, "2000-01-01")];
    let neutral = run(&search(
        &format!(r#"{RSF},"recency":{{"*":{{"half_life":7,"weight":0.4}}}}"#),
        &[dated("x", &items)],
    ));
    assert_eq!(score(&neutral, "undated"), 0.6 * 1.0 + 0.4 * 0.5);
    let skip = r#""recency":{"*":{"half_life":7,"weight":0.4,"missing":"skip"}}"#;
    let skip = run(&search(&format!("{RSF},{skip}"), &[dated("x", &items)]));
    assert_eq!(score(&skip, "undated"), 1.0);
}

#[test]
fn the_future_counts_as_now_and_is_flagged() {
    let items = [("ahead", 1.0, "2026-03-01T00:00:00Z"), ("now", 1.0, "2026-01-31T00:00:00Z")];
    let answer = run(&search(
        &format!(r#"{RSF},"recency":{{"*":{{"half_life":7,"weight":0.4}}}}"#),
        &[dated("x", &items)],
    ));
    assert_eq!(score(&answer, "ahead"), score(&answer, "now"));
    assert_eq!(answer.status.notes, ["`ahead` is dated in the future"]);
    let window = run(&search(r#""recency":{"*":{"window_days":60}}"#, &[dated("x", &items)]));
    assert_eq!(window.status.notes, ["`ahead` is dated in the future"]);
}

#[test]
fn a_kind_has_its_own_numbers_and_all_others_14_days_and_a_third() {
    for (kind, half_life, weight) in [
        ("slack", 7.0, 0.6),
        ("gmail", 14.0, 0.5),
        ("linear", 14.0, 0.4),
        ("notion", 30.0, 0.2),
        ("wiki", 14.0, 0.3),
    ] {
        let item = r#"{"id":"a","score":1,"created_at":"2026-01-24T00:00:00Z"}"#;
        let wanted = (1.0 - weight) + weight * (-7.0_f64 / half_life).exp2();
        let by_kind = listed("team/dense", &format!(r#""source":"team","kind":"{kind}""#), item);
        let answer = run(&search(&format!(r#"{RSF},"recency":{{"team":{{}}}}"#), &[by_kind]));
        assert!((answer.hits[0].score - wanted).abs() < 1e-12, "{kind}");
        let by_name =
            run(&search(&format!(r#"{RSF},"recency":{{"{kind}":{{}}}}"#), &[listed(kind, "", item)]));
        assert!((by_name.hits[0].score - wanted).abs() < 1e-12, "{kind} by name");
    }
}

#[test]
fn no_kind_decays_unless_a_rule_says_so() {
    let lists = [dated("slack", &[("a", 1.0, "2020-01-01")])];
    assert_eq!(score(&run(&search(RSF, &lists)), "a"), 1.0);
}

#[test]
fn the_star_is_for_all_sources_that_are_not_named() {
    let old = "2000-01-01";
    let lists = [
        dated("wiki", &[("w", 2.0, old), ("w2", 1.0, old)]),
        dated("chat", &[("c", 2.0, old), ("c2", 1.0, old)]),
        dated("mail", &[("m", 2.0, old), ("m2", 1.0, old)]),
    ];
    let rules = r#""recency":{"*":{"half_life":1,"weight":0.5},"wiki":{"half_life":1,"weight":0.25},"mail":{"weight":0}}"#;
    let answer = run(&search(&format!("{RSF},{rules}"), &lists));
    let third = 1.0 / 3.0;
    assert_eq!(score(&answer, "w"), 0.75 * third);
    assert_eq!(score(&answer, "c"), 0.5 * third);
    assert_eq!(score(&answer, "m"), third, "a rule of weight 0 shields its source from the star");
}

#[test]
fn weight_zero_is_byte_identical_to_off() {
    let lists = [dated("wiki", &[("a", 3.0, "2026-01-01"), ("b", 2.0, "2026-03-01"), ("c", 1.0, "-")])];
    for fuse in [RSF, r#""fuse":{"method":"rrf"}"#] {
        let off = bytes(&run(&search(fuse, &lists)));
        for rule in
            [r#""wiki":{"weight":0}"#, r#""*":{"half_life":"7d","weight":0.0}"#, r#""*":{"factor":0}"#]
        {
            let zero = bytes(&run(&search(&format!(r#"{fuse},"recency":{{{rule}}}"#), &lists)));
            assert_eq!(zero, off, "{rule}");
        }
    }
}

#[test]
fn the_clock_is_given_and_never_read() {
    let lists = dated("wiki", &[("a", 1.0, "2026-01-01")]);
    let json = format!(r#"{{"pipeline":{{"recency":{{"*":{{}}}}}},"lists":[{lists}]}}"#);
    assert!(refused(&json).to_string().contains("the clock (`now`) is missing"));
    let with = json.replacen('{', r#"{"now":"2026-01-15T00:00:00Z","#, 1);
    let answer = run(&with);
    assert_eq!(answer.status.now.as_deref(), Some("2026-01-15T00:00:00Z"));
    assert!((answer.hits[0].score - (0.7 + 0.3 * 0.5)).abs() < 1e-12);
}

#[test]
fn age_does_not_depend_on_how_a_time_is_written() {
    let same = ["2026-01-24T00:00:00Z", "2026-01-24", "2026-01-24T09:00:00+09:00", "2026-01-24T00:00:00"];
    let items: Vec<_> =
        same.iter().enumerate().map(|(n, time)| (["a", "b", "c", "d"][n], 1.0, *time)).collect();
    let answer = run(&search(&format!(r#"{RSF},"recency":{{"*":{{}}}}"#), &[dated("x", &items)]));
    assert!(answer.hits.iter().all(|hit| hit.score == answer.hits[0].score));
    let epochs =
        r#"{"id":"e","score":1,"created_at":1769212800},{"id":"f","score":1,"created_at":1769212800000}"#;
    let numbers = run(&search(&format!(r#"{RSF},"recency":{{"*":{{}}}}"#), &[listed("x", "", epochs)]));
    assert!(numbers.hits.iter().all(|hit| hit.score == answer.hits[0].score));
}

#[test]
fn recency_comes_after_fusion_and_reorders() {
    let lists =
        [dated("wiki", &[("old", 2.0, "2010-01-01"), ("new", 1.9, "2026-01-31"), ("last", 0.0, "-")])];
    let answer = run(&search(&format!(r#"{RSF},"recency":{{"*":{{"weight":0.3}}}}"#), &lists));
    assert_eq!(ids(&answer), ["new", "old", "last"]);
}
