//! A memory of token vectors, bounded in bytes: texts that come first once often do so again.

use std::mem::size_of;
use std::sync::{Arc, Mutex, PoisonError};

use half::f16;
use rustc_hash::FxHashMap;

/// Stands for a text; two texts do not share one.
type Key = [u8; 32];
/// The vectors of a text's tokens.
pub(super) type States = Arc<[f16]>;

/// What an entry takes beside its vectors.
const ENTRY: usize = 128;

/// Two generations: when the young one is full it becomes the old one, and the old one is forgotten. What is asked for again moves to the
/// young one. Both together never hold more than `bytes`.
pub(super) struct Memory {
    bytes: usize,
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: FxHashMap<Key, States>,
    old: FxHashMap<Key, States>,
    /// What the young one takes.
    taken: usize,
}

impl Memory {
    /// Keeps at most this many bytes; 0 keeps nothing.
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes, generations: Mutex::default() }
    }

    /// What stands for a text.
    pub(super) fn key(text: &str) -> Key {
        *blake3::hash(text.as_bytes()).as_bytes()
    }

    /// The vectors of a text, if they are known.
    pub(super) fn get(&self, key: &Key) -> Option<States> {
        let mut all = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.young.get(key) {
            return Some(Arc::clone(found));
        }
        let found = all.old.remove(key)?;
        all.put(*key, Arc::clone(&found), self.bytes / 2);
        Some(found)
    }

    /// Remembers the vectors of a text.
    pub(super) fn put(&self, key: Key, states: States) {
        let mut all = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        all.put(key, states, self.bytes / 2);
    }
}

impl Generations {
    fn put(&mut self, key: Key, states: States, half: usize) {
        let size = states.len() * size_of::<f16>() + ENTRY;
        if size > half {
            return;
        }
        if self.taken + size > half {
            self.old = std::mem::take(&mut self.young);
            self.taken = 0;
        }
        if self.young.insert(key, states).is_none() {
            self.taken += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(count: usize) -> States {
        vec![f16::ONE; count].into()
    }

    #[test]
    fn what_is_asked_for_stays_and_the_bound_holds() {
        let size = 100 * size_of::<f16>() + ENTRY;
        let memory = Memory::new(4 * size);
        for n in 0..100_u32 {
            memory.put(Memory::key(&n.to_string()), states(100));
            assert!(memory.get(&Memory::key("0")).is_some(), "{n}");
            let all = memory.generations.lock().unwrap();
            assert!((all.young.len() + all.old.len()) * size <= 4 * size);
        }
        assert!(memory.get(&Memory::key("50")).is_none());
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        for bytes in [0, 1000] {
            let memory = Memory::new(bytes);
            memory.put(Memory::key("a"), states(1000));
            assert!(memory.get(&Memory::key("a")).is_none());
        }
    }
}
