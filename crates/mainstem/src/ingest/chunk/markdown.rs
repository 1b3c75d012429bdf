//! Markdown: sections under headings, code and tables in one piece where they fit.

use std::ops::Range;

use mainstem_core::Chunk;
use mainstem_core::contract::Chunker;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::blocks::lines;
use super::pack::{Piece, mark_paragraphs, pack, pieces};
use super::sentences::sentences;
use super::{JOINT, Size, finish};

/// Cuts Markdown by headings. No chunk holds parts of two sections; a heading without text goes with the section behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkdownChunker {
    size: Size,
}

impl MarkdownChunker {
    /// Chunks of this size.
    pub fn new(size: Size) -> Self {
        Self { size }
    }

    fn cut(self, text: &str, section: &Section) -> Vec<Range<usize>> {
        let heading = text[section.heading.clone()].chars().count();
        // What comes right behind a heading has to fit beside it.
        let room = self.size.most - heading.min(self.size.most / 4);
        let mut all = pieces(text, lines(text, section.heading.clone()), self.size.target, false);
        for block in &section.blocks {
            all.append(&mut self.cut_block(text, block, room));
        }
        mark_paragraphs(text, &mut all);
        pack(&all, self.size)
    }

    fn cut_block(self, text: &str, block: &Block, room: usize) -> Vec<Piece> {
        let span = block.span.clone();
        if !block.whole {
            return pieces(text, sentences(text, span), self.size.target.min(room), true);
        }
        let piece = Piece::new(text, span.clone(), false);
        if piece.chars <= room {
            vec![piece]
        } else {
            pieces(text, lines(text, span), self.size.target.min(room), false)
        }
    }
}

impl Chunker for MarkdownChunker {
    fn chunk(&self, text: &str) -> Vec<Chunk> {
        let cut = |section: Section| {
            let spans = self.cut(text, &section);
            spans.into_iter().map(move |span| (span, section.path.clone()))
        };
        finish(text, sections(text).into_iter().flat_map(cut))
    }
}

/// A heading and what stands under it, without what stands under the next.
#[derive(Debug, Default)]
struct Section {
    /// The headings, outermost first.
    path: Option<String>,
    /// Where the headings are that open it.
    heading: Range<usize>,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    span: Range<usize>,
    /// Whether it loses its meaning when it is cut.
    whole: bool,
}

/// The sections of a text. Each block reaches up to the next, so that nothing is lost.
fn sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut outline = Outline::default();
    for top in top_level(text) {
        let Some(last) = sections.last_mut() else { break };
        match top.heading {
            Some((level, title)) => {
                outline.enter(level, title);
                if !last.blocks.is_empty() {
                    sections.push(Section { heading: top.span.start..top.span.start, ..Section::default() });
                }
                let Some(open) = sections.last_mut() else { break };
                open.heading.end = top.span.end;
                open.path = outline.path();
            }
            None => last.blocks.push(Block { span: top.span, whole: top.whole }),
        }
    }
    sections
}

/// The headings above a place.
#[derive(Default)]
struct Outline {
    open: Vec<(HeadingLevel, String)>,
}

impl Outline {
    fn enter(&mut self, level: HeadingLevel, title: String) {
        self.open.retain(|(above, _)| *above < level);
        self.open.push((level, title));
    }

    fn path(&self) -> Option<String> {
        let titles: Vec<_> =
            self.open.iter().map(|(_, title)| title.as_str()).filter(|title| !title.is_empty()).collect();
        (!titles.is_empty()).then(|| titles.join(JOINT))
    }
}

/// A block at the top level, from its start up to the next one.
struct Top {
    span: Range<usize>,
    heading: Option<(HeadingLevel, String)>,
    whole: bool,
}

fn top_level(text: &str) -> Vec<Top> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS;
    let mut tops: Vec<Top> = Vec::new();
    let mut depth = 0_usize;
    for (event, span) in Parser::new_ext(text, options).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            tops.push(Top { span: span.clone(), heading: heading(&event), whole: whole(&event) });
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(part) | Event::Code(part) => {
                tops.last_mut().into_iter().for_each(|top| top.add_title(&part));
            }
            _ => {}
        }
    }
    close_gaps(&mut tops, text.len());
    tops
}

impl Top {
    fn add_title(&mut self, part: &str) {
        if let Some((_, title)) = &mut self.heading {
            title.push_str(part);
        }
    }
}

fn heading(event: &Event<'_>) -> Option<(HeadingLevel, String)> {
    match event {
        Event::Start(Tag::Heading { level, .. }) => Some((*level, String::new())),
        _ => None,
    }
}

fn whole(event: &Event<'_>) -> bool {
    matches!(event, Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::HtmlBlock) | Event::Rule)
}

/// Link definitions and the like are in no event; they go with the block before them, or with the first.
fn close_gaps(tops: &mut Vec<Top>, end: usize) {
    let mut next = end;
    for top in tops.iter_mut().rev() {
        top.span = top.span.start.min(next)..next;
        next = top.span.start;
    }
    match tops.first_mut() {
        Some(first) if first.heading.is_none() => first.span.start = 0,
        _ if next > 0 => tops.insert(0, Top { span: 0..next, heading: None, whole: false }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str) -> Vec<(Option<String>, String)> {
        let chunks = MarkdownChunker::default().chunk(text);
        chunks.into_iter().map(|chunk| (chunk.heading, chunk.text)).collect()
    }

    #[test]
    fn sections_know_their_headings() {
        let text = "intro\n\n# A\n\n## *B* `c`\n\nbody\n\n## D\nmore\n\n# E\nend\n";
        let got = chunk(text);
        let headings: Vec<_> = got.iter().map(|(heading, _)| heading.as_deref()).collect();
        assert_eq!(headings, [None, Some("A › B c"), Some("A › D"), Some("E")]);
        assert_eq!(got[1].1, "# A\n\n## *B* `c`\n\nbody");
    }

    #[test]
    fn code_and_tables_stay_in_one_piece_where_they_fit() {
        let code = format!("```rust\n{}```\n", "let a = 1;\n\n".repeat(60));
        let text = format!("# T\n\n{}\n\n{code}\n\nafter", "A sentence of words. ".repeat(30));
        let holding = chunk(&text).into_iter().filter(|(_, text)| text.contains("let a")).count();
        assert_eq!(holding, 1);
        let long = format!("```\n{}```\n", "let a = 1;\n".repeat(500));
        assert!(chunk(&long).iter().all(|(_, text)| text.chars().count() <= Size::default().most));
    }

    #[test]
    fn link_definitions_are_kept() {
        let text = "[a]: http://x\n\ntext [a]\n\n[b]: http://y\n";
        let joined: String = chunk(text).into_iter().map(|(_, text)| text).collect();
        assert!(joined.contains("http://x") && joined.contains("http://y"));
    }
}
