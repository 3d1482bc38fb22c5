//! Reads the table `[random]`.

use std::time::Duration;

use toml::de::DeTable;

use super::reader::{Reader, Value};
use crate::processes::Processes;
use crate::scenario::RandomFaults;

pub(super) const KEYS: &[&str] = &[
    "crashes",
    "recover-after",
    "amnesia",
    "max-down",
    "pauses",
    "pause-for",
    "cuts",
    "cut-for",
    "partitions",
    "partition-for",
    "drifts",
    "drift-by",
    "suspicions",
    "suspect-for",
    "until",
];

pub(super) fn read(
    reader: &mut Reader<'_>,
    document: &DeTable<'_>,
    processes: &Processes<'_>,
) -> Option<RandomFaults> {
    let table = reader.table(document, "random", KEYS)?;
    let number = processes.ids().len();
    let usual = RandomFaults::usual(number);
    let max_down = reader.optional(table, "max-down", |reader, value| max_down(reader, value, processes));
    let recover_after = reader.optional(table, "recover-after", recover_after);
    let lasting = |reader: &mut Reader<'_>, key, usual| {
        reader.optional(table, key, Reader::positive_range).unwrap_or(usual)
    };
    Some(RandomFaults {
        crashes: reader.optional(table, "crashes", Reader::rate).unwrap_or(usual.crashes),
        recover_after: recover_after.unwrap_or(usual.recover_after),
        amnesia: reader.optional(table, "amnesia", Reader::boolean).unwrap_or(usual.amnesia),
        max_down: max_down.unwrap_or(usual.max_down),
        pauses: reader.optional(table, "pauses", Reader::rate).unwrap_or(usual.pauses),
        pause_for: lasting(reader, "pause-for", usual.pause_for),
        cuts: reader.optional(table, "cuts", Reader::rate).unwrap_or(usual.cuts),
        cut_for: lasting(reader, "cut-for", usual.cut_for),
        partitions: reader.optional(table, "partitions", Reader::rate).unwrap_or(usual.partitions),
        partition_for: lasting(reader, "partition-for", usual.partition_for),
        drifts: reader.optional(table, "drifts", Reader::rate).unwrap_or(usual.drifts),
        drift_by: reader.optional(table, "drift-by", Reader::probability).unwrap_or(usual.drift_by),
        suspicions: reader.optional(table, "suspicions", Reader::rate).unwrap_or(usual.suspicions),
        suspect_for: lasting(reader, "suspect-for", usual.suspect_for),
        until: reader.optional(table, "until", Reader::positive_duration).unwrap_or(usual.until),
    })
}

/// A range of durations, or `"never"`.
fn recover_after(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Option<(Duration, Duration)>> {
    match value.get_ref().as_str().map(str::trim) {
        Some("never") => Some(None),
        _ => reader.range(value).map(Some),
    }
}

fn max_down(reader: &mut Reader<'_>, value: &Value<'_>, processes: &Processes<'_>) -> Option<usize> {
    let (max, what) = match processes.ids().len() as u64 {
        0 => (u64::MAX, "a number of processes such as 1".to_owned()),
        1 => (1, "the number of processes, which is 1".to_owned()),
        everyone => (everyone, format!("a number of processes from 1 to {everyone}")),
    };
    reader.number_within(value, 1..=max, &what).and_then(|number| usize::try_from(number).ok())
}
