//! The same input gives the same outcome, whoever works and in whatever order.

use mainstem_eval::tune::{Options, Outcome};
use proptest::prelude::*;

use crate::made::{Made, Random, search};

fn made(seed: u64, queries: usize) -> Made {
    let mut random = Random(seed);
    Made::new(queries, |_| {
        let (dense, lexical) = (random.order(12), random.order(12));
        let relevant = lexical.iter().take(2).map(|doc| (format!("d{doc}"), 1)).collect();
        (search(&dense, &lexical), relevant)
    })
}

fn text(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn threads_and_the_order_of_queries_change_nothing(seed in any::<u64>(), queries in 12_usize..30) {
        let mut made = made(seed, queries);
        let options = Options { budget: 60, seed: seed % 7, ..Options::default() };
        let one = text(&made.tune(None, options.clone()));
        prop_assert_eq!(&one, &text(&made.tune(None, Options { threads: 3, ..options.clone() })));
        let order = Random(seed ^ 1).order(queries);
        made.recordings = order.into_iter().map(|at| made.recordings[at].clone()).collect();
        prop_assert_eq!(&one, &text(&made.tune(None, options)));
    }
}

#[test]
fn another_seed_draws_another_sample() {
    let made = made(3, 30);
    let at = |seed| text(&made.tune(None, Options { budget: 60, seed, ..Options::default() }));
    assert_eq!(at(1), at(1));
    assert_ne!(at(1), at(2));
}
