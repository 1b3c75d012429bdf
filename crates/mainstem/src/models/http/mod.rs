//! Embedding models behind HTTP.

pub(crate) mod breaker;
pub(crate) mod client;
pub(crate) mod retry;
mod settings;
mod shape;

use std::time::{Duration, Instant};

use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Embedded, Embedder, ModelCard};

pub(crate) use settings::check_url;
pub use settings::{HttpSettings, Shape};

use crate::Error;
use breaker::{Breaker, Pass};
use client::{Client, Trouble, left};
use shape::{Question, Use};

/// What is embedded to learn how long the vectors are.
const PROBE: &str = "dimension";
/// What is sent for a text without a letter, which services refuse.
const BLANK: &str = ".";
/// A service that was given less time and did not answer has not failed.
const FAIR: Duration = Duration::from_millis(250);

/// A model behind HTTP.
///
/// It asks services not to cut texts. One that then refuses a text is asked again with leave to cut it, or, where there is no way to
/// give leave, with ever less of the text; the text is reported as cut. A blank text is sent as a full stop.
///
/// After some failures in a row it is not asked for a while: a search then goes on by words at once, and has it back soon after it answers again.
pub struct HttpEmbedder {
    card: ModelCard,
    client: Client,
    shape: Shape,
    purpose: Use,
    batch: usize,
    breaker: Breaker,
}

impl HttpEmbedder {
    /// Gets ready to ask. When the settings do not say how long the vectors are, the service is asked once.
    ///
    /// # Errors
    /// When a setting is out of range, the key is not in the environment, or the service does not answer.
    pub fn connect(settings: &HttpSettings, ctx: &Ctx) -> Result<Self, Error> {
        settings.check()?;
        let max_tokens = settings.max_tokens;
        let card = ModelCard { name: settings.model.clone(), dim: settings.dim.unwrap_or(0), max_tokens };
        let client = Client::new(settings)?;
        let breaker = Breaker::new(settings.failures, Duration::from_secs_f64(settings.cooldown));
        let (shape, batch, purpose) = (settings.shape, settings.batch, Use::Document);
        let mut embedder = Self { card, client, shape, purpose, batch, breaker };
        if settings.dim.is_none() {
            let probe = embedder.ask(&[PROBE], false, ctx).map_err(Trouble::into_error)?;
            embedder.card.dim = probe.first().map_or(0, Vec::len);
        }
        Ok(embedder)
    }

    /// The same model for queries, where a service tells them from documents (Cohere does). Its errors name the model: where a service lives is
    /// nobody's business who searches.
    #[must_use]
    pub fn for_queries(mut self) -> Self {
        self.purpose = Use::Query;
        self.client.shown.clone_from(&self.card.name);
        self
    }

    fn embed_batch(&self, texts: &[&str], ctx: &Ctx) -> Result<Vec<Embedded>, Error> {
        match self.ask(texts, false, ctx) {
            Ok(vectors) => Ok(vectors.into_iter().map(|vector| Embedded { vector, cut: false }).collect()),
            Err(trouble) if !trouble.may_be_length() || !self.may_be_cut(texts) => Err(trouble.into_error()),
            Err(trouble) if texts.len() == 1 => self.embed_cut(texts[0], trouble, ctx),
            Err(_) => {
                let (first, second) = texts.split_at(texts.len() / 2);
                let mut embedded = self.embed_batch(first, ctx)?;
                embedded.extend(self.embed_batch(second, ctx)?);
                Ok(embedded)
            }
        }
    }

    /// Whether a text may be too long. No token is shorter than a byte.
    fn may_be_cut(&self, texts: &[&str]) -> bool {
        self.shape.can_cut() || texts.iter().any(|text| text.len() > self.card.max_tokens)
    }

    /// The vector of the start of a text that was refused as a whole.
    fn embed_cut(&self, text: &str, refused: Trouble, ctx: &Ctx) -> Result<Vec<Embedded>, Error> {
        let cut =
            |vectors: Vec<_>| vectors.into_iter().map(|vector| Embedded { vector, cut: true }).collect();
        if self.shape.can_cut() {
            return self.ask(&[text], true, ctx).map(cut).map_err(|_| refused.into_error());
        }
        let mut start = text;
        while start.len() > self.card.max_tokens {
            let half = (0..=start.len() / 2).rev().find(|end| start.is_char_boundary(*end));
            start = &start[..half.unwrap_or(0)];
            match self.ask(&[start], false, ctx) {
                Ok(vectors) => return Ok(cut(vectors)),
                Err(trouble) if trouble.may_be_length() => {}
                Err(trouble) => return Err(trouble.into_error()),
            }
        }
        Err(refused.into_error())
    }

    /// Unit vectors, one for each text, each of the card's dimension.
    fn ask(&self, texts: &[&str], cut: bool, ctx: &Ctx) -> Result<Vec<Vec<f32>>, Trouble> {
        let sent: Vec<&str> =
            texts.iter().map(|text| if text.trim().is_empty() { BLANK } else { *text }).collect();
        let question = Question { model: &self.card.name, texts: &sent, cut, purpose: self.purpose };
        let (pass, time) = (self.pass()?, left(ctx));
        let answer = self.client.post(&question.body(self.shape), sent.len(), ctx);
        let read = answer
            .and_then(|answer| self.read(&answer, sent.len()).map_err(|what| self.client.nonsense(&what)));
        match &read {
            Ok(_) => pass.succeed(),
            // It answers; it is the text that it does not like.
            Err(trouble) if trouble.may_be_length() => pass.succeed(),
            Err(_) if time < FAIR => pass.forgive(),
            Err(_) => drop(pass),
        }
        read
    }

    /// Leave to ask the service.
    fn pass(&self) -> Result<Pass<'_>, Trouble> {
        self.breaker.pass(Instant::now()).map_err(|left| {
            let seconds = left.as_secs_f64().ceil();
            self.client.unavailable(&format!("it failed too often and is not asked for another {seconds} s"))
        })
    }

    fn read(&self, answer: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
        let mut vectors = shape::read(self.shape, answer, count)?;
        let expected = Some(self.card.dim).filter(|dim| *dim > 0).or(vectors.first().map(Vec::len));
        for vector in &mut vectors {
            to_unit(vector, expected.unwrap_or(0))?;
        }
        Ok(vectors)
    }
}

impl Embedder for HttpEmbedder {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn embed(&self, texts: &[&str], ctx: &Ctx) -> Result<Vec<Embedded>, Failure> {
        let mut embedded = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch) {
            embedded.extend(self.embed_batch(batch, ctx).map_err(crate::models::failure)?);
        }
        Ok(embedded)
    }
}

fn to_unit(vector: &mut [f32], expected: usize) -> Result<(), String> {
    if vector.len() != expected {
        return Err(format!(
            "expected vectors of length {expected}, received one of length {}",
            vector.len()
        ));
    }
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if !norm.is_finite() || norm == 0.0 {
        return Err("expected finite numbers that are not all 0, received others".to_owned());
    }
    for x in vector.iter_mut() {
        *x = (f64::from(*x) / norm) as f32;
    }
    Ok(())
}
