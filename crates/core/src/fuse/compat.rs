//! # Fusion as other systems do it
//!
//! A team that moves here from another engine wants to see only the changes it meant to make. Each preset reproduces the
//! fusion of one system with its own constants; the table below is what each gives for two lists, BM25
//! `a 12.5, b 11.0, c 9.2` and dense `b .95, c .88, d .70`.
//!
//! | name | formula | result |
//! |---|---|---|
//! | `cormack`, `elasticsearch`, `opensearch`, `ranx`, `rankops`, `lancedb-python`, `azure` | `Σ w/(60 + rank)`, from 1 | b .032522, c .032002, a .016393, d .015873 |
//! | `llamaindex`, `lancedb`, `rankops-0.2` | `Σ w/(60 + rank)`, from 0 | b .033060, c .032522, a .016667, d .016129 |
//! | `vespa` | `Σ 1/(60 + rank)`, absent items rank behind the last | b .032522, a .032018, c .032002, d .031498 |
//! | `qdrant` | `Σ 1/(2 + rank)`, from 0; weights divide the rank | b .8333, c .5833, a .5, d .25 |
//! | `onyx` | `Σ w/(50 + rank)`, from 1 | b .038839, c .038099, a .019608, d .018868 |
//! | `langchain` | mean of `1/(60 + rank)`, from 1 | b .016261, c .016001, a .008197, d .007937 |
//! | `haystack` | `61/(61 + rank)`, from 0, mean | b .991935, c .976062, a .5, d .484127 |
//! | `weaviate-ranked` | `Σ w/(60 + rank)`, from 0, vector .75 | b .016598, c .016327, d .012097, a .004167 |
//! | `weaviate` | `Σ w · minmax`, vector .75 | b .886364, c .54, a .25, d 0 |
//! | `typesense` | `Σ w/rank`, from 1, vector .3 | a .70, b .65, c .3833, d .10 |
//! | `txtai` | mean of `1/rank`, from 1 | b .75, a .50, c .4167, d .1667 |
//! | `opensearch-minmax` | mean of min-max, at least .001 | b .772727, a .5, c .3605, d .0005 |
//! | `elasticsearch-linear` | `Σ w · minmax` | b 1.545455, a 1, c .72, d 0 |
//! | `qdrant-dbsf` | `Σ (s − (μ − 3σ))/6σ`, sample σ | b 1.147931, c .875903, a .661394, d .314772 |
//! | `haystack-dbsf` | greatest `(s − (μ − 3σ))/6σ`, population σ | a .697666, b .668824, c .558033, d .273143 |
//!
//! Ties are broken by our own order: most of these systems leave them to chance. Vespa ranks several absent items one after
//! another, here they share the rank behind the last.

use super::linear::Missing;
use super::normalise::{Deviation, Norm};
use super::rrf::Weighting;
use super::spec::{Combining, FuseSpec, Method};
use crate::candidates::Candidates;
use crate::error::Error;

/// The fusion of another system.
#[derive(Clone, Debug, PartialEq)]
pub struct Compat {
    /// The names it goes by.
    pub names: &'static [&'static str],
    /// Other spellings that are understood.
    pub aliases: &'static [&'static str],
    /// The settings.
    pub spec: FuseSpec,
    /// For systems with one vector leg and one keyword leg: the weight of the vector leg; the other gets the rest.
    pub vector_weight: Option<f64>,
}

impl Compat {
    /// All presets, in the order of the table.
    pub fn all() -> Vec<Self> {
        let rrf = |k, rank_base| FuseSpec { k: Some(k), rank_base: Some(rank_base), ..FuseSpec::default() };
        let linear = || FuseSpec { normalise: Some(Norm::Minmax), ..FuseSpec::new(Method::Linear) };
        let mean = |spec| FuseSpec { combine: Some(Combining::Mean), ..spec };
        let sum = |spec| FuseSpec { combine: Some(Combining::Sum), ..spec };
        let preset = |names, spec, vector_weight| Self { names, aliases: &[], spec, vector_weight };
        let also = |preset, aliases| Self { aliases, ..preset };
        vec![
            also(
                preset(
                    &["cormack", "elasticsearch", "opensearch", "ranx", "rankops", "lancedb-python", "azure"],
                    rrf(60.0, 1),
                    None,
                ),
                &["rrf", "elasticsearch-rrf", "opensearch-rrf", "azure-ai-search"],
            ),
            also(
                preset(&["llamaindex", "lancedb", "rankops-0.2"], rrf(60.0, 0), None),
                &["llama-index", "lancedb-rust"],
            ),
            preset(&["vespa"], FuseSpec { missing: Some(Missing::Last), ..rrf(60.0, 1) }, None),
            also(
                preset(&["qdrant"], FuseSpec { weighting: Some(Weighting::Rank), ..rrf(2.0, 0) }, None),
                &["qdrant-rrf"],
            ),
            preset(&["onyx"], rrf(50.0, 1), None),
            preset(&["langchain"], mean(rrf(60.0, 1)), None),
            also(
                preset(&["haystack"], FuseSpec { combine: Some(Combining::Unit), ..rrf(61.0, 0) }, None),
                &["haystack-rrf"],
            ),
            preset(&["weaviate-ranked"], rrf(60.0, 0), Some(0.75)),
            also(preset(&["weaviate"], sum(linear()), Some(0.75)), &["weaviate-relative"]),
            preset(&["typesense"], rrf(0.0, 1), Some(0.3)),
            also(preset(&["txtai"], mean(rrf(0.0, 1)), None), &["txtai-rrf"]),
            also(
                preset(&["opensearch-minmax"], FuseSpec { floor: Some(0.001), ..mean(linear()) }, None),
                &["opensearch-min-max", "opensearch-min-max-mean"],
            ),
            also(
                preset(&["elasticsearch-linear"], sum(linear()), None),
                &["elasticsearch-minmax", "elasticsearch-min-max"],
            ),
            preset(&["qdrant-dbsf"], FuseSpec::new(Method::Dbsf), None),
            preset(&["haystack-dbsf"], haystack_dbsf(), None),
        ]
    }

    /// The preset of this name, in any case, with `_` or spaces for `-`.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(name: &str) -> Result<Self, Error> {
        let spelled = name.to_lowercase().replace(['_', ' '], "-");
        let spelled = spelled.as_str();
        let all = Self::all();
        let known: Vec<_> = all.iter().flat_map(|preset| preset.names).copied().collect();
        all.into_iter()
            .find(|preset| preset.names.contains(&spelled) || preset.aliases.contains(&spelled))
            .ok_or_else(|| Error::unknown("system", name, known))
    }

    /// Gives the legs the weights that the system would give them.
    ///
    /// The vector leg is the one whose channel says so (`dense`, `vector`, `semantic`, `embedding`, `knn`); where none or both
    /// do, it is the last.
    ///
    /// # Errors
    /// When the system knows one vector and one keyword leg only, and there are not two lists.
    pub fn weigh<I>(&self, candidates: &mut Candidates<I>) -> Result<(), Error> {
        let Some(weight) = self.vector_weight else {
            return Ok(());
        };
        let lists = candidates.lists();
        if lists.len() != 2 {
            let setting = format!("the number of lists for `{}`", self.names[0]);
            return Err(Error::range(setting, "2 (one keyword leg, one vector leg)", lists.len()));
        }
        let first_only = is_vector(lists[0].leg().channel()) && !is_vector(lists[1].leg().channel());
        let vector = lists[usize::from(!first_only)].leg().name.clone();
        candidates.reweigh(|leg| if leg.name == vector { weight } else { 1.0 - weight });
        Ok(())
    }
}

fn haystack_dbsf() -> FuseSpec {
    FuseSpec {
        combine: Some(Combining::Max),
        deviation: Some(Deviation::Population),
        equal: Some(0.0),
        ..FuseSpec::new(Method::Dbsf)
    }
}

fn is_vector(channel: &str) -> bool {
    let channel = channel.to_lowercase();
    ["dense", "vector", "semantic", "embed", "knn"].iter().any(|word| channel.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::tests::{assert_ranking, two_lists};

    /// The table in the module's documentation, read back, so that it cannot say what the code does not do.
    fn documented() -> Vec<(String, Vec<(&'static str, f64)>)> {
        let rows = include_str!("compat.rs").lines().filter_map(|line| line.strip_prefix("//! | `"));
        rows.map(|row| {
            let cells: Vec<_> = row.split('|').collect();
            let names = cells[0].replace(['`', ' '], "");
            let result = cells.last().filter(|last| !last.trim().is_empty()).copied().unwrap_or(cells[2]);
            let hits = result.split(',').map(|hit| {
                let (id, score) = hit.trim().split_once(' ').unwrap();
                let id = ["a", "b", "c", "d"].into_iter().find(|known| *known == id).unwrap();
                (id, score.parse().unwrap())
            });
            (names, hits.collect())
        })
        .collect()
    }

    #[test]
    fn every_preset_gives_the_documented_result() {
        let documented = documented();
        assert_eq!(documented.len(), Compat::all().len());
        for (names, expected) in documented {
            for name in names.split(',') {
                let compat = Compat::find(name).unwrap();
                let mut candidates = two_lists();
                compat.weigh(&mut candidates).unwrap();
                let got = crate::fuse::tests::ranking(&compat.spec.check().unwrap(), &candidates);
                for (got, expected) in got.iter().zip(&expected) {
                    assert_eq!(got.0, expected.0, "{name}: {got:?}");
                    assert!((got.1 - expected.1).abs() < 6e-5, "{name}: got {got:?}, expected {expected:?}");
                }
            }
        }
    }

    #[test]
    fn goldens_to_six_digits() {
        let golden = |name: &str, expected: &[(&str, f64)]| {
            let compat = Compat::find(name).unwrap();
            let mut candidates = two_lists();
            compat.weigh(&mut candidates).unwrap();
            assert_ranking(&compat.spec.check().unwrap(), &candidates, expected);
        };
        golden("haystack", &[("b", 0.991935), ("c", 0.976062), ("a", 0.5), ("d", 0.484127)]);
        golden("weaviate-relative", &[("b", 0.886364), ("c", 0.54), ("a", 0.25), ("d", 0.0)]);
        golden("weaviate-ranked", &[("b", 0.016598), ("c", 0.016327), ("d", 0.012097), ("a", 0.004167)]);
        golden("opensearch-minmax", &[("b", 0.772727), ("a", 0.5), ("c", 0.3605), ("d", 0.0005)]);
        golden("haystack-dbsf", &[("a", 0.697666), ("b", 0.668824), ("c", 0.558033), ("d", 0.273143)]);
    }

    #[test]
    fn two_leg_systems_need_two_lists() {
        let mut candidates = two_lists();
        candidates.scored(crate::Leg::new("third"), [("a", 1.0)]).unwrap();
        assert!(Compat::find("weaviate").unwrap().weigh(&mut candidates).is_err());
    }
}
