//! ranx on the same lists: many queries of 8 runs of 160 documents, RRF.

use mainstem_core::Fusion;

use crate::agree::{agree, announce};
use crate::lists::{Raw, Shape, fuse_raw};
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
        on_threads(&queries, threads);
    }
}

/// ranx takes runs that are hashed and sorted already; ours starts from raw lists, on one thread.
fn on_threads(queries: &[Raw], threads: usize) {
    let Some(mut peer) = Peer::start(queries, threads) else {
        println!("  ranx is not installed, so its ratio is skipped; to install it:");
        println!("  python3 -m venv .peers && .peers/bin/pip install ranx maxsim-cpu numpy");
        return;
    };
    let name = format!("ranx {} rrf, threads: {threads}", peer.version);
    if !announce(&name, same(queries, &mut peer)) {
        return;
    }
    let fusion = Fusion::default();
    let ours = move || queries.iter().map(|raw| fuse_raw(&fusion, raw).len()).sum::<usize>();
    let mut contenders =
        [Contender::new("mainstem rrf, one thread", ours), Contender::timed(name, move || peer.turn())];
    race(&mut contenders, TURNS);
    print("all queries", &contenders);
    println!("  per query: {:.1} µs and {:.1} µs", per_query(&contenders[0]), per_query(&contenders[1]));
}

fn per_query(contender: &Contender<'_>) -> f64 {
    contender.best() * 1e6 / QUERIES as f64
}

fn same(queries: &[Raw], peer: &mut Peer) -> Result<(), String> {
    let fused = peer.fused().ok_or("it stopped answering")?;
    for (raw, theirs) in queries.iter().zip(&fused) {
        let theirs: Vec<_> = theirs.iter().map(|(id, score)| (id.as_str(), *score)).collect();
        agree(&fuse_raw(&Fusion::default(), raw), &theirs, 1e-12)?;
    }
    Ok(())
}
