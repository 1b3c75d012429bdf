//! ranx on the same lists: many queries of 8 runs of 160 documents, RRF.

use mainstem_core::Fusion;

use crate::agree::{agree, announce};
use crate::lists::{Raw, Shape, fuse, fuse_raw, interned, named};
use crate::peer::Peer;
use crate::race::{Contender, print, race};

const QUERIES: usize = 200;
const TURNS: usize = 15;
const SHAPE: Shape = Shape { lists: 8, items: 160, pool: 640 };

/// Measures and prints, or says how to get ranx.
pub(crate) fn report() {
    println!(
        "\nranx, {QUERIES} queries of {} runs of {} documents; time per query",
        SHAPE.lists, SHAPE.items
    );
    let queries: Vec<Raw> = (0..QUERIES as u64).map(|seed| SHAPE.lists(seed)).collect();
    for threads in [1, 2] {
        let Some(peer) = Peer::start(&queries, threads) else {
            println!("  ranx is not installed, so its ratio is skipped; to install it:");
            println!("  python3 -m venv .peers && .peers/bin/pip install ranx maxsim-cpu numpy");
            return;
        };
        on_threads(&queries, threads, peer);
    }
}

/// ranx takes runs that are hashed and sorted already, as our prepared lists are; from raw lists we do more than it does.
fn on_threads(queries: &[Raw], threads: usize, mut peer: Peer) {
    let name = format!("ranx {} rrf", peer.version);
    if !announce(&name, same(queries, &mut peer)) {
        return;
    }
    let fusion = Fusion::default();
    let prepared: Vec<_> = queries.iter().map(interned).collect();
    let mut contenders = [
        Contender::new("mainstem rrf, from raw lists", || {
            on_all(queries, threads, |raw| fuse_raw(&fusion, raw));
        }),
        Contender::timed(name, move || peer.turn()),
        Contender::new("mainstem rrf, prepared lists", || {
            on_all(&prepared, threads, |query| named(&fuse(&fusion, query), query));
        }),
    ];
    race(&mut contenders, TURNS);
    print(&format!("all queries, threads: {threads}"), &contenders);
    let [raw, peer, prepared] = contenders.map(|contender| contender.best() * 1e6 / QUERIES as f64);
    println!("  per query: {raw:.1} µs, {peer:.1} µs and {prepared:.1} µs");
}

fn on_all<'a, Q: Sync, T>(queries: &'a [Q], threads: usize, fuse: impl Fn(&'a Q) -> T + Sync) {
    std::thread::scope(|scope| {
        for share in queries.chunks(queries.len().div_ceil(threads)) {
            scope.spawn(|| share.iter().for_each(|query| drop(std::hint::black_box(fuse(query)))));
        }
    });
}

fn same(queries: &[Raw], peer: &mut Peer) -> Result<(), String> {
    let fused = peer.fused().ok_or("it stopped answering")?;
    for (raw, theirs) in queries.iter().zip(&fused) {
        let theirs: Vec<_> = theirs.iter().map(|(id, score)| (id.as_str(), *score)).collect();
        agree(&fuse_raw(&Fusion::default(), raw), &theirs, 1e-12)?;
    }
    Ok(())
}
