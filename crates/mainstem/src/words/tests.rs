//! What counts as a word, by example and by property.

use proptest::prelude::*;

use super::*;

fn terms(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.term).collect()
}

fn placed(text: &str) -> String {
    let each = |token: Token| format!("{}@{}", token.term, token.position);
    tokens(text).into_iter().map(each).collect::<Vec<_>>().join(" ")
}

#[test]
fn prose_is_lowered_stemmed_and_keeps_the_places_of_stop_words() {
    assert_eq!(placed("The Indexes of the dog's houses"), "index@1 dog@4 hous@5");
    assert_eq!(placed("I don’t pay 1,000 or 3.14, refs 1,2"), "i@0 dont@1 pay@2 1000@3 3.14@5 ref@6 1@7 2@8");
}

#[test]
fn identifiers_are_whole_and_in_parts() {
    for (text, expected) in [
        ("HTTPServer", "httpserver@0 http@0 server@1"),
        ("get_user_name", "getusernam@0 get@0 user@1 name@2"),
        ("getUserName", "getusernam@0 get@0 user@1 name@2"),
        ("T-cell", "tcell@0 t@0 cell@1"),
        ("mRNAs of URLs", "mrna@0 rna@1 url@3"),
        ("sha256 x86", "sha256@0 sha@0 256@1 x86@2"),
        ("is_valid", "isvalid@0 valid@1"),
        ("a/bc/d_e.rs", "a/bc/d_e.rs@0 bc@1 de@2 d@2 e@3 rs@4"),
        ("std::fs::read", "std::fs::read@0 std@0 fs@1 read@2"),
        ("C++, F#", "c@0 c++@0 f@1 f#@1"),
        ("End. Next", "end@0 next@1"),
    ] {
        assert_eq!(placed(text), expected, "{text}");
    }
}

#[test]
fn scripts_without_spaces_are_pairs() {
    assert_eq!(placed("주간회의록 3월"), "주간@0 간회@1 회의@2 의록@3 3@4 월@5");
    assert_eq!(terms("東京都へ"), ["東京", "京都", "都へ"]);
    assert_eq!(terms("数据库API文档"), ["数据", "据库", "api", "文档"]);
    assert_eq!(terms("サーバー・テスト"), ["サー", "ーバ", "バー", "テス", "スト"]);
}

#[test]
fn spelling_is_normalised_and_spans_are_original() {
    let decomposed = "\u{1112}\u{116c}\u{110b}\u{1174}를";
    assert_eq!(terms(decomposed), ["회의", "의를"]);
    assert_eq!(highlights(decomposed, "회의"), std::iter::once(0..12).collect::<Vec<_>>());
    assert_eq!(terms("ＦＵＬＬ ﾊﾞｽ ﬁnd"), ["full", "バス", "find"]);
    assert_eq!(terms("soft\u{ad}ware cafe\u{301}"), ["softwar", "café"]);
}

#[test]
fn a_query_weighs_repeated_words_and_keeps_phrases_apart() {
    let query = WordQuery::parse("meeting \"state of the art\" meetings \"차\"");
    let weights: Vec<_> =
        query.terms.iter().map(|term| (term.term.as_str(), term.scope, term.weight)).collect();
    let word = Scope::Word;
    assert_eq!(
        weights,
        [("meet", word, 2.0), ("state", word, 1.0), ("art", word, 1.0), ("차", Scope::Character, 1.0)]
    );
    assert_eq!(query.phrases[0].words, [(0, "state".to_owned()), (3, "art".to_owned())]);
    assert_eq!(query.phrases[1].characters, ["차"]);
    assert!(WordQuery::parse("an \"open end").phrases.is_empty());
    assert_eq!(WordQuery::parse("“smart quotes” \"the\"").phrases.len(), 1);
}

#[test]
fn a_phrase_takes_parts_where_they_say_everything() {
    let words = |text: &str| WordQuery::parse(text).phrases.remove(0).words;
    assert_eq!(words("\"getUser now\""), [(0, "get".into()), (1, "user".into()), (2, "now".into())]);
    assert_eq!(words("\"mRNA vaccines\""), [(0, "mrna".into()), (2, "vaccin".into())]);
    assert_eq!(words("\"c++ code\""), [(0, "c++".into()), (1, "code".into())]);
}

#[test]
fn highlights_are_merged_spans_of_the_text() {
    let found = |text: &str, query: &str| -> Vec<String> {
        highlights(text, query).into_iter().map(|span| text[span].to_owned()).collect()
    };
    assert_eq!(found("The index of Indexes", "indexing"), ["index", "Indexes"]);
    assert_eq!(found("주간회의록을 보세요", "회의록"), ["회의록"]);
    assert_eq!(found("녹차와 홍차", "차"), ["차", "차"]);
    assert_eq!(found("call getUserName()", "user name"), ["UserName"]);
    assert_eq!(found("nothing", "the"), [""; 0]);
}

proptest! {
    #[test]
    fn any_text_has_sound_words(text in any::<String>(), more in "[a-zA-Z0-9_./:,'가-힣あ-ん漢字\u{300}\u{200d} -]{0,60}") {
        for text in [&text, &more, &format!("{text}{more}")] {
            let (mut start, mut position) = (0, 0);
            for token in tokens(text) {
                prop_assert!(token.start < token.end && text.get(token.start..token.end).is_some());
                prop_assert!(token.start >= start && token.position >= position);
                prop_assert!(!token.term.is_empty() && token.term.len() <= 512);
                (start, position) = (token.start, token.position);
            }
        }
    }

    #[test]
    fn a_text_is_found_by_itself(text in any::<String>(), query in any::<String>()) {
        let spans = highlights(&text, &text);
        prop_assert_eq!(spans.is_empty(), tokens(&text).is_empty());
        for pair in spans.windows(2) {
            prop_assert!(pair[0].end < pair[1].start);
        }
        WordQuery::parse(&query);
    }
}

#[test]
fn long_input_takes_linear_time() {
    for unit in ["a-", "1.", "aB", "가", "e\u{301}", "a/b_", "\u{301}", "1,000,", "\""] {
        let text = unit.repeat(200_000 / unit.len());
        tokens(&text);
        WordQuery::parse(&text);
    }
}
