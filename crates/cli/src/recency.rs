//! `mainstem recency`: what a recency rule does at each age, before it is used.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use mainstem_core::recency::{Recency, RecencySpec};
use mainstem_core::time::Days;
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;

/// Preview what a recency rule does at each age.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem recency --kind slack
  mainstem recency --half-life 30d --weight 0.2
  mainstem recency --window-days 30 --factor 0.15 --ages 1d,30d,31d

A decay gives (1 - weight) x relevance + weight x 2^(-age / half-life), on relevance from 0 to 1.
A window multiplies with (1 + factor) inside of it.
Defaults by kind: slack 7d/0.6, gmail 14d/0.5, linear 14d/0.4, notion 30d/0.2, any other 14d/0.3.")]
pub(crate) struct RecencyArgs {
    /// Kind of source, which decides what is left out
    #[arg(long, default_value = "wiki")]
    kind: String,

    /// Decay: after how long an item is half as fresh, such as 12h, 30d or 2w
    #[arg(long, value_name = "SPAN", conflicts_with_all = ["window_days", "factor"])]
    half_life: Option<String>,

    /// Decay: weight of freshness against relevance, from 0 to 1
    #[arg(long, value_name = "W", conflicts_with_all = ["window_days", "factor"])]
    weight: Option<f64>,

    /// Window: how many days count as recent
    #[arg(long, value_name = "DAYS")]
    window_days: Option<f64>,

    /// Window: boost of a recent item
    #[arg(long, value_name = "F")]
    factor: Option<f64>,

    /// Relevance of the previewed hit, from 0 to 1
    #[arg(long, value_name = "R", default_value_t = 1.0)]
    relevance: f64,

    /// Ages to show, separated by commas
    #[arg(long, value_name = "SPANS", value_delimiter = ',')]
    ages: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const AGES: [f64; 10] = [0.0, 1.0, 3.0, 7.0, 14.0, 30.0, 60.0, 90.0, 180.0, 365.0];
const BAR: usize = 40;

#[derive(Serialize)]
struct Row {
    age_days: f64,
    score: f64,
}

/// Runs the command.
pub(crate) fn run(args: &RecencyArgs) -> Result<ExitCode, Failure> {
    preview(args)?;
    Ok(ExitCode::SUCCESS)
}

fn preview(args: &RecencyArgs) -> Result<(), Problem> {
    if !(0.0..=1.0).contains(&args.relevance) {
        return Err(
            mainstem_core::Error::range("`--relevance`", "a number from 0 to 1", args.relevance).into()
        );
    }
    let rule = rule(args)?;
    let given: Result<Vec<f64>, _> = args.ages.iter().map(|age| age_days(age)).collect();
    let ages = Some(given?).filter(|ages| !ages.is_empty()).unwrap_or_else(|| AGES.to_vec());
    let score = |age| rule.at(Some(age)).apply(args.relevance);
    let rows: Vec<_> = ages.into_iter().map(|age_days| Row { age_days, score: score(age_days) }).collect();
    let text =
        if args.json { serde_json::to_string_pretty(&rows)? + "\n" } else { table(&rule, args, &rows) };
    output::write(None, &text)
}

fn rule(args: &RecencyArgs) -> Result<Recency, Problem> {
    let spec = RecencySpec {
        scaled: None,
        half_life: args.half_life.as_deref().map(Days::parse).transpose()?,
        weight: args.weight,
        missing: None,
        window_days: args.window_days,
        factor: args.factor,
    };
    Ok(spec.check(&args.kind)?)
}

fn age_days(text: &str) -> Result<f64, Problem> {
    if matches!(text.trim(), "0" | "0d" | "now") { Ok(0.0) } else { Ok(Days::parse(text)?.get()) }
}

fn table(rule: &Recency, args: &RecencyArgs, rows: &[Row]) -> String {
    let head = match rule {
        Recency::Decay { half_life, weight, .. } => format!("half-life {half_life}, weight {weight}"),
        Recency::Window { days, factor } => format!("window {days} d, factor {factor}"),
    };
    let mut out = format!("{}: {head}; a hit of relevance {} scores\n\n", args.kind, args.relevance);
    let most = rows.iter().map(|row| row.score).fold(f64::MIN_POSITIVE, f64::max);
    for row in rows {
        let bar = "█".repeat((row.score / most * BAR as f64).round() as usize);
        let age = format!("{} d", row.age_days);
        let _ = writeln!(out, "{age:>8}  {:.4}  {bar}", row.score);
    }
    out
}
