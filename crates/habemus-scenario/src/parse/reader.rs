//! Goes through a file's tables, takes note of where everything is, and collects what is wrong.

use std::ops::Range;

use habemus::units::shortened;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::open_list::OpenList;
use super::{KEYS, TABLES};
use crate::error::{Problem, ScenarioErrors};
use crate::names;
use crate::script::ScriptError;
use crate::source::{Location, SourceMap};

/// A value and where it is.
pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// Reads one file.
pub(super) struct Reader<'t> {
    text: &'t str,
    source: SourceMap,
    problems: Vec<Problem>,
    /// The lines that are no TOML; what would be said of them was said.
    broken: Vec<Range<usize>>,
}

/// Whether the parser says this of a mistake that leaves the lines below as they are.
fn ends_with_its_line(message: &str) -> bool {
    let is_value = message.starts_with("string values must be quoted") || message.starts_with("invalid ");
    let is_list = message.starts_with("missing comma");
    message == "duplicate key" || is_list || is_value && !message.contains("multi-line")
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &str, text: &'t str) -> Self {
        Reader { text, source: SourceMap::new(file, text), problems: Vec::new(), broken: Vec::new() }
    }

    pub(super) fn take_errors(&mut self) -> Option<ScenarioErrors> {
        self.source.errors(std::mem::take(&mut self.problems))
    }

    fn problem(&mut self, problem: Problem) {
        if !self.follows(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn into_source(self) -> SourceMap {
        self.source
    }

    /// The text of the file at `span`.
    pub(super) fn text_at(&self, span: Range<usize>) -> &'t str {
        self.text.get(span).unwrap_or_default()
    }

    pub(super) fn note(&mut self, location: Location, span: Range<usize>) {
        self.source.note(location, span);
    }

    pub(super) fn error(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.problem(Problem::new(span, message));
    }

    pub(super) fn error_with_help(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problem(Problem { help: Some(help.into()), ..Problem::new(span, message) });
    }

    /// An error about two places that do not go together; `label` says what the other is.
    pub(super) fn conflict(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        other: Range<usize>,
        label: &'static str,
    ) {
        self.problem(Problem { other: Some((other, label)), ..Problem::new(span, message) });
    }

    /// Everything that is no TOML, once for each cause: after a list that is not closed nothing can be
    /// believed. Says whether the rest of the file can be: what is wrong ends with its line.
    pub(super) fn syntax_errors(&mut self, errors: &[toml::de::Error]) -> bool {
        let open = if errors.is_empty() { None } else { OpenList::find(self.text) };
        let end = open.as_ref().map_or(usize::MAX, |list| list.rest.start);
        let mut broken: Vec<Range<usize>> = Vec::new();
        for error in errors.iter().filter(|error| error.span().is_none_or(|span| span.start < end)) {
            let span = error.span().unwrap_or(0..0);
            // What comes after it in its line follows from it.
            if !broken.iter().any(|line| line.contains(&span.start)) {
                broken.push(self.line_around(&span));
                self.syntax_error(error, span);
            }
        }
        let is_sound = open.is_none() && errors.iter().all(|error| ends_with_its_line(error.message()));
        if let Some(OpenList { bracket, rest }) = open {
            let line = self.text[..rest.start].matches('\n').count() + 1;
            if rest.is_empty() {
                self.error(bracket, "this list is not closed: write `]` after its last item");
            } else {
                let message = format!("this list is not closed: write `]` before line {line}");
                self.conflict(bracket, message, rest, "this is no item of a list");
            }
        }
        if is_sound {
            self.broken = self.problems.iter().map(|problem| self.line_around(&problem.span)).collect();
        }
        is_sound
    }

    /// The line of the text where something is.
    fn line_around(&self, span: &Range<usize>) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let at = span.start.min(bytes.len());
        let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end);
        start..end + 1
    }

    /// Whether something wrong follows from a line that is no TOML: it is in that line, or something is
    /// missing that the line may have said.
    fn follows(&self, problem: &Problem) -> bool {
        let is_missing = problem.span.is_empty() && problem.span.start == 0;
        self.broken.iter().any(|line| is_missing || line.contains(&problem.span.start))
    }

    fn syntax_error(&mut self, error: &toml::de::Error, span: Range<usize>) {
        let found = shortened(self.text_at(span.clone()));
        let message = match error.message() {
            _ if found.starts_with(':') || self.text[..span.start].trim_end().ends_with(':') => {
                "write `=` between a key and its value, not `:`".to_owned()
            }
            "duplicate key" => format!("the key `{found}` is there twice"),
            "string values must be quoted, expected literal string" if found.is_empty() => {
                "expected a value after `=`, found nothing".to_owned()
            }
            "string values must be quoted, expected literal string" => {
                format!("expected a value, found `{found}`: text must be in quotes")
            }
            // What begins like `nan`, `inf`, `true` or `false`.
            other if found.starts_with(char::is_alphabetic) && other.starts_with("invalid ") => {
                format!("expected a value, found `{found}`: text must be in quotes")
            }
            "invalid basic string, expected `\"`" => {
                "expected a closing `\"`, found the end of the line".to_owned()
            }
            "invalid literal string, expected `'`" => {
                "expected a closing `'`, found the end of the line".to_owned()
            }
            "missing comma between array elements, expected `,`" => {
                "write a comma between this item and the one before".to_owned()
            }
            "key with no value, expected `=`" => {
                "this key has no value: write `=` and the value after it".to_owned()
            }
            "unclosed table, expected `]`" => "expected a closing `]`, found the end of the line".to_owned(),
            other => format!("this is no TOML: {other}"),
        };
        self.error(span, message);
    }

    /// An error inside the text of a string value.
    pub(super) fn script_error(&mut self, value: &Value<'_>, error: ScriptError) {
        let span = self.span_in_string(value, error.span);
        match error.help {
            Some(help) => self.error_with_help(span, error.message, help),
            None => self.error(span, error.message),
        }
    }

    /// Where in the file a part of a string's contents is; all of the string, if it has escapes.
    pub(super) fn span_in_string(&self, value: &Value<'_>, part: Range<usize>) -> Range<usize> {
        match value.get_ref() {
            DeValue::String(contents) => self.span_in_quotes(value.span(), contents, part),
            _ => value.span(),
        }
    }

    /// The same for a key, which may be quoted or not.
    pub(super) fn span_in_quotes(
        &self,
        quoted: Range<usize>,
        contents: &str,
        part: Range<usize>,
    ) -> Range<usize> {
        let raw = self.text_at(quoted.clone());
        let quotes =
            ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| raw.starts_with(quotes)).unwrap_or("");
        let mut start = quotes.len();
        if quotes.len() == 3 {
            // A line break right after three quotes is not part of the string.
            let after = raw.get(start..).unwrap_or_default();
            start += if after.starts_with("\r\n") { 2 } else { usize::from(after.starts_with('\n')) };
        }
        let verbatim = raw
            .get(start..)
            .is_some_and(|after| after.strip_prefix(contents).is_some_and(|end| end == quotes));
        if verbatim {
            let start = quoted.start + start;
            start + part.start..start + part.end
        } else {
            quoted
        }
    }

    /// Takes note of where the entries of a table are, and complains about keys that nobody knows.
    pub(super) fn check_keys(&mut self, path: &str, table: &DeTable<'_>, known: &[&str]) {
        self.note_entries(path, table);
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                self.unknown_key(path, name, key.span(), known);
            }
        }
    }

    /// Takes note of where the entries of a table are.
    pub(super) fn note_entries(&mut self, path: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            self.note(Location::name(path.clone()), key.span());
            self.note(Location::value(path), value.span());
        }
    }

    fn unknown_key(&mut self, path: &str, name: &str, span: Range<usize>, known: &[&str]) {
        let shown = shortened(name);
        let place = if path.is_empty() { String::new() } else { format!(" in [{path}]") };
        if !path.is_empty() && KEYS.contains(&name) {
            let message = format!("`{shown}` does not belong{place}");
            self.error_with_help(span, message, "put it at the top of the file, before the first [table]");
            return;
        }
        let home = TABLES.iter().find(|(table, keys)| *table != path && keys.contains(&name));
        match (names::nearest(name, known.iter().copied()), home) {
            (None, Some((table, _))) => {
                let place = if path.is_empty() { " at the top of the file".to_owned() } else { place };
                self.error(span, format!("`{shown}` does not belong{place}: put it in [{table}]"));
            }
            (Some(meant), _) => {
                self.error(span, format!("unknown key `{shown}`{place}: did you mean `{meant}`?"));
            }
            (None, None) => {
                let help = format!("known are {}", names::alternatives(known));
                self.error_with_help(span, format!("unknown key `{shown}`{place}"), help);
            }
        }
    }

    /// The value of a key, read by `read`; `None` if it is absent, or wrong, which has then been noted.
    pub(super) fn optional<T>(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        read: impl FnOnce(&mut Self, &Value<'_>) -> Option<T>,
    ) -> Option<T> {
        table.get(key).and_then(|value| read(self, value))
    }

    /// A table at the top of the file; its keys are checked.
    pub(super) fn table<'d, 'i>(
        &mut self,
        document: &'d DeTable<'i>,
        name: &str,
        keys: &[&str],
    ) -> Option<&'d DeTable<'i>> {
        let value = document.get(name)?;
        match value.get_ref() {
            DeValue::Table(table) => {
                self.check_keys(name, table, keys);
                Some(table)
            }
            _ => {
                self.expected(&format!("a table [{name}]"), value);
                None
            }
        }
    }

    /// That a value is not what was expected.
    pub(super) fn expected(&mut self, what: &str, value: &Value<'_>) {
        let found = self.describe(value);
        self.error(value.span(), format!("expected {what}, found {found}"));
    }

    /// That a value is not what was expected, and what to write instead.
    pub(super) fn expected_instead(&mut self, what: &str, value: &Value<'_>, instead: &str) {
        let found = self.describe(value);
        self.error(value.span(), format!("expected {what}, found {found}: write {instead}"));
    }

    /// A value in a sentence: "the integer 20".
    pub(super) fn describe(&self, value: &Value<'_>) -> String {
        let text = shortened(self.text_at(value.span()));
        match value.get_ref() {
            DeValue::String(contents) if contents.is_empty() => "an empty string".to_owned(),
            DeValue::String(contents) => format!("the string \"{}\"", shortened(contents)),
            DeValue::Integer(_) => format!("the integer {text}"),
            DeValue::Float(_) => format!("the number {text}"),
            DeValue::Boolean(_) => format!("the boolean {text}"),
            DeValue::Datetime(_) => format!("the date {text}"),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }
}
