//! How alike two items are: the cosine of their vectors, or the Jaccard overlap of their words.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHasher;

use crate::candidates::Slot;
use crate::item::Item;

/// The words of an item, lower-cased and split at white space, as hashes.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// Each word once, in the order they first stand in.
    set: Vec<u64>,
    /// The same, sorted when two items are first compared: most never are.
    sorted: OnceLock<Vec<u64>>,
    /// One hash for all words in order: the same for texts that differ in case and spacing only.
    sequence: u64,
}

impl Words {
    /// The words of a text.
    pub fn of(text: &str) -> Self {
        let mut words = Self { set: Vec::with_capacity(text.len() / 5), ..Self::default() };
        if text.is_ascii() {
            let lower = text.to_ascii_lowercase();
            each_word(lower.as_bytes(), |word| words.add(word));
        } else {
            // White space has no case and ends words: lower-casing the whole gives what lower-casing each word does.
            text.to_lowercase().split_whitespace().for_each(|word| words.add(word.as_bytes()));
        }
        keep_first(&mut words.set);
        words
    }

    fn add(&mut self, word: &[u8]) {
        let mut hasher = FxHasher::default();
        hasher.write(word);
        let hash = hasher.finish();
        self.set.push(hash);
        // Knuth's multiplier; turning makes the order count.
        self.sequence = (self.sequence.rotate_left(5) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.set
    }

    fn sorted(&self) -> &[u64] {
        self.sorted.get_or_init(|| {
            let mut sorted = self.set.clone();
            sorted.sort_unstable();
            sorted
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    /// The hash of all words in order; nothing where there is none.
    pub(crate) fn sequence(&self) -> Option<u64> {
        (!self.set.is_empty()).then_some(self.sequence)
    }

    /// `|A ∩ B| / |A ∪ B|`; 0 when either is empty, since nothing is known then.
    pub(crate) fn jaccard(&self, other: &Self) -> f64 {
        if self.set.is_empty() || other.set.is_empty() {
            return 0.0;
        }
        let shared = shared(self.sorted(), other.sorted());
        shared as f64 / (self.len() + other.len() - shared) as f64
    }

    /// The most that [`Self::jaccard`] can be, by the number of words alone.
    pub(crate) fn most(&self, other: &Self) -> f64 {
        let (less, more) = (self.len().min(other.len()), self.len().max(other.len()));
        if less == 0 { 0.0 } else { less as f64 / more as f64 }
    }
}

/// Calls `take` with every word of an ASCII text, in order. Eight bytes are looked at together: most hold no end of a word.
fn each_word(text: &[u8], mut take: impl FnMut(&[u8])) {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const UP_TO_SPACE: u64 = 0x5f5f_5f5f_5f5f_5f5f;
    let is_space = |byte: u8| matches!(byte, 9..=13 | b' ');
    let mut start = 0;
    let mut end_at = |at: usize| {
        if is_space(text[at]) {
            if start < at {
                take(&text[start..at]);
            }
            start = at + 1;
        }
    };
    let (eights, rest) = text.as_chunks::<8>();
    for (place, eight) in eights.iter().enumerate() {
        // No sum of two ASCII bytes carries over into the next; the high bit stays clear for those up to the space.
        let mut ends = !(u64::from_le_bytes(*eight) + UP_TO_SPACE) & HIGH;
        while ends != 0 {
            end_at(8 * place + ends.trailing_zeros() as usize / 8);
            ends &= ends - 1;
        }
    }
    (text.len() - rest.len()..text.len()).for_each(&mut end_at);
    if start < text.len() {
        take(&text[start..]);
    }
}

/// Leaves the first of equal hashes.
fn keep_first(hashes: &mut Vec<u64>) {
    let size = (2 * hashes.len()).next_power_of_two();
    // The place of a hash among those that are kept, from 1.
    let mut table = vec![0_u32; size];
    let mut kept = 0;
    for at in 0..hashes.len() {
        let hash = hashes[at];
        let mut place = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (size - 1);
        while table[place] != 0 && hashes[table[place] as usize - 1] != hash {
            place = (place + 1) & (size - 1);
        }
        if table[place] == 0 {
            hashes[kept] = hash;
            kept += 1;
            table[place] = kept as u32;
        }
    }
    hashes.truncate(kept);
}

/// Whether two texts are the same but for case and spacing.
pub(crate) fn same_words(a: &str, b: &str) -> bool {
    let equal = |(a, b): (&str, &str)| {
        if a.is_ascii() && b.is_ascii() {
            a.eq_ignore_ascii_case(b)
        } else {
            a.to_lowercase() == b.to_lowercase()
        }
    };
    let (mut a, mut b) = (a.split_whitespace(), b.split_whitespace());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if equal((a, b)) => {}
            _ => return false,
        }
    }
}

/// The words of the items of a run, by slot. Several stages look at them; each text is read once, when the first of them asks.
#[derive(Default)]
pub(crate) struct WordsBySlot(Vec<OnceCell<Arc<Words>>>);

impl WordsBySlot {
    pub(crate) fn new(items: usize) -> Self {
        Self(vec![OnceCell::new(); items])
    }

    /// With what was read before the run.
    pub(crate) fn with(items: usize, known: &[Option<Arc<Words>>]) -> Self {
        let words = Self::new(items);
        for (cell, known) in words.0.iter().zip(known) {
            // The cell is new, and so it is empty.
            let _ = known.as_ref().map(|known| cell.set(Arc::clone(known)));
        }
        words
    }

    pub(crate) fn of(&self, slot: Slot, item: &Item) -> &Words {
        self.0[slot as usize].get_or_init(|| Arc::new(Words::of(item.text.as_deref().unwrap_or_default())))
    }
}

fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        count += usize::from(a[i] == b[j]);
        (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(b[j] <= a[i]));
    }
    count
}

/// The cosine of two vectors; nothing where they do not have the same length or one is 0.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    if a.len() != b.len() || a.is_empty() {
        return None;
    }
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    (norms > 0.0 && norms.is_finite()).then(|| dot(a, b) / norms)
}

/// What similarity is measured on, prepared once per item.
pub(crate) struct Profile<'a> {
    pub(crate) words: Cow<'a, Words>,
    pub(crate) vector: Option<&'a [f32]>,
}

impl<'a> Profile<'a> {
    pub(crate) fn new(item: &'a Item, words: &'a Words) -> Self {
        Self { words: Cow::Borrowed(words), vector: item.vector.as_deref() }
    }

    #[cfg(test)]
    pub(crate) fn of(item: &'a Item) -> Self {
        let words = Words::of(item.text.as_deref().unwrap_or_default());
        Self { words: Cow::Owned(words), vector: item.vector.as_deref() }
    }

    /// The cosine where both have a vector, else the overlap of words.
    pub(crate) fn similarity(&self, other: &Self) -> f64 {
        self.cosine(other).unwrap_or_else(|| self.words.jaccard(&other.words))
    }

    pub(crate) fn cosine(&self, other: &Self) -> Option<f64> {
        cosine(self.vector?, other.vector?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jaccard_counts_different_words_once_and_ignores_case() {
        let jaccard = |a, b| Words::of(a).jaccard(&Words::of(b));
        assert_eq!(jaccard("The cat the cat", "the CAT sat"), 2.0 / 3.0);
        assert_eq!(jaccard("회의 메모", "회의 메모"), 1.0);
        assert_eq!(jaccard("", ""), 0.0);
    }

    #[test]
    fn ascii_and_unicode_spell_a_word_alike() {
        assert_eq!(Words::of("STRASSE Éclair").hashes(), Words::of("strasse éclair").hashes());
        assert_eq!(Words::of("a strasse b").hashes()[1], Words::of("é strasse").hashes()[1]);
    }

    #[test]
    fn ascii_words_end_where_white_space_is() {
        let text = "\tone two\u{b}three\u{1}four  x\n\rfive  a-very-long-word-without-an-end six";
        let mut words = Vec::new();
        each_word(text.as_bytes(), |word| words.push(str::from_utf8(word).unwrap().to_owned()));
        assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
        for length in 0..text.len() {
            let mut count = 0;
            each_word(&text.as_bytes()[..length], |_| count += 1);
            assert_eq!(count, text[..length].split_whitespace().count(), "{length}");
        }
    }

    #[test]
    fn each_word_counts_once_in_the_order_of_the_text() {
        let words = Words::of("b a b c a b");
        let single: Vec<u64> = ["b", "a", "c"].iter().map(|word| Words::of(word).hashes()[0]).collect();
        assert_eq!(words.hashes(), single);
    }

    #[test]
    fn a_sequence_knows_order_and_ignores_case_and_spacing() {
        let sequence = |text| Words::of(text).sequence();
        assert_eq!(sequence("Weekly  notes\n"), sequence("weekly notes"));
        assert_eq!(sequence("É\u{b}notes"), sequence(" é notes"));
        assert_ne!(sequence("weekly notes"), sequence("notes weekly"));
        assert_eq!(sequence(" \n"), None);
        assert!(same_words("Weekly  notes\n", "weekly notes") && same_words("ΟΔΟΣ x", "οδος  X"));
        assert!(!same_words("weekly notes", "weekly") && !same_words("a b", "b a"));
    }

    #[test]
    fn cosine_needs_two_real_vectors_of_one_length() {
        assert_eq!(cosine(&[1.0, 0.0], &[2.0, 0.0]), Some(1.0));
        assert_eq!(cosine(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(cosine(&[0.0], &[1.0]), None);
    }
}
