//! What goes into a context, and what stays out.

use mainstem::ask::{Context, Counter, Packer, Piece};
use proptest::prelude::*;

/// A hit of some source, whose kind is its name.
fn hit(rank: usize, score: f64, source: &str, document: &str, text: &str) -> Piece {
    Piece {
        id: format!("{source}/{document}#0"),
        rank,
        score,
        source: source.to_owned(),
        kind: source.to_owned(),
        document: document.to_owned(),
        span: 0..text.len(),
        title: Some(format!("Title of {document}")),
        text: text.to_owned(),
        ..Piece::default()
    }
}

/// A part of a document whose text is known.
fn part(rank: usize, order: u32, whole: &str, span: std::ops::Range<usize>) -> Piece {
    let text = &whole[span.clone()];
    Piece {
        id: format!("wiki/long#{order}"),
        order,
        span,
        text: text.to_owned(),
        ..hit(rank, 1.0, "wiki", "long", text)
    }
}

fn pack(budget: usize, hits: &[Piece]) -> Context {
    Packer::new(Counter::O200k, budget).pack(hits)
}

fn ids(context: &Context) -> Vec<&str> {
    context.passages.iter().map(|passage| passage.id.as_str()).collect()
}

fn why(context: &Context, id: &str) -> String {
    let left_out = context.left_out.iter().find(|left_out| left_out.id == id);
    left_out.map_or_else(|| format!("{id} is in"), |left_out| left_out.why.to_string())
}

#[test]
fn a_context_has_headings_fences_and_receipts() {
    let mut first = hit(1, 0.9, "wiki", "release", "How to roll back: run the job.");
    first.url = Some("https://wiki.example/release".into());
    first.date = Some("2026-01-01".into());
    let context = pack(1000, &[first, hit(2, 0.8, "slack", "1", "the ```job``` failed")]);
    let expected = "[Source 1: Wiki - \"Title of release\"]\nWritten 2026-01-01\n````\nHow to roll back: run the job.\n````\n\n\
                    [Source 2: Slack - \"Title of 1\"]\n````\nthe ```job``` failed\n````";
    assert_eq!(context.text, expected);
    assert_eq!(context.tokens, Counter::O200k.count(expected));
    let json = serde_json::to_value(&context).unwrap();
    assert_eq!(json["passages"][0]["why"], "rank 1, score 0.900: floor of wiki, 1 of 5");
    assert_eq!(json["passages"][0]["url"], "https://wiki.example/release");
    assert_eq!(json["diversity"], 1.0);
    assert!(context.left_out.is_empty());
}

#[test]
fn sources_of_one_kind_are_told_apart() {
    let docs = |piece: Piece| Piece { kind: "docs".into(), ..piece };
    let context = pack(
        1000,
        &[docs(hit(1, 1.0, "faq", "a", "one thing")), docs(hit(2, 1.0, "api", "b", "another thing"))],
    );
    assert!(context.text.starts_with("[Source 1: Docs (faq) - \"Title of a\"]"), "{}", context.text);
}

#[test]
fn every_kind_has_its_floor() {
    let mut hits: Vec<Piece> = (0..20)
        .map(|n| {
            hit(n + 1, 1.0 - n as f64 / 100.0, "code", &format!("c{n}"), &format!("function number {n}"))
        })
        .collect();
    hits.extend((0..7).map(|n| hit(n + 21, 0.5, "wiki", &format!("w{n}"), &format!("page number {n}"))));
    let context = pack(100_000, &hits);
    assert_eq!(ids(&context)[..4], ["code/c0#0", "wiki/w0#0", "code/c1#0", "wiki/w1#0"]);
    let ten: Vec<_> = context.passages[..10].iter().map(|passage| passage.kind.as_str()).collect();
    assert_eq!(ten.iter().filter(|kind| **kind == "wiki").count(), 5);
    assert_eq!(context.passages[10].id, "code/c5#0", "then the best of the rest");
    assert_eq!(context.passages[10].why.to_string(), "rank 6, score 0.950: best of what was left");
    assert_eq!(context.passages.len(), 27);
}

#[test]
fn a_small_budget_has_room_for_every_kind() {
    let page = |n: usize| format!("Text number {n} of a kind that has a lot to say about what was asked.");
    let talkative = (1..=20).map(|n| hit(n, 1.0, "code", &n.to_string(), &page(n)));
    let quiet = (21..=22).map(|n| hit(n, 0.4, "wiki", &n.to_string(), &page(n)));
    let hits: Vec<Piece> = talkative.chain(quiet).collect();
    let context = pack(170, &hits);
    let kinds: Vec<_> = context.passages.iter().map(|passage| passage.kind.as_str()).collect();
    assert_eq!(kinds, ["code", "wiki", "code", "wiki"], "{}", context.text);
    assert!(context.tokens <= 170);
    assert_eq!(context.left_out.len(), 18);
}

#[test]
fn headings_name_one_thing_of_a_kind() {
    let kinds = ["wiki", "books", "games", "reviews", "github", "slack", "pull requests"];
    let hits: Vec<Piece> =
        kinds.iter().zip(1..).map(|(kind, n)| hit(n, 1.0, kind, "d", &format!("text of {kind}"))).collect();
    let text = pack(10_000, &hits).text;
    for (n, label) in
        ["Wiki", "Book", "Game", "Review", "GitHub", "Slack", "Pull requests"].iter().enumerate()
    {
        assert!(text.contains(&format!("[Source {}: {label} - \"Title of d\"]\n", n + 1)), "{text}");
    }
}

#[test]
fn what_is_not_worth_it_stays_out_and_is_told() {
    let hits = [
        hit(
            1,
            1.0,
            "wiki",
            "a",
            "The rollback job is run by hand, and never on a Friday, as everybody knows.",
        ),
        hit(2, 0.9, "chat", "b", "the rollback job is run by hand, and  never on a Friday"),
        hit(3, 0.21, "chat", "c", "something else"),
        hit(4, 0.19, "chat", "d", "hardly anything"),
        hit(5, 0.9, "chat", "e", " \n "),
    ];
    let context = pack(1000, &hits);
    assert_eq!(ids(&context), ["wiki/a#0", "chat/c#0"]);
    assert_eq!(why(&context, "chat/b#0"), "duplicate of wiki/a#0");
    assert_eq!(why(&context, "chat/d#0"), "below the floor: score 0.190, worth it from 0.200");
    assert_eq!(why(&context, "chat/e#0"), "empty: it has no text");
}

#[test]
fn scores_that_say_nothing_about_shares_keep_nothing_out() {
    let context = pack(1000, &[hit(1, -0.1, "a", "x", "one"), hit(2, -4.0, "a", "y", "two")]);
    assert_eq!(ids(&context).len(), 2);
}

#[test]
fn only_the_best_are_considered() {
    let hits: Vec<Piece> =
        (0..40).map(|n| hit(n + 1, 1.0, "wiki", &n.to_string(), &format!("page {n}"))).collect();
    let context = pack(100_000, &hits);
    assert_eq!(context.passages.len() + context.left_out.len(), 30);
}

#[test]
fn neighbours_become_one_passage_in_the_order_of_the_document() {
    let whole = "First part. Shared sentence. Second part.\n\nThird part. Fifth part.";
    let parts = [
        part(1, 2, whole, 43..54),
        part(2, 0, whole, 0..28),
        hit(3, 1.0, "chat", "x", "unrelated"),
        part(4, 1, whole, 12..41),
        part(5, 4, whole, 55..66),
    ];
    let context = pack(1000, &parts);
    assert_eq!(ids(&context), ["wiki/long#2", "chat/x#0", "wiki/long#4"]);
    assert!(
        context.text.contains("First part. Shared sentence. Second part.\n\nThird part.\n"),
        "{}",
        context.text
    );
    assert_eq!(context.passages[0].parts, ["wiki/long#0", "wiki/long#1", "wiki/long#2"]);
    assert_eq!(why(&context, "wiki/long#0"), "joined into wiki/long#2");
    assert_eq!(why(&context, "wiki/long#1"), "joined into wiki/long#2");
}

#[test]
fn the_last_passage_is_cut_at_a_sentence_and_marked() {
    let long = "This sentence has exactly eight words in it. ".repeat(40);
    let hits = [
        hit(1, 1.0, "wiki", "a", "A short one."),
        hit(2, 0.9, "wiki", "b", &long),
        hit(3, 0.8, "wiki", "c", "No room."),
    ];
    let context = pack(120, &hits);
    assert!(context.tokens <= 120 && context.tokens > 100, "{}", context.tokens);
    assert!(context.passages[1].cut && !context.passages[0].cut);
    assert!(context.text.ends_with("eight words in it. […]\n```"), "{}", context.text);
    assert_eq!(why(&context, "wiki/c#0"), "budget: there was no room");
    let words = "word ".repeat(400);
    let cut = pack(60, &[hit(1, 1.0, "wiki", "a", &words)]);
    assert!(cut.text.ends_with("word word […]\n```"), "{}", cut.text);
    assert!((50..=60).contains(&cut.tokens));
    let nothing = pack(5, &[hit(1, 1.0, "wiki", "a", &words)]);
    assert_eq!((nothing.text.as_str(), nothing.tokens, nothing.passages.len()), ("", 0, 0));
    assert_eq!(why(&nothing, "wiki/a#0"), "budget: there was no room");
}

#[test]
fn diversity_is_measured_over_the_sources_that_found_something() {
    let of = |sources: &[&str]| {
        let hits: Vec<Piece> = sources
            .iter()
            .enumerate()
            .map(|(n, source)| hit(n + 1, 1.0, source, &n.to_string(), &format!("text {n}")))
            .collect();
        pack(100_000, &hits).diversity
    };
    assert_eq!(of(&["a", "b", "c", "d"]), 1.0);
    assert_eq!(of(&["a", "a", "a"]), 0.0);
    assert_eq!(of(&[]), 0.0);
    let uneven = of(&["a", "a", "a", "b"]);
    assert!((uneven - 0.8113).abs() < 0.001, "{uneven}");
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "([A-Za-z가-힣]{1,9}[ .,\n]){0,120}",
        "(\\PC|`|\\[1\\]|\u{202e}| ){0,200}",
        "[ \n\t]{0,300}x",
        "`{0,40}",
    ]
}

prop_compose! {
    fn hits()(texts in prop::collection::vec((texts(), 0..3_usize, 0..4_u32, 0.0..1.0_f64), 0..34)) -> Vec<Piece> {
        let piece = |(n, (text, source, order, score)): (usize, (String, usize, u32, f64))| {
            let source = ["wiki", "chat", "code"][source];
            let document = format!("d{}", n % 5);
            Piece { id: format!("{source}/{document}#{order}-{n}"), order, ..hit(n + 1, score, source, &document, &text) }
        };
        texts.into_iter().enumerate().map(piece).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_budget_is_kept_and_every_hit_has_its_receipt(hits in hits(), budget in 1..900_usize, plain in any::<bool>()) {
        let counter = if plain { Counter::Plain } else { Counter::O200k };
        let context = Packer::new(counter, budget).pack(&hits);
        prop_assert!(counter.count(&context.text) <= budget);
        prop_assert_eq!(counter.count(&context.text), context.tokens);
        let considered = hits.len().min(30);
        prop_assert_eq!(context.passages.len() + context.left_out.len(), considered);
        let headings = context.text.lines().filter(|line| line.starts_with("[Source ")).count();
        prop_assert_eq!(headings, context.passages.len());
        prop_assert!((0.0..=1.0).contains(&context.diversity));
        let cut = context.passages.iter().filter(|passage| passage.cut).count();
        prop_assert!(cut == 0 || (cut == 1 && context.passages.last().unwrap().cut));
        prop_assert_eq!(&Packer::new(counter, budget).pack(&hits), &context);
    }
}
