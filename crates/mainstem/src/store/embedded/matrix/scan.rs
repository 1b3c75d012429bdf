//! One pass over the matrix: the shortlist of every source.
//!
//! The rows of a shortlist are scored again, each from its own page of memory, which takes half as long as the pass. Threads therefore do not
//! wait for the shortlist of all of them: each scores the best of its own again, which with few exceptions are on it.

use std::iter::repeat;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use mainstem_core::ChunkId;
use mainstem_kernels::{Kernels, dot_f16, prefetch};

use super::Allowed;
use super::best::Best;
use super::code::Probe;
use super::columns::{FACTOR, ROW};
use super::slots::Slots;
use super::snapshot::{Snapshot, id_of, source_of, weight_of};
use crate::workers;

/// Rows scored together.
const BLOCK: usize = 256;
/// Scores held against the bar together.
const STRIP: usize = 64;
/// Rows that a thread takes at a time.
const TURN: usize = 16 * BLOCK;
/// How many rows ahead memory is asked for what is going to be scored again.
const AHEAD: usize = 4;

/// What to look at.
#[derive(Clone, Debug)]
pub(super) enum Pass {
    /// The codes of all rows.
    Codes,
    /// The signs of all rows, with their factors.
    Signs,
    /// The signs of these chunks only, or their codes where there are no signs: a search that needs not look at the codes keeps them out
    /// of memory.
    Gather(Arc<Allowed>),
}

/// A search for the shortlists. Nothing of it is borrowed, because threads that [wait for work](crate::workers) outlive it.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    /// Where.
    pub(super) snapshot: Arc<Snapshot>,
    /// For what.
    pub(super) probe: Arc<Probe>,
    /// In which sources.
    pub(super) slots: Arc<Slots>,
    /// Among which chunks; all when left out.
    pub(super) allowed: Option<Arc<Allowed>>,
    /// How many rows of each source.
    pub(super) keep: usize,
    /// By which codes.
    pub(super) pass: Pass,
}

impl Scan {
    /// The shortlist of each slot. It does not depend on the number of threads, whose turns are in ascending order each.
    pub(super) fn run(&self, rows_per_thread: usize) -> Vec<Shortlist> {
        let items = match &self.pass {
            Pass::Gather(chunks) => chunks.len(),
            _ => self.snapshot.rows(),
        };
        let threads = (items / rows_per_thread.max(1)).clamp(1, cores());
        let crowd = Arc::new(Crowd { items, threads, turn: AtomicUsize::new(0) });
        let helpers: Vec<_> = (1..threads).filter_map(|_| Helper::start(self, &crowd)).collect();
        let mut shortlists = Worker::new(self).work(&crowd);
        for others in helpers.into_iter().filter_map(Helper::home) {
            shortlists.iter_mut().zip(others).for_each(|(own, other)| own.merge(other));
        }
        shortlists
    }

    /// The exact scores of rows.
    pub(super) fn exact(&self, rows: impl Iterator<Item = u32> + Clone) -> Vec<(u32, f64)> {
        let ahead = rows.clone().skip(AHEAD).map(Some).chain(repeat(None));
        let score = |(row, ahead): (u32, Option<u32>)| {
            if let Some(ahead) = ahead {
                prefetch(self.snapshot.exact_of(ahead));
            }
            (row, f64::from(dot_f16(&self.probe.full, self.snapshot.exact_of(row))))
        };
        rows.zip(ahead).map(score).collect()
    }

    fn passes(&self, row: usize) -> bool {
        !self.snapshot.is_dead(row as u32)
            && self
                .allowed
                .as_ref()
                .is_none_or(|allowed| allowed.contains(ChunkId(self.snapshot.id(row as u32))))
    }
}

/// What the threads of a scan share.
struct Crowd {
    /// How many rows or chunks there are to look at.
    items: usize,
    /// How many threads there are at most.
    threads: usize,
    /// The first of the next turn.
    turn: AtomicUsize,
}

/// The best rows of a source, some of them with their exact scores.
#[derive(Debug)]
pub(super) struct Shortlist {
    pub(super) best: Best,
    pub(super) exact: Vec<(u32, f64)>,
}

impl Shortlist {
    fn merge(&mut self, other: Self) {
        self.best.merge(&other.best);
        self.exact.extend(other.exact);
    }
}

/// Another thread of a scan.
struct Helper {
    begun: Arc<AtomicBool>,
    found: Receiver<thread::Result<Vec<Shortlist>>>,
}

impl Helper {
    /// Has a thread take turns too; nothing when none can be had.
    fn start(scan: &Scan, crowd: &Arc<Crowd>) -> Option<Self> {
        let (home, found) = channel();
        let begun = Arc::new(AtomicBool::new(false));
        let (scan, crowd, mine) = (scan.clone(), Arc::clone(crowd), Arc::clone(&begun));
        let work = move || {
            if !mine.swap(true, Ordering::AcqRel) {
                let found = catch_unwind(AssertUnwindSafe(|| Worker::new(&scan).work(&crowd)));
                let _ = home.send(found);
            }
        };
        workers::start(Box::new(work)).ok().map(|()| Self { begun, found })
    }

    /// What it found. One that has not begun by now has missed its turn, and is not waited for.
    fn home(self) -> Option<Vec<Shortlist>> {
        if !self.begun.swap(true, Ordering::AcqRel) {
            return None;
        }
        match self.found.recv() {
            Ok(found) => Some(found.unwrap_or_else(|panic| resume_unwind(panic))),
            Err(gone) => panic!("a thread of a scan is gone: {gone}"),
        }
    }
}

/// How many threads run at once. Asking takes the system tens of microseconds.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// One thread of a scan.
struct Worker<'a> {
    scan: &'a Scan,
    kernels: &'static Kernels,
    heads: &'a [[u8; ROW]],
    codes: &'a [i8],
    signs: Option<(&'a [u8], &'a [[u8; FACTOR]])>,
    bests: Vec<Best>,
    /// Of a block: the place of each row's source.
    places: [u32; BLOCK],
    products: [i32; BLOCK],
    scores: [f32; BLOCK],
}

impl<'a> Worker<'a> {
    fn new(scan: &'a Scan) -> Self {
        Self {
            scan,
            kernels: Kernels::best(),
            heads: scan.snapshot.heads(),
            codes: scan.snapshot.codes(),
            signs: scan.snapshot.signs(),
            bests: vec![Best::new(scan.keep); scan.slots.sources().len()],
            places: [Slots::NONE; BLOCK],
            products: [0; BLOCK],
            scores: [0.0; BLOCK],
        }
    }

    fn work(mut self, crowd: &Crowd) -> Vec<Shortlist> {
        loop {
            let start = crowd.turn.fetch_add(TURN, Ordering::Relaxed);
            if start >= crowd.items {
                return self.shortlists(crowd.threads);
            }
            let end = crowd.items.min(start + TURN);
            match (&self.scan.pass, self.signs) {
                (Pass::Gather(chunks), _) => self.gather(&chunks.chunks()[start..end]),
                (Pass::Signs, Some((_, factors))) => self.blocks(factors, start..end),
                _ => self.blocks(self.heads, start..end),
            }
        }
    }

    /// What was found, with the exact scores of as many rows as one of so many threads has on the shortlist of all.
    fn shortlists(self, threads: usize) -> Vec<Shortlist> {
        let scan = self.scan;
        let sure = if threads > 1 { scan.keep / threads } else { 0 };
        let shortlist = |best: Best| {
            let exact = scan.exact(best.first_rows(sure).into_iter());
            Shortlist { best, exact }
        };
        self.bests.into_iter().map(shortlist).collect()
    }

    fn blocks<const N: usize>(&mut self, records: &[[u8; N]], rows: Range<usize>) {
        for start in rows.clone().step_by(BLOCK) {
            let block = start..rows.end.min(start + BLOCK);
            self.block(&records[block.clone()], &block);
        }
    }

    /// Offers the rows of one block, whose records end in source and weight.
    fn block<const N: usize>(&mut self, records: &[[u8; N]], rows: &Range<usize>) {
        let first = source_of(&records[0]);
        if records.iter().fold(0, |differ, record| differ | (source_of(record) ^ first)) == 0 {
            self.block_of_one(self.scan.slots.of(first), records, rows);
        } else {
            self.block_of_many(records, rows);
        }
    }

    /// Offers a block of one source, as most are: past the first blocks, hardly any has a score above the bar.
    fn block_of_one<const N: usize>(&mut self, place: u32, records: &[[u8; N]], rows: &Range<usize>) {
        if place == Slots::NONE {
            return;
        }
        self.multiply(rows);
        self.weigh(records, rows);
        for start in (0..rows.len()).step_by(STRIP) {
            let end = rows.len().min(start + STRIP);
            let mut above = [0];
            self.kernels.above(&self.scores[start..end], self.bests[place as usize].bar(), &mut above);
            let [mut above] = above;
            while above != 0 {
                let i = start + above.trailing_zeros() as usize;
                self.offer(place, self.scores[i], rows.start + i);
                above &= above - 1;
            }
        }
    }

    /// Offers a block of several sources.
    fn block_of_many<const N: usize>(&mut self, records: &[[u8; N]], rows: &Range<usize>) {
        let wanted = self.place(records);
        if wanted == 0 {
            return;
        }
        if wanted * 4 < rows.len() {
            self.multiply_wanted(rows);
        } else {
            self.multiply(rows);
        }
        self.weigh(records, rows);
        for (i, row) in rows.clone().enumerate() {
            let place = self.places[i];
            if place != Slots::NONE {
                self.offer(place, self.scores[i], row);
            }
        }
    }

    /// Looks up the sources of a block; returns how many rows are of a wanted one.
    fn place<const N: usize>(&mut self, records: &[[u8; N]]) -> usize {
        let mut wanted = 0;
        for (place, record) in self.places.iter_mut().zip(records) {
            *place = self.scan.slots.of(source_of(record));
            wanted += usize::from(*place != Slots::NONE);
        }
        wanted
    }

    /// The scores of a block.
    fn weigh<const N: usize>(&mut self, records: &[[u8; N]], rows: &Range<usize>) {
        if let Some((_, factors)) = self.signs {
            let (products, scores) = (&self.products[..rows.len()], &mut self.scores[..rows.len()]);
            self.kernels.weigh_signs(products, self.scan.probe.sum, &factors[rows.clone()], scores);
            return;
        }
        for ((score, product), record) in self.scores.iter_mut().zip(&self.products).zip(records) {
            *score = *product as f32 * weight_of(record);
        }
    }

    /// The products of all rows of a block; with signs, the sums that make them.
    fn multiply(&mut self, rows: &Range<usize>) {
        let products = &mut self.products[..rows.len()];
        let query = &self.scan.probe.codes;
        if let Some((bits, _)) = self.signs {
            let (signs, width) = (&self.scan.probe.signs, self.scan.probe.signs.row_len());
            self.kernels.sign_dots(signs, &bits[rows.start * width..rows.end * width], products);
        } else {
            let width = query.len();
            self.kernels.dots_i8(query, &self.codes[rows.start * width..rows.end * width], products);
        }
    }

    /// The products of the wanted rows of a block, where they are few.
    fn multiply_wanted(&mut self, rows: &Range<usize>) {
        for (i, row) in rows.clone().enumerate() {
            if self.places[i] != Slots::NONE {
                self.multiply_one(row, i);
            }
        }
    }

    /// Offers the rows of some chunks, which are in ascending order.
    fn gather(&mut self, chunks: &[ChunkId]) {
        let mut row = 0;
        for chunk in chunks {
            row = seek(self.heads, row, chunk.0);
            let Some(head) = self.heads.get(row) else { return };
            let place = self.scan.slots.of(source_of(head));
            if id_of(head) == chunk.0 && place != Slots::NONE {
                self.multiply_one(row, 0);
                let product = self.products[0];
                let (product, weight) = match self.signs {
                    Some((_, factors)) => (2 * product - self.scan.probe.sum, weight_of(&factors[row])),
                    None => (product, weight_of(head)),
                };
                self.offer(place, product as f32 * weight, row);
            }
        }
    }

    /// The product of one row; by its signs, where there are any, the sum that makes it.
    fn multiply_one(&mut self, row: usize, at: usize) {
        let query = &self.scan.probe.codes;
        let product = &mut self.products[at..=at];
        if let Some((bits, _)) = self.signs {
            let (signs, width) = (&self.scan.probe.signs, self.scan.probe.signs.row_len());
            self.kernels.sign_dots(signs, &bits[row * width..][..width], product);
        } else {
            self.kernels.dots_i8(query, &self.codes[row * query.len()..][..query.len()], product);
        }
    }

    /// Takes the row if its score is above the bar and it may be found; the second is rarely asked, and so costs nothing.
    #[inline]
    fn offer(&mut self, place: u32, score: f32, row: usize) {
        let best = &mut self.bests[place as usize];
        if score > best.bar() && self.scan.passes(row) {
            best.take(score, row as u32);
        }
    }
}

/// The first row from `from` on whose id is not below `id`.
fn seek(heads: &[[u8; ROW]], from: usize, id: u64) -> usize {
    let Some(first) = heads.get(from).map(id_of) else { return from };
    // Ids rise by at least one a row, so the row is no further than this; and there it is, if none is missing between.
    let furthest =
        usize::try_from(id.saturating_sub(first)).map_or(heads.len(), |gap| from.saturating_add(gap));
    if heads.get(furthest).is_some_and(|head| id_of(head) == id) {
        return furthest;
    }
    let mut step = 1;
    while heads.get(from + step).is_some_and(|head| id_of(head) < id) {
        step *= 2;
    }
    let (low, high) = (from + step / 2, heads.len().min(from + step));
    low + heads[low..high].partition_point(|head| id_of(head) < id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeking_finds_the_first_row_that_is_not_below() {
        let ids = [3_u64, 4, 5, 9, 10, 40, 41, 99];
        let heads = ids.map(|id| {
            let mut head = [0; ROW];
            head[..8].copy_from_slice(&id.to_le_bytes());
            head
        });
        for from in 0..=ids.len() {
            for id in 0..120 {
                let expected = from + ids[from..].partition_point(|&other| other < id);
                assert_eq!(seek(&heads, from, id), expected, "{id} from {from}");
            }
        }
    }
}
