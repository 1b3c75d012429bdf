//! # Routing
//!
//! Named rules read the query and weigh the sources: a question with *why* in it goes to the books, one with moves in it to the
//! games. A rule matches when one of its patterns does. Exactly one matching rule applies its weights; with several or
//! none, all sources keep the weights they have. The rule that fired is in the answer.
//!
//! A routed weight multiplies the weight of each of the source's lists; a source that the rule does not name keeps its own.

use indexmap::IndexMap;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::leg::checked_weight;

/// A rule, as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RouteSpec {
    /// The rule's name.
    pub name: String,
    /// Regular expressions, case-insensitive; one match is enough.
    pub patterns: Vec<String>,
    /// What each source's weight is multiplied with.
    pub weights: IndexMap<String, f64>,
}

/// Rules, checked and compiled.
#[derive(Clone, Debug, Default)]
pub struct Router {
    rules: Vec<(RouteSpec, Vec<Regex>)>,
}

/// What the rules made of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// The rule that fired, if exactly one matched.
    pub rule: Option<String>,
    /// All rules that matched.
    pub matched: Vec<String>,
    /// What the sources' weights were multiplied with.
    pub weights: IndexMap<String, f64>,
}

impl Router {
    /// Compiles the rules.
    ///
    /// # Errors
    /// When a pattern is no regular expression, a weight is not finite and ≥ 0, or two rules have one name.
    pub fn new(specs: &[RouteSpec]) -> Result<Self, Error> {
        let mut rules: Vec<(RouteSpec, Vec<Regex>)> = Vec::new();
        for spec in specs {
            if rules.iter().any(|(known, _)| known.name == spec.name) {
                return Err(Error::Duplicate { what: "route", name: spec.name.clone() });
            }
            for (source, weight) in &spec.weights {
                checked_weight(&format!("{}` in route `{}", source, spec.name), *weight)?;
            }
            let patterns = spec.patterns.iter().map(|pattern| compile(&spec.name, pattern));
            rules.push((spec.clone(), patterns.collect::<Result<_, _>>()?));
        }
        Ok(Self { rules })
    }

    /// What the rules make of a query.
    pub fn route(&self, query: &str) -> Route {
        let matching =
            self.rules.iter().filter(|(_, patterns)| patterns.iter().any(|pattern| pattern.is_match(query)));
        let matching: Vec<&RouteSpec> = matching.map(|(spec, _)| spec).collect();
        let matched = matching.iter().map(|spec| spec.name.clone()).collect();
        match matching.as_slice() {
            [spec] => Route { rule: Some(spec.name.clone()), matched, weights: spec.weights.clone() },
            _ => Route { rule: None, matched, weights: IndexMap::new() },
        }
    }
}

fn compile(route: &str, pattern: &str) -> Result<Regex, Error> {
    RegexBuilder::new(pattern).case_insensitive(true).build().map_err(|error| {
        let reason = error.to_string().lines().last().unwrap_or_default().replace("error: ", "");
        Error::range(
            format!("a pattern of route `{route}`"),
            "a regular expression",
            format!("`{pattern}` ({reason})"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, pattern: &str, source: &str, weight: f64) -> RouteSpec {
        let weights = [(source.to_owned(), weight)].into_iter().collect();
        RouteSpec { name: name.into(), patterns: vec![pattern.into()], weights }
    }

    fn router() -> Router {
        Router::new(&[
            rule("ideas", r"\bwhy\b", "books", 2.0),
            rule("moves", r"\b[a-h][1-8]\b", "games", 2.0),
        ])
        .unwrap()
    }

    #[test]
    fn exactly_one_matching_rule_applies() {
        let route = router().route("Why is the bishop bad?");
        assert_eq!((route.rule.as_deref(), route.weights.get("books")), (Some("ideas"), Some(&2.0)));
    }

    #[test]
    fn both_or_none_is_neutral() {
        for query in ["why not e4", "the Sicilian"] {
            let route = router().route(query);
            assert_eq!((route.rule, route.weights.len()), (None, 0), "{query}");
        }
        assert_eq!(router().route("why not e4").matched, ["ideas", "moves"]);
    }

    #[test]
    fn bad_rules_are_refused() {
        assert!(Router::new(&[rule("a", "(", "x", 1.0)]).is_err());
        assert!(Router::new(&[rule("a", "x", "x", -1.0)]).is_err());
        assert!(Router::new(&[rule("a", "x", "x", 1.0), rule("a", "y", "x", 1.0)]).is_err());
    }
}
