//! Whether a run has come back to where it was.

use habemus::clock::LamportClock;
use habemus::symmetry::{Part, VisitTimes};
use habemus::{Address, Process};

use super::{Actor, Cast};

impl<P: Process> Cast<'_, P> {
    /// Whether this is the same state, times and numbers of messages aside; logical times, too, where nothing but their
    /// distances matters.
    pub(super) fn is_where(&self, other: &Self) -> bool {
        self.with_clocks_set_back().is_same(&other.with_clocks_set_back())
    }

    /// The same with all logical times earlier, if nothing but their distances matters: the earliest is 0 then.
    fn with_clocks_set_back(&self) -> Self {
        let mut back = self.clone();
        if let Some(times) = self.setup.symmetries.clock_shift {
            let mut least = u64::MAX;
            back.visit_times(times, &mut |time| least = least.min(time.0));
            back.visit_times(times, &mut |time| time.0 -= least);
        }
        back
    }

    /// Visits all logical times.
    fn visit_times(&mut self, times: VisitTimes<P>, visit: &mut dyn FnMut(&mut LamportClock)) {
        let config = &self.setup.system.config;
        for process in self.actors.iter_mut().filter_map(|actor| actor.process.as_mut()) {
            times(Part::Process(process), config, visit);
        }
        for flight in &mut self.flights {
            times(Part::Message(&mut flight.message), config, visit);
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let sorted = |cast: &Self| {
            let mut flights: Vec<(Address, Address, P::Message)> = Vec::new();
            flights
                .extend(cast.flights.iter().map(|flight| (flight.from, flight.to, flight.message.clone())));
            // On a link the order stays.
            flights.sort_by_key(|(from, to, _)| (*from, *to));
            flights
        };
        let same = |(one, other): (&Actor<P>, &Actor<P>)| {
            let timers = |actor: &Actor<P>| {
                let mut timers = actor.timers.clone();
                timers.sort();
                timers
            };
            one.process == other.process && one.status == other.status && timers(one) == timers(other)
        };
        self.actors.iter().zip(&other.actors).all(same) && sorted(self) == sorted(other)
    }
}
