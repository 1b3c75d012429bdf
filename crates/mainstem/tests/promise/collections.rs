//! Five judged collections as five sources: what may be lost at most.
//!
//! A debug build takes too long for all questions and asks every fifth, under the same limits; `cargo bench --bench sources` asks all of them.

use mainstem_core::contract::Channel;

use super::five::{FIVE, folder, judged, stored};
use super::judged::Way;

/// Every so-manieth question.
const STEP: usize = 5;

#[test]
fn five_sources_are_hardly_worse_than_the_right_one() {
    let Some(folder) = folder() else {
        eprintln!("skipped: the judged collections are not at hand");
        return;
    };
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
