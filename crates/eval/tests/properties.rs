//! What must hold for every input.

use mainstem_eval::compare::{bootstrap, detectable, holm, randomisation, t_test};
use mainstem_eval::format::{Lines, QrelsReader, RunReader, RunWriter};
use mainstem_eval::measure::{Gain, Graded, average_precision, ndcg, reciprocal_rank};
use mainstem_eval::{Measure, QrelsBuilder, RunBuilder, Settings, Sources, evaluate};
use proptest::prelude::*;

const NAMES: [&str; 12] = [
    "nDCG",
    "nDCG@3",
    "nDCGexp",
    "nDCGexp@5",
    "AP",
    "AP@4",
    "MRR",
    "P@5",
    "R@5",
    "Success@2",
    "Judged@7",
    "Coverage@4",
];

/// Query, document, relevance.
type Judgement = (u8, u8, i64);

/// Judgements and results over a few queries and documents, with ties, gaps and negative grades.
fn collection() -> impl Strategy<Value = (Vec<Judgement>, Vec<(u8, u8, i8)>)> {
    let judgements = prop::collection::vec((0..4u8, 0..20u8, -2..5i64), 1..60);
    let results = prop::collection::vec((0..5u8, 0..30u8, -3..4i8), 0..80);
    (judgements, results)
}

/// Grades of a list, and how many relevant documents it missed.
fn graded() -> impl Strategy<Value = Graded> {
    let grade = prop::option::of(-1..5i64);
    (prop::collection::vec(grade, 2..30), prop::collection::vec(1..5i64, 0..5)).prop_map(
        |(grades, missed)| {
            let mut ideal: Vec<_> =
                grades.iter().flatten().copied().chain(missed).filter(|&grade| grade > 0).collect();
            ideal.sort_unstable_by(|a, b| b.cmp(a));
            Graded { grades, ideal }
        },
    )
}

fn source(doc: u8) -> String {
    format!("s{}:{doc}", doc % 4)
}

proptest! {
    #[test]
    fn measures_stay_between_0_and_1((judgements, results) in collection(), rel in 1..4i64) {
        let mut qrels = QrelsBuilder::default();
        for (query, doc, relevance) in judgements {
            qrels.judge(&query.to_string(), &source(doc), relevance);
        }
        let mut run = RunBuilder::default();
        for (query, doc, score) in results {
            run.push(&query.to_string(), &source(doc), f64::from(score));
        }
        let (qrels, run) = (qrels.finish(), run.finish());
        let sources = Sources::from_ids(&qrels, [&run]);
        let measures = NAMES.map(|name| Measure::parse(name).unwrap());
        let got = evaluate(&qrels, &run, &measures, &Settings { rel, sources });
        for scores in got.queries() {
            for (name, value) in NAMES.iter().zip(&scores.values) {
                prop_assert!((0.0..=1.0).contains(value), "{} is {}", name, value);
            }
        }
    }

    #[test]
    fn moving_a_better_document_up_never_lowers_a_measure(list in graded(), at in 0..28usize, cutoff in 1..12usize) {
        let at = at % (list.grades.len() - 1);
        let mut moved = list.clone();
        if list.grades[at + 1].unwrap_or(0).max(0) <= list.grades[at].unwrap_or(0).max(0) {
            return Ok(());
        }
        moved.grades.swap(at, at + 1);
        // One part in 10^12 is rounding: the sums are added in another order.
        let not_lower = |before: f64, after: f64| after >= before - 1e-12;
        for cutoff in [None, Some(cutoff)] {
            for gain in [Gain::Linear, Gain::Exponential] {
                prop_assert!(not_lower(ndcg(&list, cutoff, gain), ndcg(&moved, cutoff, gain)));
            }
            for rel in 1..4 {
                prop_assert!(not_lower(average_precision(&list, cutoff, rel), average_precision(&moved, cutoff, rel)));
                prop_assert!(not_lower(reciprocal_rank(&list, cutoff, rel), reciprocal_rank(&moved, cutoff, rel)));
            }
        }
    }

    #[test]
    fn holm_keeps_the_order_and_never_lowers(p in prop::collection::vec(0.0..=1.0f64, 0..20)) {
        let adjusted = holm(&p);
        for (i, a) in adjusted.iter().enumerate() {
            prop_assert!((p[i]..=1.0).contains(a));
            for (j, b) in adjusted.iter().enumerate() {
                prop_assert!(p[i] > p[j] || a <= b);
            }
        }
    }

    #[test]
    fn statistics_are_probabilities(values in prop::collection::vec(-1.0..=1.0f64, 0..14)) {
        prop_assert!((0.0..=1.0).contains(&randomisation(&values).p));
        prop_assert!(t_test(&values).is_none_or(|test| (0.0..=1.0).contains(&test.p)));
        prop_assert!(detectable(&values).is_none_or(|smallest| smallest > 0.0 && smallest.is_finite()));
    }

    #[test]
    fn swapping_the_runs_changes_only_the_sign(values in prop::collection::vec(-1.0..=1.0f64, 2..14)) {
        let negated: Vec<_> = values.iter().map(|value| -value).collect();
        prop_assert_eq!(randomisation(&values).p, randomisation(&negated).p);
        let (a, b) = (t_test(&values).unwrap(), t_test(&negated).unwrap());
        prop_assert!((a.p - b.p).abs() < 1e-12);
    }

    #[test]
    fn readers_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut run = RunReader::new(Lines::new(bytes.as_slice(), "f"));
        while let Ok(Some(_)) = run.next_record() {}
        let mut qrels = QrelsReader::new(Lines::new(bytes.as_slice(), "f"));
        while let Ok(Some(_)) = qrels.next_record() {}
    }

    #[test]
    fn readers_never_panic_on_text_that_is_nearly_right(text in "([ \t\r\n]|[a-z0-9.é-]{1,4}|query-id|NaN|1e999){0,60}") {
        let mut run = RunReader::new(Lines::new(text.as_bytes(), "f"));
        while let Ok(Some(_)) = run.next_record() {}
        let mut qrels = QrelsReader::new(Lines::new(text.as_bytes(), "f"));
        while let Ok(Some(_)) = qrels.next_record() {}
    }

    #[test]
    fn measure_names_never_panic(name in "\\PC{0,20}|(nDCG|AP|P|R)?[()@_='relog20-9]{0,12}") {
        let _ = Measure::parse(&name);
    }

    #[test]
    fn what_is_written_is_read_back(
        rows in prop::collection::vec(("[^ \t\r\n\u{c}\u{feff}]{1,8}", "[^ \t\r\n\u{c}\u{feff}]{1,8}", any::<f64>()), 0..20),
    ) {
        let rows: Vec<_> = rows.into_iter().filter(|row| row.2.is_finite()).collect();
        let mut writer = RunWriter::new(Vec::new(), "a tag");
        for (rank, (query, doc, score)) in (1..).zip(&rows) {
            writer.write(query, doc, rank, *score).unwrap();
        }
        let bytes = writer.into_inner();
        let mut reader = RunReader::new(Lines::new(bytes.as_slice(), "f"));
        for (rank, (query, doc, score)) in (1..).zip(&rows) {
            let record = reader.next_record().unwrap().unwrap();
            prop_assert_eq!((record.query, record.doc, record.tag), (query.as_str(), doc.as_str(), "a_tag"));
            prop_assert_eq!((record.rank, record.score.to_bits()), (rank, score.to_bits()));
        }
        prop_assert!(reader.next_record().unwrap().is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_interval_is_ordered_and_inside_the_data(values in prop::collection::vec(-1.0..=1.0f64, 2..30)) {
        let interval = bootstrap(&values).unwrap();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(low - 1e-12 <= interval.low && interval.low <= interval.high && interval.high <= high + 1e-12);
    }
}
