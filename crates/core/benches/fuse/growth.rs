//! How the cost grows with the length of the lists.
//!
//! Not quite linearly, for three reasons: the sort has its logarithm; ids and tallies leave the caches; and an allocator
//! that gives memory back after every fusion takes it again one page fault at a time. The last one is no property of the
//! fusion, and half of the time of long lists; glibc keeps its memory when told so.

use mainstem_core::Fusion;

use crate::lists::{Shape, fuse, fuse_explained, interned};
use crate::race::{Contender, race};

/// Tells glibc to keep what it has.
const KEEP: &str = "MALLOC_MMAP_THRESHOLD_=2000000000 MALLOC_TRIM_THRESHOLD_=4000000000";

/// Measures and prints.
pub(crate) fn report() {
    println!("\ngrowth: rrf over 8 lists, a quarter of the pool in each; ns per item of a list");
    println!("  items a list   different |  prepared  + ledger  |  from raw lists");
    for (items, turns) in [(10, 200), (100, 200), (1_000, 100), (10_000, 30), (100_000, 10)] {
        row(Shape { lists: 8, items, pool: 4 * items }, turns);
    }
    println!("  page faults included; with glibc, {KEEP} leaves them out");
}

fn row(shape: Shape, turns: usize) {
    let raw = shape.lists(1);
    let prepared = interned(&raw);
    let fusion = Fusion::default();
    let mut contenders = [
        Contender::new("prepared", || fuse(&fusion, &prepared)),
        Contender::new("prepared, ledger", || fuse_explained(&fusion, &prepared)),
        Contender::new("raw", || fuse(&fusion, &interned(&raw))),
    ];
    race(&mut contenders, turns);
    let [plain, ledger, raw] = contenders.map(|contender| contender.best() * 1e9 / shape.places() as f64);
    println!("  {:>12} {:>11} | {plain:>9.1} {ledger:>9.1}  | {raw:>15.1}", shape.items, prepared.len());
}
