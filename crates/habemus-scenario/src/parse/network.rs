//! Reads the table `[network]`.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::units::shortened;
use toml::de::{DeTable, DeValue};

use super::reader::{Reader, Value};
use crate::names;
use crate::processes::Processes;
use crate::scenario::{Latency, Network, TimeModel};
use crate::script;

pub(super) const KEYS: &[&str] =
    &["model", "pulse", "gst", "delta", "latency", "order", "loss", "duplication", "links"];

pub(super) fn read(reader: &mut Reader<'_>, document: &DeTable<'_>, processes: &Processes<'_>) -> Network {
    let usual = Network::default();
    let Some(table) = reader.table(document, "network", KEYS) else {
        return usual;
    };
    Network {
        model: model(reader, table, &document["network"]),
        latency: reader.optional(table, "latency", Reader::latency).unwrap_or(usual.latency),
        links: reader
            .optional(table, "links", |reader, value| links(reader, value, processes))
            .unwrap_or_default(),
        fifo: reader.optional(table, "order", order).unwrap_or(usual.fifo),
        loss: reader.optional(table, "loss", Reader::probability).unwrap_or(usual.loss),
        duplication: reader.optional(table, "duplication", Reader::probability).unwrap_or(usual.duplication),
    }
}

const MODELS: &[&str] = &["asynchronous", "synchronous", "partially-synchronous", "scripted"];

/// The model and the times that it promises. A time that it does not promise is a misunderstanding.
fn model(reader: &mut Reader<'_>, table: &DeTable<'_>, network: &Value<'_>) -> TimeModel {
    let pulse = reader.optional(table, "pulse", Reader::positive_duration);
    let gst = reader.optional(table, "gst", Reader::duration);
    let delta = reader.optional(table, "delta", Reader::positive_duration);
    let name = match table.get("model").map(|value| (value, reader.name(value))) {
        None => MODELS[0].to_owned(),
        Some((value, Some(name))) if !MODELS.contains(&name.as_str()) => {
            let suggestion = names::suggestion(&name, MODELS);
            reader.error(value.span(), format!("unknown model `{}`{suggestion}", shortened(&name)));
            return TimeModel::Asynchronous;
        }
        Some((_, Some(name))) => name,
        Some((_, None)) => return TimeModel::Asynchronous,
    };
    let times: &[&str] = match name.as_str() {
        "synchronous" => &["pulse"],
        "partially-synchronous" => &["gst", "delta"],
        _ => &[],
    };
    foreign_times(reader, table, &name, times);
    let location = table.get("model").map_or(network.span(), Value::span);
    for time in times {
        if !table.contains_key(*time) {
            let example = if *time == "gst" { "1s" } else { "10ms" };
            let message =
                format!("a {name} network needs `{time}`: write for example `{time} = \"{example}\"`");
            reader.error(location.clone(), message);
        }
    }
    match name.as_str() {
        "synchronous" => TimeModel::Synchronous { pulse: pulse.unwrap_or(Duration::MAX) },
        "partially-synchronous" => TimeModel::PartiallySynchronous {
            gst: gst.unwrap_or(Duration::ZERO),
            delta: delta.unwrap_or(Duration::MAX),
        },
        "scripted" => TimeModel::Scripted,
        _ => TimeModel::Asynchronous,
    }
}

fn foreign_times(reader: &mut Reader<'_>, table: &DeTable<'_>, model: &str, times: &[&str]) {
    let owners =
        [("pulse", "synchronous"), ("gst", "partially-synchronous"), ("delta", "partially-synchronous")];
    for (time, owner) in owners {
        if let Some((key, _)) = table.get_key_value(time).filter(|_| !times.contains(&time)) {
            let article = if model.starts_with('a') { "an" } else { "a" };
            let message = format!("`{time}` means nothing in {article} {model} network");
            reader.error_with_help(key.span(), message, format!("it belongs to `model = \"{owner}\"`"));
        }
    }
}

fn order(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<bool> {
    match reader.name(value)?.as_str() {
        "fifo" => Some(true),
        "any" => Some(false),
        other => {
            let suggestion = names::suggestion(other, &["fifo", "any"]);
            reader.error(value.span(), format!("unknown order `{}`{suggestion}", shortened(other)));
            None
        }
    }
}

/// `"1->2" = "100ms"`: the latency of single links.
fn links(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    processes: &Processes<'_>,
) -> Option<BTreeMap<(u64, u64), Latency>> {
    let DeValue::Table(table) = value.get_ref() else {
        reader.expected("a table [network.links] of links and their latencies", value);
        return None;
    };
    reader.note_entries("network.links", table);
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut latencies = BTreeMap::new();
    let mut named = BTreeMap::new();
    for (key, value) in entries {
        let latency = reader.latency(value);
        let directions = match script::parse_link(key.get_ref(), processes) {
            Ok(directions) => directions,
            Err(mut error) => {
                error.span = reader.span_in_quotes(key.span(), key.get_ref(), error.span);
                match error.help {
                    Some(help) => reader.error_with_help(error.span, error.message, help),
                    None => reader.error(error.span, error.message),
                }
                continue;
            }
        };
        for (from, to) in directions {
            if let Some(first) = named.insert((from, to), key.span()) {
                let message = format!("the latency from {from} to {to} is there twice");
                reader.conflict(key.span(), message, first, "the first time");
            }
            latencies.extend(latency.clone().map(|latency| ((from, to), latency)));
        }
    }
    Some(latencies)
}
