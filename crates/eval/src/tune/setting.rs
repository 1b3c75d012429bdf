//! Settings as one JSON object that a search for better ones can change anywhere.
//!
//! ```json
//! {"pipeline": {"fuse": {"method": "rrf", "k": 60}}, "weights": {"dense": 1.5, "wiki": 2}, "candidates": 100}
//! ```
//!
//! `pipeline` is that of the configuration file. `weights` multiply the recorded weight of every list whose name, source or channel is
//! named. `candidates` is how much of each list is used: of each channel over all sources where these are merged, of each list
//! otherwise.

use mainstem_core::{Error, Pipeline, PipelineSpec};
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// A place in the settings, such as `pipeline.fuse.k`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(Vec<String>);

impl Path {
    /// A place from its parts.
    pub fn of<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }

    /// Reads `pipeline.recency."my.source".weight`: parts between dots, and dots inside quotes belong to the part.
    ///
    /// # Errors
    /// When a part is empty or a quote is not closed.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut parts = vec![String::new()];
        let mut quoted = false;
        for c in text.chars() {
            match (c, quoted) {
                ('"', _) => quoted = !quoted,
                ('.', false) => parts.push(String::new()),
                (c, _) => parts.last_mut().into_iter().for_each(|part| part.push(c)),
            }
        }
        if quoted || parts.iter().any(String::is_empty) {
            let expected = "parts between dots, such as `pipeline.fuse.k`";
            return Err(Error::range("a path", expected, format!("`{text}`")));
        }
        Ok(Self(parts))
    }

    /// The last part.
    pub fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |part: &String| if part.contains('.') { format!("\"{part}\"") } else { part.clone() };
        f.write_str(&self.0.iter().map(quoted).collect::<Vec<_>>().join("."))
    }
}

/// One set of settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting(Value);

impl Setting {
    /// Settings with this pipeline.
    ///
    /// # Errors
    /// Never in practice: only when the pipeline cannot be written as JSON.
    pub fn new(pipeline: &PipelineSpec) -> Result<Self, Error> {
        let pipeline = serde_json::to_value(pipeline).map_err(|error| refused(&error))?;
        Ok(Self(Value::Object([("pipeline".to_owned(), pipeline)].into_iter().collect())))
    }

    /// Settings as read from a file.
    ///
    /// # Errors
    /// When they are not of the documented shape or out of range.
    pub fn from_json(value: Value) -> Result<Self, Error> {
        let known = ["pipeline", "weights", "candidates"];
        let Value::Object(map) = &value else {
            return Err(Error::range("the settings", "a table with `pipeline`", value));
        };
        if let Some(name) = map.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Error::unknown("setting", name, known));
        }
        let mut setting = Self(value);
        setting.compile()?;
        // Written out, so that what a pipeline has by default (such as its fusion) can be seen and compared.
        let pipeline = Self::new(&setting.pipeline()?)?.0["pipeline"].take();
        if let Value::Object(map) = &mut setting.0 {
            map.insert("pipeline".to_owned(), pipeline);
        }
        Ok(setting)
    }

    /// The settings as JSON.
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// The value at a place. A part of a path steps into a list of named tables by name.
    pub fn get(&self, path: &Path) -> Option<&Value> {
        path.0.iter().try_fold(&self.0, |value, part| match value {
            Value::Array(all) => all.iter().find(|one| is_named(one, part)),
            other => other.get(part),
        })
    }

    /// Sets the value at a place: a table is laid over the one that is there (RFC 7396), anything else takes its place, and `null`
    /// removes it. A `fuse` that names its method takes the place of the old one as a whole. False where the path leads into
    /// a list that has nothing of that name.
    pub fn put(&mut self, path: &Path, value: &Value) -> bool {
        put(&mut self.0, &path.0, value)
    }

    /// How many candidates are used, if not all.
    pub fn candidates(&self) -> Option<usize> {
        self.0.get("candidates").and_then(Value::as_u64).map(|count| count as usize)
    }

    /// The pipeline as it is written.
    ///
    /// # Errors
    /// When a setting is unknown or out of range.
    pub fn pipeline(&self) -> Result<PipelineSpec, Error> {
        match self.0.get("pipeline") {
            Some(pipeline) => PipelineSpec::deserialize(pipeline).map_err(|error| refused(&error)),
            None => Ok(PipelineSpec::default()),
        }
    }

    /// What the names in `weights` multiply.
    ///
    /// # Errors
    /// When a weight is not a finite number ≥ 0.
    pub fn weights(&self) -> Result<Vec<(String, f64)>, Error> {
        let Some(weights) = self.0.get("weights") else { return Ok(Vec::new()) };
        let Value::Object(weights) = weights else {
            return Err(Error::range("`weights`", "a table of names and numbers", weights));
        };
        let weight = |(name, value): (&String, &Value)| match value.as_f64() {
            Some(weight) if (0.0..=1e6).contains(&weight) => Ok((name.clone(), weight)),
            _ => Err(Error::range(format!("`weights.{name}`"), "a number from 0 to 1000000", value)),
        };
        weights.iter().map(weight).collect()
    }

    /// Checks everything.
    ///
    /// # Errors
    /// When a setting is unknown or out of range.
    pub fn compile(&self) -> Result<Compiled, Error> {
        let pipeline = self.pipeline()?;
        let candidates = match self.0.get("candidates") {
            None => None,
            Some(value) => Some(
                value
                    .as_u64()
                    .filter(|count| *count > 0)
                    .ok_or_else(|| Error::range("`candidates`", "a whole number of at least 1", value))?
                    as usize,
            ),
        };
        // Written anew, equal settings are equal text, however they were written.
        let canonical = serde_json::to_string(&(&pipeline, &self.weights()?, candidates))
            .map_err(|error| refused(&error))?;
        let merged = serde_json::to_value(pipeline.across).is_ok_and(|across| across != "rank");
        Ok(Compiled { weights: self.weights()?, candidates, merged, canonical, pipeline: pipeline.check()? })
    }
}

fn refused(error: &serde_json::Error) -> Error {
    mainstem_core::error::from_deserialiser(&error.to_string(), None)
}

/// Settings that have been checked.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The stages.
    pub pipeline: Pipeline,
    /// What the names multiply.
    pub weights: Vec<(String, f64)>,
    /// How many candidates are used, if not all.
    pub candidates: Option<usize>,
    /// Whether channels are merged over the sources before they are fused.
    pub merged: bool,
    /// The same text for the same settings.
    pub canonical: String,
}

fn is_named(value: &Value, name: &str) -> bool {
    value.get("name").and_then(Value::as_str) == Some(name)
}

fn put(target: &mut Value, path: &[String], value: &Value) -> bool {
    let Some((part, rest)) = path.split_first() else {
        merge(target, value);
        return true;
    };
    if let Value::Array(all) = target {
        return all.iter_mut().find(|one| is_named(one, part)).is_some_and(|one| put(one, rest, value));
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(map) = target else { return false };
    if rest.is_empty() && value.is_null() {
        map.remove(part);
        return true;
    }
    let inner = map.entry(part).or_insert(Value::Null);
    if rest.is_empty() && part == "fuse" && value.get("method").is_some() {
        *inner = value.clone();
        return true;
    }
    put(inner, rest, value)
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (name, value) in patch {
        put(target, std::slice::from_ref(name), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    #[test]
    fn a_value_is_laid_over_what_is_there() {
        let mut setting =
            Setting(json!({"pipeline": {"fuse": {"method": "rrf", "k": 10}, "dedup": {"within": 0.9}}}));
        assert!(setting.put(&path("pipeline.dedup"), &json!({"across": 0.8})));
        assert!(setting.put(&path("pipeline.fuse"), &json!({"method": "rsf"})));
        assert!(setting.put(&path("weights.dense"), &json!(2)));
        let expected = json!({"pipeline": {"fuse": {"method": "rsf"}, "dedup": {"within": 0.9, "across": 0.8}}, "weights": {"dense": 2}});
        assert_eq!(setting.0, expected);
        assert!(setting.put(&path("pipeline.dedup"), &Value::Null));
        assert_eq!(setting.get(&path("pipeline.dedup")), None);
    }

    #[test]
    fn rules_in_a_list_go_by_their_names() {
        let mut setting = Setting(json!({"pipeline": {"route": [{"name": "why", "weights": {"books": 2}}]}}));
        assert!(setting.put(&path("pipeline.route.why.weights.books"), &json!(3)));
        assert_eq!(setting.get(&path("pipeline.route.why.weights.books")), Some(&json!(3)));
        assert!(!setting.put(&path("pipeline.route.how.weights.books"), &json!(3)));
    }

    #[test]
    fn quotes_keep_dots() {
        let parsed = path(r#"pipeline.recency."my.wiki".weight"#);
        assert_eq!(parsed, Path::of(["pipeline", "recency", "my.wiki", "weight"]));
        assert_eq!(parsed.to_string(), r#"pipeline.recency."my.wiki".weight"#);
        assert!(Path::parse("a..b").is_err() && Path::parse("a.\"b").is_err());
    }

    #[test]
    fn equal_settings_are_equal_text() {
        let one = Setting(json!({"pipeline": {"fuse": {"method": "rrf"}}})).compile().unwrap();
        let other = Setting(json!({"pipeline": {}})).compile().unwrap();
        assert_eq!(one.canonical, other.canonical);
    }

    #[test]
    fn what_is_read_shows_its_fusion() {
        let read = Setting::from_json(json!({"pipeline": {"limit": 3}, "candidates": 9})).unwrap();
        assert_eq!(read.0, json!({"pipeline": {"fuse": {"method": "rrf"}, "limit": 3}, "candidates": 9}));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for wrong in [
            json!([]),
            json!({"pipelin": {}}),
            json!({"weights": {"a": -1}}),
            json!({"weights": 3}),
            json!({"candidates": 0}),
            json!({"pipeline": {"fuse": {"method": "rsf", "k": 3}}}),
        ] {
            assert!(Setting::from_json(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
