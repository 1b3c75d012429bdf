//! Which texts are alike enough to matter.

use mainstem_core::Item;
use rustc_hash::FxHashMap;

/// Each item's words as numbers.
struct Numbered {
    /// Rarest first, each once.
    words: Vec<Vec<u32>>,
    /// As they stand: texts of the same words in another order are alike, but not the same.
    texts: Vec<Vec<u32>>,
}

impl Numbered {
    fn of(items: &[Item]) -> Self {
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        let mut frequency: Vec<u32> = Vec::new();
        let mut words: Vec<Vec<u32>> = Vec::with_capacity(items.len());
        let mut texts: Vec<Vec<u32>> = Vec::with_capacity(items.len());
        for item in items {
            let mut own: Vec<u32> = Vec::new();
            for word in item.text.as_deref().unwrap_or_default().split_whitespace() {
                let count = numbers.len() as u32;
                own.push(*numbers.entry(word.to_lowercase()).or_insert(count));
            }
            texts.push(own.clone());
            own.sort_unstable();
            own.dedup();
            frequency.resize(numbers.len(), 0);
            for word in &own {
                frequency[*word as usize] += 1;
            }
            words.push(own);
        }
        // Renumbered by rarity, so that a sorted list of words is also a list from rare to common.
        let mut by_rarity: Vec<u32> = (0..frequency.len() as u32).collect();
        by_rarity.sort_by_key(|word| (frequency[*word as usize], *word));
        let mut place = vec![0; by_rarity.len()];
        (0..).zip(&by_rarity).for_each(|(at, word)| place[*word as usize] = at);
        for own in &mut words {
            for word in own.iter_mut() {
                *word = place[*word as usize];
            }
            own.sort_unstable();
        }
        Self { words, texts }
    }

    fn text(&self, at: usize) -> Option<String> {
        let words: Vec<String> = self.texts[at].iter().map(|word| short(*word)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// A number as a short word of small letters.
fn short(mut number: u32) -> String {
    let mut word = String::new();
    loop {
        word.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
        if number == 0 {
            return word;
        }
    }
}

/// All texts in short words: every overlap is as it was.
pub(super) fn recoded(items: &[Item]) -> Vec<Option<String>> {
    let numbered = Numbered::of(items);
    (0..items.len()).map(|at| numbered.text(at)).collect()
}

/// The texts that overlap some other at least so much, in short words.
///
/// Two such texts share one of the `n − ⌈least·n⌉ + 1` rarest words of each (Chaudhuri, Ganti and Kaushik, *A primitive operator for
/// similarity joins in data cleaning*, ICDE 2006), so that few pairs are looked at.
pub(super) fn only(items: &[Item], least: f64) -> Vec<Option<String>> {
    let numbered = Numbered::of(items);
    let mut alike = vec![false; items.len()];
    let mut holders: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (at, own) in numbered.words.iter().enumerate() {
        // The margin keeps rounding from shortening the prefix; a longer one is only slower.
        let needed = (least * own.len() as f64 - 1e-9).ceil() as usize;
        for word in own.iter().take((own.len() + 1).saturating_sub(needed)) {
            let others = holders.entry(*word).or_default();
            for &other in others.iter() {
                let matters =
                    (!alike[at] || !alike[other]) && overlap(own, &numbered.words[other]) >= least - 1e-9;
                alike[at] |= matters;
                alike[other] |= matters;
            }
            others.push(at);
        }
    }
    (0..items.len()).map(|at| numbered.text(at).filter(|_| alike[at])).collect()
}

fn overlap(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0_usize);
    while i < a.len() && j < b.len() {
        shared += usize::from(a[i] == b[j]);
        (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(b[j] <= a[i]));
    }
    shared as f64 / (a.len() + b.len() - shared).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<Item> {
        texts.iter().map(|text| Item { text: Some((*text).to_owned()), ..Item::default() }).collect()
    }

    #[test]
    fn only_texts_with_a_likeness_remain() {
        let items = texts(&["One two three four", "one two three FOUR five", "six seven", "", "six eight"]);
        let kept: Vec<_> = only(&items, 0.7).into_iter().map(|text| text.is_some()).collect();
        assert_eq!(kept, [true, true, false, false, false]);
        let kept: Vec<_> = only(&items, 0.3).into_iter().map(|text| text.is_some()).collect();
        assert_eq!(kept, [true, true, true, false, true]);
    }

    #[test]
    fn short_words_are_different_words() {
        let all: std::collections::BTreeSet<_> = (0..2000).map(short).collect();
        assert_eq!(all.len(), 2000);
    }
}
