//! How alike two items are: the cosine of their vectors, or the Jaccard overlap of their words.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::item::Item;

/// The set of an item's words: lower-cased, split at white space, as sorted hashes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Words(Vec<u64>);

impl Words {
    pub(crate) fn of(text: &str) -> Self {
        let mut words: Vec<u64> = text.split_whitespace().map(hash_lower).collect();
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// `|A ∩ B| / |A ∪ B|`; 0 when either is empty, since nothing is known then.
    pub(crate) fn jaccard(&self, other: &Self) -> f64 {
        if self.0.is_empty() || other.0.is_empty() {
            return 0.0;
        }
        let shared = shared(&self.0, &other.0);
        shared as f64 / (self.len() + other.len() - shared) as f64
    }
}

fn hash_lower(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    if word.is_ascii() {
        word.bytes().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
    } else {
        hasher.write(word.to_lowercase().as_bytes());
    }
    hasher.finish()
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
    pub(crate) words: Words,
    pub(crate) vector: Option<&'a [f32]>,
}

impl<'a> Profile<'a> {
    pub(crate) fn of(item: &'a Item) -> Self {
        Self { words: Words::of(item.text.as_deref().unwrap_or_default()), vector: item.vector.as_deref() }
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
        assert_eq!(Words::of("STRASSE Éclair"), Words::of("strasse éclair"));
    }

    #[test]
    fn cosine_needs_two_real_vectors_of_one_length() {
        assert_eq!(cosine(&[1.0, 0.0], &[2.0, 0.0]), Some(1.0));
        assert_eq!(cosine(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(cosine(&[0.0], &[1.0]), None);
    }
}
