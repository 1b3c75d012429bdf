//! The sample files, inside the program: the demo needs no network and no folder.

use mainstem_eval::format::{Lines, QrelsReader};
use mainstem_eval::{Qrels, QrelsBuilder};

use crate::eval::ask::{Query, read_queries};
use crate::failure::Problem;

/// One file of the samples.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// Its path under `recipes`.
    pub(super) path: &'static str,
    /// What is in it.
    pub(super) text: &'static str,
}

macro_rules! samples {
    ($($path:literal)*) => {
        /// Every file.
        pub(super) const ALL: &[Sample] = &[$(Sample {
            path: $path,
            text: include_str!(concat!("../../../../recipes/", $path)),
        },)*];
    };
}

samples! {
    "code-review/README.md" "code-review/mainstem.toml" "code-review/prompt.jinja" "code-review/queries.jsonl" "code-review/qrels.tsv"
    "code-review/code.jsonl" "code-review/reviews.jsonl" "code-review/wiki.jsonl"
    "agent-memory/README.md" "agent-memory/mainstem.toml" "agent-memory/prompt.jinja" "agent-memory/queries.jsonl" "agent-memory/qrels.tsv"
    "agent-memory/facts.jsonl" "agent-memory/episodes.jsonl" "agent-memory/documents.jsonl"
    "desktop/README.md" "desktop/mainstem.toml" "desktop/prompt.jinja" "desktop/queries.jsonl" "desktop/qrels.tsv"
    "desktop/slack.jsonl" "desktop/notion.jsonl" "desktop/linear.jsonl" "desktop/gmail.jsonl"
    "docs-team/README.md" "docs-team/mainstem.toml" "docs-team/prompt.jinja" "docs-team/queries.jsonl" "docs-team/qrels.tsv"
    "docs-team/guides.jsonl" "docs-team/api.jsonl" "docs-team/changelog.jsonl" "docs-team/faq.jsonl"
    "chess-tutor/README.md" "chess-tutor/mainstem.toml" "chess-tutor/prompt.jinja" "chess-tutor/queries.jsonl" "chess-tutor/qrels.tsv"
    "chess-tutor/books.jsonl" "chess-tutor/games.jsonl"
    "first-look/README.md" "first-look/search.json" "first-look/corpus.jsonl" "first-look/queries.jsonl"
    "first-look/qrels.tsv" "first-look/code-lexical.run" "first-look/code-dense.run"
    "first-look/reviews-lexical.run" "first-look/reviews-dense.run" "first-look/wiki-lexical.run"
    "first-look/wiki-dense.run" "first-look/lexical.run" "first-look/dense.run"
}

/// The text of a file.
pub(super) fn text(path: &str) -> Result<&'static str, Problem> {
    let found = ALL.iter().find(|sample| sample.path == path).map(|sample| sample.text);
    found.ok_or_else(|| mainstem_core::Error::unknown("sample", path, ALL.iter().map(|s| s.path)).into())
}

/// One kind of user, with the sources that such a user has.
pub(super) struct Recipe {
    /// Its folder.
    pub(super) name: &'static str,
    /// The sources and their kinds.
    pub(super) sources: &'static [(&'static str, &'static str)],
}

/// The recipes, in the order in which they are shown. No two have a source of the same name.
pub(super) const RECIPES: [Recipe; 5] = [
    Recipe { name: "code-review", sources: &[("code", "code"), ("reviews", "reviews"), ("wiki", "wiki")] },
    Recipe {
        name: "agent-memory",
        sources: &[("facts", "memory"), ("episodes", "memory"), ("documents", "docs")],
    },
    Recipe {
        name: "desktop",
        sources: &[("slack", "slack"), ("notion", "notion"), ("linear", "linear"), ("gmail", "gmail")],
    },
    Recipe {
        name: "docs-team",
        sources: &[("guides", "docs"), ("api", "docs"), ("changelog", "docs"), ("faq", "docs")],
    },
    Recipe { name: "chess-tutor", sources: &[("books", "books"), ("games", "games")] },
];

impl Recipe {
    /// The documents of a source.
    pub(super) fn documents(&self, source: &str) -> Result<&'static str, Problem> {
        text(&format!("{}/{source}.jsonl", self.name))
    }

    /// The names of the sources.
    pub(super) fn source_names(&self) -> Vec<String> {
        self.sources.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    /// A query of all recipes is called by its recipe too.
    pub(super) fn query_id(&self, id: &str) -> String {
        format!("{}/{id}", self.name)
    }

    /// The judged questions.
    pub(super) fn queries(&self) -> Result<Vec<Query>, Problem> {
        let path = format!("{}/queries.jsonl", self.name);
        let mut queries = read_queries(Lines::new(text(&path)?.as_bytes(), path.as_str()), &path)?;
        for query in &mut queries {
            query.id = self.query_id(&query.id);
            query.own = self.source_names();
        }
        Ok(queries)
    }

    fn judge(&self, builder: &mut QrelsBuilder) -> Result<(), Problem> {
        let path = format!("{}/qrels.tsv", self.name);
        let mut reader = QrelsReader::new(Lines::new(text(&path)?.as_bytes(), path.as_str()));
        while let Some(record) = reader.next_record()? {
            builder.judge(&self.query_id(record.query), record.doc, record.relevance);
        }
        Ok(())
    }
}

/// All judgements of these recipes.
pub(super) fn qrels<'a>(recipes: impl IntoIterator<Item = &'a Recipe>) -> Result<Qrels, Problem> {
    let mut builder = QrelsBuilder::default();
    recipes.into_iter().try_for_each(|recipe| recipe.judge(&mut builder))?;
    Ok(builder.finish())
}

/// How many documents all sources hold together.
pub(super) fn documents() -> Result<u64, Problem> {
    let pairs =
        RECIPES.iter().flat_map(|recipe| recipe.sources.iter().map(move |(source, _)| (recipe, source)));
    pairs.map(|(recipe, source)| Ok(recipe.documents(source)?.lines().count() as u64)).sum()
}
