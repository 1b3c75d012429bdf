//! How good the answer could be.

use mainstem_eval::tune::Options;
use serde_json::json;

use crate::made::{Made, search, space};

#[test]
fn the_ceiling_is_the_best_order_of_what_was_found() {
    // Two relevant documents: one at the end of both lists, one that no list holds.
    let made =
        Made::new(12, |_| (search(&[1, 2, 3], &[2, 1, 3]), vec![("d3".to_owned(), 1), ("d9".to_owned(), 1)]));
    let outcome = made.tune(Some(&space(json!({"axis": []}))), Options::default());
    let ideal = 1.0 + 1.0 / 3f64.log2();
    assert!((outcome.ceiling.allows - 1.0 / ideal).abs() < 1e-12);
    assert!((outcome.before - 0.5 / ideal).abs() < 1e-12);
    let lists: Vec<_> =
        outcome.ceiling.lists.iter().map(|part| (part.name.as_str(), part.gets.unwrap())).collect();
    assert_eq!(lists, [("w/dense", 0.5 / ideal), ("w/lexical", 0.5 / ideal)]);
    assert_eq!(outcome.ceiling.channels.len(), 2);
    assert_eq!(outcome.ceiling.sources[0].candidates, 3.0);
    assert!(!outcome.better && outcome.reason.contains("nothing that was tried"), "{}", outcome.reason);
}
