//! From a question and its context to an answer.

use std::path::Path;

use mainstem_core::status::Status;
use serde::Serialize;

use super::chat::Chat;
use super::citations::Citations;
use super::pack::Context;
use super::piece::Piece;
use super::retry::Stop;
use super::settings::{AskSettings, Stages, check_budget};
use super::template::{Stage, Template};
use crate::Error;
use crate::query::Response;

/// What answers questions: settings, and a template that was read once.
#[derive(Debug)]
pub struct Asker {
    settings: AskSettings,
    template: Template,
}

/// An answer, or as much of one as has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// What it cites.
    pub citations: Citations,
}

/// Everything at once: the context, and the answer where there is a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reply {
    /// What the model got to read.
    pub context: Context,
    /// What each leg and each stage of the search did: an answer never hides a gap.
    pub status: Status,
    /// Without a model: what one would be sent, ready to paste.
    pub prompt: Option<String>,
    /// What the model wrote; nothing without one.
    pub answer: Option<String>,
    /// What that cites.
    pub citations: Option<Citations>,
}

impl Reply {
    /// A context that nobody has answered from yet.
    pub fn new(context: Context, status: Status) -> Self {
        Self { context, status, prompt: None, answer: None, citations: None }
    }

    /// The same with its answer.
    #[must_use]
    pub fn answered(self, answer: Answer) -> Self {
        Self { answer: Some(answer.text), citations: Some(answer.citations), ..self }
    }
}

impl Asker {
    /// Checks the settings and reads the template, which is looked for in `folder` when its path is relative.
    ///
    /// # Errors
    /// When a setting is out of range, the template cannot be used, or the key is not in the environment.
    pub fn new(settings: AskSettings, folder: &Path) -> Result<Self, Error> {
        Chat::new(&settings)?;
        let template = match &settings.template {
            Some(path) => Template::open(&folder.join(path))?,
            None => Template::standard()?,
        };
        Ok(Self { settings, template })
    }

    /// The settings.
    pub fn settings(&self) -> &AskSettings {
        &self.settings
    }

    /// The context of what a search found, within a budget if one is given.
    ///
    /// # Errors
    /// When no context can have this budget.
    pub fn context(&self, response: &Response, budget: Option<usize>) -> Result<Context, Error> {
        let mut packer = self.settings.packer();
        packer.budget = budget.unwrap_or(packer.budget);
        packer.considered = packer.considered.max(response.hits.len());
        check_budget(packer.budget)?;
        Ok(packer.pack(&Piece::of(response)))
    }

    /// A conversation for one answer; nothing where no service is named.
    ///
    /// # Errors
    /// When the key is no longer in the environment.
    pub fn chat(&self) -> Result<Option<Chat>, Error> {
        Chat::new(&self.settings)
    }

    /// Answers a question, and says how that ended: what came before an error is an answer too, and what it cites is checked. Only what
    /// belongs to the answer is handed on: of three stages, the last.
    ///
    /// # Errors
    /// As [`Chat::ask`], and when the template cannot be rendered.
    pub fn answer(
        &self,
        chat: &Chat,
        (query, context): (&str, &Context),
        stages: Option<Stages>,
        hear: &mut dyn FnMut(&str) -> bool,
    ) -> (Answer, Result<(), Error>) {
        let mut text = String::new();
        let ended = self.write(chat, (query, context), stages, &mut |said| {
            text.push_str(said);
            hear(said)
        });
        let citations = Citations::of(&text, context.passages.len());
        (Answer { text, citations }, ended)
    }

    fn write(
        &self,
        chat: &Chat,
        (query, context): (&str, &Context),
        stages: Option<Stages>,
        hear: &mut dyn FnMut(&str) -> bool,
    ) -> Result<(), Error> {
        let mut before = String::new();
        let last = match stages.unwrap_or(self.settings.stages) {
            Stages::One => Stage::Answer,
            Stages::Three => {
                for stage in [Stage::Outline, Stage::Expand] {
                    let messages = self.template.messages(query, context, stage, &before)?;
                    before = whole(chat, &messages)?;
                }
                Stage::Assemble
            }
        };
        chat.ask(&self.template.messages(query, context, last, &before)?, hear)
    }

    /// The messages of a pass, as a person can paste them.
    ///
    /// # Errors
    /// When the template cannot be rendered.
    pub fn prompt(&self, query: &str, context: &Context) -> Result<String, Error> {
        let [instructions, question] = self.template.messages(query, context, Stage::Answer, "")?;
        Ok(format!("{}\n\n{}\n", instructions.content, question.content))
    }
}

fn whole(chat: &Chat, messages: &[super::Message]) -> Result<String, Error> {
    let mut text = String::new();
    chat.ask(messages, &mut |said| {
        text.push_str(said);
        true
    })?;
    Ok(text)
}

/// Ends a conversation when it is dropped, so that nobody goes on talking to a client that has left.
#[derive(Debug)]
pub struct StopOnDrop(pub Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
