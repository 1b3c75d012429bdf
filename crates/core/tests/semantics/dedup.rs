//! Collapsing duplicates: what counts as the same, who survives, and what the survivor says.

use crate::search::{bytes, expect, ids, listed, run, score, search};
use mainstem_core::answer::{Fate, Why};
use mainstem_core::ledger::Scope;
use mainstem_core::{Answer, Step};

const TEN: &str = "one two three four five six seven eight nine ten";
const NINE: &str = "One TWO three four five six seven eight nine";
const EIGHT: &str = "one two three four five six seven eight";

fn item(id: &str, score: f64, rest: &str) -> String {
    let comma = if rest.is_empty() { "" } else { "," };
    format!(r#"{{"id":"{id}","score":{score:?}{comma}{rest}}}"#)
}

fn text(text: &str) -> String {
    format!(r#""text":"{text}""#)
}

fn one_list(dedup: &str, items: &[String]) -> Answer {
    run(&search(&format!(r#""dedup":{{{dedup}}}"#), &[listed("wiki", "", &items.join(","))]))
}

#[test]
fn nine_words_of_ten_are_the_same_and_eight_are_not() {
    let items = [item("a", 3.0, &text(TEN)), item("b", 2.0, &text(NINE)), item("c", 1.0, &text(EIGHT))];
    for scope in ["within", "across"] {
        let answer = one_list(&format!(r#""{scope}":0.9"#), &items);
        assert_eq!(ids(&answer), ["a", "c"], "{scope}");
        assert_eq!(ids(&one_list(&format!(r#""{scope}":0.91"#), &items)), ["a", "b", "c"], "{scope}");
    }
}

#[test]
fn nothing_is_collapsed_unless_asked() {
    let items = [item("a", 3.0, &text(TEN)), item("b", 2.0, &text(TEN))];
    assert_eq!(ids(&one_list("", &items)), ["a", "b"]);
}

#[test]
fn exact_keys_come_before_likeness() {
    // c is a near copy of a by its words, and has the key of b.
    let items = [
        item("a", 3.0, &text(TEN)),
        item("b", 2.0, &format!(r#""key":"k",{}"#, text("quite another text"))),
        item("c", 1.0, &format!(r#""key":"k",{}"#, text(NINE))),
    ];
    let answer = one_list(r#""across":0.9"#, &items);
    assert_eq!(ids(&answer), ["a", "b"]);
    let into = Why::Collapsed { into: "b".into(), scope: Scope::Across };
    assert_eq!(answer.fate("c"), (Fate::Dropped, Some(&into)));
}

#[test]
fn the_kind_of_the_source_says_which_fields_are_keys() {
    let cases = [
        ("games", r#""fen":"8/8/8/8/8/8/8/8 w""#),
        ("games", r#""line":"e4 e5""#),
        ("books", r#""book":"Endings","section":"4.2""#),
        ("wiki", r#""url":"https://example.org/a""#),
        ("slack", r#""key":"thread-7""#),
    ];
    for (kind, key) in cases {
        let items = [item("a", 2.0, key), item("b", 1.0, key)].join(",");
        let fields = format!(r#""kind":"{kind}""#);
        let collapsed = run(&search(r#""dedup":{"within":0.9}"#, &[listed("x", &fields, &items)]));
        assert_eq!(ids(&collapsed), ["a"], "{kind} by {key}");
        let other = if kind == "slack" { continue } else { r#""kind":"slack""# };
        let kept = run(&search(r#""dedup":{"within":0.9}"#, &[listed("x", other, &items)]));
        assert_eq!(ids(&kept), ["a", "b"], "slack by {key}");
    }
    let chosen = [item("a", 2.0, r#""isbn":"1""#), item("b", 1.0, r#""isbn":"1""#)];
    assert_eq!(ids(&one_list(r#""within":0.9,"keys":["isbn"]"#, &chosen)), ["a"]);
}

#[test]
fn vectors_decide_by_cosine_where_both_have_one() {
    let vector = |x: f64, y: f64, words: &str| format!(r#""vector":[{x:?},{y:?}],{}"#, text(words));
    let items = [
        item("a", 3.0, &vector(1.0, 0.0, "these words")),
        item("near", 2.0, &vector(1.0, 0.1, "other ones")),
        item("far", 1.0, &vector(0.0, 1.0, "quite these words")),
    ];
    assert_eq!(ids(&one_list(r#""across":0.9,"by":"cosine""#, &items)), ["a", "far"]);
    assert_eq!(ids(&one_list(r#""across":0.9"#, &items)), ["a", "near", "far"], "by words unless asked");
}

#[test]
fn within_runs_before_fusion_and_the_ranks_close_up() {
    let copies = [item("a", 4.0, &text(TEN)), item("copy", 3.0, &text(TEN)), item("z", 2.0, &text("unlike"))];
    let within = one_list(r#""within":0.9"#, &copies);
    expect(&within, &[("a", 1.0 / 61.0), ("z", 1.0 / 62.0)]);
    let across = one_list(r#""across":0.9"#, &copies);
    expect(&across, &[("a", 1.0 / 61.0), ("z", 1.0 / 63.0)]);
}

#[test]
fn a_copy_stands_for_the_survivor_in_lists_that_hold_only_the_copy() {
    let dense = listed("wiki/dense", "", &item("a", 2.0, &text(TEN)));
    let words = [item("z", 2.0, &text("unlike")), item("copy", 1.0, &text(TEN))].join(",");
    let answer = run(&search(r#""dedup":{"within":0.9}"#, &[dense, listed("wiki/bm25", "", &words)]));
    expect(&answer, &[("a", 1.0 / 61.0 + 1.0 / 62.0), ("z", 1.0 / 61.0)]);
}

#[test]
fn within_looks_at_one_source_at_a_time() {
    let wiki = listed("wiki", "", &item("a", 2.0, &text(TEN)));
    let chat = listed("chat", "", &item("b", 2.0, &text(TEN)));
    let both = [wiki, chat];
    assert_eq!(ids(&run(&search(r#""dedup":{"within":0.9}"#, &both))), ["a", "b"]);
    let across = run(&search(r#""dedup":{"across":0.9}"#, &both));
    assert_eq!(ids(&across), ["a"]);
    assert_eq!(score(&across, "a"), 1.0 / 61.0, "collapsing across adds nothing to the score");
}

#[test]
fn the_same_copies_in_several_sources_are_counted_once() {
    let copies =
        [item("a", 2.0, &text(TEN)), item("b", 1.0, &format!(r#"{},"label":"[B]""#, text(TEN)))].join(",");
    let lists = ["wiki", "chat", "mail", "code"].map(|source| listed(source, "", &copies));
    let answer = run(&search(r#""dedup":{"within":0.9}"#, &lists));
    assert_eq!(ids(&answer), ["a"]);
    assert_eq!(answer.hits[0].alternates, ["[B]"]);
    let stage = answer.status.stages.iter().find(|stage| stage.stage == "collapse_within").unwrap();
    assert_eq!((stage.before, stage.after), (2, 1));
}

#[test]
fn the_best_survives_and_lists_the_others_once_each_in_order() {
    let labelled = |label: &str| format!(r#"{},"label":"{label}""#, text(TEN));
    let list = |source: &str, id: &str, score: f64, label: &str| {
        listed(source, "", &item(id, score, &labelled(label)))
    };
    let lists = [
        list("wiki", "w", 1.0, "[wiki]"),
        list("chat", "c", 9.0, "[chat]"),
        list("mail", "m", 5.0, "[chat]"),
        list("code", "k", 3.0, "[code]"),
        list("docs", "d", 2.0, "[wiki]"),
    ];
    let answer = run(&search(r#""dedup":{"across":0.9}"#, &lists));
    // All tie on score and rank, so the raw score puts the chat first; the mail's label equals the survivor's own.
    assert_eq!(ids(&answer), ["c"]);
    assert_eq!(answer.hits[0].alternates, ["[code]", "[wiki]"]);
    let absorbed = answer.hits[0].ledger.steps.iter().find_map(|step| match step {
        Step::Collapse { absorbed, .. } => {
            Some(absorbed.iter().map(|one| one.id.as_str()).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert_eq!(absorbed.unwrap(), ["m", "k", "d", "w"]);
}

#[test]
fn labels_are_listed_once_also_when_collapsed_within_a_source() {
    let labelled = |label: &str| format!(r#"{},"label":"{label}""#, text(TEN));
    let items = [
        item("a", 4.0, &labelled("[A]")),
        item("b", 3.0, &labelled("[B]")),
        item("c", 2.0, &labelled("[B]")),
        item("d", 1.0, &labelled("[D]")),
    ];
    assert_eq!(one_list(r#""within":0.9"#, &items).hits[0].alternates, ["[B]", "[D]"]);
}

#[test]
fn what_was_collapsed_within_is_still_named_after_collapsing_across() {
    let labelled = |label: &str| format!(r#"{},"label":"{label}""#, text(TEN));
    let chat = [item("c1", 2.0, &labelled("[c1]")), item("c2", 1.0, &labelled("[c2]"))].join(",");
    let wiki = item("w", 9.0, &labelled("[w]"));
    let lists = [listed("wiki", "", &wiki), listed("chat", "", &chat)];
    let answer = run(&search(r#""dedup":{"within":0.9,"across":0.9}"#, &lists));
    assert_eq!(
        (ids(&answer), &answer.hits[0].alternates),
        (vec!["w"], &vec!["[c1]".to_owned(), "[c2]".to_owned()])
    );
}

#[test]
fn likeness_does_not_chain() {
    let items = [
        item("a", 3.0, &text("one two three four")),
        item("b", 2.0, &text("two three four five")),
        item("c", 1.0, &text("three four five six")),
    ];
    assert_eq!(ids(&one_list(r#""across":0.6"#, &items)), ["a", "c"]);
}

#[test]
fn what_the_reader_may_not_read_is_never_named() {
    let secret =
        item("s1", 9.0, &format!(r#"{},"label":"[secret]","readers":["ann"],"url":"u-secret""#, text(TEN)));
    let open = item("o", 1.0, &format!(r#"{},"label":"[open]""#, text(TEN)));
    let lists = [listed("board", "", &secret), listed("wiki", "", &open)];
    let pipeline = r#""dedup":{"within":0.9,"across":0.9},"diversify":{}"#;
    let json =
        |reader: &str| search(pipeline, &lists).replacen('{', &format!(r#"{{"reader":"{reader}","#), 1);
    let bob = run(&json("bob"));
    assert_eq!((ids(&bob), bob.hits[0].alternates.len()), (vec!["o"], 0));
    for hidden in ["[secret]", "s1", "u-secret"] {
        assert!(!bytes(&bob).contains(hidden), "{hidden}");
        assert_eq!(bob.fate("s1"), (Fate::Unknown, None));
    }
    let ann = run(&json("ann"));
    assert_eq!(
        (ids(&ann), ann.hits[0].alternates.as_slice()),
        (vec!["s1"], ["[open]".to_owned()].as_slice())
    );
}

#[test]
fn the_original_of_a_copied_source_survives_with_its_own_score() {
    let lists = |copy: &str| {
        [
            listed(
                "wiki/dense",
                "",
                &[item("w1", 0.8, &text(TEN)), item("w2", 0.7, &text("something else"))].join(","),
            ),
            listed(
                "mirror/dense",
                copy,
                &[item("m1", 0.9, &text(EIGHT)), item("m2", 0.1, &text("only here"))].join(","),
            ),
        ]
    };
    let dedup = r#""across":"score","fuse":{"method":"linear","normalise":"none"},"dedup":{"across":0.9}"#;
    assert_eq!(ids(&run(&search(dedup, &lists("")))), ["m1", "w1", "w2", "m2"], "eight of ten are no copy");
    let answer = run(&search(dedup, &lists(r#""copy":true"#)));
    assert_eq!(ids(&answer), ["w1", "w2", "m2"]);
    assert_eq!((answer.hits[0].score, answer.hits[0].alternates.len()), (0.8, 1));
}
