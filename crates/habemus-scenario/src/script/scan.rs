//! The words, numbers and signs of a script.

use std::ops::Range;

/// A piece of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Begins with a digit: `5`, `20ms`, `1.5s`, `10%`, `2nd`.
    Number,
    /// Begins with a letter: `crash`, `step-down`.
    Word,
    /// `->`
    Arrow,
    /// `..`
    Dots,
    /// Anything else, one character.
    Sign(char),
}

/// Divides a text into its pieces.
pub(super) fn scan(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let (kind, length) = match first {
            _ if first.is_ascii_digit() => (TokenKind::Number, number_length(rest)),
            _ if first.is_alphabetic() => (TokenKind::Word, word_length(rest)),
            _ if rest.starts_with("->") => (TokenKind::Arrow, 2),
            _ if rest.starts_with("..") => (TokenKind::Dots, 2),
            sign => (TokenKind::Sign(sign), sign.len_utf8()),
        };
        tokens.push(Token { kind, span: start..start + length });
        start += length;
    }
    tokens
}

/// A number goes on with its unit, but `1..4` is three pieces.
fn number_length(text: &str) -> usize {
    let belongs = |(at, letter): (usize, char)| match letter {
        '%' | '_' => true,
        '.' => text[at + 1..].starts_with(|next: char| next.is_ascii_digit()),
        letter => letter.is_alphanumeric(),
    };
    text.char_indices().find(|place| !belongs(*place)).map_or(text.len(), |(at, _)| at)
}

/// A word may have hyphens, but not an arrow.
fn word_length(text: &str) -> usize {
    let belongs = |(at, letter): (usize, char)| match letter {
        '_' => true,
        '-' => text[at + 1..].starts_with(char::is_alphanumeric),
        letter => letter.is_alphanumeric(),
    };
    text.char_indices().find(|place| !belongs(*place)).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_divided_into_words_numbers_and_signs() {
        let pieces = |text: &'static str| -> Vec<&str> {
            scan(text).into_iter().map(|token| &text[token.span]).collect()
        };
        assert_eq!(pieces("20ms crash 5"), ["20ms", "crash", "5"]);
        assert_eq!(pieces("cut 1->2,3-4"), ["cut", "1", "->", "2", ",", "3", "-", "4"]);
        assert_eq!(pieces("elect 1..4"), ["elect", "1", "..", "4"]);
        assert_eq!(pieces("1.5s step-down 3|4"), ["1.5s", "step-down", "3", "|", "4"]);
        assert_eq!(pieces("drift 3 by -5%"), ["drift", "3", "by", "-", "5%"]);
        assert_eq!(pieces("when 3 sends Ok: x"), ["when", "3", "sends", "Ok", ":", "x"]);
        assert_eq!(pieces("200µs … \u{0}"), ["200µs", "…", "\u{0}"]);
        assert!(pieces("  ").is_empty());
    }
}
