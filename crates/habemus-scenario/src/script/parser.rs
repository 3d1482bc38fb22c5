//! Goes through the pieces of a script, from left to right.

use std::ops::Range;
use std::time::Duration;

use habemus::units::shortened;

use super::ScriptError;
use super::scan::{Token, TokenKind, scan};
use crate::processes::Processes;
use crate::units::{self, UnitError};

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    pub(super) processes: &'a Processes<'a>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, processes: &'a Processes<'a>) -> Self {
        Parser { text, tokens: scan(text), next: 0, processes }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    pub(super) fn text_of(&self, span: &Range<usize>) -> &'a str {
        &self.text[span.clone()]
    }

    /// The next piece as text; empty at the end.
    pub(super) fn peek_text(&self) -> &'a str {
        self.peek().map_or("", |token| self.text_of(&token.span))
    }

    /// Where the next piece is; an empty span at the end.
    pub(super) fn here(&self) -> Range<usize> {
        match self.peek() {
            Some(token) => token.span.clone(),
            None => {
                let end = self.text.trim_end().len();
                end..end
            }
        }
    }

    /// Where the piece before this one ends.
    pub(super) fn previous_end(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |previous| self.tokens[previous].span.end)
    }

    /// Takes the next piece if it is of this kind.
    pub(super) fn take(&mut self, kind: TokenKind) -> Option<Range<usize>> {
        let token = self.peek().filter(|token| token.kind == kind)?.span.clone();
        self.next += 1;
        Some(token)
    }

    /// Takes the next piece if it is this word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let there =
            self.peek().is_some_and(|token| token.kind == TokenKind::Word) && self.peek_text() == word;
        self.next += usize::from(there);
        there
    }

    /// Takes the next piece and this word behind it, if it is there.
    pub(super) fn before_word(&mut self, word: &str) -> Option<Range<usize>> {
        let piece = self.peek()?;
        let is_value = matches!(piece.kind, TokenKind::Word | TokenKind::Number);
        let next = self.tokens.get(self.next + 1).filter(|next| self.text_of(&next.span) == word);
        let piece = next.filter(|_| is_value).map(|_| piece.span.clone())?;
        self.next += 2;
        Some(piece)
    }

    /// Takes this word, or says that it is missing; `example` shows the whole.
    pub(super) fn expect_word(&mut self, word: &str, example: &str) -> Result<(), ScriptError> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(self.expected(&format!("`{word}` as in `{example}`")))
    }

    /// Takes the next piece if it is `1st`, `2nd` and so on.
    pub(super) fn ordinal(&mut self) -> Option<u32> {
        let ordinal = self.peek_text();
        let number = ["st", "nd", "rd", "th"].iter().find_map(|ending| ordinal.strip_suffix(ending))?;
        let number = number.parse::<u32>().ok().filter(|number| *number > 0)?;
        self.take(TokenKind::Number)?;
        Some(number)
    }

    /// Takes everything up to the end of the line.
    pub(super) fn rest(&mut self, what: &str) -> Result<String, ScriptError> {
        let here = self.here().start;
        if self.peek().is_none() {
            return Err(self.expected(what));
        }
        self.next = self.tokens.len();
        Ok(self.text[here..].trim_end().to_owned())
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Result<(), ScriptError> {
        match self.peek() {
            None => Ok(()),
            Some(token) => {
                let before = self.text[..token.span.start].trim();
                let message = format!(
                    "expected nothing more after `{}`, found `{}`",
                    last_words(before),
                    self.peek_text()
                );
                Err(ScriptError::new(token.span.start..self.text.trim_end().len(), message))
            }
        }
    }

    /// That the next piece is not what was expected.
    pub(super) fn expected(&self, what: &str) -> ScriptError {
        let message = match self.peek_text() {
            "" => format!("expected {what}, found nothing"),
            found => format!("expected {what}, found `{}`", shortened(found)),
        };
        ScriptError::new(self.here(), message)
    }

    /// The identifier of a process that exists.
    pub(super) fn process(&mut self, what: &str) -> Result<u64, ScriptError> {
        let (id, span) = self.identifier(what)?;
        if self.processes.contains(id) { Ok(id) } else { Err(self.no_such_process(id, span)) }
    }

    /// The identifier of a process, whether it exists or not.
    pub(super) fn identifier(&mut self, what: &str) -> Result<(u64, Range<usize>), ScriptError> {
        let id = self.peek_text().parse::<u64>().ok().filter(|_| !self.peek_text().starts_with('+'));
        match (id, self.here()) {
            (Some(id), span) => {
                self.next += 1;
                Ok((id, span))
            }
            (None, span) if self.peek_text() == "it" => {
                let error = ScriptError::new(span, format!("expected {what}, found `it`"));
                Err(error.with_help("a script names every process by its identifier"))
            }
            (None, _) => Err(self.expected(what)),
        }
    }

    pub(super) fn no_such_process(&self, id: u64, span: Range<usize>) -> ScriptError {
        ScriptError::new(span, self.processes.no_such(id))
    }

    /// A duration; its unit may stand apart.
    pub(super) fn duration(&mut self) -> Result<Duration, ScriptError> {
        self.quantity(units::parse_duration)
    }

    /// A quantity: an optional sign, a number, and its unit, which may stand apart.
    pub(super) fn quantity<T>(&mut self, parse: fn(&str) -> Result<T, UnitError>) -> Result<T, ScriptError> {
        let mut span = self.here();
        let sign = matches!(self.peek().map(|token| token.kind), Some(TokenKind::Sign('-' | '+')));
        self.next += usize::from(sign);
        if let Some(number) = self.take(TokenKind::Number) {
            span.end = number.end;
            let is_bare = self.text_of(&number).bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let unit_apart = self.peek_text() == "%" || habemus::units::is_unit(self.peek_text());
            if is_bare && unit_apart {
                span.end = self.here().end;
                self.next += 1;
            }
        } else if self.peek().is_some() {
            span.end = self.here().end;
            self.next += 1;
        }
        parse(self.text_of(&span)).map_err(|error| ScriptError::new(span, error.to_string()))
    }
}

/// The end of a text, enough of it to see where one is.
fn last_words(text: &str) -> String {
    const MAX: usize = 24;
    let length = text.chars().count();
    if length <= MAX {
        return text.to_owned();
    }
    let end: String = text.chars().skip(length - MAX).collect();
    // Begin with a whole word where there is one.
    let end = end.split_once(' ').map_or(end.as_str(), |(_, words)| words).to_owned();
    format!("…{end}")
}
