//! The variables of the processes in a trace: what changed in each step, found out by repeating the run.

use std::collections::BTreeMap;

use habemus_trace::{Happening, Record, Trace, changes};

use super::{ReplayError, processes, repeat};

/// Which steps are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// All of them.
    All,
    /// Those in the background only if something came of them. What a detector notes of each heartbeat is
    /// left out.
    Foreground,
}

/// The trace, with a record after each step that changed variables of its process.
///
/// # Errors
/// If the run cannot be repeated, as [`replay`](super::replay) would say.
pub fn with_states(trace: &Trace, steps: Steps) -> Result<Trace, ReplayError> {
    let (_, system) = processes(trace, None)?;
    let mut states = repeat(trace, &system)?.states.into_iter().peekable();
    let ids = &trace.header.processes;
    let name = |address: usize| ids.get(address).copied();
    let mut known: BTreeMap<u64, String> = BTreeMap::new();
    let mut told = Trace { header: trace.header.clone(), records: Vec::new() };
    // What the present step has changed is told when the process has done all that belongs to it.
    let mut untold: Option<Record> = None;
    for (index, record) in trace.records.iter().enumerate() {
        if !belongs(record, untold.as_ref()) {
            told.records.extend(untold.take());
        }
        if trace.header.cycle == Some(index) {
            told.header.cycle = Some(told.records.len());
        }
        told.records.push(record.clone());
        let Some((_, at, now)) = states.next_if(|(number, ..)| *number == index) else { continue };
        let id = ids[at.index()];
        let before = known.insert(id, now.clone());
        let variables = before.map(|before| changes(&before, &now, &name)).unwrap_or_default();
        let is_told = steps == Steps::All || !is_background(record) || has_output(&trace.records[index..]);
        if !variables.is_empty() && is_told {
            let what = Happening::State { variables };
            untold = Some(Record { at: record.at, process: Some(id), clock: BTreeMap::new(), what });
        }
    }
    told.records.extend(untold);
    Ok(told)
}

/// Whether a record is something that the process does in the step of which more is to be told.
fn belongs(record: &Record, step: Option<&Record>) -> bool {
    let does = matches!(record.what, Happening::Send { .. } | Happening::Output { .. });
    step.is_some_and(|step| does && step.process == record.process && step.at == record.at)
}

/// Whether something came of the first of these records.
fn has_output(records: &[Record]) -> bool {
    let does = records.iter().skip(1).take_while(|record| belongs(record, records.first()));
    does.into_iter().any(|record| matches!(record.what, Happening::Output { .. }))
}

fn is_background(record: &Record) -> bool {
    matches!(
        record.what,
        Happening::Deliver { background: true, .. } | Happening::Timer { background: true, .. }
    )
}
