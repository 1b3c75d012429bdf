//! All methods over one search: prepared, from raw lists, and through the whole pipeline; with the ledger and without.

use mainstem_core::fuse::Method;
use mainstem_core::{Candidates, FuseSpec, Item, Leg, Pipeline, PipelineSpec, Search};

use crate::lists::{NAMES, Raw, SEARCH, fuse, fuse_explained, interned};
use crate::race::{Contender, race};

const TURNS: usize = 60;

/// Measures and prints.
pub(crate) fn report() {
    let raw = SEARCH.lists(1);
    println!(
        "\nfusing {} lists of {} items, {} different; µs, best of {TURNS} turns",
        SEARCH.lists,
        SEARCH.items,
        interned(&raw).len()
    );
    println!("             |      prepared lists       |     from raw lists        |  whole pipeline");
    println!("  method     |   fuse  + ledger   ratio  |   fuse  + ledger   ratio  |  answer    + JSON");
    for method in Method::ALL {
        row(*method, &raw);
    }
}

fn row(method: Method, raw: &Raw) {
    let fusion = FuseSpec::new(method).check().expect("defaults are in range");
    let prepared = interned(raw);
    let (pipeline, search) = (pipeline(method), search(raw));
    let answer = || pipeline.run(&search).expect("no method lacks anything for these lists");
    let mut contenders = [
        Contender::new("prepared", || fuse(&fusion, &prepared)),
        Contender::new("prepared, ledger", || fuse_explained(&fusion, &prepared)),
        Contender::new("raw", || fuse(&fusion, &interned(raw))),
        Contender::new("raw, ledger", || fuse_explained(&fusion, &interned(raw))),
        Contender::new("answer", answer),
        Contender::new("answer, written", || serde_json::to_string(&answer())),
    ];
    race(&mut contenders, TURNS);
    let [plain, ledger, raw, raw_ledger, answer, written] =
        contenders.map(|contender| contender.best() * 1e6);
    println!(
        "  {:<10} | {plain:>6.1} {ledger:>8.1} {:>7.2}x  | {raw:>6.1} {raw_ledger:>8.1} {:>7.2}x  | {answer:>7.0} {written:>8.0}",
        fusion.method().as_str(),
        ledger / plain,
        raw_ledger / raw,
    );
}

fn pipeline(method: Method) -> Pipeline {
    let spec = PipelineSpec { fuse: FuseSpec::new(method), ..PipelineSpec::default() };
    spec.check().expect("defaults are in range")
}

fn search(raw: &Raw) -> Search {
    let mut candidates = Candidates::new();
    for (name, list) in NAMES.iter().zip(raw) {
        candidates.scored(Leg::new(*name), list.iter().cloned()).expect("scores are finite and names differ");
    }
    let items = vec![Item::default(); candidates.len()];
    Search { candidates, items, ..Search::default() }
}
