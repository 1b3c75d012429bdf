//! Rules that weigh the sources by what the query looks like.

use crate::search::{expect, list, refused, run, search};
use mainstem_core::{Answer, LegState};

const RULES: &str = r#""route":[
    {"name":"ideas","patterns":["\\bwhy\\b","\\bplan\\b"],"weights":{"books":2.0,"games":0.5}},
    {"name":"moves","patterns":["\\b[a-h][1-8]\\b"],"weights":{"games":3.0,"books":0}}]"#;

fn routed(query: &str) -> Answer {
    let json = search(RULES, &[list("books/dense", "b 1"), list("games/dense", "g 1"), list("web", "w 1")]);
    run(&json.replacen('{', &format!(r#"{{"query":"{query}","#), 1))
}

#[test]
fn exactly_one_matching_rule_applies_its_weights() {
    let answer = routed("WHY does the bishop suffer?");
    expect(&answer, &[("b", 2.0 / 61.0), ("w", 1.0 / 61.0), ("g", 0.5 / 61.0)]);
    let route = answer.status.route.unwrap();
    assert_eq!(
        (route.rule.as_deref(), route.matched.as_slice()),
        (Some("ideas"), ["ideas".to_owned()].as_slice())
    );
}

#[test]
fn a_routed_weight_of_zero_leaves_the_source_out() {
    let answer = routed("after e4");
    expect(&answer, &[("g", 3.0 / 61.0), ("w", 1.0 / 61.0)]);
    assert_eq!(answer.status.legs[0].state, LegState::Skipped);
}

#[test]
fn both_or_none_is_neutral_and_said() {
    for (query, matched) in [("why not e4", vec!["ideas", "moves"]), ("the Sicilian", vec![])] {
        let answer = routed(query);
        expect(&answer, &[("b", 1.0 / 61.0), ("g", 1.0 / 61.0), ("w", 1.0 / 61.0)]);
        let route = answer.status.route.unwrap();
        assert_eq!(
            (route.rule, route.matched),
            (None, matched.into_iter().map(str::to_owned).collect()),
            "{query}"
        );
        assert!(route.weights.is_empty());
    }
}

#[test]
fn a_routed_weight_multiplies_the_weight_of_the_list() {
    let lists = [crate::search::weighted("books/dense", 0.5, "b 1")];
    let json = search(RULES, &lists).replacen('{', r#"{"query":"why","#, 1);
    expect(&run(&json), &[("b", 1.0 / 61.0)]);
}

#[test]
fn a_rule_that_cannot_be_read_is_refused() {
    for (rule, wanted) in [
        (r#"{"name":"a","patterns":["("],"weights":{}}"#, "a pattern of route `a`"),
        (r#"{"name":"a","patterns":["x"],"weights":{"s":-1}}"#, "`s` in route `a`"),
    ] {
        let error = refused(&search(&format!(r#""route":[{rule}]"#), &[]));
        assert!(error.to_string().contains(wanted), "{error}");
    }
}
