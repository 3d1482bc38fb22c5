//! What an event can have caused, and what can have caused it.

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
}

impl Cone {
    /// That of an event, among the events from `from` on and before `to`. Vector clocks tell: an event knows of another
    /// if its clock has counted it.
    pub fn of(history: &History, event: u64, from: u64, to: u64) -> Self {
        let mut cone = Cone { event, ..Cone::default() };
        let own: Vec<_> =
            history.records_of(event).iter().filter(|record| !record.clock.is_empty()).collect();
        for other in (from..to.min(history.known() + 1)).filter(|other| *other != event) {
            let others = history.records_of(other);
            let knows = |one: &habemus_trace::Record, other: &habemus_trace::Record| {
                let Some(process) = other.process else { return false };
                let counted = other.clock.get(&process).copied().unwrap_or(u32::MAX);
                one.clock.get(&process).is_some_and(|known| *known >= counted)
            };
            if own.iter().any(|own| others.iter().any(|other| knows(own, other))) {
                cone.past.push(other);
            } else if others.iter().any(|other| own.iter().any(|own| knows(other, own))) {
                cone.future.push(other);
            }
        }
        cone
    }
}
