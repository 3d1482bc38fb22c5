//! Whether a run has come back to where it was.

use habemus::{Address, Status};

use super::Replayer;
use crate::handlers::{Part, TermPart};
use crate::terms::{Renaming, Terms, canonical_forms, in_order};

/// All that makes a difference to what can happen next: each process with its status and its timers, and the
/// messages on their way.
#[derive(PartialEq, Eq)]
struct Situation {
    actors: Vec<(Option<u32>, Status, Vec<u32>)>,
    flights: Vec<(Address, Address, u32)>,
}

impl Replayer<'_> {
    /// Whether this is the same state, times and numbers of messages aside; up to a clock shift and up to the
    /// names of terms, too, where processes do not mind them.
    pub(super) fn is_where(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }

    /// The state in its canonical form: where only the distances between logical times matter, the earliest
    /// is 0, and where only the order of terms does, they are [as near as may be](crate::terms).
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
        let terms = self.terms();
        let forms = canonical_forms(&terms);
        let renaming = Renaming { from: &terms, to: &forms[0] };
        let renamed = |part: TermPart| {
            let rename = |sort, term| renaming.of(sort, term).unwrap_or(term);
            self.handlers.with_terms(part, &rename)
        };
        let process = |process| renamed(TermPart::Process(shifted(Part::Process(process))));
        let message = |message| renamed(TermPart::Message(shifted(Part::Message(message))));
        let actors = self.actors.iter().map(|actor| {
            let mut timers: Vec<u32> =
                actor.timers.iter().map(|&timer| renamed(TermPart::Timer(timer))).collect();
            timers.sort_unstable();
            (actor.process.map(process), actor.status, timers)
        });
        let flights = self.flights.iter();
        let mut flights: Vec<(Address, Address, u32)> =
            flights.map(|flight| (flight.from, flight.to, message(flight.message))).collect();
        // On a link the order stays.
        flights.sort_by_key(|(from, to, _)| (*from, *to));
        Situation { actors: actors.collect(), flights }
    }

    /// The terms of the state, in order.
    fn terms(&self) -> Terms {
        let processes = self.actors.iter().filter_map(|actor| actor.process).map(TermPart::Process);
        let timers = self.actors.iter().flat_map(|actor| &actor.timers).map(|&timer| TermPart::Timer(timer));
        let messages = self.flights.iter().map(|flight| TermPart::Message(flight.message));
        let parts = processes.chain(timers).chain(messages);
        let mut terms: Terms = parts.flat_map(|part| self.handlers.terms(part)).collect();
        in_order(&mut terms);
        terms
    }
}
