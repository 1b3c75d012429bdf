//! The crate rankops on the same lists, from raw lists to ids with scores, best first.

use mainstem_core::fuse::{Comb, FuseSpec};
use mainstem_core::{Candidates, Fusion, Leg};
use rankops::explain::{RetrieverId, rrf_explain};
use rankops::{FusionConfig, RrfConfig, combmnz_multi, combsum_multi, rrf_multi};

use crate::agree::{agree, announce};
use crate::lists::{NAMES, Raw, SEARCH, fuse_explained, fuse_raw, interned, named};
use crate::race::{Contender, print, race};

const TURNS: usize = 200;

/// rankops counts in f32.
const TOLERANCE: f64 = 1e-5;

/// Measures and prints.
pub(crate) fn report() {
    let raw = SEARCH.lists(1);
    println!(
        "\nrankops 0.3.0, {} lists of {} items, from raw lists to the fused list",
        SEARCH.lists, SEARCH.items
    );
    borrowed(&raw);
    owned(&raw);
    explained(&raw);
}

type Theirs<'a> = Vec<Vec<(&'a str, f32)>>;

fn theirs(raw: &Raw) -> Theirs<'_> {
    raw.iter().map(|list| list.iter().map(|(id, score)| (id.as_str(), *score as f32)).collect()).collect()
}

fn borrowed(raw: &Raw) {
    let lists = theirs(raw);
    let comb = Comb::default();
    let config = FusionConfig::default;
    pair(raw, "rrf", &Fusion::default(), || rrf_multi(&lists, RrfConfig::default()));
    pair(raw, "combsum", &Fusion::CombSum(comb), || combsum_multi(&lists, config()));
    pair(raw, "combmnz", &Fusion::CombMnz(comb), || combmnz_multi(&lists, config()));
}

fn pair<'a>(raw: &'a Raw, method: &str, fusion: &Fusion, peer: impl Fn() -> Vec<(&'a str, f32)>) {
    let (ours, their) = (fuse_raw(fusion, raw), widened(&peer()));
    if !announce(&format!("rankops {method}"), agree(&ours, &their, TOLERANCE)) {
        return;
    }
    let mut contenders = [
        Contender::new(format!("mainstem {method}"), || fuse_raw(fusion, raw)),
        Contender::new(format!("rankops {method}"), peer),
    ];
    race(&mut contenders, TURNS);
    print(&format!("{method}, ids are `&str`"), &contenders);
}

fn widened<'a>(list: &[(&'a str, f32)]) -> Vec<(&'a str, f64)> {
    list.iter().map(|(id, score)| (*id, f64::from(*score))).collect()
}

/// Both borrow lists of owned ids and give owned ids back. The third way copies every id of every list.
fn owned(raw: &Raw) {
    let lists: Vec<Vec<(String, f32)>> =
        raw.iter().map(|list| list.iter().map(|(id, score)| (id.clone(), *score as f32)).collect()).collect();
    let fusion = Fusion::default();
    let by_reference = || -> Vec<(String, f64)> {
        fuse_raw(&fusion, raw).into_iter().map(|(id, score)| (id.to_owned(), score)).collect()
    };
    let mut contenders = [
        Contender::new("mainstem rrf, ids interned by reference", by_reference),
        Contender::new("rankops rrf", || rrf_multi(&lists, RrfConfig::default())),
        Contender::new("mainstem rrf, every id copied", || copied(raw, &fusion)),
    ];
    race(&mut contenders, TURNS);
    print("rrf, ids are `String`", &contenders);
}

fn copied(raw: &Raw, fusion: &Fusion) -> Vec<(String, f64)> {
    let mut candidates = Candidates::new();
    for (name, list) in NAMES.iter().zip(raw) {
        candidates.scored(Leg::new(*name), list.iter().cloned()).expect("scores are finite and names differ");
    }
    let fused = fusion.fuse(&candidates).expect("rrf fuses any lists");
    fused.hits().iter().map(|hit| (candidates.id(hit.slot).clone(), hit.score)).collect()
}

/// With what each list contributed to each hit.
fn explained(raw: &Raw) {
    let lists = theirs(raw);
    let names = NAMES.map(RetrieverId::new);
    let fusion = FuseSpec::default().check().expect("defaults are in range");
    let ours = || {
        let candidates = interned(raw);
        let fused = fuse_explained(&fusion, &candidates);
        (named(&fused, &candidates), fused)
    };
    let mut contenders = [
        Contender::new("mainstem rrf with ledger", ours),
        Contender::new("rankops rrf_explain", || rrf_explain(&lists, &names, RrfConfig::default())),
    ];
    race(&mut contenders, TURNS);
    print("rrf with every list's contribution, ids are `&str`", &contenders);
}
