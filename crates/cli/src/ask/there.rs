//! A question that a server answers.

use std::process::ExitCode;

use mainstem_client::Client;
use mainstem_client::ask::{Citations, Event, Question};
use mainstem_core::status::Status;

use super::render::{self, Packed};
use super::{AskArgs, to_json};
use crate::failure::{Failure, Problem};
use crate::output;
use crate::search::{render as search, there};

/// Runs the command.
pub(super) fn run(args: &AskArgs, client: &Client) -> Result<ExitCode, Failure> {
    if args.template.is_some() {
        let message = "`--template`: a server has its own prompt";
        return Err(Problem::conflict(message, "leave it out, or leave `--server` out").into());
    }
    let request = args.request(&there::settings(&args.config, &args.rank)?)?;
    let mut asked = there::asked(request.clone(), args.wait.is_given());
    asked.k = args.limit;
    let question =
        Question { search: asked, budget: args.budget, stages: args.stages, answer: !args.context };
    if args.json {
        let reply = client.ask_json(&question)?;
        output::write(None, &to_json(&reply)?)?;
        let none = |name: &str| reply["context"][name].as_array().is_none_or(Vec::is_empty);
        return Ok(if none("passages") && none("left_out") { ExitCode::from(1) } else { ExitCode::SUCCESS });
    }
    let mut heard = Heard::default();
    let mut shown = render::Shown::new(true);
    let ended = client.ask(&question, &mut |event| match event {
        Event::Token(said) => shown.show(&said),
        event => heard.take(event),
    });
    shown.end()?;
    let (packed, status) = heard.found(ended)?;
    if packed.is_empty() {
        render::nothing(&request, &status);
        return Ok(ExitCode::from(1));
    }
    heard.print(&packed)?;
    Ok(ExitCode::SUCCESS)
}

/// What has come besides the words of the answer.
#[derive(Default)]
struct Heard {
    packed: Option<Packed>,
    status: Option<Status>,
    prompt: Option<String>,
    citations: Option<Citations>,
    failed: Option<mainstem_client::Error>,
}

impl Heard {
    /// Takes an event; gaps are told before the answer begins. There is always more to hear.
    fn take(&mut self, event: Event) -> bool {
        match event {
            Event::Context(context) => self.packed = Some(Packed::from(&context)),
            Event::Status(status) => {
                if self.packed.as_ref().is_some_and(|packed| !packed.is_empty()) {
                    search::gaps(&status);
                }
                self.status = Some(status);
            }
            Event::Prompt(prompt) => self.prompt = Some(prompt),
            Event::Citations(citations) => self.citations = Some(citations),
            Event::Failed(error) => self.failed = Some(error),
            Event::Token(_) | Event::Done(_) => {}
        }
        true
    }

    /// The context and what the search did. A stream that broke off before them has nothing to show.
    fn found(&mut self, ended: Result<(), mainstem_client::Error>) -> Result<(Packed, Status), Failure> {
        match (self.packed.take(), self.status.take()) {
            (Some(packed), Some(status)) => {
                self.failed = self.failed.take().or(ended.err());
                Ok((packed, status))
            }
            _ => Err(ended.err().unwrap_or_else(mainstem_client::Error::cut_short).into()),
        }
    }

    fn print(self, packed: &Packed) -> Result<(), Failure> {
        match self.citations {
            Some(citations) => render::answered(packed, &citations.cited, &citations.unknown)?,
            None if self.failed.is_none() => render::unanswered(packed, self.prompt.as_deref())?,
            None => {}
        }
        self.failed.map_or(Ok(()), |error| Err(error.into()))
    }
}
