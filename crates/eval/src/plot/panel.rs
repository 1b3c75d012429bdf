//! One comparison drawn as bars.

use std::fmt;

use super::escape;
use super::scale::Scale;
use crate::Comparison;

pub(super) const WIDTH: f64 = 900.0;
pub(super) const HEIGHT: f64 = 340.0;

const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 92.0;
const TOP: f64 = 78.0;
const BOTTOM: f64 = HEIGHT - 42.0;

/// A drawing of one comparison; its `Display` is SVG.
pub(super) struct Panel<'a> {
    comparison: &'a Comparison,
    bars: Vec<(&'a str, f64)>,
    scale: Scale,
}

impl<'a> Panel<'a> {
    pub(super) fn new(comparison: &'a Comparison) -> Self {
        let pairs = comparison.differences.iter();
        let mut bars: Vec<_> = pairs.map(|(query, value)| (query.as_str(), *value)).collect();
        // Stable: equal differences stay in query order.
        bars.sort_by(|a, b| b.1.total_cmp(&a.1));
        let ends = comparison.interval.map(|interval| [interval.low, interval.high]);
        let values = bars.iter().map(|bar| bar.1).chain(ends.into_iter().flatten());
        let scale = Scale::new(values, TOP, BOTTOM);
        Self { comparison, bars, scale }
    }

    fn heading(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { measure, baseline, run, tally, .. } = self.comparison;
        let [measure, baseline, run] = [measure, baseline, run].map(|name| escape(&tail(name)));
        writeln!(f, r#"<text class="title" x="{LEFT}" y="28">{measure}: {run} − {baseline}</text>"#)?;
        write!(f, r#"<text class="sub" x="{LEFT}" y="50">mean {}"#, signed(self.comparison.difference, 4))?;
        if let Some(interval) = self.comparison.interval {
            write!(f, " (95 % interval {} to {})", signed(interval.low, 4), signed(interval.high, 4))?;
        }
        let (wins, losses, ties) = (tally.wins, tally.losses, tally.ties);
        writeln!(f, " · {wins} better, {losses} worse, {ties} equal · {} queries</text>", self.bars.len())
    }

    fn axis(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = self.scale.decimals();
        for tick in self.scale.ticks() {
            let y = self.scale.y(tick);
            writeln!(f, r#"<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.2}" y2="{y:.2}"/>"#)?;
            let (x, y) = (LEFT - 8.0, y + 4.0);
            let label = if tick == 0.0 { "0".to_owned() } else { signed(tick, decimals) };
            writeln!(f, r#"<text class="tick" x="{x}" y="{y:.2}" text-anchor="end">{label}</text>"#)?;
        }
        let (x, y) = (f64::midpoint(LEFT, RIGHT), HEIGHT - 16.0);
        let label = "queries, from most gained to most lost";
        writeln!(f, r#"<text class="tick" x="{x}" y="{y}" text-anchor="middle">{label}</text>"#)
    }

    fn bars(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot = (RIGHT - LEFT) / self.bars.len().max(1) as f64;
        // Gaps between very thin bars would only flicker.
        let width = if slot < 5.0 { slot } else { (slot * 0.86).min(36.0) };
        let zero = self.scale.y(0.0);
        for (index, (query, value)) in self.bars.iter().enumerate() {
            let x = LEFT + slot * index as f64 + (slot - width) / 2.0;
            let y = self.scale.y(*value);
            // A tie is a thin mark on the zero line, so that it can be hovered over.
            let (class, top, height) = match value {
                0.0 => ("tie", zero - 1.5, 3.0),
                value if *value > 0.0 => ("win", y, zero - y),
                _ => ("loss", zero, y - zero),
            };
            write!(
                f,
                r#"<rect class="{class}" x="{x:.2}" y="{top:.2}" width="{width:.2}" height="{height:.2}">"#
            )?;
            writeln!(f, "<title>{}: {}</title></rect>", escape(query), signed(*value, 4))?;
        }
        writeln!(f, r#"<line class="zero" x1="{LEFT}" x2="{RIGHT}" y1="{zero:.2}" y2="{zero:.2}"/>"#)
    }

    fn mean(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(interval) = self.comparison.interval {
            let (top, bottom) = (self.scale.y(interval.high), self.scale.y(interval.low));
            let (width, height) = (RIGHT - LEFT, (bottom - top).max(1.0));
            writeln!(
                f,
                r#"<rect class="band" x="{LEFT}" y="{top:.2}" width="{width}" height="{height:.2}"/>"#
            )?;
        }
        let y = self.scale.y(self.comparison.difference);
        writeln!(f, r#"<line class="mean" x1="{LEFT}" x2="{RIGHT}" y1="{y:.2}" y2="{y:.2}"/>"#)?;
        let (x, y) = (RIGHT + 7.0, y + 4.0);
        writeln!(
            f,
            r#"<text class="tick" x="{x}" y="{y:.2}">mean {}</text>"#,
            signed(self.comparison.difference, 3)
        )
    }
}

/// The last 36 characters of a name: with long paths, the end tells them apart.
fn tail(name: &str) -> String {
    match name.char_indices().rev().nth(36) {
        Some((at, c)) => format!("…{}", &name[at + c.len_utf8()..]),
        None => name.to_owned(),
    }
}

/// A number with its sign, with a true minus sign.
fn signed(value: f64, decimals: usize) -> String {
    format!("{value:+.decimals$}").replace('-', "−")
}

impl fmt::Display for Panel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.heading(f)?;
        self.axis(f)?;
        self.bars(f)?;
        self.mean(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(tail("a.run"), "a.run");
        let long = format!("{}é/b.run", "x".repeat(60));
        let short = tail(&long);
        assert!(short.starts_with('…') && short.ends_with("é/b.run") && short.chars().count() == 37);
    }
}
