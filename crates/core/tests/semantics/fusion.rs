//! What each method gives, and what it does with weights, gaps and repetitions.

use crate::search::{
    bytes, expect, expect_rounded, ids, list, listed, refused, run, score, search, two_lists, variants,
    weighted,
};
use mainstem_core::LegState;

/// Two lists fused with these settings.
fn fuse(settings: &str) -> mainstem_core::Answer {
    run(&search(&format!(r#""fuse":{{{settings}}}"#), &two_lists()))
}

#[test]
fn rrf_adds_the_weight_over_k_plus_rank() {
    let expected = [
        ("b", 1.0 / 62.0 + 1.0 / 61.0),
        ("c", 1.0 / 63.0 + 1.0 / 62.0),
        ("a", 1.0 / 61.0),
        ("d", 1.0 / 63.0),
    ];
    expect(&run(&search("", &two_lists())), &expected);
    expect(&fuse(r#""method":"rrf","k":60,"rank_base":1"#), &expected);
}

#[test]
fn rrf_takes_another_k_and_ranks_from_zero() {
    expect(&fuse(r#""k":0"#), &[("b", 1.5), ("a", 1.0), ("c", 1.0 / 3.0 + 0.5), ("d", 1.0 / 3.0)]);
    let from_zero = [("b", 1.0 / 11.0 + 0.1), ("c", 1.0 / 12.0 + 1.0 / 11.0), ("a", 0.1), ("d", 1.0 / 12.0)];
    expect(&fuse(r#""k":10,"rank_base":0"#), &from_zero);
}

#[test]
fn rrf_refuses_a_k_that_divides_by_zero_or_is_negative() {
    for (settings, message) in [
        (r#""k":-1"#, "`k` is -1"),
        (r#""k":0,"rank_base":0"#, "the first rank would divide by 0"),
        (r#""rank_base":2"#, "`rank_base` is 2"),
    ] {
        let error = refused(&search(&format!(r#""fuse":{{{settings}}}"#), &two_lists())).to_string();
        assert!(error.contains(message), "{settings}: {error}");
    }
}

#[test]
fn rrf_weights_multiply_the_terms() {
    let lists = [weighted("bm25", 0.5, "a 3, b 2"), weighted("dense", 3.0, "b 2, c 1")];
    let expected = [("b", 0.5 / 62.0 + 3.0 / 61.0), ("c", 3.0 / 62.0), ("a", 0.5 / 61.0)];
    expect(&run(&search("", &lists)), &expected);
}

#[test]
fn a_leg_of_weight_zero_is_not_run_and_said_to_be_skipped() {
    let alone = [list("bm25", "a 3, b 2")];
    let with = [list("bm25", "a 3, b 2"), weighted("dense", 0.0, "b 2, c 1")];
    for method in ["rrf", "rsf", "combsum", "combmnz", "linear", "dbsf", "isr", "borda", "condorcet"] {
        let fuse = format!(r#""fuse":{{"method":"{method}"}}"#);
        let (alone, with) = (run(&search(&fuse, &alone)), run(&search(&fuse, &with)));
        assert_eq!(
            serde_json::to_string(&alone.hits).unwrap(),
            serde_json::to_string(&with.hits).unwrap(),
            "{method}"
        );
        assert_eq!(with.status.legs[1].state, LegState::Skipped);
        assert!(!with.status.partial, "a leg that was left out on purpose is no gap");
    }
}

#[test]
fn a_repeated_id_counts_once_at_its_first_place_and_the_ranks_close_up() {
    let answer = run(&search("", &[list("bm25", "a, b, a, c, b, d")]));
    expect(&answer, &[("a", 1.0 / 61.0), ("b", 1.0 / 62.0), ("c", 1.0 / 63.0), ("d", 1.0 / 64.0)]);
    assert_eq!(answer.status.legs[0].repeated, 2);
    let scored = run(&search("", &[list("bm25", "a 9, b 8, a 7, c 6")]));
    expect(&scored, &[("a", 1.0 / 61.0), ("b", 1.0 / 62.0), ("c", 1.0 / 63.0)]);
}

#[test]
fn a_repeated_id_moves_no_item_without_a_score() {
    let once = run(&search("", &[list("bm25", "b 2, c 1, a")]));
    let twice = run(&search("", &[list("bm25", "b 2, c 1, a, b 2")]));
    assert_eq!(ids(&once), ["b", "c", "a"]);
    assert_eq!(ids(&twice), ids(&once));
}

#[test]
fn rsf_of_two_lists_is_the_mean_or_half() {
    // bm25: a 1, b 1.8/3.3, c 0; dense: b 1, c .18/.25, d 0
    let expected = [("b", 0.5 * (1.8 / 3.3 + 1.0)), ("a", 0.5), ("c", 0.72 / 2.0), ("d", 0.0)];
    expect(&fuse(r#""method":"rsf""#), &expected);
}

#[test]
fn rsf_of_many_lists_is_the_mean_over_those_that_hold_it_times_their_share() {
    let lists = [list("one", "x 4, y 3, z 2"), list("two", "y 10, z 5, w 0"), list("three", "x 1")];
    let answer = run(&search(r#""fuse":{"method":"rsf"}"#, &lists));
    // x: mean(1, 1) · 2/3; y: mean(.5, 1) · 2/3; z: mean(0, .5) · 2/3; w: 0 · 1/3
    expect(&answer, &[("x", 2.0 / 3.0), ("y", 0.5), ("z", 0.5 / 3.0), ("w", 0.0)]);
}

#[test]
fn rsf_counts_empty_lists() {
    let [bm25, dense] = two_lists();
    let answer = run(&search(r#""fuse":{"method":"rsf"}"#, &[bm25, dense, list("empty", "")]));
    assert_eq!(score(&answer, "a"), 1.0 / 3.0);
    assert_eq!(answer.status.legs[2].state, LegState::Empty);
}

#[test]
fn rsf_values_an_item_without_a_score_by_its_rank() {
    let rsf = r#""fuse":{"method":"rsf"}"#;
    expect(
        &run(&search(rsf, &[list("x", "a, b, c, d")])),
        &[("a", 1.0), ("b", 0.75), ("c", 0.5), ("d", 0.25)],
    );
    expect(&run(&search(rsf, &[list("x", "a")])), &[("a", 1.0)]);
    // Three items, the middle one without a score: 1 − 1/3.
    expect(
        &run(&search(rsf, &[list("x", "a 9, b, c 1")])),
        &[("a", 1.0), ("b", 1.0 - 1.0 / 3.0), ("c", 0.0)],
    );
}

#[test]
fn rsf_gives_equal_scores_one_and_takes_negative_ones() {
    let rsf = r#""fuse":{"method":"rsf"}"#;
    expect(&run(&search(rsf, &[list("x", "a 7, b 7")])), &[("a", 1.0), ("b", 1.0)]);
    expect(&run(&search(rsf, &[list("x", "a -1, b -2, c -5")])), &[("a", 1.0), ("b", 0.75), ("c", 0.0)]);
}

#[test]
fn rsf_across_variants_is_the_mean_over_those_that_hold_it_plus_a_tenth_for_each_further_one() {
    let answer = run(&variants(
        r#""fuse":{"method":"rsf"}"#,
        &[
            &[list("dense", "x 4, y 3, z 0"), list("bm25", "y 2, x 1")],
            &[list("dense", "y 5, x 1")],
            &[list("dense", "w 3, x 1.5, v 0")],
        ],
    ));
    // x: ((1 + 0)/2 + 0 + .5)/3 + .2; y: ((.75 + 1)/2 + 1)/2 + .1, clamped; w: 1; z: 0/2; v: 0
    let y = 0.5 * (0.5 * (0.75 + 1.0) + 1.0) + 0.1;
    assert!(y > 1.0, "the sum must need clamping for this test to say something");
    expect(&answer, &[("y", 1.0), ("w", 1.0), ("x", 1.0 / 3.0 + 0.2), ("v", 0.0), ("z", 0.0)]);
}

#[test]
fn a_variant_that_comes_twice_counts_once() {
    let lists = list("dense", "x 4, y 3, z 0");
    let json = |queries: [&str; 2]| {
        let variants = queries.map(|query| format!(r#"{{"query":"{query}","lists":[{lists}]}}"#)).join(",");
        format!(r#"{{"pipeline":{{"fuse":{{"method":"rsf"}}}},"variants":[{variants}]}}"#)
    };
    assert_eq!(score(&run(&json(["q", "q"])), "y"), 0.75);
    assert_eq!(score(&run(&json(["q", "r"])), "y"), 0.85);
    assert!(run(&json(["q", "q"])).status.notes[0].contains("comes twice"));
}

#[test]
fn sums_of_normalised_scores() {
    let sum = 1.8 / 3.3 + 1.0;
    expect(&fuse(r#""method":"combsum""#), &[("b", sum), ("a", 1.0), ("c", 0.72), ("d", 0.0)]);
    expect(&fuse(r#""method":"combmnz""#), &[("b", 2.0 * sum), ("c", 1.44), ("a", 1.0), ("d", 0.0)]);
    let raw = r#""method":"combsum","normalise":"none""#;
    expect(&fuse(raw), &[("a", 12.5), ("b", 11.95), ("c", 10.08), ("d", 0.70)]);
}

#[test]
fn the_linear_combination_takes_each_normalisation() {
    let lists =
        [weighted("bm25", 1.0, "a 12.5, b 11.0, c 9.2"), weighted("dense", 3.0, "b 0.95, c 0.88, d 0.70")];
    let linear = |settings: &str| run(&search(&format!(r#""fuse":{{"method":"linear"{settings}}}"#), &lists));
    expect(&linear(""), &[("b", (1.8 / 3.3 + 3.0) / 4.0), ("c", 0.54), ("a", 0.25), ("d", 0.0)]);
    let answer = linear(r#","normalise":"zscore""#);
    for id in ["a", "b", "c", "d"] {
        let z = |value: f64, mean: f64, values: [f64; 3]| {
            (value - mean) / (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 3.0).sqrt()
        };
        let (bm25, dense) = ([12.5, 11.0, 9.2], [0.95, 0.88, 0.70]);
        let one =
            ["a", "b", "c"].iter().position(|known| *known == id).map(|at| z(bm25[at], 32.7 / 3.0, bm25));
        let two =
            ["b", "c", "d"].iter().position(|known| *known == id).map(|at| z(dense[at], 2.53 / 3.0, dense));
        let wanted = (one.unwrap_or(0.0) + 3.0 * two.unwrap_or(0.0)) / 4.0;
        assert!((score(&answer, id) - wanted).abs() < 1e-9, "{id}: {wanted}");
    }
}

#[test]
fn theoretical_bounds_come_from_the_leg() {
    let lists = [
        listed("bm25", r#""bounds":{"min":0}"#, r#"{"id":"a","score":10},{"id":"b","score":5}"#),
        listed("dense", r#""bounds":{"min":-1,"max":1}"#, r#"{"id":"b","score":0.6},{"id":"c","score":0.2}"#),
    ];
    let answer = run(&search(r#""fuse":{"method":"linear","normalise":"theoretical"}"#, &lists));
    expect(&answer, &[("b", 0.5 * (0.5 + 0.8)), ("a", 0.5), ("c", 0.3)]);
    let unbounded = search(r#""fuse":{"method":"linear","normalise":"theoretical"}"#, &two_lists());
    assert!(refused(&unbounded).to_string().contains("the lower bound of list `bm25` is missing"));
}

#[test]
fn a_unit_score_is_never_above_one() {
    // Here (w / k) × (k / w) rounds up.
    let unit = r#""fuse":{"combine":"unit","k":7.3,"rank_base":0}"#;
    let answer = run(&search(unit, &[weighted("wiki", 0.001, "a")]));
    assert_eq!(answer.hits[0].score, 1.0);
}

#[test]
fn dbsf_isr_borda_and_condorcet() {
    let dbsf = [("b", 1.147931), ("c", 0.875903), ("a", 0.661394), ("d", 0.314772)];
    expect_rounded(&fuse(r#""method":"dbsf""#), &dbsf);
    expect(
        &fuse(r#""method":"isr""#),
        &[("b", 2.5), ("a", 1.0), ("c", 2.0 * (1.0 / 9.0 + 0.25)), ("d", 1.0 / 9.0)],
    );
    expect(&fuse(r#""method":"borda""#), &[("b", 7.0), ("a", 5.0), ("c", 5.0), ("d", 3.0)]);
    expect(&fuse(r#""method":"condorcet""#), &[("b", 2.5), ("a", 1.5), ("c", 1.5), ("d", 0.5)]);
}

#[test]
fn borda_counts_the_candidates_that_are_left_after_collapsing() {
    let item = |id: &str, text: &str| format!(r#"{{"id":"{id}","text":"{text}"}}"#);
    let texts = ["one two three", "one two three", "quite another thing", "something else again"];
    let [x, copy, y, z] = [("x", 0), ("copy", 1), ("y", 2), ("z", 3)].map(|(id, at)| item(id, texts[at]));
    let with_copy = listed("wiki", "", &[x.clone(), copy, y.clone(), z.clone()].join(","));
    let without = listed("wiki", "", &[x, y, z].join(","));
    let other = list("bm25", "y, w");
    let borda = |dedup: &str, first: &str| {
        run(&search(&format!(r#""fuse":{{"method":"borda"}}{dedup}"#), &[first.to_owned(), other.clone()]))
    };
    let collapsed = borda(r#","dedup":{"within":0.9}"#, &with_copy);
    let plain = borda("", &without);
    let ranking = |answer: &mainstem_core::Answer| -> Vec<(String, f64)> {
        answer.hits.iter().map(|hit| (hit.id.clone(), hit.score)).collect()
    };
    assert_eq!(ranking(&collapsed), ranking(&plain));
}

#[test]
fn the_direction_belongs_to_the_leg() {
    let far = r#"{"id":"far","score":0.9},{"id":"near","score":0.1}"#;
    let answer = run(&search("", &[listed("l2", r#""direction":"distance""#, far)]));
    assert_eq!(ids(&answer), ["near", "far"]);
    let answer =
        run(&search(r#""fuse":{"method":"rsf"}"#, &[listed("l2", r#""direction":"distance""#, far)]));
    expect(&answer, &[("near", 1.0), ("far", 0.0)]);
    assert!(bytes(&answer).contains("\"score\": 0.1"), "the ledger shows the score as the leg gave it");
}

#[test]
fn an_option_without_meaning_for_the_method_is_refused() {
    let error = refused(&search(r#""fuse":{"method":"rsf","k":60}"#, &two_lists()));
    assert_eq!(error.to_string(), "`fuse.k` has no meaning for method `rsf`");
}
