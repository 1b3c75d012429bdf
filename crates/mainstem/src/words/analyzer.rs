//! Words as tantivy reads them.

use std::vec;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Cuts a text into words.
#[derive(Clone, Default)]
pub(crate) struct WordTokenizer;

/// Cuts a text into the single characters of scripts without spaces.
#[derive(Clone, Default)]
pub(crate) struct CharacterTokenizer;

/// Tokens that have been cut already.
pub(crate) struct Cut {
    tokens: vec::IntoIter<super::Token>,
    token: Token,
}

impl Cut {
    fn new(tokens: Vec<super::Token>) -> Self {
        Self { tokens: tokens.into_iter(), token: Token::default() }
    }
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Cut;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Cut {
        Cut::new(super::tokens(text))
    }
}

impl Tokenizer for CharacterTokenizer {
    type TokenStream<'a> = Cut;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Cut {
        // Most texts have none, and saying so is free.
        Cut::new(if text.is_ascii() { Vec::new() } else { super::characters(text) })
    }
}

impl TokenStream for Cut {
    fn advance(&mut self) -> bool {
        let Some(next) = self.tokens.next() else { return false };
        self.token = Token {
            offset_from: next.start,
            offset_to: next.end,
            position: next.position as usize,
            text: next.term,
            position_length: 1,
        };
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
