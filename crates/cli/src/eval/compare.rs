//! `mainstem eval compare`: is one run really better than another?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mainstem_core::diagnostic::Place;
use mainstem_eval::compare::{ALPHA, Verdict};
use mainstem_eval::{Comparison, compare, plot};
use serde::Serialize;

use super::files::FileArgs;
use super::notes::{self, note, queries};
use super::report;
use crate::failure::Problem;
use crate::output;
use crate::table::{Cell, Table};

const EXAMPLES: &str = "\
Examples:
  mainstem eval compare bm25.run fused.run --qrels qrels.tsv
  mainstem eval compare bm25.run rrf.run rsf.run --qrels qrels.tsv -m nDCG@10 --plot d.svg

Columns:
  95 % interval   where the true mean difference probably is (bootstrap, 10,000 resamples)
  p               chance of such a difference if the runs were interchangeable
                  (randomisation test)
  p adj           the same, corrected for all measures and runs compared here (Holm);
                  the verdict goes by it, at 0.05
  p t             Student's paired t-test, for comparison with papers
  +/-/=           queries on which the run is better, worse, equal

All random numbers have a fixed seed: the same files give the same output.

Exit codes: 0 compared, 1 no judged query has a result, 2 error";

/// Arguments of `mainstem eval compare`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompareArgs {
    /// TREC runs: the baseline, then those to compare with it
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    runs: Vec<String>,

    /// Draw the difference of every query to this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    files: FileArgs,
}

/// Comparisons as JSON.
#[derive(Serialize)]
struct Report<'a> {
    baseline: &'a str,
    queries: usize,
    comparisons: &'a [Comparison],
}

/// Runs the command.
pub(super) fn run(args: &CompareArgs) -> Result<ExitCode, Problem> {
    let loaded = args.files.load(&args.runs)?;
    let evaluations = loaded.evaluate();
    let judged = loaded.qrels.queries().len();
    notes::print(&evaluations, judged);
    let pairs: Vec<_> = evaluations.iter().map(|(name, evaluation)| (*name, evaluation)).collect();
    let Some((baseline, others)) = pairs.split_first() else {
        return Ok(ExitCode::from(1));
    };
    let comparisons = compare(*baseline, others);
    if let Some(path) = &args.plot {
        write_plot(path, &comparisons)?;
    }
    let text = if args.files.json {
        report::json(&Report { baseline: baseline.0, queries: judged, comparisons: &comparisons })?
    } else {
        format!("{}\n{}", table(&comparisons), verdicts(&comparisons))
    };
    output::write(None, &text)?;
    Ok(super::exit_code(&evaluations))
}

fn write_plot(path: &PathBuf, comparisons: &[Comparison]) -> Result<(), Problem> {
    let shown = path.display().to_string();
    std::fs::write(path, plot::differences(comparisons))
        .map_err(|source| Problem::Write { place: Place::default().in_file(&shown), source })?;
    note(&format!("wrote the plot to `{shown}`"));
    Ok(())
}

/// One row for each comparison.
pub(super) fn table(comparisons: &[Comparison]) -> String {
    let head = [
        "measure",
        "run",
        "baseline",
        "mean",
        "diff",
        "diff %",
        "95 % interval",
        "p",
        "p adj",
        "p t",
        "+/-/=",
    ];
    let mut table = Table::new(2, head);
    for comparison in comparisons {
        let relative = comparison.relative.map_or("–".to_owned(), |part| format!("{:+.1}", 100.0 * part));
        let tally = comparison.tally;
        let row = [
            comparison.measure.clone(),
            comparison.run.clone(),
            format!("{:.4}", comparison.baseline_mean),
            format!("{:.4}", comparison.run_mean),
            format!("{:+.4}", comparison.difference),
            relative,
            interval(comparison).unwrap_or("–".to_owned()),
            p_value(comparison.randomisation.p),
            p_value(comparison.p_adjusted),
            comparison.t_test.map_or("–".to_owned(), |test| p_value(test.p)),
            format!("{}/{}/{}", tally.wins, tally.losses, tally.ties),
        ];
        table.push(row.map(Cell::new).into());
    }
    table.render()
}

fn interval(comparison: &Comparison) -> Option<String> {
    comparison.interval.map(|interval| format!("{:+.4} to {:+.4}", interval.low, interval.high))
}

pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

/// One sentence for each comparison.
pub(super) fn verdicts(comparisons: &[Comparison]) -> String {
    comparisons.iter().map(|comparison| verdict(comparison) + "\n").collect()
}

/// One sentence that a reader without statistics can use.
fn verdict(comparison: &Comparison) -> String {
    let Comparison { measure, run, baseline, difference, .. } = comparison;
    let size = match interval(comparison) {
        Some(interval) => format!("{difference:+.4} (95 % interval {interval})"),
        None => format!("{difference:+.4}"),
    };
    let claim = match comparison.verdict() {
        Verdict::Better => format!("`{run}` is better than `{baseline}`: {size}"),
        Verdict::Worse => format!("`{run}` is worse than `{baseline}`: {size}"),
        Verdict::NotShown if comparison.tally.wins + comparison.tally.losses == 0 => {
            return format!("{measure}: `{run}` and `{baseline}` do not differ on any query");
        }
        Verdict::NotShown => format!("no difference between `{run}` and `{baseline}` is shown: {size}"),
    };
    format!("{measure}: {claim}; {}", limits(comparison))
}

/// What the queries could have shown.
fn limits(comparison: &Comparison) -> String {
    let count = queries(comparison.differences.len(), "");
    match comparison.detectable {
        Some(smallest) => format!("with {count}, differences under {} cannot be shown", two_digits(smallest)),
        None => format!("{count} cannot say how sure that is, at level {ALPHA}"),
    }
}

/// Two significant digits are enough for a limit.
fn two_digits(value: f64) -> String {
    let decimals = (1.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_stay_readable() {
        assert_eq!((p_value(0.0), p_value(0.049_96)), ("<0.0001".to_owned(), "0.0500".to_owned()));
        assert_eq!(
            (two_digits(0.0184), two_digits(1.26), two_digits(0.5)),
            ("0.018".into(), "1.3".into(), "0.50".into())
        );
    }
}
