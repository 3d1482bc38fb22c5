//! Where a scenario file says what.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use habemus::units::shortened;

use crate::error::{Problem, ScenarioError, ScenarioErrors};
use crate::names;

/// The text of a scenario file, and where in it each value stands.
///
/// What a scenario file says is read without knowing any algorithm. Whoever knows them finds further errors
/// (an unknown algorithm, an option out of range), and points at them with this.
#[derive(Clone, Debug)]
pub struct SourceMap {
    file: String,
    text: Arc<str>,
    spans: BTreeMap<Location, Range<usize>>,
}

impl SourceMap {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        SourceMap { file: file.to_owned(), text: text.into(), spans: BTreeMap::new() }
    }

    pub(crate) fn note(&mut self, location: Location, span: Range<usize>) {
        self.spans.insert(location, span);
    }

    /// The file's name, as it was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the text where `location` is; if the file does not say it, what it would be part of, and
    /// the beginning of the file at last.
    pub fn span(&self, location: &Location) -> Range<usize> {
        let mut location = Some(location.clone());
        while let Some(here) = location {
            if let Some(span) = self.spans.get(&here) {
                return span.clone();
            }
            location = here.around();
        }
        0..0
    }

    /// An error that points at `location`.
    pub fn error_at(&self, location: &Location, message: String, help: Option<String>) -> ScenarioError {
        self.error(Problem { help, ..Problem::new(self.span(location), message) })
    }

    /// The error that `found` at `location` is no known `what` ("algorithm", "option"): it suggests the
    /// nearest of the `known` names.
    pub fn unknown_at(&self, location: &Location, what: &str, found: &str, known: &[&str]) -> ScenarioError {
        let message = format!("unknown {what} `{}`{}", shortened(found), names::suggestion(found, known));
        self.error_at(location, message, names::all_as_help(found, known))
    }

    pub(crate) fn error(&self, problem: Problem) -> ScenarioError {
        ScenarioError::new(&self.file, &self.text, problem)
    }

    pub(crate) fn errors(&self, problems: Vec<Problem>) -> Option<ScenarioErrors> {
        ScenarioErrors::collect(&self.file, &self.text, problems)
    }
}

/// Something that a scenario file says, by its path: `algorithm`, `options.timeout`, `script[3]`,
/// `expect.holds[0]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    path: String,
    part: Part,
}

/// Which part of what is at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Value,
    Name,
    Command,
    Message,
}

impl Location {
    /// The value at this path.
    pub fn value(path: impl Into<String>) -> Self {
        Location { path: path.into(), part: Part::Value }
    }

    /// The key at this path, without its value.
    pub fn name(path: impl Into<String>) -> Self {
        Location { path: path.into(), part: Part::Name }
    }

    /// The value of an option of the algorithm; its name is at [`option_name`](Self::option_name).
    pub fn option(name: &str) -> Self {
        Location::value(format!("options.{name}"))
    }

    /// The name of an option of the algorithm.
    pub fn option_name(name: &str) -> Self {
        Location::name(format!("options.{name}"))
    }

    /// A line of the script, counted from 0.
    pub fn cue(index: usize) -> Self {
        Location::value(format!("script[{index}]"))
    }

    /// The first word of the action in a line of the script.
    pub fn command(cue: usize) -> Self {
        Location { part: Part::Command, ..Location::cue(cue) }
    }

    /// The kind of message that a line of the script waits for.
    pub fn message(cue: usize) -> Self {
        Location { part: Part::Message, ..Location::cue(cue) }
    }

    /// What the location is part of.
    fn around(&self) -> Option<Location> {
        if self.part != Part::Value {
            return Some(Location::value(self.path.clone()));
        }
        self.path.rfind(['.', '[']).map(|end| Location::value(&self.path[..end]))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_file_does_not_say_is_where_it_would_be() {
        let mut source = SourceMap::new("f", "algorithm = \"bully\"\n[options]\n");
        source.note(Location::value("options"), 20..29);
        let error = source.error_at(&Location::option("timeout"), "too short".into(), None);
        assert_eq!(error.to_string(), "f:2:1: too short");
        let error = source.error_at(&Location::message(3), "never sent".into(), None);
        assert_eq!(error.to_string(), "f:1:1: never sent");
    }
}
