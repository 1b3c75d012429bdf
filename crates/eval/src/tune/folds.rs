//! Which queries choose and which measure.
//!
//! Settings that were chosen on some queries look better on them than they are: the best of a thousand coin tossers is no prophet. So
//! the queries are split into folds. For each fold, settings are chosen on all *other* folds and measured on this one; put together,
//! every query is measured by settings that it had no say in. This is cross-validation of the whole procedure, the choice included
//! (nested, since the choice inside has folds of its own wherever it fits anything).
//!
//! Stone, *Cross-validatory choice and assessment of statistical predictions*, J. R. Stat. Soc. B 36, 1974; Varma and Simon, *Bias in
//! error estimation when using cross-validation for model selection*, BMC Bioinformatics 7:91, 2006; Cawley and Talbot, *On
//! over-fitting in model selection*, JMLR 11, 2010.

/// The fold of each query, from 0. It depends on the ids and the seed, and not on the order of the queries.
pub(super) fn folds(ids: &[&str], count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|&at| (mixed(ids[at], seed), ids[at]));
    let mut folds = vec![0; ids.len()];
    order.into_iter().enumerate().for_each(|(place, at)| folds[at] = place % count.max(1));
    folds
}

/// FNV-1a, then the finaliser of `SplitMix64`: the same in every process and version.
pub(super) fn mixed(text: &str, seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_of_equal_size_and_follow_the_ids() {
        let ids: Vec<String> = (0..23).map(|at| format!("q{at}")).collect();
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let one = folds(&names, 5, 1);
        let sizes: Vec<_> = (0..5).map(|fold| one.iter().filter(|&&other| other == fold).count()).collect();
        assert_eq!(sizes, [5, 5, 5, 4, 4]);
        let reversed: Vec<&str> = names.iter().rev().copied().collect();
        assert_eq!(folds(&reversed, 5, 1), one.iter().rev().copied().collect::<Vec<_>>());
        assert_ne!(folds(&names, 5, 2), one);
    }
}
