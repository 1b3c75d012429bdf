//! The stages that change the list: collapse, rerank, recency, diversify.

use std::borrow::Cow;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxHashMap, FxHashSet};

use super::rows::{self, Row};
use super::run::Running;
use crate::answer::{Dropped, Why};
use crate::candidates::{RankedList, Slot};
use crate::dedup::{self, DedupSpec, Visited};
use crate::diversify;
use crate::error::Error;
use crate::fuse::Fused;
use crate::ledger::{Absorbed, Freshness, Reranking, Sameness, Scope, Step, Unit};
use crate::recency::{self, RecencyTable};
use crate::rerank::{self, Verdict};
use crate::similarity::Profile;

/// What each collapsed item became part of, and why, best item first.
type Fates = IndexMap<Slot, (Slot, Sameness)>;

impl Running<'_> {
    /// Collapses the duplicates of each source. Copies count once in each list, at their first place.
    pub(super) fn collapse_within(&mut self) -> Result<(), Error> {
        let Some((threshold, spec)) = self.threshold(|spec| spec.within) else {
            return Ok(());
        };
        let before = distinct(self.candidates.lists());
        let sources: IndexSet<String> =
            self.candidates.lists().iter().map(|list| list.leg().source.clone()).collect();
        let mut lists = self.candidates.lists().to_vec();
        for source in &sources {
            let fates = self.fates_within(source, threshold, &spec)?;
            for list in lists.iter_mut().filter(|list| list.leg().source == *source) {
                *list = list.relabel(|slot| fates.get(&slot).map_or(slot, |(survivor, _)| *survivor));
            }
            self.note_within(source, fates);
        }
        self.candidates.to_mut().set_lists(lists);
        self.status.ran("collapse_within", before, distinct(self.candidates.lists()));
        Ok(())
    }

    fn threshold(&self, of: impl Fn(&DedupSpec) -> Option<f64>) -> Option<(f64, DedupSpec)> {
        let spec = self.pipeline.spec.dedup.as_ref()?;
        Some((of(spec)?, spec.clone()))
    }

    /// What the items of one source are collapsed into, best first as that source's own lists rank them.
    fn fates_within(&self, source: &str, threshold: f64, spec: &DedupSpec) -> Result<Fates, Error> {
        // A clone shares the ids, and is not needed where nothing is left out.
        let mut own = Cow::Borrowed(self.candidates.as_ref());
        if own.lists().iter().any(|list| list.leg().source != source) {
            own.to_mut().reweigh(|leg| if leg.source == source { leg.weight } else { 0.0 });
        }
        let order: Vec<Slot> = self.pipeline.fusion.fuse(&own)?.hits().iter().map(|hit| hit.slot).collect();
        let kind = self.lists_of(source).next().map_or(source, |list| list.leg().kind());
        let visited: Vec<_> = order.iter().map(|&slot| self.visited(slot, kind)).collect();
        let fates = dedup::collapse(&visited, threshold, spec);
        let fates = order.iter().zip(fates).filter_map(|(&slot, fate)| {
            let (survivor, sameness) = fate?;
            Some((slot, (order[survivor], sameness)))
        });
        Ok(fates.collect())
    }

    fn visited<'a>(&'a self, slot: Slot, kind: &'a str) -> Visited<'a> {
        let item = &self.items[slot as usize];
        Visited { item, kind, words: self.words.of(slot, item), copy: false }
    }

    fn note_within(&mut self, source: &str, fates: Fates) {
        let mut absorbed: IndexMap<Slot, Vec<Absorbed>> = IndexMap::new();
        for (slot, (survivor, sameness)) in fates {
            let id = self.candidates.id(slot).clone();
            let label = self.label(slot);
            let own = self.label(survivor);
            let alternates = self.alternates.entry(survivor).or_default();
            if label != own && !alternates.contains(&label) {
                alternates.push(label);
            }
            self.dropped.push(Dropped {
                id: id.clone(),
                why: Why::Collapsed { into: self.candidates.id(survivor).clone(), scope: Scope::Within },
            });
            absorbed.entry(survivor).or_default().push(Absorbed { id, source: source.to_owned(), sameness });
        }
        for (survivor, absorbed) in absorbed {
            self.before.entry(survivor).or_default().push(Step::Collapse { scope: Scope::Within, absorbed });
        }
    }

    /// Collapses the duplicates across all sources into the best of them.
    pub(super) fn collapse_across(&mut self, fused: &Fused) {
        let Some((threshold, spec)) = self.threshold(|spec| spec.across) else {
            return;
        };
        if self.is_settled(threshold, &spec) {
            self.status.ran("collapse_across", self.rows.len(), self.rows.len());
            return;
        }
        let copies = self.originals_first(fused);
        let fates = {
            let kind = |row: &Row| self.primary_kind(fused, row.slot);
            let kinds: Vec<_> = self.rows.iter().map(kind).collect();
            let visited = self.rows.iter().zip(&kinds);
            let visited = visited.map(|(row, kind)| Visited {
                copy: copies.contains(&row.slot),
                ..self.visited(row.slot, kind)
            });
            dedup::collapse(&visited.collect::<Vec<_>>(), threshold, &spec)
        };
        let before = self.rows.len();
        let rows = std::mem::take(&mut self.rows);
        let mut kept: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
        let mut absorbed: Vec<Vec<Absorbed>> = vec![Vec::new(); kept.len()];
        for (index, fate) in fates.into_iter().enumerate() {
            let Some((survivor, sameness)) = fate else {
                continue;
            };
            let Some(row) = kept[index].take() else { continue };
            absorbed[survivor].push(self.absorb(kept[survivor].as_mut(), row, sameness, fused));
        }
        for (row, absorbed) in kept.iter_mut().zip(absorbed).filter(|(_, absorbed)| !absorbed.is_empty()) {
            let step = Step::Collapse { scope: Scope::Across, absorbed };
            if let Some(row) = row {
                row.steps.push(step);
            }
        }
        self.rows = kept.into_iter().flatten().collect();
        rows::sort(&mut self.rows, &self.candidates);
        self.status.ran("collapse_across", before, self.rows.len());
    }

    /// Puts what only copies of sources hold behind all others, and says what that is: the original survives with its own score, so that no copy of a
    /// source can change the order of its hits.
    fn originals_first(&mut self, fused: &Fused) -> FxHashSet<Slot> {
        if !self.source_lists().iter().any(|list| list.leg().copy) {
            return FxHashSet::default();
        }
        let is_copy = |row: &&Row| self.holders(fused, row.slot).iter().all(|leg| leg.copy);
        let copies: FxHashSet<Slot> = self.rows.iter().filter(is_copy).map(|row| row.slot).collect();
        // The sort is stable.
        self.rows.sort_by_key(|row| copies.contains(&row.slot));
        copies
    }

    /// Whether nothing can be left to collapse: all items are of one source and one kind, which were set against each other before
    /// fusion by the same keys, the same measure and no higher a threshold.
    fn is_settled(&self, across: f64, spec: &DedupSpec) -> bool {
        let mut legs = self.source_lists().iter().map(|list| (&list.leg().source, list.leg().kind()));
        let first = legs.next();
        spec.within.is_some_and(|within| within <= across) && legs.all(|leg| Some(leg) == first)
    }

    fn absorb(
        &mut self,
        survivor: Option<&mut Row>,
        row: Row,
        sameness: Sameness,
        fused: &Fused,
    ) -> Absorbed {
        let id = self.candidates.id(row.slot).clone();
        if let Some(survivor) = survivor {
            survivor.absorbed.push(row.slot);
            let own = self.label(survivor.slot);
            let labels = std::iter::once(self.label(row.slot)).chain(row.alternates);
            labels.filter(|label| *label != own).for_each(|label| survivor.add_alternate(label));
            let into = self.candidates.id(survivor.slot).clone();
            self.dropped.push(Dropped { id: id.clone(), why: Why::Collapsed { into, scope: Scope::Across } });
        }
        let source = self.sources(fused, row.slot).into_iter().next().unwrap_or_default();
        Absorbed { id, source, sameness }
    }

    fn primary_kind(&self, fused: &Fused, slot: Slot) -> String {
        self.holders(fused, slot).first().map_or_else(String::new, |leg| leg.kind().to_owned())
    }

    /// Merges the reranker's scores, or keeps everything as it is when they are of no use.
    pub(super) fn rerank(&mut self) {
        let (spec, verdict) = match (self.pipeline.spec.rerank, self.verdict) {
            (Some(spec), Some(verdict)) => (spec, verdict),
            (Some(_), None) if self.rows.is_empty() => return,
            (Some(_), None) => {
                self.status.failed("rerank", self.rows.len(), "there are no scores of a reranker".into());
                return;
            }
            (None, Some(_)) => {
                self.status.notes.push("a reranker gave scores, but the pipeline has no `rerank`".into());
                return;
            }
            (None, None) => return,
        };
        let asked: FxHashMap<&str, usize> =
            self.rows.iter().take(spec.top).enumerate().map(|(at, row)| (self.id(row), at)).collect();
        if let Some(reason) = rerank::nonsense(verdict, |id| asked.contains_key(id)) {
            self.status.failed("rerank", self.rows.len(), reason);
            return;
        }
        let Verdict::Scores(scores) = verdict else { return };
        let unit = rerank::unit_of(scores);
        let fused = Unit::for_scores(self.unit, self.rows.iter().map(|row| row.score));
        let rows = std::mem::take(&mut self.rows);
        let (mut judged, mut below): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| scores.contains_key(self.id(row)));
        for row in &mut judged {
            let reranking = spec.reranking(scores[self.candidates.id(row.slot)], unit);
            row.apply(Step::Rerank { fused, reranking, score: 0.0 });
        }
        rows::sort(&mut judged, &self.candidates);
        let floor = judged.last().map_or(0.0, |row| row.score);
        for row in &mut below {
            row.apply(Step::Rerank { fused, reranking: Reranking::Below { floor }, score: 0.0 });
        }
        judged.append(&mut below);
        self.rows = judged;
        self.unit = true;
        self.status.ran("rerank", self.rows.len(), self.rows.len());
    }

    fn id(&self, row: &Row) -> &str {
        self.candidates.id(row.slot)
    }

    /// Weighs freshness, by the rule of each hit's first source.
    pub(super) fn recency(&mut self, fused: &Fused) -> Result<(), Error> {
        let specs = &self.pipeline.spec.recency;
        let legs = self.source_lists().iter().map(RankedList::leg);
        let table = RecencyTable::new(specs, legs.map(|leg| (leg.source.as_str(), leg.kind())))?;
        if !table.is_active() || self.aged {
            return Ok(());
        }
        let now = self.now.ok_or_else(|| Error::Missing {
            what: "the clock (`now`)".into(),
            why: "recency needs it".into(),
            hint: "give `now`, such as `2026-01-31T00:00:00Z`".into(),
        })?;
        self.status.now = Some(now.to_string());
        let named = specs.keys().filter(|source| *source != "*");
        let unknown = named.filter(|source| self.lists_of(source).next().is_none());
        let notes: Vec<_> =
            unknown.map(|source| format!("recency is set for `{source}`, which has no list")).collect();
        self.status.notes.extend(notes);
        let as_is = self.unit || !table.decays();
        let relevance = Unit::for_scores(as_is, self.rows.iter().map(|row| row.score));
        let mut rows = std::mem::take(&mut self.rows);
        for row in &mut rows {
            let age = recency::age(self.items[row.slot as usize].created_at.as_ref(), Some(now));
            let source = self.sources(fused, row.slot).into_iter().next().unwrap_or_default();
            let freshness = table.of(&source).map_or(Freshness::Untouched, |rule| rule.at(age));
            if age.is_some_and(|age| age < 0.0) && freshness != Freshness::Untouched {
                self.status.notes.push(format!("`{}` is dated in the future", self.id(row)));
            }
            row.apply(Step::Recency { relevance, freshness, score: 0.0 });
        }
        rows::sort(&mut rows, &self.candidates);
        self.unit = table.decays() && !table.has_window();
        self.status.ran("recency", rows.len(), rows.len());
        self.rows = rows;
        Ok(())
    }

    /// Sets hits against those already chosen.
    pub(super) fn diversify(&mut self) {
        let spec = &self.pipeline.spec;
        let Some(settings) = spec.diversify else { return };
        let before = self.rows.len();
        // A least score is looked at after the choice and need not cut its tail: a later pick can have the greater value. A guarantee
        // may need a hit from behind the page.
        let page = spec.limit.filter(|_| spec.min_score.is_none() && spec.guarantee.is_empty());
        let wanted = page.map_or(before, |limit| spec.offset.saturating_add(limit)).min(before);
        let relevance = Unit::for_scores(self.unit, self.rows.iter().map(|row| row.score));
        let picks = {
            let slots = self.rows.iter().map(|row| (row.slot, &self.items[row.slot as usize]));
            let profiles: Vec<_> =
                slots.map(|(slot, item)| Profile::new(item, self.words.of(slot, item))).collect();
            let units: Vec<_> = self.rows.iter().map(|row| relevance.of(row.score)).collect();
            diversify::choose(&units, &profiles, settings.lambda, wanted)
        };
        let ids: Vec<String> = self.rows.iter().map(|row| self.id(row).to_owned()).collect();
        let mut open: Vec<Option<Row>> = std::mem::take(&mut self.rows).into_iter().map(Some).collect();
        for pick in picks {
            let Some(mut row) = open[pick.index].take() else {
                continue;
            };
            let nearest =
                pick.nearest.filter(|(_, similarity)| *similarity > 0.0).map(|(at, _)| ids[at].clone());
            let (lambda, similarity) = (settings.lambda, pick.similarity());
            row.apply(Step::Diversify { relevance, lambda, similarity, nearest, score: 0.0 });
            self.rows.push(row);
        }
        let passed: Vec<Row> = open.into_iter().flatten().collect();
        self.drop_rows(passed, |row| Why::NotChosen { score: row.score });
        self.status.ran("diversify", before, self.rows.len());
    }
}

/// How many different items the lists hold.
fn distinct(lists: &[RankedList]) -> usize {
    lists.iter().flat_map(RankedList::slots).collect::<FxHashSet<_>>().len()
}
