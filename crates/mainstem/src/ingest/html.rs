//! HTML as headings and text.
//!
//! Tags are read by a tokenizer alone, without a tree: for text that is enough, and a page that is no proper tree still has one. Headings
//! come out as in Markdown, list items behind a dash, preformatted text between fences.

use html5gum::{DefaultEmitter, HtmlString, Spanned, StartTag, Token, Tokenizer};
use mainstem_core::time::Moment;

/// What a page says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Page {
    pub(super) title: Option<String>,
    pub(super) created_at: Option<Moment>,
    pub(super) text: String,
}

/// Reads a page.
pub(super) fn read(html: &str) -> Page {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut reader = Reader::default();
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => reader.start(&tag),
            Token::EndTag(tag) => reader.end(&tag.name),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
    }
    reader.page()
}

/// What holds no text of the page.
const DROPPED: [&[u8]; 11] = [
    b"script",
    b"style",
    b"nav",
    b"noscript",
    b"template",
    b"svg",
    b"iframe",
    b"select",
    b"button",
    b"footer",
    b"aside",
];

/// What stands on lines of its own.
const BLOCKS: [&[u8]; 22] = [
    b"p",
    b"div",
    b"section",
    b"article",
    b"main",
    b"header",
    b"ul",
    b"ol",
    b"dl",
    b"dt",
    b"dd",
    b"table",
    b"blockquote",
    b"figure",
    b"figcaption",
    b"form",
    b"fieldset",
    b"details",
    b"summary",
    b"address",
    b"hr",
    b"body",
];

#[derive(Default)]
struct Reader {
    out: String,
    title: String,
    created_at: Option<Moment>,
    in_title: bool,
    pre: bool,
    /// The element that is being dropped, and how often it is open.
    dropped: Option<(Vec<u8>, usize)>,
}

impl Reader {
    fn start(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if let Some((dropped, open)) = &mut self.dropped {
            *open += usize::from(dropped.as_slice() == name);
            return;
        }
        match name {
            b"title" => self.in_title = self.title.is_empty(),
            b"meta" => self.meta(tag),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.open_heading(name[1] - b'0'),
            b"pre" => self.fence(true),
            b"li" => self.line("- "),
            b"tr" => self.line("| "),
            b"br" => self.line(""),
            _ if DROPPED.contains(&name) && !tag.self_closing => self.dropped = Some((name.to_vec(), 1)),
            _ if BLOCKS.contains(&name) => self.paragraph(),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some((dropped, open)) = &mut self.dropped {
            *open -= usize::from(dropped.as_slice() == name);
            if *open == 0 {
                self.dropped = None;
            }
            return;
        }
        match name {
            b"title" => self.in_title = false,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.paragraph(),
            b"pre" => self.fence(false),
            b"td" | b"th" => self.words(" | "),
            _ if BLOCKS.contains(&name) => self.paragraph(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.dropped.is_some() {
        } else if self.in_title {
            self.title.push_str(text);
        } else if self.pre {
            self.out.push_str(text);
        } else {
            self.words(text);
        }
    }

    /// Adds text with white space as a browser shows it: runs are one space.
    fn words(&mut self, text: &str) {
        let spaced = |out: &String| out.is_empty() || out.ends_with([' ', '\n']);
        if text.starts_with(char::is_whitespace) && !spaced(&self.out) {
            self.out.push(' ');
        }
        for (at, word) in text.split_whitespace().enumerate() {
            if at > 0 {
                self.out.push(' ');
            }
            self.out.push_str(word);
        }
        if text.ends_with(char::is_whitespace) && !spaced(&self.out) {
            self.out.push(' ');
        }
    }

    fn meta(&mut self, tag: &StartTag<()>) {
        let value = |name: &[u8]| tag.attributes.get(name).map(lossy);
        let name = value(b"property").or_else(|| value(b"name")).unwrap_or_default();
        if matches!(name.as_str(), "article:published_time" | "date" | "dcterms.created") {
            self.created_at = value(b"content").and_then(|text| Moment::parse(text.trim()).ok());
        }
    }

    fn open_heading(&mut self, level: u8) {
        self.paragraph();
        self.out.push_str(&"#".repeat(level.into()));
        self.out.push(' ');
    }

    fn fence(&mut self, open: bool) {
        if open == self.pre {
            return;
        }
        if open {
            self.paragraph();
        } else {
            self.line("");
        }
        self.out.push_str("```\n");
        self.pre = open;
    }

    fn line(&mut self, start: &str) {
        self.cut_spaces();
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str(start);
    }

    fn paragraph(&mut self) {
        self.line("");
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn cut_spaces(&mut self) {
        let bare = self.out.trim_end_matches(' ').len();
        self.out.truncate(bare);
    }

    fn page(mut self) -> Page {
        self.fence(false);
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let headings = self.out.lines().filter_map(|line| line.strip_prefix("# "));
        let heading = || headings.map(str::trim).find(|heading| !heading.is_empty()).map(str::to_owned);
        let title = Some(title).filter(|title| !title.is_empty()).or_else(heading);
        Page { title, created_at: self.created_at, text: self.out.trim().to_owned() }
    }
}

fn lossy(value: &Spanned<HtmlString, ()>) -> String {
    String::from_utf8_lossy(value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_text_stay_and_the_rest_goes() {
        let page = read(
            "<html><head><title>A &amp; B</title><style>p{}</style></head><body><nav><a>menu</a></nav>\
             <h1>One</h1><p>Some <b>bold</b>\n text.<br>Next</p><script>if (a < b) {}</script>\
             <ul><li>x<li>y</ul><pre>a\n  b</pre><table><tr><td>1</td><td>2</td></tr></table></body></html>",
        );
        assert_eq!(page.title.as_deref(), Some("A & B"));
        assert_eq!(page.text, "# One\n\nSome bold text.\nNext\n\n- x\n- y\n\n```\na\n  b\n```\n\n| 1 | 2 |");
    }

    #[test]
    fn a_heading_without_words_is_no_title() {
        assert_eq!(read("<p>a<h1>").title, None);
        assert_eq!(read("<h1> </h1><p>a</p><h1>B</h1>").title.as_deref(), Some("B"));
    }

    proptest::proptest! {
        #[test]
        fn no_page_makes_it_panic(html in "[<>/a-z\"= !&;\\-]{0,200}") {
            read(&html);
        }
    }
}
