//! Why is this hit here? The ledger in words.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use mainstem_core::answer::{Fate, Why};
use mainstem_core::ledger::{Absorbed, Contribution, Freshness, Reranking, Rule, Sameness, Scope, Unit};
use mainstem_core::{Answer, Hit, Step};
use unicode_width::UnicodeWidthStr as _;

use super::render::{self, figure};
use crate::output::line;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const AMOUNT: Style = AnsiColor::Green.on_default();

/// Every hit with its account.
pub(crate) fn answer(answer: &Answer) -> String {
    let mut out = String::new();
    if let Some(route) = &answer.status.route {
        let fired = route
            .rule
            .as_ref()
            .map_or("no rule applies".to_owned(), |rule| format!("rule `{}` applies", line(rule)));
        let _ = writeln!(out, "route: {fired}\n");
    }
    for hit in &answer.hits {
        self::hit(&mut out, hit, &answer.status.formula);
        out.push('\n');
    }
    out
}

/// The same for every query of a run.
pub(super) fn by_query(answers: &[(String, Answer)], explain: impl Fn(&Answer) -> String) -> String {
    let section = |(query, answer): &(String, Answer)| {
        format!("{STRONG}query {}{STRONG:#}\n\n{}", line(query), explain(answer))
    };
    answers.iter().map(section).collect::<Vec<_>>().join("\n")
}

/// One hit with its account.
pub(crate) fn hit(out: &mut String, hit: &Hit, formula: &str) {
    let title = render::title(hit).map(|title| format!("  {FAINT}{title}{FAINT:#}")).unwrap_or_default();
    let _ = writeln!(out, "{STRONG}{}. {}{STRONG:#}  {:.6}{title}", hit.rank, line(&hit.id), hit.score);
    let mut before = 0.0;
    for step in &hit.ledger.steps {
        explain_step(out, step, before, formula);
        before = step.apply(before);
    }
    if !hit.alternates.is_empty() {
        let _ = writeln!(out, "   also found as {}", render::few(&hit.alternates));
    }
}

fn explain_step(out: &mut String, step: &Step, before: f64, formula: &str) {
    let _ = match step {
        Step::Aggregate { method, chunks } => {
            writeln!(
                out,
                "   aggregate: {method} of {} ({})",
                render::count(chunks.len(), "chunk"),
                line(&chunks.join(", "))
            )
        }
        Step::Collapse { scope, absorbed } => writeln!(out, "   {}", collapsed(*scope, absorbed)),
        Step::Fuse { method, rule, lists, score } => {
            let _ = writeln!(out, "   {method}: {}", line(formula));
            contributions(out, lists, rule);
            writeln!(out, "     {}= {score:.6}", rule_words(rule))
        }
        Step::Neighbours { weight, mean, nearest, score } => {
            let (own, weight) = (figure(1.0 - weight), figure(*weight));
            let like = most_like(nearest.as_ref());
            writeln!(out, "   neighbours: {own} × {before:.4} + {weight} × {mean:.4}{like} = {score:.6}")
        }
        Step::Prior { source, best, of, factor, score, .. } => writeln!(
            out,
            "   source: × {factor:.4} (the best of {} has {best:.4}, the best of all {of:.4}) = {score:.6}",
            line(source)
        ),
        Step::Learned { fused, reranking, score } => {
            writeln!(out, "   learned: {} = {score:.6}", rerank_words(*fused, reranking, before))
        }
        Step::Rerank { fused, reranking, score } => {
            writeln!(out, "   rerank: {} = {score:.6}", rerank_words(*fused, reranking, before))
        }
        Step::Recency { relevance, freshness, score } => {
            writeln!(out, "   recency: {} = {score:.6}", recency_words(*relevance, freshness, before))
        }
        Step::Diversify { relevance, lambda, similarity, nearest, score } => {
            let like = most_like(nearest.as_ref());
            let unit = relevance.of(before);
            let (novelty, lambda) = (1.0 - lambda, figure(*lambda));
            writeln!(
                out,
                "   diversify: {lambda} × {unit:.4} − {novelty:.2} × {similarity:.4}{like} = {score:.6}"
            )
        }
        Step::Guarantee { source, rule, from, to, cost, .. } => {
            let (rule, source) = (rule.as_str(), line(source));
            writeln!(
                out,
                "   guarantee: from rank {from} to {to} by the `{rule}` of {source}, cost {cost:.6}"
            )
        }
    };
}

fn most_like(nearest: Option<&String>) -> String {
    nearest.map(|id| format!(" (most like `{}`)", line(id))).unwrap_or_default()
}

/// One line for each list: rank, score, normalised score, weight, contribution, in columns.
fn contributions(out: &mut String, lists: &[Contribution], rule: &Rule) {
    let several = lists.iter().any(|list| list.variant > 0);
    let rows: Vec<_> = lists.iter().map(|list| cells(list, several, rule)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<_> = (0..COLUMNS).map(width).collect();
    for row in &rows {
        let padded = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let padded = padded.map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        let _ = writeln!(out, "     {}", padded.collect::<Vec<_>>().join("   ").trim_end());
    }
}

const COLUMNS: usize = 6;

fn cells(list: &Contribution, several: bool, rule: &Rule) -> [String; COLUMNS] {
    let variant = if several { format!(" (variant {})", list.variant + 1) } else { String::new() };
    // A comparison of pairs does not add up what each list gives.
    let amount = Some(list.contribution).filter(|_| !matches!(rule, Rule::Pairwise { .. }));
    [
        format!("{}{variant}", line(&list.list)),
        list.rank.map_or("absent".to_owned(), |rank| format!("rank {rank}")),
        list.score.map_or("no score".to_owned(), |score| format!("score {}", figure(score))),
        list.value.map(|value| format!("value {value:.4}")).unwrap_or_default(),
        format!("weight {}", figure(list.weight)),
        amount.map(|amount| format!("{AMOUNT}{amount:+.6}{AMOUNT:#}")).unwrap_or_default(),
    ]
}

fn rule_words(rule: &Rule) -> String {
    match rule {
        Rule::Sum => String::new(),
        Rule::Mean { divisor } => format!("sum / {} ", figure(*divisor)),
        Rule::Scaled { factor } => format!("sum × {factor:.4} "),
        Rule::SumTimesLists { holders } => format!("sum × {holders} lists "),
        Rule::Max => "the greatest ".into(),
        Rule::Variants { divisors, .. } if divisors.len() == 1 => format!("sum / {} ", figure(divisors[0])),
        Rule::Variants { bonus, .. } => {
            format!("mean over the variants that hold it, + {} for each further one ", figure(*bonus))
        }
        Rule::Pairwise { wins, draws } => format!("{wins} won + {draws} drawn / 2 "),
    }
}

fn collapsed(scope: Scope, absorbed: &[Absorbed]) -> String {
    let place = match scope {
        Scope::Within => "in its source",
        Scope::Across => "across sources",
    };
    let one = |absorbed: &Absorbed| {
        let why = match &absorbed.sameness {
            Sameness::Key { .. } => "equal key or text".to_owned(),
            Sameness::Jaccard { similarity } => format!("{:.0} % of the words", similarity * 100.0),
            Sameness::Cosine { similarity } => format!("cosine {similarity:.3}"),
        };
        format!("`{}` of {} ({why})", line(&absorbed.id), line(&absorbed.source))
    };
    format!("collapsed {place}: {}", absorbed.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn rerank_words(fused: Unit, reranking: &Reranking, before: f64) -> String {
    let fused = fused.of(before);
    match reranking {
        Reranking::Blend { alpha, raw, unit } => {
            let (scored, rest) = (unit.of(*raw), 1.0 - alpha);
            format!("{} × {scored:.4} (reranker) + {rest:.2} × {fused:.4} (fused)", figure(*alpha))
        }
        Reranking::Replace { raw, .. } => format!("the reranker's {}", figure(*raw)),
        Reranking::Below { floor } => {
            format!("not scored, below those that were: {floor:.4} × {fused:.4} / 2")
        }
    }
}

fn recency_words(relevance: Unit, freshness: &Freshness, before: f64) -> String {
    let unit = relevance.of(before);
    match freshness {
        Freshness::Untouched => format!("no rule, relevance {unit:.4}"),
        Freshness::Decay { age_days, half_life_days, weight, freshness, scaled } => {
            let age = age_days.map_or("no time known".to_owned(), age_words);
            let rest = 1.0 - weight;
            let of = if *scaled { format!("{unit:.4} × ") } else { String::new() };
            format!(
                "{age}, half-life {} d: {rest:.2} × {unit:.4} + {} × {of}{freshness:.4}",
                figure(*half_life_days),
                figure(*weight)
            )
        }
        Freshness::Window { age_days, days, factor, inside } => {
            let age = age_days.map_or("no time known".to_owned(), age_words);
            let boost = if *inside {
                format!("{unit:.6} × (1 + {})", figure(*factor))
            } else {
                format!("{unit:.6} × 1")
            };
            format!("{age}, window {} d: {boost}", figure(*days))
        }
    }
}

fn age_words(age: f64) -> String {
    if age < 0.0 { format!("{:.1} days in the future", -age) } else { format!("{age:.1} days old") }
}

/// What became of one item.
pub(crate) fn why_not(answer: &Answer, id: &str) -> String {
    let (fate, why) = answer.fate(id);
    format!("{}: {}\n", line(id), became(answer, &fate, why))
}

/// What became of an item, in words.
pub(crate) fn became(answer: &Answer, fate: &Fate, why: Option<&Why>) -> String {
    let last = answer.hits.last();
    match (fate, why) {
        (Fate::Hit(rank), _) => format!("it is in the answer, at rank {rank}"),
        (Fate::Unknown, _) => {
            "no list holds it, or all lists that do have weight 0: it was not retrieved".to_owned()
        }
        (Fate::Dropped, None) => "it was dropped".to_owned(),
        (Fate::Dropped, Some(why)) => match why {
            Why::Collapsed { into, .. } => {
                format!("it is the same thing as `{}` and was collapsed into it", line(into))
            }
            Why::BelowMinScore { score, min_score } => {
                format!("its score {score:.6} is below the least one wanted, {}", figure(*min_score))
            }
            Why::BehindLimit { rank, score } => {
                let short = last.map(|hit| format!(", {:.6} short of the last hit", hit.score - score));
                format!("it is at rank {rank} with score {score:.6}{}", short.unwrap_or_default())
            }
            Why::BeforeOffset { rank, .. } => format!("it is at rank {rank}, on an earlier page"),
            Why::NotChosen { score } => {
                format!(
                    "with relevance {score:.6}, others were more relevant or less like those already chosen"
                )
            }
        },
    }
}
