//! `cargo bench -p mainstem-kernels`: how near the kernels come to the machine, and how far ahead of the alternatives.
//!
//! Every ratio is between contenders of one run, taken in turns, so that a busy machine slows all of them; the best
//! turn of each counts, because noise only ever adds time. Name a part (`maxsim`, `scans`, `top_k`) to run it alone.

mod maxsim;
mod peak;
mod peer;
mod race;
mod scans;
mod top_k;

use mainstem_kernels::Kernels;

fn main() {
    let sets: Vec<String> = Kernels::available().map(|kernels| kernels.isa().to_string()).collect();
    println!("instruction sets: {}", sets.join(", "));
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let parts: [(&str, fn()); 3] =
        [("maxsim", maxsim::report), ("scans", scans::report), ("top_k", top_k::report)];
    for (name, report) in parts {
        if named.is_empty() || named.iter().any(|wanted| wanted == name) {
            report();
        }
    }
}
