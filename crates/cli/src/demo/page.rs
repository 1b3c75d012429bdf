//! The demo as a page of text for people.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use mainstem::query::SearchHit;
use mainstem_core::Step;
use mainstem_core::ledger::{Contribution, Freshness};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::tour::{self, Stopped};
use super::{Demo, scores};
use crate::fuse::explain;
use crate::search::{age, render};

/// What this is, in one line.
pub(super) const ABOUT: &str = "Mainstem: one question, many sources, one ranked answer that says why.";

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// How wide the page is.
const WIDTH: usize = 98;
/// How wide a title is.
const TITLE: usize = 38;
/// Which question is explained to the last digit.
const EXPLAINED: &str = "when do we move to the new office";

/// The whole page.
pub(super) fn text(demo: &Demo) -> String {
    let mut out = format!("{STRONG}{ABOUT}{STRONG:#}\n\n");
    introduction(&mut out, demo);
    for stopped in &demo.questions {
        question(&mut out, stopped, stopped.stop.query == EXPLAINED);
    }
    scores::section(&mut out, &demo.evaluation, demo.meaning);
    heading(&mut out, "Go on");
    for command in &demo.next {
        // The shell takes a long command in two lines.
        let shown = command.replacen(" --qrels", " \\\n      --qrels", 1);
        let _ = writeln!(out, "  {STRONG}{shown}{STRONG:#}");
    }
    paragraph(
        &mut out,
        "\nThe same in a browser: `mainstem demo --open`. Then your own: `mainstem ingest ~/notes --source notes`, \
         `mainstem search \"…\"`, and `mainstem ask \"…\"` for a language model. In a clone, \
         `cargo run --release --` stands for `mainstem`. New questions are searched by meaning once \
         `mainstem model pull` has run, and by words until then.",
    );
    out
}

pub(super) fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n{HEADING}== {text}{HEADING:#}");
}

/// Text in lines that fit the page.
pub(super) fn paragraph(out: &mut String, text: &str) {
    let mut width = 0;
    for (at, word) in text.split(' ').enumerate() {
        let start = word.rsplit('\n').next().unwrap_or(word).width();
        if at > 0 && width + 1 + word.width() > WIDTH {
            out.push('\n');
            width = 0;
        } else if at > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width = if word.contains('\n') { start } else { width + word.width() };
    }
    out.push('\n');
}

fn introduction(out: &mut String, demo: &Demo) {
    let count: usize = demo.recipes.iter().map(|held| held.sources.len()).sum();
    let how = if demo.meaning { "by words and by meaning" } else { "by words alone (`--words`)" };
    paragraph(
        out,
        &format!(
            "Five made-up users, {count} sources, {} documents, all in one store and searched at once, {how}. \
             The clock stands at {}.\n",
            demo.documents,
            &demo.now[..10]
        ),
    );
    for held in &demo.recipes {
        let sources = held.sources.iter().map(|source| format!("{} {}", source.name, source.documents));
        let _ = writeln!(out, "  {:<13} {}", held.recipe, sources.collect::<Vec<_>>().join(" · "));
    }
}

/// One question: its hits, what is to be seen, and why the first is first.
fn question(out: &mut String, stopped: &Stopped, in_full: bool) {
    let stop = stopped.stop;
    let english = stop.english.map(|english| format!(" ({english})")).unwrap_or_default();
    heading(out, &format!("{}: “{}”{english}", stop.recipe, stop.query));
    let hits = &stopped.response.hits;
    let best = hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
    let badge = hits.iter().map(|hit| hit.source.width()).max().unwrap_or(0);
    for hit in hits {
        line(out, hit, badge, best);
    }
    out.push('\n');
    paragraph(out, stop.point);
    let Some(first) = stopped.response.answer.hits.first() else { return };
    if in_full {
        out.push_str(
            "\nWhy is the first hit first? Redoing these steps gives its score to the last digit:\n\n",
        );
        let mut account = String::new();
        explain::hit(&mut account, first, &stopped.response.answer.status.formula);
        for line in account.lines() {
            let mut folded = String::new();
            paragraph(&mut folded, line);
            let _ = writeln!(out, "{}", folded.trim_end().replace('\n', "\n      "));
        }
    } else if let Some(why) = hits.first().and_then(why) {
        let _ = writeln!(out, "{FAINT}{why}{FAINT:#}");
    }
}

fn line(out: &mut String, hit: &SearchHit, badge: usize, best: f64) {
    let colour = render::colour(&hit.source);
    let blank = " ".repeat(badge - hit.source.width());
    let title = fitted(hit.title.as_deref().unwrap_or(&hit.document), TITLE);
    let now = tour::now().ok();
    let age = hit.time().zip(now).map(|(at, now)| age::words(at.age_days(&now)));
    let _ = writeln!(
        out,
        "{:>2}. {FAINT}{}{FAINT:#} {colour}{}{colour:#}{blank}  {STRONG}{title}{STRONG:#}  {:<21}  {}",
        hit.rank,
        render::bar(hit.score / best),
        hit.source,
        found_by(hit),
        age.unwrap_or_default()
    );
    if !hit.alternates.is_empty() {
        let also = fitted(&format!("also in {}", hit.alternates.join(", ")), WIDTH - 15 - badge);
        let _ = writeln!(out, "{}{FAINT}{}{FAINT:#}", " ".repeat(15 + badge), also.trim_end());
    }
}

/// Text that is exactly so wide: cut, or filled up.
fn fitted(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned() + &" ".repeat(width - text.width());
    }
    let mut out = String::new();
    for character in text.chars() {
        if out.width() + character.width().unwrap_or(0) >= width {
            break;
        }
        out.push(character);
    }
    out.push('…');
    let blank = width.saturating_sub(out.width());
    out + &" ".repeat(blank)
}

fn lists(hit: &SearchHit) -> &[Contribution] {
    let fused = hit.ledger.steps.iter().find_map(|step| match step {
        Step::Fuse { lists, .. } => Some(lists.as_slice()),
        _ => None,
    });
    fused.unwrap_or_default()
}

/// The channels in the words of the demo.
fn channel(list: &Contribution) -> &str {
    match list.list.as_str() {
        "lexical" => "words",
        "dense" => "meaning",
        other => other,
    }
}

/// The places that the channels gave to a hit.
fn found_by(hit: &SearchHit) -> String {
    let mut found: Vec<_> =
        lists(hit).iter().filter_map(|list| Some(format!("{} #{}", channel(list), list.rank?))).collect();
    found.reverse();
    found.join(", ")
}

/// Why a hit is where it is, in one line.
fn why(hit: &SearchHit) -> Option<String> {
    let mut parts = Vec::new();
    for list in lists(hit).iter().rev() {
        parts.push(match list.value {
            Some(value) => format!("{} {value:.2}", channel(list)),
            None => format!("{} nothing", channel(list)),
        });
    }
    let mut text = format!("first because: {}", parts.join(" + "));
    for step in &hit.ledger.steps {
        match step {
            Step::Fuse { score, lists, .. } if lists.len() > 1 => {
                let _ = write!(text, ", mean {score:.3}");
            }
            Step::Recency { freshness: Freshness::Decay { age_days: Some(days), .. }, score, .. } => {
                let _ = write!(text, ", {days:.0} days old → {score:.3}");
            }
            _ => {}
        }
    }
    (!parts.is_empty()).then_some(text)
}
