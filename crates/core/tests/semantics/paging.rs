//! Pages are rows of one big page, whatever stages run.

use crate::search::{ids, run, search};
use mainstem_core::answer::{Fate, Why};

/// Sixty items in two lists, many alike, many of equal score.
fn lists() -> [String; 2] {
    let list = |name: &str, shift: usize| {
        let items = (0..60).map(|n| {
            let m = (n * 7 + shift) % 60;
            format!(
                r#"{{"id":"d{m:02}","score":{},"text":"a{} b{} c{} common","created_at":"2026-01-{:02}"}}"#,
                60 - n / 3,
                m % 5,
                m % 3,
                m % 2,
                1 + m % 28
            )
        });
        crate::search::listed(name, "", &items.collect::<Vec<_>>().join(","))
    };
    [list("wiki", 0), list("chat", 11)]
}

#[test]
fn page_n_equals_rows_of_one_big_page() {
    for stages in [
        "",
        r#","fuse":{"method":"rsf"}"#,
        r#","diversify":{"lambda":0.5}"#,
        r#","recency":{"*":{}},"diversify":{}"#,
        r#","dedup":{"within":0.95,"across":0.95},"recency":{"wiki":{"window_days":9}},"diversify":{}"#,
        r#","min_score":0.01"#,
        r#","diversify":{},"guarantee":{"wiki":{"max":3},"chat":{"min":7,"top":14}}"#,
    ] {
        let page = |offset: usize, limit: usize| {
            let answer = run(&search(&format!(r#""offset":{offset},"limit":{limit}{stages}"#), &lists()));
            answer.hits.iter().map(|hit| serde_json::to_string(hit).unwrap()).collect::<Vec<_>>()
        };
        let all = page(0, 1000);
        assert!(all.len() > 20, "{stages}: {}", all.len());
        for start in (0..all.len() + 10).step_by(10) {
            assert_eq!(
                page(start, 10),
                all[start.min(all.len())..(start + 10).min(all.len())],
                "{stages} from {start}"
            );
        }
    }
}

#[test]
fn ranks_count_over_all_pages() {
    let answer = run(&search(r#""offset":10,"limit":3"#, &lists()));
    assert_eq!(answer.hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), [11, 12, 13]);
    assert_eq!(answer.total, 60);
}

#[test]
fn what_is_on_another_page_says_so() {
    let all = run(&search("", &lists()));
    let page = run(&search(r#""offset":10,"limit":10"#, &lists()));
    let (early, late) = (ids(&all)[3], ids(&all)[42]);
    assert!(matches!(page.fate(early), (Fate::Dropped, Some(Why::BeforeOffset { rank: 4, .. }))));
    assert!(matches!(page.fate(late), (Fate::Dropped, Some(Why::BehindLimit { rank: 43, .. }))));
}
