//! Finds the list that somebody forgot to close, which a reader of TOML sees only as many wrong items.

use std::ops::Range;

use super::KEYS;

/// A list without an end.
pub(super) struct OpenList {
    /// Its `[`.
    pub(super) bracket: Range<usize>,
    /// The first line after its last item: a key or a table that was read as items, or the end of the file.
    pub(super) rest: Range<usize>,
}

impl OpenList {
    /// The first one of a text.
    pub(super) fn find(text: &str) -> Option<Self> {
        let mut scanner = Scanner { text, at: 0, line_begins: true, open: Vec::new() };
        while scanner.at < text.len() {
            if let Some(list) = scanner.list_that_ends_here() {
                return Some(list);
            }
            scanner.skip();
        }
        let end = text.trim_end().len();
        Some(OpenList { bracket: scanner.innermost_list()?, rest: end..end })
    }
}

/// Walks through a text, token by token.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Whether only blanks stand before this place in its line.
    line_begins: bool,
    /// Where each bracket stands that is open, and which it is.
    open: Vec<(usize, char)>,
}

impl Scanner<'_> {
    fn innermost_list(&self) -> Option<Range<usize>> {
        let (at, bracket) = *self.open.last()?;
        (bracket == '[').then_some(at..at + 1)
    }

    /// The innermost list, if a line begins here that can be none of its items.
    fn list_that_ends_here(&self) -> Option<OpenList> {
        if !self.line_begins {
            return None;
        }
        let bracket = self.innermost_list()?;
        let rest = self.text[self.at..].lines().next()?.trim_end();
        (begins_with_key(rest) || is_header(rest))
            .then(|| OpenList { bracket, rest: self.at..self.at + rest.len() })
    }

    /// Steps over a character, a string or a comment.
    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        let Some(letter) = rest.chars().next() else {
            return;
        };
        let is_header = letter == '[' && self.open.is_empty() && self.line_begins;
        self.at += match letter {
            _ if letter == '#' || is_header => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => string_length(rest, letter),
            _ => letter.len_utf8(),
        };
        match letter {
            '[' | '{' if !is_header => self.open.push((self.at - 1, letter)),
            ']' | '}' => drop(self.open.pop()),
            _ => {}
        }
        self.line_begins = letter == '\n' || (self.line_begins && letter.is_whitespace());
    }
}

/// How long the string is that `text` begins with; one that is not closed ends with its line.
fn string_length(text: &str, quote: char) -> usize {
    let three = text.chars().take(3).all(|letter| letter == quote) && text.len() >= 3;
    let quotes = if three { 3 } else { 1 };
    let mut letters = text.char_indices().skip(quotes);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote == '"' {
            letters.next();
        } else if text[at..].chars().take(quotes).filter(|letter| *letter == quote).count() == quotes {
            return at + quotes;
        } else if letter == '\n' && !three {
            return at;
        }
    }
    text.len()
}

/// Whether a line is `key = …`.
fn begins_with_key(line: &str) -> bool {
    let is_bare = |letter: char| letter.is_alphanumeric() || "-_. \t".contains(letter);
    line.split_once('=').is_some_and(|(key, _)| !key.trim().is_empty() && key.chars().all(is_bare))
}

/// Whether a line is a `[table]` of a scenario; another could be a list in a list.
fn is_header(line: &str) -> bool {
    let name = line.trim_start_matches('[').split([']', '.']).next().unwrap_or_default().trim();
    line.starts_with('[') && KEYS.contains(&name)
}
