//! What an event can have caused, and what can have caused it.

use std::collections::BTreeSet;

use habemus_trace::Record;
use serde::Serialize;

use crate::history::History;

/// The causal past and future of an event, as the numbers of events among those that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cone {
    /// The event itself.
    pub event: u64,
    /// Those that can have caused it.
    pub past: Vec<u64>,
    /// Those that it can have caused.
    pub future: Vec<u64>,
    /// The other processes that can have had a part in it, in the whole run.
    pub before: Vec<u64>,
    /// The other processes that it has reached since.
    pub after: Vec<u64>,
}

fn knows(one: &Record, other: &Record) -> bool {
    let Some(process) = other.process else { return false };
    let counted = other.clock.get(&process).copied().unwrap_or(u32::MAX);
    one.clock.get(&process).is_some_and(|known| *known >= counted)
}

impl Cone {
    /// That of an event, among the events from `from` on and before `to`. Vector clocks tell: an event knows
    /// of another if its clock has counted it.
    pub fn of(history: &History, event: u64, from: u64, to: u64) -> Self {
        let mut cone = Cone { event, ..Cone::default() };
        let own: Vec<_> =
            history.records_of(event).iter().filter(|record| !record.clock.is_empty()).collect();
        for other in (from..to.min(history.known() + 1)).filter(|other| *other != event) {
            let others = history.records_of(other);
            if own.iter().any(|own| others.iter().any(|other| knows(own, other))) {
                cone.past.push(other);
            } else if others.iter().any(|other| own.iter().any(|own| knows(other, own))) {
                cone.future.push(other);
            }
        }
        cone.tell_processes(history, &own);
        cone
    }

    /// The last that each process recorded tells whether it has heard of the event.
    fn tell_processes(&mut self, history: &History, own: &[&Record]) {
        let here: BTreeSet<u64> = own.iter().filter_map(|record| record.process).collect();
        let reached = own.iter().flat_map(|record| &record.clock).filter(|(_, count)| **count > 0);
        let before: BTreeSet<u64> = reached.map(|(id, _)| *id).collect();
        self.before = before.difference(&here).copied().collect();
        let mut left: BTreeSet<u64> = history.ids().iter().copied().collect();
        for record in history.records().iter().rev().filter(|record| !record.clock.is_empty()) {
            let Some(process) = record.process.filter(|process| left.remove(process)) else { continue };
            if !here.contains(&process) && own.iter().any(|own| knows(record, own)) {
                self.after.push(process);
            }
            if left.is_empty() {
                break;
            }
        }
        self.after.sort_unstable();
    }
}
