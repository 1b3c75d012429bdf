//! Source code: cut by its syntax.
//!
//! The tree is taken apart only where it is too large: a function, class or `impl` that fits stays whole, one that does not is cut at its
//! inner nodes, and small neighbours are put together again (Zhang et al., "cAST: Enhancing Code Retrieval-Augmented Generation with
//! Structural Chunking via Abstract Syntax Tree", 2025). Comments and attributes go with what they stand before.

mod tree;

use mainstem_core::Chunk;
use mainstem_core::contract::Chunker;

use super::super::format::Language;
use super::blocks::LineChunker;
use super::pack::split_long;
use super::{JOINT, Size, finish};
use tree::Part;

/// Longer texts are cut by lines: no person wrote them.
const MAX_PARSED: usize = 2 << 20;

/// Cuts source code by functions, classes and the like.
#[derive(Clone, Copy, Debug)]
pub struct CodeChunker {
    language: Language,
    size: Size,
}

impl CodeChunker {
    /// Chunks of this language and size.
    pub fn new(language: Language, size: Size) -> Self {
        Self { language, size }
    }

    /// Cuts what is too long although the tree has no more parts.
    fn fit(&self, text: &str, parts: Vec<Part>) -> Vec<Part> {
        let mut fitting = Vec::new();
        for part in parts {
            if part.chars <= self.size.most {
                fitting.push(part);
                continue;
            }
            for span in split_long(text, part.span.clone(), self.size.target) {
                let chars = text[span.clone()].chars().count();
                fitting.push(Part { span, chars, lead: false, ..part.clone() });
            }
        }
        fitting
    }

    /// Puts small neighbours together. What leads, such as a comment, goes with what it leads to.
    fn merge(&self, parts: Vec<Part>) -> Vec<Part> {
        let mut merged: Vec<Part> = Vec::new();
        for part in parts {
            match merged.last_mut() {
                Some(last) if self.joins(last, &part) => last.take(part),
                _ => merged.push(part),
            }
        }
        merged
    }

    fn joins(&self, last: &Part, next: &Part) -> bool {
        let together = last.chars + next.chars;
        if last.lead {
            return together <= self.size.most;
        }
        let small = self.size.target / 3;
        together <= self.size.target && (last.chars < small || next.chars < small || !next.whole)
    }
}

impl Chunker for CodeChunker {
    fn chunk(&self, text: &str) -> Vec<Chunk> {
        let parsed =
            (text.len() <= MAX_PARSED).then(|| tree::parts(self.language, text, self.size.most)).flatten();
        let Some(parts) = parsed else { return LineChunker::new(self.size).chunk(text) };
        // First what leads, so that a comment is not torn from its function by the function before it.
        let parts = tree::attach(self.fit(text, parts), self.size.most);
        let heading = |part: &Part| (!part.path.is_empty()).then(|| part.path.join(JOINT));
        finish(text, self.merge(parts).into_iter().map(|part| (part.span.clone(), heading(&part))))
    }
}
