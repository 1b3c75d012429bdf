//! The settings of a fusion on the command line, laid over those of the file.

use clap::Args;
use clap::builder::PossibleValuesParser;
use mainstem_core::fuse::{FuseSpec, Method};
use mainstem_core::time::Moment;
use mainstem_core::{Code, Compat, Error, Leg, PipelineSpec, Replay};
use serde::Deserialize;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::failure::Problem;
use crate::search::written::{from_toml, no_pipeline};

/// How lists are fused.
#[derive(Args, Debug)]
pub(super) struct FuseSettings {
    /// Fusion method
    #[arg(long, ignore_case = true, value_parser = PossibleValuesParser::new(Method::ALL.iter().map(|method| method.as_str())))]
    method: Option<String>,

    #[arg(long, value_name = "SYSTEM", conflicts_with = "method", help = compat_help())]
    compat: Option<String>,

    /// rrf: constant added to every rank, >= 0 [default: 60]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    k: Option<f64>,

    /// rrf: number of the first rank, 0 or 1 [default: 1]
    #[arg(long, value_name = "0|1")]
    rank_base: Option<u32>,

    /// linear, combsum, combmnz: minmax, zscore, theoretical, `three_sigma` or none [default: minmax]
    #[arg(long, value_name = "NORM")]
    normalise: Option<String>,

    /// rrf: sum, mean or unit; linear, dbsf: mean, sum or max
    #[arg(long, value_name = "HOW")]
    combine: Option<String>,

    /// What a list gives to items it does not hold: zero, linear: min, rrf: last [default: zero]
    #[arg(long, value_name = "WHAT")]
    missing: Option<String>,

    /// Weight of a list, by list name or by source; 0 leaves it out; repeat for several
    #[arg(long, value_name = "NAME=W", allow_hyphen_values = true)]
    weight: Vec<String>,

    /// Theoretical range of a list's scores, for --normalise theoretical
    #[arg(long, value_name = "NAME=MIN[:MAX]", allow_hyphen_values = true)]
    bounds: Vec<String>,

    /// How many hits to return [default: all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// How many hits to pass over
    #[arg(long, value_name = "N")]
    offset: Option<usize>,

    /// Clock for recency, such as 2026-01-31T00:00:00Z [default: that of the file, or now]
    #[arg(long, value_name = "TIME")]
    now: Option<String>,

    /// Take the pipeline from the `[pipeline]` of this TOML file, and the `[weights]` of lists, sources and channels
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

fn compat_help() -> String {
    let systems: Vec<_> = Compat::all().iter().flat_map(|preset| preset.names).copied().collect();
    format!("Fuse as another system does, with its constants and default weights: {}", systems.join(", "))
}

/// A configuration file; only its pipeline and its weights matter here.
#[derive(Deserialize)]
struct Config {
    pipeline: Option<PipelineSpec>,
    /// What the weight of each list of this name, source or channel is multiplied with.
    #[serde(default)]
    weights: Weights,
}

impl FuseSettings {
    /// Lays the settings over those of a replay.
    pub(super) fn apply(&self, replay: &mut Replay) -> Result<(), Problem> {
        if let Some(path) = &self.config {
            let (pipeline, weights) = read_config(path)?;
            replay.pipeline = pipeline;
            weigh(replay, &weights).map_err(|error| Problem::in_file(error, path))?;
        }
        self.apply_fusion(replay)?;
        for setting in &self.weight {
            let (name, weight) = named("--weight", "NAME=W", setting)?;
            set_weight(replay, name, number("--weight", weight)?)?;
        }
        for setting in &self.bounds {
            let (name, bounds) = named("--bounds", "NAME=MIN[:MAX]", setting)?;
            set_bounds(replay, name, bounds)?;
        }
        let pipeline = &mut replay.pipeline;
        pipeline.limit = self.top.or(pipeline.limit);
        pipeline.offset = self.offset.unwrap_or(pipeline.offset);
        if let Some(now) = &self.now {
            replay.search.now = Some(Moment::parse(now)?);
        }
        replay.pipeline.check()?;
        Ok(())
    }

    fn apply_fusion(&self, replay: &mut Replay) -> Result<(), Problem> {
        if let Some(name) = &self.compat {
            let compat = Compat::find(name)?;
            replay.pipeline.fuse = compat.spec.clone();
            compat.weigh(&mut replay.search.candidates)?;
        }
        if let Some(name) = &self.method {
            replay.pipeline.fuse = FuseSpec::new(name.to_lowercase().parse()?);
        }
        let fuse = &mut replay.pipeline.fuse;
        fuse.k = self.k.or(fuse.k);
        fuse.rank_base = self.rank_base.or(fuse.rank_base);
        fuse.normalise = choice("--normalise", self.normalise.as_deref())?.or(fuse.normalise);
        fuse.combine = choice("--combine", self.combine.as_deref())?.or(fuse.combine);
        fuse.missing = choice("--missing", self.missing.as_deref())?.or(fuse.missing);
        Ok(())
    }
}

fn read_config(path: &str) -> Result<(PipelineSpec, Weights), Problem> {
    let config: Config = read_toml(path)?;
    let pipeline = config.pipeline.ok_or_else(|| Problem::in_file(no_pipeline(), path))?;
    Ok((pipeline, config.weights))
}

/// Reads a TOML file. What is wrong in it is named with its line.
fn read_toml<T: DeserializeOwned>(path: &str) -> Result<T, Problem> {
    from_toml(&read_text(path)?).map_err(|error| Problem::in_file(error, path))
}

/// Reads a file of UTF-8.
pub(crate) fn read_text(path: &str) -> Result<String, Problem> {
    let place = || mainstem_core::Place::default().in_file(path);
    let bytes = std::fs::read(path).map_err(|source| Problem::Read { place: place(), source })?;
    String::from_utf8(bytes)
        .map_err(|error| Problem::in_file(not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()), path))
}

/// Factors by the name of a list, source or channel.
type Weights = indexmap::IndexMap<String, f64>;

/// Multiplies the weights of the lists. A name that no list has is a slip.
fn weigh(replay: &mut Replay, weights: &Weights) -> Result<(), Error> {
    let legs: Vec<Leg> = replay.search.candidates.lists().iter().map(|list| list.leg().clone()).collect();
    let meant = |leg: &Leg, name: &str| leg.name == name || leg.source == name || leg.channel() == name;
    for name in weights.keys() {
        if !legs.iter().any(|leg| meant(leg, name)) {
            let known = legs.iter().flat_map(|leg| [leg.name.as_str(), leg.source.as_str(), leg.channel()]);
            return Err(Error::unknown("list, source or channel", name, known));
        }
    }
    for leg in &legs {
        let factors = weights.iter().filter(|(name, _)| meant(leg, name)).map(|(_, factor)| factor);
        replay
            .search
            .candidates
            .set_weight(&leg.name, factors.fold(leg.weight, |weight, factor| weight * factor))?;
    }
    Ok(())
}

fn not_utf8(bytes: &[u8], valid: usize) -> Error {
    Error::Parse {
        message: format!("the text is not UTF-8: byte 0x{:02x} cannot stand here", bytes[valid]),
        code: Code::Encoding,
        hint: Some("save the file as UTF-8".into()),
        place: mainstem_core::Place::line(bytes[..valid].split(|byte| *byte == b'\n').count() as u64),
    }
}

/// One of the names that a setting of the configuration takes.
fn choice<'a, T: Deserialize<'a>>(option: &str, name: Option<&'a str>) -> Result<Option<T>, Problem> {
    let Some(name) = name else { return Ok(None) };
    let reader: StrDeserializer<'a, ValueError> = name.into_deserializer();
    T::deserialize(reader)
        .map(Some)
        .map_err(|error| Problem::argument(format!("`{option}`: {error}"), "see `mainstem fuse --help`"))
}

fn named<'a>(option: &str, shape: &str, setting: &'a str) -> Result<(&'a str, &'a str), Problem> {
    setting.rsplit_once('=').ok_or_else(|| {
        Problem::argument(
            format!("`{option}` is `{setting}`, expected `{shape}`"),
            format!("such as `{option} bm25=2`"),
        )
    })
}

fn number(option: &str, text: &str) -> Result<f64, Problem> {
    text.trim()
        .parse()
        .map_err(|_| Problem::argument(format!("`{option}`: `{text}` is no number"), "such as `0.5`"))
}

fn set_weight(replay: &mut Replay, name: &str, weight: f64) -> Result<(), Problem> {
    Ok(replay.search.candidates.set_weight(name, weight)?)
}

fn set_bounds(replay: &mut Replay, name: &str, bounds: &str) -> Result<(), Problem> {
    let (min, max) = bounds.split_once(':').map_or((bounds, None), |(min, max)| (min, Some(max)));
    let min = Some(number("--bounds", min)?);
    let max = max.map(|max| number("--bounds", max)).transpose()?;
    Ok(replay.search.candidates.set_bounds(name, mainstem_core::Bounds { min, max, ..Default::default() })?)
}

/// Reads the clock where recency needs one and none was given. Nothing else here depends on the time of day.
pub(super) fn set_clock(replay: &mut Replay) {
    if !replay.pipeline.recency.is_empty() && replay.search.now.is_none() {
        replay.search.now = Some(Moment::now());
    }
}
