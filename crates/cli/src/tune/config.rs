//! Settings as a configuration file: read to start from, written when better ones were found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mainstem_core::Error;
use mainstem_core::diagnostic::Place;
use mainstem_eval::tune::{Outcome, Recording, Setting};
use serde_json::{Map, Value, json};

use crate::failure::Problem;

/// Reads a TOML or JSON file as JSON.
pub(super) fn read(path: &str) -> Result<Value, Problem> {
    let place = || Place::default().in_file(path);
    let text = std::fs::read_to_string(path).map_err(|source| Problem::Read { place: place(), source })?;
    let wrong = |message: &str, line: Option<u64>| {
        Problem::in_file(mainstem_core::error::from_deserialiser(message, line), path)
    };
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(&text)
            .map_err(|error| wrong(&error.to_string(), Some(error.line() as u64)));
    }
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count() as u64);
        wrong(error.message(), line)
    })
}

/// The settings of a configuration file: `[pipeline]`, `[weights]` and `candidates`. What else is in it is for others.
pub(super) fn settings(path: &str) -> Result<Setting, Problem> {
    let Value::Object(mut all) = read(path)? else {
        let error = Error::range("the configuration", "tables such as `[pipeline]`", "something else");
        return Err(Problem::in_file(error, path));
    };
    all.retain(|name, _| ["pipeline", "weights", "candidates"].contains(&name.as_str()));
    // Settings are measured by themselves; a model is trained over them anew.
    if let Some(Value::Object(pipeline)) = all.get_mut("pipeline") {
        pipeline.remove("learned");
    }
    if !all.contains_key("pipeline") {
        let missing = Error::Missing {
            what: "the table `[pipeline]`".into(),
            why: "`--config` takes the settings from it".into(),
            hint: "begin the settings with a line `[pipeline]`".into(),
        };
        return Err(Problem::in_file(missing, path));
    }
    Setting::from_json(Value::Object(all)).map_err(|error| Problem::in_file(error, path))
}

/// What recordings say about the searches that they are of.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    channels: BTreeSet<String>,
    /// The most that a list holds.
    longest: usize,
    /// The most that the lists of a channel hold together.
    merged: usize,
}

impl Recorded {
    pub(super) fn of(recordings: &[Recording]) -> Self {
        let mut all = Self::default();
        for one in recordings {
            let mut channels: BTreeMap<(u32, &str), usize> = BTreeMap::new();
            for list in one.replay.search.candidates.lists() {
                *channels.entry((list.leg().variant, list.leg().channel())).or_default() += list.len();
                all.longest = all.longest.max(list.len());
            }
            all.merged = channels.values().copied().fold(all.merged, usize::max);
            all.channels.extend(channels.into_keys().map(|(_, channel)| channel.to_owned()));
        }
        all
    }

    /// How many candidates were looked at where the settings do not say: all that were recorded, in the lists that are fused.
    fn depth(&self, pipeline: Option<&Value>) -> usize {
        let across = pipeline.and_then(|pipeline| pipeline.get("across")).and_then(Value::as_str);
        if across.is_none_or(|across| across == "rank") { self.longest } else { self.merged }
    }
}

/// What a search switches on by itself, so that a file has to say that it is off.
const ON_BY_DEFAULT: [&str; 4] = ["dedup", "neighbours", "prior", "recency"];

/// The settings to use from now on as TOML, with the model that goes with them, if there is one. A file is laid over the defaults of a search: what
/// differs from them is said, also where the settings only leave it out.
pub(super) fn written(outcome: &Outcome, recorded: &Recorded, model: Option<&str>) -> String {
    let mut out = format!(
        "# Found by `mainstem tune` on {} judged queries (seed {}).\n# {}: {:.4} before, {:.4} on queries that had no say.\n#\n# What changed:\n",
        outcome.used.queries, outcome.seed, outcome.measure, outcome.before, outcome.after
    );
    for change in &outcome.changes {
        let _ = writeln!(out, "#   {}: {} → {}", change.axis, change.from, change.to);
    }
    if outcome.changes.is_empty() {
        out.push_str("#   nothing but the learned model\n");
    }
    out.push('\n');
    if let Value::Object(settings) = outspoken(outcome.settings.clone(), recorded, model) {
        table(&mut out, &[], &settings);
    }
    out
}

fn outspoken(mut settings: Value, recorded: &Recorded, model: Option<&str>) -> Value {
    // A search has a depth of its own; what was measured is that of the recordings.
    let depth = recorded.depth(settings.get("pipeline"));
    if let Some(all) = settings.as_object_mut().filter(|_| depth > 0) {
        all.entry("candidates").or_insert_with(|| json!(depth));
    }
    if let Some(Value::Object(pipeline)) = settings.get_mut("pipeline") {
        for stage in ON_BY_DEFAULT {
            pipeline.entry(stage).or_insert(Value::Bool(false));
        }
        pipeline.entry("across").or_insert_with(|| "rank".into());
        if let Some(model) = model {
            pipeline.insert("learned".to_owned(), json!({ "model": model }));
        }
    }
    // What words weigh by default depends on the fusion; the recorded weight is what was measured.
    let own = recorded.channels.iter().filter(|channel| ["dense", "lexical"].contains(&channel.as_str()));
    for channel in own {
        if let Some(all) = settings.as_object_mut()
            && let Some(weights) = all.entry("weights").or_insert_with(|| json!({})).as_object_mut()
        {
            weights.entry(channel.as_str()).or_insert_with(|| json!(1.0));
        }
    }
    settings
}

/// Writes a table: its own values first, then the tables in it.
fn table(out: &mut String, path: &[&str], values: &Map<String, Value>) {
    let is_table = |value: &Value| match value {
        Value::Object(_) => true,
        Value::Array(all) => !all.is_empty() && all.iter().all(Value::is_object),
        _ => false,
    };
    // Sorted, because the order of a table depends on how serde_json was built.
    let mut entries: Vec<_> = values.iter().filter(|(_, value)| !value.is_null()).collect();
    entries.sort_by_key(|(name, _)| *name);
    for (name, value) in entries.iter().filter(|(_, value)| !is_table(value)) {
        let _ = writeln!(out, "{} = {}", key(name), inline(value));
    }
    for (name, value) in entries.into_iter().filter(|(_, value)| is_table(value)) {
        let path = [path, &[name.as_str()]].concat();
        let head = path.iter().map(|part| key(part)).collect::<Vec<_>>().join(".");
        let tables: Vec<&Map<String, Value>> = match value {
            Value::Array(all) => all.iter().filter_map(Value::as_object).collect(),
            other => other.as_object().into_iter().collect(),
        };
        for inner in tables {
            let brackets = if value.is_array() { ("[[", "]]") } else { ("[", "]") };
            let _ = writeln!(out, "\n{}{head}{}", brackets.0, brackets.1);
            table(out, &path, inner);
        }
    }
}

fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { Value::from(name).to_string() }
}

/// A value on one line. JSON's strings and numbers are also TOML's.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(all) => format!("[{}]", all.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let pair = |(name, value): (&String, &Value)| format!("{} = {}", key(name), inline(value));
            format!("{{ {} }}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A space as TOML, to be changed by hand.
pub(super) fn space(file: &mainstem_eval::tune::SpaceFile) -> Result<String, Problem> {
    let mut out =
        String::from("# The settings that `mainstem tune` tries; change it and give it with `--space`.\n");
    if let Value::Object(values) = serde_json::to_value(file)? {
        table(&mut out, &[], &values);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let settings = json!({
            "candidates": 50, "weights": {"dense": 1.5, "my \"wiki\"": 1e-7},
            "pipeline": {"limit": 10, "fuse": {"method": "rrf", "k": 20.0}, "recency": {"*": {"half_life": "7d"}},
                "route": [{"name": "why", "patterns": ["\\bwhy\\b", "é\n"], "weights": {"a": 2}}, {"name": "b", "patterns": [], "weights": {}}]},
        });
        let mut text = String::new();
        table(&mut text, &[], settings.as_object().unwrap());
        let read: Value = toml::from_str(&text).unwrap();
        assert_eq!(read, settings, "{text}");
    }

    #[test]
    fn what_a_search_would_do_otherwise_is_said() {
        let settings = json!({"pipeline": {"fuse": {"method": "rrf"}, "prior": {"power": 0.2}}, "weights": {"dense": 2}});
        let channels = ["dense", "lexical", "titles"].map(str::to_owned).into();
        let recorded = Recorded { channels, longest: 200, merged: 600 };
        let expected = json!({
            "candidates": 200,
            "pipeline": {"across": "rank", "dedup": false, "neighbours": false, "recency": false, "prior": {"power": 0.2},
                "fuse": {"method": "rrf"}, "learned": {"model": "m.json"}},
            "weights": {"dense": 2, "lexical": 1.0},
        });
        assert_eq!(outspoken(settings, &recorded, Some("m.json")), expected);
    }

    #[test]
    fn the_depth_of_the_recordings_is_said() {
        let recorded = Recorded { longest: 200, merged: 600, ..Recorded::default() };
        let depth = |settings: Value| outspoken(settings, &recorded, None)["candidates"].clone();
        assert_eq!(depth(json!({"pipeline": {}})), 200);
        assert_eq!(depth(json!({"pipeline": {"across": "calibrated"}})), 600, "of the channel as a whole");
        assert_eq!(depth(json!({"pipeline": {}, "candidates": 50})), 50);
        assert_eq!(outspoken(json!({"pipeline": {}}), &Recorded::default(), None)["candidates"], Value::Null);
    }
}
