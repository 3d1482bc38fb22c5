//! What is wrong with a scenario, and where.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use thiserror::Error;

use crate::parse::Parsed;

/// Something wrong at one place of a scenario file.
///
/// Its text is `file:line:column: what`, one line that an editor can jump to; as a [`Diagnostic`] it shows
/// the lines around the place too. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{}:{line}:{column}: {message}", code.name())]
pub struct ScenarioError {
    line: usize,
    column: usize,
    message: String,
    span: Range<usize>,
    #[source_code]
    code: NamedSource<Arc<str>>,
    #[label(collection)]
    labels: Vec<LabeledSpan>,
    #[help]
    help: Option<String>,
}

impl ScenarioError {
    pub(crate) fn new(file: &str, text: &Arc<str>, problem: Problem) -> Self {
        let Problem { span, message, other, help } = problem;
        let (line, column) = position(text, span.start);
        let mut labels = vec![LabeledSpan::new_primary_with_span(None, span.clone())];
        labels.extend(other.map(|(span, label)| LabeledSpan::new_with_span(Some(label.to_owned()), span)));
        let code = NamedSource::new(file, Arc::clone(text));
        ScenarioError { line, column, message, span, code, labels, help }
    }

    /// The file's name, as it was given.
    pub fn file(&self) -> &str {
        self.code.name()
    }

    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column, counted from 1 in characters.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it, if the message does not say it already.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The bytes of the file that are wrong.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// Something wrong, before anybody looks for its line: a file of the wrong kind has very many.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    /// A second place that has to do with it, and why.
    pub(crate) other: Option<(Range<usize>, &'static str)>,
    pub(crate) help: Option<String>,
}

impl Problem {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Problem { span, message: message.into(), other: None, help: None }
    }
}

/// Everything that is wrong with a scenario file, in the order of the file; never empty.
///
/// As text it is the first error and how many more there are; as a [`Diagnostic`] it shows each of them.
#[derive(Clone, Debug)]
pub struct ScenarioErrors {
    first: Box<ScenarioError>,
    others: Vec<ScenarioError>,
    left_out: usize,
    rest: Option<Box<Parsed>>,
}

impl ScenarioErrors {
    /// A file of the wrong kind has thousands of errors, and nobody reads them.
    const MAX: usize = 20;

    /// `None` if nothing is wrong.
    pub(crate) fn collect(file: &str, text: &Arc<str>, mut problems: Vec<Problem>) -> Option<Self> {
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        let left_out = problems.len().saturating_sub(Self::MAX);
        problems.truncate(Self::MAX);
        let mut errors = problems.into_iter().map(|problem| ScenarioError::new(file, text, problem));
        let first = Box::new(errors.next()?);
        Some(ScenarioErrors { first, others: errors.collect(), left_out, rest: None })
    }

    /// The same, with what could be read of the file all the same.
    pub(crate) fn beside(self, parsed: Parsed) -> Self {
        ScenarioErrors { rest: Some(Box::new(parsed)), ..self }
    }

    /// What could be read of the file all the same: what is wrong is missing in it. Who knows the algorithms
    /// finds further errors there, and adds them [`with`](Self::with) these. Nothing, if the file could not
    /// be taken apart.
    pub fn rest(&self) -> Option<&Parsed> {
        self.rest.as_deref()
    }

    /// All of them and these others, in the order of the file; of two at one place only the first.
    #[must_use]
    pub fn with(self, others: impl IntoIterator<Item = ScenarioError>) -> Self {
        let ScenarioErrors { first, others: known, left_out, rest } = self;
        let mut all = vec![*first];
        all.extend(known);
        for error in others {
            if all.iter().all(|known| known.span.start != error.span.start) {
                all.push(error);
            }
        }
        all.sort_by_key(|error| (error.span.start, error.span.end));
        let left_out = left_out + all.len().saturating_sub(Self::MAX);
        all.truncate(Self::MAX);
        let mut all = all.into_iter();
        let first = all.next().expect("there was one at the beginning");
        ScenarioErrors { first: Box::new(first), others: all.collect(), left_out, rest }
    }

    /// The errors, in the order of the file; at most the first 20.
    pub fn iter(&self) -> impl Iterator<Item = &ScenarioError> {
        std::iter::once(&*self.first).chain(&self.others)
    }

    /// How many errors there are, those included that [`iter`](Self::iter) leaves out.
    pub fn count(&self) -> usize {
        1 + self.others.len() + self.left_out
    }
}

impl From<ScenarioError> for ScenarioErrors {
    fn from(first: ScenarioError) -> Self {
        ScenarioErrors { first: Box::new(first), others: Vec::new(), left_out: 0, rest: None }
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count() - 1 {
            0 => self.first.fmt(f),
            1 => write!(f, "{} (and 1 more error)", self.first),
            more => write!(f, "{} (and {more} more errors)", self.first),
        }
    }
}

impl std::error::Error for ScenarioErrors {}

impl Diagnostic for ScenarioErrors {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.first.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.first.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.first.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.others.is_empty() {
            return None;
        }
        Some(Box::new(self.others.iter().map(|error| error as &dyn Diagnostic)))
    }
}

/// Why a scenario could not be read from a file.
#[derive(Debug, Error, Diagnostic)]
pub enum ReadError {
    /// The file cannot be read at all.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the operating system says.
        reason: io::Error,
    },
    /// The file holds something else than text: a program, a picture, an archive.
    #[error(
        "{} is no text: line {line} has a byte {byte:#04x}. A scenario is a text file in TOML",
        path.display()
    )]
    NotText {
        /// Which file.
        path: PathBuf,
        /// In which line, counted from 1, the first such byte is.
        line: usize,
        /// The byte, which no text has.
        byte: u8,
    },
    /// The file can be read, but it is not a scenario.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Wrong(#[from] ScenarioErrors),
}

/// The line and the column of a byte of `text`, both counted from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().filter(|letter| *letter != BYTE_ORDER_MARK).count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Some editors begin a file with this invisible mark; it takes no column.
const BYTE_ORDER_MARK: char = '\u{feff}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "a\nµs = 1\n";
        assert_eq!(position(text, 0), (1, 1));
        assert_eq!(position(text, 1), (1, 2));
        assert_eq!(position(text, 2), (2, 1));
        assert_eq!(position(text, 5), (2, 3), "µ has two bytes and one column");
        assert_eq!(position(text, 3), (2, 1), "the middle of a character is that character");
        assert_eq!(position(text, 99), (3, 1));
        assert_eq!(position("\u{feff}a", 3), (1, 1));
    }

    #[test]
    fn many_errors_are_cut_short_but_counted() {
        let text: Arc<str> = "x".repeat(40).into();
        let problems = (0..30).rev().map(|at| Problem::new(at..at + 1, format!("number {at}"))).collect();
        let errors = ScenarioErrors::collect("f", &text, problems).expect("there are some");
        assert_eq!(errors.to_string(), "f:1:1: number 0 (and 29 more errors)");
        assert_eq!(errors.iter().count(), 20);
        assert!(ScenarioErrors::collect("f", &text, Vec::new()).is_none());
    }
}
