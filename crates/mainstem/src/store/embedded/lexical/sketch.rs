//! One number by which copies of a text are told.
//!
//! It is the least hash of all runs of nine letters: two texts have the same with the probability of the Jaccard likeness of their runs
//! (A. Broder: *On the resemblance and containment of documents*, SEQUENCES 1997). One number is little to tell two texts by, but the numbers
//! of all chunks of a source tell whether it is a copy of another.

/// How many letters a run has: more than most words, so that texts about the same things have few runs in common.
const RUN: usize = 9;
/// The base of the rolling hash.
const BASE: u64 = 0x0100_0000_01b3;

/// The sketch of a text that comes in parts. That of a text without letters is the greatest number.
pub(super) fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let letters = parts.into_iter().flat_map(str::chars).filter(|letter| letter.is_alphanumeric());
    let leaving = (0..RUN).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut run = [0_u64; RUN];
    let (mut hash, mut least) = (0_u64, u64::MAX);
    for (at, letter) in letters.flat_map(char::to_lowercase).enumerate() {
        let letter = u64::from(u32::from(letter)) + 1;
        let gone = std::mem::replace(&mut run[at % RUN], letter);
        hash = hash.wrapping_mul(BASE).wrapping_add(letter).wrapping_sub(gone.wrapping_mul(leaving));
        // A text shorter than a run is a run by itself: only its whole counts.
        least = if at < RUN { mixed(hash) } else { least.min(mixed(hash)) };
    }
    least
}

/// A number from which nothing can be told about the one it was made of (`SplitMix64`, S. Vigna).
pub(super) fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_spaces_do_not_count() {
        assert_eq!(of(["Rotate the", "webhook secret."]), of(["rotate The webhook", "Secret"]));
        assert_ne!(of(["rotate the webhook secret"]), of(["rotate the webhook sekret"; 2]));
        assert_eq!(of(["short"]), of(["SHORT"]));
        assert_ne!(of(["short"]), of(["sharp"]));
        assert_eq!(of(["", "..."]), u64::MAX);
    }

    #[test]
    fn a_changed_word_leaves_most_sketches_as_they_are() {
        let text = |n: u32| (0..60).map(|at| format!("w{}x", n * 1000 + at)).collect::<Vec<_>>();
        let same = (0..200).filter(|n| {
            let mut words = text(*n);
            let before = words.join(" ");
            words[30] = "changed".to_owned();
            of([before.as_str()]) == of([words.join(" ").as_str()])
        });
        let same = same.count();
        assert!((160..200).contains(&same), "{same} of 200");
    }
}
