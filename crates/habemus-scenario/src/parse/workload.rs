//! Reads the table `[workload]`.

use toml::de::DeTable;

use super::reader::{Reader, Value};
use crate::processes::Processes;
use crate::scenario::{Action, Cue, Workload};

pub(super) const KEYS: &[&str] = &["entries", "clients", "hold", "think", "rate"];

pub(super) fn read(
    reader: &mut Reader<'_>,
    document: &DeTable<'_>,
    processes: &Processes<'_>,
    script: &[Cue],
) -> Option<Workload> {
    let table = reader.table(document, "workload", KEYS)?;
    let usual = Workload::usual(script.iter().any(|cue| matches!(cue.action, Action::Command { .. })));
    let entries = reader.optional(table, "entries", |reader, value| {
        reader.number_within(value, 0..=u64::from(u32::MAX), "a number of entries such as 3")
    });
    let clients = reader.optional(table, "clients", |reader, value| clients(reader, value, processes));
    Some(Workload {
        entries: entries.and_then(|number| u32::try_from(number).ok()).unwrap_or(usual.entries),
        clients: clients.unwrap_or(usual.clients),
        hold: reader.optional(table, "hold", Reader::range).unwrap_or(usual.hold),
        think: reader.optional(table, "think", Reader::range).unwrap_or(usual.think),
        rate: reader.optional(table, "rate", Reader::rate).unwrap_or(usual.rate),
    })
}

fn clients(reader: &mut Reader<'_>, value: &Value<'_>, processes: &Processes<'_>) -> Option<Vec<u64>> {
    if value.get_ref().as_str().is_some_and(|text| text.trim() == "all") {
        return None;
    }
    let clients = reader.process_list(value, processes)?;
    if clients.is_empty() {
        reader.error(
            value.span(),
            "a workload needs clients, found an empty list: write \"all\" for everybody",
        );
    }
    reader.no_repetition(value, &clients);
    Some(clients)
}
