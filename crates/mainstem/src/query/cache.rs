//! Vectors of queries that were asked before.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;

/// How many vectors are kept.
const ROOM: usize = 512;

type ByModelAndText = IndexMap<(String, String), Arc<[f32]>>;

/// The vectors of the latest queries, by model and text. The one that was not asked for longest makes room.
#[derive(Debug, Default)]
pub(super) struct VectorCache {
    /// Oldest first. Moving an entry to the end costs a pass over `ROOM` entries, which is nothing beside an embedding.
    vectors: Mutex<ByModelAndText>,
}

impl VectorCache {
    /// The vector of a text, if it is known.
    pub(super) fn get(&self, model: &str, text: &str) -> Option<Arc<[f32]>> {
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let (key, vector) = vectors.shift_remove_entry(&(model.to_owned(), text.to_owned()))?;
        vectors.insert(key, Arc::clone(&vector));
        Some(vector)
    }

    /// Remembers the vector of a text.
    pub(super) fn put(&self, model: &str, text: &str, vector: Arc<[f32]>) {
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        vectors.insert((model.to_owned(), text.to_owned()), vector);
        if vectors.len() > ROOM {
            vectors.shift_remove_index(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_not_asked_for_longest_makes_room() {
        let cache = VectorCache::default();
        for number in 0..ROOM {
            cache.put("m", &number.to_string(), Arc::new([number as f32]));
        }
        assert!(cache.get("m", "0").is_some() && cache.get("other", "0").is_none());
        cache.put("m", "new", Arc::new([0.5]));
        assert!(cache.get("m", "0").is_some(), "asked for just now");
        assert!(cache.get("m", "1").is_none(), "the oldest");
    }
}
