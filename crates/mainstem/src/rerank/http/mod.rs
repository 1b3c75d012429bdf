//! Rerankers behind HTTP.

mod client;
mod list;
mod settings;
mod shape;

use std::time::{Duration, Instant};

use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Reranker};

pub use settings::{ServiceSettings, Shape};

use crate::Error;
use crate::models::http::breaker::Breaker;
use crate::models::http::client::left;
use client::{Client, Failed};

/// What is sent for a text without a letter, which services refuse.
const BLANK: &str = ".";

/// A reranker behind HTTP.
///
/// After some failures in a row it is not asked for a while: a search then goes on at once, instead of waiting each time for one that does
/// not answer.
pub struct HttpReranker {
    name: String,
    shape: Shape,
    batch: usize,
    client: Client,
    breaker: Breaker,
}

impl HttpReranker {
    /// Gets ready to ask.
    ///
    /// # Errors
    /// When a setting is out of range, or the key is not in the environment.
    pub fn new(settings: &ServiceSettings) -> Result<Self, Error> {
        settings.check()?;
        Ok(Self {
            name: settings.model.clone(),
            shape: settings.shape,
            batch: settings.batch.unwrap_or(settings.shape.batch()),
            client: Client::new(settings)?,
            breaker: Breaker::new(settings.failures, Duration::from_secs_f64(settings.cooldown)),
        })
    }

    fn ask(&self, query: &str, texts: &[&str], ctx: &Ctx) -> Result<Vec<f64>, Failed> {
        let mut scores = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch) {
            let sent: Vec<&str> =
                batch.iter().map(|text| if text.trim().is_empty() { BLANK } else { *text }).collect();
            let answer = self.client.post(&shape::body(self.shape, &self.name, query, &sent), ctx)?;
            let read = shape::read(self.shape, &answer, sent.len());
            scores.extend(read.map_err(|what| self.client.nonsense(&what))?);
        }
        Ok(scores)
    }
}

impl Reranker for HttpReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn rerank(&self, query: &str, texts: &[&str], ctx: &Ctx) -> Result<Vec<f64>, Failure> {
        // Who brings no time must not make the service look bad.
        if left(ctx).is_zero() {
            return Err(self.client.unavailable("there was no time left").into());
        }
        let pass = self.breaker.pass(Instant::now()).map_err(|left| {
            let seconds = left.as_secs_f64().ceil();
            self.client.unavailable(&format!("it failed too often and is not asked for another {seconds} s"))
        })?;
        match self.ask(query, texts, ctx) {
            Ok(scores) => {
                pass.succeed();
                Ok(scores)
            }
            Err(Failed { error, refused }) => {
                if refused {
                    pass.forgive();
                }
                Err(error.into())
            }
        }
    }
}
