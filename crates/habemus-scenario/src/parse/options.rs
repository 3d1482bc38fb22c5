//! Reads the table `[options]`, whose keys belong to the algorithm.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::reader::{Reader, Value};
use super::values::unsigned;

pub(super) fn read(reader: &mut Reader<'_>, document: &DeTable<'_>) -> BTreeMap<String, String> {
    let Some(value) = document.get("options") else {
        return BTreeMap::new();
    };
    let DeValue::Table(table) = value.get_ref() else {
        reader.expected("a table [options]", value);
        return BTreeMap::new();
    };
    reader.note_entries("options", table);
    let mut options = BTreeMap::new();
    for (key, value) in table {
        if let Some(text) = option(reader, value) {
            options.insert(key.get_ref().to_string(), text);
        }
    }
    options
}

/// A value as text; a list is one text with commas.
pub(super) fn option(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let DeValue::Array(items) = value.get_ref() else {
        return scalar(reader, value);
    };
    let items: Vec<Option<String>> = items.iter().map(|item| scalar(reader, item)).collect();
    items.into_iter().collect::<Option<Vec<String>>>().map(|items| items.join(","))
}

fn scalar(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<String> {
    let text = match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(boolean) => Some(boolean.to_string()),
        DeValue::Integer(integer) => unsigned(integer).map(|number| number.to_string()).or_else(|| {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|number| number.to_string())
        }),
        DeValue::Float(float) => float
            .as_str()
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .map(|_| float.as_str().to_owned()),
        _ => None,
    };
    if text.is_none() {
        reader.expected("text, a number, `true`, `false`, or a list of those", value);
    }
    text
}
