//! The parts of a syntax tree.

use std::ops::Range;

use tree_sitter::{Node, Parser};

use super::super::super::format::Language;

/// Deeper trees are not taken apart; their nodes are cut by lines.
const MAX_DEPTH: usize = 200;
/// A name that is longer is no name.
const MAX_NAME: usize = 80;

/// A node that is not taken apart, and the space behind it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) span: Range<usize>,
    pub(super) chars: usize,
    /// The names of what it is inside of, outermost first.
    pub(super) path: Vec<String>,
    /// Whether it belongs to what comes next: a comment or an attribute.
    pub(super) lead: bool,
    /// Whether it is a definition that is not taken apart.
    pub(super) whole: bool,
}

impl Part {
    /// Takes in the part behind it.
    pub(super) fn take(&mut self, next: Part) {
        self.span.end = next.span.end;
        self.chars += next.chars;
        self.lead = next.lead;
        self.whole |= next.whole;
        let shared = self.path.iter().zip(&next.path).take_while(|(mine, theirs)| mine == theirs).count();
        self.path.truncate(shared);
    }
}

fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Python => tree_sitter_python::LANGUAGE,
        // A superset, which spares a grammar.
        Language::JavaScript | Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Go => tree_sitter_go::LANGUAGE,
        Language::Java => tree_sitter_java::LANGUAGE,
        Language::C | Language::Cpp => tree_sitter_cpp::LANGUAGE,
    }
    .into()
}

/// The parts of a text, without gaps: nodes of at most `most` characters. `None` when there is no tree.
pub(super) fn parts(language: Language, text: &str, most: usize) -> Option<Vec<Part>> {
    let mut parser = Parser::new();
    parser.set_language(&grammar(language)).ok()?;
    let tree = parser.parse(text, None)?;
    let mut taker = Taker { text, most, path: Vec::new(), parts: Vec::new() };
    taker.open(tree.root_node(), 0);
    let mut parts = taker.parts;
    close_gaps(text, &mut parts);
    Some(parts)
}

struct Taker<'a> {
    text: &'a str,
    most: usize,
    path: Vec<String>,
    parts: Vec<Part>,
}

impl Taker<'_> {
    /// Takes the children of a node.
    fn open(&mut self, node: Node<'_>, depth: usize) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let span = child.byte_range();
            if span.is_empty() || !self.text.is_char_boundary(span.start) {
                continue;
            }
            let small =
                span.len() <= self.most || self.text.get(span.clone()).is_none_or(|inside| self.fits(inside));
            if small || child.child_count() == 0 || depth == MAX_DEPTH {
                self.take(child);
            } else {
                self.descend(child, depth);
            }
        }
    }

    fn fits(&self, inside: &str) -> bool {
        inside.chars().count() <= self.most
    }

    fn descend(&mut self, node: Node<'_>, depth: usize) {
        let name = self.name(node);
        let named = name.is_some();
        self.path.extend(name);
        self.open(node, depth + 1);
        if named {
            self.path.pop();
        }
    }

    fn take(&mut self, node: Node<'_>) {
        let kind = node.kind();
        let begins_line =
            self.text[..node.start_byte()].rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
        let lead =
            begins_line && (kind.contains("comment") || kind == "attribute_item" || kind == "decorator");
        let whole = node.is_named() && node.child_by_field_name("body").is_some();
        self.parts.push(Part { span: node.byte_range(), chars: 0, path: self.path.clone(), lead, whole });
    }

    /// What a node is called: its name, what an `impl` is for, or the declarator of a C function.
    fn name(&self, node: Node<'_>) -> Option<String> {
        let field = match node.kind() {
            "impl_item" => "type",
            "function_definition" if node.child_by_field_name("name").is_none() => "declarator",
            _ => "name",
        };
        let text = self.text.get(node.child_by_field_name(field)?.byte_range())?;
        let name = text.split(['(', '\n']).next()?.trim();
        (!name.is_empty() && name.len() <= MAX_NAME).then(|| name.to_owned())
    }
}

/// Lets each part reach up to the next, and counts.
fn close_gaps(text: &str, parts: &mut [Part]) {
    let mut end = text.len();
    for at in (0..parts.len()).rev() {
        let start = if at == 0 { 0 } else { line_start(text, parts[at - 1].span.end, parts[at].span.start) };
        parts[at].span = start.min(end)..end;
        parts[at].chars = text[parts[at].span.clone()].chars().count();
        end = parts[at].span.start;
    }
}

/// Indentation goes with what it is before; line breaks go with what they are behind.
fn line_start(text: &str, before: usize, start: usize) -> usize {
    let gap = text.get(before..start).unwrap_or_default();
    gap.rfind('\n').map_or(start, |at| before + at + 1)
}

/// Puts what leads together with what it leads to.
pub(super) fn attach(parts: Vec<Part>, most: usize) -> Vec<Part> {
    let mut attached: Vec<Part> = Vec::new();
    for part in parts {
        match attached.last_mut() {
            Some(last) if last.lead && last.chars + part.chars <= most => last.take(part),
            _ => attached.push(part),
        }
    }
    attached
}

#[cfg(test)]
mod tests {
    use mainstem_core::contract::Chunker as _;

    use super::super::super::Size;
    use super::super::CodeChunker;
    use super::*;

    fn chunk(language: Language, text: &str, size: Size) -> Vec<(Option<String>, String)> {
        let chunks = CodeChunker::new(language, size).chunk(text);
        chunks.into_iter().map(|chunk| (chunk.heading, chunk.text)).collect()
    }

    #[test]
    fn comments_go_with_their_function() {
        let text = "use a;\n\n/// First.\nfn one() {\n    1;\n    2;\n}\n\n/// Second.\n#[inline]\nfn two() {\n    3;\n    4;\n}\n";
        let got = chunk(Language::Rust, text, Size::new(60, 60, 0));
        let texts: Vec<_> = got.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts[1], "/// Second.\n#[inline]\nfn two() {\n    3;\n    4;\n}", "{texts:?}");
    }

    #[test]
    fn large_ones_are_cut_inside_and_named() {
        let method = |name: &str| format!("    def {name}(self):\n        return [{}]\n\n", "1, ".repeat(40));
        let text = format!("class Stack:\n{}{}{}", method("push"), method("pop"), method("peek"));
        let got = chunk(Language::Python, &text, Size::new(200, 250, 0));
        assert!(got.len() >= 3);
        assert!(got.iter().all(|(heading, _)| heading.as_deref() == Some("Stack")), "{got:?}");
    }

    #[test]
    fn every_grammar_works() {
        let cases = [
            (Language::JavaScript, "export function f(a) { return <b>{a}</b>; }"),
            (Language::TypeScript, "const x = <number>y; interface A { b: string }"),
            (Language::Tsx, "const f = (a: string) => <b>{a}</b>;"),
            (Language::Go, "package main\nfunc main() {}\n"),
            (Language::Java, "class A { int b() { return 1; } }"),
            (Language::C, "int main(void) { return 0; }"),
            (Language::Cpp, "template <class T> struct A { T b; };"),
        ];
        for (language, text) in cases {
            let mut parser = Parser::new();
            parser.set_language(&grammar(language)).unwrap();
            assert!(!parser.parse(text, None).unwrap().root_node().has_error(), "{text}");
        }
    }
}
