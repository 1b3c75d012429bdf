//! The written form of a fusion: what stands under `fuse` in a configuration, before it is checked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::linear::{Linear, Missing, Total};
use super::normalise::{Deviation, Norm, Normalise};
use super::rrf::{self, Rrf, Weighting};
use super::{Comb, Dbsf, Fusion};
use crate::error::Error;

macro_rules! methods {
    ($($(#[$default:meta])? $variant:ident = $name:literal, $doc:literal;)*) => {
        /// The name of a fusion method.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "lowercase")]
        pub enum Method { $(#[doc = $doc] $(#[$default])? $variant,)* }

        impl Method {
            /// All methods.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name, as written in a configuration.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

methods! {
    #[default] Rrf = "rrf", "Reciprocal rank fusion.";
    Rsf = "rsf", "Relative score fusion.";
    Combsum = "combsum", "Sum of normalised scores.";
    Combmnz = "combmnz", "Sum of normalised scores, times the number of lists.";
    Linear = "linear", "Weighted linear combination of normalised scores.";
    Dbsf = "dbsf", "Distribution-based score fusion.";
    Isr = "isr", "Inverse square ranks.";
    Borda = "borda", "Borda count.";
    Condorcet = "condorcet", "Pairwise majorities.";
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = || Self::ALL.iter().map(|method| method.as_str());
        Self::ALL
            .iter()
            .find(|method| method.as_str() == name)
            .copied()
            .ok_or_else(|| Error::unknown("fusion method", name, known()))
    }
}

/// How amounts become a score, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Combining {
    /// Their sum.
    Sum,
    /// Their sum divided by the sum of the weights.
    Mean,
    /// The greatest.
    Max,
    /// Scaled so that the first of every list gets 1.
    Unit,
}

/// A fusion as written; what is left out takes the method's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FuseSpec {
    /// The method.
    pub method: Method,
    /// `rrf`: the constant added to every rank, ≥ 0. Default 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<f64>,
    /// `rrf`: the number of the first rank, 0 or 1. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_base: Option<u32>,
    /// `rrf`: what a weight multiplies, `term` or `rank`. Default `term`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighting: Option<Weighting>,
    /// `rrf`: `sum` (default), `mean` or `unit`. `linear`: `mean` (default), `sum` or `max`. `dbsf`: `sum` (default), `mean` or
    /// `max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combine: Option<Combining>,
    /// What a list gives to items it does not hold: `zero` (default), `linear`: `min`, `rrf`: `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// `linear`, `combsum`, `combmnz`: `minmax` (default), `zscore`, `theoretical`, `three_sigma`, `calibrated` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normalise: Option<Norm>,
    /// What every item gets when all scores of a list are equal. Default 1.0, `dbsf` 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal: Option<f64>,
    /// `linear`, `combsum`, `combmnz`: the least normalised score of an item that a list holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// Which standard deviation: `population` (default) or `sample` (default of `dbsf`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<Deviation>,
}

impl FuseSpec {
    /// A method with its default settings.
    pub fn new(method: Method) -> Self {
        Self { method, ..Self::default() }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// When a value is out of range, or has no meaning for the method.
    pub fn check(&self) -> Result<Fusion, Error> {
        self.refuse_inapplicable()?;
        for (name, value) in [("`fuse.equal`", self.equal), ("`fuse.floor`", self.floor)] {
            if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
                return Err(Error::range(name, "a number from 0 to 1", value.unwrap_or_default()));
            }
        }
        Ok(match self.method {
            Method::Rrf => Fusion::Rrf(self.rrf()?),
            Method::Rsf => Fusion::Rsf,
            Method::Combsum => Fusion::CombSum(Comb { normalise: self.normalisation() }),
            Method::Combmnz => Fusion::CombMnz(Comb { normalise: self.normalisation() }),
            Method::Linear => Fusion::Linear(self.linear()?),
            Method::Dbsf => Fusion::Dbsf(self.dbsf()?),
            Method::Isr => Fusion::Isr,
            Method::Borda => Fusion::Borda,
            Method::Condorcet => Fusion::Condorcet,
        })
    }

    fn refuse_inapplicable(&self) -> Result<(), Error> {
        use Method::{Combmnz, Combsum, Dbsf, Linear, Rrf};
        let scored: &[Method] = &[Linear, Combsum, Combmnz];
        let given: [(&'static str, bool, &[Method]); 9] = [
            ("fuse.k", self.k.is_some(), &[Rrf]),
            ("fuse.rank_base", self.rank_base.is_some(), &[Rrf]),
            ("fuse.weighting", self.weighting.is_some(), &[Rrf]),
            ("fuse.combine", self.combine.is_some(), &[Rrf, Linear, Dbsf]),
            ("fuse.missing", self.missing.is_some(), &[Rrf, Linear]),
            ("fuse.normalise", self.normalise.is_some(), scored),
            ("fuse.equal", self.equal.is_some(), &[Linear, Combsum, Combmnz, Dbsf]),
            ("fuse.floor", self.floor.is_some(), scored),
            ("fuse.deviation", self.deviation.is_some(), &[Linear, Combsum, Combmnz, Dbsf]),
        ];
        match given.into_iter().find(|(_, given, methods)| *given && !methods.contains(&self.method)) {
            Some((option, ..)) => Err(Error::Inapplicable { option, method: self.method.as_str() }),
            None => Ok(()),
        }
    }

    fn rrf(&self) -> Result<Rrf, Error> {
        let total = match self.combine {
            None | Some(Combining::Sum) => rrf::Total::Sum,
            Some(Combining::Mean) => rrf::Total::Mean,
            Some(Combining::Unit) => rrf::Total::Unit,
            Some(Combining::Max) => {
                return Err(Error::range("`fuse.combine` of `rrf`", "`sum`, `mean` or `unit`", "`max`"));
            }
        };
        let absent_is_last = match self.missing {
            None | Some(Missing::Zero) => false,
            Some(Missing::Last) => true,
            Some(Missing::Min) => {
                return Err(Error::range("`fuse.missing` of `rrf`", "`zero` or `last`", "`min`"));
            }
        };
        let mut rrf = Rrf::new(self.k.unwrap_or(60.0), self.rank_base.unwrap_or(1))?;
        rrf.weighting = self.weighting.unwrap_or_default();
        rrf.total = total;
        rrf.absent_is_last = absent_is_last;
        Ok(rrf)
    }

    fn normalisation(&self) -> Normalise {
        let norm = self.normalise.unwrap_or_default();
        Normalise {
            norm,
            equal: self.equal.unwrap_or(if norm == Norm::ThreeSigma { 0.5 } else { 1.0 }),
            floor: self.floor,
            deviation: self.deviation.unwrap_or_default(),
        }
    }

    fn linear(&self) -> Result<Linear, Error> {
        let absent_is_min = match self.missing {
            None | Some(Missing::Zero) => false,
            Some(Missing::Min) => true,
            Some(Missing::Last) => {
                return Err(Error::range("`fuse.missing` of `linear`", "`zero` or `min`", "`last`"));
            }
        };
        let total = self.total(Total::Mean)?;
        if absent_is_min && total == Total::Max {
            return Err(Error::range("`fuse.missing` with `combine` `max`", "`zero`", "`min`"));
        }
        Ok(Linear { normalise: self.normalisation(), total, absent_is_min })
    }

    fn dbsf(&self) -> Result<Dbsf, Error> {
        let deviation = self.deviation.unwrap_or(Deviation::Sample);
        Ok(Dbsf { deviation, total: self.total(Total::Sum)?, equal: self.equal.unwrap_or(0.5) })
    }

    fn total(&self, default: Total) -> Result<Total, Error> {
        match self.combine {
            None => Ok(default),
            Some(Combining::Sum) => Ok(Total::Sum),
            Some(Combining::Mean) => Ok(Total::Mean),
            Some(Combining::Max) => Ok(Total::Max),
            Some(Combining::Unit) => {
                let setting = format!("`fuse.combine` of `{}`", self.method);
                Err(Error::range(setting, "`mean`, `sum` or `max`", "`unit`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_defaults_and_its_own_name() {
        for method in Method::ALL {
            assert_eq!(FuseSpec::new(*method).check().unwrap().method(), *method);
            assert_eq!(method.as_str().parse::<Method>().unwrap(), *method);
        }
    }

    #[test]
    fn an_option_without_meaning_is_refused() {
        let spec = FuseSpec { k: Some(10.0), ..FuseSpec::new(Method::Borda) };
        assert_eq!(spec.check().unwrap_err().to_string(), "`fuse.k` has no meaning for method `borda`");
    }

    #[test]
    fn a_slip_is_recognised() {
        use crate::Diagnostic;
        let error = "rff".parse::<Method>().unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `rrf`?");
    }
}
