//! The index, end to end.

use std::fs;

use mainstem_core::ChunkId;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{Lexical, LexicalChunk, LexicalView};
use crate::Error;
use crate::store::embedded::allowed::{Allowed, Scope};

struct Fixture {
    folder: TempDir,
    lexical: Lexical,
}

/// An index of chunks given as source, title and text, numbered from 1.
fn index(chunks: &[(u32, &str, &str)]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let lexical = Lexical::open(folder.path()).unwrap();
    let mut writer = lexical.writer().unwrap();
    for (at, (source, title, text)) in chunks.iter().enumerate() {
        writer.put(LexicalChunk { id: ChunkId(at as u64 + 1), source: *source, title, text }).unwrap();
    }
    writer.commit(7).unwrap();
    Fixture { folder, lexical }
}

fn texts(texts: &[&str]) -> LexicalView {
    let chunks: Vec<_> = texts.iter().map(|text| (0, "", *text)).collect();
    index(&chunks).lexical.view().unwrap()
}

fn found(view: &LexicalView, query: &str) -> Vec<u64> {
    let found = view.search((query, &Scope::default()), &[0, 1, 2], None, 10).unwrap();
    found.into_iter().flat_map(|(_, found)| found).map(|found| found.chunk.0).collect()
}

#[test]
fn korean_japanese_and_chinese_are_found() {
    let view = texts(&[
        "주간회의록을 공유합니다",
        "내일 회의를 합니다",
        "東京都の天気",
        "数据库设计文档",
        "녹차 한 잔",
    ]);
    let mut both = found(&view, "회의");
    both.sort_unstable();
    assert_eq!(both, [1, 2]);
    assert_eq!(found(&view, "東京"), [3]);
    assert_eq!(found(&view, "天気"), [3]);
    assert_eq!(found(&view, "数据库"), [4]);
    assert_eq!(found(&view, "차"), [5], "one character, inside of a word");
    assert_eq!(found(&view, "잔"), [5], "one character by itself");
    assert_eq!(found(&view, "\"회의를\""), [2]);
}

#[test]
fn identifiers_are_found_by_parts_and_whole_first() {
    let view =
        texts(&["the http client and the server", "HTTPServer::new()", "get_user_name", "indexing works"]);
    assert_eq!(found(&view, "HTTPServer"), [2, 1]);
    assert_eq!(found(&view, "getUserName"), [3]);
    assert_eq!(found(&view, "user"), [3]);
    assert_eq!(found(&view, "indexes"), [4]);
}

#[test]
fn a_quoted_phrase_must_occur() {
    let view = texts(&[
        "red apple pie",
        "apple of red color",
        "a pie with red apple",
        "state of the art",
        "state art",
    ]);
    assert_eq!(found(&view, "\"red apple\" color"), [1, 3]);
    assert_eq!(found(&view, "\"state of the art\""), [4]);
    assert_eq!(found(&view, "\"apple pie\" \"red apple\""), [1]);
    assert_eq!(found(&view, "\"blue apple\""), [0; 0]);
    assert_eq!(
        view.scores(("\"red apple\"", &Scope::default()), &[ChunkId(2), ChunkId(9)]).unwrap(),
        [Some(0.0), None]
    );
}

#[test]
fn a_phrase_does_not_reach_from_the_title_into_the_text() {
    let view = index(&[(0, "red", "apple"), (0, "red apple", "pie")]).lexical.view().unwrap();
    assert_eq!(found(&view, "\"red apple\""), [2]);
}

#[test]
fn a_title_counts_more_than_text() {
    let view = index(&[(0, "weather", "about the storage"), (0, "storage", "about the weather")])
        .lexical
        .view()
        .unwrap();
    assert_eq!(found(&view, "storage"), [2, 1]);
    assert_eq!(found(&view, "weather"), [1, 2]);
}

#[test]
fn each_source_has_its_own_limit_and_ties_go_to_the_smaller_number() {
    let chunks: Vec<_> = (0..30).map(|at| (at % 3, "", "the same words")).collect();
    let view = index(&chunks).lexical.view().unwrap();
    let found = view.search(("words", &Scope::default()), &[2, 0], None, 3).unwrap();
    let ids: Vec<_> =
        found.iter().map(|(s, f)| (*s, f.iter().map(|f| f.chunk.0).collect::<Vec<_>>())).collect();
    assert_eq!(ids, [(2, vec![3, 6, 9]), (0, vec![1, 4, 7])]);
    let allowed = Allowed::new([9, 10, 12].map(ChunkId).to_vec());
    let found = view.search(("words", &Scope::default()), &[0, 1, 2], Some(&allowed), 3).unwrap();
    let ids: Vec<_> =
        found.iter().map(|(s, f)| (*s, f.iter().map(|f| f.chunk.0).collect::<Vec<_>>())).collect();
    assert_eq!(ids, [(0, vec![10]), (2, vec![9, 12])]);
    assert!(view.search(("words", &Scope::default()), &[7], None, 3).unwrap().is_empty());
    assert!(view.search(("", &Scope::default()), &[0], None, 3).unwrap().is_empty());
    assert!(view.search(("the words", &Scope::default()), &[0], None, 0).unwrap().is_empty());
}

#[test]
fn deleted_and_replaced_chunks_do_not_show() {
    let Fixture { lexical, folder: _folder } = index(&[(0, "", "old text"), (0, "", "old words")]);
    let before = lexical.view().unwrap();
    let mut writer = lexical.writer().unwrap();
    writer.delete(ChunkId(1));
    writer.put(LexicalChunk { id: ChunkId(2), source: 1, title: "", text: "new words" }).unwrap();
    assert_eq!(found(&lexical.view().unwrap(), "old"), [1, 2], "nothing shows before the commit");
    writer.commit(8).unwrap();
    let after = lexical.view().unwrap();
    assert_eq!(found(&after, "old"), [0; 0]);
    assert_eq!(found(&after, "new"), [2]);
    assert_eq!((before.doc_count(), after.doc_count()), (2, 1));
    assert_eq!(found(&before, "old"), [1, 2], "a view stays as it is");
    assert_eq!(after.scores(("old", &Scope::default()), &[ChunkId(1)]).unwrap(), [None]);
}

#[test]
fn it_remembers_how_far_it_is() {
    let Fixture { folder, lexical } = index(&[(0, "", "words")]);
    assert_eq!(lexical.applied().unwrap(), 7);
    drop(lexical);
    let lexical = Lexical::open(folder.path()).unwrap();
    assert_eq!(lexical.applied().unwrap(), 7);
    assert_eq!(found(&lexical.view().unwrap(), "word"), [1]);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(Lexical::open(empty.path()).unwrap().applied().unwrap(), 0);
    assert!(matches!(Lexical::open_read_only(&empty.path().join("none")), Err(Error::Damaged { .. })));
}

#[test]
fn one_writes_and_others_read() {
    let Fixture { folder, lexical } = index(&[(0, "", "words")]);
    let mut writer = lexical.writer().unwrap();
    assert!(matches!(lexical.writer(), Err(Error::Busy { .. })));
    let reader = Lexical::open_read_only(folder.path()).unwrap();
    assert!(matches!(reader.writer(), Err(Error::Busy { .. })));
    writer.put(LexicalChunk { id: ChunkId(2), source: 0, title: "", text: "more words" }).unwrap();
    assert_eq!(found(&reader.view().unwrap(), "words"), [1]);
    writer.commit(9).unwrap();
    assert_eq!(found(&reader.view().unwrap(), "words"), [1, 2]);
    assert_eq!(reader.applied().unwrap(), 9);
}

#[test]
fn many_commits_leave_few_segments() {
    let Fixture { folder, lexical } = index(&[(0, "", "words")]);
    let mut writer = lexical.writer().unwrap();
    for id in 2..20 {
        writer.put(LexicalChunk { id: ChunkId(id), source: 0, title: "", text: "words" }).unwrap();
        writer.commit(id).unwrap();
    }
    assert!(lexical.shared.index.searchable_segment_metas().unwrap().len() < 10);
    assert_eq!(Lexical::open_read_only(folder.path()).unwrap().applied().unwrap(), 19);
    assert_eq!(found(&lexical.view().unwrap(), "words"), (1..=10).collect::<Vec<_>>());
}

#[test]
fn a_damaged_folder_says_so() {
    let Fixture { folder, lexical } = index(&[(0, "title", "words of a 회의"), (1, "", "more words")]);
    drop(lexical);
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    for path in names.iter().filter(|path| path.extension().is_some_and(|end| end != "lock")) {
        let whole = fs::read(path).unwrap();
        for kept in [0, 5, 12, whole.len() / 2, whole.len().saturating_sub(2)] {
            fs::write(path, &whole[..kept.min(whole.len())]).unwrap();
            let opened = Lexical::open(folder.path());
            let opened = opened.and_then(|lexical| lexical.view());
            let managed = path.file_name().is_some_and(|name| name == ".managed.json");
            assert!(
                managed || matches!(opened, Err(Error::Damaged { .. })),
                "{} cut to {kept}",
                path.display()
            );
        }
        fs::write(path, &whole).unwrap();
    }
    assert_eq!(found(&Lexical::open(folder.path()).unwrap().view().unwrap(), "words"), [1, 2]);
    fs::remove_file(folder.path().join("meta.json")).unwrap();
    assert!(matches!(Lexical::open(folder.path()), Err(Error::Damaged { .. })));
}

/// Twenty thousand chunks of two sources, of which most have the first word and few the second.
#[test]
fn a_sample_tells_how_scores_are_spread() {
    let text = |n: u64| match n % 700 {
        0 => "rare common",
        rest if rest % 3 == 0 => "common words and many more of them in a row",
        rest if rest % 3 == 1 => "common common",
        _ => "other",
    };
    let chunks: Vec<_> = (0..20_000).map(|n| (u32::from(n % 100 == 0), "", text(n))).collect();
    let view = index(&chunks).lexical.view().unwrap();
    let sources = [0, 1];
    let background = |query| view.background((query, &Scope::default()), &sources).unwrap();
    for query in ["common", "rare", "common rare"] {
        let spreads = background(query);
        assert_eq!(background(query), spreads, "the same when it is known");
        assert_eq!((spreads[0].0, spreads[1].0), (19_800, 200));
        for (source, (count, mean, deviation)) in sources.into_iter().zip(spreads) {
            let ids: Vec<_> =
                (1..=20_000).map(ChunkId).filter(|id| chunks[id.0 as usize - 1].0 == source).collect();
            let scores: Vec<_> =
                view.scores((query, &Scope::default()), &ids).unwrap().into_iter().flatten().collect();
            assert_eq!(scores.len() as u64, count);
            let right = scores.iter().sum::<f64>() / count as f64;
            let squares = scores.iter().map(|score| (score - right).powi(2)).sum::<f64>();
            let spread = (squares / count as f64).sqrt();
            assert!(
                (mean - right).abs() <= 0.1 * spread,
                "`{query}` in {source}: mean {mean}, expected {right}"
            );
            assert!(
                (deviation - spread).abs() <= 0.1 * spread,
                "`{query}` in {source}: {deviation}, expected {spread}"
            );
        }
    }
}

/// A source of texts by chance, of which every tenth has another word in the middle.
fn made(source: u32, changed: bool) -> Vec<(u32, &'static str, String)> {
    let word = |n: u64| format!("{:x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    let text = |at: u64| {
        let mut words: Vec<_> = (0..40).map(|n| word(at * 40 + n)).collect();
        if changed {
            words[20] = "moreover".to_owned();
        }
        words.join(" ")
    };
    (0..50).map(|at| (source, "", text(at))).collect()
}

#[test]
fn a_copy_of_a_source_does_not_count() {
    let view = |parts: &[Vec<(u32, &'static str, String)>]| {
        let chunks: Vec<_> =
            parts.iter().flatten().map(|(source, title, text)| (*source, *title, text.as_str())).collect();
        index(&chunks).lexical.view().unwrap()
    };
    let other: Vec<_> = (0..50).map(|at| (2, "", format!("other words of number {at}"))).collect();
    let first = made(1, false);
    let query = first[7].2.split(' ').take(5).chain(["other"]).collect::<Vec<_>>().join(" ");
    let scope = Scope::default();
    let before = view(&[first.clone(), other.clone()]);
    for (name, copy) in [("an exact", made(3, false)), ("a near", made(3, true))] {
        let after = view(&[first.clone(), other.clone(), copy]);
        assert_eq!(after.copies_among(&scope, &[1, 2, 3]).unwrap(), [3], "{name} copy");
        assert_eq!(after.copies_among(&scope, &[2, 3]).unwrap(), [0; 0], "without its original it is none");
        let scores = |view: &LexicalView| view.search((&query, &scope), &[1, 2], None, 100).unwrap();
        assert_eq!(scores(&before), scores(&after), "{name} copy");
        assert_eq!(before.greatest(&query, &scope).unwrap(), after.greatest(&query, &scope).unwrap());
    }
    let after = view(&[first, other, made(3, true)]);
    assert_eq!(
        after.search(("moreover", &scope), &[3], None, 100).unwrap()[0].1.len(),
        50,
        "it is found still"
    );
}

/// Of few words, frequent ones and rare ones, many texts have a run of letters in common by which they are told.
#[test]
fn sources_with_the_same_few_words_are_no_copies() {
    let mut state = 7_u64;
    let mut dice = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let sounds = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu"];
    let spell = |rank: usize| [rank % 10, rank / 10 % 10, rank / 100 % 10].map(|at| sounds[at]).concat();
    let mut text = || (0..60).map(|_| spell(300_f64.powf(dice()) as usize)).collect::<Vec<_>>().join(" ");
    let chunks: Vec<(u32, &str, String)> = (0..9_000).map(|at| (at % 3 + 1, "", text())).collect();
    let chunks: Vec<_> =
        chunks.iter().map(|(source, title, text)| (*source, *title, text.as_str())).collect();
    let view = index(&chunks).lexical.view().unwrap();
    assert_eq!(view.copies_among(&Scope::default(), &[1, 2, 3]).unwrap(), [0; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Skipping postings changes neither what is found nor any digit of a score.
    #[test]
    fn a_search_finds_what_scoring_everything_finds(
        chunks in prop::collection::vec((0u32..3, prop::collection::vec(0u8..12, 1..12)), 1..120),
        query in prop::collection::vec(0u8..12, 1..5),
        limit in 1usize..6,
    ) {
        let spell = |words: &[u8]| words.iter().map(|word| format!("w{}x", "ab".repeat(usize::from(*word)))).collect::<Vec<_>>().join(" ");
        let chunks: Vec<_> = chunks.iter().map(|(source, words)| (*source, spell(&words[..words.len() / 4]), spell(words))).collect();
        let chunks: Vec<_> = chunks.iter().map(|(source, title, text)| (*source, title.as_str(), text.as_str())).collect();
        let view = index(&chunks).lexical.view().unwrap();
        let ids: Vec<_> = (1..=chunks.len() as u64).map(ChunkId).collect();
        let scores = view.scores((&spell(&query), &Scope::default()), &ids).unwrap();
        for source in 0..3 {
            let mut expected: Vec<_> = ids.iter().zip(&scores).filter(|(id, _)| chunks[id.0 as usize - 1].0 == source)
                .filter_map(|(id, score)| score.filter(|score| *score > 0.0).map(|score| (*id, score))).collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            expected.truncate(limit);
            let found = view.search((&spell(&query), &Scope::default()), &[source], None, limit).unwrap();
            let found: Vec<_> = found.into_iter().flat_map(|(_, found)| found).map(|f| (f.chunk, f.score)).collect();
            // One allowed chunk among many is scored by itself.
            let few = Allowed::new(vec![ids[ids.len() / 2]]);
            for _ in 0..2 {
                let one = view.search((&spell(&query), &Scope::default()), &[0, 1, 2], Some(&few), limit).unwrap();
                let one: Vec<_> = one.into_iter().flat_map(|(_, found)| found).map(|f| f.score).collect();
                prop_assert_eq!(one, scores[ids.len() / 2].filter(|score| *score > 0.0).into_iter().collect::<Vec<_>>());
            }
            prop_assert_eq!(found, expected);
        }
    }
}
