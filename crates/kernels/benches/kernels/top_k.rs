//! The best of a million scores, against what the standard library offers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use mainstem_kernels::top_k;

use crate::race::{self, Contender, variants};
use crate::scans::noise;

const SCORES: usize = 1_000_000;
const TURNS: usize = 25;

/// Measures and prints.
pub(crate) fn report() {
    let scores: Vec<f32> = noise(SCORES).map(|bits| bits as f32 / u32::MAX as f32).collect();
    let scores = &scores[..];
    for k in [10, 100, 500] {
        let mut contenders = variants(|kernels| move || drop(black_box(kernels.top_k(scores, k))));
        contenders.push(Contender::new("select_nth_unstable, then sort", || {
            drop(black_box(by_selection(scores, k)));
        }));
        contenders.push(Contender::new("binary heap", || drop(black_box(by_heap(scores, k)))));
        race::race(&mut contenders, TURNS);
        race::print(&format!("top_k, {k} of 1,000,000"), &contenders, size_of_val(scores) as f64, "GB/s");
    }
    let mut rising = scores.to_vec();
    rising.sort_by(f32::total_cmp);
    let mut contenders =
        [Contender::new("ascending scores, the worst case", || drop(black_box(top_k(&rising, 100))))];
    race::race(&mut contenders, TURNS);
    race::print("top_k, 100 of 1,000,000", &contenders, size_of_val(scores) as f64, "GB/s");
}

fn by_selection(scores: &[f32], k: usize) -> Vec<u32> {
    let order = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
    let mut all: Vec<u32> = (0..scores.len() as u32).collect();
    all.select_nth_unstable_by(k - 1, order);
    all.truncate(k);
    all.sort_by(order);
    all
}

fn by_heap(scores: &[f32], k: usize) -> Vec<Reverse<(u32, u32)>> {
    let mut heap = BinaryHeap::with_capacity(k + 1);
    for (index, score) in (0_u32..).zip(scores) {
        let bits = score.to_bits();
        let key = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
        let candidate = Reverse((key, !index));
        if heap.len() < k {
            heap.push(candidate);
        } else if heap.peek().is_some_and(|worst| candidate < *worst) {
            heap.pop();
            heap.push(candidate);
        }
    }
    heap.into_sorted_vec()
}
