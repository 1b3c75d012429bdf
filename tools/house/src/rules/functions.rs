//! Functions: 90 % within 25 lines, none above 80, at most 6 arguments.
//!
//! Lines run from `fn` to the closing brace. Functions that macros write are not counted.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::report::{Offence, percentile};
use crate::source::Source;

const AIM_LINES: usize = 25;
const AIM_PERCENT: usize = 90;
const MOST_LINES: usize = 80;
const MOST_ARGUMENTS: usize = 6;

/// A function or method outside tests.
pub(super) struct Function {
    name: String,
    place: String,
    /// `None` for a method that a trait only declares.
    lines: Option<usize>,
    /// The receiver is not counted.
    arguments: usize,
}

/// Measures all functions outside tests.
pub(super) fn measure(sources: &[Source]) -> Vec<Function> {
    let mut functions = Vec::new();
    for source in sources {
        let mut visitor = Visitor { source, functions: &mut functions };
        visitor.visit_file(&source.tree);
    }
    functions
}

struct Visitor<'a> {
    source: &'a Source,
    functions: &'a mut Vec<Function>,
}

impl Visitor<'_> {
    fn record(&mut self, signature: &syn::Signature, body: Option<&syn::Block>) {
        let first = signature.fn_token.span.start().line;
        if !self.source.is_shipped(first) {
            return;
        }
        self.functions.push(Function {
            name: signature.ident.to_string(),
            place: self.source.place(first),
            lines: body.map(|body| body.span().end().line + 1 - first),
            arguments: signature.inputs.len() - usize::from(signature.receiver().is_some()),
        });
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.record(&function.sig, Some(&function.block));
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.record(&function.sig, Some(&function.block));
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.record(&function.sig, function.default.as_ref());
        visit::visit_trait_item_fn(self, function);
    }
}

/// The functions that break a rule.
pub(super) fn check(functions: &[Function]) -> Vec<Offence> {
    let mut offences = Vec::new();
    for Function { name, place, lines, arguments } in functions {
        if let Some(lines) = lines.filter(|lines| *lines > MOST_LINES) {
            let what = format!("`{name}` has {lines} lines, at most {MOST_LINES} are allowed");
            offences.push(Offence::new("function length", place, what));
        }
        if *arguments > MOST_ARGUMENTS {
            let what = format!("`{name}` takes {arguments} arguments, at most {MOST_ARGUMENTS} are allowed");
            offences.push(Offence::new("arguments", place, what));
        }
    }
    offences.extend(check_share(functions));
    offences
}

/// Names every function beyond the aim, but only when too many are.
fn check_share(functions: &[Function]) -> Vec<Offence> {
    let lengths = sorted_lengths(functions);
    if percentile(&lengths, AIM_PERCENT) <= AIM_LINES {
        return Vec::new();
    }
    let long = functions.iter().filter(|function| function.lines > Some(AIM_LINES));
    let mut long: Vec<&Function> = long.collect();
    long.sort_by_key(|function| std::cmp::Reverse(function.lines));
    let offence = |function: &&Function| {
        let (name, lines) = (&function.name, function.lines.unwrap_or(0));
        let what =
            format!("`{name}` has {lines} lines, {AIM_PERCENT} % of functions must stay within {AIM_LINES}");
        Offence::new("function share", &function.place, what)
    };
    long.iter().map(offence).collect()
}

fn sorted_lengths(functions: &[Function]) -> Vec<usize> {
    let mut lengths: Vec<usize> = functions.iter().filter_map(|function| function.lines).collect();
    lengths.sort_unstable();
    lengths
}

/// The distribution of lengths in one line, with the longest function by name.
pub(super) fn summary(functions: &[Function]) -> String {
    let lengths = sorted_lengths(functions);
    let within = lengths.partition_point(|lines| *lines <= AIM_LINES) * 100 / lengths.len().max(1);
    let [p50, p90, p99] = [50, 90, 99].map(|share| percentile(&lengths, share));
    let longest = functions.iter().max_by_key(|function| function.lines);
    let longest = longest.map_or(String::new(), |function| {
        let lines = function.lines.unwrap_or(0);
        format!("  max {lines} `{}` {}", function.name, function.place)
    });
    let most = functions.iter().map(|function| function.arguments).max().unwrap_or(0);
    let count = lengths.len();
    format!(
        "functions {count:5}  lines p50 {p50}  p90 {p90}  p99 {p99}{longest}\n{:17}{within} % within {AIM_LINES} lines  most arguments {most}\n",
        ""
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    fn of_length(lines: usize) -> String {
        format!("fn a() {{{}}}\n", "\n".repeat(lines - 1))
    }

    fn offences(text: &str) -> Vec<&'static str> {
        let functions = measure(&[sample("crates/a/src/lib.rs", text)]);
        check(&functions).iter().map(|offence| offence.rule).collect()
    }

    #[test]
    fn no_function_is_too_long() {
        let short = of_length(1).repeat(20);
        assert_eq!(offences(&(short.clone() + &of_length(81))), ["function length"]);
        assert_eq!(offences(&(short + &of_length(80))), [""; 0]);
    }

    #[test]
    fn nine_in_ten_are_short() {
        assert_eq!(offences(&(of_length(25).repeat(9) + &of_length(26))), [""; 0]);
        assert_eq!(offences(&(of_length(25).repeat(8) + &of_length(26).repeat(2))), ["function share"; 2]);
    }

    #[test]
    fn arguments_are_few_and_the_receiver_is_free() {
        let six = "a: u8, b: u8, c: u8, d: u8, e: u8, f: u8";
        assert_eq!(offences(&format!("trait T {{ fn a(&self, {six}); }}")), [""; 0]);
        assert_eq!(offences(&format!("trait T {{ fn a(&self, {six}, g: u8); }}")), ["arguments"]);
        assert_eq!(offences(&format!("impl T {{ fn a({six}, g: u8) {{}} }}")), ["arguments"]);
    }

    #[test]
    fn tests_are_not_counted() {
        let text = format!("#[cfg(test)] mod tests {{ {} }}", of_length(100));
        assert_eq!(offences(&text), [""; 0]);
    }

    #[test]
    fn the_summary_shows_the_tail() {
        let text = of_length(3).repeat(9) + "fn long() {\n\n\n\n}";
        let summary = summary(&measure(&[sample("crates/a/src/lib.rs", &text)]));
        assert!(summary.contains("p50 3  p90 3  p99 5  max 5 `long` crates/a/src/lib.rs:28"), "{summary}");
    }
}
