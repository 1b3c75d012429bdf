//! Every variant this machine has against the oracle, bit for bit.

use std::num::NonZeroUsize;

use mainstem_kernels::{Isa, Kernels, MaxSimQuery, Scored, SignQuery, TokenBatch, Tokens, normalize};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

/// A query and some rows of its length, with `skip` values before each so that they lie off every alignment.
#[derive(Debug, Clone)]
struct Shifted<T> {
    query: Vec<T>,
    rows: Vec<T>,
    skip: usize,
    count: usize,
}

impl<T> Shifted<T> {
    fn query(&self) -> &[T] {
        &self.query[self.skip..]
    }

    fn rows(&self) -> &[T] {
        &self.rows[self.skip..]
    }
}

fn shifted<T>(value: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Shifted<T>>
where
    T: std::fmt::Debug + Clone,
{
    (prop_oneof![0_usize..20, 0_usize..300], 0_usize..7, 0_usize..4).prop_flat_map(
        move |(len, count, skip)| {
            (vec(value.clone(), skip + len), vec(value.clone(), skip + len * count))
                .prop_map(move |(query, rows)| Shifted { query, rows, skip, count })
        },
    )
}

/// Ordinary components, and the ones that break careless code.
fn component() -> impl Strategy<Value = f32> + Clone {
    prop_oneof![
        8 => -1.0_f32..1.0,
        1 => prop_oneof![Just(0.0_f32), Just(-0.0), Just(f32::MIN_POSITIVE), Just(1e-42), Just(1e30), Just(-1e30)],
    ]
}

fn score() -> impl Strategy<Value = f32> + Clone {
    prop_oneof![
        6 => -1.0_f32..1.0,
        3 => (0_i8..4).prop_map(|x| f32::from(x) / 4.0),
        1 => prop_oneof![
            Just(f32::NAN), Just(-f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY), Just(0.0), Just(-0.0)
        ],
    ]
}

/// A query, some rows of one bit per component (and noise in the bits behind), and their number.
fn signs() -> impl Strategy<Value = (Vec<i8>, Vec<u8>, usize)> {
    // Rows of 384 bits have a way of their own.
    let of_any = (prop_oneof![0_usize..20, 0_usize..300, 500_usize..1100], 0_usize..7);
    let of_384 = (Just(384_usize), 0_usize..70);
    prop_oneof![2 => of_any, 1 => of_384].prop_flat_map(|(len, count)| {
        let query = vec(prop_oneof![-8_i8..8, Just(-8), Just(7)], len);
        (query, vec(any::<u8>(), len.div_ceil(8) * count), Just(count))
    })
}

/// A query and as many finite numbers of half precision, small ones included.
fn halves() -> impl Strategy<Value = (Vec<f32>, Vec<u8>)> {
    prop_oneof![0_usize..20, 0_usize..300].prop_flat_map(|len| {
        let half = (any::<bool>(), prop_oneof![0_u16..0x7c00, 0_u16..0x0800]);
        let bytes = vec(half.prop_map(|(minus, size)| u16::from(minus) << 15 | size), len)
            .prop_map(|halves| halves.into_iter().flat_map(u16::to_le_bytes).collect());
        (vec(component(), len), bytes)
    })
}

/// The definition of top-k: sort everything.
fn sorted(scores: &[f32], k: usize) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, f32)> = (0..).zip(scores.iter().copied()).filter(|(_, s)| !s.is_nan()).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(k);
    all.into_iter().map(|(index, score)| (index, score.to_bits())).collect()
}

fn bits(scored: &[Scored]) -> Vec<(u32, u32)> {
    scored.iter().map(|s| (s.index, s.score.to_bits())).collect()
}

/// The definition of MaxSim, in `f64`.
fn max_sim(query: &[f32], document: &[f32], dim: usize) -> f64 {
    let tokens = query.len() / dim;
    if tokens == 0 || document.is_empty() {
        return 0.0;
    }
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>();
    let cosine = |a: &[f32], b: &[f32]| {
        let lengths = (dot(a, a) * dot(b, b)).sqrt();
        if lengths == 0.0 { 0.0 } else { dot(a, b) / lengths }
    };
    let best = |q: &[f32]| document.chunks(dim).map(|d| cosine(q, d)).fold(f64::NEG_INFINITY, f64::max);
    query.chunks(dim).map(best).sum::<f64>() / tokens as f64
}

proptest! {
    #[test]
    fn dots_have_the_same_bits(input in shifted(component())) {
        let mut expected = vec![0.0; input.count];
        oracle().dots(input.query(), input.rows(), &mut expected);
        for kernels in Kernels::available() {
            let mut out = vec![f32::NAN; input.count];
            kernels.dots(input.query(), input.rows(), &mut out);
            assert!(out.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{}", kernels.isa());
        }
    }

    #[test]
    fn half_dots_have_the_same_bits((query, row) in halves()) {
        let expected = oracle().dot_f16(&query, &row);
        for kernels in Kernels::available() {
            let product = kernels.dot_f16(&query, &row);
            assert!(product.to_bits() == expected.to_bits(), "{}", kernels.isa());
        }
    }

    #[test]
    fn int8_dots_are_exact(input in shifted(prop_oneof![any::<i8>(), Just(i8::MIN), Just(i8::MAX)])) {
        let exact = |row: &[i8]| input.query().iter().zip(row).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum::<i32>();
        let expected: Vec<i32> = input.rows().chunks(input.query().len().max(1)).map(exact).collect();
        for kernels in Kernels::available() {
            let mut out = vec![-1; input.count];
            kernels.dots_i8(input.query(), input.rows(), &mut out);
            if input.query().is_empty() {
                assert!(out.iter().all(|&x| x == 0));
            } else {
                assert_eq!(out, expected, "{}", kernels.isa());
            }
        }
    }

    #[test]
    fn sign_dots_are_exact((query, rows, count) in signs()) {
        let set = |row: &[u8], i: usize| i32::from(row[i / 8] >> (i % 8) & 1);
        let exact = |row: &[u8]| query.iter().enumerate().map(|(i, &x)| i32::from(x) * set(row, i)).sum::<i32>();
        let expected: Vec<i32> = rows.chunks(query.len().div_ceil(8).max(1)).map(exact).collect();
        for kernels in Kernels::available() {
            let mut out = vec![-1; count];
            kernels.sign_dots(&SignQuery::new(query.clone()), &rows, &mut out);
            if query.is_empty() {
                assert!(out.iter().all(|&x| x == 0));
            } else {
                assert_eq!(out, expected, "{}", kernels.isa());
            }
        }
    }

    #[test]
    fn what_is_above_the_bar_is_marked(
        scores in vec(prop_oneof![-1.0..1.0_f32, Just(0.5), Just(f32::NAN), Just(f32::INFINITY)], 0..300),
        bar in prop_oneof![Just(0.5_f32), -1.0..1.0_f32, Just(f32::NEG_INFINITY)],
    ) {
        for kernels in Kernels::available() {
            let mut out = vec![u64::MAX; scores.len().div_ceil(64)];
            kernels.above(&scores, bar, &mut out);
            let marked = |at: usize| out[at / 64] >> (at % 64) & 1 == 1;
            for at in 0..out.len() * 64 {
                assert_eq!(marked(at), scores.get(at).is_some_and(|score| *score > bar), "{}", kernels.isa());
            }
        }
    }

    #[test]
    fn weighed_signs_are_the_same_to_the_bit(
        rows in vec((-60_000..60_000_i32, any::<u32>(), any::<f32>()), 0..70),
        total in -60_000..60_000_i32,
    ) {
        let sums: Vec<i32> = rows.iter().map(|(sum, ..)| *sum).collect();
        let factor = |(_, head, factor): &(i32, u32, f32)| {
            let mut bytes = [0; 8];
            bytes[..4].copy_from_slice(&head.to_le_bytes());
            bytes[4..].copy_from_slice(&factor.to_le_bytes());
            bytes
        };
        let factors: Vec<[u8; 8]> = rows.iter().map(factor).collect();
        let expected: Vec<u32> =
            rows.iter().map(|(sum, _, factor)| ((2 * sum - total) as f32 * factor).to_bits()).collect();
        for kernels in Kernels::available() {
            let mut out = vec![7.0; rows.len()];
            kernels.weigh_signs(&sums, total, &factors, &mut out);
            assert_eq!(out.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected, "{}", kernels.isa());
        }
    }

    #[test]
    fn hammings_are_exact(input in shifted(any::<u8>())) {
        let exact = |row: &[u8]| input.query().iter().zip(row).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        let expected: Vec<u32> = input.rows().chunks(input.query().len().max(1)).map(exact).collect();
        for kernels in Kernels::available() {
            let mut out = vec![7; input.count];
            kernels.hammings(input.query(), input.rows(), &mut out);
            if input.query().is_empty() {
                assert!(out.iter().all(|&x| x == 0));
            } else {
                assert_eq!(out, expected, "{}", kernels.isa());
            }
        }
    }

    #[test]
    fn top_k_is_the_head_of_the_sorted_list(scores in vec(score(), 0..2000), k in prop_oneof![0_usize..20, 0_usize..2100]) {
        let expected = sorted(&scores, k);
        for kernels in Kernels::available() {
            assert_eq!(bits(&kernels.top_k(&scores, k)), expected, "{}", kernels.isa());
        }
    }

    #[test]
    fn max_sim_has_the_same_bits_and_the_right_value(
        (dim, query, document) in (1_usize..70, 0_usize..50, 0_usize..40).prop_flat_map(|(dim, q, d)| {
            (Just(dim), vec(-1.0_f32..1.0, q * dim), vec(-1.0_f32..1.0, d * dim))
        })
    ) {
        let mut unit = document.clone();
        normalize(&mut unit, dim);
        let tokens = |values| Tokens::new(values, dim).unwrap();
        let expected = MaxSimQuery::with_kernels(tokens(&query), oracle()).score(tokens(&unit)).unwrap();
        assert!((f64::from(expected) - max_sim(&query, &document, dim)).abs() < 1e-5);
        for kernels in Kernels::available() {
            let packed = MaxSimQuery::with_kernels(tokens(&query), kernels);
            assert_eq!(packed.score(tokens(&unit)).unwrap().to_bits(), expected.to_bits(), "{}", kernels.isa());
            assert_eq!(packed.score_raw(tokens(&document)).unwrap().to_bits(), expected.to_bits(), "{}", kernels.isa());
        }
    }

    #[test]
    fn a_batch_scores_like_its_documents(
        (query, lengths) in (vec(-1.0_f32..1.0, 0..60), vec(0_usize..30, 0..40)), threads in 1_usize..5
    ) {
        let dim = 3;
        let query = &query[..query.len() / dim * dim];
        let offsets: Vec<usize> = std::iter::once(0)
            .chain(lengths.iter().scan(0, |end, len| { *end += len; Some(*end) }))
            .collect();
        let mut values: Vec<f32> = (0..lengths.iter().sum::<usize>() * dim).map(|i| (i as f32).sin()).collect();
        normalize(&mut values, dim);
        let batch = TokenBatch::new(Tokens::new(&values, dim).unwrap(), &offsets).unwrap();
        let packed = MaxSimQuery::new(Tokens::new(query, dim).unwrap());
        let mut scores = vec![f32::NAN; lengths.len()];
        packed.score_batch(&batch, NonZeroUsize::new(threads).unwrap(), &mut scores).unwrap();
        for (pair, score) in offsets.windows(2).zip(scores) {
            let document = Tokens::new(&values[pair[0] * dim..pair[1] * dim], dim).unwrap();
            assert_eq!(packed.score(document).unwrap().to_bits(), score.to_bits());
        }
    }
}

fn oracle() -> &'static Kernels {
    Kernels::of(Isa::Scalar).expect("the oracle is everywhere")
}

#[test]
fn int8_extremes_do_not_saturate() {
    for kernels in Kernels::available() {
        for (a, b) in [(i8::MIN, i8::MIN), (i8::MIN, i8::MAX), (i8::MAX, i8::MIN), (i8::MAX, i8::MAX)] {
            let mut out = [0];
            kernels.dots_i8(&vec![a; 131_071], &vec![b; 131_071], &mut out);
            assert_eq!(out[0], i32::from(a) * i32::from(b) * 131_071, "{}", kernels.isa());
        }
    }
}
