//! A near-copy of a whole source.

use std::collections::BTreeSet;

use mainstem::query::Request;
use mainstem_core::contract::{Change, Channel};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document};

use super::dice::Dice;
use super::five;
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
    /// Some words are others, one in forty of the different ones but one at least, and the vector is a little off.
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

/// Copies one source, and removes the copy again.
fn copied(stored: &Stored, source: &str, how: Likeness, look: impl FnOnce() -> Outcome) -> Outcome {
    let kinds = stored.store.sources().unwrap();
    let kind = &kinds.iter().find(|known| known.name == source).unwrap().kind;
    let name = format!("{source}{COPY}");
    let mut dice = Dice::new(7);
    let copies: Vec<_> =
        stored.documents(source).iter().map(|document| copy(document, &name, how, &mut dice)).collect();
    stored.store.write(&copies.iter().cloned().map(Change::Put).collect::<Vec<_>>()).unwrap();
    stored.store.set_source(&name, kind).unwrap();
    let outcome = look();
    eprintln!("copy of {source}: {outcome:?}");
    let gone = copies.into_iter().map(|Document { source, id, .. }| Change::Delete { source, id });
    stored.store.write(&gone.collect::<Vec<_>>()).unwrap();
    outcome
}

/// Copies one source after another.
fn outcomes(how: Likeness, channel: Option<Channel>) -> Vec<Outcome> {
    let vectors = Vectors::read();
    let (judged, stored) = (judged(&vectors), stored(&sources(), &vectors));
    let before = answers(&judged, &stored, channel);
    let look = || outcome(&judged, &before, &answers(&judged, &stored, channel));
    COPIED.iter().map(|source| copied(&stored, source, how, look)).collect()
}

/// What holds for any copy: it never stands beside its original, the first hit stays, and so do nearly all others.
fn assert_harmless(outcome: &Outcome, questions: usize) {
    assert_eq!((outcome.doubled, outcome.first), (0, questions), "{outcome:?}");
    assert!(outcome.same * 50 >= questions * 49 && outcome.three * 50 >= questions * 49, "{outcome:?}");
    assert!(outcome.kept >= 0.999 && outcome.ndcg >= 0.999, "{outcome:?}");
}

/// What holds for a copy to the letter: nothing changes but who is named as the copy.
fn assert_unchanged(outcome: &Outcome, questions: usize) {
    assert_eq!((outcome.same, outcome.doubled), (questions, 0), "{outcome:?}");
}

#[test]
fn an_exact_copy_changes_nothing() {
    for channel in [None, Some(Channel::Dense), Some(Channel::Lexical)] {
        for outcome in outcomes(Likeness::Exact, channel) {
            assert_unchanged(&outcome, 50);
        }
    }
}

/// Its words have scores of their own, of which the best one says how much all words count: one close call in fifty may change places.
#[test]
fn a_near_copy_changes_next_to_nothing() {
    for outcome in outcomes(Likeness::Near, None) {
        assert_harmless(&outcome, 50);
    }
}

/// The same with collections of more than a thousand documents, among which a list of candidates has to choose.
#[test]
fn a_copy_of_a_collection_changes_next_to_nothing() {
    let Some(folder) = five::folder() else {
        eprintln!("skipped: the judged collections are not at hand");
        return;
    };
    let (stored, judged) = (five::stored(&folder), five::judged(&folder, 20));
    let before = answers(&judged, &stored, None);
    let look = || outcome(&judged, &before, &answers(&judged, &stored, None));
    for source in ["cranfield", "cisi", "med"] {
        assert_unchanged(&copied(&stored, source, Likeness::Exact, look), judged.questions.len());
        assert_harmless(&copied(&stored, source, Likeness::Near, look), judged.questions.len());
    }
}
