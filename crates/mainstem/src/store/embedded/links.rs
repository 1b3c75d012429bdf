//! Links in the embedded store: tables of the truth, since nothing else could make them anew.

use mainstem_core::link::{Edge, EdgeStore, Edges, Link, LinkQuery, LinkRun, Recorded, Undone};
use mainstem_core::time::Moment;
use mainstem_core::{Code, Failure};

use super::truth::links;
use super::{EmbeddedStore, boxed, check};
use crate::Error;

impl Edges for EmbeddedStore {
    fn runs(&self) -> Result<Vec<LinkRun>, Failure> {
        self.read(links::runs).map_err(boxed)
    }

    fn links(&self, query: &LinkQuery<'_>) -> Result<Vec<Link>, Failure> {
        self.read(|conn| links::links(conn, query)).map_err(boxed)
    }
}

impl EdgeStore for EmbeddedStore {
    fn record(&self, run: &LinkRun, edges: &[Edge]) -> Result<Recorded, Failure> {
        scores(edges).map_err(boxed)?;
        let mut writer = self.writer().map_err(boxed)?;
        let recorded = writer.transact(|tx| {
            let known = links::has_run(tx, &run.id)?;
            if known { Ok(None) } else { links::record(tx, run, edges).map(Some) }
        });
        writer.checkpoint();
        recorded.and_then(|recorded| recorded.ok_or_else(|| taken(&run.id))).map_err(boxed)
    }

    fn undo(&self, run: &str, now: &Moment) -> Result<Option<Undone>, Failure> {
        let mut writer = self.writer().map_err(boxed)?;
        let undone = writer.transact(|tx| links::undo(tx, run, now));
        writer.checkpoint();
        undone.map_err(boxed)
    }
}

fn scores(edges: &[Edge]) -> Result<(), Error> {
    match edges.iter().find(|edge| !(0.0..=1.0).contains(&edge.score)) {
        None => Ok(()),
        Some(Edge { a, b, score, .. }) => {
            let message = format!("the link of `{a}` and `{b}` has the score {score}, expected 0 to 1");
            Err(check::refusal(message, Code::Value, "bring the scores of the judge into that range"))
        }
    }
}

fn taken(name: &str) -> Error {
    let message = format!("there is, or was, a run named `{name}`, expected a new name");
    check::refusal(message, Code::Duplicate, "look again: every look gets a name of its own")
}
