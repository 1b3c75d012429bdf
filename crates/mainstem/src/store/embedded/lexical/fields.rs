//! The fields of the index.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;

use crate::words::{CharacterTokenizer, WordTokenizer};

/// The name of a tokenizer carries the version of its rules: an index made by other rules has another schema and is made anew.
const WORDS: &str = "words-1";
const CHARACTERS: &str = "characters-1";

/// The fields, in the order of the schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// The number of the chunk.
    pub(super) id: Field,
    /// The number of its source.
    pub(super) source: Field,
    /// The words of its title and of its text, with places.
    pub(super) body: Field,
    /// The words of its title once more.
    pub(super) title: Field,
    /// The single characters of scripts without spaces, of title and text.
    pub(super) characters: Field,
    /// What tells copies of the chunk, see [`super::sketch`].
    pub(super) sketch: Field,
}

impl Fields {
    pub(super) const ID: &str = "id";
    pub(super) const SOURCE: &str = "source";
    /// The number at its end is the version of the rules that make a sketch.
    pub(super) const SKETCH: &str = "sketch-1";

    pub(super) fn new() -> Self {
        let [id, source, body, title, characters, sketch] = [0, 1, 2, 3, 4, 5].map(Field::from_field_id);
        Self { id, source, body, title, characters, sketch }
    }

    pub(super) fn schema() -> Schema {
        let mut schema = Schema::builder();
        schema.add_u64_field(Self::ID, INDEXED | FAST);
        schema.add_u64_field(Self::SOURCE, NumericOptions::from(FAST));
        schema.add_text_field("body", text(WORDS, IndexRecordOption::WithFreqsAndPositions, true));
        schema.add_text_field("title", text(WORDS, IndexRecordOption::WithFreqs, false));
        schema.add_text_field("characters", text(CHARACTERS, IndexRecordOption::WithFreqs, false));
        schema.add_u64_field(Self::SKETCH, NumericOptions::from(FAST));
        schema.build()
    }

    pub(super) fn tokenizers() -> TokenizerManager {
        let tokenizers = TokenizerManager::default();
        tokenizers.register(WORDS, WordTokenizer);
        tokenizers.register(CHARACTERS, CharacterTokenizer);
        tokenizers
    }
}

fn text(tokenizer: &str, record: IndexRecordOption, lengths: bool) -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(tokenizer)
        .set_index_option(record)
        .set_fieldnorms(lengths);
    TextOptions::default().set_indexing_options(indexing)
}
