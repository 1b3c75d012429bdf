//! The cells of the ledger: what each list gave each item.

use super::{Field, Tally, Term};
use crate::candidates::{RankedList, Slot};
use crate::fuse::fused::Cell;

/// What each list gave each item, grouped by item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    /// The cells of slot `s` are `cells[offsets[s]..offsets[s + 1]]`, in list order.
    offsets: Vec<u32>,
    cells: Vec<Cell>,
}

impl Cells {
    pub(crate) fn of(&self, slot: Slot) -> &[Cell] {
        let slot = slot as usize;
        &self.cells[self.offsets[slot] as usize..self.offsets[slot + 1] as usize]
    }

    /// Groups the terms of each list (in list order) by slot.
    ///
    /// An item has a cell for each list that holds it, and for each that gives something to what it does not hold.
    pub(crate) fn group(field: &Field<'_>, tallies: &[Tally], terms: &[(Vec<Term>, Term)]) -> Self {
        let generous = terms.iter().filter(|(_, absent)| absent.amount != 0.0).count();
        match generous {
            0 => Self::sparse(field, tallies, terms),
            all if all == terms.len() => Self::full(field, tallies, terms),
            _ => Self::full(field, tallies, terms).without_nothings(),
        }
    }

    /// A cell for each list that holds the item.
    fn sparse(field: &Field<'_>, tallies: &[Tally], terms: &[(Vec<Term>, Term)]) -> Self {
        // While cells are placed, the next one of slot `s` goes to `offsets[s + 1]`, which so moves on to its end.
        let mut offsets = Vec::with_capacity(tallies.len() + 1);
        offsets.push(0);
        let mut end = 0;
        for tally in tallies {
            offsets.push(end);
            end += tally.lists;
        }
        let mut cells = vec![Cell::EMPTY; end as usize];
        for (&(index, list), (terms, _)) in field.lists().iter().zip(terms) {
            let next = &mut offsets[1..];
            for (slot, cell) in held(index, list, terms) {
                let at = &mut next[slot as usize];
                cells[*at as usize] = cell;
                *at += 1;
            }
        }
        Self { offsets, cells }
    }

    /// A cell for every list, whether it holds the item or not.
    fn full(field: &Field<'_>, tallies: &[Tally], terms: &[(Vec<Term>, Term)]) -> Self {
        let absent = |(&(list, _), (_, absent)): (&(u32, _), &(_, Term))| Cell {
            list,
            rank: 0,
            value: absent.value,
            amount: absent.amount,
        };
        let row: Vec<Cell> = field.lists().iter().zip(terms).map(absent).collect();
        let (mut offsets, mut cells) = (vec![0], Vec::with_capacity(field.candidates() * row.len()));
        for tally in tallies {
            if tally.lists > 0 {
                cells.extend_from_slice(&row);
            }
            offsets.push(cells.len() as u32);
        }
        for (at, (&(index, list), (terms, _))) in field.lists().iter().zip(terms).enumerate() {
            held(index, list, terms)
                .for_each(|(slot, cell)| cells[offsets[slot as usize] as usize + at] = cell);
        }
        Self { offsets, cells }
    }

    /// The same without the cells of lists that neither hold the item nor give it anything.
    fn without_nothings(self) -> Self {
        let (mut offsets, mut cells) = (vec![0], Vec::with_capacity(self.cells.len()));
        for slot in 1..self.offsets.len() {
            let something =
                self.of(slot as Slot - 1).iter().filter(|cell| cell.rank > 0 || cell.amount != 0.0);
            cells.extend(something);
            offsets.push(cells.len() as u32);
        }
        Self { offsets, cells }
    }
}

/// The cells of the items that a list holds, with their slots.
fn held(list: u32, ranked: &RankedList, terms: &[Term]) -> impl Iterator<Item = (Slot, Cell)> {
    let places = (1..).zip(ranked.slots()).zip(terms);
    places
        .map(move |((rank, &slot), term)| (slot, Cell { list, rank, value: term.value, amount: term.amount }))
}
