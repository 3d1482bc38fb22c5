//! Reads who takes part and how they are connected.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::{DeTable, DeValue};

use super::reader::{Reader, Value};
use crate::processes::{MAX_PROCESSES, Processes, too_many_processes};
use crate::scenario::TopologyChoice;
use crate::script;
use crate::source::Location;

pub(super) fn algorithm(reader: &mut Reader<'_>, document: &DeTable<'_>) -> String {
    match document.get("algorithm") {
        Some(value) => reader.name(value).unwrap_or_default(),
        None => {
            reader.error(0..0, "the algorithm is missing: write for example `algorithm = \"bully\"`");
            String::new()
        }
    }
}

/// The identifiers; `None` if the file does not say them right.
pub(super) fn ids(reader: &mut Reader<'_>, document: &DeTable<'_>) -> Option<Vec<u64>> {
    match (document.get_key_value("processes"), document.get_key_value("ids")) {
        (None, None) => {
            let message =
                "the processes are missing: write for example `processes = 4` or `ids = [3, 17, 24]`";
            reader.error(0..0, message);
            None
        }
        (Some((processes, _)), Some((ids, _))) => {
            let (first, second) =
                if processes.span().start < ids.span().start { (processes, ids) } else { (ids, processes) };
            let message = "expected either `processes` or `ids`, found both";
            reader.conflict(second.span(), message, first.span(), "the processes are here already");
            None
        }
        (Some((_, value)), None) => numbered(reader, value),
        (None, Some((_, value))) => match value.get_ref() {
            DeValue::Array(items) => listed(reader, value, items),
            DeValue::String(text) => match script::parse_ids(text) {
                Ok(ids) => Some(ids),
                Err(error) => {
                    reader.script_error(value, error);
                    None
                }
            },
            _ => {
                reader.expected(IDS, value);
                None
            }
        },
    }
}

pub(super) fn topology(
    reader: &mut Reader<'_>,
    document: &DeTable<'_>,
    processes: &Processes<'_>,
) -> Option<TopologyChoice> {
    match (document.get_key_value("topology"), document.get_key_value("links")) {
        (None, None) => None,
        (Some((topology, _)), Some((links, _))) => {
            let (first, second) = if topology.span().start < links.span().start {
                (topology, links)
            } else {
                (links, topology)
            };
            let message = "expected either `topology` or `links`, found both";
            reader.conflict(second.span(), message, first.span(), "the processes are connected here already");
            None
        }
        (Some((_, value)), None) => reader.name(value).map(TopologyChoice::Named),
        (None, Some((key, value))) => {
            // Whoever finds that the topology will not do finds it here.
            reader.note(Location::value("topology"), key.span());
            links(reader, value, processes).map(TopologyChoice::Links)
        }
    }
}

const IDS: &str = "identifiers such as [3, 17, 24] or \"0..7\"";

/// `processes = 4`: 1 to 4.
fn numbered(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Vec<u64>> {
    let number = reader.number_within(value, 0..=u64::MAX, "a number of processes such as 4")?;
    if number == 0 {
        reader.error(value.span(), "a scenario needs at least one process, found 0");
        return None;
    }
    few_enough(reader, value, u128::from(number)).then(|| (1..=number).collect())
}

/// `ids = [3, 17, 24]`.
fn listed(reader: &mut Reader<'_>, value: &Value<'_>, items: &[Value<'_>]) -> Option<Vec<u64>> {
    if items.is_empty() {
        reader.error(value.span(), "a scenario needs at least one process, found an empty list");
        return None;
    }
    if !few_enough(reader, value, items.len() as u128) {
        return None;
    }
    let mut ids = Vec::with_capacity(items.len());
    let mut seen = BTreeMap::new();
    let mut all_right = true;
    for item in items {
        let Some(id) = reader.number_within(item, 0..=u64::MAX, "an identifier such as 17") else {
            all_right = false;
            continue;
        };
        if let Some(first) = seen.insert(id, item.span()) {
            reader.conflict(
                item.span(),
                format!("the identifier {id} is there twice"),
                first,
                "the first time",
            );
            all_right = false;
        }
        ids.push(id);
    }
    all_right.then_some(ids)
}

fn few_enough(reader: &mut Reader<'_>, value: &Value<'_>, number: u128) -> bool {
    let few_enough = number <= u128::from(MAX_PROCESSES);
    if !few_enough {
        reader.error(value.span(), too_many_processes(number));
    }
    few_enough
}

/// `links = ["1-2", "2-3"]`.
fn links(reader: &mut Reader<'_>, value: &Value<'_>, processes: &Processes<'_>) -> Option<Vec<(u64, u64)>> {
    let DeValue::Array(items) = value.get_ref() else {
        reader.expected("links such as [\"1-2\", \"2-3\"]", value);
        return None;
    };
    let mut links = Vec::new();
    let mut seen = BTreeSet::new();
    for item in items {
        let DeValue::String(text) = item.get_ref() else {
            reader.expected("a link such as \"1-2\"", item);
            continue;
        };
        match script::parse_links(text, processes) {
            Ok(named) => {
                for (one, other) in named {
                    if !seen.insert((one.min(other), one.max(other))) {
                        reader
                            .error(item.span(), format!("the link between {one} and {other} is named twice"));
                    }
                    links.push((one, other));
                }
            }
            Err(error) => reader.script_error(item, error),
        }
    }
    Some(links)
}

/// `choices = [0, 2]`.
pub(super) fn choices(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Vec<u32>> {
    let DeValue::Array(items) = value.get_ref() else {
        reader.expected("choices such as [0, 2]", value);
        return None;
    };
    let choice = |item: &Value<'_>| {
        let number = reader.number_within(item, 0..=u64::from(u32::MAX), "a choice such as 2")?;
        u32::try_from(number).ok()
    };
    items.iter().map(choice).collect()
}
