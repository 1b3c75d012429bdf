//! `cargo bench -p mainstem-core`: what a fusion costs, with its ledger and without, and how far ahead of others it is.
//!
//! Every ratio is between contenders of one run, taken in turns, so that a busy machine slows all of them; the best
//! turn of each counts, because noise only ever adds time. Name a part (`methods`, `rankops`, `ranx`, `replay`,
//! `growth`) to run it alone.

mod agree;
mod growth;
mod lists;
mod methods;
mod peer;
mod race;
mod rankops;
mod ranx;
mod replay;

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let parts: [(&str, fn()); 5] = [
        ("methods", methods::report),
        ("rankops", rankops::report),
        ("ranx", ranx::report),
        ("replay", replay::report),
        ("growth", growth::report),
    ];
    for (name, report) in parts {
        if named.is_empty() || named.iter().any(|wanted| wanted == name) {
            report();
        }
    }
}
