//! Hits for people.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use mainstem::query::{Alternative, Request, SearchHit};
use mainstem_core::LegState;
use mainstem_core::status::{StageState, Status};
use mainstem_core::time::Moment;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::age;
use super::found::Found;
use super::why_not;
use crate::fuse::render::few;
use crate::output;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const MATCH: Style = AnsiColor::Yellow.on_default().bold();

/// How wide the text of a hit is where nobody looks at a terminal, and at most.
const WIDTH: usize = 92;

/// No text is narrower, however narrow the terminal is.
const NARROWEST: usize = 20;

/// How wide a score bar is.
const BAR: usize = 8;

const INDENT: &str = "     ";

const BADGES: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Magenta,
    AnsiColor::Green,
    AnsiColor::Blue,
    AnsiColor::Yellow,
    AnsiColor::Red,
];

/// The hits, best first.
pub(super) fn hits(response: &Found, now: Option<&Moment>) -> String {
    let best = response.hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
    let badge = response.hits.iter().map(|hit| output::line(&hit.source).width()).max().unwrap_or(0);
    let mut out = String::new();
    for hit in &response.hits {
        head(&mut out, hit, badge, best);
        for line in wrap(&hit.snippet.text, &hit.snippet.highlights, width()) {
            let _ = writeln!(out, "{INDENT}{line}");
        }
        let _ = writeln!(out, "{INDENT}{FAINT}{}{FAINT:#}\n", foot(hit, now));
    }
    out
}

fn head(out: &mut String, hit: &SearchHit, badge: usize, best: f64) {
    let colour = colour(&hit.source);
    let source = output::line(&hit.source);
    let blank = " ".repeat(badge - source.width());
    let title = hit.title.as_deref().or(hit.label.as_deref()).unwrap_or(&hit.document);
    let heading = hit.heading.as_ref().filter(|heading| heading.as_str() != title);
    let heading = heading.map(|heading| format!("  {FAINT}{}{FAINT:#}", output::line(heading)));
    let heading = heading.unwrap_or_default();
    let _ = writeln!(
        out,
        "{:>3}. {FAINT}{}{FAINT:#} {colour}{source}{colour:#}{blank}  {STRONG}{}{STRONG:#}{heading}",
        hit.rank,
        bar(hit.score / best),
        output::line(title),
    );
}

/// A source has the same colour in every answer.
pub(crate) fn colour(source: &str) -> Style {
    let sum = source.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    BADGES[sum % BADGES.len()].on_default().bold()
}

/// A part of the best score, in eighths of a block.
pub(crate) fn bar(part: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    let drawn = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    let blank = BAR - drawn.chars().count();
    drawn + &" ".repeat(blank)
}

/// When, where else, where to see it, and its name.
fn foot(hit: &SearchHit, now: Option<&Moment>) -> String {
    let age = hit.time().zip(now).map(|(at, now)| age::words(at.age_days(now)));
    let also = (!hit.alternates.is_empty()).then(|| format!("also in {}", few(&hit.alternates)));
    let parts = [age, also, line(hit), hit.url.clone(), Some(hit.id.clone())];
    output::line(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")).into_owned()
}

/// The line of its file that a hit of code begins at: the document says it for each of its chunks.
fn line(hit: &SearchHit) -> Option<String> {
    let lines = hit.metadata.get("lines")?.as_array()?;
    let order: usize = hit.id.rsplit_once('#')?.1.parse().ok()?;
    lines.get(order)?.as_u64().map(|line| format!("line {line}"))
}

/// How wide the text of a hit is: as the terminal, which is asked once.
fn width() -> usize {
    static WIDE: OnceLock<usize> = OnceLock::new();
    *WIDE.get_or_init(|| {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        let columns = terminal.map_or(WIDTH, |(columns, _)| usize::from(columns.0));
        columns.saturating_sub(if terminal.is_some() { INDENT.len() } else { 0 }).clamp(NARROWEST, WIDTH)
    })
}

/// The text in lines, with highlights.
fn wrap(text: &str, highlights: &[Range<usize>], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = line_end(text, start, width);
        let line = start..start + text[start..end].trim_end().len();
        lines.push(highlighted(text, line, highlights));
        start = end + text[end..].len() - text[end..].trim_start().len();
    }
    lines
}

/// Where a line that starts here ends: before the word that does not fit, or inside a word that is longer than a line.
fn line_end(text: &str, start: usize, most: usize) -> usize {
    let (mut width, mut space) = (0, None);
    for (at, character) in text[start..].char_indices() {
        width += if output::acts(character) {
            output::picture(character).width()
        } else {
            character.width().unwrap_or(0)
        };
        if width > most && at > 0 {
            return space.unwrap_or(start + at);
        }
        if character == ' ' {
            space = Some(start + at);
        }
    }
    text.len()
}

fn highlighted(text: &str, line: Range<usize>, highlights: &[Range<usize>]) -> String {
    let mut out = String::new();
    let mut at = line.start;
    for range in highlights {
        let (start, end) = (range.start.max(at), range.end.min(line.end));
        if start < end {
            let (before, found) = (output::line(&text[at..start]), output::line(&text[start..end]));
            let _ = write!(out, "{before}{MATCH}{found}{MATCH:#}");
            at = end;
        }
    }
    out + &output::line(&text[at..line.end])
}

/// A short table of what else could have come first.
pub(super) fn alternatives(response: &Found) -> String {
    let Some(others) = response.alternatives.as_ref().filter(|others| !others.is_empty()) else {
        return String::new();
    };
    let present = response.hits.first().filter(|hit| hit.rank == 1).map(|hit| hit.id.as_str());
    let first = |other: &Alternative| match &other.first {
        None => "nothing".to_owned(),
        Some(id) if present == Some(id) => "the same".to_owned(),
        Some(id) => output::line(id).into_owned(),
    };
    let place = |other: &Alternative| match (&other.first, other.place) {
        (None, _) => String::new(),
        (first, _) if present.is_some() && first.as_deref() == present => String::new(),
        (_, Some(place)) => format!("the present first at rank {place}"),
        (_, None) => "the present first not at all".to_owned(),
    };
    let rows: Vec<_> =
        others.iter().map(|other| (output::line(&other.name), first(other), place(other))).collect();
    let names = rows.iter().map(|(name, ..)| name.width()).max().unwrap_or(0);
    let firsts = rows.iter().map(|(_, first, _)| first.width()).max().unwrap_or(0);
    let mut out = format!("{STRONG}what else could have come first{STRONG:#}\n");
    for (name, first, place) in &rows {
        let (name_blank, first_blank) = (names - name.width(), firsts - first.width());
        let line = format!("   {name}{:name_blank$}   {first}{:first_blank$}   {place}", "", "");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// What the hits do not show by themselves, on standard error.
pub(super) fn remarks(request: &Request, response: &Found) {
    gaps(&response.status);
    if response.hits.is_empty() {
        let sentence = nothing(request, &response.status, response.total);
        anstream::eprintln!("{}", output::plain(&sentence));
    } else if response.total > response.hits.len() {
        let last = response.hits.last().map_or(0, |hit| hit.rank);
        let first = response.hits.first().map_or(0, |hit| hit.rank);
        let took = response.took.as_millis();
        anstream::eprintln!("{FAINT}{first} to {last} of {} hits, in {took} ms{FAINT:#}", response.total);
    }
    let wanted = request.offset.saturating_add(request.limit);
    if response.total > 0
        && wanted > response.total
        && let Some(note) = why_not::cut_short(response)
    {
        output::note(&note);
    }
}

/// What a search could not do, on standard error.
pub(crate) fn gaps(status: &Status) {
    let missing = status.legs.iter().filter(|leg| matches!(leg.state, LegState::TimedOut | LegState::Failed));
    let missing: Vec<_> = missing.map(|leg| leg.name.as_str()).collect();
    status.notes.iter().for_each(|note| output::note(note));
    if !missing.is_empty() {
        output::note(&format!("this answer is partial: {} gave nothing", missing.join(", ")));
    }
    let failed = status.stages.iter().filter(|stage| stage.state == StageState::Failed);
    for (stage, reason) in failed.filter_map(|stage| Some((stage.stage, stage.reason.as_ref()?))) {
        output::note(&format!("`{stage}` did not run, the answer is as before it: {reason}"));
    }
}

/// Whether anything is left out by a filter.
pub(super) fn narrowed(request: &Request) -> bool {
    let filter = &request.filter;
    filter.sources.is_some()
        || filter.kinds.is_some()
        || filter.since.is_some()
        || filter.until.is_some()
        || filter.reader.is_some()
        || !filter.metadata.is_empty()
}

/// One sentence that says what to try next.
pub(crate) fn nothing(request: &Request, status: &Status, total: usize) -> String {
    let narrowed = narrowed(request);
    let next = if total > 0 {
        format!("of the candidates, {total} are hits; use a smaller `--offset`")
    } else if status.legs.is_empty() && !narrowed {
        "the store is empty: `mainstem ingest PATH --source NAME` fills it".to_owned()
    } else if status.partial {
        "some searches gave no answer; try again".to_owned()
    } else if narrowed {
        "try it without `--source`, `--since` or the other filters".to_owned()
    } else {
        "try other or fewer words".to_owned()
    };
    format!("nothing found for `{}`; {next}", request.query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_the_score_says() {
        assert_eq!((bar(1.0), bar(0.5), bar(0.0)), ("████████".into(), "████    ".into(), "        ".into()));
        assert_eq!(bar(0.53), "████▎   ");
    }

    #[test]
    fn lines_break_between_words_and_keep_highlights() {
        let text = format!("{} fork {}", "word ".repeat(17).trim_end(), "tail ".repeat(3).trim_end());
        let at = text.find("fork").unwrap_or(0);
        let lines = wrap(&text, std::slice::from_ref(&(at..at + 4)), WIDTH);
        assert!(lines.len() == 2 && lines[0].contains(&format!("{MATCH}fork{MATCH:#}")), "{lines:?}");
        let wide = "東".repeat(100);
        assert_eq!(
            wrap(&wide, &[], WIDTH).iter().map(|line| line.chars().count()).collect::<Vec<_>>(),
            [46, 46, 8]
        );
        assert!(wrap("", &[], WIDTH).is_empty());
        assert_eq!(wrap("one two three", &[], 8), ["one two", "three"]);
    }
}
