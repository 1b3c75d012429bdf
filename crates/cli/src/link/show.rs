//! Links as people read them.

use mainstem_core::link::{Edge, Evidence, Link};

use crate::table::{Cell, Table};

/// So many of something.
pub(crate) fn count(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// Why two documents are linked: what they have in common, and what the judge said.
pub(crate) fn because(score: f64, evidence: &Evidence) -> String {
    let judge = format!("{} {score:.2}", evidence.judge.as_str());
    if evidence.common.is_empty() {
        return judge;
    }
    let words: Vec<String> = evidence.common.iter().map(|word| format!("`{word}`")).collect();
    format!("both have {}; {judge}", words.join(", "))
}

/// A table of links without any.
fn empty() -> Table {
    let mut table = Table::new(0, ["score"]);
    for name in ["document", "belongs to", "because"] {
        table.add_name(name);
    }
    table
}

/// Edges as a table.
pub(super) fn edges(edges: &[Edge]) -> String {
    let mut table = empty();
    for edge in edges {
        table.push(row(edge, ""));
    }
    table.render()
}

/// Links as a table.
pub(super) fn links(links: &[Link]) -> String {
    let mut table = empty();
    for link in links {
        let stale = if link.stale { ", stale" } else { "" };
        table.push(row(&link.edge, &format!(" ({}{stale})", link.run)));
    }
    table.render()
}

fn row(edge: &Edge, more: &str) -> Vec<Cell> {
    let because = because(edge.score, &edge.evidence) + more;
    let cells = [format!("{:.2}", edge.score), edge.a.to_string(), edge.b.to_string(), because];
    cells.into_iter().map(Cell::new).collect()
}
