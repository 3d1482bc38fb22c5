//! A file of settings, and everything that is wrong with it: what nodes and members of the service are
//! started with.

use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, Deserializer, Error};

/// Reads a file of settings.
///
/// # Errors
/// Everything that is wrong with it, a line `FILE:LINE:COLUMN: WHAT` for each, in the order of the file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    understand(&path.display().to_string(), &text)
}

/// Reads the text of a file; its name is for messages.
///
/// # Errors
/// As [`read`].
pub fn understand<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|first| {
        let mut wrong = wrong_with::<T>(text);
        if wrong.is_empty() {
            wrong.push(first);
        }
        wrong.sort_by_key(start);
        let tell = |error: &Error| {
            let (line, column) = place(text, start(error));
            format!("{file}:{line}:{column}: {}", in_plain_words(error.message()))
        };
        wrong.iter().map(tell).collect::<Vec<_>>().join("\n")
    })
}

/// All errors: those of form, and of every setting that is not what it should be.
fn wrong_with<T: DeserializeOwned>(text: &str) -> Vec<Error> {
    let (document, mut wrong) = DeTable::parse_recoverable(text);
    let lines: Vec<usize> = wrong.iter().map(|error| place(text, start(error)).0).collect();
    for (name, value) in document.into_inner() {
        // A line that is no TOML was told already.
        if lines.contains(&place(text, name.span().start).0) {
            continue;
        }
        wrong.extend(wrong_setting::<T>(text.len(), &name, value));
    }
    wrong
}

/// What is wrong with one setting; in a table, with each of its entries.
fn wrong_setting<'t, T: DeserializeOwned>(
    length: usize,
    name: &Spanned<DeString<'t>>,
    value: Spanned<DeValue<'t>>,
) -> Vec<Error> {
    let refused = |value: Spanned<DeValue<'t>>| {
        let mut alone = DeTable::new();
        alone.insert(name.clone(), value);
        T::deserialize(Deserializer::from(Spanned::new(0..length, alone))).err()
    };
    let mut wrong = Vec::new();
    if let DeValue::Table(entries) = value.get_ref() {
        for (inner, entry) in entries {
            let mut alone = DeTable::new();
            alone.insert(inner.clone(), entry.clone());
            // Alone, an entry misses others.
            let error = refused(Spanned::new(value.span(), DeValue::Table(alone)));
            wrong.extend(error.filter(|error| !error.message().starts_with("missing field")));
        }
    }
    if wrong.is_empty() {
        wrong.extend(refused(value));
    }
    wrong
}

fn start(error: &Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

/// The line and the column of a byte, counted from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// What the parser says, with what to write instead.
fn in_plain_words(message: &str) -> String {
    match message {
        "invalid socket address syntax" => {
            "this is no address: write a number and a port, such as \"127.0.0.1:2379\"".to_owned()
        }
        text if ["string values must", "invalid boolean", "invalid float, expected `"]
            .iter()
            .any(|beginning| text.starts_with(beginning)) =>
        {
            "expected a value: text must be in quotes".to_owned()
        }
        other => ["usize", "u64", "u32"].iter().fold(other.to_owned(), |said, kind| {
            said.replace(&format!("expected {kind}"), "expected a whole number that is not negative")
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::SocketAddr;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
    #[allow(dead_code, reason = "it is only read")]
    struct Example {
        name: Option<String>,
        listen: Option<SocketAddr>,
        max_rate: Option<u32>,
        id: Option<u64>,
        peers: BTreeMap<String, String>,
        tls: Option<Files>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "it is only read")]
    struct Files {
        key: String,
        certificate: String,
    }

    fn told(text: &str) -> Vec<String> {
        let told = understand::<Example>("f.toml", text).expect_err("something is wrong");
        told.lines().map(|line| line.trim_start_matches("f.toml:").to_owned()).collect()
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once_each_with_its_line() {
        let text = "nmae = \"a\"\nname = 7\nlisten = \"here\"\nmax-rate = -1\nmax-rate = 2\nlast = never\n";
        let expected = [
            "1:1: unknown field `nmae`, expected one of `name`, `listen`, `max-rate`, `id`, `peers`, `tls`",
            "2:8: invalid type: integer `7`, expected a string",
            "3:10: this is no address: write a number and a port, such as \"127.0.0.1:2379\"",
            "4:12: invalid value: integer `-1`, expected a whole number that is not negative",
            "5:1: duplicate key",
            "6:8: expected a value: text must be in quotes",
        ];
        assert_eq!(told(text), expected);
    }

    #[test]
    fn also_inside_tables() {
        let text = "id = -1\nidd = 2\n[peers]\n1 = 7\n2 = \"b:1\"\n3 = true\n[tls]\nkey = \"k\"\n";
        let expected = [
            "1:6: invalid value: integer `-1`, expected a whole number that is not negative",
            "2:1: unknown field `idd`, expected one of `name`, `listen`, `max-rate`, `id`, `peers`, `tls`",
            "4:5: invalid type: integer `7`, expected a string",
            "6:5: invalid type: boolean `true`, expected a string",
            "7:1: missing field `certificate`",
        ];
        assert_eq!(told(text), expected);
        assert_eq!(told("id = one\npeers = 3\n").len(), 2, "a line that is no TOML hides no other");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let said = read::<Example>(Path::new("nowhere.toml")).expect_err("it is not there");
        assert!(said.starts_with("nowhere.toml: "), "{said}");
    }
}
