//! A cross-encoder that runs here: a BERT that reads `[CLS] query [SEP] text [SEP]` and says in one number how well they fit.
//!
//! Its folder has `config.json`, `model.safetensors` and `vocab.txt`, as `cross-encoder/ms-marco-MiniLM-L6-v2` and its like have them.
//! The score is the probability that the text answers: `1 / (1 + e⁻ˣ)` of the logit, or of the difference where there are two classes.

use std::fs;
use std::path::Path;

use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Reranker};
use serde::Deserialize;
use serde_json::Value;

use crate::Error;
use crate::models::minilm::encoder::Encoder;
use crate::models::minilm::safetensors::Tensors;
use crate::models::minilm::tokenizer::Tokens;
use crate::models::minilm::weights::Dims;

/// What to do about a folder that cannot be used.
const HINT: &str =
    "give a folder with the `config.json`, `model.safetensors` and `vocab.txt` of a BERT cross-encoder";

/// A cross-encoder, ready to rerank.
pub struct CrossEncoder {
    name: String,
    encoder: Encoder,
    head: Head,
    /// How many tokens of query and text it reads.
    max_tokens: usize,
}

/// What is on top of the encoder: `classifier(tanh(pooler(first token)))`.
struct Head {
    pooler: Dense,
    classifier: Dense,
}

struct Dense {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Dense {
    fn read(tensors: &mut Tensors, name: &str, outputs: usize, inputs: usize) -> Result<Self, Error> {
        let weight = tensors.read(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Self { weight, bias: tensors.read(&format!("{name}.bias"), &[outputs])? })
    }

    fn apply(&self, input: &[f64]) -> Vec<f64> {
        let row = |(row, bias): (&[f32], &f32)| {
            row.iter().zip(input).map(|(weight, x)| f64::from(*weight) * x).sum::<f64>() + f64::from(*bias)
        };
        self.weight.chunks_exact(input.len()).zip(&self.bias).map(row).collect()
    }
}

impl Head {
    fn logits(&self, first: &[f32]) -> Vec<f64> {
        let first: Vec<f64> = first.iter().copied().map(f64::from).collect();
        let pooled: Vec<f64> = self.pooler.apply(&first).into_iter().map(f64::tanh).collect();
        self.classifier.apply(&pooled)
    }
}

/// What `config.json` says, as far as it matters.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    hidden_size: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default = "gelu")]
    hidden_act: String,
    /// The classes; two, where the file does not say.
    #[serde(default)]
    id2label: Option<serde_json::Map<String, Value>>,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

const fn epsilon() -> f32 {
    1e-12
}

fn gelu() -> String {
    "gelu".to_owned()
}

impl Config {
    fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read(path).map_err(|error| Error::io("cannot read the cross-encoder", path, error))?;
        let config: Self = serde_json::from_slice(&text).map_err(|error| {
            Error::damaged(format!("expected the settings of a BERT: {error}"), path, HINT)
        })?;
        match config.unfit() {
            Some(what) => Err(Error::damaged(what, path, HINT)),
            None => Ok(config),
        }
    }

    fn labels(&self) -> usize {
        self.id2label.as_ref().map_or(2, serde_json::Map::len)
    }

    fn unfit(&self) -> Option<String> {
        let expected = |name: &str, wanted: &str, received: &str| {
            (wanted != received).then(|| format!("expected `{name}` as `{wanted}`, received `{received}`"))
        };
        let positions = self.position_embedding_type.as_deref().unwrap_or("absolute");
        expected("model_type", "bert", &self.model_type)
            .or_else(|| expected("hidden_act", "gelu", &self.hidden_act))
            .or_else(|| expected("position_embedding_type", "absolute", positions))
            .or_else(|| {
                let labels = self.labels();
                (!(1..=2).contains(&labels)).then(|| format!("expected one class or two, received {labels}"))
            })
            .or_else(|| self.dims().unfit())
    }

    fn dims(&self) -> Dims {
        Dims {
            hidden: self.hidden_size,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            layers: self.num_hidden_layers,
            vocabulary: self.vocab_size,
            positions: self.max_position_embeddings,
            epsilon: self.layer_norm_eps,
        }
    }
}

impl CrossEncoder {
    /// Loads a cross-encoder from its folder.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the model is of another kind.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let config = Config::read(&folder.join("config.json"))?;
        uncased(&folder.join("tokenizer_config.json"))?;
        let name = folder.file_name().map_or_else(|| "cross-encoder".into(), |name| name.to_string_lossy());
        let dims = config.dims();
        let load = || {
            let mut tensors = Tensors::open(&folder.join("model.safetensors"))?;
            let encoder = Encoder::load(&name, folder, &mut tensors, "bert.", &dims)?;
            let pooler = Dense::read(&mut tensors, "bert.pooler.dense", dims.hidden, dims.hidden)?;
            let classifier = Dense::read(&mut tensors, "classifier", config.labels(), dims.hidden)?;
            Ok((encoder, Head { pooler, classifier }))
        };
        let (encoder, head) = load().map_err(of_a_cross_encoder)?;
        Ok(Self { encoder, head, max_tokens: config.max_position_embeddings.min(512), name: name.into() })
    }

    /// The logits of each pair, one for each class, before they are turned into a probability.
    ///
    /// # Errors
    /// When the deadline passes before all are done.
    pub fn logits(&self, query: &str, texts: &[&str], ctx: &Ctx) -> Result<Vec<Vec<f64>>, Error> {
        let hidden = self.head.pooler.bias.len();
        let pairs: Vec<_> = texts.iter().map(|text| self.pair(query, text)).collect();
        self.encoder.run(&pairs, ctx.deadline, |rows| self.head.logits(&rows[..hidden]))
    }

    /// The numbers of the tokens that it reads of a pair, and where the second text starts.
    pub fn tokens(&self, query: &str, text: &str) -> (Vec<u32>, usize) {
        let Tokens { ids, second, .. } = self.pair(query, text);
        (ids, second)
    }

    fn pair(&self, query: &str, text: &str) -> Tokens {
        self.encoder.tokenizer().encode_pair(query, text, self.max_tokens)
    }
}

impl Reranker for CrossEncoder {
    fn name(&self) -> &str {
        &self.name
    }

    fn rerank(&self, query: &str, texts: &[&str], ctx: &Ctx) -> Result<Vec<f64>, Failure> {
        let probability = |logits: Vec<f64>| {
            let x = if let [no, yes] = logits[..] { yes - no } else { logits[0] };
            1.0 / (1.0 + (-x).exp())
        };
        Ok(self.logits(query, texts, ctx)?.into_iter().map(probability).collect())
    }
}

/// Refuses a vocabulary that tells upper from lower case: our tokens do not.
fn uncased(path: &Path) -> Result<(), Error> {
    let settings: Option<Value> = fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok());
    if settings.is_some_and(|settings| settings["do_lower_case"] == Value::Bool(false)) {
        let what =
            "expected a model that does not tell upper from lower case, received `do_lower_case: false`";
        return Err(Error::damaged(what, path, HINT));
    }
    Ok(())
}

/// The same error with a hint that fits: these files were not pulled by us.
fn of_a_cross_encoder(error: Error) -> Error {
    match error {
        Error::Damaged { what, place, .. } => Error::Damaged { what, place, hint: HINT.to_owned() },
        other => other,
    }
}
