//! Prompts.

use std::path::Path;

use mainstem::ask::{Context, Counter, Packer, Piece, Stage, Template};
use mainstem_core::Diagnostic as _;

fn piece(rank: usize, kind: &str, text: &str) -> Piece {
    Piece {
        id: format!("{kind}/{rank}#0"),
        rank,
        score: 1.0,
        source: kind.to_owned(),
        kind: kind.to_owned(),
        document: rank.to_string(),
        text: text.to_owned(),
        ..Piece::default()
    }
}

fn context(kinds: &[&str]) -> Context {
    let pieces: Vec<Piece> = kinds
        .iter()
        .enumerate()
        .map(|(n, kind)| piece(n + 1, kind, &format!("text {n} of {kind}")))
        .collect();
    Packer::new(Counter::O200k, 2000).pack(&pieces)
}

fn recipe(name: &str) -> Template {
    let path = format!("{}/../../recipes/{name}/prompt.jinja", env!("CARGO_MANIFEST_DIR"));
    Template::open(Path::new(&path)).unwrap()
}

fn instructions(template: &Template, kinds: &[&str]) -> String {
    template.messages("why?", &context(kinds), Stage::Answer, "").unwrap()[0].content.clone()
}

#[test]
fn the_default_says_what_is_quoted_and_what_is_asked() {
    let template = Template::standard().unwrap();
    let context = context(&["wiki", "slack"]);
    let [system, user] = template.messages("why?", &context, Stage::Answer, "").unwrap();
    assert_eq!((system.role, user.role), ("system", "user"));
    assert!(system.content.contains("never instructions") && system.content.contains("[1, 3]"));
    assert!(system.content.contains("- Wiki: 1 of 2 passages."), "{}", system.content);
    assert_eq!(user.content, format!("{}\n\nQuestion: why?", context.text));
    assert!(!system.content.contains("\n\n\n"), "{}", system.content);
}

#[test]
fn stages_build_on_each_other() {
    let template = Template::standard().unwrap();
    let user = |stage, before| {
        template.messages("why?", &context(&["wiki"]), stage, before).unwrap()[1].content.clone()
    };
    assert!(user(Stage::Outline, "").contains("Write an outline"));
    assert!(user(Stage::Expand, "- one [1]").contains("Outline:\n- one [1]\n"));
    assert!(user(Stage::Assemble, "One. [1]").contains("Draft:\nOne. [1]\n"));
}

#[test]
fn every_recipe_says_how_to_use_its_sources_and_what_dominates() {
    let chess = recipe("chess-tutor");
    assert!(instructions(&chess, &["books", "games"]).contains("Books say why, games show how."));
    assert!(instructions(&chess, &["books", "books", "games"]).contains("Mostly books were found."));
    assert!(instructions(&chess, &["books", "games", "games"]).contains("Mostly games were found."));
    assert!(
        !instructions(&chess, &["games", "games"]).contains("Mostly"),
        "there is nothing else to look at"
    );
    for (name, kinds) in [
        ("code-review", ["code", "reviews", "wiki"].as_slice()),
        ("desktop", &["slack", "notion", "linear", "gmail"]),
        ("agent-memory", &["memory", "docs"]),
        ("docs-team", &["docs", "other"]),
    ] {
        let template = recipe(name);
        let even = instructions(&template, kinds);
        assert!(even.contains("never instructions"), "{name} keeps the rules");
        let seen: Vec<String> = kinds
            .iter()
            .map(|kind| instructions(&template, &[&[*kind, *kind, *kind], kinds].concat()))
            .collect();
        assert!(seen.iter().all(|one| one.len() > even.len() || name == "docs-team"), "{name} adapts");
    }
}

#[test]
fn slips_are_told_when_a_template_is_read() {
    let cases = [
        (
            "{% block instructions %}{{ qeury }}{% endblock %}{% block question %}{% endblock %}",
            "unknown variable `qeury`",
        ),
        (
            "{% extends \"default\" %}{% block sources %}{% if dominant == 'x' %}{{ secret }}{% endif %}{% endblock %}",
            "unknown variable `secret`",
        ),
        ("{% extends \"default\" %}{% block sources %}{{ kinds.nothing.more }}{% endblock %}", "undefined"),
        ("{% block instructions %}x{% endblock %}", "block"),
        ("{% extends \"/etc/passwd\" %}", "template not found"),
        ("{% include \"default.txt\" %}", "template not found"),
        ("{% block %}", "syntax error"),
    ];
    for (text, expected) in cases {
        let error = Template::parse(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert!(error.hint().is_some());
    }
    let missing = Template::open(Path::new("/nowhere/prompt.jinja")).unwrap_err();
    assert_eq!(missing.code().as_str(), "E0301");
}
