//! Measures by name, such as `nDCG@10`, `AP(rel=2)` or `nDCG(dcg='exp-log2')@10`.

use std::fmt;

use mainstem_core::diagnostic::nearest;

use super::{Gain, Kind};
use crate::EvalError;

/// A measure, its parameters, and the name the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    name: String,
    kind: Kind,
    cutoff: Option<usize>,
    rel: Option<i64>,
}

/// One row of the table of names: the kind, how it is printed in lists, its other names, and whether it needs a cutoff.
struct Entry {
    kind: Kind,
    shown: &'static str,
    names: &'static [&'static str],
    needs_cutoff: bool,
}

const fn entry(kind: Kind, shown: &'static str, names: &'static [&'static str], needs_cutoff: bool) -> Entry {
    Entry { kind, shown, names, needs_cutoff }
}

/// Every name, in the order in which lists show them. Names with `_` are those of `trec_eval`.
const TABLE: &[Entry] = &[
    entry(Kind::Ndcg(Gain::Linear), "nDCG@k", &["nDCG", "ndcg_cut"], false),
    entry(Kind::Ndcg(Gain::Exponential), "nDCGexp@k", &["nDCGexp"], false),
    entry(Kind::ReciprocalRank, "MRR@k", &["MRR", "RR", "recip_rank"], false),
    entry(Kind::AveragePrecision, "AP@k", &["AP", "MAP", "map_cut"], false),
    entry(Kind::Precision, "P@k", &["P", "Precision"], true),
    entry(Kind::Recall, "R@k", &["R", "Recall"], true),
    entry(Kind::Success, "Success@k", &["Success"], true),
    entry(Kind::Judged, "Judged@k", &["Judged"], false),
    entry(Kind::Coverage, "Coverage@k", &["Coverage"], true),
    entry(Kind::SourceRecall, "SourceRecall@k", &["SourceRecall"], true),
];

impl Measure {
    /// The measure with this name.
    ///
    /// Names are those of ir_measures, in any case: a base name, parameters in parentheses, `@` and a cutoff. The names
    /// of `trec_eval` (`ndcg_cut_10`, `recip_rank`, `P_5`) are understood too. Parameters are `rel=N` for binary
    /// measures and `dcg='log2'` or `dcg='exp-log2'` for `nDCG`.
    ///
    /// # Errors
    /// [`EvalError::UnknownMeasure`] for a name that is not in the table of [`measure`](crate::measure), with the
    /// nearest one as a hint; [`EvalError::MeasureValue`] for a cutoff of 0, a missing cutoff, or a wrong parameter.
    pub fn parse(name: &str) -> Result<Self, EvalError> {
        let parts = Parts::of(name.trim());
        let entry = parts.entry().ok_or_else(|| unknown(name, &parts))?;
        let wrong = |expected, hint| EvalError::MeasureValue { name: name.to_owned(), expected, hint };
        let mut measure = Self { name: name.to_owned(), kind: entry.kind, cutoff: None, rel: None };
        measure.cutoff = match parts.cutoff.map(str::parse) {
            Some(Ok(k)) if k > 0 => Some(k),
            None if !entry.needs_cutoff => None,
            None => return Err(wrong("a cutoff", format!("write `{}@10`", parts.base))),
            Some(_) => {
                return Err(wrong("a cutoff of 1 or more", format!("write `{}@10`", parts.base)));
            }
        };
        for parameter in parts.parameters() {
            measure.set(parameter).map_err(|expected| {
                wrong(
                    expected,
                    "write `rel=2`, or `dcg='exp-log2'` with `nDCG`, or leave the parentheses out".into(),
                )
            })?;
        }
        Ok(measure)
    }

    fn set(&mut self, parameter: &str) -> Result<(), &'static str> {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches(['\'', '"']);
        match (key.trim(), self.kind) {
            ("dcg", Kind::Ndcg(_)) => {
                self.kind = Kind::Ndcg(match value {
                    "log2" => Gain::Linear,
                    "exp-log2" => Gain::Exponential,
                    _ => return Err("`dcg='log2'` or `dcg='exp-log2'`"),
                });
            }
            ("rel", kind) if kind.is_binary() => {
                let rel = value.parse().ok().filter(|&rel| rel > 0);
                self.rel = Some(rel.ok_or("a `rel` of 1 or more")?);
            }
            _ => return Err("a parameter that this measure has"),
        }
        Ok(())
    }

    /// The name exactly as the user typed it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is measured.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The number of places that count; all of them when `None`.
    pub fn cutoff(&self) -> Option<usize> {
        self.cutoff
    }

    /// The smallest relevance that counts as relevant, when the name gives one.
    pub fn rel(&self) -> Option<i64> {
        self.rel
    }

    /// The names that [`Measure::parse`] knows, as lists show them.
    pub fn known() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|entry| entry.shown)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl Kind {
    fn is_binary(self) -> bool {
        !matches!(self, Self::Ndcg(_) | Self::Judged | Self::Coverage)
    }
}

/// A name taken apart.
struct Parts<'a> {
    base: &'a str,
    parameters: Option<&'a str>,
    cutoff: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(name: &'a str) -> Self {
        let (head, cutoff) = match name.rsplit_once('@') {
            Some((head, cutoff)) => (head, Some(cutoff)),
            None => match name.rsplit_once('_') {
                Some((head, tail)) if tail.bytes().all(|byte| byte.is_ascii_digit()) => (head, Some(tail)),
                _ => (name, None),
            },
        };
        let (base, parameters) = match head.strip_suffix(')').and_then(|open| open.split_once('(')) {
            Some((base, parameters)) => (base, Some(parameters)),
            None => (head, None),
        };
        Self { base, parameters, cutoff }
    }

    fn entry(&self) -> Option<&'static Entry> {
        TABLE.iter().find(|entry| entry.names.iter().any(|name| name.eq_ignore_ascii_case(self.base)))
    }

    fn parameters(&self) -> impl Iterator<Item = &'a str> {
        self.parameters
            .into_iter()
            .flat_map(|list| list.split(','))
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }
}

fn unknown(name: &str, parts: &Parts<'_>) -> EvalError {
    let names = || TABLE.iter().flat_map(|entry| entry.names).copied();
    let lower = parts.base.to_ascii_lowercase();
    let lowered: Vec<_> = names().map(str::to_ascii_lowercase).collect();
    let near = nearest(&lower, lowered.iter().map(String::as_str));
    let spelled = near.and_then(|near| names().find(|name| name.eq_ignore_ascii_case(near)));
    let shown: Vec<_> = Measure::known().map(|shown| format!("`{shown}`")).collect();
    EvalError::UnknownMeasure {
        name: name.to_owned(),
        known: shown.join(", "),
        nearest: spelled.map(|base| match parts.cutoff {
            Some(cutoff) => format!("{base}@{cutoff}"),
            None => base.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstem_core::diagnostic::Diagnostic as _;

    #[test]
    fn names_are_understood_and_kept_as_typed() {
        let exponential = Kind::Ndcg(Gain::Exponential);
        let cases = [
            ("nDCG@10", Kind::Ndcg(Gain::Linear), Some(10), None),
            ("NDCG", Kind::Ndcg(Gain::Linear), None, None),
            ("nDCGexp@10", exponential, Some(10), None),
            ("nDCG(dcg='exp-log2')@10", exponential, Some(10), None),
            ("nDCG(dcg=\"log2\")", Kind::Ndcg(Gain::Linear), None, None),
            ("RR", Kind::ReciprocalRank, None, None),
            ("MRR@10", Kind::ReciprocalRank, Some(10), None),
            ("MAP", Kind::AveragePrecision, None, None),
            ("AP(rel=2)@100", Kind::AveragePrecision, Some(100), Some(2)),
            ("P@5", Kind::Precision, Some(5), None),
            ("Recall@100", Kind::Recall, Some(100), None),
            ("success@1", Kind::Success, Some(1), None),
            ("Judged", Kind::Judged, None, None),
            ("Coverage@10", Kind::Coverage, Some(10), None),
            ("SourceRecall(rel=2)@5", Kind::SourceRecall, Some(5), Some(2)),
            ("ndcg_cut_10", Kind::Ndcg(Gain::Linear), Some(10), None),
            ("recip_rank", Kind::ReciprocalRank, None, None),
            ("map_cut_100", Kind::AveragePrecision, Some(100), None),
        ];
        for (name, kind, cutoff, rel) in cases {
            let measure = Measure::parse(name).unwrap();
            assert_eq!((measure.kind(), measure.cutoff(), measure.rel()), (kind, cutoff, rel), "{name}");
            assert_eq!(measure.to_string(), name);
        }
    }

    #[test]
    fn slips_get_a_hint_and_the_list() {
        let error = Measure::parse("nDGC@10").unwrap_err();
        assert!(
            error.to_string().starts_with("unknown measure `nDGC@10`, expected one of `nDCG@k`, `nDCGexp@k`")
        );
        assert_eq!(error.hint().as_deref(), Some("did you mean `nDCG@10`?"));
        assert_eq!(Measure::parse("happiness").unwrap_err().hint(), None);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        let cases = [
            ("nDCG@0", "expected a cutoff of 1 or more, received `nDCG@0`"),
            ("P@ten", "expected a cutoff of 1 or more, received `P@ten`"),
            ("P@-1", "expected a cutoff of 1 or more, received `P@-1`"),
            (
                "P@99999999999999999999999",
                "expected a cutoff of 1 or more, received `P@99999999999999999999999`",
            ),
            ("P", "expected a cutoff, received `P`"),
            ("nDCG(dcg='ln')@5", "expected `dcg='log2'` or `dcg='exp-log2'`, received `nDCG(dcg='ln')@5`"),
            ("P(rel=0)@5", "expected a `rel` of 1 or more, received `P(rel=0)@5`"),
            ("nDCG(rel=2)@5", "expected a parameter that this measure has, received `nDCG(rel=2)@5`"),
        ];
        for (name, message) in cases {
            assert_eq!(Measure::parse(name).unwrap_err().to_string(), message);
        }
        for odd in ["", "@", "@@", "_", "()", "nDCG(@10", "P@5)", "é@1"] {
            assert!(Measure::parse(odd).is_err(), "{odd}");
        }
    }
}
