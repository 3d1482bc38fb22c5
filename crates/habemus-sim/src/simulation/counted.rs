//! Lines of the script that wait for a number of events.

use habemus::Process;

use super::{LOOK_UP, Simulation};
use crate::observer::Observer;

impl<P: Process, O: Observer<P>> Simulation<P, O> {
    /// The number of events after which the loop looks up from its work: when the run is over, when a line of
    /// the script waits for it, or now and then.
    pub(super) fn next_look_up(&self, last: u64) -> u64 {
        let waiting = self.plan.counted.last().map_or(last, |counted| counted.events);
        last.min(self.events + LOOK_UP).min(waiting)
    }

    /// Plays the lines of the script whose number of events has come, unless the run is over before; says
    /// whether there was one.
    pub(super) fn play_counted(&mut self, last: u64) -> bool {
        let mut played = false;
        while self.events < last && self.play_one_counted() {
            played = true;
        }
        played
    }

    /// Plays the next line of the script that waits for a number of events, if it has come.
    pub(super) fn play_one_counted(&mut self) -> bool {
        let events = self.events;
        let Some(due) = self.plan.counted.pop_if(|counted| counted.events <= events) else { return false };
        self.events += 1;
        self.perform(due.deed);
        true
    }
}
