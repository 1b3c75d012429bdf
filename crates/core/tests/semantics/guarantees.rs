//! Bounds on how many of the first hits are of a source.

use std::collections::BTreeSet;

use crate::search::{ids, list, listed, refused, run, search};
use mainstem_core::ledger::Bound;
use mainstem_core::{Answer, Hit, Step};
use proptest::prelude::*;

const SCORES: &str = r#""across":"score","fuse":{"method":"linear","normalise":"none"}"#;

/// Six hits of a wiki and three of mail, all of which are behind.
fn lists() -> [String; 2] {
    let wiki = list("wiki/dense", "w1 0.9, w2 0.8, w3 0.7, w4 0.6, w5 0.5, w6 0.4");
    [wiki, list("mail/dense", "m1 0.45, m2 0.35, m3 0.2")]
}

fn guarded(guarantee: &str) -> Answer {
    run(&search(&format!(r#"{SCORES},"guarantee":{{{guarantee}}}"#), &lists()))
}

/// Who moved a hit, by which rule, from where to where, at what cost.
fn moved(answer: &Answer, id: &str) -> Option<(String, Bound, usize, usize, f64)> {
    let hit = answer.hits.iter().find(|hit| hit.id == id).unwrap();
    hit.ledger.steps.iter().find_map(|step| match step {
        Step::Guarantee { source, rule, from, to, cost, score } => {
            assert_eq!((*score, *to), (hit.score, hit.rank), "{id}");
            Some((source.clone(), *rule, *from, *to, (cost * 1e9).round() / 1e9))
        }
        _ => None,
    })
}

#[test]
fn the_best_hits_of_a_source_are_lifted_over_the_lowest() {
    let answer = guarded(r#""mail":{"min":2,"top":4}"#);
    assert_eq!(ids(&answer), ["w1", "w2", "m1", "m2", "w3", "w4", "w5", "w6", "m3"]);
    let by_mail = |from, to, cost| Some(("mail".to_owned(), Bound::Min, from, to, cost));
    assert_eq!(moved(&answer, "m1"), by_mail(6, 3, 0.25));
    assert_eq!(moved(&answer, "w3"), by_mail(3, 5, 0.25));
    assert_eq!(moved(&answer, "m2"), by_mail(8, 4, 0.25));
    assert_eq!(moved(&answer, "w4"), by_mail(4, 6, 0.25));
    assert_eq!((moved(&answer, "w1"), moved(&answer, "w5")), (None, None), "only who came in or went out");
    assert_eq!(answer.status.notes, ["`min = 2` of mail cost 0.5000 of the score of the first 4"]);
}

#[test]
fn what_is_over_the_ceiling_moves_behind_in_its_order() {
    let answer = guarded(r#""wiki":{"max":2,"top":4}"#);
    assert_eq!(ids(&answer), ["w1", "w2", "m1", "m2", "w3", "w4", "w5", "w6", "m3"]);
    let by_wiki = |from, to| Some(("wiki".to_owned(), Bound::Max, from, to, 0.25));
    assert_eq!((moved(&answer, "w3"), moved(&answer, "m1")), (by_wiki(3, 5), by_wiki(6, 3)));
    assert_eq!(answer.status.notes, ["`max = 2` of wiki cost 0.5000 of the score of the first 4"]);
}

#[test]
fn a_floor_and_a_ceiling_share_the_cost_of_what_both_want() {
    let answer = guarded(r#""wiki":{"max":2,"top":4},"mail":{"min":1}"#);
    assert_eq!(ids(&answer)[..4], ["w1", "w2", "m1", "m2"]);
    assert_eq!(moved(&answer, "m1").unwrap().1, Bound::Min);
    assert_eq!(moved(&answer, "w3").unwrap().1, Bound::Max);
    let notes = [
        "`min = 1` of mail and `max = 2` of wiki cost 0.2500 of the score of the first 4",
        "`max = 2` of wiki cost 0.2500 of the score of the first 4",
    ];
    assert_eq!(answer.status.notes, notes);
}

#[test]
fn where_the_guarantees_hold_nothing_moves() {
    let free = guarded("");
    for held in [
        r#""mail":{"min":1,"top":6}"#,
        r#""wiki":{"min":3,"max":6}"#,
        r#""*":{"min":1,"max":5,"top":6}"#,
        r#""mail":{"min":0}"#,
    ] {
        let answer = guarded(held);
        assert_eq!(seen(&answer.hits), seen(&free.hits), "{held}");
        assert_eq!(answer.status.notes, [""; 0], "{held}");
    }
    let stages = |answer: &Answer| answer.status.stages.iter().any(|stage| stage.stage == "guarantee");
    assert!(!stages(&free) && stages(&guarded(r#""mail":{"min":1}"#)));
}

#[test]
fn a_source_gets_what_it_has() {
    let answer = guarded(r#""mail":{"min":4,"top":5}"#);
    assert_eq!(ids(&answer)[..5], ["w1", "w2", "m1", "m2", "m3"]);
    let short = "`min = 4` of mail does not hold, 3 in the first 5: it has no more than 3";
    assert_eq!(answer.status.notes[1], short);
    let absent = guarded(r#""chat":{"min":1}"#);
    assert_eq!(absent.status.notes, ["a guarantee is set for `chat`, which has no list"]);
    let silent = [lists().to_vec(), vec![list("chat/dense", "")]].concat();
    let silent = run(&search(&format!(r#"{SCORES},"guarantee":{{"chat":{{"min":1}}}}"#), &silent));
    let none = "`min = 1` of chat does not hold, 0 in the first 10: it has no hits";
    assert_eq!(silent.status.notes, [none]);
}

#[test]
fn a_ceiling_gives_way_where_nothing_else_was_found() {
    let answer = guarded(r#""wiki":{"max":2,"top":8}"#);
    assert_eq!(ids(&answer), ["w1", "w2", "w3", "w4", "w5", "m1", "m2", "m3", "w6"]);
    let note = "`max = 2` of wiki does not hold, 5 in the first 8: nothing else was found";
    assert!(answer.status.notes.contains(&note.to_owned()), "{:?}", answer.status.notes);
    let all = guarded(r#""wiki":{"max":2}"#);
    assert_eq!(ids(&all), ids(&guarded("")), "all nine are among the first ten anyway");
}

#[test]
fn a_star_is_for_each_other_source() {
    let three = [lists().to_vec(), vec![list("chat/dense", "c1 0.1, c2 0.05")]].concat();
    let at = |guarantee: &str| run(&search(&format!(r#"{SCORES},"guarantee":{{{guarantee}}}"#), &three));
    assert_eq!(ids(&at(r#""*":{"min":1,"top":4}"#))[..4], ["w1", "w2", "m1", "c1"]);
    assert_eq!(ids(&at(r#""*":{"min":1,"top":4},"mail":{"min":0}"#))[..4], ["w1", "w2", "w3", "c1"]);
    // Four places in all would be needed; who is named goes first, then who is better.
    let tight = at(r#""*":{"min":1,"top":2},"chat":{"min":1}"#);
    assert_eq!(ids(&tight)[..2], ["w1", "c1"]);
    let note = "`min = 1` of each other source does not hold in the first 2 for mail (0)";
    assert!(tight.status.notes.contains(&note.to_owned()), "{:?}", tight.status.notes);
}

#[test]
fn what_several_sources_found_counts_for_each_floor_and_for_one_ceiling() {
    let shared =
        [list("wiki/dense", "w1 0.9, both 0.8, w2 0.7"), list("mail/dense", "both 0.8, m1 0.3, m2 0.2")];
    let at = |guarantee: &str| run(&search(&format!(r#"{SCORES},"guarantee":{{{guarantee}}}"#), &shared));
    assert_eq!(ids(&at(r#""mail":{"min":1,"top":2}"#)), ["w1", "both", "w2", "m1", "m2"]);
    assert_eq!(ids(&at(r#""mail":{"min":2,"top":2}"#))[..2], ["both", "m1"]);
    assert_eq!(
        ids(&at(r#""mail":{"max":0,"top":3}"#))[..3],
        ["w1", "both", "w2"],
        "first of all it is of wiki"
    );
    assert_eq!(ids(&at(r#""wiki":{"max":1,"top":2}"#))[..2], ["w1", "m1"]);
    // The only hit that mail may have is over the ceiling of wiki.
    let blocked = at(r#""wiki":{"max":0,"top":1},"mail":{"min":1}"#);
    assert_eq!(ids(&blocked)[0], "m1");
}

#[test]
fn a_copy_counts_for_the_source_that_it_was_collapsed_from() {
    let item =
        |id: &str, score: f64, text: &str| format!(r#"{{"id":"{id}","score":{score},"text":"{text}"}}"#);
    let wiki = [item("w1", 0.9, "roll back"), item("w2", 0.8, "deploy"), item("w3", 0.7, "canary")];
    let mail = [item("m1", 0.6, "roll back"), item("m2", 0.5, "lunch")];
    let lists = [listed("wiki/dense", "", &wiki.join(",")), listed("mail/dense", "", &mail.join(","))];
    let guarantee = r#""dedup":{"across":0.9},"guarantee":{"mail":{"min":1,"top":2}}"#;
    assert_eq!(ids(&run(&search(&format!("{SCORES},{guarantee}"), &lists))), ["w1", "w2", "w3", "m2"]);
}

#[test]
fn what_is_below_the_least_score_is_not_lifted() {
    let at = |least: f64| {
        let json = format!(r#"{SCORES},"min_score":{least},"guarantee":{{"mail":{{"min":2,"top":4}}}}"#);
        run(&search(&json, &lists()))
    };
    let answer = at(0.38);
    assert_eq!(ids(&answer), ["w1", "w2", "w3", "m1", "w4", "w5", "w6"]);
    let note = "`min = 2` of mail does not hold, 1 in the first 4: it has no more than 1";
    assert!(answer.status.notes.contains(&note.to_owned()), "{:?}", answer.status.notes);
}

#[test]
fn contradictions_are_refused_in_one_sentence() {
    let message = |guarantee: &str| {
        refused(&search(&format!(r#"{SCORES},"guarantee":{{{guarantee}}}"#), &lists())).to_string()
    };
    for (guarantee, expected) in [
        (r#""mail":{"min":2,"max":1}"#, "`guarantee.mail.min` is 2, expected at most `max`, which is 1"),
        (r#""mail":{"min":11}"#, "`guarantee.mail.min` is 11, expected at most `top`, which is 10"),
        (
            r#""mail":{"min":6},"wiki":{"min":4},"*":{"min":1}"#,
            "the sum of `min` in `guarantee` is 11, expected at most `top`, which is 10",
        ),
        (
            r#""mail":{"min":1,"top":3},"wiki":{"min":1,"top":5}"#,
            "`guarantee.wiki.top` is 5, expected 3, as for the other sources",
        ),
        (r#""mail":{"max":1,"top":0}"#, "`guarantee.mail.top` is 0, expected at least 1"),
        (r#""mail":{}"#, "`min` or `max` of `guarantee.mail` is missing: a guarantee needs one of them"),
    ] {
        assert_eq!(message(guarantee), expected);
    }
    assert!(message(r#""mail":{"least":1}"#).starts_with("unknown field `least`"));
}

/// Sources with scores: ids are of one source, or shared where `shared`.
fn lists_of(scores: &[Vec<u8>], shared: bool) -> Vec<String> {
    let list_of = |(source, scores): (usize, &Vec<u8>)| {
        let id =
            |at: usize| if shared { format!("x{}", (at + source) % 7) } else { format!("s{source}n{at}") };
        let items: Vec<_> = scores
            .iter()
            .enumerate()
            .map(|(at, score)| format!("{} {}", id(at), f64::from(*score) / 8.0))
            .collect();
        list(&format!("s{source}/dense"), &items.join(","))
    };
    scores.iter().enumerate().map(list_of).collect()
}

/// Floors and ceilings for some sources and the rest, which do not contradict each other.
fn guarantees() -> impl Strategy<Value = (usize, Vec<(String, usize, Option<usize>)>)> {
    let rule = (0..2_usize, prop::option::of(0..3_usize));
    let rules = prop::collection::btree_map(prop::sample::select(vec!["s0", "s1", "s2", "*"]), rule, 1..4);
    (4..7_usize, rules).prop_map(|(top, rules)| {
        let rule = |(source, (min, over)): (&str, (usize, Option<usize>))| {
            (source.to_owned(), min, over.map(|over| min + over))
        };
        (top, rules.into_iter().map(rule).collect())
    })
}

fn written(top: usize, rules: &[(String, usize, Option<usize>)]) -> String {
    let rule = |(source, min, max): &(String, usize, Option<usize>)| {
        let max = max.map(|max| format!(r#","max":{max}"#)).unwrap_or_default();
        format!(r#""{source}":{{"min":{min},"top":{top}{max}}}"#)
    };
    rules.iter().map(rule).collect::<Vec<_>>().join(",")
}

/// The rule of each source.
fn rules_of(rules: &[(String, usize, Option<usize>)]) -> Vec<(String, usize, Option<usize>)> {
    let of = |source: &str| {
        let rule = |name: &str| rules.iter().find(|rule| rule.0 == name);
        let (min, max) = rule(source).or_else(|| rule("*")).map_or((0, None), |rule| (rule.1, rule.2));
        (source.to_owned(), min, max)
    };
    ["s0", "s1", "s2"].into_iter().map(of).collect()
}

/// Everything that a caller sees of hits.
fn seen(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| serde_json::to_string(hit).unwrap()).collect()
}

fn of_source(hits: &[Hit], source: &str) -> usize {
    hits.iter().filter(|hit| hit.sources.iter().any(|name| name == source)).count()
}

fn first_of(hits: &[Hit], source: &str) -> usize {
    hits.iter().filter(|hit| hit.sources[0] == source).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn guarantees_hold_and_nothing_is_lost(
        scores in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 3),
        shared in any::<bool>(),
        (top, rules) in guarantees(),
        diversify in any::<bool>(),
    ) {
        let lists = lists_of(&scores, shared);
        let stages = if diversify { format!(r#"{SCORES},"diversify":{{"lambda":0.6}}"#) } else { SCORES.to_owned() };
        let free = run(&search(&stages, &lists));
        let guarantee = format!(r#"{stages},"guarantee":{{{}}}"#, written(top, &rules));
        let answer = run(&search(&guarantee, &lists));
        let rules = rules_of(&rules);

        let all = |answer: &Answer| answer.hits.iter().map(|hit| (hit.id.clone(), hit.score.to_bits())).collect::<BTreeSet<_>>();
        prop_assert_eq!(all(&answer), all(&free));
        prop_assert_eq!(answer.hits.len(), free.hits.len());

        let border = top.min(answer.hits.len());
        let (first, rest) = answer.hits.split_at(border);
        let place = |hit: &Hit| free.hits.iter().position(|other| other.id == hit.id).unwrap();
        for part in [first, rest] {
            prop_assert!(part.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])), "both keep their order");
        }
        for (source, min, max) in &rules {
            // A ceiling gives way only where every other hit is in, or is over a ceiling too.
            if max.is_some_and(|max| first_of(first, source) > max) {
                let full = |hit: &Hit| rules.iter().any(|(name, _, max)| {
                    hit.sources[0] == *name && max.is_some_and(|max| first_of(first, name) >= max)
                });
                prop_assert!(rest.iter().all(full), "{source}: {first:?}");
            }
            // Where hits are of one source each, floors and ceilings cannot meet.
            if !shared {
                prop_assert!(of_source(first, source) >= (*min).min(of_source(&answer.hits, source)), "{source}: {first:?}");
            }
        }

        let kept = |hits: &[Hit]| rules.iter().all(|(source, min, max)| {
            of_source(hits, source) >= (*min).min(of_source(&free.hits, source))
                && max.is_none_or(|max| first_of(hits, source) <= max)
        });
        if kept(&free.hits[..border]) {
            prop_assert_eq!(seen(&answer.hits), seen(&free.hits), "nothing to do");
        }

        let cost: f64 = first.iter().flat_map(|hit| &hit.ledger.steps).map(|step| match step {
            Step::Guarantee { cost, .. } => *cost,
            _ => 0.0,
        }).sum();
        let sum = |hits: &[Hit]| hits.iter().map(|hit| hit.score).sum::<f64>();
        prop_assert!((sum(&free.hits[..border]) - sum(first) - cost).abs() < 1e-9, "the ledger has the whole cost");

        for (offset, limit) in [(0, 3), (3, 3), (top, 2)] {
            let page = run(&search(&format!(r#"{guarantee},"offset":{offset},"limit":{limit}"#), &lists));
            let end = answer.hits.len();
            prop_assert_eq!(seen(&page.hits), seen(&answer.hits[offset.min(end)..(offset + limit).min(end)]));
            prop_assert_eq!(page.total, answer.total);
        }
    }
}
