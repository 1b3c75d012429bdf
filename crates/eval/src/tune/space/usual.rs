//! The space that is searched when none is given: what the recordings can say something about, and nothing else.

use std::collections::BTreeSet;

use mainstem_core::{Replay, Search};
use serde_json::{Value, json};

use super::file::{AxisFile, SpaceFile};
use crate::tune::setting::{Path, Setting};

/// What recordings contain, as far as it decides what can be tuned on them.
#[expect(clippy::struct_excessive_bools, reason = "plain facts, which no reader confuses")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// The sources, by name.
    pub sources: BTreeSet<String>,
    /// The channels, by name.
    pub channels: BTreeSet<String>,
    /// The most lists that one search fuses.
    pub lists: usize,
    /// The longest list.
    pub longest: usize,
    /// Whether every list item has a score.
    pub scored: bool,
    /// Whether every list has theoretical bounds.
    pub bounded: bool,
    /// Whether the clock is known wherever an item has a time, and at least one has.
    pub timed: bool,
    /// Whether some search has the scores of a reranker.
    pub reranked: bool,
    /// Whether the judgements are about one source only. Its weight could then only be praised, whatever it does to the others.
    pub one_source_judged: bool,
}

impl Contents {
    /// Looks at recordings.
    pub fn of<'a>(replays: impl IntoIterator<Item = &'a Replay>) -> Self {
        let mut contents = Self { scored: true, bounded: true, ..Self::default() };
        let mut clocks = true;
        for Replay { search, .. } in replays {
            let times = search.items.iter().any(|item| item.created_at.is_some());
            contents.timed |= times;
            clocks &= search.now.is_some() || !times;
            contents.reranked |= search.verdict.is_some();
            contents.look_at_lists(search);
        }
        contents.timed &= clocks;
        contents
    }

    fn look_at_lists(&mut self, search: &Search) {
        let lists = search.candidates.lists();
        self.lists = self.lists.max(lists.len());
        for list in lists {
            let leg = list.leg();
            self.sources.insert(leg.source.clone());
            self.channels.insert(leg.channel().to_owned());
            self.longest = self.longest.max(list.len());
            self.scored &= (0..list.len()).all(|place| list.score(place).is_some());
            self.bounded &= leg.bounds.min.is_some();
        }
    }
}

/// The usual space over these settings.
pub fn usual(contents: &Contents, base: &Setting) -> SpaceFile {
    let mut axes = Vec::new();
    fusion(&mut axes, contents);
    weights(&mut axes, contents, base);
    across(&mut axes, contents, base);
    candidates(&mut axes, contents, base);
    recency(&mut axes, contents, base);
    stages(&mut axes, contents, base);
    routes(&mut axes, base);
    SpaceFile { axis: axes }
}

fn fusion(axes: &mut Vec<AxisFile>, contents: &Contents) {
    if contents.lists < 2 {
        return;
    }
    let mut methods = vec![json!({"method": "rrf"}), json!({"method": "isr"})];
    if contents.scored {
        methods.extend([
            json!({"method": "rsf"}),
            json!({"method": "linear"}),
            json!({"method": "linear", "normalise": "zscore"}),
            json!({"method": "combmnz"}),
            json!({"method": "dbsf"}),
        ]);
    }
    if contents.scored && contents.bounded {
        methods.push(json!({"method": "linear", "normalise": "theoretical"}));
        methods.push(json!({"method": "linear", "normalise": "calibrated"}));
    }
    axes.push(AxisFile::at("pipeline.fuse", methods));
    let k = [5, 10, 20, 40, 60, 100, 200].map(Value::from);
    let when = [("pipeline.fuse.method".to_owned(), json!("rrf"))].into_iter().collect();
    axes.push(AxisFile { default: Some(json!(60)), when, ..AxisFile::at("pipeline.fuse.k", k) });
}

/// Only ratios of weights matter, so that the first channel keeps its own.
fn weights(all: &mut Vec<AxisFile>, contents: &Contents, base: &Setting) {
    let axis = |name: &str, values: &[f64]| AxisFile {
        default: Some(json!(1.0)),
        ..AxisFile::at(Path::of(["weights", name]), values.iter().map(|value| json!(value)))
    };
    if contents.channels.len() > 1 {
        for channel in contents.channels.iter().skip(1).take(4) {
            all.push(axis(channel, &[0.0, 0.25, 0.4, 0.6, 0.8, 1.0, 1.25, 1.7, 2.5, 4.0]));
        }
        all.extend(contents.channels.first().map(|first| axis(first, &[0.0, 1.0])));
    }
    let sources = || contents.sources.iter().filter(|source| !contents.channels.contains(*source));
    let fine: &[f64] = &[0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0];
    let values = if contents.sources.len() > 4 { &[0.5, 1.0, 2.0] } else { fine };
    if contents.sources.len() > 1 && !contents.one_source_judged {
        all.extend(sources().take(16).map(|source| axis(source, values)));
    }
    let named = base.json().get("weights").and_then(Value::as_object).into_iter().flatten();
    for (name, _) in named {
        let known = all.iter().any(|axis| axis.path.as_ref().is_some_and(|path| path.ends_with(name)));
        if !known {
            all.push(axis(name, fine));
        }
    }
}

/// Every way to bring sources together that this build knows.
fn across(axes: &mut Vec<AxisFile>, contents: &Contents, base: &Setting) {
    if contents.sources.len() < 2 || !contents.scored {
        return;
    }
    let path = Path::of(["pipeline", "across"]);
    let known = ["rank", "score", "calibrated"].map(Value::from).into_iter().filter(|way| {
        let mut setting = base.clone();
        setting.put(&path, way) && setting.compile().is_ok()
    });
    axes.push(AxisFile { default: Some(json!("rank")), ..AxisFile::at(&path, known) });
}

fn candidates(axes: &mut Vec<AxisFile>, contents: &Contents, base: &Setting) {
    let usable = [10, 20, 50, 100, 200, 400].into_iter().filter(|count| *count < contents.longest);
    let mut values: Vec<Value> = usable.map(Value::from).collect();
    if base.candidates().is_some_and(|count| count < contents.longest) {
        values.push(json!(contents.longest));
    }
    if !values.is_empty() {
        axes.push(AxisFile { default: Some(json!(contents.longest)), ..AxisFile::at("candidates", values) });
    }
}

/// Half-life and weight go together: neither means anything without the other.
fn recency(axes: &mut Vec<AxisFile>, contents: &Contents, base: &Setting) {
    if !contents.timed {
        return;
    }
    let rules = |path: Path| {
        let each = ["7d", "30d", "180d"].into_iter().flat_map(|half_life| {
            [0.1, 0.25, 0.5].map(|weight| json!({"half_life": half_life, "weight": weight}))
        });
        AxisFile { off: Some(path.to_string()), ..AxisFile::at(path, each) }
    };
    let written = base.get(&Path::of(["pipeline", "recency"])).and_then(Value::as_object);
    let is_window = |rule: &Value| rule.get("window_days").is_some() || rule.get("factor").is_some();
    let place = |source: &str| Path::of(["pipeline", "recency", source]);
    for (source, _) in written.into_iter().flatten().filter(|(_, rule)| !is_window(rule)) {
        axes.push(rules(place(source)));
    }
    if written.is_none_or(|written| !written.contains_key("*")) {
        axes.push(rules(place("*")));
    }
}

/// Stages that are on. Turning one on that nobody asked for changes what an answer is, not how good it is.
fn stages(all: &mut Vec<AxisFile>, contents: &Contents, base: &Setting) {
    let on = |parts: &[&str]| base.get(&Path::of(["pipeline"].iter().chain(parts).copied())).cloned();
    let numbers = |path: &str, values: &[f64], off: &str| AxisFile {
        off: Some(off.to_owned()),
        ..AxisFile::at(path, values.iter().map(|value| json!(value)))
    };
    for scope in ["within", "across"] {
        if on(&["dedup", scope]).is_some() {
            let path = format!("pipeline.dedup.{scope}");
            all.push(numbers(&path, &[0.7, 0.8, 0.85, 0.9, 0.95], &path));
        }
    }
    if on(&["neighbours"]).is_some() {
        let axis = numbers("pipeline.neighbours.weight", &[0.0, 0.1, 0.25, 0.4], "pipeline.neighbours");
        all.push(AxisFile { default: Some(json!(0.25)), off: None, ..axis });
    }
    if on(&["prior"]).is_some() && contents.sources.len() > 1 {
        let axis = numbers("pipeline.prior.power", &[0.0, 0.2, 0.4, 0.7, 1.0], "pipeline.prior");
        all.push(AxisFile { default: Some(json!(0.4)), off: None, ..axis });
    }
    if on(&["diversify"]).is_some() {
        let axis = numbers("pipeline.diversify.lambda", &[0.5, 0.7, 0.8, 0.9, 0.95], "pipeline.diversify");
        all.push(AxisFile { default: Some(json!(0.7)), ..axis });
    }
    if let Some(least) = on(&["min_score"]).as_ref().and_then(Value::as_f64).filter(|least| *least != 0.0) {
        let path = "pipeline.min_score";
        all.push(numbers(path, &[0.5, 0.8, 1.25].map(|factor| factor * least), path));
    }
    if contents.reranked && on(&["rerank"]).is_some() {
        let axis = numbers("pipeline.rerank.blend", &[0.1, 0.3, 0.5, 0.7, 0.9, 1.0], "pipeline.rerank");
        all.push(AxisFile { default: Some(json!(0.7)), ..axis });
    }
    if on(&["aggregate"]).is_some() {
        all.push(AxisFile::at("pipeline.aggregate", ["max", "mean", "first"].map(Value::from)));
    }
}

fn routes(axes: &mut Vec<AxisFile>, base: &Setting) {
    let rules = base.get(&Path::of(["pipeline", "route"])).and_then(Value::as_array);
    for rule in rules.into_iter().flatten() {
        let Some(name) = rule.get("name").and_then(Value::as_str) else { continue };
        let weights = rule.get("weights").and_then(Value::as_object);
        for source in weights.into_iter().flat_map(|weights| weights.keys()) {
            let path = Path::of(["pipeline", "route", name, "weights", source]);
            axes.push(AxisFile::at(path, [0.5, 1.0, 1.25, 1.5, 2.0, 3.0].map(Value::from)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Space;
    use super::*;

    fn axes(json: &str) -> Vec<String> {
        let replay = Replay::from_json(json.as_bytes()).unwrap();
        let base = Setting::new(&replay.pipeline).unwrap();
        let file = usual(&Contents::of([&replay]), &base);
        Space::new(&file, &base).unwrap().axes().iter().map(|axis| axis.name.clone()).collect()
    }

    #[test]
    fn one_list_without_times_leaves_nothing_to_tune() {
        assert!(axes(r#"{"lists":[{"name":"a","items":[{"id":"x","score":1}]}]}"#).is_empty());
    }

    #[test]
    fn channels_sources_and_times_each_bring_their_axes() {
        let item = r#"{"id":"x","score":1,"created_at":"2026-01-01"}"#;
        let list = |name: &str| format!(r#"{{"name":"{name}","items":[{item}]}}"#);
        let one_source = format!(r#"{{"lists":[{},{}]}}"#, list("w/dense"), list("w/lexical"));
        assert_eq!(
            axes(&one_source),
            ["pipeline.fuse", "pipeline.fuse.k", "weights.lexical", "weights.dense"]
        );
        let two = format!(r#"{{"now":"2026-02-01","lists":[{},{}]}}"#, list("w/dense"), list("v/dense"));
        let expected = [
            "pipeline.fuse",
            "pipeline.fuse.k",
            "weights.v",
            "weights.w",
            "pipeline.across",
            "pipeline.recency.*",
        ];
        assert_eq!(axes(&two), expected);
    }

    #[test]
    fn sources_are_not_weighed_where_only_one_is_judged() {
        let contents = Contents {
            sources: ["a", "b"].map(str::to_owned).into(),
            one_source_judged: true,
            ..Contents::default()
        };
        let base = Setting::from_json(json!({"pipeline": {}})).unwrap();
        assert_eq!(usual(&contents, &base).axis, []);
        let both = Contents { one_source_judged: false, ..contents };
        assert_eq!(usual(&both, &base).axis.len(), 2);
    }

    #[test]
    fn only_stages_that_are_on_are_tuned() {
        let json = r#"{"pipeline":{"dedup":{"across":0.9},"diversify":{},"min_score":0.01,"aggregate":"max",
            "route":[{"name":"why","patterns":["why"],"weights":{"a":2}}]},
            "lists":[{"name":"a","items":[{"id":"x","score":1}]}]}"#;
        let expected = [
            "pipeline.dedup.across",
            "pipeline.diversify.lambda",
            "pipeline.min_score",
            "pipeline.aggregate",
            "pipeline.route.why.weights.a",
        ];
        assert_eq!(axes(json), expected);
    }
}
