//! What the machine can do at most: fused multiply-adds on registers alone.

use std::hint::black_box;

use mainstem_kernels::{Isa, Kernels};

use crate::race::Contender;

/// Steps of one turn on one thread; some milliseconds.
const STEPS: u32 = 1_000_000;
/// Independent sums: enough to cover latency × throughput, few enough for sixteen registers.
const CHAINS: usize = 12;

/// A contender that computes on `threads` threads without touching memory, and the operations of its turn.
pub(crate) fn contender(threads: usize) -> (Contender<'static>, f64) {
    let (burn, lanes) = widest();
    let flops = 2 * lanes * CHAINS * STEPS as usize * threads;
    let turn = move || {
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(burn);
            }
            burn();
        });
    };
    (Contender::new("FMA peak", turn), flops as f64)
}

/// The widest loop there is, and its lanes.
fn widest() -> (fn(), usize) {
    match Kernels::best().isa() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the best variant of this machine is one it has.
        Isa::Avx512 => (|| unsafe { x86::burn_512() }, 16),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the best variant of this machine is one it has.
        Isa::Avx2 => (|| unsafe { x86::burn_256() }, 8),
        _ => (burn_portable, 4),
    }
}

/// Four lanes a chain, left to the compiler.
fn burn_portable() {
    let (x, y) = black_box((0.999_f32, 1e-3_f32));
    let mut sums = [[0.0_f32; 4]; CHAINS];
    for _ in 0..STEPS {
        for lane in sums.iter_mut().flatten() {
            *lane = lane.mul_add(x, y);
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    use super::{CHAINS, STEPS};

    #[target_feature(enable = "avx512f")]
    pub(super) fn burn_512() {
        let (x, y) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(1e-3)));
        let mut sums = [y; CHAINS];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, x, y);
            }
        }
        black_box(sums);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn burn_256() {
        let (x, y) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(1e-3)));
        let mut sums = [y; CHAINS];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, x, y);
            }
        }
        black_box(sums);
    }
}
