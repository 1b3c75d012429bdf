//! A picture of where two runs differ.
//!
//! A mean hides whether a run is a little better everywhere or much better on a few queries. The plot shows each query as
//! a bar, sorted by difference, with the mean and its 95 % interval. It is one self-contained SVG file without scripts,
//! fonts or links, in colours that read on light and dark backgrounds and for colour-blind readers. Hovering over a bar
//! names its query.

mod panel;
mod scale;

use std::fmt::Write as _;

use crate::Comparison;
use panel::{HEIGHT, Panel, WIDTH};

/// Grey, blue and orange of middle lightness keep a contrast of 3 : 1 or more on white and on near-black.
const STYLE: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#777}\
.title{font-size:17px;font-weight:600}\
.sub{font-size:12.5px}\
.tick{font-size:11.5px}\
.grid{stroke:#888;stroke-opacity:.22}\
.zero{stroke:#777;stroke-width:1.2}\
.win{fill:#3183d9}\
.loss{fill:#e0731d}\
.tie{fill:#888}\
.band{fill:#888;fill-opacity:.25;pointer-events:none}\
.mean{stroke:#777;stroke-width:1.6;stroke-dasharray:6 4;pointer-events:none}\
rect:hover{fill-opacity:.6}";

/// Draws one panel per comparison, below each other, as an SVG document.
pub fn differences(comparisons: &[Comparison]) -> String {
    let height = HEIGHT * comparisons.len().max(1) as f64;
    let mut svg = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        // Writing to a String cannot fail.
        let _ = svg.write_fmt(text);
        svg.push('\n');
    };
    line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">"#
    ));
    line(format_args!("<style>{STYLE}</style>"));
    for (index, comparison) in comparisons.iter().enumerate() {
        line(format_args!(r#"<g transform="translate(0 {})">"#, HEIGHT * index as f64));
        line(format_args!("{}</g>", Panel::new(comparison)));
    }
    line(format_args!("</svg>"));
    svg
}

/// Text that is safe inside an XML element: markup escaped, characters that XML forbids replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lines;
    use crate::{Measure, Qrels, Run, Settings, compare, evaluate};

    fn plot(qrels: &str, a: &str, b: &str) -> String {
        let qrels = Qrels::read(Lines::new(qrels.as_bytes(), "q")).unwrap();
        let measures = [Measure::parse("MRR").unwrap()];
        let [a, b] = [a, b].map(|text| {
            let run = Run::read(Lines::new(text.as_bytes(), "r")).unwrap();
            evaluate(&qrels, &run, &measures, &Settings::default())
        });
        differences(&compare(("a<b>.run", &a), &[("b&c.run", &b)]))
    }

    #[test]
    fn bars_are_sorted_and_named() {
        let svg = plot("1 0 a 1\n2 0 a 1\n<3> 0 a 1\n", "1 Q0 a 1 1 t\n", "2 Q0 a 1 1 t\n");
        let titles: Vec<_> = svg.match_indices("<title>").map(|(at, _)| &svg[at + 7..at + 10]).collect();
        assert_eq!(titles, ["2: ", "&lt", "1: "]);
        assert!(svg.contains("b&amp;c.run − a&lt;b&gt;.run"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn nothing_to_draw_is_still_a_picture() {
        let svg = plot("1 0 a 1\n", "", "");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
        assert!(differences(&[]).contains("</svg>"));
    }
}
