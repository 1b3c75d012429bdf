//! One line as a document.

use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document};
use serde_json::{Map, Value};

use super::super::connector::Standing;

/// Why a line is no document.
pub(in super::super) struct Refused {
    pub(in super::super) why: String,
    pub(in super::super) standing: Standing,
}

impl Refused {
    pub(in super::super) fn unnamed(why: String) -> Self {
        Self { why, standing: Standing::Unknown }
    }
}

/// What goes between chunks whose document has no text of its own.
const JOINT: &str = "\n\n";

/// Reads a line. `dim` is the length of the vectors so far.
pub(super) fn parse(line: &str, dim: &mut Option<usize>) -> Result<Document, Refused> {
    let mut fields = object(line).map_err(Refused::unnamed)?;
    let id = id(&mut fields).map_err(Refused::unnamed)?;
    let document = document(id.clone(), fields, dim);
    document.map_err(|why| Refused { why, standing: Standing::Present(id) })
}

fn object(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(format!("expected an object, received {}", kind(&other))),
        Err(error) => Err(not_json(&error)),
    }
}

/// What is wrong, and where in the line; which line it is says the place.
fn not_json(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let what = said.rfind(" at line ").map_or(said.as_str(), |at| &said[..at]);
    format!("not JSON: {what} at column {}", error.column())
}

fn id(fields: &mut Map<String, Value>) -> Result<String, String> {
    match fields.remove("id").or_else(|| fields.remove("_id")) {
        Some(Value::String(id)) if !id.is_empty() => Ok(id),
        Some(Value::Number(id)) => Ok(id.to_string()),
        Some(other) => Err(format!("`id`: expected text or a number, received {}", kind(&other))),
        None => Err("`id`: expected text or a number, received none".to_owned()),
    }
}

fn document(id: String, mut fields: Map<String, Value>, dim: &mut Option<usize>) -> Result<Document, String> {
    let mut document = Document {
        id,
        title: text(&mut fields, "title")?.filter(|title| !title.is_empty()),
        text: text(&mut fields, "text")?.unwrap_or_default(),
        url: text(&mut fields, "url")?,
        label: text(&mut fields, "label")?,
        created_at: moment(&mut fields, "created_at")?,
        updated_at: moment(&mut fields, "updated_at")?,
        readers: readers(&mut fields)?,
        key: text(&mut fields, "key")?,
        ..Document::default()
    };
    let vector = take(&mut fields, "vector");
    let chunks = take(&mut fields, "chunks");
    match (vector, chunks) {
        (Some(_), Some(_)) => {
            return Err("`vector` and `chunks`: expected one of them, received both".to_owned());
        }
        (Some(vector), None) => {
            document.chunks = vec![whole(&document.text, numbers(&vector, "vector", dim)?)];
        }
        (None, Some(chunks)) => place(&mut document, parts(chunks, dim)?)?,
        (None, None) => {}
    }
    if document.title.is_none() && document.text.trim().is_empty() {
        return Err("no text and no title".to_owned());
    }
    document.metadata = metadata(fields)?;
    Ok(document)
}

/// The whole text as one chunk.
fn whole(text: &str, vector: Vec<f32>) -> Chunk {
    Chunk { order: 0, span: 0..text.len(), text: text.to_owned(), heading: None, vector: Some(vector) }
}

/// Takes a field; `null` is the same as none.
fn take(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    fields.remove(name).filter(|value| !value.is_null())
}

fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match take(fields, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{name}`: expected text, received {}", kind(&other))),
    }
}

fn moment(fields: &mut Map<String, Value>, name: &str) -> Result<Option<Moment>, String> {
    let Some(value) = take(fields, name) else { return Ok(None) };
    if value.as_str().is_some_and(str::is_empty) {
        return Ok(None);
    }
    serde_json::from_value(value).map(Some).map_err(|error| format!("`{name}`: {error}"))
}

fn readers(fields: &mut Map<String, Value>) -> Result<Option<Vec<String>>, String> {
    let Some(value) = take(fields, "readers") else { return Ok(None) };
    let expected = |_| "`readers`: expected a list of texts".to_owned();
    serde_json::from_value(value).map(Some).map_err(expected)
}

/// The metadata, with the fields that have no place of their own; a field of the metadata comes first.
fn metadata(rest: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut rest = rest;
    let mut metadata = match take(&mut rest, "metadata") {
        None => Map::new(),
        Some(Value::Object(metadata)) => metadata,
        Some(other) => return Err(format!("`metadata`: expected an object, received {}", kind(&other))),
    };
    for (name, value) in rest.into_iter().filter(|(_, value)| !value.is_null()) {
        metadata.entry(name).or_insert(value);
    }
    Ok(metadata)
}

fn parts(chunks: Value, dim: &mut Option<usize>) -> Result<Vec<Chunk>, String> {
    let Value::Array(chunks) = chunks else {
        return Err(format!("`chunks`: expected a list, received {}", kind(&chunks)));
    };
    let part = |(order, chunk)| match chunk {
        Value::Object(mut fields) => {
            let vector =
                take(&mut fields, "vector").map(|vector| numbers(&vector, "vector", dim)).transpose()?;
            let heading = text(&mut fields, "heading")?;
            let text = text(&mut fields, "text")?.ok_or("`text` of a chunk: expected text, received none")?;
            Ok(Chunk { order, span: 0..0, text, heading, vector })
        }
        other => Err(format!("`chunks`: expected objects, received {}", kind(&other))),
    };
    (0..).zip(chunks).map(part).collect()
}

/// Finds the chunks in the text, or makes the text out of them.
fn place(document: &mut Document, mut chunks: Vec<Chunk>) -> Result<(), String> {
    if document.text.is_empty() {
        let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        document.text = texts.join(JOINT);
    }
    let mut from = 0;
    for chunk in &mut chunks {
        let found = document.text[from..].find(&chunk.text);
        let at =
            from + found.ok_or_else(|| format!("`chunks`: text {} does not occur in `text`", chunk.order))?;
        chunk.span = at..at + chunk.text.len();
        // Chunks may overlap, but two that say the same are two places.
        from = at + chunk.text.chars().next().map_or(0, char::len_utf8);
    }
    document.chunks = chunks;
    Ok(())
}

fn numbers(value: &Value, name: &str, dim: &mut Option<usize>) -> Result<Vec<f32>, String> {
    let expected = || format!("`{name}`: expected a list of numbers");
    let list = value.as_array().filter(|list| !list.is_empty()).ok_or_else(expected)?;
    let numbers: Option<Vec<f32>> =
        list.iter().map(|number| number.as_f64().map(|wide| wide as f32)).collect();
    let length = *dim.get_or_insert(list.len());
    if length != list.len() {
        return Err(format!("`{name}`: expected {length} numbers as before, received {}", list.len()));
    }
    unit(numbers.ok_or_else(expected)?).map_err(|why| format!("`{name}`: {why}"))
}

/// Brings a vector to unit length.
pub(in super::super) fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return Err("a number is not finite".to_owned());
    }
    if length == 0.0 {
        return Err("expected a direction, received a vector of length 0".to_owned());
    }
    for value in &mut vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Ok(vector)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(text) if text.is_empty() => "an empty text",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
