//! Which reranker a search asks, as written under `[rerank]` in `mainstem.toml`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mainstem_core::contract::Reranker;
use mainstem_core::diagnostic::Code;
use mainstem_core::rerank::RerankSpec;
use serde::{Deserialize, Serialize};

use super::{CrossEncoder, HttpReranker, MaxSim, Reranking, maxsim};
use crate::Error;
use crate::models::Cache;

/// How many seconds a reranker may take, unless told otherwise.
pub const TIMEOUT: f64 = 1.0;

/// The settings under `[rerank]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerankConfig {
    /// Who reranks: `maxsim`, the name of a reranker behind HTTP, or a folder with a cross-encoder.
    pub model: String,
    /// How many of the best hits it reads; 20 for `maxsim`, else 30, when left out.
    #[serde(default)]
    pub top: Option<usize>,
    /// How many characters of `title text` it reads of each; 1000 when left out.
    #[serde(default)]
    pub chars: Option<usize>,
    /// Its weight against the fused score, from 0 to 1; 0.5 for `maxsim`, else 0.7, when left out.
    #[serde(default)]
    pub blend: Option<f64>,
    /// Whether its score replaces the fused one.
    #[serde(default)]
    pub replace: bool,
    /// How many seconds it may take; 1 when left out.
    #[serde(default)]
    pub timeout: Option<f64>,
}

impl RerankConfig {
    /// This reranker, with the rest as it is when left out.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), top: None, chars: None, blend: None, replace: false, timeout: None }
    }

    /// What the stage does with the scores.
    ///
    /// # Errors
    /// When a number is out of range, or `blend` and `replace` are both given.
    pub fn spec(&self) -> Result<RerankSpec, mainstem_core::Error> {
        let seconds = self.timeout.unwrap_or(TIMEOUT);
        if !(0.001..=86400.0).contains(&seconds) {
            return Err(mainstem_core::Error::range(
                "`rerank.timeout`",
                "seconds from 0.001 to 86400",
                seconds,
            ));
        }
        if let Some(blend) = self.blend.filter(|_| self.replace) {
            return Err(mainstem_core::Error::range("`rerank.blend`", "nothing beside `replace`", blend));
        }
        let base = RerankSpec::default();
        let base = if self.model == maxsim::NAME { RerankSpec { top: 20, blend: 0.5, ..base } } else { base };
        let spec = RerankSpec {
            top: self.top.unwrap_or(base.top),
            chars: self.chars.unwrap_or(base.chars),
            blend: self.blend.unwrap_or(base.blend),
            replace: self.replace,
        };
        spec.check()?;
        Ok(spec)
    }

    /// The reranker, ready to be asked.
    ///
    /// # Errors
    /// When there is none of this name, its files are missing or damaged, or its key is not in the environment.
    pub fn open(&self) -> Result<Reranking, Error> {
        let seconds = self.timeout.unwrap_or(TIMEOUT);
        Ok(Reranking::new(named(&self.model)?, Duration::from_secs_f64(seconds)))
    }
}

/// The reranker of this name: `maxsim`, one behind HTTP that was added, or a folder with a cross-encoder.
///
/// # Errors
/// As [`RerankConfig::open`].
pub fn named(name: &str) -> Result<Arc<dyn Reranker>, Error> {
    if name == maxsim::NAME {
        return Ok(Arc::new(MaxSim::standard()?));
    }
    let services = Cache::standard()?.rerankers()?;
    if let Some(settings) = services.iter().find(|service| service.model == name) {
        return Ok(Arc::new(HttpReranker::new(settings)?));
    }
    if Path::new(name).is_dir() {
        return Ok(Arc::new(CrossEncoder::load(Path::new(name))?));
    }
    let known = std::iter::once(maxsim::NAME).chain(services.iter().map(|service| service.model.as_str()));
    Err(Error::Input {
        message: format!(
            "expected `maxsim`, a reranker that was added, or a folder with a cross-encoder, received `{name}`"
        ),
        code: Code::Unknown,
        hint: match mainstem_core::nearest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "known are: {}; `mainstem model add NAME --rerank` adds one",
                known.collect::<Vec<_>>().join(", ")
            ),
        },
        place: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_depends_on_who_reranks() {
        let spec = RerankConfig::new("maxsim").spec().unwrap();
        assert_eq!((spec.top, spec.blend, spec.chars), (20, 0.5, 1000));
        let spec = RerankConfig { chars: Some(50), ..RerankConfig::new("other") }.spec().unwrap();
        assert_eq!((spec.top, spec.blend, spec.chars), (30, 0.7, 50));
    }

    #[test]
    fn settings_have_ranges() {
        let base = RerankConfig::new("maxsim");
        for config in [
            RerankConfig { top: Some(0), ..base.clone() },
            RerankConfig { timeout: Some(0.0), ..base.clone() },
            RerankConfig { timeout: Some(f64::NAN), ..base.clone() },
            RerankConfig { blend: Some(1.5), ..base.clone() },
            RerankConfig { blend: Some(0.5), replace: true, ..base },
        ] {
            assert!(config.spec().is_err(), "{config:?}");
        }
    }
}
