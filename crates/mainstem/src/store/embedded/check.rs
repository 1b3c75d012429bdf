//! What a store refuses to keep.

use mainstem_core::contract::{Change, ModelCard};
use mainstem_core::{Chunk, Code, Document};

use crate::Error;

/// Refuses documents that cannot be stored.
pub(super) fn changes(changes: &[Change], model: Option<&ModelCard>) -> Result<(), Error> {
    for change in changes {
        if let Change::Put(document) = change {
            order(document)?;
            for chunk in &document.chunks {
                chunk_vector(document, chunk, model)?;
            }
        }
    }
    Ok(())
}

fn order(document: &Document) -> Result<(), Error> {
    match document.chunks.windows(2).find(|pair| pair[0].order >= pair[1].order) {
        None => Ok(()),
        Some(pair) => {
            let (before, after) = (pair[0].order, pair[1].order);
            let message = format!(
                "chunk {after} of `{}/{}` comes after chunk {before}, expected rising numbers",
                document.source, document.id
            );
            let hint = "number the chunks of a document in their order, from 0";
            Err(refusal(message, Code::Duplicate, hint))
        }
    }
}

fn chunk_vector(document: &Document, chunk: &Chunk, model: Option<&ModelCard>) -> Result<(), Error> {
    let Some(given) = &chunk.vector else { return Ok(()) };
    let name = || format!("`{}/{}#{}`", document.source, document.id, chunk.order);
    match model {
        Some(model) => vector(given, model, name),
        None => Err(refusal(
            format!("{} has a vector, but the store has no model", name()),
            Code::Model,
            "say first which model the vectors are of",
        )),
    }
}

/// Refuses a vector that is not of the store's model.
pub(super) fn vector(vector: &[f32], model: &ModelCard, whose: impl FnOnce() -> String) -> Result<(), Error> {
    if vector.len() != model.dim {
        let message = format!(
            "the vector of {} has {} numbers, expected {} as `{}` gives",
            whose(),
            vector.len(),
            model.dim,
            model.name
        );
        return Err(refusal(message, Code::Model, "embed with the model of the store"));
    }
    match vector.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => {
            let message = format!("the vector of {} holds `{value}`, expected finite numbers", whose());
            Err(refusal(message, Code::NonFinite, "embed it again, or leave the vector out"))
        }
    }
}

/// Something of the caller's that cannot be used.
pub(super) fn refusal(message: String, code: Code, hint: &str) -> Error {
    Error::Input { message, code, hint: hint.to_owned(), place: None }
}
