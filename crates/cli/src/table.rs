//! Aligned columns for people.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::output;

const HEAD: Style = Style::new().underline();
const BEST: Style = Style::new().bold();

/// One cell; `best` puts a star behind it, so that the mark is there without colour too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    best: bool,
}

impl Cell {
    /// A cell with this text.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: output::line(&text.into()).into_owned(), best: false }
    }

    /// The same cell, marked as the best of its column.
    pub(crate) fn best(mut self, best: bool) -> Self {
        self.best = best;
        self
    }
}

/// A table of names and numbers.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Which columns hold names and are aligned to the left; numbers are aligned to the right.
    names: Vec<bool>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with this head, of which the first columns hold names.
    pub(crate) fn new<'a>(names: usize, head: impl IntoIterator<Item = &'a str>) -> Self {
        let head: Vec<_> = head.into_iter().map(Cell::new).collect();
        Self { names: (0..head.len()).map(|column| column < names).collect(), rows: vec![head] }
    }

    /// Adds a column of names to the head.
    pub(crate) fn add_name(&mut self, name: &str) {
        self.names.push(true);
        if let Some(head) = self.rows.first_mut() {
            head.push(Cell::new(name));
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The table as lines of text.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let layout: Vec<_> = (0..columns).map(|column| self.layout(column)).collect();
        let mut out = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let cells: Vec<_> =
                row.iter().zip(&layout).map(|(cell, layout)| layout.cell(cell, index == 0)).collect();
            out.push_str(cells.join("  ").trim_end());
            out.push('\n');
        }
        out
    }

    fn layout(&self, column: usize) -> Layout {
        let cells = || self.rows.iter().filter_map(|row| row.get(column));
        Layout {
            width: cells().map(|cell| cell.text.width()).max().unwrap_or(0),
            stars: cells().any(|cell| cell.best),
            name: self.names.get(column).copied().unwrap_or(false),
        }
    }
}

/// How the cells of one column are set.
struct Layout {
    width: usize,
    stars: bool,
    name: bool,
}

impl Layout {
    /// The cell, filled up to the width. Where a column has stars, each cell ends with a star or a space, so that the
    /// digits stay aligned.
    fn cell(&self, cell: &Cell, head: bool) -> String {
        let blank = " ".repeat(self.width - cell.text.width());
        let style = if head { HEAD } else { BEST };
        let text =
            if head || cell.best { format!("{style}{}{style:#}", cell.text) } else { cell.text.clone() };
        let tail = match (self.stars, cell.best) {
            (true, true) => "*",
            (true, false) => " ",
            (false, _) => "",
        };
        if self.name { format!("{text}{blank}{tail}") } else { format!("{blank}{text}{tail}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_best_is_starred() {
        let mut table = Table::new(1, ["run", "MRR"]);
        table.push(vec![Cell::new("wörter.run"), Cell::new("0.5").best(true)]);
        table.push(vec![Cell::new("a"), Cell::new("0.25")]);
        let plain = anstream::adapter::strip_str(&table.render()).to_string();
        assert_eq!(plain, "run          MRR\nwörter.run   0.5*\na           0.25\n");
    }
}
