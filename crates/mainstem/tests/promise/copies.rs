//! A near-copy of a whole source.

use std::collections::BTreeSet;

use mainstem::query::Request;
use mainstem_core::contract::{Change, Channel};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document};

use super::dice::Dice;
use super::judged::{Judged, unhurried};
use super::recipes::{Vectors, judged, sources, stored};
use super::stored::Stored;

/// What the name of a copy ends with.
const COPY: &str = "-copy";
/// The sources that are copied, each by itself.
const COPIED: [&str; 3] = ["facts", "api", "games"];
/// Words that are put in the place of others.
const OTHER: [&str; 6] = ["moreover", "likewise", "hence", "perhaps", "anyway", "besides"];

/// How like a copy is.
#[derive(Clone, Copy, PartialEq)]
enum Likeness {
    /// It has another source, and that is all.
    Exact,
    /// Some words, so that the words of both overlap by nine tenths at least, and the vector is a little off.
    Near,
}

fn copy(document: &Document, source: &str, how: Likeness, dice: &mut Dice) -> Document {
    let [chunk] = &document.chunks[..] else { panic!("`{}` is more than one chunk", document.id) };
    let mut copied = Document { source: source.to_owned(), key: None, url: None, ..document.clone() };
    if how == Likeness::Near {
        copied.text = reworded(&document.text, dice);
        let vector = chunk.vector.as_ref().map(|vector| dice.near(vector, 0.05));
        let (span, text) = (0..copied.text.len(), copied.text.clone());
        copied.chunks = vec![Chunk { span, text, vector, ..chunk.clone() }];
    }
    copied
}

fn reworded(text: &str, dice: &mut Dice) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    let different = words.iter().map(|word| word.to_lowercase()).collect::<BTreeSet<_>>().len();
    for _ in 0..(different / 40).max(1) {
        let at = dice.below(words.len());
        words[at] = *dice.of(&OTHER);
    }
    words.join(" ")
}

/// The documents of every answer, where a copy goes by the name of its original.
fn answers(judged: &Judged, stored: &Stored, channel: Option<Channel>) -> Vec<Vec<String>> {
    let engine = stored.engine();
    let answer = |question| {
        let now = Some(Moment::parse("2026-01-31").unwrap());
        let request = Request { now, channels: channel.map(|channel| vec![channel]), ..unhurried(question) };
        let response = engine.search(&request).unwrap();
        let source = |source: &str| source.trim_end_matches(COPY).to_owned();
        response.hits.iter().map(|hit| format!("{}/{}", source(&hit.source), hit.document)).collect()
    };
    judged.questions.iter().map(answer).collect()
}

/// What became of the answers.
#[derive(Debug)]
struct Outcome {
    /// How many have the same ten in the same order.
    same: usize,
    /// How many have the same first hit.
    first: usize,
    /// How many have the same first three.
    three: usize,
    /// Which part of all places is taken by documents that had one before.
    kept: f64,
    /// How many have a document and its copy.
    doubled: usize,
    /// nDCG@10 after over before.
    ndcg: f64,
}

fn outcome(judged: &Judged, before: &[Vec<String>], after: &[Vec<String>]) -> Outcome {
    let pairs = || before.iter().zip(after);
    let count = |same: &dyn Fn(&[String], &[String]) -> bool| pairs().filter(|(b, a)| same(b, a)).count();
    let places: usize = before.iter().map(Vec::len).sum();
    let kept: usize = pairs().map(|(b, a)| a.iter().filter(|name| b.contains(name)).count()).sum();
    let top = |names: &[String], count: usize| names[..names.len().min(count)].to_vec();
    Outcome {
        same: count(&|b, a| b == a),
        first: count(&|b, a| top(b, 1) == top(a, 1)),
        three: count(&|b, a| top(b, 3) == top(a, 3)),
        kept: kept as f64 / places as f64,
        doubled: count(&|_, a| a.iter().collect::<BTreeSet<_>>().len() < a.len()),
        ndcg: judged.score(after).mean() / judged.score(before).mean(),
    }
}

/// Copies one source after another.
fn outcomes(how: Likeness, channel: Option<Channel>) -> Vec<Outcome> {
    let vectors = Vectors::read();
    let judged = judged(&vectors);
    let before = answers(&judged, &stored(&sources(), &vectors), channel);
    let of = |(_, source, kind): &(&str, &str, &str)| {
        let stored = stored(&sources(), &vectors);
        let name = format!("{source}{COPY}");
        let mut dice = Dice::new(7);
        let copy = |document: &Document| Change::Put(copy(document, &name, how, &mut dice));
        stored.store.write(&stored.documents(source).iter().map(copy).collect::<Vec<_>>()).unwrap();
        stored.store.set_source(&name, kind).unwrap();
        let outcome = outcome(&judged, &before, &answers(&judged, &stored, channel));
        eprintln!("copy of {source}: {outcome:?}");
        outcome
    };
    sources().iter().filter(|(_, source, _)| COPIED.contains(source)).map(of).collect()
}

/// What holds for any copy: it never stands beside its original, the first hit stays, and so do nearly all others.
fn assert_harmless(outcome: &Outcome) {
    assert_eq!((outcome.doubled, outcome.first), (0, 50), "{outcome:?}");
    assert!(outcome.three >= 45 && outcome.kept >= 0.97, "{outcome:?}");
    assert!(outcome.ndcg >= 0.995, "{outcome:?}");
}

#[test]
fn by_meaning_an_exact_copy_changes_nothing() {
    for outcome in outcomes(Likeness::Exact, Some(Channel::Dense)) {
        assert_eq!((outcome.same, outcome.doubled), (50, 0), "{outcome:?}");
    }
}

/// Words are counted over the whole store: those of the copied source become less rare, and close calls further down change places.
#[test]
fn an_exact_copy_changes_close_calls_only() {
    for outcome in outcomes(Likeness::Exact, None) {
        assert_harmless(&outcome);
        assert!(outcome.same >= 30, "{outcome:?}");
    }
}

/// Besides, a copy that is a little nearer to the question than its original lends it its score.
#[test]
fn a_near_copy_changes_close_calls_only() {
    for outcome in outcomes(Likeness::Near, None) {
        assert_harmless(&outcome);
        assert!(outcome.same >= 30, "{outcome:?}");
    }
}
