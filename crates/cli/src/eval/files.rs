//! The files and settings that every `eval` command takes.

use clap::Args;
use mainstem_eval::format::Lines;
use mainstem_eval::{EvalError, Evaluation, Measure, Qrels, Run, Settings, Sources, evaluate};

use crate::failure::{Failure, Problem};

/// Judgements, measures and how to read them.
#[derive(Args, Debug)]
pub(super) struct FileArgs {
    /// Relevance judgements, TREC or BEIR
    #[arg(long, value_name = "FILE", required = true)]
    qrels: Option<String>,

    /// Measure, such as `nDCG@10`; repeat for several
    #[arg(short, long = "measure", value_name = "NAME", default_values = ["nDCG@10", "MRR", "AP", "R@100"])]
    measures: Vec<String>,

    /// Smallest relevance that counts as relevant where a measure knows only yes and no
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) rel: i64,

    /// Source of each document for `Coverage@k` and `SourceRecall@k`, as lines `document<TAB>source`; without it, the
    /// part of the id before the first `:` or `/`; live searches know it
    #[arg(long, value_name = "FILE")]
    source_map: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Everything that was read.
pub(super) struct Loaded<'a> {
    pub(super) qrels: Qrels,
    runs: Vec<(&'a str, Run)>,
    measures: Vec<Measure>,
    settings: Settings,
}

impl FileArgs {
    /// Reads the judgements and the named runs. Measures are checked first: that is quick.
    pub(super) fn load<'a>(&self, names: &'a [String]) -> Result<Loaded<'a>, Problem> {
        let measures = self.measures()?;
        let qrels_name = self.qrels.as_deref().unwrap_or_default();
        let inputs = names.iter().map(String::as_str).chain([qrels_name]).chain(self.source_map.as_deref());
        if inputs.filter(|name| *name == "-").count() > 1 {
            return Err(Problem::one_standard_input());
        }
        let qrels = Qrels::read(Lines::open(qrels_name)?)?;
        let read = |name: &'a String| Ok((name.as_str(), Run::read(Lines::open(name)?)?));
        let runs: Vec<_> = names.iter().map(read).collect::<Result<_, EvalError>>()?;
        self.loaded(qrels, runs, measures)
    }

    /// Reads the judgements and makes one run from them, by searching.
    pub(super) fn load_live<'a>(
        &self,
        name: &'a str,
        search: impl FnOnce(&Qrels) -> Result<(Run, Sources), Failure>,
    ) -> Result<Loaded<'a>, Failure> {
        self.refuse_source_map()?;
        let measures = self.measures()?;
        let qrels = self.judgements()?;
        let (run, sources) = search(&qrels)?;
        let settings = Settings { rel: self.rel, sources };
        Ok(Loaded { qrels, runs: vec![(name, run)], measures, settings })
    }

    /// Refuses a mapping of sources where the store knows them.
    pub(super) fn refuse_source_map(&self) -> Result<(), Problem> {
        if self.source_map.is_some() {
            let message =
                "`--source-map`: expected runs, received `--queries`, whose answers know their sources";
            return Err(Problem::conflict(message, "leave `--source-map` out"));
        }
        Ok(())
    }

    /// Reads the judgements.
    pub(super) fn judgements(&self) -> Result<Qrels, Problem> {
        Ok(Qrels::read(Lines::open(self.qrels.as_deref().unwrap_or_default())?)?)
    }

    pub(super) fn measures(&self) -> Result<Vec<Measure>, Problem> {
        Ok(self.measures.iter().map(|name| Measure::parse(name)).collect::<Result<_, _>>()?)
    }

    fn loaded<'a>(
        &self,
        qrels: Qrels,
        runs: Vec<(&'a str, Run)>,
        measures: Vec<Measure>,
    ) -> Result<Loaded<'a>, Problem> {
        let settings = Settings { rel: self.rel, sources: self.sources(&measures, &qrels, &runs)? };
        Ok(Loaded { qrels, runs, measures, settings })
    }

    /// The sources, when a measure asks for them.
    fn sources(&self, measures: &[Measure], qrels: &Qrels, runs: &[(&str, Run)]) -> Result<Sources, Problem> {
        if measures.iter().all(|measure| !measure.kind().needs_sources()) {
            return Ok(Sources::default());
        }
        let sources = match &self.source_map {
            Some(file) => Sources::read(Lines::open(file)?)?,
            None => Sources::from_ids(qrels, runs.iter().map(|(_, run)| run)),
        };
        if sources.total() == 0 {
            Err(Problem::argument(
                "expected documents with a source for `Coverage` and `SourceRecall`, received none",
                "give `--source-map FILE`, or ids such as `wiki:42`",
            ))
        } else {
            Ok(sources)
        }
    }
}

impl<'a> Loaded<'a> {
    /// The values of each run, under the name it was given by.
    pub(super) fn evaluate(&self) -> Vec<(&'a str, Evaluation)> {
        let one = |(name, run): &(&'a str, Run)| {
            (*name, evaluate(&self.qrels, run, &self.measures, &self.settings))
        };
        self.runs.iter().map(one).collect()
    }
}
