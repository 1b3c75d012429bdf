//! Prompts from templates.
//!
//! A template is a Jinja file with two blocks: `instructions` becomes the system message, `question` the user's. One that begins with
//! `{% extends "default" %}` takes both from the default template and says in the block `sources` how to use each kind of source.
//!
//! | variable | what it is |
//! |---|---|
//! | `query` | the question |
//! | `context` | the packed passages |
//! | `passages` | a list: `n`, `source`, `kind` |
//! | `kinds` | a list, largest share first: `kind`, `label`, `passages`, `share` |
//! | `dominant` | the kind with more than half of the tokens, where there are others; else empty |
//! | `stage` | `answer`, `outline`, `expand` or `assemble` |
//! | `outline`, `draft` | what the stages before have written; empty before |
//!
//! Any other variable is an error when the template is read.

use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, context};
use serde::Serialize;

use super::chat::Message;
use super::pack::{Context, Share};
use crate::Error;

const DEFAULT: &str = include_str!("default.jinja");
/// The name that other templates extend.
const DEFAULT_NAME: &str = "default";
const OWN_NAME: &str = "prompt";
const VARIABLES: [&str; 9] =
    ["query", "context", "passages", "kinds", "dominant", "stage", "outline", "draft", "passage"];
/// What templates may call besides.
const FUNCTIONS: [&str; 7] = ["super", "loop", "self", "range", "dict", "namespace", "caller"];

/// What a call to the model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The whole answer at once.
    Answer,
    /// The points of the answer.
    Outline,
    /// A paragraph for each point.
    Expand,
    /// One answer of the paragraphs.
    Assemble,
}

/// A prompt template.
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    name: &'static str,
}

/// A passage as a template sees it. Titles come from documents, and stay out of instructions.
#[derive(Serialize)]
struct Seen {
    n: usize,
    source: String,
    kind: String,
}

impl Template {
    /// The template that is used unless another is named.
    ///
    /// # Errors
    /// Never, unless the program was built with a broken one.
    pub fn standard() -> Result<Self, Error> {
        Ok(Self { environment: environment()?, name: DEFAULT_NAME })
    }

    /// Reads a template from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no template.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::io("cannot read the template", path, source))?;
        Self::parse(&text).map_err(|error| match error {
            Error::Input { message, code, hint, place } => {
                let place = Some(place.unwrap_or_default().in_file(path.display().to_string()));
                Error::Input { message, code, hint, place }
            }
            other => other,
        })
    }

    /// Reads a template.
    ///
    /// # Errors
    /// When it is no template, uses a variable that there is not, or lacks a block.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut environment = environment()?;
        environment.add_template_owned(OWN_NAME, text.to_owned()).map_err(|error| refused(&error))?;
        let template = Self { environment, name: OWN_NAME };
        template.check()?;
        Ok(template)
    }

    /// Refuses variables that there are not, even where a branch hides them, and renders every stage once.
    fn check(&self) -> Result<(), Error> {
        let template = self.environment.get_template(self.name).map_err(|error| refused(&error))?;
        let mut unknown: Vec<String> = template.undeclared_variables(false).into_iter().collect();
        unknown.retain(|name| !VARIABLES.contains(&name.as_str()) && !FUNCTIONS.contains(&name.as_str()));
        unknown.sort_unstable();
        if let Some(name) = unknown.first() {
            let known = VARIABLES[..8].iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message = format!("unknown variable `{name}` in the template, expected one of {known}");
            let near = mainstem_core::nearest(name, VARIABLES);
            let hint = near.map_or_else(
                || "see docs/ask.md for what each holds".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(Error::input(message, hint));
        }
        let empty = Context {
            passages: Vec::new(),
            left_out: Vec::new(),
            tokens: 0,
            budget: 0,
            diversity: 0.0,
            text: String::new(),
        };
        for stage in [Stage::Answer, Stage::Outline, Stage::Expand, Stage::Assemble] {
            self.messages("?", &empty, stage, "")?;
        }
        Ok(())
    }

    /// The messages of a call. `before` is what the stage before it has written.
    ///
    /// # Errors
    /// When the template cannot be rendered.
    pub fn messages(
        &self,
        query: &str,
        context: &Context,
        stage: Stage,
        before: &str,
    ) -> Result<[Message; 2], Error> {
        let seen = |passage: &super::Passage| Seen {
            n: passage.n,
            source: name(&passage.source),
            kind: name(&passage.kind),
        };
        let passages: Vec<Seen> = context.passages.iter().map(seen).collect();
        let (outline, draft) = match stage {
            Stage::Expand => (before, ""),
            Stage::Assemble => ("", before),
            Stage::Answer | Stage::Outline => ("", ""),
        };
        let values = context! {
            query, outline, draft,
            stage => Serde(stage),
            context => context.text.as_str(),
            passages => Serde(passages),
            kinds => Serde(context.kinds().into_iter().map(named).collect::<Vec<_>>()),
            dominant => name(&context.dominant().unwrap_or_default()),
        };
        let template = self.environment.get_template(self.name).map_err(|error| refused(&error))?;
        let mut rendered = template.render_captured(values).map_err(|error| refused(&error))?;
        let mut block = |name: &str| {
            let text =
                rendered.with_state_mut(|state| state.render_block(name)).map_err(|error| refused(&error))?;
            Ok::<_, Error>(tidy(&text))
        };
        Ok([Message::system(block("instructions")?), Message::user(block("question")?)])
    }
}

/// No name of a source or a kind is longer, in characters.
const LONGEST_NAME: usize = 40;

/// The name of a source or of a kind, which whoever writes documents may choose: as a word, it cannot speak to the model.
fn name(text: &str) -> String {
    let fine = |char: char| if char.is_alphanumeric() || "-_./:".contains(char) { char } else { '_' };
    text.chars().take(LONGEST_NAME).map(fine).collect()
}

fn named(share: Share) -> Share {
    Share { kind: name(&share.kind), label: name(&share.label), ..share }
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| refused(&error))?);
    environment.add_template(DEFAULT_NAME, DEFAULT).map_err(|error| refused(&error))?;
    Ok(environment)
}

/// No blank line at the ends.
fn tidy(text: &str) -> String {
    text.trim_matches('\n').to_owned()
}

fn refused(error: &minijinja::Error) -> Error {
    let place = error.line().map(|line| mainstem_core::Place::line(line as u64));
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let hint = match error.kind() {
        ErrorKind::UndefinedError => "see docs/ask.md for the variables that there are",
        ErrorKind::TemplateNotFound => "a template may extend `default` only",
        ErrorKind::UnknownBlock => {
            "it needs the blocks `instructions` and `question`; `{% extends \"default\" %}` brings both"
        }
        _ => "see docs/ask.md for what a template looks like",
    };
    Error::Input {
        message: format!("the template cannot be used: {}{detail}", error.kind()),
        code: mainstem_core::Code::Syntax,
        hint: hint.to_owned(),
        place,
    }
}
