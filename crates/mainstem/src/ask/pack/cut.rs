//! Cutting the passage that no longer fits.

use unicode_segmentation::UnicodeSegmentation as _;

use super::Packing;
use super::draft::Draft;
use crate::ask::quote::quote;
use crate::ask::tokens::WIDEST;

/// What marks a passage as cut.
pub(super) const MARK: &str = " […]";
/// A passage that could only have fewer tokens than this is left out, unless it is the only one.
const LEAST: usize = 24;

/// The longest start of a passage that fits, behind a sentence if that keeps at least half of it, else behind a word.
pub(super) fn to_fit<'a>(draft: Draft<'a>, packing: &mut Packing<'a>) -> Option<Draft<'a>> {
    let text = draft.lead.text.trim();
    let most = packing.packer.budget.saturating_mul(WIDEST).min(text.len());
    let most = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let text = &text[..most];
    let words = ends(text, text.split_word_bound_indices());
    let word = longest(&draft, text, &words, packing)?;
    let sentences = ends(text, text.split_sentence_bound_indices());
    let sentence = longest(&draft, text, &sentences, packing).filter(|end| *end * 2 >= word);
    let cut = cut_at(&draft, text, sentence.unwrap_or(word));
    let counter = packing.packer.counter;
    let enough = packing.drafts.is_empty() || counter.count(&cut.text) >= LEAST;
    enough.then_some(cut)
}

/// Where parts end, without the white space behind them, but not at the end of the text.
fn ends<'t>(text: &'t str, parts: impl Iterator<Item = (usize, &'t str)>) -> Vec<usize> {
    let ends = parts.map(|(at, part)| text[..at + part.len()].trim_end().len());
    let mut ends: Vec<usize> = ends.filter(|end| (1..text.len()).contains(end)).collect();
    ends.dedup();
    ends
}

/// The last of these ends that fits. More text can have fewer tokens, so that the search looks a little further down than it must.
fn longest<'a>(draft: &Draft<'a>, text: &str, ends: &[usize], packing: &mut Packing<'a>) -> Option<usize> {
    let mut fits = |end: usize| {
        packing.drafts.push(cut_at(draft, text, end));
        let fits = packing.fits();
        packing.drafts.pop();
        fits
    };
    let fitting = ends.partition_point(|end| fits(*end));
    ends[..fitting].iter().rev().copied().find(|end| fits(*end))
}

fn cut_at<'a>(draft: &Draft<'a>, text: &str, end: usize) -> Draft<'a> {
    Draft { text: quote(&text[..end]) + MARK, cut: true, ..draft.clone() }
}
