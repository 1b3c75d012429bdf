//! A memory of recent texts, so that one that comes again costs nothing: services are paid by the text.
//!
//! It is not kept on disk: a store keeps the vectors of its documents itself, and does not embed an unchanged one again.

use std::sync::{Mutex, PoisonError};

use indexmap::IndexSet;
use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Embedded, Embedder, ModelCard};
use rustc_hash::FxHashMap;

type Known = FxHashMap<Box<str>, Embedded>;

/// An embedder that remembers. It belongs to one model, so the text alone is the key.
pub struct Cached<E> {
    inner: E,
    capacity: usize,
    memory: Mutex<Memory>,
}

/// Two generations: when the young one is full it becomes the old one, and the old one is forgotten. What is asked for again
/// moves to the young one, so a text lives as long as it is among the last `capacity / 2`, and at most `capacity` are kept.
#[derive(Default)]
struct Memory {
    young: Known,
    old: Known,
}

impl Memory {
    fn get(&mut self, text: &str, half: usize) -> Option<Embedded> {
        if let Some(found) = self.young.get(text) {
            return Some(found.clone());
        }
        let (text, found) = self.old.remove_entry(text)?;
        self.put(text, found.clone(), half);
        Some(found)
    }

    fn put(&mut self, text: Box<str>, embedded: Embedded, half: usize) {
        if self.young.len() >= half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(text, embedded);
    }
}

impl<E: Embedder> Cached<E> {
    /// Remembers at most `capacity` texts, at least two.
    pub fn new(inner: E, capacity: usize) -> Self {
        Self { inner, capacity: capacity.max(2), memory: Mutex::default() }
    }

    fn memory<R>(&self, ask: impl FnOnce(&mut Memory, usize) -> R) -> R {
        // Whoever died with the lock left whole entries behind.
        ask(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner), self.capacity / 2)
    }
}

impl<E: Embedder> Embedder for Cached<E> {
    fn card(&self) -> &ModelCard {
        self.inner.card()
    }

    fn embed(&self, texts: &[&str], ctx: &Ctx) -> Result<Vec<Embedded>, Failure> {
        let known: Vec<_> =
            self.memory(|memory, half| texts.iter().map(|text| memory.get(text, half)).collect());
        let unknown = texts.iter().zip(&known).filter(|(_, known)| known.is_none());
        let new: IndexSet<&str> = unknown.map(|(text, _)| *text).collect();
        let asked: Vec<&str> = new.iter().copied().collect();
        let answer = if asked.is_empty() { Vec::new() } else { self.inner.embed(&asked, ctx)? };
        self.memory(|memory, half| {
            for (text, embedded) in asked.iter().zip(&answer) {
                memory.put(Box::from(*text), embedded.clone(), half);
            }
        });
        let answered = |text: &str| answer.get(new.get_index_of(text)?).cloned();
        let known = known.into_iter().zip(texts);
        Ok(known.filter_map(|(known, text)| known.or_else(|| answered(text))).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mainstem_core::time::Moment;

    use super::*;

    /// Embeds a text as its length, and counts what it is asked for.
    struct Counting {
        card: ModelCard,
        asked: AtomicUsize,
    }

    impl Embedder for Counting {
        fn card(&self) -> &ModelCard {
            &self.card
        }

        fn embed(&self, texts: &[&str], _: &Ctx) -> Result<Vec<Embedded>, Failure> {
            self.asked.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(texts.iter().map(|text| Embedded { vector: vec![text.len() as f32], cut: false }).collect())
        }
    }

    fn ask(cached: &Cached<Counting>, texts: &[&str]) -> usize {
        let before = cached.inner.asked.load(Ordering::Relaxed);
        let answer = cached.embed(texts, &Ctx::unhurried(Moment::now())).unwrap();
        let lengths: Vec<_> = answer.iter().map(|one| one.vector[0] as usize).collect();
        assert_eq!(lengths, texts.iter().map(|text| text.len()).collect::<Vec<_>>());
        cached.inner.asked.load(Ordering::Relaxed) - before
    }

    #[test]
    fn only_new_texts_are_asked_for_and_the_order_stays() {
        let card = ModelCard { name: "length".into(), dim: 1, max_tokens: 1 };
        let cached = Cached::new(Counting { card, asked: AtomicUsize::new(0) }, 4);
        assert_eq!(ask(&cached, &["a", "bb"]), 2);
        assert_eq!(ask(&cached, &["ccc", "a", "bb"]), 1);
        assert_eq!(ask(&cached, &["a", "bb"]), 0);
        assert_eq!(ask(&cached, &["dddd", "eeeee", "ffffff", "ggggggg"]), 4);
        assert_eq!(ask(&cached, &["a"]), 1);
    }
}
