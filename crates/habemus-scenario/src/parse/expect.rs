//! Reads the table `[expect]`.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::options::option;
use super::reader::{Reader, Value};
use crate::processes::Processes;
use crate::scenario::{Count, Expectations};
use crate::source::Location;

pub(super) const KEYS: &[&str] = &[
    "leader",
    "leaders",
    "entered",
    "decided",
    "within",
    "holds",
    "violates",
    "outside",
    "quiet",
    "leader-changes",
    "refused-writes",
    "messages",
];

pub(super) fn read(
    reader: &mut Reader<'_>,
    document: &DeTable<'_>,
    processes: &Processes<'_>,
) -> Expectations {
    let Some(table) = reader.table(document, "expect", KEYS) else {
        return Expectations::default();
    };
    let leaders = reader.optional(table, "leaders", |reader, value| {
        let leaders = reader.process_list(value, processes)?;
        reader.no_repetition(value, &leaders);
        Some(leaders)
    });
    let holds = properties(reader, table, "holds");
    let violates = properties(reader, table, "violates");
    contradictions(reader, table, &holds, &violates);
    Expectations {
        leader: reader.optional(table, "leader", |reader, value| reader.process(value, processes)),
        leaders,
        entered: reader.optional(table, "entered", |reader, value| reader.process_list(value, processes)),
        decided: reader.optional(table, "decided", option),
        within: reader.optional(table, "within", Reader::duration),
        holds,
        violates,
        outside: properties(reader, table, "outside"),
        messages: reader.optional(table, "messages", messages).unwrap_or_default(),
        leader_changes: reader.optional(table, "leader-changes", Reader::count),
        quiet: reader.optional(table, "quiet", Reader::boolean),
        refused_writes: reader.optional(table, "refused-writes", Reader::count),
    }
}

/// `["EM1", "EM2"]`.
fn properties(reader: &mut Reader<'_>, table: &DeTable<'_>, key: &str) -> Vec<String> {
    let Some(value) = table.get(key) else {
        return Vec::new();
    };
    match value.get_ref() {
        DeValue::Array(items) => {
            let mut names = Vec::new();
            for item in items {
                if let Some(name) = reader.name(item) {
                    reader.note(Location::value(format!("expect.{key}[{}]", names.len())), item.span());
                    names.push(name);
                }
            }
            names
        }
        DeValue::String(_) => {
            let instead = format!("[{}]", reader.text_at(value.span()));
            reader.expected_instead("properties such as [\"EM1\"]", value, &instead);
            Vec::new()
        }
        _ => {
            reader.expected("properties such as [\"EM1\"]", value);
            Vec::new()
        }
    }
}

/// No property can both hold and be violated.
fn contradictions(reader: &mut Reader<'_>, table: &DeTable<'_>, holds: &[String], violates: &[String]) {
    let spans = |key: &str, name: &str| {
        let items = table.get(key).and_then(|value| value.get_ref().as_array());
        let item = items.and_then(|items| items.iter().find(|item| item.get_ref().as_str() == Some(name)));
        item.map(Value::span)
    };
    for name in violates.iter().filter(|name| holds.contains(name)) {
        if let (Some(violated), Some(held)) = (spans("violates", name), spans("holds", name)) {
            let message = format!("`{name}` cannot both hold and be violated");
            reader.conflict(violated, message, held, "expected to hold here");
        }
    }
}

/// `24`, or a table of kinds.
fn messages(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<BTreeMap<String, Count>> {
    let DeValue::Table(table) = value.get_ref() else {
        return reader.count(value).map(|count| BTreeMap::from([("total".to_owned(), count)]));
    };
    reader.note_entries("expect.messages", table);
    let mut messages = BTreeMap::new();
    for (kind, value) in table {
        messages.extend(reader.count(value).map(|count| (kind.get_ref().to_string(), count)));
    }
    Some(messages)
}
