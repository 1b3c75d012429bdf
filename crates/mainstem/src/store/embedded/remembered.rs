//! The filters of the last searches, with what passed them.
//!
//! A search asks with the same filter once per channel, and a person asks again and again as the same reader. Looking the chunks up
//! takes longer than searching them.

use std::sync::{Arc, Mutex};

use mainstem_core::contract::Filter;

use super::allowed::Allowed;
use super::pool::lock;

/// How many filters are remembered, such as those of as many readers.
const CAPACITY: usize = 128;

/// How much memory they may take before the oldest is forgotten.
const MOST_BYTES: usize = 32 << 20;

/// What passed a filter at some moment.
struct Entry {
    sequence: u64,
    sources: Vec<u32>,
    filter: Filter,
    allowed: Place,
}

impl Entry {
    fn is(&self, (sequence, sources, filter): (u64, &[u32], &Filter)) -> bool {
        self.sequence == sequence && self.sources == sources && self.filter == *filter
    }

    /// The memory that it takes; 0 while it is being looked up.
    fn bytes(&self) -> usize {
        let known = self.allowed.try_lock().ok();
        known.and_then(|known| known.as_ref().map(|allowed| allowed.bytes())).unwrap_or_default()
    }
}

/// Where what passed is put by the first who asks. The channels of a search ask at the same time; those who are not first wait.
type Place = Arc<Mutex<Option<Arc<Allowed>>>>;

/// The last filters, the most recent one at the end.
#[derive(Default)]
pub(super) struct Remembered(Mutex<Vec<Entry>>);

impl Remembered {
    /// What passes the filter, looked up only when it is not remembered.
    pub(super) fn get<E>(
        &self,
        (sequence, sources, filter): (u64, &[u32], &Filter),
        look_up: impl FnOnce() -> Result<Allowed, E>,
    ) -> Result<Arc<Allowed>, E> {
        let place = self.place((sequence, sources, filter));
        let mut place = lock(&place);
        if let Some(allowed) = &*place {
            return Ok(Arc::clone(allowed));
        }
        let allowed = Arc::new(look_up()?);
        *place = Some(Arc::clone(&allowed));
        Ok(allowed)
    }

    /// Whether what passes the filter is remembered.
    pub(super) fn has(&self, key: (u64, &[u32], &Filter)) -> bool {
        lock(&self.0)
            .iter()
            .any(|entry| entry.is(key) && entry.allowed.try_lock().is_ok_and(|place| place.is_some()))
    }

    fn place(&self, (sequence, sources, filter): (u64, &[u32], &Filter)) -> Place {
        let mut entries = lock(&self.0);
        if let Some(entry) = entries.iter().find(|entry| entry.is((sequence, sources, filter))) {
            return Arc::clone(&entry.allowed);
        }
        entries.retain(|entry| entry.sequence >= sequence);
        // Asked once: one that is locked just now has no size.
        let sizes: Vec<usize> = entries.iter().map(Entry::bytes).collect();
        let (mut bytes, mut gone) = (sizes.iter().sum::<usize>(), 0);
        while gone < sizes.len() && (sizes.len() - gone >= CAPACITY || bytes > MOST_BYTES) {
            bytes -= sizes[gone];
            gone += 1;
        }
        entries.drain(..gone);
        let (sources, filter, place) = (sources.to_vec(), filter.clone(), Place::default());
        entries.push(Entry { sequence, sources, filter, allowed: Arc::clone(&place) });
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstem_core::ChunkId;

    #[test]
    fn looks_up_once_per_moment() {
        let remembered = Remembered::default();
        let filter = Filter { reader: Some("ann".into()), ..Filter::default() };
        let ask = |sequence, id| {
            let allowed = remembered
                .get((sequence, &[1], &filter), || Ok::<_, ()>(Allowed::new(vec![ChunkId(id)])))
                .unwrap();
            allowed.chunks()[0].0
        };
        assert!(!remembered.has((7, &[1], &filter)));
        assert_eq!([ask(7, 1), ask(7, 2), ask(8, 3), ask(8, 4)], [1, 1, 3, 3]);
        assert!(remembered.has((8, &[1], &filter)) && !remembered.has((8, &[2], &filter)));
        assert_eq!(ask(7, 5), 5, "an old moment is looked up again");
        assert_eq!(ask(8, 6), 3, "and does not push out the new one");
    }

    #[test]
    fn forgets_the_oldest() {
        let remembered = Remembered::default();
        let ask = |source: u32| {
            let key = (1, &[source][..], &Filter::default());
            let mut asked = false;
            let outcome = remembered.get(key, || {
                asked = true;
                Ok::<_, ()>(Allowed::default())
            });
            assert!(outcome.is_ok());
            asked
        };
        assert!((0..=CAPACITY as u32).all(ask));
        assert!(!ask(CAPACITY as u32));
        assert!(ask(0));
    }
}
