//! Matrices of token vectors, checked once so that no kernel needs to.

/// Why a matrix of tokens was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A token with no components has no direction.
    #[error("expected tokens of at least 1 dimension, received 0")]
    NoDimensions,
    /// The values do not divide into rows.
    #[error("expected a multiple of {dim} values, received {values}")]
    Ragged {
        /// Components per token.
        dim: usize,
        /// Values received.
        values: usize,
    },
    /// Query and document have different dimensions.
    #[error("expected document tokens of {query} dimensions as in the query, received {document}")]
    Dimensions {
        /// Components per query token.
        query: usize,
        /// Components per document token.
        document: usize,
    },
    /// Offsets must start at 0, never fall, and end at the number of tokens.
    #[error("expected offsets that rise from 0 to {tokens}, received {offset} at place {place}")]
    Offsets {
        /// Tokens in the batch.
        tokens: usize,
        /// Place of the first wrong offset.
        place: usize,
        /// The offset there, or 0 when there is none.
        offset: usize,
    },
    /// The output holds another number of scores than the batch holds documents.
    #[error("expected room for {documents} scores, received room for {room}")]
    Room {
        /// Documents in the batch.
        documents: usize,
        /// Scores the output can hold.
        room: usize,
    },
}

/// A matrix of tokens, one per row, rows contiguous.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a> {
    values: &'a [f32],
    dim: usize,
}

impl<'a> Tokens<'a> {
    /// Views `values` as rows of `dim` components.
    ///
    /// # Errors
    /// When `dim` is 0 or does not divide the number of values.
    pub fn new(values: &'a [f32], dim: usize) -> Result<Self, ShapeError> {
        if dim == 0 {
            return Err(ShapeError::NoDimensions);
        }
        if !values.len().is_multiple_of(dim) {
            return Err(ShapeError::Ragged { dim, values: values.len() });
        }
        Ok(Self { values, dim })
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Components per token.
    pub fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn values(&self) -> &'a [f32] {
        self.values
    }
}

/// Many documents' tokens in one slice: document `i` holds the tokens `offsets[i]..offsets[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct TokenBatch<'a> {
    tokens: Tokens<'a>,
    offsets: &'a [usize],
}

impl<'a> TokenBatch<'a> {
    /// Cuts `tokens` into documents at `offsets` (in tokens; one more offset than documents).
    ///
    /// # Errors
    /// When the offsets do not rise from 0 to the number of tokens.
    pub fn new(tokens: Tokens<'a>, offsets: &'a [usize]) -> Result<Self, ShapeError> {
        let wrong = |place: usize| ShapeError::Offsets {
            tokens: tokens.len(),
            place,
            offset: offsets.get(place).copied().unwrap_or(0),
        };
        if offsets.first() != Some(&0) {
            return Err(wrong(0));
        }
        if let Some(place) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(wrong(place + 1));
        }
        if offsets.last() != Some(&tokens.len()) {
            return Err(wrong(offsets.len() - 1));
        }
        Ok(Self { tokens, offsets })
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Components per token.
    pub fn dim(&self) -> usize {
        self.tokens.dim
    }

    /// The rows of document `i`, which must be one of the batch.
    pub(crate) fn document(&self, i: usize) -> &'a [f32] {
        &self.tokens.values[self.offsets[i] * self.tokens.dim..self.offsets[i + 1] * self.tokens.dim]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_must_be_whole() {
        assert_eq!(Tokens::new(&[1.0; 6], 3).unwrap().len(), 2);
        assert_eq!(Tokens::new(&[1.0; 7], 3).unwrap_err(), ShapeError::Ragged { dim: 3, values: 7 });
        assert_eq!(Tokens::new(&[], 0).unwrap_err(), ShapeError::NoDimensions);
        assert!(Tokens::new(&[], 3).unwrap().is_empty());
    }

    #[test]
    fn offsets_must_rise_from_zero_to_the_end() {
        let tokens = Tokens::new(&[1.0; 6], 2).unwrap();
        let refused = |offsets: &[usize]| match TokenBatch::new(tokens, offsets) {
            Err(ShapeError::Offsets { tokens: 3, place, offset }) => Some((place, offset)),
            _ => None,
        };
        assert_eq!(refused(&[0, 1, 1, 3]), None);
        assert_eq!(refused(&[]), Some((0, 0)));
        assert_eq!(refused(&[1, 3]), Some((0, 1)));
        assert_eq!(refused(&[0, 2, 1, 3]), Some((2, 1)));
        assert_eq!(refused(&[0, 2]), Some((1, 2)));
        assert_eq!(refused(&[0, 4]), Some((1, 4)));
    }

    #[test]
    fn an_empty_batch_has_one_offset() {
        let batch = TokenBatch::new(Tokens::new(&[], 2).unwrap(), &[0]).unwrap();
        assert!(batch.is_empty());
    }
}
