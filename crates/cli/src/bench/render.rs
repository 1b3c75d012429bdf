//! What was measured, for people.

use crate::table::{Cell, Table};

use super::{Ingested, Parts, Report};

impl Report {
    pub(super) fn render(&self) -> String {
        let Parts { plan, retrieve, rank, present } = self.parts_ms;
        [
            format!(
                "{} in {}, {}; {}, one after another\n",
                counted(self.chunks, "chunk"),
                counted(self.sources as u64, "source"),
                counted(self.vectors, "vector"),
                counted(self.questions as u64, "question"),
            ),
            self.ingest.map(filled).unwrap_or_default(),
            format!("opened in {:.1} ms\n\n", self.open_ms),
            self.table(),
            format!(
                "\nof a search: plan {plan:.2}, retrieve {retrieve:.2}, rank {rank:.2}, present {present:.2} ms\n"
            ),
            self.against_limit(),
        ]
        .concat()
    }

    fn table(&self) -> String {
        let mut table = Table::new(1, ["", "p50", "p95", "p99"]);
        for times in &self.searches {
            let cell = |time: f64| Cell::new(format!("{time:.2} ms"));
            table.push(vec![
                Cell::new(times.what),
                cell(times.p50_ms),
                cell(times.p95_ms),
                cell(times.p99_ms),
            ]);
        }
        table.render()
    }

    fn against_limit(&self) -> String {
        let Some(search) = self.searches.first() else { return String::new() };
        let (limit, share) = (self.soft_limit_ms, 100.0 * search.p99_ms / self.soft_limit_ms);
        format!("p99 is {share:.1} % of the soft limit, {limit:.0} ms\n")
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn filled(Ingested { seconds, chunks_per_second }: Ingested) -> String {
    format!("filled in {seconds:.1} s, {chunks_per_second:.0} chunks a second\n")
}
