//! Which stages a search runs, with what settings.

use mainstem_core::contract::SourceStats;
use mainstem_core::recency;
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
    // A rule for a source that is not searched would only make for a note.
    pipeline.recency.retain(|name, _| name == "*" || sources.iter().any(|source| source.name == *name));
    pipeline.limit = Some(request.limit);
    pipeline.offset = request.offset;
    pipeline.check().map_err(|error| Box::new(error) as Failure)?;
    Ok(pipeline)
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

fn patched(pipeline: PipelineSpec, patch: &Value) -> Result<PipelineSpec, Failure> {
    if patch.is_null() {
        return Ok(pipeline);
    }
    let refused = |error: serde_json::Error| {
        Box::new(mainstem_core::error::from_deserialiser(&error.to_string(), None)) as Failure
    };
    let mut written = serde_json::to_value(pipeline).map_err(refused)?;
    if patch.get("fuse").is_some_and(|fuse| fuse.get("method").is_some()) {
        written["fuse"] = Value::Null;
    }
    merge(&mut written, patch);
    serde_json::from_value(written).map_err(refused)
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
