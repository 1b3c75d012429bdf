//! A look ahead: which candidates a run is going to look at, told by the legs' scores alone.
//!
//! Reading what is known about a candidate (text, vector, date) costs a store more than finding it. Most candidates are never shown, and
//! the order that decides this is known before anything is read: no stage between fusion and the page lifts a candidate over those
//! that were before it, except those that look at items. Where the pipeline has none of these, the tail need not be read.

use std::borrow::Cow;

use super::{Pipeline, PipelineSpec, merge};
use crate::candidates::{Candidates, Id};
use crate::error::Error;
use crate::fuse::{Fused, Method, Norm};

impl PipelineSpec {
    /// How many of the best candidates the stages look at, once copies are collapsed; nothing where they look at all.
    pub fn looks_at(&self) -> Option<usize> {
        let looks_at_all = self.aggregate.is_some()
            || self.learned.is_some()
            || self.rerank.is_some()
            || self.diversify.is_some()
            || !self.recency.is_empty()
            || !self.guarantee.is_empty();
        let page = self.offset.saturating_add(self.limit?);
        let near = self.neighbours.filter(|spec| spec.weight > 0.0).map_or(0, |spec| spec.top);
        (!looks_at_all).then_some(page.max(near))
    }

    /// Whether what a list gives to an item depends on that item's score there and on nothing else: then a copy that is not known to be one
    /// changes nothing about the others.
    pub fn is_pointwise(&self) -> bool {
        let norm = self.fuse.normalise.unwrap_or_default();
        self.fuse.method == Method::Linear && matches!(norm, Norm::Calibrated | Norm::None)
    }
}

impl Pipeline {
    /// What the lists are fused to before copies are collapsed: the order in which candidates are worth a look.
    ///
    /// # Errors
    /// When a list lacks what the fusion needs.
    pub fn preview<I: Id>(&self, query: &str, candidates: &Candidates<I>) -> Result<Fused, Error> {
        let mut candidates = Cow::Borrowed(candidates);
        if !self.spec.route.is_empty() {
            let weights = self.router.route(query).weights;
            candidates.to_mut().reweigh(|leg| leg.weight * weights.get(&leg.source).copied().unwrap_or(1.0));
        }
        if !self.spec.across.is_rank() {
            let merged = merge::merged(candidates.lists(), self.spec.across, |_| ());
            candidates.to_mut().set_lists(merged);
        }
        self.fusion.fuse(&candidates)
    }
}

#[cfg(test)]
mod tests {
    use crate::Replay;

    fn replay(stages: &str) -> Replay {
        let json = format!(
            r#"{{"query":"q","now":"2026-01-31","pipeline":{{"across":"score","fuse":{{"method":"linear"}}{stages}}},"lists":[
            {{"name":"a/dense","source":"a","items":[{{"id":"x","score":0.9}},{{"id":"y","score":0.5}}]}},
            {{"name":"b/dense","source":"b","items":[{{"id":"z","score":0.7}},{{"id":"x","score":0.2}}]}},
            {{"name":"b/lexical","source":"b","items":[{{"id":"z","score":7}},{{"id":"y","score":9}}]}}]}}"#
        );
        Replay::from_json(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_preview_is_the_order_of_a_run_without_further_stages() {
        for route in ["", r#","route":[{"name":"r","patterns":["q"],"weights":{"b":3}}]"#] {
            let replay = replay(route);
            let pipeline = replay.pipeline.check().unwrap();
            let candidates = &replay.search.candidates;
            let fused = pipeline.preview("q", candidates).unwrap();
            let seen: Vec<_> = fused.hits().iter().map(|hit| (candidates.id(hit.slot), hit.score)).collect();
            let answer = replay.run().unwrap();
            assert_eq!(seen, answer.hits.iter().map(|hit| (&hit.id, hit.score)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn stages_that_may_lift_anything_look_at_all() {
        let looks_at = |stages: &str| replay(stages).pipeline.looks_at();
        assert_eq!(looks_at(""), None, "without a limit, all are shown");
        assert_eq!(looks_at(r#","limit":10,"offset":20"#), Some(30));
        assert_eq!(looks_at(r#","limit":10,"neighbours":{}"#), Some(50));
        assert_eq!(looks_at(r#","limit":60,"neighbours":{}"#), Some(60));
        assert_eq!(
            looks_at(r#","limit":10,"neighbours":{"weight":0},"dedup":{"across":0.9},"prior":{}"#),
            Some(10)
        );
        for all in [
            r#""aggregate":"max""#,
            r#""rerank":{}"#,
            r#""diversify":{}"#,
            r#""recency":{"*":{}}"#,
            r#""guarantee":{"a":{"min":1}}"#,
        ] {
            assert_eq!(looks_at(&format!(r#","limit":10,{all}"#)), None, "{all}");
        }
    }
}
