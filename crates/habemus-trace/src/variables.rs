//! The variables of a process, read from what derived `Debug` writes, and what changes in them.

use crate::value::{Field, Value, read};

/// The variables that have another value in `after` than in `before`, both as derived `Debug` shows a
/// process. A variable with variables of its own is compared one by one. Addresses, written `@3`, are
/// replaced by the identifier that `name` gives.
pub fn changes(before: &str, after: &str, name: &dyn Fn(usize) -> Option<u64>) -> Vec<(String, String)> {
    let mut changes = Vec::new();
    match (read(before), read(after)) {
        (Some(before), Some(after)) => compare("", &before, &after, &mut changes),
        _ if before != after => changes.push(("state".to_owned(), after.to_owned())),
        _ => {}
    }
    for (_, value) in &mut changes {
        *value = named(value, name);
    }
    changes
}

fn compare(variable: &str, before: &Value<'_>, after: &Value<'_>, changes: &mut Vec<(String, String)>) {
    if let (Value::Struct { name, fields }, Value::Struct { name: other, fields: others }) = (before, after) {
        let same = name == other && fields.len() == others.len();
        if same && fields.iter().zip(others).all(|(one, other)| one.name.is_some() && one.name == other.name)
        {
            for (one, other) in fields.iter().zip(others) {
                compare(other.name.unwrap_or(variable), &one.value, &other.value, changes);
            }
            return;
        }
        if let (true, [Field { name: None, value: one }], [Field { name: None, value: other }]) =
            (same && *name != "Some", &fields[..], &others[..])
        {
            return compare(variable, one, other, changes);
        }
    }
    if before != after {
        let variable = if variable.is_empty() { "state" } else { variable };
        changes.push((variable.to_owned(), after.in_words()));
    }
}

/// The text with identifiers in the place of addresses.
pub(crate) fn named(text: &str, name: &dyn Fn(usize) -> Option<u64>) -> String {
    let mut parts = text.split('@');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(part.len());
        match part[..digits].parse().ok().and_then(name) {
            Some(id) => shown += &format!("{id}{}", &part[digits..]),
            None => shown += &format!("@{part}"),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: &str, after: &str) -> Vec<String> {
        let ids = [3, 17, 24];
        let changes = changes(before, after, &|address| ids.get(address).copied());
        changes.into_iter().map(|(name, value)| format!("{name} = {value}")).collect()
    }

    #[test]
    fn only_what_has_changed_is_told_and_addresses_are_named() {
        let before = "Bully { id: 17, leader: None, awaited: {@0, @2}, phase: Idle }";
        assert_eq!(changed(before, before), [""; 0]);
        assert_eq!(
            changed(before, "Bully { id: 17, leader: Some(@2), awaited: {}, phase: Waiting { since: 3 } }"),
            ["leader = 24", "awaited = ∅", "phase = Waiting 3"]
        );
    }

    #[test]
    fn what_is_around_a_process_is_not_told() {
        assert_eq!(
            changed(
                "Held { inner: Ring(Ring { lot: 1, on: true }), epoch: 0 }",
                "Held { inner: Ring(Ring { lot: 2, on: false }), epoch: 0 }"
            ),
            ["lot = 2", "on = false"]
        );
        assert_eq!(changed("Idle", "Waiting"), ["state = Waiting"]);
        assert_eq!(changed("Some(3)", "None"), ["state = –"]);
        assert_eq!(changed("odd {", "odd ("), ["state = odd ("], "what cannot be read is told as it is");
    }
}
