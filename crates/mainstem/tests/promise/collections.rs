//! Five judged collections as five sources: what may be lost at most.
//!
//! A debug build takes too long for all questions and asks every fifth, under the same limits; `cargo bench --bench sources` asks all of them.

use std::io::Write as _;
use std::path::PathBuf;

use mainstem_core::contract::Channel;

use super::five::{FIVE, folder, judged, judged_of, stored, stored_of};
use super::judged::Way;

/// The folder of the collections. Where it is not at hand, that is said past the capture of the test program; where it must be, it is an error.
fn needed() -> Option<PathBuf> {
    let folder = folder();
    if folder.is_none() {
        let needed = std::env::var("MAINSTEM_TESTS_NEED").unwrap_or_default();
        assert!(
            !needed.split(',').any(|part| part == "collections"),
            "the judged collections must be at hand"
        );
        let _ = writeln!(std::io::stderr(), "skipped: the judged collections are not at hand");
    }
    folder
}

/// Each collection in a store of its own, all questions, by words and by default.
#[test]
fn collections_are_searched_as_well_as_is_known_to_be_possible() {
    let Some(folder) = needed() else { return };
    for (name, words, default) in [("scifact", 0.665, 0.725), ("nfcorpus", 0.315, 0.350)] {
        let (stored, judged) = (stored_of(&folder, &[name]), judged_of(&folder, &[name], 1));
        let engine = stored.engine();
        let by_words = judged.ask(&engine, &Way { channel: Some(Channel::Lexical), ..Way::default() }).mean();
        let by_default = judged.ask(&engine, &Way::default()).mean();
        eprintln!("{name}: by words {by_words:.4}, by default {by_default:.4}");
        assert!(by_words >= words && by_default >= default, "{name}: {by_words} by words, {by_default}");
    }
}

/// Every so-manieth question.
const STEP: usize = 5;

#[test]
fn five_sources_are_hardly_worse_than_the_right_one() {
    let Some(folder) = needed() else { return };
    let (stored, judged) = (stored(&folder), judged(&folder, STEP));
    let engine = stored.engine();
    let legs = [Channel::Dense, Channel::Lexical].map(|leg| judged.ask(&engine, &Way::own(Some(leg))));
    let own = judged.ask(&engine, &Way::own(None));
    let all = judged.ask(&engine, &Way::default());
    for set in FIVE {
        let leg = legs.iter().map(|leg| leg.of_set(set)).fold(0.0, f64::max);
        let (own, all) = (own.of_set(set), all.of_set(set));
        eprintln!("{set}: better leg {leg:.4}, own {own:.4}, all {all:.4} ({:.3})", all / own);
        assert!(own >= leg - 0.005, "{set}: {own} by both legs, {leg} by the better one");
        assert!(all >= 0.88 * own, "{set}: {all} among five sources, {own} alone");
    }
    eprintln!("own {:.4}, all {:.4}", own.mean(), all.mean());
    let rank = judged.ask(&engine, &Way::across("rank")).mean();
    assert!(all.mean() > rank, "{} by default, {rank} by rank", all.mean());
    assert!(own.mean() >= 0.552, "{}", own.mean());
    assert!(all.mean() >= 0.535, "{}", all.mean());
}
