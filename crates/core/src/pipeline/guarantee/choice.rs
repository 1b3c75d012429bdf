//! Which hits are the first ones: those that a floor needs, then the best that no ceiling forbids.

/// The bounds of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) source: String,
    /// Whether the source has a guarantee of its own, which goes before those of `*`.
    pub(super) named: bool,
    pub(super) min: usize,
    pub(super) max: Option<usize>,
}

impl Limits {
    pub(super) fn floor(&self) -> String {
        format!("`min = {}` of {}", self.min, self.source)
    }

    pub(super) fn ceiling(&self) -> String {
        format!("`max = {}` of {}", self.max.unwrap_or(usize::MAX), self.source)
    }
}

/// A hit that took the place of another among the first, and the sources whose floor or ceiling made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) lifted: usize,
    pub(super) displaced: usize,
    pub(super) min: Option<usize>,
    pub(super) max: Option<usize>,
}

/// The first hits, chosen from rows in their order.
pub(super) struct Choice<'a> {
    limits: &'a [Limits],
    /// The sources that each row counts for, its first source first.
    rows: &'a [Vec<usize>],
    pub(super) top: usize,
    /// How many are still to be chosen.
    room: usize,
    chosen: Vec<bool>,
    /// The source whose floor needs a row.
    needed_by: Vec<Option<usize>>,
    /// How many rows are chosen that count for a source.
    held: Vec<usize>,
    /// How many of these have it as their first source.
    shown: Vec<usize>,
}

impl<'a> Choice<'a> {
    pub(super) fn new(limits: &'a [Limits], rows: &'a [Vec<usize>], top: usize) -> Self {
        let mut choice = Self {
            limits,
            rows,
            top,
            room: top.min(rows.len()),
            chosen: vec![false; rows.len()],
            needed_by: vec![None; rows.len()],
            held: vec![0; limits.len()],
            shown: vec![0; limits.len()],
        };
        choice.reserve(true);
        choice.reserve(false);
        choice.fill(Self::fits);
        // Where nothing else was found, a ceiling gives way.
        choice.fill(|_, _| true);
        choice
    }

    /// Takes the best rows that the floors need.
    fn reserve(&mut self, named: bool) {
        for at in 0..self.rows.len() {
            let lacks = |&source: &usize| {
                let limits = &self.limits[source];
                limits.named == named && self.held[source] < limits.min
            };
            let needed_by = self.rows[at].iter().copied().find(lacks);
            if needed_by.is_some() && self.is_open(at) && self.fits(at) {
                self.take(at);
                self.needed_by[at] = needed_by;
            }
        }
    }

    fn fill(&mut self, may: impl Fn(&Self, usize) -> bool) {
        for at in 0..self.rows.len() {
            if self.is_open(at) && may(self, at) {
                self.take(at);
            }
        }
    }

    fn is_open(&self, at: usize) -> bool {
        self.room > 0 && !self.chosen[at]
    }

    /// Whether the ceiling of the row's first source has room for one more.
    fn fits(&self, at: usize) -> bool {
        !self.rows[at].first().is_some_and(|&source| self.is_full(source))
    }

    fn is_full(&self, source: usize) -> bool {
        self.limits[source].max.is_some_and(|max| self.shown[source] >= max)
    }

    fn take(&mut self, at: usize) {
        self.room -= 1;
        self.chosen[at] = true;
        self.rows[at].iter().for_each(|&source| self.held[source] += 1);
        self.rows[at].first().into_iter().for_each(|&source| self.shown[source] += 1);
    }

    /// How many rows there are that count for a source.
    pub(super) fn found(&self, source: usize) -> usize {
        self.rows.iter().filter(|sources| sources.contains(&source)).count()
    }

    /// How many of the first count for a source.
    pub(super) fn held(&self, source: usize) -> usize {
        self.held[source]
    }

    /// How many of the first have it as their first source.
    pub(super) fn shown(&self, source: usize) -> usize {
        self.shown[source]
    }

    /// The chosen rows in their order, then the others in theirs.
    pub(super) fn order(&self) -> Vec<usize> {
        let (chosen, others): (Vec<_>, Vec<_>) = (0..self.rows.len()).partition(|&at| self.chosen[at]);
        [chosen, others].concat()
    }

    /// The rows that came in from behind, each with one that went out, both in order.
    pub(super) fn moves(&self) -> Vec<Move> {
        let border = self.top.min(self.rows.len());
        let displaced = (0..border).filter(|&at| !self.chosen[at]);
        let lifted = (border..self.rows.len()).filter(|&at| self.chosen[at]);
        let exchange = |(displaced, lifted): (usize, usize)| {
            let max = self.rows[displaced].first().copied().filter(|&source| self.is_full(source));
            Move { lifted, displaced, min: self.needed_by[lifted], max }
        };
        displaced.zip(lifted).map(exchange).collect()
    }
}
