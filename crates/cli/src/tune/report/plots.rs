//! The plots of the page, as inline SVG.

use std::fmt::Write as _;

use mainstem_eval::tune::{Curve, Finalist, Outcome, Sample};

use super::escape;

/// A linear scale from values to places.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low < high { (low, high) } else { (low.min(0.0) - 0.01, low.max(0.0) + 0.01) };
        Self { low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }
}

fn svg(width: f64, height: f64, label: &str, body: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{body}</svg>\n",
        escape(label)
    )
}

/// The gain of each rule with its interval.
pub(super) fn intervals(outcome: &Outcome) -> String {
    let ends = |one: &Finalist| one.interval.unwrap_or([one.gain, one.gain]);
    let values = outcome.finalists.iter().flat_map(|one| [ends(one)[0], ends(one)[1], one.gain]).chain([0.0]);
    let scale = Scale::new(values, 110.0, 760.0);
    let height = 30.0 + 30.0 * outcome.finalists.len() as f64;
    let mut body = String::new();
    let zero = scale.at(0.0);
    let bottom = height - 22.0;
    let _ =
        writeln!(body, "<line class=\"zero\" x1=\"{zero:.1}\" x2=\"{zero:.1}\" y1=\"4\" y2=\"{bottom}\"/>");
    let _ =
        writeln!(body, "<text x=\"{zero:.1}\" y=\"{}\" text-anchor=\"middle\">no gain</text>", height - 8.0);
    for (at, one) in outcome.finalists.iter().enumerate() {
        let y = 20.0 + 30.0 * at as f64;
        let [low, high] = ends(one);
        let (left, right, middle) = (scale.at(low), scale.at(high), scale.at(one.gain));
        let _ = writeln!(body, "<text x=\"100\" y=\"{}\" text-anchor=\"end\">{}</text>", y + 4.0, one.rule);
        let _ = writeln!(
            body,
            "<line class=\"whisker\" x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{y}\" y2=\"{y}\"/>"
        );
        let title = format!("{}: {:+.4}, 95 % interval {low:+.4} to {high:+.4}", one.rule, one.gain);
        let _ = writeln!(
            body,
            "<circle class=\"dot\" cx=\"{middle:.1}\" cy=\"{y}\" r=\"6\"><title>{title}</title></circle>"
        );
    }
    let label = format!("Gain in {} of each rule with its 95 % interval", outcome.measure);
    format!("<figure>{}</figure>\n", svg(800.0, height, &label, &body))
}

/// The gain of each query under the challenger with the greatest gain, sorted.
pub(super) fn differences(outcome: &Outcome) -> String {
    let Some(best) = outcome.finalists.iter().max_by(|a, b| a.gain.total_cmp(&b.gain)) else {
        return String::new();
    };
    let mut bars: Vec<(&str, f64)> =
        outcome.queries.iter().map(String::as_str).zip(best.differences.iter().copied()).collect();
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    let scale = Scale::new(bars.iter().map(|bar| bar.1).chain([0.0]), 180.0, 10.0);
    let (zero, slot) = (scale.at(0.0), 740.0 / bars.len().max(1) as f64);
    let mut body = String::new();
    for (at, (query, value)) in bars.iter().enumerate() {
        let (x, y) = (50.0 + slot * at as f64, scale.at(*value));
        let (class, top, height) = match value {
            0.0 => ("tie", zero - 1.0, 2.0),
            value if *value > 0.0 => ("win", y, zero - y),
            _ => ("loss", zero, y - zero),
        };
        let width = if slot > 4.0 { slot * 0.86 } else { slot };
        let _ = writeln!(
            body,
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"><title>{}: {value:+.4}</title></rect>",
            escape(query)
        );
    }
    for value in [scale.high, scale.low] {
        let _ = writeln!(
            body,
            "<text x=\"44\" y=\"{:.1}\" text-anchor=\"end\">{value:+.2}</text>",
            scale.at(value) + 4.0
        );
    }
    let _ = writeln!(body, "<line class=\"axis\" x1=\"50\" x2=\"790\" y1=\"{zero:.1}\" y2=\"{zero:.1}\"/>");
    let label = format!(
        "Gain in {} of each query under `{}`, from most gained to most lost",
        outcome.measure, best.rule
    );
    format!("<figure>{}</figure>\n", svg(800.0, 190.0, &label, &body))
}

/// What ranking gets, what it loses and what retrieval loses, as one bar.
pub(super) fn ceiling(outcome: &Outcome) -> String {
    let (gets, allows) = (outcome.after.clamp(0.0, 1.0), outcome.ceiling.allows.clamp(0.0, 1.0));
    let parts = [
        ("win", 0.0, gets, "the ranking gets"),
        ("loss", gets, allows, "lost by ranking"),
        ("back", allows, 1.0, "lost by retrieval"),
    ];
    let mut body = String::new();
    for (at, (class, from, to, name)) in parts.into_iter().enumerate() {
        let (x, width) = (10.0 + 780.0 * from, 780.0 * (to - from).max(0.0));
        let share = (to - from).max(0.0);
        let _ = writeln!(
            body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"10\" width=\"{width:.1}\" height=\"26\"><title>{name}: {share:.4}</title></rect>"
        );
        let left = 10.0 + 260.0 * at as f64;
        let _ = writeln!(body, "<rect class=\"{class}\" x=\"{left}\" y=\"48\" width=\"11\" height=\"11\"/>");
        let _ = writeln!(body, "<text x=\"{}\" y=\"58\">{name} {share:.3}</text>", left + 17.0);
    }
    let label = format!(
        "Of 1, the ranking gets {gets:.3}, ranking loses {:.3}, retrieval loses {:.3}",
        allows - gets,
        1.0 - allows
    );
    format!("<figure>{}</figure>\n", svg(800.0, 68.0, &label, &body))
}

/// One setting: its values and the mean at each.
pub(super) fn curve(curve: &Curve) -> String {
    let known: Vec<(usize, &Sample, f64)> = curve
        .samples
        .iter()
        .enumerate()
        .filter_map(|(at, sample)| Some((at, sample, sample.mean?)))
        .collect();
    let scale = Scale::new(known.iter().map(|(_, _, mean)| *mean), 96.0, 14.0);
    let step = 220.0 / (curve.samples.len().max(2) - 1) as f64;
    let x = |at: usize| 36.0 + step * at as f64;
    let mut body = String::new();
    let points: Vec<String> = known
        .iter()
        .filter(|(_, sample, _)| sample.number.is_some())
        .map(|(at, _, mean)| format!("{:.1},{:.1}", x(*at), scale.at(*mean)))
        .collect();
    if points.len() > 1 {
        let _ = writeln!(body, "<polyline class=\"curve\" points=\"{}\"/>", points.join(" "));
    }
    for (at, sample, mean) in &known {
        let (x, y) = (x(*at), scale.at(*mean));
        let _ = writeln!(
            body,
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{}: {mean:.4}</title></circle>",
            escape(&sample.label)
        );
        if sample.chosen {
            let _ = writeln!(body, "<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\"/>");
        }
        if sample.present {
            let _ = writeln!(
                body,
                "<rect class=\"now\" x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>",
                x - 5.0,
                y - 5.0
            );
        }
    }
    for value in [scale.high, scale.low] {
        let _ = writeln!(body, "<text x=\"0\" y=\"{:.1}\">{value:.3}</text>", scale.at(value) + 4.0);
    }
    for (at, anchor) in [(0, "start"), (curve.samples.len() - 1, "end")] {
        let label: String = curve.samples[at].label.chars().take(22).collect();
        let _ = writeln!(
            body,
            "<text x=\"{:.1}\" y=\"118\" text-anchor=\"{anchor}\">{}</text>",
            x(at),
            escape(&label)
        );
    }
    let caption =
        format!("{} <span>range {:.4}, next step {:.4}</span>", escape(&curve.axis), curve.range, curve.step);
    let label = format!("Mean at each value of {}", curve.axis);
    format!("<figure><figcaption>{caption}</figcaption>{}</figure>\n", svg(264.0, 124.0, &label, &body))
}
