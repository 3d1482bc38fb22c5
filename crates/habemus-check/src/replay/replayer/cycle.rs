//! Whether a run has come back to where it was.

use habemus::{Address, Status};

use super::Replayer;
use crate::handlers::Part;

/// All that makes a difference to what can happen next: each process with its status and its timers, and the messages
/// on their way.
#[derive(PartialEq, Eq)]
struct Situation {
    actors: Vec<(Option<u32>, Status, Vec<u32>)>,
    flights: Vec<(Address, Address, u32)>,
}

impl Replayer<'_> {
    /// Whether this is the same state, times and numbers of messages aside; up to a clock shift, too, where processes do
    /// not mind it.
    pub(super) fn is_where(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }

    /// The state in its canonical form: where only the distances between logical times matter, the earliest is 0.
    fn canonical(&self) -> Situation {
        let is_shift_invariant = self.handlers.is_shift_invariant();
        let processes = self.actors.iter().filter_map(|actor| actor.process).map(Part::Process);
        let messages = self.flights.iter().map(|flight| Part::Message(flight.message));
        let times = processes.chain(messages).filter_map(|part| self.handlers.min_time(part));
        let min = times.min().unwrap_or(0);
        let shifted = |part: Part| match part {
            Part::Process(number) | Part::Message(number) if !is_shift_invariant => number,
            part => self.handlers.shifted(part, min.wrapping_neg()),
        };
        let actors = self.actors.iter().map(|actor| {
            let mut timers = actor.timers.clone();
            timers.sort_unstable();
            (actor.process.map(|process| shifted(Part::Process(process))), actor.status, timers)
        });
        let flights = self.flights.iter();
        let mut flights: Vec<(Address, Address, u32)> =
            flights.map(|flight| (flight.from, flight.to, shifted(Part::Message(flight.message)))).collect();
        // On a link the order stays.
        flights.sort_by_key(|(from, to, _)| (*from, *to));
        Situation { actors: actors.collect(), flights }
    }
}
