//! One pass over the matrix: the shortlist of every source.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mainstem_core::ChunkId;
use mainstem_kernels::Kernels;

use super::Allowed;
use super::best::Best;
use super::code::Probe;
use super::columns::{FACTOR, ROW};
use super::slots::Slots;
use super::snapshot::{Snapshot, id_of, source_of, weight_of};

/// Rows scored together.
const BLOCK: usize = 256;
/// Scores held against the bar together.
const STRIP: usize = 32;
/// Rows that a thread takes at a time.
const TURN: usize = 16 * BLOCK;

/// What to look at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pass<'a> {
    /// The codes of all rows.
    Codes,
    /// The signs of all rows, with their factors.
    Signs(&'a [u8], &'a [[u8; FACTOR]]),
    /// The signs of these chunks only, or their codes where there are no signs: a search that needs not look at the codes keeps them out
    /// of memory.
    Gather(&'a [ChunkId]),
}

/// A search for the shortlists.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    /// Where.
    pub(super) snapshot: &'a Snapshot,
    /// For what.
    pub(super) probe: &'a Probe,
    /// In which sources.
    pub(super) slots: &'a Slots,
    /// Among which chunks; all when left out.
    pub(super) allowed: Option<&'a Allowed>,
    /// How many rows of each source.
    pub(super) keep: usize,
    /// By which codes.
    pub(super) pass: Pass<'a>,
}

impl Scan<'_> {
    /// The shortlist of each slot. It does not depend on the number of threads, whose turns are in ascending order each.
    pub(super) fn run(&self, rows_per_thread: usize) -> Vec<Best> {
        let items = match self.pass {
            Pass::Gather(chunks) => chunks.len(),
            _ => self.snapshot.rows(),
        };
        let cores = cores();
        let threads = (items / rows_per_thread.max(1)).clamp(1, cores);
        let turn = AtomicUsize::new(0);
        let work = || Worker::new(self).work(items, &turn);
        thread::scope(|scope| {
            let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut bests = work();
            for helper in helpers {
                let others = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                bests.iter_mut().zip(&others).for_each(|(best, other)| best.merge(other));
            }
            bests
        })
    }

    fn passes(&self, row: usize) -> bool {
        !self.snapshot.is_dead(row as u32)
            && self.allowed.is_none_or(|allowed| allowed.contains(ChunkId(self.snapshot.id(row as u32))))
    }
}

/// How many threads run at once. Asking takes the system tens of microseconds.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// One thread of a scan.
struct Worker<'a> {
    scan: &'a Scan<'a>,
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
    fn new(scan: &'a Scan<'a>) -> Self {
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

    fn work(mut self, items: usize, turn: &AtomicUsize) -> Vec<Best> {
        loop {
            let start = turn.fetch_add(TURN, Ordering::Relaxed);
            if start >= items {
                return self.bests;
            }
            let end = items.min(start + TURN);
            match self.scan.pass {
                Pass::Gather(chunks) => self.gather(&chunks[start..end]),
                Pass::Signs(_, factors) => self.blocks(factors, start..end),
                Pass::Codes => self.blocks(self.heads, start..end),
            }
        }
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
        self.weigh(records);
        for start in (0..rows.len()).step_by(STRIP) {
            let end = rows.len().min(start + STRIP);
            let bar = self.bests[place as usize].bar();
            // Counted, not searched: that is free of branches.
            if self.scores[start..end].iter().filter(|score| **score > bar).count() > 0 {
                (start..end).for_each(|i| self.offer(place, self.scores[i], rows.start + i));
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
        self.weigh(records);
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
    fn weigh<const N: usize>(&mut self, records: &[[u8; N]]) {
        for ((score, product), record) in self.scores.iter_mut().zip(&self.products).zip(records) {
            *score = *product as f32 * weight_of(record);
        }
    }

    /// The products of all rows of a block.
    fn multiply(&mut self, rows: &Range<usize>) {
        let products = &mut self.products[..rows.len()];
        let query = &self.scan.probe.codes;
        if let Pass::Signs(bits, _) = self.scan.pass {
            let width = query.len().div_ceil(8);
            self.kernels.sign_dots(query, &bits[rows.start * width..rows.end * width], products);
            for product in products {
                *product = 2 * *product - self.scan.probe.sum;
            }
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
                let weight =
                    self.signs.map_or_else(|| weight_of(head), |(_, factors)| weight_of(&factors[row]));
                self.offer(place, self.products[0] as f32 * weight, row);
            }
        }
    }

    /// The product of one row, by its signs where there are any.
    fn multiply_one(&mut self, row: usize, at: usize) {
        let query = &self.scan.probe.codes;
        let product = &mut self.products[at..=at];
        if let Some((bits, _)) = self.signs {
            let width = query.len().div_ceil(8);
            self.kernels.sign_dots(query, &bits[row * width..][..width], product);
            product[0] = 2 * product[0] - self.scan.probe.sum;
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
