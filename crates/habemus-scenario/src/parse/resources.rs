//! Reads the names of locks.

use toml::de::{DeTable, DeValue};

use super::reader::{Reader, Value};
use crate::resources::is_name;

pub(super) fn read(reader: &mut Reader<'_>, document: &DeTable<'_>) -> Vec<String> {
    reader.optional(document, "resources", names).unwrap_or_default()
}

/// `["orders", "stock"]`.
fn names(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Vec<String>> {
    let DeValue::Array(items) = value.get_ref() else {
        reader.expected("names of locks such as [\"orders\", \"stock\"]", value);
        return None;
    };
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let name = reader.string(item)?;
        if !is_name(&name) {
            reader.expected("a name of at most 64 letters, digits, hyphens and underscores", item);
        } else if names.contains(&name) {
            reader.error(item.span(), format!("`{name}` is listed twice"));
        }
        names.push(name);
    }
    Some(names)
}
