//! What BERT's uncased tokenizer does to a text before it looks words up.

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory as Category, UnicodeGeneralCategory as _};

/// The words of a text: cleaned, without accents, in lower case, cut at spaces, around punctuation and around Chinese characters.
///
/// The order is that of the reference: characters are cleaned and set apart, then decomposed (NFD) and freed of non-spacing marks,
/// then lowered one by one, so that what a letter becomes does not depend on its neighbours. The tables are those of today's Unicode,
/// the reference's are older: they differ for some 700 characters, nearly all newer, none of which is in the vocabulary.
pub(super) fn words(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    for c in text.chars().filter(|c| !is_dropped(*c)) {
        if c.is_ascii() {
            push(c.to_ascii_lowercase(), &mut word, &mut each);
        } else if is_chinese(c) {
            finish(&mut word, &mut each);
            fold(c, &mut word, &mut each);
            finish(&mut word, &mut each);
        } else {
            fold(c, &mut word, &mut each);
        }
    }
    finish(&mut word, &mut each);
}

fn fold(c: char, word: &mut String, each: &mut impl FnMut(&str)) {
    let base = std::iter::once(c).nfd().filter(|c| c.general_category() != Category::NonspacingMark);
    base.flat_map(char::to_lowercase).for_each(|c| push(c, word, each));
}

fn push(c: char, word: &mut String, each: &mut impl FnMut(&str)) {
    if c.is_whitespace() {
        finish(word, each);
    } else if is_punctuation(c) {
        finish(word, each);
        word.push(c);
        finish(word, each);
    } else {
        word.push(c);
    }
}

fn finish(word: &mut String, each: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        each(word);
        word.clear();
    }
}

/// Control characters other than white space, and what stands for a broken character.
fn is_dropped(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    }
    let category = c.general_category();
    c == '\u{fffd}' || matches!(category, Category::Control | Category::Format | Category::PrivateUse)
}

fn is_punctuation(c: char) -> bool {
    use Category as C;
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    let open_or_close = [C::OpenPunctuation, C::ClosePunctuation, C::InitialPunctuation, C::FinalPunctuation];
    let other = [C::ConnectorPunctuation, C::DashPunctuation, C::OtherPunctuation];
    let category = c.general_category();
    open_or_close.contains(&category) || other.contains(&category)
}

/// The blocks that the reference sets apart. Hangul and kana are not among them; the gap before U+2B920 is the reference's.
fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        words(text, |word| out.push(word.to_owned()));
        out
    }

    #[test]
    fn accents_and_case_go() {
        assert_eq!(of("Ångström DÉJÀ\tvu İstanbul"), ["angstrom", "deja", "vu", "istanbul"]);
    }

    #[test]
    fn punctuation_and_chinese_stand_alone() {
        assert_eq!(of("don't(2)«x»"), ["don", "'", "t", "(", "2", ")", "«", "x", "»"]);
        assert_eq!(of("我是abc"), ["我", "是", "abc"]);
        assert_eq!(of("ひらがな"), ["ひらかな"]);
    }

    #[test]
    fn invisible_characters_go() {
        assert_eq!(of("a\u{0}b\u{200b}c\u{fffd}d"), ["abcd"]);
        assert_eq!(of("a\u{a0}b\u{3000}c\r\n"), ["a", "b", "c"]);
        assert_eq!(of("  "), Vec::<String>::new());
    }
}
