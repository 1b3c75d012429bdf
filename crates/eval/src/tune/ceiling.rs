//! How good the answer could be with these candidates: tells whether to mend retrieval or ranking.
//!
//! ```text
//! ranking gets       the measure under the present settings
//! candidates allow   the measure if the same candidates stood in the best order
//! the rest to 1      is lost before ranking begins: no settings can bring it back
//! ```

use std::collections::BTreeMap;

use mainstem_core::{Search, Slot};
use serde::Serialize;

use super::prepare::Prepared;
use crate::Measure;

/// What some lists allow, and what they give by themselves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The list, source or channel.
    pub name: String,
    /// The mean if its candidates stood in the best order.
    pub allows: f64,
    /// The mean in the order of its own list; only where it is a single list.
    pub gets: Option<f64>,
    /// How many candidates it gives, on average.
    pub candidates: f64,
}

/// How good the answer could be.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ceiling {
    /// The mean if all candidates stood in the best order.
    pub allows: f64,
    /// The same for the sources alone.
    pub sources: Vec<Part>,
    /// The same for the channels alone.
    pub channels: Vec<Part>,
    /// The same for the lists alone.
    pub lists: Vec<Part>,
}

/// Sums over the queries.
#[derive(Default)]
struct Sum {
    allows: f64,
    gets: f64,
    candidates: f64,
}

impl Ceiling {
    /// Looks at all candidates of all queries.
    pub(super) fn of(queries: &[Prepared], measure: &Measure) -> Self {
        let mut lists: BTreeMap<String, Sum> = BTreeMap::new();
        let mut sources: BTreeMap<String, Sum> = BTreeMap::new();
        let mut channels: BTreeMap<String, Sum> = BTreeMap::new();
        let mut allows = 0.0;
        for query in queries {
            let view = View { query, measure };
            allows += view.ideal(&(0..query.search.candidates.len() as Slot).collect::<Vec<_>>());
            view.group(&mut lists, |leg| leg.0);
            view.group(&mut sources, |leg| leg.1);
            view.group(&mut channels, |leg| leg.2);
        }
        let count = queries.len().max(1) as f64;
        let single = |sums: &BTreeMap<String, Sum>, own: bool| parts(sums, count, own);
        Self {
            allows: allows / count,
            sources: single(&sources, false),
            channels: single(&channels, false),
            lists: single(&lists, true),
        }
    }
}

fn parts(sums: &BTreeMap<String, Sum>, count: f64, own: bool) -> Vec<Part> {
    let part = |(name, sum): (&String, &Sum)| Part {
        name: name.clone(),
        allows: sum.allows / count,
        gets: own.then_some(sum.gets / count),
        candidates: sum.candidates / count,
    };
    sums.iter().map(part).collect()
}

/// One query as the judges see it.
struct View<'a> {
    query: &'a Prepared,
    measure: &'a Measure,
}

impl View<'_> {
    fn group<'q>(
        &'q self,
        sums: &mut BTreeMap<String, Sum>,
        name: impl Fn((&'q str, &'q str, &'q str)) -> &'q str,
    ) {
        let mut groups: BTreeMap<&str, Vec<Slot>> = BTreeMap::new();
        let search: &Search = &self.query.search;
        for (leg, list) in self.query.legs.iter().zip(search.candidates.lists()) {
            let slots = groups.entry(name((&leg.name, &leg.source, &leg.channel))).or_default();
            let fresh: Vec<Slot> =
                list.slots().iter().filter(|slot| !slots.contains(slot)).copied().collect();
            slots.extend(fresh);
        }
        for (name, slots) in groups {
            let sum = sums.entry(name.to_owned()).or_default();
            sum.allows += self.ideal(&slots);
            sum.gets += self.value(&self.grades(&slots));
            sum.candidates += slots.len() as f64;
        }
    }

    /// The grades of the documents behind some items, each once.
    fn grades(&self, slots: &[Slot]) -> Vec<Option<i64>> {
        let mut seen = rustc_hash::FxHashSet::default();
        let known =
            slots.iter().filter_map(|&slot| self.query.known.get(self.query.search.candidates.id(slot)));
        known.filter(|known| seen.insert(known.document)).map(|known| known.grade).collect()
    }

    fn ideal(&self, slots: &[Slot]) -> f64 {
        let mut grades = self.grades(slots);
        grades.sort_by_key(|grade| std::cmp::Reverse(grade.unwrap_or(0).max(0)));
        self.value(&grades)
    }

    fn value(&self, grades: &[Option<i64>]) -> f64 {
        let list = crate::measure::Graded { grades: grades.to_vec(), ideal: self.query.graded.ideal.clone() };
        self.measure.of_grades(&list)
    }
}
