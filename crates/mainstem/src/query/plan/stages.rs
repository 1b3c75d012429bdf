//! Which stages a search runs, with what settings.

use mainstem_core::contract::SourceStats;
use mainstem_core::pipeline::{Guarantees, guarantee};
use mainstem_core::recency::{self, RecencySpec};
use mainstem_core::route::RouteSpec;
use mainstem_core::{Failure, PipelineSpec};
use serde_json::{Map, Value};

use crate::query::request::{Request, Settings};

/// The settings' stages with what the request changes.
pub(super) fn pipeline(
    request: &Request,
    settings: &Settings,
    sources: &[&SourceStats],
) -> Result<PipelineSpec, Failure> {
    let mut pipeline = settings.pipeline.clone();
    age_by_kind(&mut pipeline, sources);
    let mut pipeline = patched(pipeline, &request.pipeline)?;
    pipeline.recency.values_mut().for_each(scale);
    // A rule for a source that is not searched would only make for a note.
    pipeline.recency.retain(|name, _| name == "*" || sources.iter().any(|source| source.name == *name));
    let filter = &request.filter;
    if filter.scope.is_some() || filter.sources.is_some() || filter.kinds.is_some() {
        narrow(&mut pipeline.guarantee, sources);
    }
    if let Some(seen) = &filter.scope {
        hide(&mut pipeline.route, seen);
    }
    pipeline.limit = Some(request.limit);
    pipeline.offset = request.offset;
    pipeline.check().map_err(|error| Box::new(error) as Failure)?;
    Ok(pipeline)
}

/// Leaves out the guarantees of sources that are not asked. The others keep the `top` that may be written with one of these.
fn narrow(guarantees: &mut Guarantees, sources: &[&SourceStats]) {
    let top = guarantee::top(guarantees);
    guarantees.retain(|name, _| name == "*" || sources.iter().any(|source| source.name == *name));
    guarantees.values_mut().for_each(|spec| spec.top = Some(top));
}

/// Leaves out of the rules what the caller may not see; a rule that has nothing else in it is none.
fn hide(rules: &mut Vec<RouteSpec>, seen: &[String]) {
    for rule in &mut *rules {
        rule.weights.retain(|source, _| seen.contains(source));
    }
    rules.retain(|rule| !rule.weights.is_empty());
}

/// Turns recency on for the kinds of source that age, unless there is a rule already.
fn age_by_kind(pipeline: &mut PipelineSpec, sources: &[&SourceStats]) {
    if pipeline.recency.contains_key("*") {
        return;
    }
    for source in sources.iter().filter(|source| recency::of_kind(&source.kind).is_some()) {
        pipeline.recency.entry(source.name.clone()).or_default();
    }
}

/// What is new but has nothing to do with the query must not come first: freshness counts in proportion to relevance.
fn scale(rule: &mut RecencySpec) {
    if rule.window_days.is_none() && rule.factor.is_none() {
        rule.scaled.get_or_insert(true);
    }
}

/// Lays a patch over a pipeline.
pub(in crate::query) fn patched(pipeline: PipelineSpec, patch: &Value) -> Result<PipelineSpec, Failure> {
    if patch.is_null() {
        return Ok(pipeline);
    }
    let refused = |error: serde_json::Error| {
        Box::new(mainstem_core::error::from_deserialiser(&error.to_string(), None)) as Failure
    };
    let mut written = serde_json::to_value(pipeline).map_err(refused)?;
    let method = patch.get("fuse").and_then(|fuse| fuse.get("method"));
    let across = patch.get("across").and_then(Value::as_str).filter(|across| *across != written["across"]);
    if method.is_some() || across.is_some() {
        make_plain(&mut written, across);
    }
    merge(&mut written, patch);
    serde_json::from_value(written).map_err(refused)
}

/// Who asks for another way to merge or to fuse gets it plain: what goes with the way of the settings would only spoil it.
fn make_plain(written: &mut Value, across: Option<&str>) {
    let Value::Object(written) = written else { return };
    for stage in ["fuse", "neighbours", "prior"] {
        written.remove(stage);
    }
    if across == Some("score") {
        written.insert("fuse".to_owned(), serde_json::json!({ "method": "linear" }));
    }
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
    let Value::Object(target) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            target.remove(name);
        } else {
            merge(target.entry(name).or_insert(Value::Null), value);
        }
    }
}
